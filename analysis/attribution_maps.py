"""Attribution of a model's answer on the channels and the time of the recording, ready to be drawn.

What a model is explained through are its own samples: resampled, referenced and filtered. All of these steps are linear
(the median reference is so while the same channels are in the middle), so that the chain rule takes the product of
gradient and difference back through them without loss. Letters: W windows, C channels, N samples, B bins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.analyses import Analysis

BIN_SECONDS = 0.05  # finer than a page can show and fine enough for a spike
INTEGRATED, GRAD_CAM = "integrated-gradients", "grad-cam"
ATTRIBUTION_KINDS = (INTEGRATED, GRAD_CAM)
RECORDED = "recorded"  # the array of an analysis whose model was given another reference than the recording's
ROW_RULE = "a row that is a difference has the mean of its two electrodes"


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


def attribution_map(result: Analysis, seconds: float = BIN_SECONDS) -> AttributionMap:
    """The map of an analysis of one of ATTRIBUTION_KINDS; samples are put together to bins of about `seconds`."""
    return _samples(result, seconds) if result.kind == INTEGRATED else _tokens(result)


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
