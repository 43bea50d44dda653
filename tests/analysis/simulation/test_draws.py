"""Noise with the spectrum that was asked for, and streams that leave each other alone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import signal

from analysis.simulation.draws import (
    SLOW_RATE,
    band,
    below,
    between,
    coloured,
    log_uniform,
    logistic,
    one_over_f,
    slow_course,
    stream,
    switching,
)


def test_streams_are_equal_for_equal_names_only():
    def first(*name) -> float:
        return stream(*name).random()

    assert first(1, "alpha") == first(1, "alpha")
    assert len({first(1, "alpha"), first(2, "alpha"), first(1, "beta"), first(1, "alpha", 1)}) == 4


@pytest.mark.parametrize("curve", [one_over_f(1.8, 1.0), band(10, 0.7), between(20, 90), below(0.4)])
def test_noise_has_an_sd_of_one_and_its_spectrum(curve):
    noise = coloured(np.random.default_rng(0), 60, 20_000, 200, curve)
    assert noise.dtype == np.float32
    assert noise.std() == pytest.approx(1, rel=0.03)
    f, power = signal.welch(noise.astype(float), 200, nperseg=20_000, window="boxcar", detrend=False)
    expected = curve(f) ** 2
    expected[0] = 0
    seen = expected > 0.05 * expected.max()
    ratio = power.mean(0)[seen] / expected[seen]
    assert ratio / ratio.mean() == pytest.approx(1, abs=0.75)
    assert np.corrcoef(power.mean(0), expected)[0, 1] > 0.97


def test_the_sd_counts_the_band_that_is_asked_for():
    noise = coloured(np.random.default_rng(0), 40, 20_000, 200, one_over_f(2.0, 0.8), (1.0, 45.0))
    f, power = signal.periodogram(noise.astype(float), 200)
    inside = (f >= 1) & (f <= 45)
    assert np.sqrt(power[:, inside].sum(1).mean() * f[1]) == pytest.approx(1, rel=0.02)
    assert noise.std() > 1.2


def test_a_slow_course_forgets_with_its_time_constant():
    course = slow_course(np.random.default_rng(0), 40_000, 5.0)
    lag = int(5 * SLOW_RATE)
    assert course.std() == pytest.approx(1, abs=0.05)
    assert np.corrcoef(course[:-lag], course[lag:])[0, 1] == pytest.approx(np.exp(-1), abs=0.04)


def test_a_log_uniform_number_has_its_middle_at_the_geometric_mean():
    rng = np.random.default_rng(0)
    drawn = [log_uniform(rng, 4, 64) for _ in range(4000)]
    assert np.median(drawn) == pytest.approx(16, rel=0.08)
    assert 4 <= min(drawn) < 4.2
    assert 60 < max(drawn) <= 64


def test_states_last_as_long_as_told_and_never_overlap():
    spans = switching(np.random.default_rng(0), 200_000, 60.0)
    assert np.mean([stop - start for start, stop in spans]) == pytest.approx(60, rel=0.08)
    assert min(stop - start for start, stop in spans) >= 9.9
    assert all(before[1] < after[0] for before, after in pairwise(spans))


def test_the_logistic_is_right_and_never_overflows():
    with np.errstate(all="raise"):
        assert logistic(np.array([-1e9, 0, np.log(3), 1e9])) == pytest.approx([0, 0.5, 0.75, 1])
