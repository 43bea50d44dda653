"""What all lanes share: the time axis of the traces, a heading that folds, a picture kept until something changes."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import QPoint, QSize, Qt
from PyQt6.QtGui import QPainter

from analysis.recording import Window
from viewers.lanes import FOLDED_HEIGHT, Lane
from viewers.time_scale import TimeScale

LEFT, WIDTH, HEIGHT = 100, 508, 60


class Counting(Lane):
    """Counts how often it is drawn."""

    def __init__(self) -> None:
        super().__init__("lane", HEIGHT)
        self.drawn = 0

    def paint_plot(self, painter: QPainter, scale: TimeScale, size: QSize) -> None:
        self.drawn += 1


@pytest.fixture
def lane(qtbot) -> Counting:
    made = Counting()
    qtbot.addWidget(made)
    made.resize(WIDTH, HEIGHT)
    made.set_left(LEFT)
    made.set_window(Window(0.0, 10.0))
    made.show()
    return made


def test_lane_shares_the_time_axis_of_the_traces(lane: Counting) -> None:
    assert lane.plot_rect.left() == LEFT
    assert lane.plot_rect.width() == 400
    assert lane.scale.x(5.0) == pytest.approx(200)


def test_heading_folds_and_opens(lane: Counting, qtbot) -> None:
    told: list[bool] = []
    lane.folded.connect(told.append)
    qtbot.mouseClick(lane, Qt.MouseButton.LeftButton, pos=QPoint(20, 10))
    assert lane.height() == FOLDED_HEIGHT
    qtbot.mouseClick(lane, Qt.MouseButton.LeftButton, pos=QPoint(20, 10))
    assert lane.height() == HEIGHT
    assert told == [True, False]


def test_cursor_and_same_window_cost_no_new_picture(lane: Counting) -> None:
    lane.grab()
    drawn = lane.drawn
    lane.set_cursor(3.0)
    lane.set_window(Window(0.0, 10.0))
    lane.grab()
    assert lane.drawn == drawn
    lane.set_window(Window(1.0, 11.0))
    lane.grab()
    assert lane.drawn == drawn + 1


def test_cursor_time_is_told_inside_the_plot_only(lane: Counting, qtbot) -> None:
    told: list[float | None] = []
    lane.cursor_moved.connect(told.append)
    qtbot.mouseMove(lane, QPoint(LEFT + 200, 30))
    qtbot.mouseMove(lane, QPoint(20, 30))
    assert told == [pytest.approx(5.0), None]


@pytest.mark.parametrize("folded", [False, True])
@pytest.mark.parametrize("left", [60, 108, 168])
def test_badge_stays_in_the_heading(lane: Counting, folded: bool, left: int) -> None:
    """The words of a badge end before the plot begins; beside a folded heading they have the plot's room."""
    lane.badge = "random weights"
    lane.set_left(left)
    lane.set_folded(folded)
    rect = lane.badge_rect(18.0)
    assert rect.bottom() <= lane.height()
    assert rect.left() >= left if folded else rect.right() <= left - 4
