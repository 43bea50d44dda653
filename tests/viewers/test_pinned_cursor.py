"""The pinned cursor: the value of every row at one time, none over another."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from analysis.montage import Derivation, Montage
from analysis.recording import Window
from viewers.pinned_cursor import PinnedCursor
from viewers.rows import Rows
from viewers.trace_canvas import TraceCanvas


@pytest.fixture
def canvas_of(qtbot, eeg_channels):
    def make(count: int, height: int) -> TraceCanvas:
        made = TraceCanvas()
        qtbot.addWidget(made)
        made.resize(400, height)
        names = [f"E{i}" for i in range(count)]
        montage = Montage("as recorded", tuple(Derivation(name, name) for name in names))
        made.rows = Rows(montage, height, 7, 4, eeg_channels(*names))
        made.set_window(Window(0.0, 10.0))
        return made

    return make


def test_tells_every_row_its_value_but_none_in_a_gap(canvas_of):
    canvas = canvas_of(3, 300)
    pinned = PinnedCursor(canvas, lambda time, row: (12.3, math.nan, -4.56)[row] * time)
    assert pinned.texts() == []
    pinned.pin(1.0)
    texts = pinned.texts()
    assert [text for _, text in texts] == ["+12.3 µV", "−4.6 µV"]
    assert texts[0][0] == pytest.approx(float(canvas.rows.centre[0]))
    pinned.pin(None)
    assert pinned.texts() == []


def test_crowded_rows_are_left_out_so_that_none_is_over_another(canvas_of):
    canvas = canvas_of(128, 400)
    pinned = PinnedCursor(canvas, lambda _time, row: float(row))
    pinned.pin(5.0)
    heights = [y for y, _ in pinned.texts()]
    assert 10 < len(heights) < 64
    assert min(b - a for a, b in pairwise(heights)) >= 9
