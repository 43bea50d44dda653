"""MVPA's forward pass as two Triton kernels (paper appendix A.4, algorithm 2, with the published code's rules).

The first makes the small tables of each row: time scores, one for each segment, and channel scores, one for each
channel distance. The second is attention with an online softmax that adds them tile by tile. A tile of keys is one
segment with up to BLOCK_C channels, so that a row has one time score for the whole tile, and its channel scores stay
in registers from segment to segment. Outside the window a row's weights are an outer product of a vector over segments,
exponentiated in the table, and one over channels, exponentiated once for each tile of channels: the loop over
those keys forms no exponentials and no content product. Imported on use only: it needs triton.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from models.mvpformer.flash_tiles import (
    FLOOR,
    HIDDEN,
    LOG2E,
    Sizes,
    by_rows,
    device,
    dot,
    load_biased,
    load_rows,
    row_count,
    score_channels,
    start,
    store_rows,
    take_rows,
    tuned,
    visible_segments,
)

TABLE_TILES = {"BLOCK_M": 64, "BLOCK_C": 32, "num_warps": 4}


class Tables(NamedTuple):
    """What each row needs besides content scores; n is batch items times key/value heads, scores in units of log 2.

    `time` (n, rows, T): the score of the segment at distance D at T - 1 - D; outside the window exp2 of that score
    less the highest there. `channel` (n, rows, C): the score at channel distance D at C - 1 - D. `outer` (3, n, rows):
    the highest score outside the window (FLOOR where nothing lies there), the sum of the weights there relative to
    that, and the highest channel score.
    """

    time: Tensor
    channel: Tensor
    outer: Tensor


@device
def _score_table(
    query: tl.tensor, table: tl.tensor, column: tl.tensor, n_columns: tl.tensor, form: tl.tuple
) -> tl.tensor:
    """Scores (rows, columns) of queries with rows of a projected table."""
    keys = load_rows(table, column * form.D, column < n_columns, form)
    return dot(query, tl.trans(keys), form) * tl.full((), form.SCALE * LOG2E, form.ACC)


@triton.jit
def _make_tables(
    query: tl.tensor,
    time_key: tl.tensor,
    channel_key: tl.tensor,
    bias: tl.tensor,
    time: tl.tensor,
    channel: tl.tensor,
    outer: tl.tensor,
    sizes: tl.tuple,
    tuning_key: tl.tensor,  # noqa: ARG001 - the autotuner's, and all kernels are started alike
    form: tl.tuple,
    BLOCK_M: tl.constexpr,
    BLOCK_C: tl.constexpr,
) -> None:
    kept, line, plane, place, own, segment, first = take_rows(sizes, form, BLOCK_M)
    kv = tl.program_id(1) % sizes.n_kv

    biased = load_biased(query, place, own >= 0, bias + (sizes.n_kv + kv) * form.D, form)
    table = time_key + kv * sizes.n_segments * form.D
    highest = tl.full((BLOCK_M,), HIDDEN, form.ACC)
    for begin in range(0, sizes.n_segments, BLOCK_C):
        column = begin + tl.arange(0, BLOCK_C)
        score = _score_table(biased, table, column, sizes.n_segments, form)
        distance = (sizes.n_segments - 1 - column)[None, :]
        outside = (distance > (segment - first)[:, None]) & (distance <= segment[:, None])
        highest = tl.maximum(highest, tl.max(tl.where(outside, score, HIDDEN), 1))
    time_sum = tl.zeros((BLOCK_M,), form.ACC)
    for begin in range(0, sizes.n_segments, BLOCK_C):
        column = begin + tl.arange(0, BLOCK_C)
        score = _score_table(biased, table, column, sizes.n_segments, form)
        distance = (sizes.n_segments - 1 - column)[None, :]
        outside = (distance > (segment - first)[:, None]) & (distance <= segment[:, None])
        weight = tl.exp2(tl.where(outside, score - highest[:, None], HIDDEN))
        time_sum += tl.sum(weight, 1)
        mask = kept[:, None] & (column < sizes.n_segments)[None, :]
        target = time + (line * sizes.n_segments)[:, None] + column[None, :]
        tl.store(target, tl.where(outside, weight, score), mask=mask)

    biased = load_biased(query, place, own >= 0, bias + (2 * sizes.n_kv + kv) * form.D, form)
    table = channel_key + kv * sizes.n_channels * form.D
    highest_channel = tl.full((BLOCK_M,), HIDDEN, form.ACC)
    channel_sum = tl.zeros((BLOCK_M,), form.ACC)
    for begin in range(0, sizes.n_channels, BLOCK_C):
        column = begin + tl.arange(0, BLOCK_C)
        score = _score_table(biased, table, column, sizes.n_channels, form)
        mask = kept[:, None] & (column < sizes.n_channels)[None, :]
        tl.store(channel + (line * sizes.n_channels)[:, None] + column[None, :], score, mask=mask)
        # One channel lies at distance 0; at others up to two do, one on either side.
        distance = (sizes.n_channels - 1 - column)[None, :]
        below = (distance >= 0) & (distance <= own[:, None])
        above = (distance > 0) & (distance < sizes.n_channels - own[:, None])
        score = tl.where(below | above, score, HIDDEN)
        before = highest_channel
        highest_channel = tl.maximum(before, tl.max(score, 1))
        weight = tl.exp2(score - highest_channel[:, None]) * (below.to(form.ACC) + above.to(form.ACC))
        channel_sum = channel_sum * tl.exp2(before - highest_channel) + tl.sum(weight, 1)

    tl.store(outer + line, tl.where(time_sum > 0, highest + highest_channel, FLOOR), mask=kept)
    tl.store(outer + plane + line, time_sum * channel_sum, mask=kept)
    tl.store(outer + 2 * plane + line, highest_channel, mask=kept)


@triton.jit
def _attend(
    query: tl.tensor,
    key: tl.tensor,
    value: tl.tensor,
    bias: tl.tensor,
    time: tl.tensor,
    channel: tl.tensor,
    outer: tl.tensor,
    out: tl.tensor,
    log_sum: tl.tensor,
    sizes: tl.tuple,
    tuning_key: tl.tensor,  # noqa: ARG001
    form: tl.tuple,
    BLOCK_M: tl.constexpr,
    BLOCK_C: tl.constexpr,
) -> None:
    kept, line, plane, place, own, segment, first = take_rows(sizes, form, BLOCK_M)
    keys = tl.program_id(1).to(tl.int64) * sizes.n_segments * sizes.n_channels
    time += line * sizes.n_segments + sizes.n_segments - 1 - segment
    begin, end, outer_end = visible_segments(sizes, BLOCK_M)

    highest = tl.load(outer + line)
    mass = tl.load(outer + plane + line)
    highest_channel = tl.load(outer + 2 * plane + line)
    attended = tl.zeros((BLOCK_M, form.BLOCK_D), form.ACC)
    for first_column in range(0, sizes.n_channels, BLOCK_C):
        column = first_column + tl.arange(0, BLOCK_C)
        score = score_channels(channel, line, own, column, sizes)
        channel_weight = tl.exp2(score - highest_channel[:, None])
        for t in range(outer_end):
            time_weight = tl.load(time + t, mask=t < first, other=0.0)
            place_key = (keys + t * sizes.n_channels + column) * form.D
            values = load_rows(value, place_key, column < sizes.n_channels, form)
            attended += dot((time_weight[:, None] * channel_weight).to(values.dtype), values, form)

    content = load_biased(query, place, own >= 0, bias + (tl.program_id(1) % sizes.n_kv) * form.D, form)
    for first_column in range(0, sizes.n_channels, BLOCK_C):
        column = first_column + tl.arange(0, BLOCK_C)
        channel_score = score_channels(channel, line, own, column, sizes)
        for t in range(begin, end):
            place_key = (keys + t * sizes.n_channels + column) * form.D
            score = dot(content, tl.trans(load_rows(key, place_key, column < sizes.n_channels, form)), form)
            time_score = tl.load(time + t, mask=(t >= first) & (t <= segment), other=HIDDEN)
            score = score * tl.full((), form.SCALE * LOG2E, form.ACC) + (time_score[:, None] + channel_score)
            before = highest
            highest = tl.maximum(before, tl.max(score, 1))
            weight = tl.exp2(score - highest[:, None])
            shrink = tl.exp2(before - highest)
            mass = mass * shrink + tl.sum(weight, 1)
            values = load_rows(value, place_key, column < sizes.n_channels, form)
            attended = attended * shrink[:, None] + dot(weight.to(values.dtype), values, form)
    store_rows(out, place, attended / mass[:, None], kept, form)
    tl.store(log_sum + line, highest + tl.log2(mass), mask=kept)


_tuned_attend = tuned(_attend)


def make_tables(query: Tensor, time_key: Tensor, channel_key: Tensor, bias: Tensor, sizes: Sizes) -> Tables:
    """The tables of contiguous queries (B, R, C, K, G, d); the other shapes are those of HeadInputs, contiguous too."""
    n, n_rows = query.shape[0] * sizes.n_kv, row_count(sizes)
    tables = Tables(
        *(
            query.new_empty(shape, dtype=torch.promote_types(query.dtype, torch.float32))
            for shape in ((n, n_rows, sizes.n_segments), (n, n_rows, sizes.n_channels), (3, n, n_rows))
        )
    )
    start(_make_tables, by_rows(sizes, n), query, time_key, channel_key, bias, *tables, sizes, query, **TABLE_TILES)
    return tables


def attend(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor, tables: Tables, sizes: Sizes, out: Tensor
) -> Tensor:
    """Write attended values (B, R, C, K, G, d) to `out`; gives log2 of each row's sum of exponentials, (n, rows)."""
    log_sum = tables.outer.new_empty(tables.outer.shape[1:])
    grid = by_rows(sizes, len(log_sum))
    start(_tuned_attend, grid, query, key, value, bias, *tables, out, log_sum, sizes, query)
    return log_sum
