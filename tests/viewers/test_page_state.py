"""What a page says of itself: gaps, missing signal, flat and off-scale rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.channel_quality import ChannelQuality
from analysis.montage import Derivation, Montage
from viewers.page_state import duration_text, find_holes, row_faults, row_states
from viewers.rows import Rows
from viewers.trace_picture import with_columns

NAMES = ("A", "B", "C")


@pytest.fixture
def rows(eeg_channels, single_montage) -> Rows:
    return Rows(single_montage(*NAMES), 300, 7, 4, eeg_channels(*NAMES))


def sines(seconds: float = 10.0) -> np.ndarray:
    time = np.arange(int(200 * seconds) + 1)[:, None] / 200
    return 30 * np.sin(2 * np.pi * 5 * time + np.arange(3))


def test_gap_of_the_file_is_named_with_its_length(make_page) -> None:
    page = with_columns(make_page(sines(), NAMES), 500)
    holes = find_holes(page, [(5.0, 65.0), (90.0, 95.0)], 200.0)
    assert [(hole.start, hole.stop, hole.text) for hole in holes] == [(5.0, 65.0, "gap 60 s")]


def test_end_of_the_recording(make_page) -> None:
    data = sines()
    data[1001:] = np.nan
    holes = find_holes(with_columns(make_page(data, NAMES), 500), [], 5.0)
    assert [(hole.start, hole.stop, hole.text) for hole in holes] == [(5.0, 10.0, "end of recording")]


def test_missing_samples_are_holes_of_all_rows_or_of_one(make_page) -> None:
    data = sines()
    data[400:600] = np.nan
    data[1000:1200, 1] = np.nan
    holes = find_holes(with_columns(make_page(data, NAMES), 500), [], 100.0)
    assert [(hole.row, hole.text) for hole in holes] == [(None, "no signal"), (1, "")]
    assert holes[0].start == pytest.approx(2.0, abs=0.03)
    assert holes[0].stop == pytest.approx(3.0, abs=0.03)
    assert (holes[1].start, holes[1].stop) == pytest.approx((5.0, 6.0), abs=0.03)


def test_page_that_is_still_growing_has_no_holes(make_page) -> None:
    data = np.full((2001, 3), np.nan)
    page = replace(with_columns(make_page(data, NAMES), 500), complete=False)
    assert find_holes(page, [], 100.0) == []


def test_flat_and_off_scale_rows_are_named(make_page, rows: Rows) -> None:
    data = sines()
    data[:, 1] = 12.0
    data[:, 2] += 5000
    page = with_columns(make_page(data, NAMES), 500)
    assert row_states(page, rows, ("", "", "")) == ("", "flat", "off scale")


def test_a_short_excursion_is_not_off_scale(make_page, rows: Rows) -> None:
    data = sines()
    data[500:520, 0] += 5000
    assert row_states(with_columns(make_page(data, NAMES), 500), rows, ("",) * 3) == ("", "", "")


def test_fault_of_the_recording_comes_first(make_page, rows: Rows) -> None:
    faults = row_faults(rows, {"B": ChannelQuality("clipped")})
    assert faults == ("", "clipped", "")
    data = sines()
    data[:, 1] = 0
    assert row_states(with_columns(make_page(data, NAMES), 500), rows, faults)[1] == "clipped"


def test_what_the_reader_marked_as_bad_is_said_before_all_else(eeg_channels) -> None:
    montage = Montage("m", (Derivation("A-B", "A", ("B",)), Derivation("C-avg", "C", ("A", "B", "C"))))
    rows = Rows(montage, 300, 7, 4, eeg_channels(*NAMES))
    found = {"A": ChannelQuality("flat"), "C": ChannelQuality("flat")}
    assert row_faults(rows, found, frozenset("B")) == ("B bad", "flat")
    assert row_faults(rows, found, frozenset("AC")) == ("A bad", "bad")
    assert row_faults(rows, found, frozenset("AB")) == ("A, B bad", "flat")


def test_uncalibrated_channel_says_so_without_being_judged(eeg_channels, single_montage) -> None:
    rows = Rows(single_montage("A"), 300, 7, 4, eeg_channels("A", calibrated=False))
    assert row_faults(rows, {}) == ("not calibrated",)


@pytest.mark.parametrize(("seconds", "text"), [(60, "60 s"), (0.5, "0.5 s"), (300, "5 min"), (9000, "2.5 h")])
def test_lengths_in_words(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text
