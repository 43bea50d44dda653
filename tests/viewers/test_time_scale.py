"""Ticks and times as a reader writes them."""

from __future__ import annotations

from datetime import datetime

import pytest

from analysis.recording import Window
from viewers.time_scale import TimeScale, clock_origin, tick_text, time_text


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


START = datetime(2020, 3, 2, 20, 0)


@pytest.mark.parametrize(
    ("window", "step", "times", "texts"),
    [
        ((1.2, 1.3), 0.01, (1.21, 1.22), ("00:01.210", "00:01.220")),
        ((0, 1), 0.1, (0.1, 0.9), ("00:00.1", "00:00.9")),
        ((0, 10), 1, (1, 9), ("00:01", "00:09")),
        ((0, 300), 30, (30, 270), ("00:30", "04:30")),
        ((3300, 3900), 60, (3540, 3660), ("0:59:00", "1:01:00")),
        ((0, 14_400), 900, (0, 900, 4500), ("0:00:00", "0:15:00", "1:15:00")),
        ((0, 86_400), 7200, (0, 7200, 86_400), ("0", "2 h", "24 h")),
        ((0, 5 * 86_400), 43_200, (0, 43_200, 86_400), ("0", "12 h", "1 d")),
        ((0, 9 * 86_400), 43_200, (129_600, 432_000), ("1 d 12 h", "5 d")),
    ],
)
def test_ticks_from_the_start_are_written_as_fine_as_the_page_needs(window, step, times, texts) -> None:
    assert tuple(tick_text(t, step, Window(*window)) for t in times) == texts


@pytest.mark.parametrize(
    ("window", "step", "times", "texts"),
    [
        ((1.2, 1.3), 0.01, (1.21,), ("20:00:01.210",)),
        ((0, 10), 1, (1,), ("20:00:01",)),
        ((0, 3600), 300, (300,), ("20:05",)),
        ((0, 86_400), 7200, (0, 7200, 14_400, 21_600), ("20:00", "22:00", "Tue 3 Mar", "02:00")),
        ((0, 9 * 86_400), 86_400, (14_400, 100_800), ("Tue 3 Mar", "Wed 4 Mar")),
    ],
)
def test_ticks_of_the_day_name_the_day_where_it_begins(window, step, times, texts) -> None:
    assert tuple(tick_text(t, step, Window(*window), START) for t in times) == texts


@pytest.mark.parametrize(
    ("seconds", "width"), [(0.1, 1200), (0.1, 4000), (1, 1200), (7 * 86_400, 1200), (60 * 86_400, 700)]
)
def test_labels_have_room_on_pages_of_any_length(seconds: float, width: float) -> None:
    scale = TimeScale(Window(0, seconds), width)
    step = scale.step(74)
    assert step * scale.px_per_second >= 74
    assert 2 <= len(scale.ticks(step)) <= width / 74 + 1
    assert step / scale.minor_step(step) <= 60
