"""Trends brought to the pixels of a screen: the mean of the bins in each column, and their extremes."""

from __future__ import annotations

import numpy as np


def column_means(values: np.ndarray, bin_seconds: float, borders: np.ndarray) -> np.ndarray:
    """Mean of the bins in each column of time: values (bins, …), borders (columns + 1,) in seconds -> (columns, …).

    A bin belongs to the column in which it begins; where columns are shorter than bins, each takes the bin it begins
    in. NaN are passed over, and stay where a column has nothing else or lies outside.
    """
    base, starts, inside = _segments(borders, bin_seconds, values.shape[0])
    part = values[base]
    there = ~np.isnan(part)
    total = np.add.reduceat(np.where(there, part, 0).astype(np.float64), starts, axis=0)
    count = np.add.reduceat(there.astype(np.int64), starts, axis=0)
    return _placed(np.where(count > 0, total / np.maximum(count, 1), np.nan), inside)


def column_extremes(
    least: np.ndarray, greatest: np.ndarray, bin_seconds: float, borders: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The least of `least` and the greatest of `greatest`, both (bins,), in each column; see `column_means`."""
    base, starts, inside = _segments(borders, bin_seconds, least.shape[0])
    low, high = np.fmin.reduceat(least[base], starts), np.fmax.reduceat(greatest[base], starts)
    return _placed(low, inside), _placed(high, inside)


def mean_decibels(decibels: np.ndarray, bin_seconds: float, borders: np.ndarray) -> np.ndarray:
    """`column_means` of what decibels stand for, in decibels again: (bins, frequencies) -> float32 (columns, …)."""
    base, starts, inside = _segments(borders, bin_seconds, decibels.shape[0])
    power = np.exp2(decibels[base].astype(np.float32) * np.float32(np.log2(10) / 10))
    if starts.size == power.shape[0] and (np.diff(starts) == 1).all():
        return _placed(decibels[base].astype(np.float32), inside)
    there = ~np.isnan(power[:, 0])  # a bin has all its frequencies or none
    power[~there] = 0
    total = np.add.reduceat(power, starts, axis=0)
    count = np.add.reduceat(there.astype(np.int64), starts)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = 10 * np.log10(total / count, dtype=np.float32)
    return _placed(np.where(count > 0, mean, np.nan).astype(np.float32), inside)


def _segments(borders: np.ndarray, bin_seconds: float, n: int) -> tuple[slice, np.ndarray, np.ndarray]:
    """The bins that any column needs, the first of each column among them (columns inside,), and which are inside."""
    first = np.floor(borders / bin_seconds + 1e-9).astype(np.intp)
    inside = (first[:-1] >= 0) & (first[:-1] < n)
    if not inside.any():
        return slice(0, 0), np.empty(0, np.intp), inside
    starts = first[:-1][inside]
    end = min(n, max(int(first[1:][inside][-1]), int(starts[-1]) + 1))
    return slice(int(starts[0]), end), starts - starts[0], inside


def _placed(found: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Columns inside the recording put among those that are not, which are NaN."""
    out = np.full((inside.size, *found.shape[1:]), np.nan, np.float32)
    out[inside] = found
    return out
