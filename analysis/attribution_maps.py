"""Attribution of a model's answer on the channels and the time of the recording, ready to be drawn.

What a model is explained through are its own samples: resampled, referenced and filtered. All of these steps are linear
(the median reference is so while the same channels are in the middle), so that the chain rule takes the product of
gradient and difference back through them without loss. Letters: W windows, C channels, N samples, B bins.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.analyses import Analysis

BIN_SECONDS = 0.05  # finer than a page can show and fine enough for a spike
INTEGRATED, GRAD_CAM, OCCLUSION = "integrated-gradients", "grad-cam", "occlusion"
SIGNED, ABSOLUTE = "signed", "absolute"  # how a map is drawn
RECORDED = "recorded"  # the array of an analysis whose model was given another reference than the recording's
ROW_RULE = "a row that is a difference has the mean of its two electrodes"
COVERED = 99.0  # per cent of the sizes that colours reach to: what sticks out must not pale all others


@dataclass(frozen=True)
class AttributionMap:
    """Values (C, n) of spans that begin at `times` (n,) and last `widths` (n,), seconds of the recording, in order.

    With `is_signed` a value is the part of the score's change per second, so that values times widths add up to that
    change; else it is evidence without a sign, of which means are taken. `unit` is a value's, `sum_unit` that of
    `over`.
    """

    ch_names: tuple[str, ...]
    times: np.ndarray
    widths: np.ndarray
    values: np.ndarray
    is_signed: bool
    unit: str
    sum_unit: str

    def over(self, start: float, stop: float) -> np.ndarray:
        """Sum (mean without a sign) of each channel over a span (C,) float64; NaN where none of it was explained."""
        shared = np.minimum(self.times + self.widths, stop) - np.maximum(self.times, start)
        shared = np.maximum(shared, 0.0)
        if not shared.any():
            return np.full(len(self.ch_names), np.nan)
        total = self.values.astype(np.float64) @ shared
        return np.asarray(total if self.is_signed else total / shared.sum())

    def at(self, time: float) -> np.ndarray | None:
        """Values (C,) of the span that holds a time; None where none does."""
        i = int(np.searchsorted(self.times, time, side="right")) - 1
        if i < 0 or time >= self.times[i] + self.widths[i]:
            return None
        return np.asarray(self.values[:, i])

    def shown(self, part: str) -> tuple[np.ndarray, bool]:
        """Values (C, n) as a part draws them, and whether these have a sign."""
        if not self.is_signed or part == ABSOLUTE:
            return np.abs(self.values), False
        return self.values, True


def parts_of(kind: str) -> list[str]:
    """How maps of a kind can be drawn; Grad-CAM has no sign."""
    return [ABSOLUTE] if kind == GRAD_CAM else [SIGNED, ABSOLUTE]


def attribution_map(result: Analysis, seconds: float = BIN_SECONDS) -> AttributionMap | None:
    """The map of an analysis of one of the kinds above; samples are put together to bins of about `seconds`.

    None for an occlusion of whole seconds alone, which is of no channel.
    """
    if result.kind == GRAD_CAM:
        return _tokens(result)
    return _samples(result, seconds) if result.kind == INTEGRATED else _falls(result)


def map_words(result: Analysis, part: str) -> str:
    """What the colours of a part are, for a key."""
    target, size = result.facts["target"], "size of the " if part == ABSOLUTE else ""
    if result.kind == GRAD_CAM:
        return f"Grad-CAM for {target}, {layer_words(result)}, no unit"
    if result.kind == OCCLUSION:
        return f"Occlusion: {size}fall of the score of {target} without a channel, per second"
    return f"Integrated Gradients: {size}part of the score of {target}, per second"


def value_words(result: Analysis, part: str) -> str:
    """What one value of a part is, for hovering."""
    target, size = result.facts["target"], "size of the " if part == ABSOLUTE else ""
    if result.kind == GRAD_CAM:
        return f"Grad-CAM for {target}"
    of = "fall of" if result.kind == OCCLUSION else "attribution to"
    return f"{size}{of} the score of {target}"


def layer_words(result: Analysis) -> str:
    """The layer of a Grad-CAM in words."""
    layer, name = result.facts["layer"], result.facts.get("layer_name", "")
    where = "last layer" if layer == "last" else f"layer {layer}"
    return f"{where} ({name})" if name and name != where else where


def colour_reach(values: np.ndarray) -> float:
    """How far colours reach: 99 % of the sizes, rounded up to two figures; 1 where there is nothing but zeros."""
    spread = spread_of(values)
    return round_up(spread) if spread > 0 else 1.0


def spread_of(values: np.ndarray) -> float:
    """The size that COVERED per cent of the finite values do not exceed; 0 where there are none."""
    sizes = np.abs(values[np.isfinite(values)])
    return float(np.percentile(sizes, COVERED)) if sizes.size else 0.0


def round_up(value: float) -> float:
    """The least number of two figures that is not below a positive value."""
    power = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.ceil(value / power * (1 - 1e-9)) * power


def _samples(result: Analysis, seconds: float) -> AttributionMap:
    name = RECORDED if RECORDED in result.arrays else "attribution"
    values, sfreq = result.values(name), float(result.facts["sfreq"])
    sums, starts, widths = binned(values, sfreq, seconds)
    onsets = result.values("window_onset").astype(np.float64) + float(result.facts["first_window"])
    density = sums / widths
    times = (onsets[:, None] + starts).ravel()
    order = np.argsort(times, kind="stable")
    joined = density.transpose(1, 0, 2).reshape(values.shape[1], -1)
    unit = result.arrays[name].unit
    return AttributionMap(
        result.labels["channel"],
        times[order],
        np.tile(widths, len(onsets))[order],
        joined[:, order].astype(np.float32),
        True,
        f"{unit}/s",
        unit,
    )


def _falls(result: Analysis) -> AttributionMap | None:
    """Each second of each channel, or whole channels of a window; lengths are those of the seconds."""
    whole = float(result.facts["window_seconds"])
    if "by_second" in result.arrays:
        values = result.values("by_second")  # (W, C, S)
        starts = np.arange(values.shape[-1], dtype=np.float64)
    elif "by_channel" in result.arrays:
        values, starts = result.values("by_channel")[..., None], np.zeros(1)
    else:
        return None
    widths = np.diff(np.append(starts, whole))
    onsets = result.values("window_onset").astype(np.float64) + float(result.facts["first_window"])
    joined = (values / widths).transpose(1, 0, 2).reshape(values.shape[1], -1).astype(np.float32)
    times = (onsets[:, None] + starts).ravel()
    return AttributionMap(
        result.labels["channel"], times, np.tile(widths, len(onsets)), joined, True, "score/s", "score"
    )


def _tokens(result: Analysis) -> AttributionMap:
    values = result.values("evidence")  # (W, C, tokens)
    times = (result.values("patch_onset").astype(np.float64) + float(result.facts["first_window"])).ravel()
    order = np.argsort(times, kind="stable")
    joined = values.transpose(1, 0, 2).reshape(values.shape[1], -1)
    widths = np.full(times.shape, float(result.facts["patch_seconds"]))
    return AttributionMap(result.labels["channel"], times[order], widths, joined[:, order], False, "", "")


def binned(values: np.ndarray, sfreq: float, seconds: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sums (..., B) of samples (..., N) in bins of about `seconds`, with begin and length of the bins (B,) in seconds.

    Bins hold whole samples, so that nothing is lost and nothing counted twice.
    """
    n = values.shape[-1]
    edges = np.unique(np.round(np.arange(0, n / sfreq, max(seconds, 1 / sfreq)) * sfreq).astype(int))
    edges = edges[edges < n]
    lengths = np.diff(np.append(edges, n))
    sums = np.add.reduceat(values.astype(np.float64), edges, axis=-1)
    return sums, edges / sfreq, lengths / sfreq


def unreferenced(gradient: np.ndarray, attribution: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Attribution (C, N) to channels that were re-referenced, taken back to the channels as they were recorded.

    `gradient` and `attribution` (C, N) are those with respect to the referenced channels, `parts` (C, N) what each
    channel gave to the reference r. By the chain rule of x - r a channel gets the gradient of its own samples before
    the reference was taken off, less what it did to all others through the reference: g (d + r) - part * sum(g), where
    g d is the attribution. The sum over the channels stays what it was at every sample.
    """
    reference = parts.sum(axis=0)
    return np.asarray(attribution + gradient * reference - parts * gradient.sum(axis=0))


def gradient_of(attribution: np.ndarray, difference: np.ndarray) -> np.ndarray:
    """The mean gradient along the path from attribution and difference (C, N); 0 where the two signals are equal."""
    known = difference != 0
    return np.divide(attribution, difference, out=np.zeros_like(attribution), where=known)


def ordered(names: Sequence[str], values: np.ndarray) -> list[int]:
    """Places of channels, the largest amount first, those without a value left out."""
    known = [i for i in range(len(names)) if np.isfinite(values[i])]
    return sorted(known, key=lambda i: -abs(float(values[i])))
