"""The times over the trends: labels, ticks of marks, state."""

from __future__ import annotations

from datetime import datetime

import pytest

from analysis.annotation import Annotation
from analysis.annotation_index import AnnotationIndex
from analysis.marks import Marks
from analysis.recording import Window
from viewers.readers_lane import sort_by_line
from viewers.trends_axis import TrendsAxis

LEFT, WIDTH = 100, 1108


@pytest.fixture
def axis(qtbot) -> TrendsAxis:
    made = TrendsAxis()
    qtbot.addWidget(made)
    made.resize(WIDTH, made.height())
    made.set_left(LEFT)
    made.set_window(Window(0.0, 1000.0))
    made.show()
    return made


def inked(axis: TrendsAxis, x: int, rows: range) -> bool:
    image = axis.grab().toImage()
    canvas = axis.theme.canvas
    return any(image.pixelColor(x, y).name() != canvas for y in rows)


def test_marks_are_ticks_under_the_times(axis: TrendsAxis) -> None:
    bars = range(axis.height() - 12, axis.height())
    assert not inked(axis, LEFT + 333, bars)
    marks = Marks.of([Annotation(333.0, 0.0, "seizure")])
    axis.set_lines(sort_by_line(marks, AnnotationIndex()))
    assert inked(axis, LEFT + 333, bars)
    assert not inked(axis, LEFT + 345, bars)


def test_labels_follow_the_clock(axis: TrendsAxis) -> None:
    before = axis.grab().toImage()
    axis.set_start(datetime(2026, 3, 3, 20, 4, 30))
    assert axis.grab().toImage() != before
    axis.set_start(None)
    assert axis.grab().toImage() == before


def test_the_state_stands_at_the_right_end_and_the_button_when_stopped(axis: TrendsAxis) -> None:
    assert not inked(axis, WIDTH - 30, range(2, 14))
    axis.set_state("computing 37 %", stopped=False)
    assert any(inked(axis, x, range(2, 14)) for x in range(WIDTH - 60, WIDTH - 20))
    assert not axis.resume.isVisible()
    axis.set_state("stopped at 37 %", stopped=True)
    assert axis.resume.isVisible()
    assert axis.resume.geometry().right() <= WIDTH
