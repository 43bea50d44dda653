"""Minimum and maximum of a polyline in each pixel column, which is all that a screen can show of a signal.

Columns are numbered from the start of the recording: column p covers [p, p + 1) * seconds. So the columns of a block
of signal are the same on every page of that length, and pages are put together from them.
"""

from __future__ import annotations

import numpy as np

_EXACT_SAMPLES = 6
_BINS_PER_COLUMN = 3
_MOST_STEPS = 64  # samples of a bin that are gone through one by one


def columns(samples: np.ndarray, borders: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Reach of the polyline through `samples` (n, rows) between neighbouring `borders` (columns + 1,).

    Borders are positions in samples, rising. Returns lo, hi, float32 (columns, rows); NaN where the polyline has no
    part. Exact up to 6 samples a column; beyond, never too small, and too large by at most a third of a column. A
    line from or to a NaN sample is not drawn.
    """
    n = samples.shape[0]
    count = borders.size - 1
    if n == 1:
        samples = np.concatenate([samples, samples])
        n = 2
    inside = (borders[1:] >= 0) & (borders[:-1] <= n - 1)
    span = np.clip(borders, 0, n - 1)
    gaps = bool(np.isnan(samples).any())
    if span[-1] - span[0] > _EXACT_SAMPLES * count:
        lo, hi = _from_bins(samples, span, gaps)
    else:
        lo, hi = _from_lines(samples, span, gaps)
    if not inside.all():
        lo[~inside] = np.nan
        hi[~inside] = np.nan
    return lo, hi


def _from_lines(x: np.ndarray, u: np.ndarray, gaps: bool) -> tuple[np.ndarray, np.ndarray]:
    """Extremes of the values at the borders and of the samples between them."""
    least, most = (np.fmin, np.fmax) if gaps else (np.minimum, np.maximum)
    i = np.minimum(u.astype(np.intp), x.shape[0] - 2)
    at_border = x.take(i + 1, axis=0)
    before = x.take(i, axis=0)
    at_border -= before
    at_border *= (u - i).astype(np.float32)[:, None]
    at_border += before
    lo, hi = least(at_border[:-1], at_border[1:]), most(at_border[:-1], at_border[1:])
    first, last = np.ceil(u[:-1]).astype(np.intp), np.floor(u[1:]).astype(np.intp)
    dense = bool((first <= last).all())
    for o in range(int((last - first).max()) + 1):
        index = first + o
        if dense:  # where a column has fewer samples, its last one is taken again
            value = x.take(np.minimum(index, last), axis=0)
        else:
            here = index <= last
            value = x.take(np.where(here, index, 0), axis=0)
            value[~here] = at_border[:-1][~here]
        least(lo, value, out=lo)
        most(hi, value, out=hi)
    return lo, hi


def _from_bins(x: np.ndarray, u: np.ndarray, gaps: bool) -> tuple[np.ndarray, np.ndarray]:
    """Extremes of whole bins of k samples, about three a column, every bin that a column touches."""
    least, most = (np.fmin, np.fmax) if gaps else (np.minimum, np.maximum)
    count = u.size - 1
    base = int(u[0])
    top = min(x.shape[0], int(np.ceil(u[-1])) + 1)
    x = x[base:top]
    u = u - base
    k = max(1, int((u[-1] - u[0]) // (_BINS_PER_COLUMN * count)))
    m = x.shape[0] // k
    blocks = x[: m * k].reshape(m, k, x.shape[1])
    bin_lo, bin_hi = _reduced(blocks, least), _reduced(blocks, most)
    if m * k < x.shape[0]:
        bin_lo = np.concatenate([bin_lo, least.reduce(x[m * k :], axis=0)[None]])
        bin_hi = np.concatenate([bin_hi, most.reduce(x[m * k :], axis=0)[None]])
    first = np.minimum((u[:-1] / k).astype(np.intp), bin_lo.shape[0] - 1)
    # Up to the sample after the border, so that the line across it is covered on both sides.
    last = np.minimum((np.ceil(u[1:]) / k).astype(np.intp), bin_lo.shape[0] - 1)
    lo, hi = bin_lo.take(first, axis=0), bin_hi.take(first, axis=0)
    for o in range(1, int((last - first).max()) + 1):
        index = np.minimum(first + o, last)
        least(lo, bin_lo.take(index, axis=0), out=lo)
        most(hi, bin_hi.take(index, axis=0), out=hi)
    return lo, hi


def _reduced(blocks: np.ndarray, operation: np.ufunc) -> np.ndarray:
    """Extremes of blocks (bins, samples, rows) over their samples; with few rows numpy's own reduction is slow."""
    while blocks.shape[1] > _MOST_STEPS:
        half, odd = divmod(blocks.shape[1], 2)
        folded = operation(blocks[:, :half], blocks[:, half : 2 * half])
        if odd:
            operation(folded[:, 0], blocks[:, -1], out=folded[:, 0])
        blocks = folded
    reduced = blocks[:, 0].copy()
    for j in range(1, blocks.shape[1]):
        operation(reduced, blocks[:, j], out=reduced)
    return reduced


def merge_columns(
    pieces: list[tuple[int, np.ndarray, np.ndarray]], first: int, count: int, rows: int
) -> tuple[np.ndarray, np.ndarray]:
    """Put pieces (number of their first column, lo, hi) together to `count` columns from number `first` on.

    Pieces come in order of time; neighbours may share a column, which then covers both. Columns that no piece has are
    NaN. Returns lo, hi, float32 (count, rows).
    """
    lo = np.full((count, rows), np.nan, np.float32)
    hi = np.full((count, rows), np.nan, np.float32)
    filled_to = 0
    for number, piece_lo, piece_hi in pieces:
        a, z = max(number, first), min(number + piece_lo.shape[0], first + count)
        if z <= a:
            continue
        target, source = slice(a - first, z - first), slice(a - number, z - number)
        shared = max(0, min(filled_to, z - first) - (a - first))
        kept_lo, kept_hi = lo[a - first : a - first + shared].copy(), hi[a - first : a - first + shared].copy()
        lo[target], hi[target] = piece_lo[source], piece_hi[source]
        if shared:
            np.fmin(lo[a - first : a - first + shared], kept_lo, out=lo[a - first : a - first + shared])
            np.fmax(hi[a - first : a - first + shared], kept_hi, out=hi[a - first : a - first + shared])
        filled_to = z - first
    return lo, hi
