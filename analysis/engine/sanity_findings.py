"""The arrays, facts and verdicts of sanity checks, from what was measured.

Letters: W windows, M methods, C channels, S seconds, F fractions, R random orders.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from analysis.analyses import Findings, NamedArray
from analysis.engine.attribution import GAP, Attributed
from analysis.engine.compared_maps import (
    GRAD_CAM,
    KEEP_ONE,
    METHODS,
    OCCLUSION,
    RMS,
    SIGNED,
    UNSIGNED,
    MapOf,
    agreement,
)
from analysis.engine.deletion import area
from analysis.engine.explained import Explained, carried_notes
from analysis.engine.inputs import Inputs
from analysis.engine.model_inputs import ModelInput
from analysis.engine.redrawn_weights import REDRAWN
from analysis.engine.trust_verdicts import (
    BAND,
    Verdict,
    of_agreement,
    of_completeness,
    of_orders,
    of_randomisation,
    of_truth,
    without_truth,
)
from analysis.engine.truth_overlap import INVOLVED, MEASURES, Focus, overlap
from analysis.simulation.truth import truth_path

REDRAWN_MAPS = (SIGNED, UNSIGNED, GRAD_CAM, RMS)  # the maps that are made anew at each depth
CHANNEL_SECONDS = "channel-seconds"


@dataclass(frozen=True)
class Case:
    """A window with its baseline, its maps by method, and the simulated focus where one is in it."""

    window: Explained
    baseline: Tensor
    told: str
    found: Attributed
    maps: Mapping[str, MapOf]
    focus: Focus | None


@dataclass(frozen=True)
class Orders:
    """Scores (methods + R, F) in deletion and insertion, in the orders of methods and then in random ones."""

    fractions: np.ndarray
    methods: tuple[str, ...]
    deletion: np.ndarray
    insertion: np.ndarray


@dataclass(frozen=True)
class Redrawn:
    """Likeness to the maps (maps, W, seeds, depths), and overlaps (M, seeds, measures, W) of fully re-drawn models."""

    rho: np.ndarray
    pearson: np.ndarray
    overlaps: np.ndarray
    depths: tuple[str, ...]


@dataclass(frozen=True)
class Checked:
    """All that was measured."""

    cases: Sequence[Case]
    orders: Orders
    redrawn: Redrawn
    target: int
    has_truth: bool


def findings_of(inputs: Inputs, source: ModelInput, checked: Checked) -> Findings:
    """Arrays, facts and labels, with the verdicts."""
    arrays = {
        **_map_arrays(checked.cases, source),
        **_agreement_arrays(checked.cases),
        **_redrawn_arrays(checked.redrawn),
        **_order_arrays(checked.orders),
        **_truth_arrays(checked),
    }
    worst = max((case.found for case in checked.cases), key=lambda found: found.gap)
    baselines = dict.fromkeys(case.told for case in checked.cases)
    verdicts = _verdicts(inputs, checked, arrays, worst)
    change = float(np.mean([case.found.change for case in checked.cases]))
    own_change = float(checked.orders.deletion[0, 0] - checked.orders.deletion[0, -1])
    facts = {
        "target": inputs.model.facts.labels[checked.target],
        "n_windows": len(checked.cases),
        "window_seconds": source.plan.seconds,
        "first_window": float(source.plan.onsets[0]),
        "change": change,
        "change_of_model": own_change,
        "completeness_gap": worst.gap,
        "nodes": worst.nodes,
        "windows": [
            {"onset": c.window.onset, "baseline": c.told, "change": c.found.change, "gap": c.found.gap}
            for c in checked.cases
        ],
        "verdicts": [verdict.plain() for verdict in verdicts],
        "truth": _truth_facts(checked),
        "redrawn": REDRAWN,
    }
    labels = {
        "channel": source.plan.ch_names,
        "method": METHODS,
        "other": METHODS,
        "map": REDRAWN_MAPS,
        "depth": checked.redrawn.depths,
        "fraction": tuple(f"{share:.0%}" for share in checked.orders.fractions),
        "measure": MEASURES,
    }
    notes = [*source.plan.notes, *carried_notes(inputs), f"Baseline: {'; '.join(baselines)}.", f"{REDRAWN}."]
    if abs(change - own_change) > GAP * abs(own_change):
        notes.append(
            "The map explains the model with its routing held fixed along the path, whose score changes by "
            f"{change:.3g}; as it is, the model's changes by {own_change:.3g}."
        )
    return Findings(arrays, facts, labels, tuple(notes), source.describe())


def _map_arrays(cases: Sequence[Case], source: ModelInput) -> dict[str, NamedArray]:
    n_channels, n_seconds = cases[0].maps[SIGNED].finest.shape
    channels = np.full((len(cases), len(METHODS), n_channels), np.nan)
    seconds = np.full((*channels.shape, n_seconds), np.nan)
    for w, case in enumerate(cases):
        for m, name in enumerate(METHODS):
            found = case.maps.get(name)
            if found is not None:
                channels[w, m] = found.by_channel
                if found.by_second is not None:
                    seconds[w, m] = found.by_second
    axes = ("window", "method", "channel")
    return {
        "by_channel": NamedArray(channels, axes, "1", "what each method says of a channel, each in its own unit"),
        "by_second": NamedArray(seconds, (*axes, "second"), "1", "the same of a second, where a method tells of time"),
        "window_onset": NamedArray(source.window_onsets(), ("window",), "s", "onset after the first window's"),
    }


def _agreement_arrays(cases: Sequence[Case]) -> dict[str, NamedArray]:
    channels, seconds = (_mean([agreement(case.maps, METHODS, which) for case in cases], 0) for which in (False, True))
    axes = ("method", "other")
    return {
        "agreement": NamedArray(channels, axes, "1", "Spearman's rho of two methods over channels, mean of windows"),
        "agreement_by_second": NamedArray(seconds, axes, "1", "the same over seconds of channels"),
    }


def _redrawn_arrays(redrawn: Redrawn) -> dict[str, NamedArray]:
    axes = ("map", "window", "seed", "depth")
    meaning = "with the map as it is, over seconds of channels, when all weights down to a depth are re-drawn"
    size = _mean(np.abs(redrawn.rho), (1, 2))
    return {
        "likeness": NamedArray(redrawn.rho, axes, "1", f"Spearman's rho {meaning}", "paper"),
        "likeness_pearson": NamedArray(redrawn.pearson, axes, "1", f"Pearson's r {meaning}"),
        "likeness_mean": NamedArray(_mean(redrawn.rho, (1, 2)), ("map", "depth"), "1", "mean of rho", "paper"),
        "likeness_sd": NamedArray(_spread(redrawn.rho, (1, 2)), ("map", "depth"), "1", "standard deviation of rho"),
        "likeness_size": NamedArray(size, ("map", "depth"), "1", "mean of |rho|: draws may turn the sign of a map"),
    }


def _order_arrays(orders: Orders) -> dict[str, NamedArray]:
    n = len(orders.methods)
    arrays = {"fraction": NamedArray(orders.fractions, ("fraction",), "1", "share of the parts that are replaced")}
    for name, scores in (("deletion", orders.deletion), ("insertion", orders.insertion)):
        own = np.full((len(METHODS), scores.shape[1]), np.nan)
        own[[METHODS.index(method) for method in orders.methods]] = scores[:n]
        low, high = np.percentile(scores[n:], BAND, axis=0)
        band = np.stack([low, scores[n:].mean(0), high])
        areas = area(scores, orders.fractions)
        own_areas = area(own, orders.fractions)
        what = "parts are taken out" if name == "deletion" else "parts are put in"
        arrays |= {
            name: NamedArray(own, ("method", "fraction"), "score", f"score as {what} in a method's order"),
            f"{name}_random": NamedArray(
                band, ("band", "fraction"), "score", "2.5th percentile, mean and 97.5th percentile of random orders"
            ),
            f"{name}_area": NamedArray(own_areas, ("method",), "score", "mean score along the curve"),
            f"{name}_area_random": NamedArray(areas[n:], ("draw",), "score", "the same of each random order"),
        }
    return arrays


def _truth_arrays(checked: Checked) -> dict[str, NamedArray]:
    """Nothing where no window has a known focus."""
    found = [case for case in checked.cases if case.focus is not None]
    if not found:
        return {}
    table = np.full((len(found), len(METHODS), len(MEASURES)), np.nan)
    for w, case in enumerate(found):
        for m, name in enumerate(METHODS):
            if name in case.maps and case.focus is not None:
                table[w, m] = list(overlap(case.maps[name].by_channel, case.focus).values())
    meaning = (
        "rank of the focus among the channels, share of windows with it in the top 3, AUROC of the channels with at "
        f"least {INVOLVED:g} of the largest |field|, and Spearman's rho with |field|"
    )
    return {
        "truth": NamedArray(_mean(table, 0), ("method", "measure"), "1", meaning),
        "truth_redrawn": NamedArray(
            _mean(checked.redrawn.overlaps, -1), ("method", "seed", "measure"), "1", f"all weights re-drawn: {meaning}"
        ),
    }


def _truth_facts(checked: Checked) -> dict[str, Any]:
    return {
        "file": checked.has_truth,
        "seizures": [
            {
                "window": number,
                "onset": case.focus.seizure.onset,
                "region": case.focus.seizure.region,
                "focus_channel": case.focus.seizure.focus_channel,
                "channels": len(case.focus.picks),
            }
            for number, case in enumerate(checked.cases)
            if case.focus is not None
        ],
    }


def _verdicts(
    inputs: Inputs, checked: Checked, arrays: Mapping[str, NamedArray], worst: Attributed
) -> tuple[Verdict, ...]:
    rows = {name: arrays["agreement"].values[METHODS.index(name)] for name in (SIGNED, UNSIGNED)}
    signed = {name: float(rows[SIGNED][METHODS.index(name)]) for name in (OCCLUSION, KEEP_ONE, GRAD_CAM, RMS)}
    last = {name: checked.redrawn.rho[i, :, :, -1].ravel() for i, name in enumerate(REDRAWN_MAPS)}
    cells = checked.cases[0].maps[SIGNED].finest.size
    own = METHODS.index(SIGNED)
    areas = [arrays[f"{name}_area"].values for name in ("deletion", "insertion")]
    chance = arrays["deletion_area_random"].values, arrays["insertion_area_random"].values
    return (
        of_completeness(worst.gap, worst.nodes, GAP),
        of_agreement(signed, float(rows[UNSIGNED][METHODS.index(RMS)])),
        of_randomisation(last, cells),
        of_orders(float(areas[0][own]), float(areas[1][own]), chance, inputs.options["parts"]),
        _truth_verdict(inputs, checked, arrays),
    )


def _truth_verdict(inputs: Inputs, checked: Checked, arrays: Mapping[str, NamedArray]) -> Verdict:
    if not checked.has_truth:
        return without_truth(f"there is no {truth_path(inputs.recording.path).name} beside the recording")
    if "truth" not in arrays:
        return without_truth("no window holds a simulated seizure whose focus is among the channels that are looked at")
    rank = MEASURES.index("rank")
    table, redrawn = arrays["truth"].values[:, rank], arrays["truth_redrawn"].values[..., rank]
    foci = [case.focus for case in checked.cases if case.focus is not None]
    own = METHODS.index(SIGNED)
    names = [focus.seizure.focus_channel for focus in foci]
    return of_truth(float(table[own]), float(table[METHODS.index(RMS)]), redrawn[own], len(foci[0].picks), names)


def _mean(values: Any, axis: int | tuple[int, ...]) -> np.ndarray:
    """The mean of what is known; NaN where nothing is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found: np.ndarray = np.nanmean(np.asarray(values, float), axis)
    return found


def _spread(values: np.ndarray, axis: tuple[int, ...]) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found: np.ndarray = np.nanstd(values, axis)
    return found
