"""Low-rank updates of a linear map (paper section 3.2, "LoRA fine-tuning").

The update stays beside the weight and is added while running, so a stored weight is never a folded one by accident.
Folding is a one-way step that removes the update, so it cannot be done twice.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class LoRALinear(nn.Module):
    """A linear map without bias; its last `updated_rows` outputs may carry a low-rank update alpha / rank * B A."""

    def __init__(
        self, n_in: int, n_out: int, rank: int = 0, alpha: float = 16.0, updated_rows: int | None = None
    ) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_out, n_in))
        self.alpha = alpha
        self.updated_rows = n_out if updated_rows is None else updated_rows
        self.lora_A: nn.Parameter | None = nn.Parameter(torch.empty(rank, n_in)) if rank else None
        self.lora_B: nn.Parameter | None = nn.Parameter(torch.empty(self.updated_rows, rank)) if rank else None

    @property
    def scale(self) -> float:
        """What B A is multiplied with; 0 without an update."""
        return self.alpha / self.lora_A.shape[0] if self.lora_A is not None else 0.0

    def forward(self, x: Tensor) -> Tensor:
        """(..., n_in) -> (..., n_out)."""
        out = functional.linear(x, self.weight)
        if self.lora_A is None or self.lora_B is None:
            return out
        update = functional.linear(functional.linear(x, self.lora_A), self.lora_B) * self.scale
        untouched = out.shape[-1] - self.updated_rows
        return out + functional.pad(update, (untouched, 0)) if untouched else out + update

    def effective_weight(self) -> Tensor:
        """The weight with the update folded in, (n_out, n_in), as a new tensor."""
        if self.lora_A is None or self.lora_B is None:
            return self.weight.detach().clone()
        update = self.lora_B.detach() @ self.lora_A.detach() * self.scale
        return self.weight.detach() + functional.pad(update, (0, 0, self.weight.shape[0] - self.updated_rows, 0))

    def fold(self) -> None:
        """Make the update part of the weight and forget it; without an update nothing happens."""
        folded = self.effective_weight()
        self.lora_A = self.lora_B = None
        self.weight.data = folded


def is_folded(before: Tensor, after: Tensor, lora_a: Tensor, lora_b: Tensor, scale: float) -> bool:
    """Whether `after` is `before` with the update already added, judged from the rows the update touches.

    A file may hold full weights beside LoRA matrices, and nothing in it says whether they were folded; the base
    file's weights, (n_out, n_in), settle it.
    """
    rows = lora_b.shape[0]
    change = after[-rows:].double() - before[-rows:].double()
    update = scale * (lora_b.double() @ lora_a.double())
    return bool((change - update).norm() < 0.1 * update.norm())
