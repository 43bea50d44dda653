"""The lane of an analysis: a curve that parts at its middle, marked when it is old or of random weights."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.recording import Window
from viewers.analysis_lane import AnalysisLane, LaneCurve
from viewers.heat_scales import HeatScale

SCALE = HeatScale(0.0, 1.0, 0.5, "", "space", "time")


def curve(values, times=None, widths=1.0, **changes) -> LaneCurve:
    times = np.arange(len(values), dtype=float) if times is None else np.asarray(times, float)
    return LaneCurve(
        times, np.full(times.shape, widths), np.asarray(values, float), SCALE, "layer 3", "weight", **changes
    )


@pytest.fixture
def lane(qtbot) -> AnalysisLane:
    made = AnalysisLane("Gates")
    qtbot.addWidget(made)
    made.resize(400, 58)
    made.set_left(100)
    made.set_window(Window(0.0, 4.0))
    made.show()
    return made


def hues(lane: AnalysisLane, time: float) -> set[str]:
    """Whether anything brown or teal stands at a time."""
    picture = lane.grab().toImage()
    x = round(lane.plot_rect.left() + lane.scale.x(time))
    colours = [picture.pixelColor(x, y) for y in range(8, 50)]
    teal = any(c.hsvSaturation() > 60 and 150 < c.hsvHue() < 200 for c in colours)
    brown = any(c.hsvSaturation() > 60 and 15 < c.hsvHue() < 50 for c in colours)
    return {name for name, there in (("teal", teal), ("brown", brown)) if there}


def test_values_above_the_middle_are_teal_and_below_it_brown(lane):
    lane.set_curve(curve([0.9, 0.1, 0.9, 0.1]))
    assert [hues(lane, t) for t in (0.5, 1.5, 2.5)] == [{"teal"}, {"brown"}, {"teal"}]


def test_nothing_is_drawn_where_nothing_is_known(lane):
    lane.set_curve(curve([0.9, np.nan, 0.9], times=[0, 1, 3]))
    assert hues(lane, 0.5) == {"teal"}
    assert hues(lane, 1.5) == set()
    assert hues(lane, 2.5) == set()
    lane.set_curve(None)
    assert hues(lane, 0.5) == set()


def test_overlapping_spans_end_where_the_next_begins(lane):
    lane.set_curve(curve([0.9, 0.1], times=[0.0, 1.0], widths=2.0))
    assert hues(lane, 1.5) == {"brown"}


def test_random_weights_are_said_and_so_is_what_is_old(lane):
    lane.set_curve(curve([0.9] * 4, random_weights=True))
    assert lane.badge == "random weights"
    assert lane.subtitle == "layer 3"
    fresh = lane.grab().toImage()
    lane.set_stale("computing…")
    assert lane.grab().toImage() != fresh
    lane.set_stale("")
    assert lane.grab().toImage() == fresh
    lane.set_curve(curve([0.9] * 4))
    assert lane.badge == ""
