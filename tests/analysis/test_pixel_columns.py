"""Columns against the polyline sampled very densely."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.pixel_columns import columns, merge_columns


def dense_columns(samples: np.ndarray, borders: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Extremes by brute force: every border, every sample, joined by straight lines."""
    n = samples.shape[0]
    lo, hi = [], []
    for left, right in pairwise(borders):
        a, z = max(left, 0.0), min(right, n - 1.0)
        points = np.array([a, *np.arange(np.ceil(a), np.floor(z) + 1), z])
        values = np.stack([np.interp(points, np.arange(n), row) for row in samples.T])
        lo.append(values.min(axis=1))
        hi.append(values.max(axis=1))
    return np.array(lo), np.array(hi)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 300),
    count=st.integers(1, 120),
    offset=st.floats(0.0, 0.99),
    seed=st.integers(0, 1000),
)
def test_columns_hold_the_polyline(n: int, count: int, offset: float, seed: int) -> None:
    samples = np.random.default_rng(seed).standard_normal((n, 3)).astype(np.float32)
    borders = np.linspace(offset, max(offset + 0.01, n - 1), count + 1)
    lo, hi = columns(samples, borders)
    true_lo, true_hi = dense_columns(samples, borders)
    exact = (borders[-1] - borders[0]) <= 6 * count
    assert (lo <= true_lo + 1e-5).all()
    assert (hi >= true_hi - 1e-5).all()
    if exact:
        np.testing.assert_allclose(lo, true_lo, atol=1e-5)
        np.testing.assert_allclose(hi, true_hi, atol=1e-5)
    elif count > 12:
        # Too large by at most a third of a column, and the sample that rounding adds.
        reach = (borders[1] - borders[0]) / 3 + 1
        wide = np.array([max(0.0, borders[5] - reach), min(n - 1.0, borders[6] + reach)])
        wide_lo, wide_hi = dense_columns(samples, wide)
        assert (lo[5] >= wide_lo[0] - 1e-5).all()
        assert (hi[5] <= wide_hi[0] + 1e-5).all()


@pytest.mark.parametrize("n", [5000, 5001, 12_347])
@pytest.mark.parametrize("holed", [False, True])
def test_columns_of_very_many_samples_hold_each_of_them(n: int, holed: bool) -> None:
    samples = np.random.default_rng(n).standard_normal((n, 2)).astype(np.float32)
    if holed:
        samples[100:900, 0] = np.nan
    for peak in (0, n // 2, n - 1):
        samples[peak] = 9.0 + peak / n
    lo, hi = columns(samples, np.linspace(0, n - 1, 4))
    assert np.nanmax(hi, axis=0).tolist() == np.nanmax(samples, axis=0).tolist()
    assert np.nanmin(lo, axis=0).tolist() == np.nanmin(samples, axis=0).tolist()
    assert hi[0].min() >= 9.0


def test_columns_outside_the_signal_are_empty() -> None:
    samples = np.ones((11, 1), np.float32)
    lo, hi = columns(samples, np.arange(-5.0, 20.0))
    filled = np.flatnonzero(~np.isnan(lo[:, 0]))
    assert filled[0] == 4  # the column [-1, 0] touches the first sample
    assert filled[-1] == 15
    np.testing.assert_array_equal(np.isnan(lo), np.isnan(hi))


@pytest.mark.parametrize("count", [40, 4])
def test_lines_never_cross_a_gap(count: int) -> None:
    samples = np.ones((201, 2), np.float32)
    samples[80:120, 0] = np.nan
    lo, hi = columns(samples, np.linspace(0, 200, count + 1))
    inside = np.linspace(0, 200, count + 1)
    wholly = (inside[:-1] >= 80) & (inside[1:] <= 119)
    assert np.isnan(lo[wholly, 0]).all()
    assert np.isnan(hi[wholly, 0]).all()
    assert (lo[~wholly & (inside[1:] <= 79), 0] == 1).all()
    assert (hi[:, 1] == 1).all()


def test_single_sample_is_a_point() -> None:
    lo, hi = columns(np.full((1, 1), 5.0, np.float32), np.array([0.0, 1.0]))
    assert lo[0, 0] == hi[0, 0] == 5.0


def test_blocks_make_the_page_that_one_piece_makes() -> None:
    """Columns of two blocks that share a sample, merged, equal those of the whole."""
    samples = np.random.default_rng(1).standard_normal((101, 4)).astype(np.float32)
    seconds = 1.7
    pieces = []
    for a, z in ((0, 50), (50, 100)):
        first, last = int(a // seconds), int(z // seconds)
        borders = np.arange(first, last + 2) * seconds - a
        pieces.append((first, *columns(samples[a : z + 1], borders)))
    lo, hi = merge_columns(pieces, 0, 58, 4)
    true_lo, true_hi = columns(samples, np.arange(59) * seconds)
    np.testing.assert_allclose(lo, true_lo, atol=1e-5)
    np.testing.assert_allclose(hi, true_hi, atol=1e-5)


def test_missing_pieces_stay_empty() -> None:
    piece = (2, np.ones((3, 1), np.float32), np.ones((3, 1), np.float32))
    lo, _ = merge_columns([piece], 0, 8, 1)
    assert np.flatnonzero(~np.isnan(lo[:, 0])).tolist() == [2, 3, 4]
    lo, hi = merge_columns([], 0, 8, 3)
    assert lo.shape == hi.shape == (8, 3)
    assert np.isnan(lo).all()
