"""Why a classifier says what it says: Integrated Gradients, and beside them what replacing channels says.

Letters: C channels, N samples, S seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from captum.attr import IntegratedGradients, NoiseTunnel
from torch import Tensor

from analysis.analyses import Findings, NamedArray
from analysis.engine.explained import (
    Explained,
    baseline_signal,
    carried_notes,
    carried_of,
    explained_input,
    explained_windows,
    target_class,
)
from analysis.engine.inputs import Inputs
from analysis.engine.model_inputs import ModelInput
from analysis.engine.occlusion import keep_one, occlude
from analysis.engine.recorded_attribution import REFERENCE_NOTE, channel_labels, is_referenced, on_recording
from analysis.progress import PartProgress, Progress

GAP = 0.01  # relative completeness gap that is aimed at
NODES = (32, 64, 128, 256)
_CURVE_STEPS = 10
_TINY = 1e-12
_LEAST_SPREAD = 1e-6  # of a channel that does not move: noise of a share of it must be next to nothing


@dataclass(frozen=True)
class Attributed:
    """Attribution (C, N) of one window to its samples, and how well it adds up.

    `change` is the score minus that of the baseline; `gap` |change - sum| / |change|; `nodes` points of the path.
    """

    values: Tensor
    change: float
    gap: float
    nodes: int


@dataclass(frozen=True)
class Noise:
    """How a map is smoothed: so many `copies`, each with noise of a `share` of each channel's standard deviation."""

    copies: int
    share: float
    seed: int


def integrated_gradients(
    window: Explained, baseline: Tensor, target: int, progress: Progress | None = None
) -> Attributed:
    """Integrated Gradients (Sundararajan et al. 2017) by captum, with as many nodes as a gap below 1 % needs.

    Gauss-Legendre nodes are doubled from 32 up to 256; points of the path are worked one at a time, so that memory
    stays that of one window. Each point is reported.
    """
    counted = _Counted(window, progress or Progress())
    explainer = IntegratedGradients(counted)
    with window.smooth():
        change = _change(window, baseline, target)
        for nodes in NODES:
            counted.begin(nodes, f"{nodes} points of the path")
            values = explainer.attribute(window.signal, baseline, target=target, **_rule(nodes))[0]
            gap = _gap(change, values)
            if gap < GAP:
                break
    return Attributed(values.detach(), change, gap, nodes)


def smoothed(
    window: Explained,
    baseline: Tensor,
    target: int,
    nodes: int,
    noise: Noise,
    progress: Progress | None = None,
) -> Attributed:
    """The mean of Integrated Gradients over noisy copies of a window (SmoothGrad, Smilkov et al. 2017), by captum.

    Each copy's path has `nodes` points. The mean adds up to the copies' mean change; `change` and `gap` are of the
    window's own, since that is what the map will be read as.
    """
    spread = window.signal.std(-1, keepdim=True).clamp_min(_LEAST_SPREAD)
    counted = _Counted(window, progress or Progress(), spread)
    counted.begin(nodes * noise.copies, f"{noise.copies} noisy copies")
    device = window.signal.device
    with window.smooth(), torch.random.fork_rng([device] if device.type == "cuda" else []):
        change = _change(window, baseline, target)
        torch.manual_seed(noise.seed)
        # In units of each channel's spread, so that one width of noise fits all; attributions do not change with units.
        values = NoiseTunnel(IntegratedGradients(counted)).attribute(
            window.signal / spread,
            nt_type="smoothgrad",
            nt_samples=noise.copies,
            nt_samples_batch_size=1,
            stdevs=noise.share,
            baselines=baseline / spread,
            target=target,
            **_rule(nodes),
        )[0]
    return Attributed(values.detach(), change, _gap(change, values), nodes)


class _Counted:
    """A window's score of signals divided by `spread`, which reports each signal it is given."""

    def __init__(self, window: Explained, progress: Progress, spread: Tensor | None = None) -> None:
        self._window, self._progress, self._spread = window, progress, spread
        self.begin(1, "")

    def begin(self, total: int, text: str) -> None:
        """Count anew, up to a number."""
        self._done, self._total, self._text = 0, total, text

    def __call__(self, signal: Tensor) -> Tensor:
        self._done += len(signal)
        self._progress.report(self._done, self._total, self._text)
        return self._window.score(signal if self._spread is None else signal * self._spread)


def _rule(nodes: int) -> dict[str, Any]:
    return {"n_steps": nodes, "method": "gausslegendre", "internal_batch_size": 1}


def _change(window: Explained, baseline: Tensor, target: int) -> float:
    with torch.no_grad():
        return float(window.score(window.signal)[0, target] - window.score(baseline)[0, target])


def _gap(change: float, values: Tensor) -> float:
    return abs(change - float(values.sum())) / max(abs(change), _TINY)


def curve(window: Explained, baseline: Tensor, target: int, order: Tensor, insertion: bool) -> np.ndarray:
    """The score as channels are put in (or taken out) in an order, from none to all, (steps + 1,)."""
    start, other = (baseline, window.signal) if insertion else (window.signal, baseline)
    counts = np.linspace(0, len(order), min(_CURVE_STEPS, len(order)) + 1).round().astype(int)
    scores = []
    with torch.no_grad():
        for count in counts:
            signal = start.clone()
            signal[:, order[:count]] = other[:, order[:count]]
            scores.append(float(window.score(signal)[0, target]))
    return np.array(scores)


def rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Spearman's rho of two arrays; NaN where one of them is constant."""
    a, b = (_ranks(values.ravel()) for values in (first, second))
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])


def _ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1 on; equal values share the mean of theirs."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ranks: np.ndarray = (np.cumsum(count) - (count - 1) / 2)[place]
    return ranks


def explain_signal(inputs: Inputs, progress: Progress) -> Findings:
    """Integrated Gradients of a class score with respect to the signal, by channel and time, window by window."""
    target = target_class(inputs.model, inputs.options["target"])
    source = explained_input(inputs, progress)
    noise = Noise(inputs.options["smooth"], inputs.options["noise"], inputs.options["seed"])
    n_stages = 1 + bool(noise.copies) + 2 * inputs.options["checks"]
    maps, recorded, checks = [], [], []
    facts_of: list[dict[str, Any]] = []
    for number, window in enumerate(explained_windows(source, progress, carried_of(inputs))):
        part = PartProgress(progress, number, len(source.plan.onsets))
        stages = [PartProgress(part, i, n_stages) for i in range(n_stages)]
        baseline, told = baseline_signal(inputs, source, window, inputs.options["baseline"], inputs.options["seed"])
        found = integrated_gradients(window, baseline, target, stages[0])
        facts_of.append({"baseline": told, "gap_before_smoothing": found.gap} if noise.copies else {"baseline": told})
        plain = found.values
        if noise.copies:
            found = smoothed(window, baseline, target, found.nodes, noise, stages[1])
        maps.append(found.values.cpu().numpy())
        if is_referenced(source.plan):
            recorded.append(on_recording(source.plan, number, window, baseline, plain, found.values))
        facts_of[-1] |= {"change": found.change, "gap": found.gap, "nodes": found.nodes}
        if inputs.options["checks"]:
            arrays, agreement = _check(inputs, window, baseline, target, found, stages[-2:])
            checks.append(arrays)
            facts_of[-1] |= agreement
    more = _stacked(checks)
    if recorded:
        axes, meaning = ("window", "channel", "sample"), "part of the score's change, of the channels as recorded"
        more["recorded"] = NamedArray(np.stack(recorded), axes, "score", meaning)
    return _findings(inputs, source, np.stack(maps), facts_of, target, more)


def _check(
    inputs: Inputs, window: Explained, baseline: Tensor, target: int, found: Attributed, stages: Sequence[Progress]
) -> tuple[dict[str, NamedArray], dict[str, float]]:
    """Occlusion, keep-one, deletion and insertion of one window, and how far they agree with its map."""
    by_channel = found.values.sum(-1).cpu().numpy()
    occluded = occlude(window, baseline, target, stages[0]).cpu().numpy()
    kept = keep_one(window, baseline, target, stages[1]).cpu().numpy()
    order = torch.from_numpy(np.argsort(-by_channel).copy())
    shuffled = torch.from_numpy(np.random.default_rng(inputs.options["seed"]).permutation(len(order)))
    curves = {
        f"{name}_{how}": curve(window, baseline, target, which, name == "insertion")
        for name in ("deletion", "insertion")
        for how, which in (("by_map", order), ("at_random", shuffled))
    }
    arrays = {
        "occlusion": NamedArray(occluded, ("channel",), "score", "fall of the score without a channel"),
        "keep_one": NamedArray(kept, ("channel",), "score", "rise of the score by a channel alone"),
        **{
            name: NamedArray(values, ("step",), "score", f"score, {name.replace('_', ' ')}")
            for name, values in curves.items()
        },
    }
    agreement = {
        "agreement_with_occlusion": rank_correlation(by_channel, occluded),
        "agreement_with_keep_one": rank_correlation(by_channel, kept),
    }
    return arrays, agreement


def _stacked(checks: Sequence[dict[str, NamedArray]]) -> dict[str, NamedArray]:
    """The arrays of all windows, one after the other on an axis of their own."""
    return {
        name: replace(array, values=np.stack([each[name].values for each in checks]), axes=("window", *array.axes))
        for name, array in (checks[0] if checks else {}).items()
    }


def _findings(
    inputs: Inputs,
    source: ModelInput,
    maps: np.ndarray,
    facts_of: list[dict[str, Any]],
    target: int,
    more: dict[str, NamedArray],
) -> Findings:
    sfreq = source.plan.settings.sfreq
    step = round(sfreq)
    seconds = np.stack([maps[..., i : i + step].sum(-1) for i in range(0, maps.shape[-1], step)], -1)
    arrays = {
        "attribution": NamedArray(maps, ("window", "channel", "sample"), "score", "part of the score's change"),
        "by_second": NamedArray(seconds, ("window", "channel", "second"), "score", "sum over a second of a channel"),
        "by_channel": NamedArray(maps.sum(-1), ("window", "channel"), "score", "sum over a channel's window"),
        "window_onset": NamedArray(source.window_onsets(), ("window",), "s", "onset after the first window's"),
        **more,
    }  # fmt: skip
    worst = max(facts_of, key=lambda facts: facts["gap"])
    copies = inputs.options["smooth"]
    facts = {
        "method": "Integrated Gradients, signed",
        "target": inputs.model.facts.labels[target],
        "sfreq": sfreq,
        "first_window": float(source.plan.onsets[0]),
        "window_seconds": source.plan.seconds,
        "completeness_gap": worst["gap"],
        "smoothed_over": copies,
        "windows": facts_of,
    }
    baselines = dict.fromkeys(each["baseline"] for each in facts_of)
    notes = [*source.plan.notes, *carried_notes(inputs), f"Baseline: {'; '.join(baselines)}."]
    if "recorded" in more:
        notes.append(REFERENCE_NOTE)
    if copies:
        before = max(each["gap_before_smoothing"] for each in facts_of)
        notes.append(
            f"Smoothed: the mean over {copies} copies with noise of {inputs.options['noise']:.0%} of each channel's "
            f"standard deviation; the completeness gap is up to {worst['gap']:.1%}, and {before:.1%} without noise."
        )
    elif worst["gap"] >= GAP:
        notes.append(f"The completeness gap is up to {worst['gap']:.1%} with {worst['nodes']} nodes, above 1 %.")
    return Findings(arrays, facts, channel_labels(source.plan), tuple(notes), source.describe())
