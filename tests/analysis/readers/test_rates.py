"""Changing rates: closed forms, and values that never depend on the window they are asked in."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from analysis.readers.rates import first_at_or_after, resample, source_range


def brought(source: np.ndarray, ratio: float, start: int, stop: int) -> np.ndarray:
    first, last = source_range(start, stop, ratio, source.shape[1])
    return resample(source[:, first:last], first, start, stop, ratio)


def test_lower_rates_are_interpolated_as_numpy_does() -> None:
    source = np.random.default_rng(0).normal(size=(2, 30)).astype(np.float32)
    expected = [np.interp(np.arange(300) * 0.1, np.arange(30), row) for row in source]
    np.testing.assert_allclose(brought(source, 0.1, 0, 300), expected, atol=1e-6)


def test_higher_rates_are_averaged() -> None:
    source = np.arange(40, dtype=np.float32).reshape(1, 40)
    np.testing.assert_allclose(brought(source, 4.0, 0, 10)[0], np.arange(10) * 4 + 1.5)
    # 2.5 samples each: those whose time lies within, three and two in turn
    np.testing.assert_allclose(brought(source, 2.5, 0, 4)[0], [1.0, 3.5, 6.0, 8.5])


@given(
    st.sampled_from([1 / 256, 25 / 256, 0.5, 1.0, 2.0, 512 / 200, 3.0, 30000 / 256]),
    st.integers(0, 300),
    st.integers(1, 60),
)
def test_a_sample_has_one_value_wherever_the_page_begins(ratio: float, start: int, length: int) -> None:
    stop = min(start + length, 360)
    start = min(start, stop - 1)
    n = int(np.ceil(360 * ratio)) + 1
    source = np.random.default_rng(1).normal(size=(1, n)).astype(np.float32)
    np.testing.assert_array_equal(brought(source, ratio, start, stop), brought(source, ratio, 0, 360)[:, start:stop])


def test_rounding_of_seconds_does_not_lose_a_sample() -> None:
    assert first_at_or_after(0.1 * 3 * 10) == 3
    assert first_at_or_after(2.0001) == 3
