"""From bins of time to columns of pixels."""

from __future__ import annotations

import numpy as np

from analysis.trends.columns import column_extremes, column_means, mean_decibels

RNG = np.random.default_rng(6)


def test_each_bin_counts_in_one_column_and_holes_are_passed_over():
    values = np.array([1.0, 3.0, np.nan, 5.0, np.nan, np.nan, 7.0, 9.0])
    np.testing.assert_allclose(column_means(values, 2.0, np.arange(0, 17, 4.0)), [2, 5, np.nan, 8])
    np.testing.assert_allclose(column_means(values, 2.0, np.array([0.0, 6.0, 16.0])), [2, 7])


def test_columns_shorter_than_bins_repeat_them():
    found = column_means(np.array([1.0, 2.0, 4.0]), 15.0, np.arange(0, 46, 5.0))
    np.testing.assert_allclose(found, np.repeat([1, 2, 4], 3))


def test_outside_the_recording_there_is_nothing():
    found = column_means(np.array([1.0, 2.0]), 10.0, np.arange(-20, 41, 10.0))
    np.testing.assert_allclose(found, [np.nan, np.nan, 1, 2, np.nan, np.nan])
    assert np.isnan(column_means(np.array([1.0]), 10.0, np.array([50.0, 60.0]))).all()
    assert np.isnan(mean_decibels(np.ones((1, 3), np.float16), 10.0, np.array([50.0, 60.0]))).all()


def test_the_mean_of_many_bins_is_that_of_numpy():
    values = RNG.random((1000, 3))
    found = column_means(values, 2.0, np.linspace(0, 2000, 51))
    np.testing.assert_allclose(found, values.reshape(50, 20, 3).mean(axis=1), rtol=1e-6)


def test_extremes_keep_a_single_outlier():
    low, high = RNG.random(600) + 5, RNG.random(600) + 10
    high[123], low[321] = 90, 1
    least, greatest = column_extremes(low, high, 15.0, np.linspace(0, 9000, 61))
    np.testing.assert_allclose(least, low.reshape(60, 10).min(axis=1), rtol=1e-6)
    np.testing.assert_allclose(greatest, high.reshape(60, 10).max(axis=1), rtol=1e-6)
    assert (greatest[12], least[32]) == (90, 1)


def test_decibels_are_averaged_as_power():
    decibels = np.array([[10.0, 20.0], [20.0, 20.0], [np.nan, np.nan], [0.0, 10.0]], np.float16)
    found = mean_decibels(decibels, 2.0, np.array([0.0, 4.0, 8.0]))
    np.testing.assert_allclose(found, [[10 * np.log10(55), 20], [0, 10]], atol=1e-4)
    np.testing.assert_allclose(mean_decibels(decibels, 2.0, np.arange(0, 9, 2.0)), decibels)
