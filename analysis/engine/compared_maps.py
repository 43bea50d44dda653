"""One window's maps by every method there is, on one grid of channels and seconds, so that they can be compared.

Letters: M methods, C channels, N samples, S seconds, P patches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from analysis.engine.attribution import rank_correlation
from analysis.engine.explained import Explained
from analysis.engine.grad_cam import explain_tokens
from analysis.engine.inputs import Inputs, LoadedModel
from analysis.engine.occlusion import keep_one, occlude, occlude_parts, parts_by
from analysis.kinds import KINDS
from analysis.progress import Progress

SIGNED, UNSIGNED, GRAD_CAM, OCCLUSION, KEEP_ONE, RMS = (
    "IG signed",
    "IG unsigned",
    "Grad-CAM",
    "occlusion",
    "keep one",
    "RMS",
)
METHODS = (SIGNED, UNSIGNED, GRAD_CAM, OCCLUSION, KEEP_ONE, RMS)
PATH_POINTS = 16


@dataclass(frozen=True)
class MapOf:
    """What a method says of a window: `by_channel` (C,), and `by_second` (C, S) where it tells of time."""

    by_channel: np.ndarray
    by_second: np.ndarray | None = None

    @property
    def finest(self) -> np.ndarray:
        """The map in as much detail as there is."""
        return self.by_channel if self.by_second is None else self.by_second


def path_gradients(window: Explained, baseline: Tensor, target: int, progress: Progress) -> Tensor:
    """Integrated Gradients (C, N) by 16 Gauss-Legendre points: enough for the ranks of a map that is only compared."""
    points, weights = np.polynomial.legendre.leggauss(PATH_POINTS)
    difference = window.signal - baseline
    total = torch.zeros_like(difference)
    with window.smooth():
        for number, (point, weight) in enumerate(zip(points.tolist(), weights.tolist(), strict=True)):
            progress.report(number, PATH_POINTS)
            signal = (baseline + 0.5 * (point + 1.0) * difference).detach().requires_grad_()
            (gradient,) = torch.autograd.grad(window.score(signal)[0, target], signal)
            total += 0.5 * weight * gradient
    return (total * difference)[0].detach()


def gradient_maps(values: Tensor, sfreq: float) -> dict[str, MapOf]:
    """Signed and unsigned sums of an attribution (C, N) by channel and second."""
    samples = values.cpu().numpy()
    return {
        SIGNED: MapOf(samples.sum(-1), seconds_of(samples, sfreq)),
        UNSIGNED: MapOf(np.abs(samples).sum(-1), seconds_of(np.abs(samples), sfreq)),
    }


def signal_map(window: Explained) -> MapOf:
    """The root mean square of each channel in microvolts, the map that no model has a part in."""
    microvolts = (window.signal[0] * window.scale + window.offset).cpu().numpy()
    power = (microvolts - microvolts.mean(-1, keepdims=True)) ** 2
    count = seconds_of(np.ones_like(power), window.sfreq)
    return MapOf(np.sqrt(power.mean(-1)), np.sqrt(seconds_of(power, window.sfreq) / count))


def channel_maps(
    window: Explained, baseline: Tensor, target: int, by_second: bool, progress: Progress
) -> dict[str, MapOf]:
    """Occlusion and keep-one, which tell of whole channels; with `by_second` occlusion tells of time as well."""
    seconds = None
    if by_second:
        parts = parts_by(window, "both")
        seconds = occlude_parts(window, baseline, target, parts, progress).cpu().numpy()
        seconds = seconds.reshape(window.signal.shape[1], -1)
    return {
        OCCLUSION: MapOf(occlude(window, baseline, target, progress).cpu().numpy(), seconds),
        KEEP_ONE: MapOf(keep_one(window, baseline, target, progress).cpu().numpy()),
    }


def token_maps(inputs: Inputs, model: LoadedModel, seconds: int, progress: Progress) -> list[MapOf]:
    """Grad-CAM of the last layer, a map for each window; empty for a family that has none."""
    kind = KINDS["grad-cam"]
    if kind.function_for(model.family) is None:
        return []
    known = {option.name: inputs.options[option.name] for option in kind.options if option.name in inputs.options}
    found = explain_tokens(replace(inputs, models=(model,), options=kind.parse_options(known)), Quiet(progress))
    evidence, onsets = (found.arrays[name].values for name in ("evidence", "patch_onset"))
    step = float(found.facts["patch_seconds"])
    return [
        MapOf(values.mean(-1), _on_seconds(values, begin - begin[0], step, seconds))
        for values, begin in zip(evidence, onsets, strict=True)
    ]


class Quiet(Progress):
    """Hears whether the work is wanted, and tells nothing: a part of it has no steps worth telling."""

    def __init__(self, whole: Progress) -> None:
        self._whole = whole

    def check(self) -> None:
        self._whole.check()

    def report(self, done: float, total: float, message: str = "") -> None:
        self._whole.check()


def seconds_of(values: np.ndarray, sfreq: float) -> np.ndarray:
    """Sums over each second, (C, N) -> (C, S); the last second may be short."""
    starts = np.arange(0, values.shape[-1], round(sfreq))
    summed: np.ndarray = np.add.reduceat(values, starts, axis=-1)
    return summed


def _on_seconds(values: np.ndarray, onsets: np.ndarray, step: float, seconds: int) -> np.ndarray:
    """Patches (C, P) as means over seconds, by how much of each second they cover; (C, S)."""
    begin = np.arange(seconds)[:, None]
    shared = np.minimum(begin + 1, onsets + step) - np.maximum(begin, onsets)  # (S, P)
    shared = np.clip(shared, 0.0, None)
    total = shared.sum(1)
    if (total <= 0).any():  # a second that no patch begins in or reaches has the value of the nearest
        nearest = np.abs(begin + 0.5 - (onsets + step / 2)).argmin(1)
        missing = np.flatnonzero(total <= 0)
        shared[missing, nearest[missing]] = 1.0
    covered: np.ndarray = values @ (shared / shared.sum(1, keepdims=True)).T
    return covered


def agreement(maps: Mapping[str, MapOf], names: Sequence[str], by_second: bool = False) -> np.ndarray:
    """Spearman's rho of every two methods, (M, M); NaN where one says nothing or the same of all."""
    table = np.full((len(names), len(names)), np.nan)
    for i, first in enumerate(names):
        for j, second in enumerate(names):
            if first in maps and second in maps:
                a, b = (m.by_second if by_second else m.by_channel for m in (maps[first], maps[second]))
                if a is not None and b is not None:
                    table[i, j] = rank_correlation(a, b)
    return table


def plain_correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Pearson's r of two arrays; NaN where one of them is constant."""
    a, b = first.ravel().astype(float), second.ravel().astype(float)
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])
