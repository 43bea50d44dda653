"""Attention along the axes of a channel x time grid, mixed by gates (paper section 3; the variants of Table 12).

Letters: B batch, C channels, T patches, N = C * T tokens, D width, H heads, K = D / H, S temporal branches.
Every attention has two forms of the same numbers: the fused one, and a plain one that shows its weights to whoever
records the module that they pass through.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from models.axon.config import AxonConfig
from models.axon.layers import AXIS_BIAS, SCALE_BIAS, LayerGate, TokenGate


class Attend(nn.Module):
    """softmax(q k^T / sqrt(K) + bias) v for queries, keys and values in one array; has no weights of its own."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.weights = nn.Identity()  # what a recorder listens to

    def forward(self, qkv: Tensor, bias: Tensor | None, plain: bool = False) -> Tensor:
        """(M, L, 3 D) -> (M, L, D); `bias` is added to the scores and broadcasts to (M, H, L, L)."""
        queries, keys, values = (
            part.unflatten(-1, (self.heads, -1)).transpose(-3, -2) for part in qkv.chunk(3, dim=-1)
        )  # (M, H, L, K)
        if plain:
            scores = queries @ keys.transpose(-1, -2) / math.sqrt(queries.shape[-1])
            out = self.weights((scores if bias is None else scores + bias).softmax(-1)) @ values
        else:
            out = functional.scaled_dot_product_attention(queries, keys, values, bias)
        return out.transpose(-3, -2).flatten(-2)


def key_bias(missing: Tensor) -> Tensor:
    """Minus infinity where a key (M, L) is missing, but for the token itself, so that no row is empty; (M, 1, L, L)."""
    itself = torch.eye(missing.shape[-1], dtype=torch.bool, device=missing.device)
    left_out = missing[:, None, :] & ~itself
    return torch.zeros(left_out.shape, device=missing.device).masked_fill(left_out, -math.inf)[:, None]


def window_bias(n_patches: int, radius: int | None, device: torch.device | None = None) -> Tensor | None:
    """Minus infinity between patches further apart than a radius, (T, T); None where the window leaves none out."""
    if radius is None or radius >= n_patches - 1:
        return None
    place = torch.arange(n_patches, device=device)
    far = (place[:, None] - place[None, :]).abs() > radius
    return torch.zeros(far.shape, device=device).masked_fill(far, -math.inf)


def neighbour_bias(positions: Tensor, count: int) -> Tensor:
    """Minus infinity to all but the `count` nearest electrodes and itself; positions (B, C, 3) -> (B, C, C)."""
    distance = torch.cdist(positions, positions)
    nearest = distance.argsort(dim=-1, stable=True)[..., : count + 1]
    bias = torch.full_like(distance, -math.inf).scatter_(-1, nearest, 0.0)
    return bias.masked_fill(torch.eye(distance.shape[-1], dtype=torch.bool, device=distance.device), 0.0)


class _Path(nn.Module):
    """Base of the attentions: shapes of the grid, and the sum of biases."""

    def __init__(self, config: AxonConfig) -> None:
        super().__init__()
        self.config = config

    @staticmethod
    def _sum(*biases: Tensor | None) -> Tensor | None:
        there = [bias for bias in biases if bias is not None]
        return sum(there[1:], there[0]) if there else None


class AxisAttention(_Path):
    """The mixture A = alpha T + beta S (and gamma G in "with-global"), every path with projections of its own.

    It needs no electrodes: any grid with a second axis beside time will do, such as the bands of a sound (the paper's
    last experiment). Patches of a spectrogram of 64 bands and 200 frames, 8 x 10 cells each:

    >>> import torch
    >>> from models.axon.config import AxonConfig
    >>> spectrogram = torch.randn(1, 64, 200)
    >>> patches = spectrogram.unfold(1, 8, 8).unfold(2, 10, 10).flatten(-2)  # (batch, bands, times, cells)
    >>> tokens = torch.nn.Linear(80, 32)(patches)
    >>> attention = AxisAttention(AxonConfig(variant="token-gated", embed_dim=32, num_heads=4))
    >>> attention(tokens).shape
    torch.Size([1, 8, 20, 32])
    >>> attention.axis_gate(tokens)[..., 0].mean().item()  # the share of time against that of frequency, untrained
    0.622...
    """

    def __init__(self, config: AxonConfig) -> None:
        super().__init__(config)
        width, heads = config.embed_dim, config.num_heads
        self.temporal_qkv, self.temporal_out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.spatial_qkv, self.spatial_out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        if config.variant == "with-global":
            self.global_qkv, self.global_out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        if config.variant == "decay":
            self.decay = nn.Parameter(torch.zeros(heads))
        self.temporal = nn.ModuleList(Attend(heads) for _ in config.scales)
        self.spatial, self.everywhere = Attend(heads), Attend(heads)
        self.axis_gate = self._make_axis_gate()
        self.scale_gate = self._make_scale_gate()

    def _make_axis_gate(self) -> nn.Module | None:
        if not self.config.has_axis_gate:
            return None
        if self.config.variant == "fixed":
            return LayerGate(AXIS_BIAS[0] - AXIS_BIAS[1])
        return TokenGate(self.config, (*AXIS_BIAS, *(0.0,) * (self.config.n_paths - 2)))

    def _make_scale_gate(self) -> nn.Module | None:
        scales = len(self.config.scales)
        if scales < 2:
            return None
        if self.config.scale_gate == "layer" and scales == 2:
            return LayerGate(SCALE_BIAS[0] - SCALE_BIAS[1])
        return TokenGate(self.config, (*(0.0,) * (scales - 1), SCALE_BIAS[1]))

    @property
    def branches(self) -> list[Attend]:
        """The temporal attentions, shortest window first."""
        return [cast(Attend, attend) for attend in self.temporal]

    def forward(
        self, y: Tensor, missing: Tensor | None = None, near: Tensor | None = None, plain: bool = False
    ) -> Tensor:
        """Attend over normalised tokens (B, C, T, D).

        `missing` (B, C, T) tokens are keys of nobody else; `near` is a bias (B, C, C) between electrodes.
        """
        paths = [self.over_time(y, missing, plain), self.over_space(y, missing, near, plain)]
        if self.config.variant == "with-global":
            paths.append(self.over_all(y, missing, plain))
        assert self.axis_gate is not None
        weights = self.axis_gate(y)  # (B, C, T, 2 or 3)
        return _mixed(paths, weights)

    def over_time(self, y: Tensor, missing: Tensor | None, plain: bool = False) -> Tensor:
        """Each electrode's patches among themselves, in every window, mixed by the scale gate."""
        batch, channels, patches, _ = y.shape
        qkv = self.temporal_qkv(y).flatten(0, 1)  # (B C, T, 3 D)
        absent = key_bias(missing.flatten(0, 1)) if missing is not None else None
        branches = []
        for attend, radius in zip(self.branches, self.config.scales, strict=True):
            bias = self._sum(absent, self._window(patches, radius, y.device), self._decay(patches, radius, y.device))
            branches.append(attend(qkv, bias, plain).unflatten(0, (batch, channels)))
        # The weights of a gate sum to one, so that the projection, with its bias, may come after the mixture.
        mixed = branches[0] if self.scale_gate is None else _mixed(branches, self.scale_gate(y))
        out: Tensor = self.temporal_out(mixed)
        return out

    def over_space(self, y: Tensor, missing: Tensor | None, near: Tensor | None, plain: bool = False) -> Tensor:
        """The electrodes of each patch among themselves."""
        batch, _, patches, _ = y.shape
        qkv = self.spatial_qkv(y.transpose(1, 2).flatten(0, 1))  # (B T, C, 3 D)
        absent = key_bias(missing.transpose(1, 2).flatten(0, 1)) if missing is not None else None
        limit = near.repeat_interleave(patches, 0)[:, None] if near is not None else None
        out = self.spatial_out(self.spatial(qkv, self._sum(absent, limit), plain))
        return out.unflatten(0, (batch, patches)).transpose(1, 2)

    def over_all(self, y: Tensor, missing: Tensor | None, plain: bool = False) -> Tensor:
        """All tokens among themselves."""
        return _attend_all(self.global_qkv, self.everywhere, self.global_out, y, missing, plain)

    def _window(self, patches: int, radius: int | None, device: torch.device) -> Tensor | None:
        if self.config.variant != "head-split":
            return window_bias(patches, radius, device)
        short = window_bias(patches, self.config.radius, device)
        if short is None:
            return None
        half = self.config.num_heads // 2
        return torch.stack([short] * half + [torch.zeros_like(short)] * (self.config.num_heads - half))

    def _decay(self, patches: int, radius: int | None, device: torch.device) -> Tensor | None:
        if self.config.variant != "decay" or radius is not None:
            return None
        place = torch.arange(patches, device=device, dtype=torch.float32)
        return -functional.softplus(self.decay)[:, None, None] * (place[:, None] - place[None, :]).abs()


class DenseAttention(_Path):
    """Full attention over all tokens of the grid: what AXON is compared with."""

    def __init__(self, config: AxonConfig) -> None:
        super().__init__(config)
        width = config.embed_dim
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.everywhere = Attend(config.num_heads)

    def forward(
        self, y: Tensor, missing: Tensor | None = None, near: Tensor | None = None, plain: bool = False
    ) -> Tensor:
        """Attend over normalised tokens (B, C, T, D)."""
        return _attend_all(self.qkv, self.everywhere, self.out, y, missing, plain)


def _mixed(parts: Sequence[Tensor], weights: Tensor) -> Tensor:
    """Sum of parts (B, C, T, D), each times its weight (B, C, T, number of parts)."""
    total = parts[0] * weights[..., :1]
    for i, part in enumerate(parts[1:], 1):
        total = torch.addcmul(total, part, weights[..., i : i + 1])
    return total


def _attend_all(
    qkv: nn.Module, attend: nn.Module, out: nn.Module, y: Tensor, missing: Tensor | None, plain: bool
) -> Tensor:
    absent = key_bias(missing.flatten(1)) if missing is not None else None
    mixed: Tensor = out(attend(qkv(y).flatten(1, 2), absent, plain))
    return mixed.unflatten(1, y.shape[1:3])
