"""Multi-variate parallel attention, MVPA (paper section 2 and appendix A), as the published code computes it.

Letters: B batch, T segments, R query segments (T, or 1 for the last alone), C channels, N = T * C tokens, E embedding
width, H query heads, K key/value heads, G = H / K query heads that share one, d head width. With t(.) and c(.) the
segment and channel of a token, D = t(i) - t(j), and P, Q the layer's projections of the time and channel tables:

    content(i,j) = (q_i + u) . k_j            if D <= window or i is in the last segment, else 0
    time(i,j)    = (q_i + v) . P[T-1-D]
    channel(i,j) = (q_i + w) . Q[C-1-|c_i-c_j|]
    score(i,j)   = (content + time + channel) / sqrt(d), minus infinity where t(j) > t(i)

Outside the window the score is a sum of one number per segment and one per channel, so the softmax weights there are
an outer product: mass * softmax over segments * softmax over channels. Only the scores inside the window are formed,
with one more column that holds the logarithm of the outer mass. Nothing is approximated.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from models.mvpformer.config import MVPFormerConfig
from models.mvpformer.lora import LoRALinear


class HeadInputs(NamedTuple):
    """What one attention call works on, split by heads; the time row r stands for the distance T - 1 - r."""

    query: Tensor  # (B, K, R, G, C, d)
    key: Tensor  # (B, K, T, C, d)
    value: Tensor  # (B, K, T, C, d)
    time_key: Tensor  # (K, T, d)
    channel_key: Tensor  # (K, C, d)
    bias: Tensor  # (3, K, d): u, v, w


class AttentionParts(NamedTuple):
    """The three terms before the division by sqrt(d), and the probabilities; 0 where the key lies later.

    `content` and `probabilities` are (B, H, R*C, N); `time` (B, H, R*C, T) is one number per key segment, `channel`
    (B, H, R*C, C) one per key channel.
    """

    content: Tensor
    time: Tensor
    channel: Tensor
    probabilities: Tensor


class PlainAttention(nn.Module):
    """The direct form, all N x N scores at once: what attention maps come from, and the reference of the fast form."""

    def __init__(self, window: int) -> None:
        super().__init__()
        self.window = window

    def forward(self, heads: HeadInputs) -> AttentionParts:
        """The three terms and the probabilities of every query and key."""
        batch, n_kv, n_queries, n_group, n_channels, width = heads.query.shape
        n_segments = heads.key.shape[2]
        u, v, w = (part[None, :, None, None, None, :] for part in heads.bias)
        distance = _segment_distance(n_queries, n_segments, heads.query.device)  # (R, T)

        content = torch.einsum("bkrgcd,bktsd->bkgrcts", heads.query + u, heads.key)
        exempt = torch.arange(n_segments - n_queries, n_segments, device=distance.device) == n_segments - 1
        near = (distance <= self.window) | exempt[:, None]
        allowed = distance >= 0
        content = content * (near & allowed)[:, None, :, None]

        rows = torch.einsum("bkrgcd,ktd->bkgrct", heads.query + v, heads.time_key)
        index = (n_segments - 1 - distance).clamp(max=n_segments - 1)[:, None, :]
        time = rows.gather(-1, index.expand(rows.shape)) * allowed[:, None, :]

        rows = torch.einsum("bkrgcd,ksd->bkgrcs", heads.query + w, heads.channel_key)
        channel = rows.gather(-1, _channel_row(n_channels, rows.device).expand(rows.shape))

        score = (content + time[..., None] + channel[..., None, :]) * width**-0.5
        score = score.masked_fill(~allowed[:, None, :, None], -torch.inf)
        shape = (batch, n_kv * n_group, n_queries * n_channels, -1)
        return AttentionParts(
            content.reshape(shape), time.reshape(shape), channel.reshape(shape), score.reshape(shape).softmax(-1)
        )


def factorised_attention(heads: HeadInputs, window: int) -> Tensor:
    """Attended values (B, K, R, G, C, d), equal to the direct form without its N x N scores.

    The largest intermediate is one query segment against the window's keys: it grows with T, not with T squared.
    """
    batch, n_kv, n_queries, n_group, n_channels, width = heads.query.shape
    n_segments = heads.key.shape[2]
    flat = (batch * n_kv, n_queries, n_group * n_channels, width)
    scaled = heads.query * width**-0.5
    u, v, w = (part[None, :, None, None, None, :] * width**-0.5 for part in heads.bias)
    content_query = (scaled + u).reshape(flat)
    time_query = (scaled + v).reshape(flat)
    rows = (scaled + w) @ heads.channel_key[:, None, None].mT  # (B, K, R, G, C, C)
    channel = rows.gather(-1, _channel_row(n_channels, rows.device).expand(rows.shape)).reshape(*flat[:3], n_channels)
    key, value = heads.key.flatten(0, 1), heads.value.flatten(0, 1)  # (BK, T, C, d)
    time_key = heads.time_key.expand(batch, -1, -1, -1).flatten(0, 1)  # (BK, T, d)

    attended = []
    for r in range(n_queries):
        last = n_segments - n_queries + r
        first = 0 if last == n_segments - 1 else max(0, last - window)
        # Per segment, not for all at once, so that nothing grows with T squared.
        time = time_query[:, r] @ time_key[:, n_segments - 1 - last :].mT  # (BK, GC, last + 1)
        upto, inside = slice(last + 1), slice(first, last + 1)
        attended.append(_attend_segment(content_query[:, r], key[:, inside], value[:, upto], time, channel[:, r]))
    return torch.stack(attended, dim=1).view(heads.query.shape)


def _attend_segment(query: Tensor, key: Tensor, value: Tensor, time: Tensor, channel: Tensor) -> Tensor:
    """Attended values (BK, GC, d) of one query segment over all m segments up to it.

    `query` (BK, GC, d) with its bias and scale; `key` (BK, n, C, d) the n <= m segments inside the window; `value`
    (BK, m, C, d); `time` (BK, GC, m) and `channel` (BK, GC, C) the other two terms, scaled.
    """
    n_inside = key.shape[1]
    n_outside = value.shape[1] - n_inside
    score = (query @ key.flatten(1, 2).mT).unflatten(-1, (n_inside, -1))
    score = score + time[..., n_outside:, None]
    score = (score + channel[..., None, :]).flatten(-2)
    if n_outside == 0:
        return score.softmax(-1) @ value.flatten(1, 2)
    outer_time = time[..., :n_outside]
    outer_mass = outer_time.logsumexp(-1, keepdim=True) + channel.logsumexp(-1, keepdim=True)
    weights = torch.cat([outer_mass, score], dim=-1).softmax(-1)
    outer_time = outer_time.softmax(-1) * weights[..., :1]
    outside = (outer_time[..., :, None] * channel.softmax(-1)[..., None, :]).flatten(-2)
    return outside @ value[:, :n_outside].flatten(1, 2) + weights[..., 1:] @ value[:, n_outside:].flatten(1, 2)


def _segment_distance(n_queries: int, n_segments: int, device: torch.device) -> Tensor:
    """Segments from key to query, (R, T); negative for keys that lie later."""
    segments = torch.arange(n_segments, device=device)
    return segments[n_segments - n_queries :, None] - segments[None, :]


def _channel_row(n_channels: int, device: torch.device) -> Tensor:
    """Row of the channel table for each pair of channels, (C, C): C - 1 - |c - c'|."""
    channels = torch.arange(n_channels, device=device)
    return n_channels - 1 - (channels[:, None] - channels[None, :]).abs()


class MVPAttention(nn.Module):
    """Grouped-head MVPA with its projections; every map is without bias, u, v and w are learned vectors."""

    def __init__(self, config: MVPFormerConfig) -> None:
        super().__init__()
        width, kv_width = config.n_embd, config.kv_width
        self.n_head, self.n_head_kv, self.head_dim = config.n_head, config.n_head_kv, config.head_dim
        self.dropout = config.dropout
        self.query = LoRALinear(width, width, config.lora_rank, config.lora_alpha)
        # Keys first, then values; only the values' half is updated by LoRA.
        self.key_value = LoRALinear(width, 2 * kv_width, config.lora_rank, config.lora_alpha, updated_rows=kv_width)
        self.time_key = nn.Linear(width, kv_width, bias=False)
        self.channel_key = nn.Linear(width, kv_width, bias=False)
        self.bias = nn.Parameter(torch.empty(3 * kv_width))
        self.output = nn.Linear(width, width, bias=False)
        self.plain_form = PlainAttention(config.window_segments)

    def forward(
        self, x: Tensor, time_rows: Tensor, channel_rows: Tensor, *, last_only: bool = False, plain: bool = False
    ) -> Tensor:
        """(B, T, C, E) normed tokens -> (B, R, C, E).

        `time_rows` (T, E) and `channel_rows` (C, E) are the table rows in use, the one for distance 0 last.
        `last_only` asks for the queries of the last segment alone. `plain` takes the direct form, whose scores and
        probabilities can then be read from the submodule `plain_form` by a forward hook.
        """
        heads = self.split_heads(x, time_rows, channel_rows, last_only)
        if self.training and self.dropout:
            mask = structured_dropout(x.shape[1], x.shape[2], self.dropout, x.device).to(x.dtype)
            heads = heads._replace(value=heads.value * mask[:, :, None])
        attended = self._attend_plainly(heads) if plain else factorised_attention(heads, self.plain_form.window)
        # (B, K, R, G, C, d) -> (B, R, C, K, G, d) -> (B, R, C, E)
        return self.output(attended.permute(0, 2, 4, 1, 3, 5).flatten(3))

    def split_heads(self, x: Tensor, time_rows: Tensor, channel_rows: Tensor, last_only: bool = False) -> HeadInputs:
        """Project tokens and table rows and split them by heads; shapes as in `forward` and `HeadInputs`."""
        n_kv, width = self.n_head_kv, self.head_dim
        query = self.query(x[:, -1:] if last_only else x).unflatten(-1, (n_kv, -1, width))  # (B, R, C, K, G, d)
        key, value = self.key_value(x).unflatten(-1, (2, n_kv, width)).unbind(3)  # (B, T, C, K, d) each
        return HeadInputs(
            query.permute(0, 3, 1, 4, 2, 5),
            key.permute(0, 3, 1, 2, 4).contiguous(),
            value.permute(0, 3, 1, 2, 4).contiguous(),
            self.time_key(time_rows).unflatten(-1, (n_kv, width)).transpose(0, 1),
            self.channel_key(channel_rows).unflatten(-1, (n_kv, width)).transpose(0, 1),
            self.bias.view(3, n_kv, width),
        )

    def _attend_plainly(self, heads: HeadInputs) -> Tensor:
        """The direct form's attended values, (B, K, R, G, C, d)."""
        batch, n_kv, n_queries, n_group, n_channels, _ = heads.query.shape
        weights = self.plain_form(heads).probabilities.view(batch, n_kv, n_group * n_queries * n_channels, -1)
        attended = (weights @ heads.value.flatten(2, 3)).view(batch, n_kv, n_group, n_queries, n_channels, -1)
        return attended.transpose(2, 3)


def structured_dropout(n_segments: int, n_channels: int, rate: float, device: torch.device) -> Tensor:
    """Factors (T, C) for the probabilities of each key, after the softmax (paper appendix A; order as published code).

    One random set of key segments and one of key channels is dropped for the whole call, each at 1 - sqrt(1 - rate),
    and what stays is divided by 1 - rate, so the expected weight of every key is kept.
    """
    keep = (1.0 - rate) ** 0.5
    segments = torch.rand(n_segments, device=device) < keep
    channels = torch.rand(n_channels, device=device) < keep
    return (segments[:, None] & channels[None, :]) / (1.0 - rate)
