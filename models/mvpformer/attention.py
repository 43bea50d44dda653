"""Multi-variate parallel attention, MVPA (paper section 2 and appendix A), as the published code computes it.

Letters: B batch, T segments, R query segments (T, or 1 for the last alone), C channels, N = T * C tokens, E embedding
width, H query heads, K key/value heads, G = H / K query heads that share one, d head width. With t(.) and c(.) the
segment and channel of a token, D = t(i) - t(j), and P, Q the layer's projections of the time and channel tables:

    content(i,j) = (q_i + u) . k_j            if D <= window or i is in the last segment, else 0
    time(i,j)    = (q_i + v) . P[T-1-D]
    channel(i,j) = (q_i + w) . Q[C-1-|c_i-c_j|]
    score(i,j)   = (content + time + channel) / sqrt(d), minus infinity where t(j) > t(i)

Outside the window the score is a sum of one number per segment and one per channel, so the softmax weights there are
an outer product: mass * softmax over segments * softmax over channels. Where many segments lie outside, only the scores
inside the window are formed, with one more column that holds the logarithm of the outer mass; where few do, a score for
every key that the query may see is the quicker way. Nothing is approximated.
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

BLOCK_ELEMENTS = 1 << 20  # 4 MB in float32, what the cores of a server keep close
SUMMED_FIRST = 64  # segments outside the window; with fewer, a weight for every key is made sooner than its factors


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


class _Part(NamedTuple):
    """Some key/value heads (n of them, of any items), ready for the split form: tables are divided by sqrt(d)."""

    query: Tensor  # (n, R, GC, d): q + u
    key: Tensor  # (n, N, d)
    value: Tensor  # (n, N, d)
    time_key: Tensor  # (n, T, d)
    time_bias: Tensor  # (n, 1, T): (v - u) . P
    channel_key: Tensor  # (n, C, d)
    channel_bias: Tensor  # (n, 1, C): (w - u) . Q


class _Outside(NamedTuple):
    """The keys outside the window, as some query segments (S) see them: the factors of their weights."""

    mass: Tensor  # (n, S, GC, C): logarithm of the sum of all their exponentials, then minus infinity
    time_share: Tensor  # (n, S, GC, T-1-window): softmax over segments, by rows of the time table
    channel_share: Tensor  # (n, S, GC, C): softmax over channels


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

    Works on the queries of one segment at a time, those of as many heads together as leave what is made of them in the
    processor's cache: what stands in memory besides inputs and outputs does not grow with T squared.
    """
    batch, n_kv, n_queries, n_group, n_channels, width = heads.query.shape
    n_rows, n_segments = n_group * n_channels, heads.key.shape[2]
    n_heads = max(1, BLOCK_ELEMENTS // (n_rows * n_channels * max(min(window + 1, n_segments), width)))
    count = max(1, BLOCK_ELEMENTS // (n_heads * n_rows * max(n_segments, 2 * n_channels)))
    attended = []
    for part in _split_by_heads(heads, n_heads):
        blocks = zip(part.query.split(count, dim=1), range(n_segments - n_queries, n_segments, count), strict=True)
        segments = [one for query, first in blocks for one in _attend_block(part, query, first, window)]
        # In memory as tokens, so that joining the heads afterwards copies nothing.
        attended.append(torch.stack([one.unflatten(1, (n_group, -1)).permute(2, 0, 1, 3) for one in segments]))
    together = attended[0] if len(attended) == 1 else torch.cat(attended, dim=2)  # (R, C, B K, G, d)
    return together.unflatten(2, (batch, n_kv)).permute(2, 3, 0, 4, 1, 5)


def _split_by_heads(heads: HeadInputs, n_heads: int) -> Iterator[_Part]:
    """All heads of all items, `n_heads` at a time."""
    batch, width = heads.query.shape[0], heads.query.shape[-1]
    u, v, w = heads.bias[:, :, None]  # (K, 1, d) each
    time_key, channel_key = heads.time_key * width**-0.5, heads.channel_key * width**-0.5
    tables = (time_key, (v - u) @ time_key.mT, channel_key, (w - u) @ channel_key.mT)
    parts = (
        heads.query.clone(memory_format=torch.contiguous_format).add_(u[:, None, None]).flatten(3, 4).flatten(0, 1),
        heads.key.flatten(2, 3).flatten(0, 1),
        heads.value.flatten(2, 3).flatten(0, 1),
        *(table if batch == 1 else table.repeat(batch, 1, 1) for table in tables),
    )
    return map(_Part._make, zip(*(part.split(n_heads) for part in parts), strict=True))


def _attend_block(part: _Part, query: Tensor, first: int, window: int) -> Iterator[Tensor]:
    """Attended values (n, GC, d) of each query segment from `first` on; `query` is (n, S, GC, d)."""
    n_segments = part.time_key.shape[1]
    time = torch.baddbmm(part.time_bias, query.flatten(1, 2), part.time_key.mT).unflatten(1, query.shape[1:3])
    channel = _channel_term(query, part.channel_key, part.channel_bias)
    stop = min(first + query.shape[1], n_segments - 1)  # the last segment has every key inside
    begin = min(max(first, window + SUMMED_FIRST), stop)  # with fewer segments outside, all weights are made
    outside: list[_Outside] = []
    if begin < stop:
        some = slice(begin - first, stop - first)
        outside = _share_outside(time[:, some], channel[:, some], begin, window)
    terms = zip(query.unbind(1), time.unbind(1), channel.unbind(1), strict=True)
    for segment, of_segment in enumerate(terms, first):
        n_outside = max(0, segment - window) if segment < n_segments - 1 else 0
        if begin <= segment < stop:
            yield _attend_split(part, *of_segment, outside[segment - begin], segment, n_outside)
        else:
            yield _attend_all(part, *of_segment, segment, n_outside)


def _attend_all(part: _Part, query: Tensor, time: Tensor, channel: Tensor, segment: int, n_outside: int) -> Tensor:
    """Attended values (n, GC, d) of one segment's queries, from a weight for every key.

    `query` is (n, GC, d), `time` (n, GC, T), `channel` (n, GC, C); the first `n_outside` segments have no content term.
    """
    n_channels, scale = channel.shape[-1], query.shape[-1] ** -0.5
    begin, stop = n_outside * n_channels, (segment + 1) * n_channels
    score = (time[..., time.shape[-1] - 1 - segment :, None] + channel[..., None, :]).flatten(-2)
    key = part.key[:, begin:stop].mT
    if n_outside:
        score[..., begin:].add_(torch.bmm(query, key), alpha=scale)
    else:
        score.baddbmm_(query, key, alpha=scale)
    return torch.bmm(score.softmax(-1), part.value[:, :stop])


def _attend_split(
    part: _Part, query: Tensor, time: Tensor, channel: Tensor, outside: _Outside, segment: int, n_outside: int
) -> Tensor:
    """The same from weights of keys inside, and for those outside from the factors of theirs."""
    n_channels, latest = channel.shape[-1], time.shape[-1] - 1
    begin, stop = n_outside * n_channels, (segment + 1) * n_channels
    # The scores of one segment too many make room for the mass outside: cheaper than to copy all for a column more.
    rows = time[..., latest - segment + n_outside - 1 :]
    score = (rows[..., None] + channel[..., None, :]).flatten(-2)
    score.baddbmm_(query, part.key[:, begin - n_channels : stop].mT, alpha=query.shape[-1] ** -0.5)
    score[..., :n_channels] = outside.mass
    weights = score.softmax(-1)
    # Summed over segments first, then over channels: no weight for every key is made.
    share = outside.time_share[..., latest - segment :] * weights[..., :1]
    by_channel = torch.bmm(share, part.value[:, :begin].unflatten(1, (n_outside, n_channels)).flatten(2))
    outer = (outside.channel_share[..., None, :] @ by_channel.unflatten(-1, (n_channels, -1))).squeeze(-2)
    return outer.baddbmm_(weights[..., n_channels:], part.value[:, begin:stop])


def _channel_term(query: Tensor, channel_key: Tensor, channel_bias: Tensor) -> Tensor:
    """(q_i + w) . Q[C-1-|c_i-c|] for every channel c, (n, S, GC, C), from queries q + u (n, S, GC, d).

    One product with the rows of every distance from 1 - C to C; those a query needs lie side by side, one place
    earlier for each next channel, which a view with rows shorter by one takes out.
    """
    n = channel_key.shape[1]
    distance = torch.arange(1 - n, n + 1, device=query.device).abs().clamp(max=n - 1)
    row = n - 1 - distance
    every = torch.baddbmm(channel_bias[..., row], query.flatten(1, 2), channel_key[:, row].mT)  # (n, S G C, 2C)
    every = every.view(len(query), query.shape[1], -1, n * 2 * n)
    return every[..., n - 1 : n - 1 + n * (2 * n - 1)].unflatten(-1, (n, -1))[..., :n].flatten(2, 3)


def _share_outside(time: Tensor, channel: Tensor, first: int, window: int) -> list[_Outside]:
    """The weights of keys outside, of each query segment from `first` on, all of which have some.

    `time` (n, S, GC, T) and `channel` (n, S, GC, C) are the segments' terms.
    """
    n_segments, n_outside = time.shape[-1], time.shape[-1] - 1 - window
    row = torch.arange(n_outside, device=time.device)
    segment = torch.arange(first, first + time.shape[1], device=time.device)
    before = row < (n_segments - 1 - segment)[:, None]  # rows of distances that reach back before the first segment
    time_mass, time_share = _mass_and_share(time[..., :n_outside].masked_fill(before[:, None], -torch.inf))
    channel_mass, channel_share = _mass_and_share(channel)
    mass = functional.pad(time_mass + channel_mass, (0, channel.shape[-1] - 1), value=-torch.inf)
    factors = (mass, time_share, channel_share)
    return list(map(_Outside._make, zip(*(factor.unbind(1) for factor in factors), strict=True)))


def _mass_and_share(term: Tensor) -> tuple[Tensor, Tensor]:
    """Logarithm of the sum of exponentials along the last axis, (..., 1), and the softmax, from one exponential."""
    peak = term.detach().amax(-1, keepdim=True)
    exponential = (term - peak).exp()
    total = exponential.sum(-1, keepdim=True)
    return peak + total.log(), exponential / total


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
