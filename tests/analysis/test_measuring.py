"""The caliper's numbers on signals whose amplitudes are known, and how numbers are written."""

from __future__ import annotations

import math

import numpy as np
import pytest

from analysis.measuring import amount_text, duration_text, frequency_text, read_caliper, snap_to_peak, trace_text
from analysis.recording import Page, Window
from analysis.signal_blocks import ColumnPage

SFREQ = 200.0


def page_of(rows: np.ndarray, start: float = 10.0) -> Page:
    data = np.asarray(rows, np.float32).T
    return Page(Window(start, start + len(data) / SFREQ), ("F7-T7", "T7-P7")[: len(rows)], SFREQ, data, start)


def spike(at: float, seconds: float = 4.0) -> np.ndarray:
    """A triangle of −100 µV, 80 ms wide, after a bump of +20 µV a quarter of a second before."""
    time = 10 + np.arange(round(seconds * SFREQ)) / SFREQ
    bump = 20 * np.clip(1 - np.abs(time - at + 0.25) / 0.04, 0, None)
    return bump - 100 * np.clip(1 - np.abs(time - at) / 0.04, 0, None)


def test_reads_times_and_amplitudes_between_its_ends():
    page = page_of(np.stack([np.zeros(800), spike(12.0)]))
    found = read_caliper(page, 1, "uV", 11.5, 12.02)
    assert found.row == "T7-P7"
    assert found.duration == pytest.approx(0.52)
    assert found.frequency == pytest.approx(1 / 0.52)
    assert found.peak_to_peak == pytest.approx(120.0)
    assert (found.low_time, found.high_time) == pytest.approx((12.0, 11.75))
    assert found.difference == pytest.approx(-50.0)
    assert found.describe() == ("T7-P7: Δt 520 ms, 1/Δt 1.92 Hz, peak to peak 120 µV, end − start −50.0 µV")


def test_reads_the_same_whichever_end_came_first():
    page = page_of([spike(12.0)])
    there, back = (read_caliper(page, 0, "uV", *ends) for ends in ((11.9, 12.02), (12.02, 11.9)))
    assert back.peak_to_peak == there.peak_to_peak
    assert back.difference == there.difference
    assert back.duration == there.duration


def test_both_end_samples_count():
    page = page_of([np.arange(800)])
    found = read_caliper(page, 0, "uV", 10.05, 10.10)
    assert (found.low, found.high) == (10.0, 20.0)


def test_a_span_between_two_samples_takes_the_nearest():
    page = page_of([np.arange(800)])
    found = read_caliper(page, 0, "uV", 10.0506, 10.0508)
    assert found.low == found.high == 10.0
    assert found.peak_to_peak == 0.0


def test_a_gap_within_is_passed_over_and_a_gap_throughout_says_nothing():
    values = spike(12.0)
    values[300:340] = np.nan
    assert read_caliper(page_of([values]), 0, "uV", 11.4, 12.1).peak_to_peak == pytest.approx(120.0)
    nothing = read_caliper(page_of([values]), 0, "uV", 11.52, 11.6)
    assert math.isnan(nothing.peak_to_peak)
    assert "peak" not in nothing.describe()


def test_a_page_without_samples_is_read_from_its_columns():
    lo, hi = np.full((100, 1), -5.0, np.float32), np.full((100, 1), 5.0, np.float32)
    lo[40], hi[60] = -80.0, 30.0
    page = ColumnPage(Window(1000, 1200), ("Cz",), 100.0, np.empty((0, 1), np.float32), 0.0, lo, hi, 500, 2.0, False)
    found = read_caliper(page, 0, "uV", 1050.0, 1150.0)
    assert found.peak_to_peak == 110.0
    assert (found.low_time, found.high_time) == (1081.0, 1121.0)
    assert math.isnan(found.difference)
    assert not found.filtered
    assert read_caliper(page, 0, "uV", 1050.0, 1070.0).peak_to_peak == 10.0


def test_snaps_to_the_peak_that_is_near_and_stays_where_there_is_no_signal():
    page = page_of([spike(12.0) + 40 * np.arange(800) / SFREQ])
    assert snap_to_peak(page, 0, 12.03, 0.1) == pytest.approx(12.0)
    assert snap_to_peak(page, 0, 11.78, 0.1) == pytest.approx(11.75)
    assert snap_to_peak(page_of([np.full(800, np.nan)]), 0, 11.78, 0.1) == 11.78


@pytest.mark.parametrize(
    ("value", "unit", "sign", "text"),
    [
        (123.4, "uV", False, "123 µV"),
        (-12.34, "uV", True, "−12.3 µV"),
        (5.678, "uV", True, "+5.68 µV"),
        (0.01234, "V", False, "0.0123 V"),
        (0.5, "uV", False, "0.5 µV"),
        (97.0, "%", False, "97.0 %"),
        (12345.6, "uV", False, "12346 µV"),
        (0.0, "uV", True, "0 µV"),
        (-0.0, "", False, "0"),
        (99.97, "uV", False, "100 µV"),
        (1e-12, "V", True, "0 V"),
        (math.nan, "uV", False, "—"),
    ],
)
def test_amounts_have_three_figures(value, unit, sign, text):
    assert amount_text(value, unit, sign) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0334, "33 ms"), (0.9996, "1.00 s"), (2.345, "2.35 s"), (45.67, "45.7 s"), (150, "2 min 30 s")],
)
def test_lengths_of_time_are_as_fine_as_they_were_measured(seconds, text):
    assert duration_text(seconds) == text


@pytest.mark.parametrize(
    ("hertz", "text"),
    [
        (4.274, "4.27 Hz"),
        (12.34, "12.3 Hz"),
        (123.4, "123 Hz"),
        (0.0123, "0.0123 Hz"),
        (0.1, "0.10 Hz"),
        (math.inf, "—"),
    ],
)
def test_frequencies_have_three_figures(hertz, text):
    assert frequency_text(hertz) == text


def test_a_span_across_a_gap_says_how_much_of_it_was_not_recorded():
    values = spike(12.0)
    values[500:700] = np.nan  # from 12.5 to 13.5 s
    page = page_of([values])
    across = read_caliper(page, 0, "uV", 11.5, 13.75)
    assert across.lost == pytest.approx(1.0)
    assert across.describe().endswith("peak to peak 120 µV, end − start 0 µV, 1.00 s of it not recorded")
    assert read_caliper(page, 0, "uV", 13.0, 13.75).lost == pytest.approx(0.5)
    assert read_caliper(page, 0, "uV", 13.0, 13.25).lost == pytest.approx(0.25)
    assert read_caliper(page, 0, "uV", 11.0, 12.4).lost_text() == ""


def test_a_span_of_pixel_columns_across_a_gap_says_so_too():
    lo = np.zeros((100, 1), np.float32)
    lo[40:60] = np.nan
    none = np.empty((0, 1), np.float32)
    page = ColumnPage(Window(0, 2000), ("F7-T7",), 1.0, none, 0.0, lo, lo + 1, 0, 20.0)
    assert read_caliper(page, 0, "uV", 100.0, 1900.0).lost == pytest.approx(400.0)


@pytest.mark.parametrize(
    ("value", "unit", "sign", "text"),
    [
        (0.0874, "uV", True, "+0.1 µV"),
        (-0.139, "uV", True, "−0.1 µV"),
        (-4.56, "uV", True, "−4.6 µV"),
        (12.34, "µV", True, "+12.3 µV"),
        (123.4, "uV", False, "123 µV"),
        (0.0, "uV", True, "0 µV"),
        (-0.0123, "uV", True, "−0.01 µV"),
        (97.25, "%", False, "97.2 %"),
        (math.nan, "uV", True, "—"),
    ],
)
def test_values_of_traces_are_no_finer_than_they_were_recorded(value, unit, sign, text):
    assert trace_text(value, unit, sign) == text
