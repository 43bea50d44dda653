"""aEEG against closed forms: steady sines, a modulated carrier, holes."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.trends.amplitude import (
    ENVELOPE_RATE,
    ENVELOPE_SECONDS,
    PAD_SECONDS,
    envelope,
    margins,
    response,
    scale_position,
)


def times(sfreq: float, seconds: float) -> np.ndarray:
    """From PAD_SECONDS before the first value to PAD_SECONDS after the last one."""
    n = round((seconds + 2 * PAD_SECONDS) * sfreq)
    return np.arange(n) / sfreq - np.ceil(PAD_SECONDS * sfreq) / sfreq


def test_the_filter_rises_by_twelve_decibels_a_decade_and_is_steep_outside():
    assert response(np.array([10.0]))[0] == pytest.approx(1.0)
    inner = 20 * np.log10(response(np.array([4.0, 8.0])))
    assert inner[1] - inner[0] == pytest.approx(12 * np.log10(2), abs=0.1)
    below, above = response(np.array([1.0])) / response(np.array([2.0])), response(np.array([50.0]))
    assert below < 0.1
    assert above < 0.03


@pytest.mark.parametrize("sfreq", [128.0, 200.0, 256.0, 500.0, 1024.0])
@pytest.mark.parametrize("frequency", [5.0, 10.0])
def test_a_steady_sine_reads_as_its_peak_to_peak_value_times_the_gain(sfreq, frequency):
    x = 1000 + 25 * np.sin(2 * np.pi * frequency * times(sfreq, 20.0))
    found = envelope(x[None].astype(np.float32), sfreq, 160)
    # Where samples fall on the same phases in each period, their mean misses that of the curve by up to 0.9 %.
    np.testing.assert_allclose(found, 50 * response(np.array([frequency]))[0], rtol=9e-3)


def test_the_margins_of_a_modulated_carrier_follow_from_its_modulation():
    """A (1 + m cos 2 pi F t) at 10 Hz: half a second's mean leaves m sinc(F / 2), and the margins are its deciles."""
    amplitude, depth, slow = 30.0, 0.6, 0.2
    t = times(256.0, 60.0)
    x = amplitude * (1 + depth * np.cos(2 * np.pi * slow * t)) * np.sin(2 * np.pi * 10 * t)
    found = margins(envelope(x[None].astype(np.float32), 256.0, 480).reshape(1, 4, 120))
    centre = (np.arange(480) + 0.5) / ENVELOPE_RATE
    smoothed = 1 + depth * np.sinc(slow * ENVELOPE_SECONDS) * np.cos(2 * np.pi * slow * centre)
    expected = np.percentile(2 * amplitude * smoothed.reshape(4, 120), [10, 90], axis=1).T
    np.testing.assert_allclose(found[0], expected, rtol=5e-3)


def test_a_value_stands_for_the_time_about_it():
    t = times(256.0, 30.0)
    x = np.where((t >= 10) & (t < 20), 1.0, 0.1) * 40 * np.sin(2 * np.pi * 10 * t)
    found = envelope(x[None].astype(np.float32), 256.0, 240)[0]
    centre = (np.arange(240) + 0.5) / ENVELOPE_RATE
    assert (found[(centre > 10.5) & (centre < 19.5)] > 76).all()
    assert (found[(centre < 9.5) | (centre > 20.5)] < 12).all()
    assert np.interp(10.0, centre, found) == pytest.approx(44, abs=4)


def test_near_what_is_missing_there_is_no_envelope_and_beyond_it_is_right():
    x = 25 * np.sin(2 * np.pi * 10 * times(200.0, 30.0))[None].repeat(2, axis=0)
    hole = slice(round((PAD_SECONDS + 10) * 200), round((PAD_SECONDS + 12) * 200))
    x[0, hole] = np.nan
    found = envelope(x.astype(np.float32), 200.0, 240)
    centre = (np.arange(240) + 0.5) / ENVELOPE_RATE
    gone = (centre > 9) & (centre < 13)
    np.testing.assert_array_equal(np.isnan(found[0]), gone)
    np.testing.assert_allclose(found[0, ~gone], 50, rtol=0.01)
    np.testing.assert_allclose(found[1], 50, rtol=9e-3)


def test_margins_are_percentiles_of_what_is_there():
    values = np.random.default_rng(1).random((2, 3, 120)).astype(np.float32)
    expected = np.moveaxis(np.percentile(values, [10, 90], axis=2), 0, 2)
    np.testing.assert_allclose(margins(values), expected, rtol=1e-5)
    values[0, 0, :60] = np.nan
    values[0, 1, :100] = np.nan
    values[0, 2] = np.nan
    found = margins(values)
    np.testing.assert_allclose(found[0, 0], np.percentile(values[0, 0, 60:], [10, 90]), rtol=1e-5)
    assert np.isnan(found[0, 1:]).all()


def test_the_scale_is_linear_to_ten_and_logarithmic_to_a_hundred():
    np.testing.assert_allclose(scale_position([0, 5, 10, np.sqrt(1000), 100, 500]), [0, 0.25, 0.5, 0.75, 1, 1])
