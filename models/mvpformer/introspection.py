"""Which inner values of an MVPFormer have a meaning, and how to collect them.

Letters: B batch, T segments, C channels, E embedding width, H heads, N = T * C tokens (token = segment * C + channel).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

import torch
from torch import Tensor, nn

from models.mvpformer.attention import AttentionParts, MVPAttention
from models.mvpformer.layers import Block
from models.mvpformer.model import MVPFormer
from models.recorder import record


def attention_parts(
    model: MVPFormer,
    embeddings: Tensor,
    context: int | None = None,
    layers: Iterable[int] | None = None,
    keep: Callable[[AttentionParts], Any] | None = None,
) -> dict[int, Any]:
    """The three score terms and the probabilities of each layer asked for (all unless given), by layer.

    `embeddings` (B, T, C, E) come from `model.embed`; `context` is as in `model.tokens_from_embeddings`. Each value
    is an AttentionParts of (B, H, N, ...) arrays, or what `keep` makes of it: four arrays of N x N entries a head are
    large, so a caller that wants a mean over them takes it there. Runs the direct form; gradients are not kept.
    """
    names = {str(layer): _attention(model, layer).plain_form for layer in _layers(model, layers)}
    with torch.no_grad(), record(names, keep) as records:
        model.tokens_from_embeddings(embeddings, context, plain=True)
    return {int(name): values[-1] for name, values in records.items()}


def layer_outputs(
    model: MVPFormer, embeddings: Tensor, context: int | None = None, keep: Callable[[Tensor], Any] | None = None
) -> dict[str, Any]:
    """The tokens (B, T, C, E) after each stage, by name: "block 0" ... and "final norm"."""
    stages: dict[str, nn.Module] = {f"block {i}": block for i, block in enumerate(model.blocks)}
    stages["final norm"] = model.final_norm
    with torch.no_grad(), record(stages, keep) as records:
        model.tokens_from_embeddings(embeddings, context)
    return {name: values[-1] for name, values in records.items()}


def _attention(model: MVPFormer, layer: int) -> MVPAttention:
    return cast(Block, model.blocks[layer]).attention


def _layers(model: MVPFormer, layers: Iterable[int] | None) -> list[int]:
    """The layers asked for, each of which must be there."""
    chosen = list(range(len(model.blocks))) if layers is None else list(layers)
    strange = [layer for layer in chosen if not 0 <= layer < len(model.blocks)]
    if strange:
        raise ValueError(f"there is no layer {strange[0]}: the model has layers 0 to {len(model.blocks) - 1}")
    return chosen
