"""The lane of experts: the busiest one's colour in the right line and second, or shares of one block."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtGui import QColor

from analysis.recording import Window
from viewers.category_colours import category
from viewers.expert_lane import ExpertLane, ExpertShares
from viewers.overlays.experts import ExpertsOverlay
from viewers.theme import DARK, LIGHT

# (blocks, seconds, experts): the first expert of the second block is shared.
USAGE = np.array(
    [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.25, 0.75]],
        [[np.nan, 1.0, 0.0], [np.nan, 1.0, 0.0], [np.nan, 0.0, 1.0]],
    ]
)


@pytest.fixture
def result(make_analysis):
    arrays = {
        "usage": (USAGE, ("block", "second", "expert")),
        "load": (np.nan_to_num(USAGE.mean(1)), ("block", "expert")),
        "second_onset": ([0.0, 1.0, 5.0], ("second",), "s"),
    }
    labels = {"block": ("tokenizer 1", "group 1"), "expert": ("1", "2", "3")}
    return make_analysis("experts", arrays, labels, {"first_window": 10.0}, random_weights=True)


@pytest.fixture
def lane(qtbot, result):
    overlay = ExpertsOverlay()
    overlay.set_result(result)
    made = overlay.make_lane()
    qtbot.addWidget(made)
    made.resize(493, made.height())
    made.set_window(Window(10.0, 20.0))
    made.set_curve(overlay.curve())
    made.show()
    return made


def near(colour: QColor, other: QColor) -> bool:
    return max(abs(a - b) for a, b in zip(colour.getRgb(), other.getRgb(), strict=True)) <= 3


def at(lane: ExpertLane, time: float, share: float) -> tuple[int, int]:
    area = lane.plot_rect
    top, bottom = 1 + 16, lane.height() - 4
    return round(area.left() + lane.scale.x(time)), round(top + share * (bottom - top))


def test_each_block_has_a_line_in_the_colour_of_its_busiest_expert(lane):
    picture = lane.grab().toImage()
    for time, share, expert in ((10.5, 0.25, 0), (11.5, 0.25, 1), (10.5, 0.75, 1), (15.5, 0.75, 2)):
        assert near(picture.pixelColor(*at(lane, time, share)), category(LIGHT, expert)), (time, share)
    paler = picture.pixelColor(*at(lane, 15.5, 0.25))
    assert not near(paler, category(LIGHT, 2))
    assert near(picture.pixelColor(*at(lane, 13.5, 0.5)), QColor(LIGHT.canvas))  # nobody looked at 12 to 15 s
    assert lane.subtitle == "all blocks"
    assert lane.badge == "random weights"


def test_one_block_is_shown_by_its_shares(lane, result):
    overlay = ExpertsOverlay()
    overlay.set_result(result)
    overlay.choose("0")
    lane.set_curve(overlay.curve())
    picture = lane.grab().toImage()
    assert lane.subtitle == "tokenizer 1"
    assert near(picture.pixelColor(*at(lane, 15.5, 0.1)), category(LIGHT, 1))
    assert near(picture.pixelColor(*at(lane, 15.5, 0.9)), category(LIGHT, 2))
    assert overlay.heat is None
    assert overlay.parts(result) == ["mean", "0", "1"]


def test_the_mouse_is_told_the_shares(lane):
    x, y = at(lane, 15.5, 0.25)
    assert lane.describe(x - lane.plot_rect.left(), y) == "00:15, tokenizer 1\nexpert 3 75%, expert 2 25%"
    x, y = at(lane, 10.5, 0.75)
    assert lane.describe(x - lane.plot_rect.left(), y).splitlines() == ["00:10, group 1", "expert 2 100%"]
    x, y = at(lane, 13.5, 0.75)
    assert lane.describe(x - lane.plot_rect.left(), y) == ""
    lane.set_stale("computing…")
    assert lane.describe(*at(lane, 10.5, 0.75)) == ""


def test_an_empty_lane_draws_nothing(qtbot):
    lane = ExpertLane("Experts")
    qtbot.addWidget(lane)
    lane.set_curve(None)
    assert lane.subtitle == lane.badge == ""
    assert isinstance(lane.grab().toImage().width(), int)


def test_eight_experts_can_be_told_apart():
    for theme in (LIGHT, DARK):
        names = {category(theme, i).name() for i in range(8)}
        assert len(names) == 8
        assert theme.canvas not in names
        assert category(theme, 8) == category(theme, 0)


def test_ties_and_shared_experts_do_not_confuse():
    shares = ExpertShares(np.array([0.0]), np.array([[[np.nan, 0.0, 0.0]]]), ("b",), None, "")
    number, share = shares.busiest()
    assert number.item() == 1
    assert share.item() == 0.0
