"""Lanes of trends: what is painted where, what is said at the crosshair, holes."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.recording import Window
from analysis.results import AnalysisRequest
from analysis.trends.result import Trends
from analysis.trends.spectra import FREQUENCIES
from viewers.theme import theme
from viewers.trend_lanes import (
    AmplitudeLane,
    AsymmetryLane,
    RatioLane,
    SpectrumLane,
    TrendLane,
    colour_range,
    make_lanes,
    runs,
    signed,
    spectrum_image,
)

LEFT, WIDTH = 100, 1108
SECONDS = 4000.0


def made(groups: tuple[str, ...] = ("left", "right"), complete: bool = True) -> Trends:
    """An hour with 10 Hz at 20 dB, twice the power on the right, aEEG from 10 to 100 µV, a hole from 1000 to 1200 s."""
    bins, sides = 2000, len(groups)
    decibels = np.zeros((sides, bins, FREQUENCIES.size), np.float16)
    decibels[:, :, FREQUENCIES == 10] = 20
    powers = np.full((sides, bins, 4), 10.0, np.float32)
    powers[..., 2] = 20
    powers[1:] *= 2
    amplitude = np.tile(np.array([10, 100], np.float32), (sides, 267, 1))
    decibels[:, 500:600] = powers[:, 500:600] = np.nan
    amplitude[:, 67:80] = np.nan
    coarse = decibels[:, ::6][:, :334]
    arrays = {"decibels": decibels, "coarse_decibels": coarse, "powers": powers, "amplitude": amplitude}
    facts = {"groups": groups, "sources": tuple((g,) for g in groups), "source_kind": "made", "duration": SECONDS}
    return Trends(AnalysisRequest("trends", "r", ()), "t", "0", **facts, **arrays, complete=complete)


@pytest.fixture
def show(qtbot):
    def place(lane: TrendLane, trends: Trends | None) -> TrendLane:
        qtbot.addWidget(lane)
        lane.resize(WIDTH, lane.height())
        lane.set_left(LEFT)
        lane.set_window(Window(0.0, SECONDS))
        lane.set_trends(trends)
        lane.show()
        return lane

    return place


def colours(lane: TrendLane, second: float) -> list[str]:
    """Colours from top to bottom of the plot at a time."""
    image = lane.grab().toImage()
    x = round(lane.plot_rect.left() + lane.scale.x(second))
    return [image.pixelColor(x, y).name() for y in range(1, lane.height())]


def test_a_rhythm_is_a_line_at_its_frequency(show):
    lane = show(SpectrumLane("left"), made())
    lane.set_range(0.0, 20.0)
    column = colours(lane, 2000.0)
    darkest = min(range(len(column)), key=lambda i: int(column[i][1:3], 16) + int(column[i][3:5], 16))
    assert darkest == pytest.approx(len(column) / 2, abs=2)
    assert lane.value_text(2000.0, 0.5) == "10 Hz  20 dB"
    assert lane.value_text(2000.0, 0.25) == "5 Hz  0 dB"


def test_the_asymmetry_lies_on_the_side_that_has_more(show):
    lane = show(AsymmetryLane(), made())
    column = colours(lane, 2000.0)
    right, left = lane.theme.colour("right"), lane.theme.colour("left")
    upper, lower = column[len(column) // 4 + 2 : len(column) // 2 - 1], column[len(column) // 2 + 2 : -6]
    assert all(int(c[1:3], 16) > int(c[5:7], 16) for c in upper[-3:])
    assert set(lower) == {lane.theme.canvas}
    assert right != left
    assert lane.value_text(2000.0, 0.5).startswith("+0.33   δ +0.33")


def test_the_band_of_the_aeeg_reaches_from_margin_to_margin(show):
    lane = show(AmplitudeLane(), made())
    column = np.array(colours(lane, 2000.0))
    filled = np.flatnonzero((column != lane.theme.canvas) & (column != lane.theme.grid_strong))
    # 10 µV lies at half height and 100 µV at the top of the scale.
    assert filled.min() == pytest.approx(4, abs=2)
    assert filled.max() == pytest.approx(lane.height() / 2, abs=2)
    assert lane.value_text(2000.0, 0.5) == "L 10–100  R 10–100 µV"


def test_the_ratio_is_told_by_side(show):
    lane = show(RatioLane(), made())
    assert lane.value_text(2000.0, 0.5) == "L 2  R 2"
    assert lane.value_text(-5.0, 0.5) == ""


@pytest.mark.parametrize("lane_type", [AmplitudeLane, lambda: SpectrumLane("right"), AsymmetryLane, RatioLane])
def test_holes_are_hatched_once_the_pass_is_over_and_say_nothing(show, lane_type):
    lane = show(lane_type(), made())
    assert lane.value_text(1100.0, 0.5) == ""
    hatched = colours(lane, 1100.0)
    assert lane.theme.grid in hatched or len(set(hatched)) > 1
    lane.set_trends(made(complete=False))
    open_columns = colours(lane, 1100.0)
    assert set(open_columns) - {lane.theme.grid_strong} != set(hatched) - {lane.theme.grid_strong}


def test_lanes_show_themselves_only_where_they_have_something():
    both, one = made(), made(("all",))
    shown = {(lane.title, lane.shows(both), lane.shows(one)) for lane in make_lanes()}
    assert shown == {
        ("aEEG", True, True),
        ("Spectrum L", True, False),
        ("Spectrum R", True, False),
        ("Spectrum", False, True),
        ("Asymmetry", True, False),
        ("Alpha/delta", True, True),
    }


def test_the_page_is_marked_without_a_new_picture(show):
    lane = show(RatioLane(), made())
    before = lane.grab().toImage()
    kept = lane._pixmap
    lane.set_page(Window(1500.0, 1510.0))
    after = lane.grab().toImage()
    assert lane._pixmap is kept
    x = round(lane.plot_rect.left() + lane.scale.x(1505.0))
    assert any(before.pixel(x + dx, 5) != after.pixel(x + dx, 5) for dx in (-2, -1, 0, 1, 2))
    assert before.pixel(x + 30, 5) == after.pixel(x + 30, 5)


def test_hours_are_drawn_from_the_coarse_level_and_look_the_same(show, monkeypatch):
    lane = show(SpectrumLane("left"), made())
    lane.set_range(0.0, 20.0)
    lane.resize(160, lane.height())
    coarse = colours(lane, 2000.0)
    monkeypatch.setattr("viewers.trend_lanes._WITHOUT_COARSE", 10**9)
    lane.changed()
    assert colours(lane, 2000.0) == coarse


def test_colours_span_what_is_there_in_steps_of_five_decibels():
    assert colour_range(made()) == (0.0, 20.0)
    empty = made()
    nothing = np.full_like(empty.coarse_decibels, np.nan)
    assert colour_range(Trends(empty.request, "t", "0", coarse_decibels=nothing)) == (-10.0, 30.0)


def test_the_image_has_the_highest_frequency_on_top_and_holes_are_clear():
    values = np.array([[0.0, 10.0], [np.nan, np.nan]], np.float32)
    table = np.arange(256, dtype=np.uint8)[:, None].repeat(3, axis=1)
    image = spectrum_image(values, 0.0, 10.0, table)
    assert (image.width(), image.height()) == (2, 2)
    assert image.pixelColor(0, 0).red() == 255
    assert image.pixelColor(0, 1).red() == 0
    assert image.pixelColor(1, 0).alpha() == 0


def test_both_themes_draw_all_lanes(show):
    for lane in make_lanes():
        if lane.shows(made()):
            show(lane, made())
            pictures = []
            for name in ("light", "dark"):
                lane.set_theme(theme(name))
                pictures.append(lane.grab().toImage())
            assert pictures[0] != pictures[1]


def test_small_helpers():
    assert runs(np.array([True, True, False, True])) == [(0, 2), (3, 4)]
    assert [signed(v) for v in (0.254, -0.1, float("nan"))] == ["+0.25", "−0.10", "–"]


def test_the_scale_of_amplitudes_stands_beside_the_curves_and_not_over_them(show):
    lane = show(AmplitudeLane(), made())
    lane.setFixedHeight(AmplitudeLane.least_px)
    image, canvas = lane.grab().toImage(), lane.theme.colour("canvas").name()
    left = round(lane.plot_rect.left())
    assert any(image.pixelColor(x, y).name() != canvas for x in range(left - 40, left - 16) for y in range(14))
    with_scale = lane.grab().toImage().copy(left, 0, lane.width() - left, lane.height())
    lane._paint_heading = lambda _painter: None
    lane.changed()
    assert lane.grab().toImage().copy(left, 0, lane.width() - left, lane.height()) == with_scale
