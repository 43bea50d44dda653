"""The explicit memory: writer, bank and retrieval (paper section 3.2.2, eqs. 7, 9 and 10).

Letters: R rows, T steps, W writes, D fast width, E slow width, Q states that a write pools, K slots of the bank.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class WritePlan:
    """Which of T steps write, and what each step can see, counted from the step number `start` before them.

    `due` (W,) are the steps within the block that write; `visible` (T,) the number of writes made by then, of all time.
    """

    due: Tensor
    visible: Tensor
    made: int

    @classmethod
    def of(cls, start: int, n_steps: int, every: int, device: torch.device) -> WritePlan:
        """The plan of steps `start` to `start + n_steps`; step t writes when t + 1 is a multiple of `every`."""
        after = torch.arange(start + 1, start + n_steps + 1, device=device)
        return cls(torch.nonzero(after % every == 0)[:, 0], after // every, start // every)


class MemoryWriter(nn.Module):
    """Pools the latest fast states of a row into one memory token (eq. 7)."""

    def __init__(self, fast_width: int, slow_width: int) -> None:
        super().__init__()
        self.score = nn.Linear(fast_width, 1)
        self.proj = nn.Sequential(nn.LayerNorm(fast_width), nn.Linear(fast_width, slow_width))

    def forward(self, windows: Tensor, n_states: Tensor | None = None) -> Tensor:
        """(R, W, Q, D) states, newest last -> tokens (R, W, E); of write w only the last n_states (W,) count."""
        scores = self.score(windows)[..., 0]  # (R, W, Q)
        if n_states is not None:
            age = torch.arange(windows.shape[2] - 1, -1, -1, device=windows.device)
            scores = scores.masked_fill(age >= n_states[:, None], float("-inf"))
        pooled = torch.matmul(scores.softmax(-1)[:, :, None], windows)[:, :, 0]
        return self.proj(pooled)


@dataclass(frozen=True)
class Retrieved:
    """What a retrieval gave: `context` (R, T, E) that is added to the slow state, and how it came about.

    `weights` (R, T, S) lie on the S tokens that were offered, 0 where a token was out of the bank; `mixture`
    (R, T, E) is what they recall and `gate` (R, T, E) how much of it passes. All are 0 before the first write.
    """

    context: Tensor
    weights: Tensor
    mixture: Tensor
    gate: Tensor


class MemoryRetrieval(nn.Module):
    """Content-addressed recall from the bank of the same row, through a learned gate (eqs. 9 and 10)."""

    def __init__(self, fast_width: int, slow_width: int) -> None:
        super().__init__()
        self.scale = slow_width**-0.5
        self.query = nn.Linear(fast_width, slow_width)
        self.key = nn.Linear(slow_width, slow_width)
        self.value = nn.Linear(slow_width, slow_width)
        self.gate = nn.Sequential(nn.Linear(fast_width + slow_width, slow_width), nn.Sigmoid())

    def forward(self, h: Tensor, tokens: Tensor, seen: Tensor) -> Retrieved:
        """h (R, T, D), tokens (R, S, E) offered and `seen` (T, S) true where a token is in the bank at a step."""
        if tokens.shape[1] == 0:
            nothing = h.new_zeros(*h.shape[:2], tokens.shape[2])
            return Retrieved(nothing, h.new_zeros(*h.shape[:2], 0), nothing, nothing)
        scores = torch.matmul(self.query(h), self.key(tokens).transpose(1, 2)) * self.scale  # (R, T, S)
        begun = seen.any(dim=1)[:, None]  # (T, 1)
        scores = scores.masked_fill(~(seen | ~begun), float("-inf"))
        weights = scores.softmax(-1) * begun
        mixture = torch.matmul(weights, self.value(tokens))
        gate = self.gate(torch.cat([h, mixture], dim=-1)) * begun
        return Retrieved(gate * mixture, weights, mixture, gate)
