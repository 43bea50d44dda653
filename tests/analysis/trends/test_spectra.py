"""Spectra of short windows: Parseval, an independent Welch, and what is derived from bands."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.trends.spectra import (
    BANDS,
    FREQUENCIES,
    STEP_HZ,
    alpha_delta_ratio,
    asymmetry,
    band_powers,
    decibels,
    window_densities,
)

SFREQ = 256.0
RNG = np.random.default_rng(4)


def sine(frequency: float, amplitude: float, seconds: float = 2.0, phase: float = 0.3) -> np.ndarray:
    t = np.arange(round(seconds * SFREQ)) / SFREQ
    return (amplitude * np.sin(2 * np.pi * frequency * t + phase)).astype(np.float32)


@pytest.mark.parametrize(
    ("frequency", "band"), [(2.0, "delta"), (3.0, "delta"), (5.5, "theta"), (10.0, "alpha"), (20.0, "beta")]
)
def test_a_sine_has_half_its_squared_amplitude_in_its_band_and_nothing_elsewhere(frequency, band):
    powers = dict(zip(BANDS, band_powers(window_densities(sine(frequency, 40.0), SFREQ)).tolist(), strict=True))
    assert powers.pop(band) == pytest.approx(800.0, rel=1e-4)
    assert max(powers.values()) < 800.0 * 1e-6


@pytest.mark.parametrize("sfreq", [100.0, 199.7, 256.0, 1000.0])
def test_densities_are_those_of_an_independent_welch(sfreq):
    signal = pytest.importorskip("scipy.signal")
    n = round(2 * sfreq)
    x = (RNG.standard_normal((3, 10 * n)) * 20 + 1000).astype(np.float32)
    found = window_densities(x.reshape(3, 10, n), sfreq).mean(axis=1)
    expected = signal.welch(x.astype(np.float64), sfreq, window="hann", nperseg=n, noverlap=0)[1][:, 1:61]
    np.testing.assert_allclose(found, expected, rtol=2e-4)


def test_the_highest_frequency_of_a_slow_recording_is_counted_once():
    signal = pytest.importorskip("scipy.signal")
    x = RNG.standard_normal((1, 80)).astype(np.float32) * 30
    found = window_densities(x, 40.0)[0]
    expected = signal.welch(x[0].astype(np.float64), 40.0, nperseg=80)[1][1:]
    np.testing.assert_allclose(found[:40], expected, rtol=1e-3)
    assert np.isnan(found[40:]).all()


def test_windows_that_lack_a_sample_or_are_flat_have_no_density():
    windows = np.stack([sine(10, 30), sine(10, 30), np.full(512, 7.0, np.float32)])
    windows[1, 100] = np.nan
    density = window_densities(windows, SFREQ)
    assert np.isfinite(density[0]).all()
    assert np.isnan(density[1:]).all()


def test_alpha_over_delta_of_two_sines_is_the_ratio_of_their_squares():
    powers = band_powers(window_densities(sine(10, 30) + sine(2, 60), SFREQ))
    assert alpha_delta_ratio(powers) == pytest.approx(0.25, rel=1e-4)
    assert np.isnan(alpha_delta_ratio(np.full(4, np.nan)))
    assert np.isnan(alpha_delta_ratio(np.zeros(4)))


def test_asymmetry_is_signed_and_bounded():
    left, right = np.array([1.0, 3.0, 1.0, 0.0, 0.0, np.nan]), np.array([1.0, 1.0, 3.0, 2.0, 0.0, 1.0])
    np.testing.assert_allclose(asymmetry(left, right), [0, -0.5, 0.5, 1, np.nan, np.nan])


def test_bands_that_touch_share_nothing():
    density = RNG.random(60).astype(np.float32)
    total = density[(FREQUENCIES >= 1) & (FREQUENCIES < 30)].sum() * STEP_HZ
    assert band_powers(density).sum() == pytest.approx(total, rel=1e-6)


def test_decibels_have_a_floor_and_keep_holes():
    np.testing.assert_allclose(decibels(np.array([100.0, 1.0, 0.0, np.nan])), [20, 0, -60, np.nan], atol=1e-5)
