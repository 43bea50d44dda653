"""Two raters in a lane: lines, agreement and dispute told apart by pattern, disputes that can be clicked."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import QPoint, Qt

from analysis.recording import Window
from analysis.review.raters import Rater, compare_raters
from viewers.lanes import FOLDED_HEIGHT
from viewers.raters_lane import HEIGHT, RatersLane
from viewers.theme import theme

LEFT, WIDTH = 100, 508  # 400 px for 10 s
COMPARED = compare_raters(
    Rater("first.tsv", ((1.0, 5.0),)), Rater("you", ((3.0, 5.0), (7.0, 8.0))), 10.0, tolerance=0.5
)


@pytest.fixture
def lane(qtbot) -> RatersLane:
    made = RatersLane()
    qtbot.addWidget(made)
    made.resize(WIDTH, made.height())
    made.set_left(LEFT)
    made.set_window(Window(0, 10))
    made.set_comparison(COMPARED)
    return made


def drawn(lane: RatersLane, time: float, top: int, bottom: int) -> float:
    """The share of pixels between two heights, around a time, that are not background."""
    image, canvas = lane.grab().toImage(), lane.theme.colour("canvas").name()
    x = LEFT + round(40 * time)
    pixels = [image.pixelColor(x + dx, y).name() != canvas for dx in range(-8, 9) for y in range(top, bottom)]
    return sum(pixels) / len(pixels)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_agreement_is_full_and_dispute_is_hatched(lane, name):
    lane.set_theme(theme(name))
    assert drawn(lane, 4.0, 19, 27) == 1.0
    assert 0.1 < drawn(lane, 2.0, 19, 27) < 0.9
    assert drawn(lane, 6.0, 19, 27) == 0.0


def test_each_rater_has_a_line(lane):
    assert drawn(lane, 2.0, 10, 13) == 1.0
    assert drawn(lane, 2.0, 33, 36) == 0.0
    assert drawn(lane, 7.5, 33, 36) == 1.0
    assert lane.subtitles() == ("A first.tsv", "B you")
    assert "A first.tsv" in lane.toolTip()


def test_a_dispute_is_clicked(lane, qtbot):
    told = []
    lane.dispute_clicked.connect(told.append)
    for time in (2.0, 4.0, 7.5):
        qtbot.mouseClick(lane, Qt.MouseButton.LeftButton, pos=QPoint(LEFT + round(40 * time), 22))
    assert [(d.start, d.stop, d.by) for d in told] == [(1.0, 3.0, "A"), (7.0, 8.0, "B")]


def test_the_current_dispute_is_framed(lane):
    plain = lane.grab().toImage()
    lane.set_current(COMPARED.disputes[1])
    framed = lane.grab().toImage()
    columns = {x for x in range(WIDTH) for y in range(48) if plain.pixel(x, y) != framed.pixel(x, y)}
    assert columns
    assert all(LEFT + 270 <= x <= LEFT + 330 for x in columns)


def test_without_raters_nothing_is_drawn(lane):
    lane.set_comparison(None)
    assert lane.subtitles() == ()
    assert lane.height() == FOLDED_HEIGHT
    assert all(drawn(lane, t, 1, 19) == 0.0 for t in (7.0, 7.5))  # but for words at the left
    lane.set_comparison(COMPARED)
    assert lane.height() == HEIGHT


def test_thousands_of_disputes_cost_no_more_than_pixels(lane):
    many = tuple((i / 1000, i / 1000 + 0.0004) for i in range(10_000))
    lane.set_comparison(compare_raters(Rater("a", many), Rater("b", ()), 10.0))
    assert len(lane._spans(lane._disputed, lane.scale)) < 410
