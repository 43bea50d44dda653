"""What a PRiSE-EEG says without some of its priors, groups or experts, or with other ones (spec section 10.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch

from analysis.analyses import Findings, NamedArray
from analysis.engine.inputs import Inputs
from analysis.engine.model_inputs import ModelInput, model_input
from analysis.engine.prise_groups import or_refuse
from analysis.errors import AnalysisError
from analysis.progress import Progress
from models.prise.allocation import ALLOCATIONS, allocation
from models.prise.config import N_POOL
from models.prise.electrodes import STATIC_GROUPS, dynamic_group_names
from models.prise.experts import Mixture
from models.prise.interventions import (
    with_allocation,
    with_beta,
    with_expert,
    without_correction,
    without_dynamic,
    without_groups,
    without_static,
)
from models.prise.model import Prise

BETAS = (0.5, 1.0, 2.0, 4.0, 8.0, 1e6)

Intervention = tuple[str, Callable[[], AbstractContextManager[None]]]


def group_interventions(inputs: Inputs, progress: Progress) -> Findings:
    """Change of the class probabilities, and move of the mean token, by intervention (our definition).

    Without a head only the tokens are compared. A head asks for windows of its own length.
    """
    model: Prise = inputs.model.network
    seconds = float(model.config.n_patches) if model.head is not None else inputs.options["window"]
    source = model_input(inputs, inputs.model, seconds, inputs.options["windows"], progress)
    check_head(inputs, model, source)
    notes = source.plan.notes
    if seconds != inputs.options["window"]:
        notes = (
            f"Windows of {seconds:g} s, which this head was made for, not of {inputs.options['window']:g} s.",
            *notes,
        )
    chosen = list(interventions(model, inputs.options["what"], _block_number(model, inputs.options["block"])))
    batches = list(source.batches(progress, "reading", 1))
    learned = or_refuse(partial(_answers, model, batches), inputs.model)
    answers = []
    for i, (name, context) in enumerate(chosen):
        progress.report(i, len(chosen), name)
        with context():
            answers.append(_answers(model, batches))
    return replace(_findings(inputs, source, [name for name, _ in chosen], learned, answers), notes=notes)


def check_head(inputs: Inputs, model: Prise, source: ModelInput) -> None:
    """AnalysisError where the windows are not as long as the head asks for."""
    needed = model.config.n_patches
    if model.head is not None and source.plan.seconds != needed:
        raise AnalysisError(
            f"this head was made for {needed} s, not for {source.plan.seconds:g} s "
            f"({inputs.recording.path}): choose a span of at least {needed} s"
        )


def interventions(model: Prise, what: str, block: int) -> Iterator[Intervention]:
    """Names and contexts of one sort of interventions: priors, groups, experts (of a block), allocations, or all."""
    if what in ("all", "priors"):
        yield "no static bias", partial(without_static, model)
        yield "no dynamic bias", partial(without_dynamic, model)
        yield "no learned correction", partial(without_correction, model)
        for beta in BETAS:
            yield f"beta {beta:g}", partial(with_beta, model, beta)
    if what in ("all", "groups"):
        for number, name in enumerate((*STATIC_GROUPS, *dynamic_group_names())):
            yield f"no {name}", partial(without_groups, model, (number,))
    mixture = model.blocks()[block].ffn
    if not isinstance(mixture, Mixture):
        return
    if what in ("all", "experts"):
        for expert in range(mixture.n_shared + 1, N_POOL + 1):
            yield f"{model.block_names()[block]}: expert {expert}", partial(with_expert, model, block, expert)
    if what in ("all", "allocations"):
        for kind in ALLOCATIONS:
            yield f"{kind} allocation", partial(with_allocation, model, allocation(kind, model.config))


def _block_number(model: Prise, name: str) -> int:
    names = model.block_names()
    if name not in names:
        raise AnalysisError(f"this model has no block {name!r}: choose one of {', '.join(names)}")
    return names.index(name)


def _answers(model: Prise, batches: Sequence[dict[str, Any]]) -> tuple[np.ndarray, np.ndarray | None]:
    """Mean tokens (windows, D) of the groups that take part and, with a head, class probabilities (windows, K)."""
    tokens, scores = [], []
    with torch.inference_mode():
        for arguments in batches:
            made = model.tokens(**arguments)
            there = [g for g in range(made.shape[2]) if g not in model.dropped]
            tokens.append(made[:, :, there].mean((1, 2)))
            if model.head is not None:
                scores.append(model.classify(made, model.index(arguments["channels"])).softmax(-1))
    return torch.cat(tokens).cpu().numpy(), torch.cat(scores).cpu().numpy() if scores else None


def _findings(
    inputs: Inputs,
    source: ModelInput,
    names: Sequence[str],
    learned: tuple[np.ndarray, np.ndarray | None],
    answers: Sequence[tuple[np.ndarray, np.ndarray | None]],
) -> Findings:
    cosine = np.stack([_cosines(tokens, learned[0]) for tokens, _ in answers])
    axes = ("intervention", "window")
    arrays = {
        "cosine": NamedArray(cosine, axes, "1", "cosine of the mean token with and without it", "our definition"),
        "window_onset": NamedArray(source.window_onsets(), ("window",), "s", "onset after the first window's"),
    }
    if learned[1] is not None:
        scores = np.stack([scores for _, scores in answers if scores is not None])
        arrays["probability"] = NamedArray(learned[1], ("window", "class"), "1", "class probabilities as trained")
        arrays["probability_change"] = NamedArray(
            scores - learned[1], (*axes, "class"), "1", "change of the class probabilities", "our definition"
        )
    facts = {
        "n_windows": len(source.plan.onsets),
        "first_window": float(source.plan.onsets[0]),
        "window_seconds": source.plan.seconds,
        "as_it_is": "as trained",
    }
    labels = {"intervention": tuple(names), "class": tuple(inputs.model.facts.labels)}
    return Findings(arrays, facts, labels, source.plan.notes, source.describe())


def _cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    norm = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return np.asarray((first * second).sum(1) / np.maximum(norm, 1e-30))
