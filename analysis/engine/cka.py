"""Centred kernel alignment with linear kernels, from batches of rows, so that memory does not grow with their number.

Plain (Kornblith et al. 2019): HSIC with the biased estimator; unbiased (Song et al. 2012, as Nguyen et al. 2021 average
it over minibatches). Of a single batch both are exact; of several they are the quotients of the sums over batches.
Letters: n rows of a batch, L layers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

MIN_UNBIASED_ROWS = 4


def gram(rows: Tensor) -> Tensor:
    """K = X X^T of rows (n, D) whose columns are centred, float64 (n, n)."""
    rows = rows.double()
    rows = rows - rows.mean(0)
    return rows @ rows.T


def plain_hsic(first: Tensor, second: Tensor) -> Tensor:
    """tr(K H L H) of centred Gram matrices (…, n, n), without a factor that cancels in CKA."""
    return (first * second).sum((-1, -2))


def unbiased_hsic(first: Tensor, second: Tensor) -> Tensor:
    """Song et al.'s unbiased estimator of Gram matrices (…, n, n), times n (n - 3); n must be above 3."""
    n = first.shape[-1]
    k, m = (matrix - torch.diag_embed(torch.diagonal(matrix, dim1=-2, dim2=-1)) for matrix in (first, second))
    trace = (k * m).sum((-1, -2))
    totals = k.sum((-1, -2)) * m.sum((-1, -2)) / ((n - 1) * (n - 2))
    cross = (k.sum(-1) * m.sum(-1)).sum(-1) * 2 / (n - 2)
    return trace + totals - cross


@dataclass
class CkaSum:
    """Sums over batches for the CKA of every layer of one model with every layer of another (or of itself).

    A batch of fewer than four rows counts in the plain estimator alone.
    """

    sums: list[Tensor] = field(default_factory=list)  # cross, first, second; plain, then unbiased
    n_rows: int = 0
    n_batches: int = 0
    least_rows: int = 0

    def add(self, first: list[Tensor], second: list[Tensor]) -> None:
        """Take a batch: the rows (n, D) of each layer of both, row by row the same thing."""
        grams = [torch.stack([gram(rows) for rows in layers]) for layers in (first, second)]
        n = grams[0].shape[-1]
        triples = [_pairs(grams, plain_hsic), *([_pairs(grams, unbiased_hsic)] if n >= MIN_UNBIASED_ROWS else [])]
        flat = [part for triple in triples for part in triple]
        if len(flat) < 6:  # too few rows for the unbiased estimator: a rest, which adds nothing to it
            flat += [torch.zeros_like(part) for part in flat]
        self.sums = [a + b for a, b in zip(self.sums, flat, strict=True)] if self.sums else flat
        self.n_rows += n
        self.n_batches += 1
        self.least_rows = min(self.least_rows or n, n)

    def values(self) -> tuple[np.ndarray, np.ndarray]:
        """Plain and unbiased CKA (L1, L2); NaN where a layer does not vary."""
        found = []
        for cross, first, second in (self.sums[:3], self.sums[3:]):
            norm = (first[:, None].clamp_min(0) * second[None, :].clamp_min(0)).sqrt()
            found.append(torch.where(norm > 0, cross / norm, torch.nan).cpu().numpy())
        return found[0], found[1]


def _pairs(grams: list[Tensor], hsic: Callable[[Tensor, Tensor], Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """HSIC of every layer of the first with every one of the second (L1, L2), and of each with itself."""
    first, second = grams
    cross = torch.stack([hsic(layer[None], second) for layer in first])
    return cross, hsic(first, first), hsic(second, second)


@dataclass
class RankSum:
    """Sums over batches for the effective rank (Roy and Vetterli 2007) of a layer's rows with centred columns."""

    products: Tensor | None = None
    total: Tensor | None = None
    shift: Tensor | None = None
    n_rows: int = 0

    def add(self, rows: Tensor) -> None:
        """Take rows (n, D)."""
        rows = rows.double()
        if self.shift is None:
            self.shift = rows.mean(0)  # near the mean of all, so that little cancels in the end
        rows = rows - self.shift
        self.products = rows.T @ rows + (0 if self.products is None else self.products)
        self.total = rows.sum(0) + (0 if self.total is None else self.total)
        self.n_rows += len(rows)

    def value(self) -> float:
        """exp(entropy of the singular values' shares); NaN without variance."""
        assert self.products is not None
        assert self.total is not None
        centred = self.products - torch.outer(self.total, self.total) / self.n_rows
        singular = torch.linalg.eigvalsh(centred).clamp_min(0).sqrt()
        # What rounding leaves of directions without variance is no singular value.
        singular = singular[singular > singular.max() * 1e-6] if singular.numel() else singular
        if not singular.numel() or not singular.sum() > 0:
            return float("nan")
        share = singular / singular.sum()
        return float(torch.exp(-torch.special.xlogy(share, share).sum()))
