"""MVPFormer's attention between times: mass by lag, which term decides, and where it goes, channel against time.

Definitions follow the completion of the paper's supplement S17 (our definition). Letters as in `mvpa_maps`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from analysis.analyses import Findings, NamedArray
from analysis.attention_maps import RELATIONS, even_flow, even_lags
from analysis.engine.inputs import Inputs
from analysis.engine.model_inputs import ModelInput
from analysis.engine.mvpa_maps import embeddings_of, model_windows, window_facts
from analysis.progress import Progress
from models.mvpformer.attention import AttentionParts
from models.mvpformer.introspection import attention_parts
from models.mvpformer.model import MVPFormer


def lag_mass(between: Tensor) -> Tensor:
    """P(D), (H, T), of masses between segments (H, T, T): on the segment D before, mean over all; sums to one."""
    n = between.shape[-1]
    return torch.stack([between.diagonal(-lag, 1, 2).sum(-1) / n for lag in range(n)], -1)


def between_segments(parts: AttentionParts, n_channels: int) -> Tensor:
    """Attention from segment to segment, (H, T, T): summed over keys' channels, mean over windows and queries'."""
    return _by_token(parts.probabilities, n_channels).sum(-1).mean((0, 3))


def relations(parts: AttentionParts, n_channels: int) -> Tensor:
    """Share of attention on the token itself, its channel's past, other channels now and theirs before, (H, 4)."""
    weights = _by_token(parts.probabilities, n_channels).mean(0)  # (H, T, C, T, C)
    now = weights.diagonal(dim1=1, dim2=3)  # (H, C, C, T)
    own = weights.diagonal(dim1=2, dim2=4)  # (H, T, T, C)
    total = float(weights.shape[1] * n_channels)
    itself = now.diagonal(dim1=1, dim2=2).sum((1, 2)) / total
    others_now = now.sum((1, 2, 3)) / total - itself
    own_past = own.sum((1, 2, 3)) / total - itself
    return torch.stack([itself, own_past, others_now, 1 - itself - others_now - own_past], -1)


def term_shares(parts: AttentionParts, n_channels: int) -> Tensor:
    """Share of the content, time and channel term in the scores, (H, 3): mean |.| over allowed pairs, normalised."""
    content = _by_token(parts.content, n_channels)
    n = content.shape[2]
    allowed = torch.ones(n, n, dtype=torch.bool, device=content.device).tril()
    mean_content = content.abs().mean((0, 3, 5))[:, allowed].mean(-1)
    time = parts.time.unflatten(2, (-1, n_channels)).abs().mean((0, 3))[:, allowed].mean(-1)
    channel = parts.channel.abs().mean((0, 2, 3))
    table = torch.stack([mean_content, time, channel], -1)
    return table / table.sum(-1, keepdim=True).clamp_min(1e-30)


def without_content(parts: AttentionParts, n_channels: int, width: int) -> AttentionParts:
    """The same with the attention that time and channel terms alone would give."""
    score = parts.time[..., :, None] + parts.channel[..., None, :]  # (B, H, TC, T, C)
    n = parts.time.shape[-1]
    query = torch.arange(parts.time.shape[2], device=score.device) // n_channels
    later = query[:, None] < torch.arange(n, device=score.device)[None]
    flat = (score / math.sqrt(width)).masked_fill(later[:, :, None], -math.inf).flatten(-2).softmax(-1)
    return parts._replace(probabilities=flat)


def attention(inputs: Inputs, progress: Progress) -> Findings:
    """Attention by lag with and without the content term, shares of the terms, and channel against time."""
    model: MVPFormer = inputs.model.network
    source = model_windows(inputs, progress)
    n, width = len(source.plan.ch_names), model.config.head_dim

    def look(parts: AttentionParts) -> tuple[Tensor, ...]:
        bare = between_segments(without_content(parts, n, width), n)
        return between_segments(parts, n), bare, term_shares(parts, n), relations(parts, n)

    between, bare, shares, flow = _means(model, source, look, progress)
    by_head = ("layer", "head")
    lags = {"by_lag": between, "by_lag_without_content": bare}
    n_segments = between.shape[-1]
    if n_segments - 1 > model.config.window_segments:
        # Within a shorter context the window is the whole context already.
        with _whole_context(model):
            (lags["by_lag_whole_context"],) = _means(model, source, lambda p: (between_segments(p, n),), progress)
    arrays = {
        name: _named(torch.stack([lag_mass(m) for m in masses]), (*by_head, "lag"), _LAG_MEANINGS[name])
        for name, masses in lags.items()
    }
    arrays |= {
        "share": _named(shares, (*by_head, "term"), "share of a term in the scores, mean size over allowed pairs"),
        "relation": _named(flow, (*by_head, "relation"), "share of the attention, by channel and time"),
        "between_times": _named(
            between, (*by_head, "segment", "other_segment"), "attention from segment to segment, summed over channels"
        ),
    }
    facts = {
        **window_facts(inputs, source),
        "content_window_segments": model.config.window_segments,
        "even_by_lag": even_lags(n_segments).tolist(),
        "even_relation": even_flow(n_segments, n).tolist(),
    }
    labels = _labels(model.config.segment_seconds, n_segments)
    return Findings(arrays, facts, labels, source.plan.notes, source.describe())


_LAG_MEANINGS = {
    "by_lag": "attention on the segment so long before, summed over its channels, mean over all tokens",
    "by_lag_without_content": "the same of the time and channel terms alone",
    "by_lag_whole_context": "the same with the window of the content term widened to the whole context",
}


def _labels(seconds: float, n_segments: int) -> dict[str, tuple[str, ...]]:
    times = tuple(f"{i * seconds:g} s" for i in range(n_segments))
    names = {"term": ("content", "time", "channel"), "relation": RELATIONS}
    return {**names, "lag": times, "segment": times, "other_segment": times}


def _means(
    model: MVPFormer, source: ModelInput, look: Callable[[AttentionParts], tuple[Tensor, ...]], progress: Progress
) -> list[Tensor]:
    """What `look` makes of each layer's attention, (layers, ...), mean over the windows."""
    sums: list[Tensor] = []
    for embeddings in embeddings_of(model, source, progress, "attention"):
        made: dict[int, Any] = attention_parts(model, embeddings, keep=look)
        parts = [torch.stack(values) for values in zip(*(made[i] for i in sorted(made)), strict=True)]
        sums = [a + b for a, b in zip(sums, parts, strict=True)] if sums else parts
    return [total / len(source.plan.onsets) for total in sums]


@contextmanager
def _whole_context(model: MVPFormer) -> Iterator[None]:
    """Within the block the content term reaches as far back as there are segments."""
    blocks: list[Any] = list(model.blocks)
    forms = [block.attention.plain_form for block in blocks]
    before = [form.window for form in forms]
    for form in forms:
        form.window = model.config.n_positions
    try:
        yield
    finally:
        for form, window in zip(forms, before, strict=True):
            form.window = window


def _by_token(values: Tensor, n_channels: int) -> Tensor:
    """(B, H, N, N) as (B, H, T, C, T, C)."""
    return values.unflatten(2, (-1, n_channels)).unflatten(-1, (-1, n_channels))


def _named(values: Tensor, axes: tuple[str, ...], meaning: str) -> NamedArray:
    return NamedArray(values.cpu().numpy(), axes, "1", meaning, "our definition")
