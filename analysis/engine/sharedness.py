"""How alike windows are within and between labelled groups, layer by layer, and the experts that this would share.

PRiSE-EEG's section 7, for every family: sample-wise CKA of pairs of windows on the tokens that both have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

from analysis.analyses import NamedArray
from analysis.engine.inputs import Inputs
from analysis.engine.other_recordings import beside, short_names
from analysis.engine.representations import Layers, layers_of
from analysis.engine.window_labels import SEIZURE, STAGES, WindowLabels, check_groups, label_windows
from analysis.errors import AnalysisError
from analysis.progress import Progress
from models.prise.allocation import BlockSimilarity, compare_samples, shared_experts

MARKS, RECORDINGS = "marks", "recordings"
GROUPS = ("none", SEIZURE, STAGES, MARKS, RECORDINGS)
_MOST_PAIRED = 40  # windows that are compared pair by pair


def sharedness(inputs: Inputs, layers: Layers, progress: Progress, facts: dict[str, Any]) -> dict[str, NamedArray]:
    """CKA within and between groups by layer, its ratio r, and the allocation that it gives.

    `facts` is told what the groups are and how many windows and pairs were compared.
    """
    if inputs.options["groups"] == RECORDINGS:
        samples, labels, names = _of_recordings(inputs, layers, progress)
    else:
        found = _labels(inputs, layers)
        check_groups(found, inputs.recording.path)
        chosen = balanced(found, _MOST_PAIRED)
        samples = _samples(layers, chosen, None, progress)
        labels, names = [int(found.index[i]) for i in sorted(chosen)], found.names
    compared: list[BlockSimilarity] = [compare_samples(rows, labels) for rows in samples.values()]
    facts |= {
        "groups": inputs.options["groups"],
        "n_paired_windows": len(labels),
        "n_of_group": {name: labels.count(i) for i, name in enumerate(names)},
        "n_within": compared[0].n_within,
        "n_between": compared[0].n_between,
    }
    return _arrays(compared)


def _arrays(found: Sequence[BlockSimilarity]) -> dict[str, NamedArray]:
    def by_layer(values: list[float], meaning: str) -> NamedArray:
        return NamedArray(np.array(values), ("layer",), "1", meaning, "our definition")

    return {
        "within": by_layer([f.within for f in found], "mean CKA of pairs of windows of the same group"),
        "between": by_layer([f.between for f in found], "mean CKA of pairs of windows of different groups"),
        "ratio": by_layer([f.ratio for f in found], "r: between over within"),
        "shared_ratio": by_layer([f.shared_ratio for f in found], "rho: sigmoid(10 (r - 1))"),
        "shared_experts": by_layer([float(shared_experts(f.ratio)) for f in found], "shared experts of a pool of 8"),
    }


def _labels(inputs: Inputs, layers: Layers) -> WindowLabels:
    plan, groups = layers.source.plan, inputs.options["groups"]
    if groups == MARKS and not inputs.options["marks"].strip():
        raise AnalysisError("no marks are named to tell groups by: give marks=T1,T2 with the texts of at least two")
    labels = inputs.options["marks"] if groups == MARKS else groups
    return label_windows(plan.onsets, plan.seconds, inputs.recording.annotations, labels)


def balanced(labels: WindowLabels, most: int) -> set[int]:
    """Numbers of at most about `most` labelled windows, the groups as equal as they can be, spread over the span."""
    groups = [np.flatnonzero(labels.index == i) for i in range(len(labels.names))]
    sizes = _sizes([len(group) for group in groups], most)
    return {
        int(group[i])
        for group, size in zip(groups, sizes, strict=True)
        for i in np.unique(np.linspace(0, len(group) - 1, size).round().astype(int)).tolist()
        if size
    }


def _sizes(counts: Sequence[int], most: int) -> list[int]:
    """Fair shares of `most`: what a small group leaves goes to the larger ones."""
    sizes = [0] * len(counts)
    left, open_ = most, [i for i, count in enumerate(counts) if count]
    while open_ and left >= len(open_):
        share = left // len(open_)
        for i in list(open_):
            taken = min(share, counts[i] - sizes[i])
            sizes[i] += taken
            left -= taken
            if sizes[i] == counts[i]:
                open_.remove(i)
    return sizes


def _samples(
    layers: Layers, chosen: set[int], channels: Sequence[int] | None, progress: Progress
) -> dict[str, list[Tensor]]:
    """Tokens (rows, D) of the chosen windows by layer, of some channels where tokens have any."""
    samples: dict[str, list[Tensor]] = {}
    for tokens in layers.only(sorted(chosen)).batches(progress, "pairs of windows"):
        for name, value in tokens.items():
            kept = value if channels is None else layers.pick_channels(value, channels)
            samples.setdefault(name, []).extend(rows.flatten(0, -2) for rows in kept)
    return samples


def _of_recordings(
    inputs: Inputs, layers: Layers, progress: Progress
) -> tuple[dict[str, list[Tensor]], list[int], tuple[str, ...]]:
    """Samples of this and the other recordings, on the electrodes that all of them have."""
    if not inputs.options["other"]:
        raise AnalysisError("no other recording is named to compare with: give other=FILE, or several with commas")
    with beside(inputs, inputs.options["other"]) as others:
        options = inputs.options
        parts = [layers]
        for other in others:
            parts.append(layers_of(other, other.model, options["window"], options["windows"], progress))
        names = short_names([inputs, *others])
        if len({part.source.plan.seconds for part in parts}) > 1:
            raise AnalysisError("the recordings do not have windows of the same length: give shorter windows")
        picks = _common(parts, [str(one.recording.path) for one in (inputs, *others)])
        most = max(2, _MOST_PAIRED // len(parts))
        samples: dict[str, list[Tensor]] = {}
        labels: list[int] = []
        for which, (part, channels) in enumerate(zip(parts, picks, strict=True)):
            n = len(part.source.plan.onsets)
            chosen = set(np.linspace(0, n - 1, min(n, most)).round().astype(int).tolist())
            for name, rows in _samples(part, chosen, channels, progress).items():
                samples.setdefault(name, []).extend(rows)
            labels += [which] * len(chosen)
    return samples, labels, names


def _common(parts: Sequence[Layers], paths: Sequence[str]) -> list[list[int] | None]:
    """For each recording the channels of the electrodes that all have, in one order; None for tokens of groups."""
    if not parts[0].has_channels:
        return [None] * len(parts)
    sites = [
        [site or name for site, name in zip(part.source.plan.sites, part.source.plan.ch_names, strict=True)]
        for part in parts
    ]
    shared = [site for site in sites[0] if all(site in other for other in sites[1:])]
    if len(shared) < 2:
        raise AnalysisError(
            f"the recordings have no two electrodes in common ({', '.join(paths)}): choose others, or PRiSE-EEG"
        )
    return [[own.index(site) for site in shared] for own in sites]
