"""How many experts of each block are shared: from the similarity of samples within and between paradigms (section 7).

The paper names sample-wise CKA, the ratio and the sigmoid; formulas and constants are our definition. Letters: n rows,
D width, L blocks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from models.prise.config import N_POOL, PriseConfig, reference_profile

STEEPNESS, MIDDLE = 10.0, 1.0
MIN_ROWS = 8
_FLOOR = 1e-8
FIXED = 2

Rows = Mapping[tuple[int, int], Tensor]  # (time, group or channel) -> (D,)


def sample_cka(first: Tensor, second: Tensor) -> float:
    """Linear CKA of two samples' tokens (n, D), row by row the same place; NaN for fewer than 8 rows or no variance."""
    if len(first) != len(second):
        raise ValueError("the rows of both samples must stand for the same places")
    if len(first) < MIN_ROWS:
        return math.nan
    x, y = (part.double() - part.double().mean(0) for part in (first, second))
    cross = (y.T @ x).square().sum()
    norm = (x.T @ x).norm() * (y.T @ y).norm()
    return float(cross / norm) if norm > 0 else math.nan


@dataclass(frozen=True)
class BlockSimilarity:
    """Mean similarity of pairs of one block: of the same paradigm, of different ones, and how many pairs of each."""

    within: float
    between: float
    n_within: int
    n_between: int

    @property
    def ratio(self) -> float:
        """r: between over within."""
        return self.between / (self.within + _FLOOR)

    @property
    def shared_ratio(self) -> float:
        """rho: sigmoid(10 (r - 1))."""
        return 1 / (1 + math.exp(-STEEPNESS * (self.ratio - MIDDLE)))


def compare_samples(tokens: Sequence[Tensor], labels: Sequence[object]) -> BlockSimilarity:
    """Similarity of samples (n, D) each, with the same rows, by whether their labels are equal."""
    within: list[float] = []
    between: list[float] = []
    for i in range(len(tokens)):
        for j in range(i):
            value = sample_cka(tokens[i], tokens[j])
            if not math.isnan(value):
                (within if labels[i] == labels[j] else between).append(value)
    return BlockSimilarity(_mean(within), _mean(between), len(within), len(between))


def average(similarities: Sequence[BlockSimilarity]) -> BlockSimilarity:
    """The mean over checkpoints of a pilot."""
    return BlockSimilarity(
        _mean([s.within for s in similarities]),
        _mean([s.between for s in similarities]),
        sum(s.n_within for s in similarities),
        sum(s.n_between for s in similarities),
    )


def shared_experts(ratio: float, top_k: int = 1) -> int:
    """How many experts of the pool become shared for a ratio r between over within: 4, 2, 1, 0 at 1, .9, .8, .7."""
    if math.isnan(ratio):
        return 0
    rho = 1 / (1 + math.exp(-STEEPNESS * (ratio - MIDDLE)))
    return min(math.floor(N_POOL * rho + 0.5), N_POOL - top_k)


Allocation = Literal["reference", "fixed", "reversed", "none"]
ALLOCATIONS: tuple[Allocation, ...] = ("reference", "fixed", "reversed", "none")


def allocation(name: Allocation, config: PriseConfig) -> tuple[int, ...]:
    """Shared experts by block: the reference profile, two everywhere, the profile read backwards, or none."""
    if name == "fixed":
        return (FIXED,) * config.n_blocks
    if name == "none":
        return (0,) * config.n_blocks
    profile = reference_profile(config.n_blocks)
    return profile if name == "reference" else profile[::-1]


def _mean(values: Sequence[float]) -> float:
    return float(torch.tensor(values, dtype=torch.float64).mean()) if values else math.nan
