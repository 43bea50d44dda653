"""How alike the layers of models are on a recording, how many dimensions they use, and where windows lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from analysis.analyses import Findings, NamedArray
from analysis.engine.cka import CkaSum, RankSum
from analysis.engine.inputs import Inputs
from analysis.engine.representations import Layers, layers_of, token_rows, window_rows
from analysis.errors import AnalysisError
from analysis.progress import Progress
from analysis.seizure_marks import seizures
from models.prise.allocation import BlockSimilarity, compare_samples, shared_experts

FEW_ROWS = 50
_BATCH_ROWS = 512
_MOST_PAIRED = 40  # windows that are compared pair by pair
_LEAST_EMBEDDED = 5


def layer_similarity(inputs: Inputs, progress: Progress) -> Findings:
    """Linear CKA of every layer of a model with every layer of it, or of another model (paper names differ by model).

    Rows are tokens or windows; with two models that lay their tokens differently only windows can be compared.
    """
    first = _layers(inputs, 0, progress)
    second = _layers(inputs, 1, progress) if len(inputs.models) > 1 else first
    by_window = inputs.options["rows"] == "windows"
    _refuse_unequal(first, second, by_window)
    total = CkaSum()
    names: list[list[str]] = [[], []]
    for rows in _paired_rows(first, second, by_window, progress):
        names = [list(part) for part in rows]
        total.add(list(rows[0].values()), list(rows[1].values()))
    plain, unbiased = total.values()
    titles = ("row_layer", "column_layer")
    arrays = {
        "cka": NamedArray(plain, titles, "1", "linear CKA, plain estimator"),
        "cka_unbiased": NamedArray(unbiased, titles, "1", "linear CKA, unbiased estimator"),
    }
    notes = list(first.source.plan.notes)
    if total.n_rows < FEW_ROWS:
        notes.append(f"Only {total.n_rows} rows: the plain estimator is far too high; trust the unbiased one.")
    labels = {"row_layer": tuple(names[0]), "column_layer": tuple(names[1])}
    facts: dict[str, Any] = {
        "rows": inputs.options["rows"],
        "n_rows": total.n_rows,
        "n_batches": total.n_batches,
        "estimator": "sums of HSIC over batches of at most 512 rows",
    }
    if inputs.options["groups"] == "seizure":
        arrays |= _sharedness(inputs, first, progress, facts)
        labels["layer"] = tuple(names[0])
    return Findings(arrays, facts, labels, tuple(notes), first.source.describe())


def _layers(inputs: Inputs, which: int, progress: Progress) -> Layers:
    return layers_of(inputs, inputs.models[which], inputs.options["window"], inputs.options["windows"], progress)


def _refuse_unequal(first: Layers, second: Layers, by_window: bool) -> None:
    same_windows = np.array_equal(first.source.plan.onsets, second.source.plan.onsets)
    if not same_windows or first.source.plan.seconds != second.source.plan.seconds:
        raise AnalysisError(
            "the two models do not take the same windows of this span: give a window that both take, such as 10"
        )
    if not by_window and first.model.family != second.model.family:
        raise AnalysisError("the tokens of different families do not correspond: compare windows, with rows=windows")


def _paired_rows(
    first: Layers, second: Layers, by_window: bool, progress: Progress
) -> Iterator[tuple[dict[str, Tensor], dict[str, Tensor]]]:
    """Rows of both models by layer, in batches of at most 512 rows, and the last one with what is left."""
    rows = window_rows if by_window else token_rows
    kept: list[tuple[dict[str, Tensor], dict[str, Tensor]]] = []
    ahead = first.batches(progress, "layers")
    other = second.batches(Progress(), "layers") if second is not first else None
    for tokens in ahead:
        made = {name: rows(value) for name, value in tokens.items()}
        beside = {name: rows(value) for name, value in next(other).items()} if other is not None else made
        kept.append((made, beside))
        if _count(kept) >= _BATCH_ROWS:
            yield from _whole_batches(kept)
    if kept:
        yield _joined(kept)


def _count(kept: list[tuple[dict[str, Tensor], dict[str, Tensor]]]) -> int:
    return sum(len(next(iter(part.values()))) for part, _ in kept)


def _joined(kept: list[tuple[dict[str, Tensor], dict[str, Tensor]]]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    first, second = ({name: torch.cat([part[i][name] for part in kept]) for name in kept[0][i]} for i in (0, 1))
    return first, second


def _whole_batches(
    kept: list[tuple[dict[str, Tensor], dict[str, Tensor]]],
) -> Iterator[tuple[dict[str, Tensor], dict[str, Tensor]]]:
    """Give out what fills batches and keep the rest, so that no batch is small but the last."""
    joined = _joined(kept)
    n = len(next(iter(joined[0].values())))
    whole = n // _BATCH_ROWS * _BATCH_ROWS
    for at in range(0, whole, _BATCH_ROWS):
        first, second = ({name: rows[at : at + _BATCH_ROWS] for name, rows in part.items()} for part in joined)
        yield first, second
    kept.clear()
    if whole < n:
        first, second = ({name: rows[whole:] for name, rows in part.items()} for part in joined)
        kept.append((first, second))


def _sharedness(inputs: Inputs, layers: Layers, progress: Progress, facts: dict[str, Any]) -> dict[str, NamedArray]:
    """CKA of pairs of windows within and between "seizure" and "not", and the allocation it gives (PRiSE-EEG, 7)."""
    onsets, seconds = layers.source.plan.onsets, layers.source.plan.seconds
    marked = seizures(inputs.recording.annotations)
    labels = [any(a < onset + seconds and z > onset for a, z in marked) for onset in onsets]
    if len(set(labels)) < 2:
        raise AnalysisError(
            f"all {len(labels)} windows are {'seizure' if labels and labels[0] else 'without a seizure'} "
            f"({inputs.recording.path}): choose a span with both, of a recording with marked seizures"
        )
    chosen = _balanced(labels, _MOST_PAIRED)
    samples: dict[str, list[Tensor]] = {}
    at = 0
    for tokens in layers.batches(progress, "pairs of windows"):
        for name, value in tokens.items():
            keep = [i for i in range(len(value)) if at + i in chosen]
            samples.setdefault(name, []).extend(value[i].flatten(0, -2) for i in keep)
        at += len(next(iter(tokens.values())))
    kept = [labels[i] for i in sorted(chosen)]
    found: list[BlockSimilarity] = [compare_samples(rows, kept) for rows in samples.values()]
    facts |= {"groups": "seizure", "n_paired_windows": len(kept)}
    facts |= {"n_within": found[0].n_within, "n_between": found[0].n_between}

    def by_layer(values: list[float], meaning: str) -> NamedArray:
        return NamedArray(np.array(values), ("layer",), "1", meaning, "our definition")

    return {
        "within": by_layer([f.within for f in found], "mean CKA of pairs of windows of the same group"),
        "between": by_layer([f.between for f in found], "mean CKA of pairs of windows of different groups"),
        "ratio": by_layer([f.ratio for f in found], "r: between over within"),
        "shared_ratio": by_layer([f.shared_ratio for f in found], "rho: sigmoid(10 (r - 1))"),
        "shared_experts": by_layer([float(shared_experts(f.ratio)) for f in found], "shared experts of a pool of 8"),
    }


def _balanced(labels: list[bool], most: int) -> set[int]:
    """At most `most` windows, half of them of each group where there are enough, spread over the span."""
    groups = [[i for i, label in enumerate(labels) if label == wanted] for wanted in (True, False)]
    smaller = min(len(group) for group in groups)
    sizes = [min(len(group), max(most // 2, most - smaller)) for group in groups]
    return {
        group[i] for group, size in zip(groups, sizes, strict=True)
        for i in np.linspace(0, len(group) - 1, size).round().astype(int).tolist()
    }  # fmt: skip


def effective_ranks(inputs: Inputs, progress: Progress) -> Findings:
    """Effective rank of each layer's tokens or windows (Roy and Vetterli; columns centred by our definition)."""
    layers = _layers(inputs, 0, progress)
    rows = window_rows if inputs.options["rows"] == "windows" else token_rows
    sums: dict[str, RankSum] = {}
    for tokens in layers.batches(progress, "layers"):
        for name, value in tokens.items():
            sums.setdefault(name, RankSum()).add(rows(value))
    values = np.array([total.value() for total in sums.values()])
    n = next(iter(sums.values())).n_rows
    arrays = {"effective_rank": NamedArray(values, ("layer",), "1", "effective number of dimensions", "paper")}
    facts = {"rows": inputs.options["rows"], "n_rows": n}
    notes = (*layers.source.plan.notes, *([f"Only {n} rows: the rank cannot exceed {n - 1}."] if n < FEW_ROWS else []))
    return Findings(arrays, facts, {"layer": tuple(sums)}, notes, layers.source.describe())


def embed_windows(inputs: Inputs, progress: Progress) -> Findings:
    """Windows as points of a plane: the mean token of the last layer, by PCA or t-SNE (scikit-learn, seeded)."""
    layers = _layers(inputs, 0, progress)
    rows = torch.cat([window_rows(list(tokens.values())[-1]) for tokens in layers.batches(progress, "windows")])
    table = rows.double().cpu().numpy()
    if len(table) < _LEAST_EMBEDDED:
        raise AnalysisError(
            f"{len(table)} windows are too few for a plane ({inputs.recording.path}): "
            f"choose a span of at least {_LEAST_EMBEDDED * layers.source.plan.seconds:g} s, or shorter windows"
        )
    progress.report(0, 1, "placing the windows")
    points, facts = _place(table, inputs.options)
    onsets, seconds = layers.source.plan.onsets, layers.source.plan.seconds
    marked = seizures(inputs.recording.annotations)
    ictal = [float(any(a < onset + seconds and z > onset for a, z in marked)) for onset in onsets]
    arrays = {
        "points": NamedArray(points, ("window", "coordinate"), "1", f"place of a window, {inputs.options['method']}"),
        "window_onset": NamedArray(layers.source.window_onsets(), ("window",), "s", "onset after the first window's"),
        "seizure": NamedArray(np.array(ictal), ("window",), "1", "1 where a marked seizure overlaps the window"),
    }
    facts |= {"first_window": float(onsets[0]), "window_seconds": seconds, "n_windows": len(table)}
    return Findings(arrays, facts, {}, layers.source.plan.notes, layers.source.describe())


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
