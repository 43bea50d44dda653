"""How far a map of attribution can be trusted: five checks of one map, each with a verdict in words.

Letters: W windows, M methods, C channels, S seconds, K parts, F fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from analysis.analyses import Findings
from analysis.engine.attribution import integrated_gradients, rank_correlation
from analysis.engine.compared_maps import (
    GRAD_CAM,
    METHODS,
    RMS,
    MapOf,
    Quiet,
    channel_maps,
    gradient_maps,
    path_gradients,
    plain_correlation,
    signal_map,
    token_maps,
)
from analysis.engine.deletion import curves_of, order_of, random_orders
from analysis.engine.explained import (
    Explained,
    baseline_signal,
    carried_of,
    explained_input,
    explained_windows,
    target_class,
)
from analysis.engine.inputs import Inputs
from analysis.engine.model_inputs import ModelInput
from analysis.engine.redrawn_weights import RedrawnCopy
from analysis.engine.sanity_findings import CHANNEL_SECONDS, REDRAWN_MAPS, Case, Checked, Orders, Redrawn, findings_of
from analysis.engine.truth_overlap import MEASURES, Focus, focus_of, overlap
from analysis.progress import PartProgress, Progress
from analysis.simulation.truth import Truth, read_truth


class _Parts:
    """Tells of many parts of equal length, one after the other, by what each is called."""

    def __init__(self, whole: Progress, count: int) -> None:
        self._whole, self._count, self._next = whole, count, 0

    def next(self, name: str) -> Progress:
        """The progress of the next part."""
        self._next += 1
        return _Named(self._whole, self._next - 1, self._count, name)


class _Named(PartProgress):
    """One part, whose own steps may begin again and again: what was told is never taken back."""

    def __init__(self, whole: Progress, number: int, count: int, name: str) -> None:
        super().__init__(whole, number, count)
        self._name, self._most = name, 0.0
        self.report(0, 1)

    def report(self, done: float, total: float, message: str = "") -> None:
        self._most = max(self._most, min(1.0, done / total) if total > 0 else 0.0)
        super().report(self._most, 1.0, self._name)


def check_maps(inputs: Inputs, progress: Progress) -> Findings:
    """Completeness, agreement, re-drawn weights, deletion and insertion, and overlap with the truth of a simulation."""
    options = inputs.options
    truth = read_truth(inputs.recording.path)
    source = explained_input(inputs, progress)
    target = target_class(inputs.model, options["target"])
    copied = RedrawnCopy(inputs.model, options["cascade"])
    n_windows = len(source.plan.onsets)
    parts = _Parts(progress, n_windows * (2 + options["seeds"] * len(copied.depths)))
    cases = _explain(inputs, source, target, truth, parts, progress)
    orders = _try_orders(inputs, cases, target, parts)
    redrawn = _redraw(inputs, source, copied, cases, target, parts, progress)
    return findings_of(inputs, source, Checked(cases, orders, redrawn, target, truth is not None))


def _explain(
    inputs: Inputs, source: ModelInput, target: int, truth: Truth | None, parts: _Parts, progress: Progress
) -> list[Case]:
    """Every window's maps by every method."""
    tokens: list[MapOf] = []
    cases = []
    by_second = inputs.options["parts"] == CHANNEL_SECONDS
    for number, window in enumerate(explained_windows(source, Quiet(progress), carried_of(inputs))):
        part = parts.next(f"maps of window {number + 1} of {len(source.plan.onsets)}")
        if number == 0:
            tokens = token_maps(inputs, inputs.model, seconds_in(window), progress)
        baseline, told = baseline_signal(inputs, source, window, inputs.options["baseline"], inputs.options["seed"])
        found = integrated_gradients(window, baseline, target, part)
        maps = {
            **gradient_maps(found.values, window.sfreq),
            **({GRAD_CAM: tokens[number]} if tokens else {}),
            **channel_maps(window, baseline, target, by_second, part),
            RMS: signal_map(window),
        }
        cases.append(Case(window, baseline, told, found, maps, _focus(inputs, source, truth, window.onset)))
    return cases


def seconds_in(window: Explained) -> int:
    """How many seconds a window's maps have; the last may be short."""
    return -(-window.signal.shape[-1] // round(window.sfreq))


def _focus(inputs: Inputs, source: ModelInput, truth: Truth | None, onset: float) -> Focus | None:
    if truth is None:
        return None
    recording = inputs.recording
    channels = [recording.channels[recording.ch_names.index(name)] for name in source.plan.ch_names]
    return focus_of(truth, channels, onset, onset + source.plan.seconds)


def _try_orders(inputs: Inputs, cases: Sequence[Case], target: int, parts: _Parts) -> Orders:
    """Deletion and insertion in the order of every map that has such parts, and in random ones; means over windows."""
    by_second = inputs.options["parts"] == CHANNEL_SECONDS
    methods = [m for m in METHODS if m in cases[0].maps and _values(cases[0].maps[m], by_second) is not None]
    found = []
    for number, case in enumerate(cases):
        part = parts.next(f"deletion and insertion in window {number + 1} of {len(cases)}")
        own = [order_of(np.asarray(_values(case.maps[method], by_second))) for method in methods]
        drawn = random_orders(inputs.options["orders"], len(own[0]), inputs.options["seed"] + number)
        found.append(curves_of(case.window, case.baseline, target, [*own, *drawn], by_second, part))
    deletion, insertion = (np.mean([getattr(each, name) for each in found], 0) for name in ("deletion", "insertion"))
    return Orders(found[0].fractions, tuple(methods), deletion, insertion)


def _values(map_of: MapOf, by_second: bool) -> np.ndarray | None:
    return map_of.by_second if by_second else map_of.by_channel


def _redraw(
    inputs: Inputs,
    source: ModelInput,
    copied: RedrawnCopy,
    cases: Sequence[Case],
    target: int,
    parts: _Parts,
    progress: Progress,
) -> Redrawn:
    """The maps of a copy of the model as its weights are drawn anew, depth by depth, against those of the model."""
    seeds, depths = inputs.options["seeds"], copied.depths
    rho, pearson = (np.full((len(REDRAWN_MAPS), len(cases), seeds, len(depths)), np.nan) for _ in range(2))
    overlaps = np.full((len(METHODS), seeds, len(MEASURES), len(cases)), np.nan)
    changed = replace(source, model=copied.model)
    for seed in range(seeds):
        for depth in copied.draws(inputs.options["seed"] + seed):
            # Windows are made anew, since what is constant over a window may rest on the weights.
            windows = list(explained_windows(changed, Quiet(progress), carried_of(inputs)))
            tokens = token_maps(inputs, copied.model, seconds_in(windows[0]), progress)
            for number, (case, window) in enumerate(zip(cases, windows, strict=True)):
                part = parts.next(f"seed {seed + 1} of {seeds}, re-drawn down to: {depths[depth]}")
                maps = {
                    **gradient_maps(path_gradients(window, case.baseline, target, part), window.sfreq),
                    **({GRAD_CAM: tokens[number]} if tokens else {}),
                    RMS: signal_map(window),
                }
                for i, name in enumerate(REDRAWN_MAPS):
                    if name in maps:
                        pair = case.maps[name].finest, maps[name].finest
                        rho[i, number, seed, depth] = rank_correlation(*pair)
                        pearson[i, number, seed, depth] = plain_correlation(*pair)
                if case.focus is not None and depth == len(depths) - 1:
                    maps |= channel_maps(window, case.baseline, target, False, part)
                    overlaps[:, seed, :, number] = overlaps_of(maps, case.focus)
    return Redrawn(rho, pearson, overlaps, depths)


def overlaps_of(maps: dict[str, MapOf], focus: Focus) -> np.ndarray:
    """The measures of every method (M, measures), NaN where there is no map."""
    table = np.full((len(METHODS), len(MEASURES)), np.nan)
    for i, name in enumerate(METHODS):
        if name in maps:
            table[i] = list(overlap(maps[name].by_channel, focus).values())
    return table
