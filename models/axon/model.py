"""AXON: adaptive anisotropic attention over a grid of electrodes and patches (paper section 3; spec sections 2-5).

Letters: B batch, C channels, N samples, T patches, D embedding width.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import torch
from torch import Tensor, nn

from models.axon.attention import AxisAttention, DenseAttention, neighbour_bias
from models.axon.config import AxonConfig
from models.axon.layers import FeedForward, LayerGate, RMSNorm, TokenGate, place_encoder, standardised, time_code
from models.common.pooling import smooth_maximum
from models.errors import CheckpointError
from models.families import Checkpoint

_PER_METRE = {"cm": 100.0, "mm": 1000.0}


class Block(nn.Module):
    """Pre-norm block: x + A(RMS(x)), then x + FFN(RMS(x))."""

    def __init__(self, config: AxonConfig) -> None:
        super().__init__()
        self.norm_attn = RMSNorm(config.embed_dim)
        self.attn = DenseAttention(config) if config.variant == "dense" else AxisAttention(config)
        self.norm_ffn = RMSNorm(config.embed_dim)
        self.ffn = FeedForward(config)

    def forward(self, x: Tensor, missing: Tensor | None, near: Tensor | None, plain: bool) -> Tensor:
        """(B, C, T, D) -> (B, C, T, D)."""
        x = x + self.attn(self.norm_attn(x), missing, near, plain)
        return cast(Tensor, x + self.ffn(self.norm_ffn(x)))


class DividedBlock(nn.Module):
    """Time, then space, each with a norm and a residual of its own ("Divided-ST" of Table 12)."""

    def __init__(self, config: AxonConfig) -> None:
        super().__init__()
        self.norm_attn, self.norm_space = RMSNorm(config.embed_dim), RMSNorm(config.embed_dim)
        self.attn = AxisAttention(config)
        self.norm_ffn = RMSNorm(config.embed_dim)
        self.ffn = FeedForward(config)

    def forward(self, x: Tensor, missing: Tensor | None, near: Tensor | None, plain: bool) -> Tensor:
        """(B, C, T, D) -> (B, C, T, D)."""
        x = x + self.attn.over_time(self.norm_attn(x), missing, plain)
        x = x + self.attn.over_space(self.norm_space(x), missing, near, plain)
        return cast(Tensor, x + self.ffn(self.norm_ffn(x)))


class Encoder(nn.Module):
    """Patches, codes of place and time, blocks, and a last norm."""

    def __init__(self, config: AxonConfig) -> None:
        super().__init__()
        self.config = config
        self.patch_embed = nn.Linear(config.patch_size, config.embed_dim, bias=False)
        self.spatial_pos_embed = place_encoder(config)
        make = DividedBlock if config.variant == "divided" else Block
        self.blocks = nn.ModuleList(make(config) for _ in range(config.depth))
        self.final_norm = RMSNorm(config.embed_dim)

    @property
    def attentions(self) -> list[AxisAttention | DenseAttention]:
        """The attention of each block."""
        return [cast(Block | DividedBlock, block).attn for block in self.blocks]

    def embed(self, signal: Tensor, positions: Tensor, missing: Tensor | None = None) -> Tensor:
        """Tokens (B, C, T, D) of `signal` (B, C, N), before the first block; `positions` (B, C, 3) in metres."""
        return self.embed_standardised(standardised(signal, missing), positions)

    def embed_standardised(self, signal: Tensor, positions: Tensor) -> Tensor:
        """The same of a signal that is standardised already, which attributions start from."""
        patches = signal.unfold(-1, self.config.patch_size, self.config.patch_stride)
        tokens = self.patch_embed(patches)  # (B, C, T, D)
        place = self.spatial_pos_embed(positions * _PER_METRE[self.config.position_unit])  # (B, C, D)
        return cast(Tensor, tokens + place[:, :, None] + time_code(tokens.shape[2], tokens.shape[3], tokens.device))

    def contextualise(
        self, tokens: Tensor, positions: Tensor, missing: Tensor | None = None, plain: bool = False
    ) -> Tensor:
        """Tokens after all blocks and the last norm; `missing` (B, C, T) tokens come out as zeros."""
        near = None
        if self.config.variant == "knn":
            near = neighbour_bias(positions, self.config.n_neighbours)
        for block in self.blocks:
            tokens = block(tokens, missing, near, plain)
        tokens = self.final_norm(tokens)
        return tokens if missing is None else tokens.masked_fill(missing[..., None], 0.0)


class Axon(nn.Module):
    """The encoder with its classification head, where there is one."""

    family = "axon"
    checkpoint: Checkpoint | None = None

    def __init__(self, config: AxonConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = Encoder(config)
        if config.n_outputs:
            self.final_layer = nn.Sequential(
                nn.Linear(config.embed_dim, config.head_hidden_dim),
                nn.ELU(),
                nn.Dropout(config.dropout),
                nn.Linear(config.head_hidden_dim, config.n_outputs),
            )

    def tokens(self, signal: Tensor, positions: Tensor, missing: Tensor | None = None, plain: bool = False) -> Tensor:
        """Tokens (B, C, T, D) after the final norm.

        `signal` (B, C, N) at the model's rate in any unit, `positions` (C, 3) or (B, C, 3) in metres in the head
        frame, `missing` (B, C) True for channels that are absent: they influence nothing and come out as zeros.
        `plain` takes the form that shows its attention weights. ValueError for fewer samples than a patch.
        """
        if self.config.n_patches(signal.shape[-1]) < 1:
            raise ValueError(f"{signal.shape[-1]} samples fill no patch of {self.config.patch_size}")
        places = positions.expand(signal.shape[0], -1, -1)
        tokens = self.encoder.embed(signal, places, missing)
        absent = missing[..., None].expand(-1, -1, tokens.shape[2]) if missing is not None else None
        return self.encoder.contextualise(tokens, places, absent, plain)

    def pooled(self, signal: Tensor, positions: Tensor, missing: Tensor | None = None) -> Tensor:
        """Mean (B, D) over the tokens that are there."""
        return mean_over_tokens(self.tokens(signal, positions, missing), missing)

    def logits(self, signal: Tensor, positions: Tensor, missing: Tensor | None = None) -> Tensor:
        """Class scores (B, K); CheckpointError without a classification head."""
        return self.scores(self.tokens(signal, positions, missing), missing)

    def scores(self, tokens: Tensor, missing: Tensor | None = None) -> Tensor:
        """Class scores (B, K) of tokens (B, C, T, D), those of `missing` channels (B, C) being zeros."""
        if self.config.pool == "mean":
            return self.classify(mean_over_tokens(tokens, missing))
        return smooth_maximum(self.channel_scores(tokens), self.config.pool_sharpness, missing)

    def channel_scores(self, tokens: Tensor) -> Tensor:
        """Class scores (B, C, K) of each channel alone, from the mean of its tokens (B, C, T, D)."""
        return self.classify(tokens.mean(2))

    def classify(self, pooled: Tensor) -> Tensor:
        """Class scores (…, K) of mean tokens (…, D)."""
        if not self.config.n_outputs:
            where = self.checkpoint.path if self.checkpoint else None
            raise CheckpointError(
                f"this AXON has no classification head ({where or 'made here'}): choose a fine-tuned checkpoint"
            )
        return cast(Tensor, self.final_layer(pooled))

    def gates(self) -> Iterator[TokenGate | LayerGate]:
        """All gates, of axes and of scales."""
        return (module for module in self.modules() if isinstance(module, TokenGate | LayerGate))

    def set_temperature(self, temperature: float) -> None:
        """Make every gate softer (above 1) or as it is used (1)."""
        for gate in self.gates():
            gate.temperature = temperature

    def draw_gates(self, seed: int) -> None:
        """Give every gate of tokens random weights, so that there is something to look at without a training."""
        generator = torch.Generator().manual_seed(seed)
        for gate in self.gates():
            if isinstance(gate, TokenGate):
                gate.draw(generator)

    def freeze_gates(self) -> None:
        """Train everything but the gates, as the public recipe for fine-tuning does."""
        for gate in self.gates():
            gate.requires_grad_(False)


def mean_over_tokens(tokens: Tensor, missing: Tensor | None) -> Tensor:
    """Mean (B, D) of tokens (B, C, T, D), those of `missing` channels (B, C) left out; these must be zeros."""
    if missing is None:
        return tokens.mean((1, 2))
    there = (~missing).sum(1).clamp_min(1) * tokens.shape[2]
    return tokens.sum((1, 2)) / there[:, None]
