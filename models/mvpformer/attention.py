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

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from models.mvpformer import flash
from models.mvpformer.config import MVPFormerConfig
from models.mvpformer.lora import LoRALinear

BLOCK_ELEMENTS = 1 << 19  # 2 MB in float32, what a core of a server keeps close
SUMMED_FIRST = 16  # segments outside the window; with fewer, a weight for every key is the smaller array


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


class _Queries(NamedTuple):
    """One key/value head's queries, scaled, with what can be told for all of them at once; shapes (R, GC, ...)."""

    content: Tensor  # (..., d): q + u
    time: Tensor  # (..., d): q + v
    near: Tensor  # (..., p + 1): the time term of the window's places, minus infinity where no segment is
    channel: Tensor  # (..., C): the channel term
    channel_mass: Tensor  # (..., 1): logarithm of the sum of its exponentials
    channel_share: Tensor  # (..., C): its softmax

    def part(self, first: int, stop: int) -> _Queries:
        """The queries of some segments."""
        return _Queries(*(term[first:stop] for term in self))


def attend(heads: HeadInputs, window: int) -> Tensor:
    """Attended values (B, K, R, G, C, d) by the kernels of FlashMVPA where they can be used, else by the split form."""
    if torch.is_autocast_enabled(heads.query.device.type):
        return _attend_lowered(heads, window)
    fused = flash.fused_attention(*heads, window)
    return factorised_attention(heads, window) if fused is None else fused


def _attend_lowered(heads: HeadInputs, window: int) -> Tensor:
    """The same within torch.autocast: the kernels in its number format, the split form in float32."""
    with torch.autocast(heads.query.device.type, enabled=False):
        fused = flash.fused_attention(*heads, window)  # which brings all parts to the queries' type
        return factorised_attention(HeadInputs(*(part.float() for part in heads)), window) if fused is None else fused


def factorised_attention(heads: HeadInputs, window: int) -> Tensor:
    """Attended values (B, K, R, G, C, d), equal to the direct form without its N x N scores.

    Works on a few query segments of one key/value head at a time: what stands in memory besides inputs and outputs
    does not grow with T squared, and stays in the processor's cache.
    """
    padding = min(window, heads.key.shape[2] - 1)
    attended = []
    for item in range(heads.key.shape[0]):
        for head in range(heads.key.shape[1]):
            queries = _prepare(heads, item, head, padding)
            key, value, time_key = heads.key[item, head], heads.value[item, head], heads.time_key[head]
            earlier = _attend_earlier(queries, key, value, time_key, padding) if heads.query.shape[2] > 1 else ()
            attended.append(torch.cat([*earlier, _attend_last(queries, key, value, time_key)]))
    return torch.stack(attended).view(heads.query.shape)


def _prepare(heads: HeadInputs, item: int, head: int, padding: int) -> _Queries:
    """The queries of one key/value head of one item, their channel term, and their time term inside the window."""
    width, n_queries = heads.query.shape[-1], heads.query.shape[2]
    query = (heads.query[item, head] * width**-0.5).flatten(1, 2)  # (R, GC, d)
    u, v, w = heads.bias[:, head] * width**-0.5
    channel = _channel_term((query + w).unflatten(1, (-1, heads.key.shape[3])), heads.channel_key[head])
    time = query + v
    near = time @ heads.time_key[head, -padding - 1 :].mT
    near = _mask_padding(near, heads.key.shape[2] - n_queries, padding)
    return _Queries(query + u, time, near, channel, *_mass_and_share(channel))


def _channel_term(query: Tensor, channel_key: Tensor) -> Tensor:
    """(q_i + w) . Q[C-1-|c_i-c|] for every channel c, (R, GC, C), from queries (R, G, C, d) and keys (C, d).

    One product with the rows of every distance from 1 - C to C; those a query needs lie side by side, one place
    earlier for each next channel, which a view with rows shorter by one takes out.
    """
    n = len(channel_key)
    distance = torch.arange(1 - n, n + 1, device=query.device).abs().clamp(max=n - 1)
    every = (query @ channel_key[n - 1 - distance].mT).flatten(-2)  # (R, G, C * 2C)
    return every[..., n - 1 : n - 1 + n * (2 * n - 1)].unflatten(-1, (n, -1))[..., :n].flatten(1, 2)


def _attend_last(queries: _Queries, key: Tensor, value: Tensor, time_key: Tensor) -> Tensor:
    """Attended values (1, GC, d) of the last segment's queries, for which every key is inside the window."""
    last = queries.part(-1, len(queries.content))
    score = ((last.time @ time_key.mT)[..., None] + last.channel[..., None, :]).flatten(-2)
    return (score + last.content @ key.flatten(0, 1).mT).softmax(-1) @ value.flatten(0, 1)


def _attend_earlier(queries: _Queries, key: Tensor, value: Tensor, time_key: Tensor, padding: int) -> Iterator[Tensor]:
    """Attended values (S, GC, d) of all but the last segment's queries, block by block."""
    n_last, n_inside = len(queries.content) - 1, padding + 1
    # As if so many segments went before the first: every query segment then has equally many keys inside.
    key, value = (functional.pad(part, (0, 0, 0, 0, padding, 0)) for part in (key, value))
    _, n_rows, n_channels = queries.channel.shape
    # What a block makes of each query: scores inside, or sums by channel outside.
    room = max(1, BLOCK_ELEMENTS // (n_rows * n_channels * max(n_inside, value.shape[-1])))
    first = 0
    while first < n_last:
        # Keys outside begin after the first window, and padding reaches back by less than a window.
        stop = min(first + min(room, n_inside), n_last if first >= n_inside else min(n_last, n_inside))
        yield _attend_block(queries.part(first, stop), key, value, time_key, first)
        first = stop


def _attend_block(queries: _Queries, key: Tensor, value: Tensor, time_key: Tensor, first: int) -> Tensor:
    """Attended values (S, GC, d) of S query segments from `first` on; `key` and `value` (p + T, C, d) are padded.

    Seen from every one of them, a place in its windows has the same distance, so the rows of the time table too.
    """
    n_block, padding = len(queries.content), len(key) - len(time_key)
    n_inside, n_outside = padding + 1, first + n_block - 1 - padding
    score = (queries.near[..., None] + queries.channel[..., None, :]).flatten(-2)
    score = score.baddbmm_(queries.content, _windows(key, first, n_block, n_inside).flatten(1, 2).mT)
    value_inside = _windows(value, first, n_block, n_inside).flatten(1, 2)
    if n_outside <= 0:
        return score.softmax(-1) @ value_inside

    time = queries.time @ time_key[-n_inside - n_outside : -n_inside].mT
    if n_block > 1:
        time = _mask_padding(time, first - n_outside, padding)
    mass, share = _mass_and_share(time)
    weights = torch.cat([mass + queries.channel_mass, score], dim=-1).softmax(-1)
    outside = _attend_outside(
        share * weights[..., :1], queries.channel_share, _windows(value, first - n_outside, n_block, n_outside)
    )
    return outside + weights[..., 1:] @ value_inside


def _attend_outside(time_share: Tensor, channel_share: Tensor, value: Tensor) -> Tensor:
    """What keys outside the window give, (S, GC, d): weights are outer products of (S, GC, t) and (S, GC, C).

    With many segments the sum is taken over them first, then over channels, and no weight for every key is made.
    """
    if value.shape[1] < SUMMED_FIRST:
        return (time_share[..., :, None] * channel_share[..., None, :]).flatten(-2) @ value.flatten(1, 2)
    by_channel = (time_share @ value.flatten(2)).unflatten(-1, value.shape[2:])  # (S, GC, C, d)
    return (channel_share[..., None, :] @ by_channel).squeeze(-2)


def _mass_and_share(term: Tensor) -> tuple[Tensor, Tensor]:
    """Logarithm of the sum of exponentials along the last axis, (..., 1), and the softmax, from one exponential."""
    peak = term.detach().amax(-1, keepdim=True)
    exponential = (term - peak).exp()
    total = exponential.sum(-1, keepdim=True)
    return peak + total.log(), exponential / total


def _windows(x: Tensor, first: int, count: int, length: int) -> Tensor:
    """`count` windows of `length` segments, each one segment later, as a view: (n, C, d) -> (count, length, C, d)."""
    return x[first : first + count + length - 1].unfold(0, length, 1).permute(0, 3, 1, 2)


def _mask_padding(time: Tensor, first: int, padding: int) -> Tensor:
    """Minus infinity where a window's place (count, GC, length) lies in the padding; the first begins at `first`."""
    place = torch.arange(len(time), device=time.device)[:, None] + torch.arange(time.shape[-1], device=time.device)
    return time.masked_fill((place + first < padding)[:, None], -torch.inf)


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
        attended = self._attend_plainly(heads) if plain else attend(heads, self.plain_form.window)
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
