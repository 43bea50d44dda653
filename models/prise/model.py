"""PRiSE-EEG: groups of electrodes attend to channels, then to each other in time and across groups (spec section 5).

Letters: B batch, C channels, T patches of a second, G groups, D width, P samples of a patch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from models.common.pooling import smooth_maximum
from models.errors import CheckpointError
from models.families import Checkpoint
from models.prise.blocks import Block, RMSNorm
from models.prise.config import PriseConfig
from models.prise.electrodes import ELECTRODES, N_DYNAMIC, N_STATIC, channel_indices
from models.prise.experts import Mixture
from models.prise.front_end import FrontEnd, split_patches
from models.prise.groups import DynamicGroups, Selector, StaticGroups, group_bias, removal_bias
from models.prise.lora import add_low_rank_updates

HEAD_DIM = 128
_EMBEDDING_STD = 0.02


class DualStreamHead(nn.Module):
    """Class scores from the mean over groups (all times) and the mean over times (all groups), spec section 9."""

    def __init__(self, config: PriseConfig) -> None:
        super().__init__()
        width, n_groups = config.embed_dim, N_STATIC + N_DYNAMIC
        self.n_patches = config.n_patches
        self.over_time = _branch(config.n_patches * width, width)
        self.over_groups = _branch(n_groups * width, width)
        self.norm = nn.LayerNorm(2 * width)
        self.classify = nn.Sequential(nn.Linear(2 * width, HEAD_DIM), nn.GELU(), nn.Linear(HEAD_DIM, config.n_outputs))

    def forward(self, tokens: Tensor) -> Tensor:
        """Scores (B, n) of tokens (B, T, G, D), where those of groups that were not selected are zeros."""
        if tokens.shape[1] != self.n_patches:
            raise ValueError(f"this head was made for {self.n_patches} s, not for {tokens.shape[1]} s")
        streams = self.over_time(tokens.mean(2).flatten(1)), self.over_groups(tokens.mean(1).flatten(1))
        return cast(Tensor, self.classify(self.norm(torch.cat(streams, -1))))


class ChannelHead(nn.Module):
    """Class scores of every channel, from the mean over time of its decoded tokens (our definition)."""

    def __init__(self, config: PriseConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.embed_dim)
        self.classify = nn.Sequential(
            nn.Linear(config.embed_dim, HEAD_DIM), nn.GELU(), nn.Linear(HEAD_DIM, config.n_outputs)
        )

    def forward(self, tokens: Tensor) -> Tensor:
        """Scores (B, C, n) of tokens (B, T, C, D)."""
        return cast(Tensor, self.classify(self.norm(tokens.mean(1))))


def _branch(size: int, width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(size, HEAD_DIM), nn.GELU(), nn.Linear(HEAD_DIM, width))


def _head(config: PriseConfig) -> nn.Module | None:
    if not config.n_outputs:
        return None
    return ChannelHead(config) if config.pool == "channel" else DualStreamHead(config)


class Prise(nn.Module):
    """Front end, groups, tokenizer, encoder and decoder, with a classification head where there is one."""

    family = "prise-eeg"
    checkpoint: Checkpoint | None = None

    def __init__(self, config: PriseConfig) -> None:
        super().__init__()
        self.config = config
        width = config.embed_dim
        self.front_end = FrontEnd(config)
        self.channel_embedding = nn.Parameter(torch.empty(len(ELECTRODES), width))
        self.static_queries = nn.Parameter(torch.empty(N_STATIC, width))
        self.dynamic_queries = nn.Parameter(torch.empty(N_DYNAMIC, width))
        self.static_groups, self.dynamic_groups = StaticGroups(config.beta), DynamicGroups(config.beta)
        self.mask_vector = nn.Parameter(torch.zeros(width))
        first_decoder = config.n_blocks - config.n_decoder
        self.tokenizer = nn.ModuleList(Block(config, i, cross=True) for i in range(config.n_tokenizer))
        # Temporal and group blocks in turn, temporal first.
        self.encoder = nn.ModuleList(Block(config, i, cross=False) for i in range(config.n_tokenizer, first_decoder))
        self.encoder_norm = RMSNorm(width)
        self.decoder = nn.ModuleList(Block(config, i, cross=True) for i in range(first_decoder, config.n_blocks))
        self.decoder_norm = RMSNorm(width)
        self.waveform = nn.Linear(width, config.patch_size)
        self.spectrum = nn.Linear(width, config.patch_size // 2 + 1)
        self.selector = Selector(width, config.n_selected) if config.has_selector else None
        self.dropped: frozenset[int] = frozenset()  # groups taken out, as an intervention
        self.head = _head(config)
        nn.init.trunc_normal_(self.channel_embedding, std=_EMBEDDING_STD)
        for queries in (self.static_queries, self.dynamic_queries):
            nn.init.normal_(queries, std=_EMBEDDING_STD)
        if config.lora_rank:
            add_low_rank_updates(self.blocks(), config.lora_rank, config.lora_alpha)

    # From signal to tokens, in stages that analyses step into

    def features(self, signal: Tensor, index: Tensor, hidden: Tensor | None = None) -> Tensor:
        """Channel features (B, T, C, D) of a normalised `signal` (B, C, samples); `hidden` (B, T, C) are masked."""
        x = self.front_end(split_patches(signal, self.config.patch_size))
        if hidden is not None:
            x = torch.where(hidden[..., None], self.mask_vector, x)
        return cast(Tensor, x + self.channel_embedding[index])

    def bias(self, signal: Tensor, index: Tensor, hidden: Tensor | None = None) -> Tensor:
        """Biases M (B, T, G, C) of all groups to all channels."""
        dynamic = self.dynamic_groups(split_patches(signal, self.config.patch_size), hidden)
        return group_bias(self.static_groups(index), dynamic)

    def kept_groups(self, features: Tensor) -> Tensor:
        """1 for the groups that take part and 0 for those that do not, (B, G)."""
        static = features.new_ones(features.shape[0], N_STATIC)
        dynamic = self.selector(features) if self.selector is not None else features.new_ones(len(features), N_DYNAMIC)
        keep = torch.cat([static, dynamic], 1)
        if not self.dropped:
            return keep
        there = torch.tensor([float(g not in self.dropped) for g in range(keep.shape[1])], device=keep.device)
        return keep * there

    def _removed(self, keep: Tensor, patches: int) -> Tensor | None:
        """Bias (B T, 1, 1, G) against the groups that are not kept; None where all are."""
        if self._keeps_all or bool((keep >= 0.5).all()):
            return None
        return removal_bias(keep).repeat_interleave(patches, 0)

    @property
    def _keeps_all(self) -> bool:
        """Whether every group takes part in every sample."""
        return self.selector is None and not self.dropped

    def tokenize(self, features: Tensor, bias: Tensor, plain: bool = False, kept: Tensor | None = None) -> Tensor:
        """Group tokens (B, T, G, D): the queries look at the channels of each patch.

        `bias` is (B, T, G, C), or (B, T, H, G, C) with one for each head. Of `kept` groups (B, R) alone, whose biases
        are given, (B, T, R, D).
        """
        batch, patches = features.shape[:2]
        queries = torch.cat([self.static_queries, self.dynamic_queries])
        whole = queries.expand(batch * patches, -1, -1)
        h = whole if kept is None else queries[kept].repeat_interleave(patches, 0)
        source = features.flatten(0, 1)  # (B T, C, D)
        flat = bias.flatten(0, 1) if bias.ndim == 5 else bias.flatten(0, 1)[:, None]
        for block in self.tokenizer:
            h = block(h, source, flat, plain=plain)
        return h.unflatten(0, (batch, patches))

    def encode(self, h: Tensor, keep: Tensor, causal: bool = False, plain: bool = False) -> Tensor:
        """Tokens (B, T, G, D) after time and groups in turn and a last norm; groups not kept come out as zeros."""
        batch, patches, groups, _ = h.shape
        h = h * keep[:, None, :, None]
        future = None
        if causal:
            future = torch.full((patches, patches), -torch.inf, device=h.device).triu(1)
        removed = self._removed(keep, patches)
        for i, block in enumerate(self.encoder):
            if i % 2 == 0:  # (B G, T, D)
                h = block(h.transpose(1, 2).flatten(0, 1), bias=future, rope=True, plain=plain)
                h = h.unflatten(0, (batch, groups)).transpose(1, 2)
            else:  # (B T, G, D)
                h = block(h.flatten(0, 1), bias=removed, plain=plain).unflatten(0, (batch, patches))
        return cast(Tensor, self.encoder_norm(h)) * keep[:, None, :, None].detach()

    def encode_kept(self, x: Tensor, bias: Tensor, keep: Tensor) -> Tensor:
        """What `encode` makes of `tokenize`, without computing what is not kept: a kept group hears nothing of it."""
        most = int((keep >= 0.5).sum(1).max())
        kept = keep.argsort(dim=1, descending=True, stable=True)[:, :most]  # a sample that keeps fewer has others last
        place = kept[:, None, :, None]
        chosen = bias.gather(2, place.expand(-1, bias.shape[1], -1, bias.shape[3]))
        made = self.encode(self.tokenize(x, chosen, kept=kept), keep.gather(1, kept))
        whole = made.new_zeros(*bias.shape[:3], made.shape[-1])
        return whole.scatter(2, place.expand_as(made), made)

    def decode(self, h: Tensor, keep: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
        """Waveform (B, T, C, P) and log spectrum (B, T, C, P / 2 + 1) of each channel, from encoded tokens."""
        x = self.channel_tokens(h, keep, index)
        return self.waveform(x), self.spectrum(x)

    def channel_tokens(self, h: Tensor, keep: Tensor, index: Tensor) -> Tensor:
        """Decoded tokens (B, T, C, D) of each channel, from encoded tokens (B, T, G, D)."""
        batch, patches = h.shape[:2]
        x = self.channel_embedding[index].expand(batch * patches, -1, -1)
        removed = self._removed(keep, patches)
        for block in self.decoder:
            x = block(x, h.flatten(0, 1), removed)
        return cast(Tensor, self.decoder_norm(x)).unflatten(0, (batch, patches))

    # What is asked of every model

    def tokens(self, signal: Tensor, channels: Sequence[str], plain: bool = False) -> Tensor:
        """Group tokens (B, T, G, D) after the encoder.

        `signal` (B, C, samples) at 256 Hz, normalised over the window; `channels` the names of its C electrodes.
        ValueError for names that are not in the set and for less than a second.
        """
        index = self.index(channels)
        if signal.shape[-1] < self.config.patch_size:
            raise ValueError(f"{signal.shape[-1]} samples fill no patch of {self.config.patch_size}")
        x = self.features(signal, index)
        bias, keep = self.bias(signal, index), self.kept_groups(x)
        if self._keeps_all or self.training or plain:  # in training the choice learns from the groups it leaves out
            return self.encode(self.tokenize(x, bias, plain), keep, plain=plain)
        return self.encode_kept(x, bias, keep)

    def logits(self, signal: Tensor, channels: Sequence[str]) -> Tensor:
        """Class scores (B, K); CheckpointError without a classification head, ValueError for another length."""
        return self.classify(self.tokens(signal, channels), self.index(channels))

    def classify(self, tokens: Tensor, index: Tensor | None = None) -> Tensor:
        """Class scores (B, K) of tokens (B, T, G, D); a head of channels has to be told their `index` (C,)."""
        if self.head is None:
            where = self.checkpoint.path if self.checkpoint else None
            raise CheckpointError(
                f"this PRiSE-EEG has no classification head ({where or 'made here'}): choose a fine-tuned checkpoint"
            )
        if self.config.pool == "groups":
            return cast(Tensor, self.head(tokens))
        if index is None:
            raise ValueError("this head scores channels: give their index")
        keep = (tokens != 0).any(-1).any(1).to(tokens.dtype)  # groups that are not kept come out as zeros
        return smooth_maximum(self.head(self.channel_tokens(tokens, keep, index)), self.config.pool_sharpness)

    def index(self, channels: Sequence[str]) -> Tensor:
        """Places of the channels among the electrodes, (C,)."""
        return torch.tensor(channel_indices(channels), device=self.channel_embedding.device)

    def blocks(self) -> list[Block]:
        """All blocks in their order."""
        return [cast(Block, block) for part in (self.tokenizer, self.encoder, self.decoder) for block in part]

    def block_names(self) -> list[str]:
        """What the blocks are called: tokenizer 1, time 1, group 1 …, decoder 1."""
        config = self.config
        middle = [f"{kind} {i}" for i in range(1, config.n_group + 1) for kind in ("time", "group")]
        return [
            *(f"tokenizer {i}" for i in range(1, config.n_tokenizer + 1)),
            *middle,
            *(f"decoder {i}" for i in range(1, config.n_decoder + 1)),
        ]

    def set_allocation(self, n_shared: Sequence[int]) -> None:
        """Split each block's pool anew into shared and routed experts, on the same weights."""
        mixtures = [block.ffn for block in self.blocks()]
        if len(n_shared) != len(mixtures):
            raise ValueError(f"{len(n_shared)} numbers for {len(mixtures)} blocks")
        for mixture, n in zip(mixtures, n_shared, strict=True):
            if not isinstance(mixture, Mixture):
                raise ValueError("a dense pilot has no experts")
            mixture.n_shared = n
