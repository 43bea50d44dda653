"""Masked pretraining of AXON: what is hidden, the decoder, the auxiliary head, and the loss (spec section 7).

The paper gives masks, losses and what each part does; sizes and the shape of the masks are our definition, fixed by the
paper's parameter totals. Letters: B batch, C channels, T patches, D width, P samples of a patch, L layers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from models.axon.config import AxonConfig
from models.axon.layers import RMSNorm, place_encoder, standardised, time_code
from models.axon.model import Axon, Block

MASK_SHARE, MASK_RADIUS, CHANNEL_DROPOUT = 0.55, 3.0, 0.3
POSITION_NOISE = 0.0025  # metres
AUXILIARY_WEIGHT = 0.5
DECODER_DEPTH = 4


def draw_mask(order: Sequence[int], n_patches: int, rng: np.random.Generator) -> np.ndarray:
    """Which tokens are hidden, bool (C, T): ellipses of radius 3 around random centres until 55 % are covered.

    `order` is each channel's place in the canonical order of electrodes, whose differences are the distances. With
    probability 0.3 one whole electrode is hidden first. Excess is shown again at random; the electrode stays hidden
    as far as the share allows.
    """
    place = np.asarray(order, float)
    shape = (place.size, n_patches)
    wanted = round(MASK_SHARE * place.size * n_patches)
    mask = np.zeros(shape, bool)
    if rng.random() < CHANNEL_DROPOUT:
        mask[rng.integers(place.size)] = True
    fixed = mask.copy()
    patch = np.arange(n_patches)
    while mask.sum() < wanted:
        c, t = rng.integers(shape[0]), rng.integers(n_patches)
        distance = ((place[:, None] - place[c]) ** 2 + (patch[None, :] - t) ** 2) / MASK_RADIUS**2
        mask |= distance <= 1
    for loose in (mask & ~fixed, mask):
        excess = int(mask.sum()) - wanted
        if excess > 0:
            shown = rng.permutation(np.flatnonzero(loose))[:excess]
            mask.flat[shown] = False
    return mask


@dataclass(frozen=True)
class PretrainingLoss:
    """Mean absolute errors on the hidden patches: of the decoder, of the auxiliary head, and both together."""

    reconstruction: Tensor
    auxiliary: Tensor

    @property
    def total(self) -> Tensor:
        """L1 + 0.5 x auxiliary L1 (paper)."""
        return self.reconstruction + AUXILIARY_WEIGHT * self.auxiliary


class Decoder(nn.Module):
    """Visible tokens and a mask vector with codes of place and time, four dense blocks, one linear map to samples."""

    def __init__(self, config: AxonConfig) -> None:
        super().__init__()
        width = config.embed_dim
        self.input = nn.Linear(width, width)
        self.mask_vector = nn.Parameter(torch.zeros(width))
        self.spatial_pos_embed = place_encoder(replace(config, spatial_encoder="reference"))
        self.blocks = nn.ModuleList(Block(replace(config, variant="dense")) for _ in range(DECODER_DEPTH))
        self.norm = RMSNorm(width)
        self.output = nn.Linear(width, config.patch_size)

    def forward(self, tokens: Tensor, hidden: Tensor, code: Tensor) -> Tensor:
        """Samples (B, C, T, P) from tokens (B, C, T, D), where `hidden` (B, C, T) ones are not looked at."""
        x = torch.where(hidden[..., None], self.mask_vector, self.input(tokens)) + code
        for block in self.blocks:
            x = block(x, None, None, False)
        samples: Tensor = self.output(self.norm(x))
        return samples


class AuxiliaryHead(nn.Module):
    """One learned query pools the attention outputs of all layers; the pooled vector explains every patch alone."""

    def __init__(self, config: AxonConfig) -> None:
        super().__init__()
        width = config.embed_dim
        self.join = nn.Linear(config.depth * width, width)
        self.query = nn.Parameter(torch.zeros(width))
        self.ffn = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, config.patch_size))

    def forward(self, layers: Sequence[Tensor], hidden: Tensor, code: Tensor) -> Tensor:
        """Samples (B, C, T, P) from L attention outputs (B, C, T, D), pooled over the tokens that are not `hidden`."""
        z = self.join(torch.cat(list(layers), -1)).flatten(1, 2)  # (B, C T, D)
        score = (z @ self.query / math.sqrt(z.shape[-1])).masked_fill(hidden.flatten(1), -math.inf)
        pooled = (score.softmax(-1)[..., None] * z).sum(1)  # (B, D)
        samples: Tensor = self.ffn(pooled[:, None, None] + code)
        return samples


class AxonPretraining(nn.Module):
    """An encoder with the decoder and the auxiliary head that train it."""

    def __init__(self, config: AxonConfig) -> None:
        super().__init__()
        self.config = config
        self.axon = Axon(replace(config, n_outputs=0))
        self.decoder = Decoder(config)
        self.auxiliary = AuxiliaryHead(config)

    def forward(self, signal: Tensor, positions: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Samples (B, C, T, P) by decoder and auxiliary head, of `signal` (B, C, N) with tokens `hidden` (B, C, T)."""
        encoder = self.axon.encoder
        outputs: list[Tensor] = []
        handles = [attn.register_forward_hook(lambda _m, _i, out: outputs.append(out)) for attn in encoder.attentions]
        try:
            tokens = encoder.contextualise(encoder.embed(signal, positions), positions, hidden)
        finally:
            for handle in handles:
                handle.remove()
        place = self.decoder.spatial_pos_embed(positions * 100.0)[:, :, None]
        code = place + time_code(tokens.shape[2], tokens.shape[3], tokens.device)
        return self.decoder(tokens, hidden, code), self.auxiliary(outputs, hidden, code)

    def loss(self, signal: Tensor, positions: Tensor, hidden: Tensor, missing: Tensor | None = None) -> PretrainingLoss:
        """The errors on the hidden patches; positions as they are (training adds noise of `POSITION_NOISE` before).

        Channels that are `missing` (B, C) are neither looked at nor counted (paper).
        """
        target = standardised(signal).unfold(-1, self.config.patch_size, self.config.patch_stride)
        absent = torch.zeros_like(hidden) if missing is None else missing[..., None].expand_as(hidden)
        made, pooled = self(signal, positions, hidden | absent)
        counted = hidden & ~absent
        errors = [functional.l1_loss(samples[counted], target[counted]) for samples in (made, pooled)]
        return PretrainingLoss(*errors)
