"""What the Triton kernels of MVPA share: where a row lies, loads and products of tiles, and how a kernel is started.

Letters as in `models.mvpformer.attention`. A row is one query of one query head; the rows of a batch item and key/value
head are numbered (r * C + c) * G + g. Queries, outputs and their gradients lie token by token, (B, R, C, K, G, d), keys
and values by head, (B, K, T, C, d). Scores are in units of log 2, since the kernels work with exp2. Imported on use
only: it needs triton.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from triton.runtime.interpreter import InterpretedFunction

LOG2E = tl.constexpr(math.log2(math.e))
HIDDEN = tl.constexpr(-1e30)  # the score of a key that a row does not see
FLOOR = tl.constexpr(-5e29)  # a row's maximum before any key: so far above HIDDEN that hidden keys weigh nothing
# Small inputs, on which alone the interpreter can be used, shall have several tiles too.
INTERPRETED_TILES = {"BLOCK_M": 16, "BLOCK_C": 16}
# Rows and channels of a tile, warps, stages of the pipeline.
TILES = (
    (32, 16, 2, 3),
    (64, 16, 4, 3),
    (32, 32, 4, 2),
    (64, 32, 4, 3),
    (64, 32, 8, 2),
    (128, 32, 8, 2),
    (64, 64, 4, 2),
    (64, 64, 8, 2),
    (128, 64, 8, 2),
)


class Sizes(NamedTuple):
    """Sizes of one call: K, G, R, T and C of `models.mvpformer.attention`, and its window in segments."""

    n_kv: int
    n_group: int
    n_queries: int
    n_segments: int
    n_channels: int
    window: int


class Form(NamedTuple):
    """What kernels are compiled for: head width and that of its tiles, scale, type of sums, way of multiplying."""

    D: Any
    BLOCK_D: Any
    SCALE: Any
    ACC: Any
    DOT: Any


def device(function: Callable[..., Any]) -> Any:
    """A function that kernels call; left as it is in the interpreter, which is slow to enter a function of its own."""
    return function if triton.knobs.runtime.interpret else triton.jit(function)


def row_count(sizes: Sizes) -> int:
    """Rows of one batch item and key/value head."""
    return sizes.n_queries * sizes.n_channels * sizes.n_group


def is_interpreted(kernel: Any) -> bool:
    """Whether a kernel runs in Triton's interpreter (TRITON_INTERPRET=1), which is for tests."""
    return isinstance(kernel, InterpretedFunction)


def tuned(kernel: Any, added_to: Sequence[str] = ()) -> Any:
    """The kernel with its tiles tried out on first use; `added_to` are the arguments that it adds to."""
    if is_interpreted(kernel):
        return kernel
    return triton.autotune(
        [triton.Config({"BLOCK_M": m, "BLOCK_C": c}, num_warps=w, num_stages=s) for m, c, w, s in TILES],
        key=["tuning_key", "form"],
        reset_to_zero=list(added_to) or None,
        prune_configs_by={"early_config_prune": _narrow_enough},
    )(kernel)


def _narrow_enough(configs: list[Any], arguments: Mapping[str, Any], **_: Any) -> list[Any]:
    """Configurations whose tiles are not wider than the channels need."""
    needed = max(16, triton.next_power_of_2(arguments["sizes"].n_channels))
    return [config for config in configs if config.kwargs["BLOCK_C"] <= needed]


def start(kernel: Any, grid: Callable[[Mapping[str, int]], tuple[int, int]], *arguments: Any, **fixed: Any) -> None:
    """Run a kernel; its last two arguments are the sizes and the tensor whose type and width it is compiled for.

    `fixed` are its tiles where they are not to be tried out.
    """
    *tensors, sizes, example = arguments
    interpreted = is_interpreted(kernel)
    options = INTERPRETED_TILES if interpreted else {"enable_fp_fusion": True, **fixed}
    kernel[grid](*tensors, sizes, _tuning_key(sizes), _form(example, interpreted), **options)


def by_rows(sizes: Sizes, n: int) -> Callable[[Mapping[str, int]], tuple[int, int]]:
    """A grid of one program for each block of rows of each of `n` batch items times key/value heads."""
    return lambda meta: (triton.cdiv(row_count(sizes), meta["BLOCK_M"]), n)


def _tuning_key(sizes: Sizes) -> int:
    """The same for all sizes up to the next power of two: not every count of channels tries out tiles anew."""
    return triton.next_power_of_2(sizes.n_segments) << 16 | triton.next_power_of_2(sizes.n_channels)


def _form(example: torch.Tensor, interpreted: bool) -> Form:
    width = example.shape[-1]
    sums = tl.float64 if example.dtype == torch.float64 else tl.float32
    parts = width, max(16, triton.next_power_of_2(width)), width**-0.5, sums, _dot_precision(example.dtype, interpreted)
    return Form(*(tl.constexpr(part) for part in parts))


def _dot_precision(dtype: torch.dtype, interpreted: bool) -> str:
    """Three products in TF32 make one in float32, unless torch has been told that one will do."""
    if interpreted:
        return "widened"
    if dtype == torch.float32:
        return "tf32x3" if torch.get_float32_matmul_precision() == "highest" else "tf32"
    return "ieee"


@device
def place_rows(row: tl.tensor, sizes: tl.tuple, form: tl.tuple) -> tl.tuple:
    """Of each row: its place in memory, its channel, its segment and the first segment inside its window."""
    batch, kv = tl.program_id(1) // sizes.n_kv, tl.program_id(1) % sizes.n_kv
    token = row // sizes.n_group
    segment = sizes.n_segments - sizes.n_queries + token // sizes.n_channels
    first = tl.where(segment == sizes.n_segments - 1, 0, tl.maximum(segment - sizes.window, 0))
    vector = (batch.to(tl.int64) * sizes.n_queries * sizes.n_channels + token) * sizes.n_kv + kv
    return (vector * sizes.n_group + row % sizes.n_group) * form.D, token % sizes.n_channels, segment, first


@device
def take_rows(sizes: tl.tuple, form: tl.tuple, BLOCK_M: tl.constexpr) -> tl.tuple:
    """Of a program's block of rows: which are there, their lines in the tables and how many lines a plane has.

    Then what `place_rows` gives. Beyond the end stands the last row again, which is not kept.
    """
    n_rows = sizes.n_queries * sizes.n_channels * sizes.n_group
    index = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    row = tl.minimum(index, n_rows - 1)
    place, own, segment, first = place_rows(row, sizes, form)
    line = tl.program_id(1).to(tl.int64) * n_rows + row
    return index < n_rows, line, tl.num_programs(1).to(tl.int64) * n_rows, place, own, segment, first


@device
def load_rows(pointer: tl.tensor, place: tl.tensor, real: tl.tensor, form: tl.tuple) -> tl.tensor:
    """Vectors (n, BLOCK_D) at `place` (n); zeros where not `real` and beyond the head width."""
    column = tl.arange(0, form.BLOCK_D)
    mask = real[:, None]
    if form.D != form.BLOCK_D:
        mask = mask & (column < form.D)[None, :]
    return tl.load(pointer + place[:, None] + column[None, :], mask=mask, other=0.0)


@device
def store_rows(pointer: tl.tensor, place: tl.tensor, vectors: tl.tensor, real: tl.tensor, form: tl.tuple) -> None:
    """Counterpart of `load_rows`."""
    column = tl.arange(0, form.BLOCK_D)
    mask = real[:, None] & (column < form.D)[None, :]
    tl.store(pointer + place[:, None] + column[None, :], vectors.to(pointer.dtype.element_ty), mask=mask)


@device
def load_biased(pointer: tl.tensor, place: tl.tensor, real: tl.tensor, bias: tl.tensor, form: tl.tuple) -> tl.tensor:
    """Queries as by `load_rows` with one of the three learned vectors added, in the type of the queries."""
    column = tl.arange(0, form.BLOCK_D)
    query = load_rows(pointer, place, real, form)
    added = tl.load(bias + column, mask=column < form.D, other=0.0)
    return (query.to(form.ACC) + added.to(form.ACC)[None, :]).to(query.dtype)


@device
def dot(left: tl.tensor, right: tl.tensor, form: tl.tuple) -> tl.tensor:
    """Matrix product; widened because the interpreter multiplies bfloat16 as if it were whole numbers."""
    if form.DOT == "widened":
        return tl.dot(left.to(form.ACC), right.to(form.ACC), out_dtype=form.ACC)
    return tl.dot(left, right, input_precision=form.DOT, out_dtype=form.ACC)


@device
def score_channels(table: tl.tensor, line: tl.tensor, own: tl.tensor, channel: tl.tensor, sizes: tl.tuple) -> tl.tensor:
    """Channel scores (rows, channels) from the table; HIDDEN beyond the last channel."""
    column = sizes.n_channels - 1 - tl.abs(own[:, None] - channel[None, :])
    mask = (channel < sizes.n_channels)[None, :]
    return tl.load(table + (line * sizes.n_channels)[:, None] + column, mask=mask, other=HIDDEN)


@device
def visible_segments(sizes: tl.tuple, BLOCK_M: tl.constexpr) -> tl.tuple:
    """Of a block of rows: the segments that some row sees inside its window, from and to, and the end of the others."""
    a_segment = sizes.n_channels * sizes.n_group
    offset = sizes.n_segments - sizes.n_queries
    lowest = offset + tl.program_id(0) * BLOCK_M // a_segment
    highest = offset + (tl.minimum(tl.program_id(0) * BLOCK_M + BLOCK_M, a_segment * sizes.n_queries) - 1) // a_segment
    last = sizes.n_segments - 1
    begin = tl.where(highest == last, 0, tl.maximum(lowest - sizes.window, 0))
    outer_end = tl.where(lowest == last, 0, tl.maximum(tl.minimum(highest, last - 1) - sizes.window, 0))
    return begin, highest + 1, outer_end
