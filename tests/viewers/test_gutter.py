"""The gutter names rows, says what is wrong with them, and is not drawn anew at each page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from viewers.gutter import MAX_WIDTH, MIN_WIDTH, Gutter, gutter_width
from viewers.rows import Rows


@pytest.fixture
def rows(eeg_channels, single_montage) -> Rows:
    channel = replace(eeg_channels("Fp1")[0], original_name="EEG Fp1-Ref", prefilter="HP:0.1Hz")
    return Rows(single_montage("Fp1", "Fp2", sides="lr"), 200, 7, 4, (channel, *eeg_channels("Fp2")))


def pixels(gutter: Gutter) -> np.ndarray:
    image = gutter.grab().toImage()
    raw = image.constBits().asarray(image.sizeInBytes())
    return np.frombuffer(raw, np.uint8).copy()


def test_fault_changes_what_is_shown(qtbot, rows: Rows) -> None:
    gutter = Gutter()
    qtbot.addWidget(gutter)
    gutter.resize(120, 200)
    gutter.set_rows(rows)
    before = pixels(gutter)
    gutter.set_states(("", "flat"))
    assert (pixels(gutter) != before).any()
    assert gutter.states == ("", "flat")


def test_same_rows_cost_no_new_picture(qtbot, rows: Rows, eeg_channels, single_montage) -> None:
    gutter = Gutter()
    qtbot.addWidget(gutter)
    gutter.resize(120, 200)
    gutter.set_rows(rows)
    gutter.grab()
    picture = gutter._pixmap
    same = Rows(single_montage("Fp1", "Fp2", sides="lr"), 200, 10, 4, eeg_channels("Fp1", "Fp2"))
    gutter.set_rows(same)
    assert gutter._pixmap is picture
    gutter.set_rows(same, ("Fp1", "other"))
    assert gutter._pixmap is None


def test_tool_tip_tells_the_files_own_label(qtbot, rows: Rows) -> None:
    gutter = Gutter()
    qtbot.addWidget(gutter)
    gutter.set_rows(rows)
    gutter.set_states(("clipped", ""))
    tip = gutter.tool_tip(0)
    for text in ("Fp1", "EEG Fp1-Ref", "200 Hz", "µV", "HP:0.1Hz", "clipped"):
        assert text in tip


def test_width_follows_the_longest_name(qapp) -> None:
    assert gutter_width(["Fz"]) == MIN_WIDTH
    assert MIN_WIDTH < gutter_width(["LAH12-LAH13 long"]) <= MAX_WIDTH
    assert gutter_width(["x" * 200]) == MAX_WIDTH


@pytest.mark.parametrize("count", [1, 64, 300])
def test_any_number_of_rows_is_drawn(qtbot, eeg_channels, single_montage, count: int) -> None:
    names = [f"E{i}" for i in range(count)]
    gutter = Gutter()
    qtbot.addWidget(gutter)
    gutter.resize(120, 300)
    gutter.set_rows(Rows(single_montage(*names), 300, 7, 4, eeg_channels(*names)))
    gutter.set_states(tuple("flat" if i % 50 == 7 else "" for i in range(count)))
    assert np.unique(pixels(gutter)).size > 2
