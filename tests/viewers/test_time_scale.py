"""Ticks and times as a reader writes them."""

from __future__ import annotations

from datetime import datetime

import pytest

from analysis.recording import Window
from viewers.time_scale import TimeScale, clock_origin, time_text


def test_pixels_and_times_are_inverse() -> None:
    scale = TimeScale(Window(86_000.25, 86_010.25), 1400)
    assert scale.x(86_000.25) == 0
    assert scale.x(86_010.25) == pytest.approx(1400)
    assert scale.time(scale.x(86_003.77)) == pytest.approx(86_003.77, abs=1e-9)


@pytest.mark.parametrize(
    ("seconds", "step"), [(10, 1), (20, 2), (30, 2), (60, 5), (300, 30), (3600, 300), (86_400, 7200), (1, 0.1)]
)
def test_labelled_step_fits_the_page(seconds: float, step: float) -> None:
    assert TimeScale(Window(0, seconds), 1200).step(74) == step


def test_pages_of_seconds_are_never_divided_below_a_second() -> None:
    assert TimeScale(Window(0, 10), 4000).step(74) == 1
    assert TimeScale(Window(0, 20), 1200).minor_step(2) == 1


def test_ticks_lie_on_multiples_and_inside() -> None:
    scale = TimeScale(Window(3.2, 13.2), 1000)
    assert scale.ticks(2) == [4, 6, 8, 10, 12]
    assert scale.ticks(2, origin=0.5) == [3.5, 5.5, 7.5, 9.5, 11.5]


@pytest.mark.parametrize(
    ("seconds", "step", "text"),
    [
        (0, 1, "00:00"),
        (75, 1, "01:15"),
        (3675, 1, "1:01:15"),
        (59.9999, 1, "01:00"),
        (1.25, 0.01, "00:01.25"),
        (21.385, 0.001, "00:21.385"),
    ],
)
def test_elapsed_time(seconds: float, step: float, text: str) -> None:
    assert time_text(seconds, step) == text


def test_clock_goes_past_midnight_and_ticks_fall_on_whole_seconds_of_it() -> None:
    start = datetime(2020, 3, 2, 23, 59, 58, 500_000)
    ticks = TimeScale(Window(0, 4), 1000).ticks(1, clock_origin(start))
    assert ticks == pytest.approx([0.5, 1.5, 2.5, 3.5])
    assert [time_text(t, 1, start) for t in ticks] == ["23:59:59", "00:00:00", "00:00:01", "00:00:02"]
    assert time_text(0.25, 0.001, start) == "23:59:58.750"
    assert clock_origin(None) == 0
