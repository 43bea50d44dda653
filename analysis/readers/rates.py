"""Bringing samples of one rate to the grid of another, so that a sample's value never depends on the page."""

from __future__ import annotations

import math

import numpy as np

_ROUNDING = 1e-6


def source_range(start: int, stop: int, ratio: float, length: int) -> tuple[int, int]:
    """Source samples needed for target samples [start, stop); `ratio` is source rate over target rate."""
    if ratio > 1:
        first, last = first_at_or_after(start * ratio), first_at_or_after(stop * ratio)
    else:
        first, last = math.floor(start * ratio + _ROUNDING), math.floor((stop - 1) * ratio + _ROUNDING) + 2
    return min(first, length), min(last, length)


def resample(source: np.ndarray, first: int, start: int, stop: int, ratio: float) -> np.ndarray:
    """Target samples [start, stop) as float32, from `source` (channels, samples) whose first sample is `first`.

    A lower rate is interpolated linearly and its last sample held; of a higher rate the samples are averaged that lie
    within each target sample.
    """
    if source.shape[1] == 0:
        return np.full((source.shape[0], stop - start), np.nan, np.float32)
    targets = np.arange(start, stop)
    if ratio > 1:
        edges = np.ceil(np.arange(start, stop + 1) * ratio - _ROUNDING).astype(np.intp) - first
        edges = np.minimum(edges, source.shape[1])
        begins = np.minimum(edges[:-1], source.shape[1] - 1)
        sums = np.add.reduceat(source, begins, axis=1, dtype=np.float64)
        counts = np.diff(np.append(begins, source.shape[1]))
        return (sums / np.maximum(counts, 1)).astype(np.float32)
    place = targets * ratio - first
    left = np.clip(np.floor(place + _ROUNDING).astype(np.intp), 0, source.shape[1] - 1)
    right = np.minimum(left + 1, source.shape[1] - 1)
    weight = np.clip(place - left, 0.0, 1.0).astype(np.float32)
    return (source[:, left] * (1 - weight) + source[:, right] * weight).astype(np.float32)


def first_at_or_after(position: float) -> int:
    """The first whole sample at or after a place, where rounding errors of seconds times rate do not count."""
    return math.ceil(position - _ROUNDING)
