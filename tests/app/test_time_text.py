"""Times in words and back."""

from __future__ import annotations

from datetime import datetime

import pytest

from analysis.time_words import elapsed
from app.time_text import FROM_HERE, FROM_START, HOURS, OF_DAY, SECONDS, SHARE, clock, clock_with_day, readings

START = datetime(2020, 3, 2, 23, 59, 30)  # a Monday
DAY = 86_400.0


@pytest.mark.parametrize(
    ("seconds", "decimals", "text"),
    [
        (0, 0, "00:00"),
        (59.6, 0, "01:00"),
        (15.15, 1, "00:15.2"),
        (3599.9996, 3, "1:00:00.000"),
        (86399, 0, "23:59:59"),
        (-1.5, 1, "-00:01.5"),
    ],
)
def test_elapsed(seconds, decimals, text):
    assert elapsed(seconds, decimals) == text


def test_clock_crosses_midnight():
    assert clock(START, 45) == "00:00:15"
    assert clock_with_day(START, 45) == "Tue 3 Mar 00:00:15"
    assert clock(None, 45) == clock_with_day(None, 45) == ""


def read(text: str, duration: float = 2 * DAY, **more) -> list[tuple[float, str]]:
    return [(reading.seconds, reading.taken_for) for reading in readings(text, START, duration, **more)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("90", (90, SECONDS)),
        ("90,5", (90.5, SECONDS)),
        ("0:01:30.5", (90.5, FROM_START)),
        ("1h30m", (5400, FROM_START)),
        ("1.5 h", (5400, FROM_START)),
        ("1d 2 h 3 min 4s", (93_784, FROM_START)),
        ("250 ms", (0.25, FROM_START)),
        ("+30", (130, FROM_HERE)),
        ("-1:30", (10, FROM_HERE)),
        ("+ 2 min", (220, FROM_HERE)),
        ("50%", (DAY, SHARE)),
        ("@23:59:40", (10, OF_DAY)),
        ("Mon 23:59:40", (10, OF_DAY)),
        ("tuesday 00:00", (30, OF_DAY)),
        ("Wed 0:00", (DAY + 30, OF_DAY)),
        ("day 2 10:41", (38_490, OF_DAY)),
        ("3 Mar 10:41", (38_490, OF_DAY)),
        ("mar 4 10:41", (DAY + 38_490, OF_DAY)),
        ("2020-03-03 10:41:30", (38_520, OF_DAY)),
    ],
)
def test_each_way_of_writing_a_time(text, found):
    assert read(text, here=100.0)[0] == found


def test_what_may_mean_several_things_is_told_in_the_order_of_the_axis():
    assert read("4:30") == [
        (270, FROM_START),
        (16_200, HOURS),
        (16_230, OF_DAY),
        (DAY + 16_230, OF_DAY),
    ]
    assert read("4:30", clock_first=True)[0] == (16_230, OF_DAY)
    assert read("10:41:30") == [(38_490, FROM_START), (38_520, OF_DAY), (DAY + 38_520, OF_DAY)]


def test_only_what_lies_in_the_recording_is_offered():
    assert read("4:30", 3600.0) == [(270, FROM_START)]
    assert read("@23:00", 3600.0) == []
    assert read("0:00", 59.0) == [(0, FROM_START), (30, OF_DAY)]
    assert read("-200", here=100.0) == []


@pytest.mark.parametrize(
    "text", ["", "tomorrow", "1:2:3:4", "@12", "1:75:00", "25:61", "Sun 10:00", "4 Foo 10:00", "%", "1e3", "nan", "--3"]
)
def test_what_is_no_time_is_nothing(text):
    assert read(text, DAY / 2) == []


def test_times_of_day_need_a_start():
    assert readings("@10:00:00", None, DAY) == []
    assert [reading.taken_for for reading in readings("10:00", None, DAY)] == [FROM_START, HOURS]
