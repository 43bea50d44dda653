"""The Transformer block of PRiSE-EEG: attention with a bias, then experts (spec section 5).

Letters: M sequences, L queries, R keys, D width, H heads, K = D / H.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from models.prise.config import PriseConfig
from models.prise.experts import DenseFeedForward, Mixture

EPSILON = 1e-8


class RMSNorm(nn.Module):
    """x / sqrt(mean(x^2) + eps) times a weight, over the last axis."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise (…, D)."""
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPSILON) * self.weight


def rotate(x: Tensor, theta: float) -> Tensor:
    """Rotary position of each place along the last but one axis, in the half-split form; (…, L, K)."""
    half = x.shape[-1] // 2
    rate = theta ** (-torch.arange(half, dtype=torch.float32, device=x.device) / half)
    angle = torch.arange(x.shape[-2], dtype=torch.float32, device=x.device)[:, None] * rate
    cos, sin = angle.cos(), angle.sin()
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)


class Attention(nn.Module):
    """Multi-head attention without biases in its projections; a bias may be added to the scores."""

    def __init__(self, config: PriseConfig) -> None:
        super().__init__()
        width = config.embed_dim
        kv = width // config.num_heads * config.n_kv_head
        self.heads, self.kv_heads = config.num_heads, config.n_kv_head
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, kv, bias=False)
        self.value = nn.Linear(width, kv, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.dropout = config.dropout
        self.theta = config.rope_theta
        self.weights = nn.Identity()  # what a recorder listens to

    def forward(
        self, x: Tensor, kv: Tensor, bias: Tensor | None = None, rope: bool = False, plain: bool = False
    ) -> Tensor:
        """Queries (M, L, D) over keys and values (M, R, D); `bias` broadcasts to (M, H, L, R)."""
        query = self.query(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        key, value = (
            part(kv)
            .unflatten(-1, (self.kv_heads, -1))
            .transpose(1, 2)
            .repeat_interleave(self.heads // self.kv_heads, 1)
            for part in (self.key, self.value)
        )
        if rope:
            query, key = rotate(query, self.theta), rotate(key, self.theta)
        dropout = self.dropout if self.training else 0.0
        if plain:
            scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
            mixed = self.weights((scores if bias is None else scores + bias).softmax(-1)) @ value
        else:
            mixed = functional.scaled_dot_product_attention(query, key, value, bias, dropout_p=dropout)
        out: Tensor = self.out(mixed.transpose(1, 2).flatten(-2))
        return out


class DropPath(nn.Module):
    """Leaves a whole branch out for some samples in training, and makes up for it in the others."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, x: Tensor) -> Tensor:
        """The branch, or nothing, sequence by sequence (first axis)."""
        if not self.training or self.share == 0:
            return x
        keep = torch.rand(x.shape[0], *(1,) * (x.ndim - 1), device=x.device) >= self.share
        return x * keep / (1 - self.share)


class Block(nn.Module):
    """u = x + Attn(RMS(x), kv); y = u + MoE(RMS(u)). With `cross`, keys and values have a norm of their own."""

    def __init__(self, config: PriseConfig, number: int, cross: bool) -> None:
        super().__init__()
        self.norm_attention = RMSNorm(config.embed_dim)
        self.norm_source = RMSNorm(config.embed_dim) if cross else None
        self.attention = Attention(config)
        self.norm_ffn = RMSNorm(config.embed_dim)
        self.ffn = DenseFeedForward(config) if config.ffn == "dense" else Mixture(config, config.n_shared[number])
        share = config.drop_path * number / max(1, config.n_blocks - 1)
        self.drop = DropPath(share)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Tensor,
        source: Tensor | None = None,
        bias: Tensor | None = None,
        rope: bool = False,
        plain: bool = False,
    ) -> Tensor:
        """(M, L, D) -> (M, L, D); attends to `source` (M, R, D) where it is given, else to itself."""
        query = self.norm_attention(x)
        keys = query if source is None or self.norm_source is None else self.norm_source(source)
        u = x + self.drop(self.dropout(self.attention(query, keys, bias, rope, plain)))
        made: Tensor = u + self.drop(self.dropout(self.ffn(self.norm_ffn(u))))
        return made
