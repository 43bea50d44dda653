"""How alike the layers of models are on a recording, and how many dimensions they use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from analysis.analyses import Findings, NamedArray
from analysis.engine.cka import MIN_UNBIASED_ROWS, CkaSum, RankSum
from analysis.engine.inputs import Inputs
from analysis.engine.representations import Layers, layers_of, token_rows, window_rows
from analysis.engine.sharedness import sharedness
from analysis.engine.token_maps import TokenMaps, token_seconds
from analysis.errors import AnalysisError
from analysis.progress import Progress

FEW_ROWS = 50
_BATCH_ROWS = 512


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
    maps = [TokenMaps(layers) for layers in ((first,) if second is first else (first, second))]
    for rows in _paired_rows(first, second, by_window, maps, progress):
        names = [list(part) for part in rows]
        total.add(list(rows[0].values()), list(rows[1].values()))
    if total.n_rows < MIN_UNBIASED_ROWS:
        raise AnalysisError(_too_few(inputs, total.n_rows, first.source.plan.seconds))
    plain, unbiased = total.values()
    titles = ("row_layer", "column_layer")
    arrays = {
        "cka": NamedArray(plain, titles, "1", "linear CKA, plain estimator", "paper"),
        "cka_unbiased": NamedArray(unbiased, titles, "1", "linear CKA, unbiased estimator", "paper"),
    }
    notes = list(first.source.plan.notes)
    for collected, which in zip(maps, ("row", "column"), strict=False):
        arrays |= collected.arrays(which)
    if any(collected.given_up for collected in maps):
        notes.append("The span is too long to keep each token's place: the layers' token maps are left out.")
    if total.n_rows < FEW_ROWS:
        notes.append(f"Only {total.n_rows} rows: the plain estimator is far too high; trust the unbiased one.")
    labels = {"row_layer": tuple(names[0]), "column_layer": tuple(names[1])}
    facts: dict[str, Any] = {
        "rows": inputs.options["rows"],
        "n_rows": total.n_rows,
        "n_batches": total.n_batches,
        "estimator": f"sums of HSIC over batches of at most {_BATCH_ROWS} rows",
        "n_windows": len(first.source.plan.onsets),
        "first_window": float(first.source.plan.onsets[0]),
        "window_seconds": first.source.plan.seconds,
    }
    for layers, which in ((first, "row"), (second, "column")):
        facts[f"{which}_token_seconds"] = token_seconds(layers)
        labels[f"{which}_channel"] = layers.source.plan.ch_names
    if inputs.options["groups"] != "none":
        arrays |= sharedness(inputs, first, progress, facts)
        labels["layer"] = tuple(names[0])
    return Findings(arrays, facts, labels, tuple(notes), first.source.describe())


def _too_few(inputs: Inputs, n: int, seconds: float) -> str:
    by_window = inputs.options["rows"] == "windows"
    word = inputs.options["rows"].removesuffix("s" if n == 1 else "")
    tokens = (
        ", or compare tokens, with rows=tokens"
        if by_window and len({model.family for model in inputs.models}) == 1
        else ""
    )
    return (
        f"{n} {word} cannot tell how alike layers are, at least {MIN_UNBIASED_ROWS} are needed "
        f"({inputs.recording.path}): choose a longer span, or windows shorter than {seconds:g} s{tokens}"
    )


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
    first: Layers, second: Layers, by_window: bool, maps: list[TokenMaps], progress: Progress
) -> Iterator[tuple[dict[str, Tensor], dict[str, Tensor]]]:
    """Rows of both models by layer, in batches of at most 512 rows, and the last one with what is left.

    `maps`, one for each model, are shown every batch on its way.
    """
    rows = window_rows if by_window else token_rows
    kept: list[tuple[dict[str, Tensor], dict[str, Tensor]]] = []
    other = second.with_arguments(Progress(), "layers") if second is not first else None
    for arguments, tokens in first.with_arguments(progress, "layers"):
        maps[0].add(tokens, arguments)
        made = beside = {name: rows(value) for name, value in tokens.items()}
        if other is not None:
            arguments, tokens = next(other)
            maps[1].add(tokens, arguments)
            beside = {name: rows(value) for name, value in tokens.items()}
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
