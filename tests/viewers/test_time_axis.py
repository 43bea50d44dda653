"""Times above the traces: elapsed or of the day, and under the cursor."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pytest

from analysis.recording import Window
from viewers.time_axis import TimeAxis
from viewers.time_scale import TimeScale

LEFT, WIDTH = 100, 900


@pytest.fixture
def axis(qtbot) -> TimeAxis:
    made = TimeAxis()
    qtbot.addWidget(made)
    made.resize(LEFT + WIDTH, made.height())
    made.set_scale(TimeScale(Window(20.0, 30.0), WIDTH), LEFT)
    return made


def ink(axis: TimeAxis) -> np.ndarray:
    """Columns of pixels in which something is written."""
    image = axis.grab().toImage()
    ground = image.pixel(2, 2)
    return np.array([any(image.pixel(x, y) != ground for y in range(image.height())) for x in range(image.width())])


def test_labels_stand_over_their_seconds(axis: TimeAxis) -> None:
    written = ink(axis)
    for second in range(21, 30):
        x = LEFT + (second - 20) * 90
        assert written[x - 14 : x + 14].any()
        assert not written[x + 35 : x + 55].any()


def test_last_label_is_not_cut(axis: TimeAxis) -> None:
    assert ink(axis)[-40:-2].any()
    assert not ink(axis)[-1]


def test_time_of_day_needs_a_known_start(axis: TimeAxis) -> None:
    start = datetime(2020, 3, 2, 10, 11, 12)
    axis.set_start(start, clock=False)
    assert axis.start is None
    assert not ink(axis)[:60].any()
    axis.set_start(start, clock=True)
    assert axis.start == start
    assert ink(axis)[:60].any()  # the date
    axis.set_start(None, clock=True)
    assert axis.start is None


def test_cursor_is_written_on_the_page_only(axis: TimeAxis) -> None:
    before = ink(axis)
    axis.set_cursor(24.5)
    assert ink(axis)[LEFT + 400 : LEFT + 410].all()
    axis.set_cursor(31.0)
    np.testing.assert_array_equal(ink(axis), before)


def test_the_date_is_that_of_the_page(axis: TimeAxis) -> None:
    axis.set_start(datetime(2020, 1, 31, 23, 59, 45), True)
    assert axis.date == "2020-02-01"
    axis.set_start(datetime(2020, 1, 31, 23, 59, 45), False)
    assert axis.date == ""


def test_date_time_of_day_and_elapsed_time_of_the_page_are_known_whatever_the_axis_shows(axis: TimeAxis) -> None:
    assert axis.moment == ""
    for clock in (False, True):
        axis.set_start(datetime(2020, 3, 2, 23, 59, 45), clock)
        assert axis.moment == "2020-03-03 00:00:05 (00:20)"
    axis.set_start(None, True)
    assert axis.moment == ""
