"""Windows as points of a plane: what a model's last layer makes of each, by PCA or t-SNE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from analysis.analyses import Findings, NamedArray
from analysis.engine.inputs import Inputs
from analysis.engine.other_recordings import beside, short_names
from analysis.engine.representations import Layers, layers_of, window_rows
from analysis.engine.window_labels import SEIZURE, WindowLabels, label_windows
from analysis.errors import AnalysisError
from analysis.progress import Progress

_LEAST = 5  # windows


def embed_windows(inputs: Inputs, progress: Progress) -> Findings:
    """Windows as points: the mean token of the last layer, by PCA or t-SNE (scikit-learn, seeded).

    Each point has the onset of its window, its labelled group, and the recording it is from: this, or another.
    """
    layers = _layers(inputs, progress)
    with beside(inputs, inputs.options["other"]) as others:
        parts = [(inputs, layers), *((other, _layers(other, progress)) for other in others)]
        names = short_names([one for one, _ in parts])
        tables = [_rows(part, progress) for _, part in parts]
        labels = [_label(one, part) for one, part in parts]
        marked = [_label(one, part, SEIZURE).index for one, part in parts]
    table, recording = np.concatenate(tables), np.repeat(np.arange(len(parts)), [len(t) for t in tables])
    seconds = layers.source.plan.seconds
    if len(table) < _LEAST:
        raise AnalysisError(
            f"{len(table)} windows are too few for a plane ({inputs.recording.path}): "
            f"choose a span of at least {_LEAST * seconds:g} s, or shorter windows"
        )
    progress.report(0, 1, "placing the windows")
    points, facts = _place(table, inputs.options)
    # Each recording's clock starts at its own first sample; the first window is this recording's.
    first = float(layers.source.plan.onsets[0])
    onsets = np.concatenate([part.source.plan.onsets for _, part in parts]) - first
    groups = tuple(dict.fromkeys(name for found in labels for name in found.names))
    arrays = {
        "points": NamedArray(points, ("window", "coordinate"), "1", f"place of a window, {inputs.options['method']}"),
        "window_onset": NamedArray(onsets, ("window",), "s", "onset after the first window's"),
        "seizure": NamedArray(np.concatenate(marked), ("window",), "1", "1 where a marked seizure overlaps the window"),
        "label": NamedArray(_joined(labels, groups), ("window",), "1", "number of the labelled group, -1 for none"),
        "recording": NamedArray(recording, ("window",), "1", "number of the recording, 0 for the one on screen"),
    }
    facts |= {"first_window": first, "window_seconds": seconds, "n_windows": len(table)}
    facts |= {"labels": inputs.options["labels"], "layer": "mean token of the last layer"}
    names_of = {"group": groups, "of_recording": names}
    return Findings(arrays, facts, names_of, layers.source.plan.notes, layers.source.describe())


def _layers(inputs: Inputs, progress: Progress) -> Layers:
    return layers_of(inputs, inputs.model, inputs.options["window"], inputs.options["windows"], progress)


def _rows(layers: Layers, progress: Progress) -> np.ndarray:
    rows = [window_rows(list(tokens.values())[-1]) for tokens in layers.batches(progress, "windows")]
    table: np.ndarray = torch.cat(rows).double().cpu().numpy()
    return table


def _label(inputs: Inputs, layers: Layers, labels: str = "") -> WindowLabels:
    plan = layers.source.plan
    return label_windows(plan.onsets, plan.seconds, inputs.recording.annotations, labels or inputs.options["labels"])


def _joined(labels: list[WindowLabels], groups: tuple[str, ...]) -> np.ndarray:
    """Numbers of the groups of all recordings by one list of names."""
    parts = []
    for found in labels:
        places = np.array([groups.index(name) for name in found.names] + [-1])
        parts.append(places[found.index])
    joined: np.ndarray = np.concatenate(parts)
    return joined


def _place(table: np.ndarray, options: Mapping[str, Any]) -> tuple[np.ndarray, dict[str, Any]]:
    if options["method"] == "pca":
        from sklearn.decomposition import PCA

        pca = PCA(2, svd_solver="full").fit(table)
        shares = [float(share) for share in pca.explained_variance_ratio_]
        return pca.transform(table), {"method": "PCA", "explained_variance": shares}
    from sklearn.manifold import TSNE

    perplexity = min(float(options["perplexity"]), (len(table) - 1) / 3)
    placed = TSNE(2, perplexity=perplexity, init="pca", random_state=options["seed"]).fit_transform(table)
    return placed, {"method": "t-SNE", "perplexity": perplexity}
