"""Low-rank updates for fine-tuning: on the attention's projections and the experts' matrices, not on the router."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from models.prise.blocks import Block
from models.prise.experts import Mixture


class LowRankUpdate(nn.Module):
    """W + alpha / r * A B for a matrix (n, m), or for each of several (E, n, m); nothing at first, as B is zero."""

    def __init__(self, weight: Tensor, rank: int, alpha: float) -> None:
        super().__init__()
        *stack, rows, columns = weight.shape
        self.a = nn.Parameter(torch.empty(*stack, rows, rank, device=weight.device))
        self.b = nn.Parameter(torch.zeros(*stack, rank, columns, device=weight.device))
        self.scale = alpha / rank
        nn.init.normal_(self.a, std=1 / math.sqrt(rows))

    def forward(self, weight: Tensor) -> Tensor:
        """The weight with its update."""
        return weight + self.scale * (self.a @ self.b)


def add_low_rank_updates(blocks: Iterable[Block], rank: int, alpha: float) -> None:
    """Let each block learn by low-rank updates; its own weights, the router's too, are frozen."""
    for block in blocks:
        block.requires_grad_(False)
        attention = block.attention
        places: list[tuple[nn.Module, str]] = [
            (projection, "weight") for projection in (attention.query, attention.key, attention.value, attention.out)
        ]
        if isinstance(block.ffn, Mixture):
            places += [(block.ffn, name) for name in ("gate", "up", "down")]
        for module, name in places:
            update = LowRankUpdate(getattr(module, name), rank, alpha)
            parametrize.register_parametrization(module, name, update, unsafe=True)
