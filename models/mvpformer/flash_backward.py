"""MVPA's backward pass as two Triton kernels: one by rows of queries, one by tiles of keys.

Both form the weights anew from the forward pass's tables and the logarithm of each row's sum. With g = dL/d(attended)
and delta = g . attended of a row, the gradient of a score is weight * (g . value - delta), inside the window and
outside. Outside, where the weight is time weight * channel weight, nothing is exponentiated in the loops. Imported on
use only: it needs triton.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from models.mvpformer.flash_forward import Tables
from models.mvpformer.flash_tiles import (
    HIDDEN,
    LOG2E,
    Sizes,
    by_rows,
    dot,
    load_biased,
    load_rows,
    place_rows,
    score_channels,
    start,
    store_rows,
    take_rows,
    tuned,
    visible_segments,
)


class Gradients(NamedTuple):
    """Gradients of queries by their content scores alone, of keys and of values; of each row's raw table scores.

    `time` (n, rows, T) and `channel` (n, rows, C) are laid out as in Tables and count the scale 1 / sqrt(d).
    """

    query: Tensor
    key: Tensor
    value: Tensor
    time: Tensor
    channel: Tensor


@triton.jit
def _grade_queries(
    query: tl.tensor,
    key: tl.tensor,
    value: tl.tensor,
    bias: tl.tensor,
    time: tl.tensor,
    channel: tl.tensor,
    outer: tl.tensor,
    log_sum: tl.tensor,
    out: tl.tensor,
    grad_out: tl.tensor,
    grad_query: tl.tensor,
    grad_time: tl.tensor,
    grad_channel: tl.tensor,
    channel_weight: tl.tensor,
    delta: tl.tensor,
    sizes: tl.tuple,
    tuning_key: tl.tensor,  # noqa: ARG001
    form: tl.tuple,
    BLOCK_M: tl.constexpr,
    BLOCK_C: tl.constexpr,
) -> None:
    kept, line, plane, place, own, segment, first = take_rows(sizes, form, BLOCK_M)
    keys = tl.program_id(1).to(tl.int64) * sizes.n_segments * sizes.n_channels
    at_time = line * sizes.n_segments + sizes.n_segments - 1 - segment
    at_channel = (line * sizes.n_channels)[:, None]
    begin, end, outer_end = visible_segments(sizes, BLOCK_M)
    scale = tl.full((), form.SCALE, form.ACC)

    grad = load_rows(grad_out, place, own >= 0, form)
    mean = tl.sum(grad.to(form.ACC) * load_rows(out, place, own >= 0, form).to(form.ACC), 1)
    tl.store(delta + line, mean, mask=kept)
    total = tl.load(log_sum + line)
    outer_share = tl.exp2(tl.load(outer + line) - total)
    highest_channel = tl.load(outer + 2 * plane + line)
    content = load_biased(query, place, own >= 0, bias + (tl.program_id(1) % sizes.n_kv) * form.D, form)
    grad_content = tl.zeros((BLOCK_M, form.BLOCK_D), form.ACC)
    for first_column in range(0, sizes.n_channels, BLOCK_C):
        column = first_column + tl.arange(0, BLOCK_C)
        known = column < sizes.n_channels
        channel_score = score_channels(channel, line, own, column, sizes)
        outer_weight = tl.exp2(channel_score - highest_channel[:, None]) * outer_share[:, None]
        tl.store(channel_weight + at_channel + column[None, :], outer_weight, mask=kept[:, None] & known[None, :])
        grad_columns = tl.zeros((BLOCK_M, BLOCK_C), form.ACC)
        for t in range(outer_end):
            outside = t < first
            time_weight = tl.load(time + at_time + t, mask=outside, other=0.0)
            values = load_rows(value, (keys + t * sizes.n_channels + column) * form.D, known, form)
            grad_score = dot(grad, tl.trans(values), form) - mean[:, None]
            grad_score = grad_score * (time_weight[:, None] * outer_weight)
            # Added, not stored: another tile of channels may come.
            tl.atomic_add(grad_time + at_time + t, tl.sum(grad_score, 1) * scale, mask=kept & outside, sem="relaxed")
            grad_columns += grad_score
        for t in range(begin, end):
            inside = (t >= first) & (t <= segment)
            place_key = (keys + t * sizes.n_channels + column) * form.D
            key_tile = load_rows(key, place_key, known, form)
            values = load_rows(value, place_key, known, form)
            time_score = tl.load(time + at_time + t, mask=inside, other=HIDDEN)
            score = dot(content, tl.trans(key_tile), form) * (scale * LOG2E) + (time_score[:, None] + channel_score)
            grad_score = dot(grad, tl.trans(values), form) - mean[:, None]
            grad_score = grad_score * tl.exp2(score - total[:, None])
            grad_content += dot(grad_score.to(key_tile.dtype), key_tile, form)
            tl.atomic_add(grad_time + at_time + t, tl.sum(grad_score, 1) * scale, mask=kept & inside, sem="relaxed")
            grad_columns += grad_score
        # Two channels may lie at the same distance, one on either side.
        target = grad_channel + at_channel + sizes.n_channels - 1 - tl.abs(own[:, None] - column[None, :])
        tl.atomic_add(target, grad_columns * scale, mask=kept[:, None] & known[None, :], sem="relaxed")
    store_rows(grad_query, place, grad_content * scale, kept, form)


@triton.jit
def _grade_keys(
    query: tl.tensor,
    key: tl.tensor,
    value: tl.tensor,
    bias: tl.tensor,
    time: tl.tensor,
    channel: tl.tensor,
    log_sum: tl.tensor,
    grad_out: tl.tensor,
    channel_weight: tl.tensor,
    delta: tl.tensor,
    grad_key: tl.tensor,
    grad_value: tl.tensor,
    sizes: tl.tuple,
    tuning_key: tl.tensor,  # noqa: ARG001
    form: tl.tuple,
    BLOCK_M: tl.constexpr,
    BLOCK_C: tl.constexpr,
) -> None:
    a_segment = sizes.n_channels * sizes.n_group
    n_rows = sizes.n_queries * a_segment
    n_tiles = tl.cdiv(sizes.n_channels, BLOCK_C)
    t = tl.program_id(0) // n_tiles
    column = tl.program_id(0) % n_tiles * BLOCK_C + tl.arange(0, BLOCK_C)
    known = column < sizes.n_channels
    token = (tl.program_id(1).to(tl.int64) * sizes.n_segments + t) * sizes.n_channels + column
    key_tile = load_rows(key, token * form.D, known, form)
    values = load_rows(value, token * form.D, known, form)
    scale = tl.full((), form.SCALE, form.ACC)
    grad_key_tile = tl.zeros((BLOCK_C, form.BLOCK_D), form.ACC)
    grad_values = tl.zeros((BLOCK_C, form.BLOCK_D), form.ACC)

    # Rows whose window holds the segment, then those of the last segment where they are others.
    offset = sizes.n_segments - sizes.n_queries
    begin = tl.maximum(t - offset, 0) * a_segment
    end = tl.maximum(tl.minimum(t + sizes.window, sizes.n_segments - 1) - offset + 1, 0) * a_segment
    last = tl.maximum(end, n_rows - a_segment)
    n_blocks = tl.cdiv(end - begin, BLOCK_M)
    for block in range(n_blocks + tl.cdiv(n_rows - last, BLOCK_M)):
        of_last = block >= n_blocks
        index = tl.where(of_last, last + (block - n_blocks) * BLOCK_M, begin + block * BLOCK_M)
        index += tl.arange(0, BLOCK_M)
        real = index < tl.where(of_last, n_rows, end)
        row = tl.minimum(index, n_rows - 1)
        place, own, segment, _ = place_rows(row, sizes, form)
        line = tl.program_id(1).to(tl.int64) * n_rows + row
        content = load_biased(query, place, real, bias + (tl.program_id(1) % sizes.n_kv) * form.D, form)
        grad = load_rows(grad_out, place, real, form)
        time_score = tl.load(time + (line + 1) * sizes.n_segments - 1 - segment + t, mask=real, other=HIDDEN)
        channel_score = score_channels(channel, line, own, column, sizes)
        score = dot(content, tl.trans(key_tile), form) * (scale * LOG2E) + (time_score[:, None] + channel_score)
        weight = tl.exp2(score - tl.load(log_sum + line)[:, None])
        grad_values += dot(tl.trans(weight.to(grad.dtype)), grad, form)
        grad_score = weight * (dot(grad, tl.trans(values), form) - tl.load(delta + line)[:, None])
        grad_key_tile += dot(tl.trans(grad_score.to(content.dtype)), content, form)

    for start_row in range(end, n_rows - a_segment, BLOCK_M):
        index = start_row + tl.arange(0, BLOCK_M)
        real = index < n_rows - a_segment
        row = tl.minimum(index, n_rows - 1)
        place, own, segment, _ = place_rows(row, sizes, form)
        line = tl.program_id(1).to(tl.int64) * n_rows + row
        grad = load_rows(grad_out, place, real, form)
        time_weight = tl.load(time + (line + 1) * sizes.n_segments - 1 - segment + t, mask=real, other=0.0)
        at_channel = (line * sizes.n_channels)[:, None] + column[None, :]
        outer_weight = tl.load(channel_weight + at_channel, mask=known[None, :], other=0.0)
        grad_values += dot(tl.trans((time_weight[:, None] * outer_weight).to(grad.dtype)), grad, form)
    store_rows(grad_key, token * form.D, grad_key_tile * scale, known, form)
    store_rows(grad_value, token * form.D, grad_values, known, form)


_tuned_queries = tuned(_grade_queries, added_to=("grad_time", "grad_channel"))
_tuned_keys = tuned(_grade_keys)


def differentiate(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor,
    tables: Tables,
    log_sum: Tensor,
    out: Tensor,
    grad_out: Tensor,
    sizes: Sizes,
) -> Gradients:
    """Gradients of `attend`, whose arguments and results these are; all contiguous, in its shapes."""
    grads = Gradients(
        torch.empty_like(query),
        torch.empty_like(key),
        torch.empty_like(value),
        torch.zeros_like(tables.time),
        torch.zeros_like(tables.channel),
    )
    channel_weight, delta = torch.empty_like(tables.channel), torch.empty_like(log_sum)
    n = len(log_sum)
    start(
        _tuned_queries,
        by_rows(sizes, n),
        *(query, key, value, bias, *tables, log_sum, out, grad_out),
        *(grads.query, grads.time, grads.channel, channel_weight, delta, sizes, query),
    )
    start(
        _tuned_keys,
        lambda meta: (sizes.n_segments * triton.cdiv(sizes.n_channels, meta["BLOCK_C"]), n),
        *(query, key, value, bias, tables.time, tables.channel, log_sum, grad_out),
        *(channel_weight, delta, grads.key, grads.value, sizes, query),
    )
    return grads
