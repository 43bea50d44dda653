"""Which way labelled sets of windows would push a PRiSE-EEG: cosine and subspace affinity of gradients (section 10.5).

Of each step the gradient of the pretraining loss with respect to the encoder (front end, groups, tokenizer, encoder) is
projected by a fixed Gaussian matrix, seed 42, to 1024 dimensions. Longer gradients are first folded into 16,384 signed
sums of random coordinates, since the whole matrix would have thousands of millions of entries; both keep inner products
up to about 1/32 of the lengths. The weights stay as they are, and all sets meet the same masks (our definitions).
Letters: S steps, P projected dimensions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from analysis.analyses import Findings, NamedArray
from analysis.engine.inputs import Inputs
from analysis.engine.model_inputs import ModelInput, model_input
from analysis.engine.other_recordings import beside, short_names
from analysis.engine.prise_experts import expert_usage, mean_load, routing_similarity
from analysis.engine.window_labels import check_groups, label_windows
from analysis.errors import AnalysisError
from analysis.progress import Progress
from models.prise.model import Prise
from models.prise.pretraining import Task, draw_hidden, pretraining_loss

PROJECTED = 1024
SEED = 42
RANKS = (3, 4, 5, 6, 7, 8)
_FOLDED = 16_384
_TASKS: tuple[Task, ...] = ("forecast", "time", "channel")
_LEAST_STEPS = max(RANKS) + 1


@dataclass
class Projection:
    """A fixed random map of gradients of `size` coordinates to 1024 dimensions, the same for the same size."""

    size: int

    def __post_init__(self) -> None:
        generator = torch.Generator().manual_seed(SEED)
        folded = min(self.size, _FOLDED)
        self._places: Tensor | None = None
        if self.size > _FOLDED:
            self._places = torch.randint(_FOLDED, (self.size,), generator=generator, dtype=torch.int32)
            self._signs = torch.randint(2, (self.size,), generator=generator, dtype=torch.int8) * 2 - 1
        self._matrix = torch.randn(folded, PROJECTED, generator=generator) / PROJECTED**0.5

    def __call__(self, gradient: Tensor) -> Tensor:
        """(size,) -> (1024,)."""
        gradient = gradient.detach().float().cpu()
        if self._places is not None:
            folded = torch.zeros(_FOLDED)
            gradient = folded.index_add_(0, self._places, gradient * self._signs)
        return gradient @ self._matrix


def mean_cosine(first: np.ndarray, second: np.ndarray) -> float:
    """Mean over the steps of the cosine of gradients (S, P) of the same step; steps without a gradient do not count."""
    norm = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    there = norm > 0
    if not there.any():
        return float("nan")
    return float(((first * second).sum(1)[there] / norm[there]).mean())


def subspace(steps: np.ndarray, rank: int) -> np.ndarray:
    """The first `rank` right singular vectors (P, rank) of gradients (S, P) whose mean step is taken away."""
    _, _, right = np.linalg.svd(steps - steps.mean(0), full_matrices=False)
    return np.asarray(right[:rank].T)


def affinity(first: np.ndarray, second: np.ndarray) -> float:
    """||U_a^T U_b||_F^2 / k of two bases (P, k): 1 for the same subspace, 0 for orthogonal ones."""
    return float(np.square(first.T @ second).sum() / first.shape[1])


def gradient_geometry(inputs: Inputs, progress: Progress) -> Findings:
    """Mean cosine and subspace affinity between labelled sets of a span, or between recordings, and their routing."""
    model: Prise = inputs.model.network
    steps = inputs.options["steps"]
    if steps < _LEAST_STEPS:
        raise AnalysisError(f"{steps} steps are too few for a subspace of rank {max(RANKS)}: give {_LEAST_STEPS}")
    if model.config.ffn == "dense":
        raise AnalysisError("a dense pilot has no experts to compare: choose a PRiSE-EEG with experts")
    with beside(inputs, inputs.options["other"]) as others:
        sets = _of_recordings([inputs, *others], progress) if others else _of_labels(inputs, progress)
        projected = [_gradients(model, one, sets, i, steps, inputs, progress) for i, one in enumerate(sets)]
        loads = [one.load for one in sets]
    return _findings(sets, projected, loads, inputs, sets[0].source)


@dataclass
class _Set:
    """Windows of one label: their signals (n, C, samples), the names of the channels, and the load of the experts."""

    name: str
    signals: Tensor
    channels: list[str]
    load: np.ndarray
    source: ModelInput


def _source(inputs: Inputs, progress: Progress) -> ModelInput:
    return model_input(inputs, inputs.model, inputs.options["window"], inputs.options["windows"], progress)


def _read(source: ModelInput, progress: Progress) -> tuple[Tensor, list[str]]:
    batches = list(source.batches(progress, "reading"))
    return torch.cat([batch["signal"] for batch in batches]), list(batches[0]["channels"])


def _of_recordings(inputs: list[Inputs], progress: Progress) -> list[_Set]:
    sets = []
    for one, name in zip(inputs, short_names(inputs), strict=True):
        source = _source(one, progress)
        signals, channels = _read(source, progress)
        load = mean_load(expert_usage(one.model.network, source, progress))
        sets.append(_Set(name, signals, channels, load, source))
    return sets


def _of_labels(inputs: Inputs, progress: Progress) -> list[_Set]:
    source = _source(inputs, progress)
    plan = source.plan
    labels = label_windows(plan.onsets, plan.seconds, inputs.recording.annotations, inputs.options["labels"])
    check_groups(labels, inputs.recording.path)
    signals, channels = _read(source, progress)
    usage = expert_usage(inputs.model.network, source, progress)
    by_window = usage.reshape(usage.shape[0], len(plan.onsets), -1, usage.shape[-1])
    sets = []
    for i, name in enumerate(labels.names):
        rows = np.flatnonzero(labels.index == i)
        if rows.size:
            load = by_window[:, rows].mean((1, 2))
            sets.append(_Set(name, signals[torch.from_numpy(rows)], channels, load, source))
    return sets


def _encoder(model: Prise) -> list[nn.Parameter]:
    """All that makes the tokens: not the decoder, not a head, not what is frozen."""
    parts = (model.front_end, model.static_groups, model.dynamic_groups, model.tokenizer, model.encoder)
    single = (model.channel_embedding, model.static_queries, model.dynamic_queries, model.mask_vector)
    return [p for p in (*single, *(p for part in parts for p in part.parameters())) if p.requires_grad]


def _gradients(
    model: Prise, one: _Set, sets: list[_Set], which: int, steps: int, inputs: Inputs, progress: Progress
) -> np.ndarray:
    """Projected gradients (S, P) of one set, a batch of its windows a step, drawn with a seed."""
    parameters = _encoder(model)
    project = Projection(sum(p.numel() for p in parameters))
    index = model.index(one.channels)
    found = np.empty((steps, PROJECTED), np.float32)
    for step, (batch, task, hidden) in enumerate(_batches(one, steps, inputs, model.config.patch_size)):
        progress.report(which * steps + step, len(sets) * steps, f"gradients of {one.name}")
        loss = pretraining_loss(model, batch, index, task, hidden)
        gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
        flat = [
            torch.zeros(p.numel()) if g is None else g.flatten().cpu()
            for p, g in zip(parameters, gradients, strict=True)
        ]
        found[step] = project(torch.cat(flat)).numpy()
    return found


def _batches(one: _Set, steps: int, inputs: Inputs, patch: int) -> Iterator[tuple[Tensor, Task, Tensor]]:
    """Windows, task and mask of each step; the masks of a step do not depend on the set."""
    draw = torch.Generator().manual_seed(inputs.options["seed"])
    size = inputs.options["batch"]
    patches, channels = one.signals.shape[-1] // patch, one.signals.shape[1]
    tasks = [task for task in _TASKS if patches > 1 or task == "channel"]
    for step in range(steps):
        rows = torch.randint(len(one.signals), (size,), generator=draw)
        mask = torch.Generator().manual_seed(1000 + step)
        task = tasks[step % len(tasks)]
        yield one.signals[rows], task, draw_hidden(task, (size, patches, channels), mask).to(one.signals.device)


def _findings(
    sets: list[_Set], projected: list[np.ndarray], loads: list[np.ndarray], inputs: Inputs, source: ModelInput
) -> Findings:
    bases = [{rank: subspace(steps, rank) for rank in RANKS} for steps in projected]
    cosine = np.array([[mean_cosine(a, b) for b in projected] for a in projected])
    overlap = np.array([[[affinity(a[rank], b[rank]) for b in bases] for a in bases] for rank in RANKS])
    routing = np.array([[routing_similarity(a, b) for b in loads] for a in loads])
    pair = ("set", "other_set")

    def by_pair(values: np.ndarray, meaning: str, axes: tuple[str, ...] = pair) -> NamedArray:
        return NamedArray(values, axes, "1", meaning, "our definition")

    arrays = {
        "affinity": by_pair(overlap.mean(0), "overlap of the dominant directions, mean over ranks 3 to 8"),
        "cosine": by_pair(cosine, "cosine of the gradients at equal steps, mean"),
        "routing_similarity": by_pair(routing, "cosine of the usage of experts"),
        "affinity_by_rank": by_pair(overlap, "overlap of the dominant directions", ("rank", *pair)),
        "gradient_norm": NamedArray(
            np.array([np.linalg.norm(steps, axis=1) for steps in projected]), ("set", "step"), "1",
            "length of the projected gradient",
        ),
    }  # fmt: skip
    names = tuple(one.name for one in sets)
    facts: dict[str, Any] = {
        "n_of_set": {one.name: len(one.signals) for one in sets},
        "n_steps": inputs.options["steps"],
        "batch": inputs.options["batch"],
        "n_windows": sum(len(one.signals) for one in sets),
        "window_seconds": source.plan.seconds,
        "projected": PROJECTED,
        "projection_seed": SEED,
        "loss": "pretraining, the three tasks in turn, weights at rest",
    }
    labels = {"set": names, "other_set": names, "rank": tuple(map(str, RANKS))}
    notes = [*source.plan.notes]
    few = [name for name, count in facts["n_of_set"].items() if count < inputs.options["batch"]]
    if few:
        notes.append(f"Few windows, drawn again and again: {', '.join(few)}.")
    return Findings(arrays, facts, labels, tuple(notes), source.describe())
