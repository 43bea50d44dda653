"""What is put on the output: next-code prediction, the fine-tuning readout, the causal context head (appendix D.2)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from models.neurduo.config import ContextConfig
from models.neurduo.mamba import Mamba

LEAK = 0.01


class PredictionHead(nn.Sequential):
    """z (.., D) -> scores of the next chunk's code (.., codes) (eq. 12)."""

    def __init__(self, width: int, hidden: int, n_codes: int) -> None:
        super().__init__(nn.LayerNorm(width), nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, n_codes))


class Readout(nn.Module):
    """All tokens of one unit, channel-major, to an embedding, and that to outputs.

    `n_tokens` tokens of width `d_token` are laid side by side, so the number of channels and steps is fixed.
    """

    def __init__(self, width: int, n_tokens: int, d_token: int, hidden: int, n_outputs: int, dropout: float = 0.0):
        super().__init__()
        self.n_tokens = n_tokens
        self.proj = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, d_token))
        self.mlp = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(n_tokens * d_token, hidden),
            nn.LeakyReLU(LEAK),
            nn.Dropout(dropout),
            nn.Linear(hidden, n_outputs),
        )

    def embed(self, tokens: Tensor) -> Tensor:
        """(M, n_tokens, D) -> (M, hidden)."""
        return self.mlp[:3](self.proj(tokens).flatten(1))

    def forward(self, tokens: Tensor) -> Tensor:
        """(M, n_tokens, D) -> (M, outputs), for a task of single units."""
        return self.mlp[3:](self.embed(tokens))


class ContextHead(nn.Module):
    """Embeddings of consecutive units -> classes per unit, each from the units up to it."""

    def __init__(self, width: int, n_outputs: int, config: ContextConfig, dropout: float = 0.0) -> None:
        super().__init__()
        self.lns = nn.ModuleList(nn.LayerNorm(width) for _ in range(config.n_layers))
        self.layers = nn.ModuleList(
            Mamba(width, config.d_state, config.d_conv, config.expand) for _ in range(config.n_layers)
        )
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, n_outputs)

    def forward(self, units: Tensor, valid: Tensor | None = None) -> Tensor:
        """(B, L, width) -> (B, L, outputs); units that are not `valid` (B, L) are read as zeros."""
        x = units if valid is None else units * valid[..., None].to(units.dtype)
        for norm, layer in zip(self.lns, self.layers, strict=True):
            x = x + self.dropout(layer(norm(x))[0])
        return self.out(self.norm(x))


def unit_tokens(z: Tensor, unit_steps: int) -> Tensor:
    """z (B, C, L * unit_steps, D) -> (B * L, C * unit_steps, D): tokens of each unit, channel-major."""
    n_items, n_channels, n_steps, width = z.shape
    if n_steps % unit_steps or n_steps == 0:
        raise ValueError(f"{n_steps} steps are not whole units of {unit_steps}")
    units = z.view(n_items, n_channels, -1, unit_steps, width).transpose(1, 2)
    return torch.flatten(units.reshape(-1, n_channels, unit_steps, width), 1, 2)
