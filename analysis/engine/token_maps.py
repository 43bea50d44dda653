"""Where the tokens of a layer lie apart from each other: one number for each channel and moment (our definition).

CKA compares what a layer makes of its tokens with their mean taken away; this is how long what is left is, over the
window's root mean square, so 1 is usual. PRiSE-EEG's tokens are of groups: a channel's number is the mean over groups,
weighted by how much each looks at it. Letters: B windows, C channels, T times, D width.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from analysis.analyses import NamedArray
from analysis.engine.representations import Layers
from models.axon.model import Axon
from models.prise.introspection import tokenizer_attention

MOST_VALUES = 4_000_000
_MEANING = "distance of a token from the window's mean token, over its root mean square"


def token_distances(tokens: Tensor) -> Tensor:
    """Distances (B, …) of tokens (B, …, D) from their window's mean, over the window's root mean square."""
    flat = tokens.flatten(1, -2)
    squares = (flat - flat.mean(1, keepdim=True)).square().sum(-1)
    usual = squares.mean(1, keepdim=True).clamp_min(1e-20).sqrt()
    return (squares.sqrt() / usual).view(tokens.shape[:-1])


@dataclass
class TokenMaps:
    """Collects the maps of one model's layers, batch by batch; gives up, and says so, where they would be too large."""

    layers: Layers
    parts: list[np.ndarray] = field(default_factory=list)
    given_up: bool = False

    def add(self, tokens: Mapping[str, Tensor], arguments: Mapping[str, Any]) -> None:
        """Take a batch: tokens by layer, and what the model was given."""
        if self.given_up:
            return
        maps = torch.stack([self.layers.by_channel(token_distances(value)) for value in tokens.values()])
        if self.layers.model.family == "prise-eeg":
            maps = _groups_to_channels(maps, tokenizer_attention(self.layers.model.network, **arguments))
        windows = len(self.layers.source.plan.onsets)
        self.given_up = maps[:, 0].numel() * windows > MOST_VALUES
        self.parts = [] if self.given_up else [*self.parts, maps.float().cpu().numpy()]

    def arrays(self, prefix: str) -> dict[str, NamedArray]:
        """The map (layer, channel, token) and the tokens' onsets; nothing where it was given up."""
        if self.given_up or not self.parts:
            return {}
        maps = np.concatenate(self.parts, 1)  # (layers, B, C, T)
        layer, channel, token = f"{prefix}_layer", f"{prefix}_channel", f"{prefix}_token"
        onsets = self.layers.source.window_onsets()[:, None] + token_onsets(self.layers, maps.shape[-1])
        flat = maps.transpose(0, 2, 1, 3).reshape(maps.shape[0], maps.shape[2], -1)
        return {
            f"{prefix}_map": NamedArray(flat, (layer, channel, token), "1", _MEANING, "our definition"),
            f"{prefix}_onset": NamedArray(onsets.ravel(), (token,), "s", "onset of a token, after the first window's"),
        }


def _groups_to_channels(maps: Tensor, attention: Tensor) -> Tensor:
    """Of maps (layers, B, G, T) and attention (B, T, G, C) the weighted means (layers, B, C, T)."""
    share = attention / attention.sum(2, keepdim=True).clamp_min(1e-20)
    return torch.einsum("lbgt,btgc->lbct", maps, share)


def token_onsets(layers: Layers, count: int) -> np.ndarray:
    """When the tokens of a window begin, seconds after it does, (T,)."""
    return np.arange(count) * token_step(layers)


def token_step(layers: Layers) -> float:
    """Seconds from one token of a channel to the next."""
    config = layers.model.network.config
    if isinstance(layers.model.network, Axon):
        return float(config.patch_stride / config.sampling_rate_hz)
    return token_seconds(layers)


def token_seconds(layers: Layers) -> float:
    """Seconds that a token is made of."""
    config = layers.model.network.config
    if layers.model.family == "axon":
        return float(config.patch_size / config.sampling_rate_hz)
    if layers.model.family == "prise-eeg":
        return float(config.patch_size / config.sampling_rate_hz)
    return float(config.segment_seconds if layers.model.family == "mvpformer" else config.step_seconds)
