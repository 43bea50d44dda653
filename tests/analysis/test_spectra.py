"""Spectra against scipy.signal, Parseval's theorem and signals whose power is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal

from analysis.errors import AnalysisError
from analysis.spectra import (
    BANDS,
    Band,
    alpha_peak,
    average_density,
    band_power,
    decibels,
    dominant_peak,
    periodograms,
    place_segments,
    reach,
    segment_seconds,
    spectrogram,
    spectrogram_segments,
    welch_segments,
)

SFREQ = 200.0


def noise(rows: int, seconds: float, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((rows, round(seconds * SFREQ)))


def reader(data: np.ndarray):
    return lambda start, stop: data[:, start:stop]


def density_of(data: np.ndarray, seconds: float = 4.0):
    return average_density(reader(data), welch_segments(0, data.shape[1], SFREQ, seconds), SFREQ)


@pytest.mark.parametrize(("seconds", "window"), [(20.0, 4.0), (9.0, 4.0), (5.0, 2.5), (1.37, 1.0), (30.0, 1.005)])
def test_density_is_that_of_scipy(seconds, window):
    data = noise(3, seconds) + 40.0
    found = density_of(data, window)
    frequencies, expected = signal.welch(data, SFREQ, "hann", round(window * SFREQ))
    np.testing.assert_allclose(found.frequencies, frequencies, rtol=1e-12)
    np.testing.assert_allclose(found.power, expected, rtol=1e-9, atol=1e-15)


def test_density_does_not_depend_on_how_it_is_read_in_chunks(monkeypatch):
    data = noise(2, 40.0)
    whole = density_of(data)
    monkeypatch.setattr("analysis.spectra._CHUNK_BYTES", 1)
    np.testing.assert_allclose(density_of(data).power, whole.power, rtol=1e-12)


def test_sum_of_a_density_is_the_variance_of_the_windowed_signal():
    # Parseval: for any signal the one-sided density adds up to the mean square of the tapered window, taper undone.
    window = noise(1, 3.0)[0]
    taper = signal.get_window("hann", window.size)
    power = periodograms(window, SFREQ).sum() * SFREQ / window.size
    tapered = (window - window.mean()) * taper
    assert power == pytest.approx(np.mean(tapered**2) / np.mean(taper**2), rel=1e-12)


@pytest.mark.parametrize(("frequency", "band"), [(2.0, "delta"), (6.0, "theta"), (10.0, "alpha"), (20.0, "beta")])
def test_all_power_of_a_sine_lies_in_its_band(frequency, band):
    time = np.arange(round(20 * SFREQ)) / SFREQ
    found = density_of(30.0 * np.sin(2 * np.pi * frequency * time)[None])
    powers = {b.name: band_power(found.frequencies, found.power[0], b) for b in BANDS}
    assert powers.pop(band) == pytest.approx(30.0**2 / 2, rel=1e-9)
    assert all(power < 1e-9 for power in powers.values())


def test_level_of_white_noise_is_its_variance_over_the_nyquist_frequency():
    found = density_of(5.0 * noise(40, 60.0))
    inner = found.power[:, 2:-2].mean()  # 40 rows x 29 windows: a standard error of about 0.2 %
    assert inner == pytest.approx(25.0 / (SFREQ / 2), rel=0.01)


def test_adjoining_bands_count_no_power_twice():
    found = density_of(noise(1, 20.0))
    parts = sum(band_power(found.frequencies, found.power[0], band) for band in BANDS)
    assert parts == pytest.approx(band_power(found.frequencies, found.power[0], Band("all", 0.5, 80.0)), rel=1e-12)


def test_windows_that_hold_a_gap_are_left_out_of_their_row_only():
    data = noise(2, 20.0)
    data[1, 900:1000] = np.nan
    found = density_of(data)
    assert found.counts.tolist() == [9, 7]  # windows of 800 samples every 400; two hold the gap
    kept = [data[1, s : s + 800] for s in range(0, 3201, 400) if not np.isnan(data[1, s : s + 800]).any()]
    np.testing.assert_allclose(found.power[1], np.mean(periodograms(np.array(kept), SFREQ), axis=0), rtol=1e-12)


def test_a_row_without_signal_has_no_density():
    data = noise(2, 10.0)
    data[0] = np.nan
    found = density_of(data)
    assert found.counts[0] == 0
    assert np.isnan(found.power[0]).all()
    assert np.isfinite(found.power[1]).all()


@pytest.mark.parametrize(("span", "window"), [(60.0, 4.0), (8.0, 4.0), (5.0, 2.5), (1.5, 1.0), (1.0, 1.0)])
def test_windows_are_four_seconds_or_half_of_a_short_span(span, window):
    assert segment_seconds(span) == window


def test_a_span_below_a_second_is_refused_in_words():
    with pytest.raises(AnalysisError, match=r"at least 1 s, and this span is 0\.40 s"):
        segment_seconds(0.4)


def test_a_long_span_is_thinned_evenly():
    segments = place_segments(100, 100 + 400 * 1000, 800, 400)
    assert segments.thinned
    assert segments.starts.size == 150
    assert segments.starts[0] == 100
    assert segments.starts[-1] == 100 + (segments.possible - 1) * 400
    assert set(np.diff(segments.starts)) <= {400 * 6, 400 * 7}


def test_windows_lie_within_the_span():
    segments = welch_segments(37, 1937, SFREQ, 4.0)
    assert segments.starts.tolist() == [37, 437, 837]
    assert not segments.thinned


def test_spectrogram_follows_a_tone_that_steps():
    time = np.arange(round(10 * SFREQ)) / SFREQ
    tone = np.where(time < 5, np.sin(2 * np.pi * 6 * time), np.sin(2 * np.pi * 20 * time))[None]
    segments = spectrogram_segments(0, tone.shape[1], SFREQ)
    times, frequencies, density = spectrogram(reader(tone), segments, SFREQ)
    top = frequencies[density.argmax(axis=1)]
    assert (top[times < 4.5] == 6.0).all()
    assert (top[times > 5.5] == 20.0).all()
    assert times[0] == pytest.approx(0.5)


def test_spectrogram_is_that_of_scipy():
    data = noise(1, 10.0)
    segments = spectrogram_segments(0, data.shape[1], SFREQ)
    hop = int(segments.starts[1] - segments.starts[0])
    _, _, density = spectrogram(reader(data), segments, SFREQ)
    _, _, expected = signal.spectrogram(data[0], SFREQ, "hann", segments.length, segments.length - hop)
    np.testing.assert_allclose(density, expected.T, rtol=1e-9, atol=1e-15)


def test_spectrogram_of_a_whole_day_has_as_many_columns_as_a_picture():
    segments = spectrogram_segments(0, round(86400 * SFREQ), SFREQ)
    assert segments.starts.size == 400
    assert segments.length == 800


@pytest.mark.parametrize("frequency", [8.3, 9.87, 10.5, 12.1])
def test_peak_is_found_between_the_bins(frequency):
    time = np.arange(round(40 * SFREQ)) / SFREQ
    found = density_of(10 * np.sin(2 * np.pi * frequency * time)[None] + 0.01 * noise(1, 40.0))
    assert alpha_peak(found.frequencies, found.power[0]) == pytest.approx(frequency, abs=0.02)


def test_a_falling_spectrum_has_no_alpha_peak():
    frequencies = np.arange(0, 40, 0.25)
    assert alpha_peak(frequencies, 1 / (1 + frequencies) ** 2) is None
    assert alpha_peak(frequencies, np.full(frequencies.size, np.nan)) is None


def test_a_band_above_what_is_recorded_is_not_reached():
    assert reach(BANDS[4], 64.0) == 64.0
    assert reach(BANDS[4], 25.0) == 0.0


def test_decibels():
    np.testing.assert_allclose(decibels(np.array([0.1, 1.0, 100.0])), [-10.0, 0.0, 20.0])


@pytest.mark.parametrize("frequency", [2.6, 6.3, 14.2, 24.8])
def test_the_dominant_frequency_is_that_of_a_rhythm_on_a_falling_ground(frequency):
    """The rhythm is thrice the ground at its own frequency, which at 1 Hz is higher than both."""
    frequencies = np.arange(321) * 0.25
    ground = 400.0 / frequencies.clip(0.25) ** 2
    rhythm = 3 * 400.0 / frequency**2 * np.exp(-((frequencies - frequency) ** 2) / (2 * 0.3**2))
    assert ground[4] > (ground + rhythm)[8:].max()
    assert dominant_peak(frequencies, ground + rhythm) == pytest.approx(frequency, abs=0.15)
    assert dominant_peak(frequencies, ground) is None
    assert dominant_peak(frequencies, ground + rhythm / 1000) is None


def test_mains_and_drift_are_no_dominant_rhythm():
    frequencies = np.arange(321) * 0.25
    density = np.ones(321)
    density[[2, 200]] = 1e4  # 0.5 and 50 Hz
    assert dominant_peak(frequencies, density) is None
    assert dominant_peak(frequencies, np.full(321, np.nan)) is None
