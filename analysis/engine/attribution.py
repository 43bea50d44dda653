"""Why a classifier says what it says: Integrated Gradients, occlusion and keep-one, and how far to trust them.

Letters: C channels, N samples, S seconds.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from captum.attr import IntegratedGradients
from scipy.stats import rankdata
from torch import Tensor

from analysis.analyses import Findings, NamedArray
from analysis.engine.explained import Explained, baseline_signal, explained_windows, target_class
from analysis.engine.inputs import Inputs
from analysis.engine.model_inputs import ModelInput, model_input
from analysis.engine.recorded_attribution import REFERENCE_NOTE, channel_labels, is_referenced, on_recording
from analysis.progress import PartProgress, Progress

GAP = 0.01  # relative completeness gap that is aimed at
NODES = (32, 64, 128, 256)
_CURVE_STEPS = 10
_TINY = 1e-12


@dataclass(frozen=True)
class Attributed:
    """Attribution (C, N) of one window to its samples, and how well it adds up.

    `change` is the score minus that of the baseline; `gap` |change - sum| / |change|; `nodes` points of the path.
    """

    values: Tensor
    change: float
    gap: float
    nodes: int


def integrated_gradients(
    window: Explained, baseline: Tensor, target: int, progress: Progress | None = None
) -> Attributed:
    """Integrated Gradients (Sundararajan et al. 2017) by captum, with as many nodes as a gap below 1 % needs.

    Gauss-Legendre nodes are doubled from 32 up to 256; points of the path are worked one at a time, so that memory
    stays that of one window. Each point is reported.
    """
    progress = progress or Progress()
    points = itertools.count(1)
    nodes = NODES[0]

    def score(signal: Tensor) -> Tensor:
        progress.report(next(points), nodes, f"{nodes} points of the path")
        return window.score(signal)

    explainer = IntegratedGradients(score)
    with window.smooth():
        with torch.no_grad():
            change = float(window.score(window.signal)[0, target] - window.score(baseline)[0, target])
        for nodes in NODES:
            points = itertools.count(1)
            values = explainer.attribute(
                window.signal,
                baseline,
                target=target,
                n_steps=nodes,
                method="gausslegendre",
                internal_batch_size=1,
            )[0]
            gap = abs(change - float(values.sum())) / max(abs(change), _TINY)
            if gap < GAP:
                break
    return Attributed(values.detach(), change, gap, nodes)


def occlude(window: Explained, baseline: Tensor, target: int, progress: Progress | None = None) -> Tensor:
    """How much the score falls when a channel is replaced by its baseline (C,)."""
    return _by_channel(window, target, progress, lambda c: _swap(window.signal, baseline, c))


def occlude_seconds(window: Explained, baseline: Tensor, target: int, progress: Progress | None = None) -> Tensor:
    """How much the score falls when a second of all channels is replaced by the baseline (S,)."""
    step = round(window.sfreq)
    count = -(-window.signal.shape[-1] // step)

    def changed(second: int) -> Tensor:
        signal = window.signal.clone()
        part = slice(second * step, (second + 1) * step)
        signal[..., part] = baseline[..., part]
        return signal

    return _falls(window, target, progress, changed, count)


def keep_one(window: Explained, baseline: Tensor, target: int, progress: Progress | None = None) -> Tensor:
    """How much the score rises above the baseline's when one channel alone is as recorded (C,)."""
    with torch.no_grad():
        floor = window.score(baseline)[0, target]
        values = []
        for channel in range(window.signal.shape[1]):
            (progress or Progress()).check()
            values.append(window.score(_swap(baseline, window.signal, channel))[0, target] - floor)
    return torch.stack(values)


def _swap(signal: Tensor, other: Tensor, channel: int) -> Tensor:
    changed = signal.clone()
    changed[:, channel] = other[:, channel]
    return changed


def _by_channel(window: Explained, target: int, progress: Progress | None, changed: Callable[[int], Tensor]) -> Tensor:
    return _falls(window, target, progress, changed, window.signal.shape[1])


def _falls(
    window: Explained, target: int, progress: Progress | None, changed: Callable[[int], Tensor], count: int
) -> Tensor:
    with torch.no_grad():
        full = window.score(window.signal)[0, target]
        values = []
        for i in range(count):
            (progress or Progress()).check()
            values.append(full - window.score(changed(i))[0, target])
    return torch.stack(values)


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
    a, b = (rankdata(values.ravel()) for values in (first, second))
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])


def explain_signal(inputs: Inputs, progress: Progress) -> Findings:
    """Integrated Gradients of a class score with respect to the signal, by channel and time, window by window."""
    target = target_class(inputs.model, inputs.options["target"])
    source = model_input(inputs, inputs.model, inputs.options["window"], inputs.options["windows"], progress)
    maps, recorded, facts_of, checks = [], [], [], []
    for number, window in enumerate(explained_windows(source, progress)):
        part = PartProgress(progress, number, len(source.plan.onsets))
        baseline, told = baseline_signal(inputs, source, window, inputs.options["baseline"], inputs.options["seed"])
        found = integrated_gradients(window, baseline, target, part)
        maps.append(found.values.cpu().numpy())
        if is_referenced(source.plan):
            recorded.append(on_recording(source.plan, number, window, baseline, found.values))
        facts_of.append({"baseline": told, "change": found.change, "gap": found.gap, "nodes": found.nodes})
        if inputs.options["checks"]:
            arrays, agreement = _check(inputs, window, baseline, target, found, progress)
            checks.append(arrays)
            facts_of[-1] |= agreement
    more = _stacked(checks)
    if recorded:
        axes, meaning = ("window", "channel", "sample"), "part of the score's change, of the channels as recorded"
        more["recorded"] = NamedArray(np.stack(recorded), axes, "score", meaning)
    return _findings(inputs, source, np.stack(maps), facts_of, target, more)


def _check(
    inputs: Inputs, window: Explained, baseline: Tensor, target: int, found: Attributed, progress: Progress
) -> tuple[dict[str, NamedArray], dict[str, float]]:
    """Occlusion, keep-one, deletion and insertion of one window, and how far they agree with its map."""
    by_channel = found.values.sum(-1).cpu().numpy()
    occluded = occlude(window, baseline, target, progress).cpu().numpy()
    kept = keep_one(window, baseline, target, progress).cpu().numpy()
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
    facts = {
        "method": "Integrated Gradients, signed",
        "target": inputs.model.facts.labels[target],
        "sfreq": sfreq,
        "first_window": float(source.plan.onsets[0]),
        "window_seconds": source.plan.seconds,
        "completeness_gap": worst["gap"],
        "windows": facts_of,
    }
    baselines = dict.fromkeys(each["baseline"] for each in facts_of)
    notes = [*source.plan.notes, f"Baseline: {'; '.join(baselines)}."]
    if "recorded" in more:
        notes.append(REFERENCE_NOTE)
    if worst["gap"] >= GAP:
        notes.append(f"The completeness gap is up to {worst['gap']:.1%} with {worst['nodes']} nodes, above 1 %.")
    return Findings(arrays, facts, channel_labels(source.plan), tuple(notes), source.describe())
