"""The display filter against scipy's forwards-backwards Butterworth filters, at edges and at any page start."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import signal

from analysis.filtering import OFF, DisplayFilter, FilterBank, as_bank, filter_span, time_constant

SFREQ = 256.0
SECONDS = 120


def drifting_eeg(sfreq: float = SFREQ, rows: int = 4) -> np.ndarray:
    """Noise with electrode offsets to 3 mV, drift and a step of 300 uV, in microvolts."""
    rng = np.random.default_rng(3)
    n = int(SECONDS * sfreq)
    time = np.arange(n) / sfreq
    data = np.cumsum(rng.standard_normal((rows, n)), axis=1) * 48 / sfreq**0.5 + 10 * rng.standard_normal((rows, n))
    data += np.array([3000.0, -2000.0, 0.0, 100.0])[:rows, None]
    data[1] += 200 * np.sin(2 * np.pi * 0.05 * time)
    data[2, n // 3 :] += 300
    return data


def filtered_by_scipy(data: np.ndarray, sfreq: float, chosen: DisplayFilter) -> np.ndarray:
    sections = []
    if chosen.highpass:
        sections.append(signal.butter(chosen.order, chosen.highpass, "highpass", fs=sfreq, output="sos"))
    if chosen.lowpass:
        sections.append(signal.butter(chosen.order, chosen.lowpass, "lowpass", fs=sfreq, output="sos"))
    if chosen.notch:
        for k in range(1, int(sfreq / 2 / chosen.notch - 1e-9) + 1 if chosen.harmonics else 2):
            # All of them as wide as the first one.
            sections.append(signal.tf2sos(*signal.iirnotch(k * chosen.notch, 30.0 * k, fs=sfreq)))
    for sos in sections:
        data = signal.sosfiltfilt(sos, data, padlen=int(30 * sfreq))
    return data


def span(data: np.ndarray, chosen: DisplayFilter, start: int, stop: int, step: int = 1) -> np.ndarray:
    """Filter [start, stop) given no more signal than the rule of the pad allows."""
    pad = chosen.pad_samples(SFREQ, step)
    first, last = max(0, start - pad), min(data.shape[1], stop + pad)
    return filter_span(data[:, first:last].astype(np.float32), first, SFREQ, chosen, start, stop, step)


@pytest.mark.parametrize("start", [0.0, 4.2, 30.0, 47.3, 110.0])
@pytest.mark.parametrize(
    "chosen",
    [
        DisplayFilter(),
        DisplayFilter(0.5, 70.0, 50.0),
        DisplayFilter(1.0, 30.0, 60.0),
        DisplayFilter(0.3, 70.0, None),
        DisplayFilter(0.5, 70.0, None, order=4),
        DisplayFilter(None, 15.0, 50.0),
        DisplayFilter(2.0, None, None),
        DisplayFilter(1.0, None, 50.0, harmonics=True),
    ],
    ids=DisplayFilter.describe,
)
def test_page_equals_the_whole_recording_filtered_at_once(chosen: DisplayFilter, start: float) -> None:
    data = drifting_eeg()
    first, last = int(start * SFREQ), int((start + 10) * SFREQ)
    difference = span(data, chosen, first, last) - filtered_by_scipy(data, SFREQ, chosen)[:, first:last]
    # The two differ in how they continue the signal past the recording's own ends: inside 0.1 uV, there 1 uV.
    at_the_ends = start == 0.0 or start == 110.0
    tolerance = 0.1 if not at_the_ends else 1.0
    assert np.abs(difference).max() < tolerance


@pytest.mark.parametrize(("highpass", "order"), [(0.1, 2), (0.3, 2), (0.5, 2), (1.0, 2), (0.5, 4), (1.0, 4)])
def test_pad_rule_keeps_page_edges_below_a_tenth_of_a_microvolt(highpass: float, order: int) -> None:
    chosen = DisplayFilter(highpass, 70.0, None, order)
    assert chosen.pad_seconds == max(3.0, order / highpass)
    data = drifting_eeg()
    whole = filter_span(data.astype(np.float32), 0, SFREQ, chosen, 0, data.shape[1])
    for start in (41, 45, 52):
        first, last = int(start * SFREQ), int((start + 10) * SFREQ)
        assert np.abs(span(data, chosen, first, last) - whole[:, first:last]).max() < 0.1


def test_response_is_the_closed_form_of_scipy_filters() -> None:
    frequencies = np.linspace(0.1, 127.0, 400)
    chosen = DisplayFilter(0.5, 70.0, 50.0)
    expected = np.ones_like(frequencies)
    for b, a in (
        signal.butter(2, 0.5, "highpass", fs=SFREQ),
        signal.butter(2, 70.0, "lowpass", fs=SFREQ),
        signal.iirnotch(50.0, 30.0, fs=SFREQ),
    ):
        expected *= np.abs(signal.freqz(b, a, worN=frequencies, fs=SFREQ)[1]) ** 2
    np.testing.assert_allclose(chosen.response(frequencies, SFREQ), expected, atol=1e-8)


def test_cut_offs_halve_the_amplitude_and_offset_is_gone() -> None:
    gain = DisplayFilter(0.5, 70.0).response(np.array([0.0, 0.5, 70.0, 5.0]), SFREQ)
    assert gain[0] == 0.0
    np.testing.assert_allclose(gain[1:3], 0.5, atol=1e-4)
    assert gain[3] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("step", [2, 3, 4])
def test_decimated_output_is_the_full_one_at_fewer_points(step: int) -> None:
    chosen = DisplayFilter(0.5, 9.0)
    data = drifting_eeg()
    start = 12 * 250
    full = span(data, chosen, start, start + 2400)
    thin = span(data, chosen, start, start + 2400, step)
    assert thin.shape[1] == 2400 // step
    # What lies above the new Nyquist frequency is left out: at 3.5 times the low-pass less than 1 % is left of it.
    assert np.abs(thin - full[:, ::step]).max() < 1.0


@pytest.mark.parametrize(("sfreq", "lowpass", "step"), [(256, 70, 1), (512, 70, 1), (1024, 70, 2), (2048, 15, 19)])
def test_output_rate_is_at_least_seven_times_the_low_pass(sfreq: float, lowpass: float, step: int) -> None:
    assert DisplayFilter(0.5, lowpass).decimation(sfreq) == step
    assert sfreq / step >= 7 * lowpass or step == 1


def test_cut_offs_beyond_a_slow_channel_do_no_harm() -> None:
    chosen = DisplayFilter(None, 70.0, 50.0)
    data = np.arange(40, dtype=np.float32)[None] % 7
    np.testing.assert_allclose(filter_span(data, 0, 10.0, chosen, 0, 40), data, atol=1e-5)


@pytest.mark.parametrize("length", [1, 2, 5, 100])
def test_runs_shorter_than_the_pad_are_filtered_too(length: int) -> None:
    data = np.full((2, length), 500.0, np.float32)
    out = filter_span(data, 7, SFREQ, DisplayFilter(), 7, 7 + length)
    assert out.shape == (2, length)
    assert np.abs(out).max() < 0.1


def test_time_constant_is_that_of_the_clinical_table() -> None:
    for frequency, seconds in ((0.1, 1.6), (0.3, 0.53), (0.5, 0.32), (1.0, 0.16), (5.0, 0.03)):
        assert math.isclose(time_constant(frequency), seconds, rel_tol=0.07)


@pytest.mark.parametrize(
    ("sfreq", "gone"), [(256.0, [50, 100]), (1000.0, [50, 100, 150, 200, 250, 300, 350, 400, 450])]
)
def test_harmonics_are_taken_out_below_the_nyquist_frequency(sfreq: float, gone: list[int]) -> None:
    chosen = DisplayFilter(None, None, 50.0, harmonics=True)
    frequencies = np.arange(1.0, sfreq / 2 - 1)
    gain = chosen.response(frequencies, sfreq)
    assert [int(f) for f in frequencies[gain < 0.01]] == gone
    # What lies five hertz beside a harmonic stays.
    beside = np.array([f for f in frequencies if min(abs(f - g) for g in gone) >= 5])
    assert chosen.response(beside, sfreq).min() > 0.9
    single = DisplayFilter(None, None, 50.0).response(np.array([50.0, 100.0]), sfreq)
    assert single[0] < 0.01 < 0.9 < single[1]


def test_a_bank_has_one_filter_for_each_kind() -> None:
    page, heart = DisplayFilter(1.0, 70.0), DisplayFilter(0.3, 40.0)
    bank = FilterBank(page, (("ecg", heart), ("resp", heart)))
    kinds = ("eeg", "ieeg", "eog", "emg", "ecg", "resp", "other", "fixed")
    assert [bank.of_kind(kind) for kind in kinds] == [page, page, page, page, heart, heart, OFF, OFF]
    assert FilterBank(page, (("fixed", heart),)).of_kind("fixed") is OFF
    assert as_bank(page) == FilterBank(page)
    assert as_bank(bank) is bank


def test_settings_are_said_in_words() -> None:
    assert DisplayFilter(0.5, 70.0, 60.0, harmonics=True).describe() == "0.5–70 Hz, notch 60 Hz and harmonics"
    assert DisplayFilter().describe() == "0.5–70 Hz, notch off"
    assert DisplayFilter(None, None, 50.0).describe() == "DC–no low-pass, notch 50 Hz"
    assert DisplayFilter(None, None, None).is_off
