"""Times in words and back."""

from __future__ import annotations

from datetime import datetime

import pytest

from app.time_text import clock, elapsed, parse_time

START = datetime(2020, 3, 2, 23, 59, 30)


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
    assert clock(None, 45) == ""


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("1:30", 90),
        ("0:01:30.5", 90.5),
        ("@23:59:40", 10),
        ("@00:00", 30),
        ("nonsense", None),
        ("1:2:3:4", None),
        ("9999", None),
        ("@12", None),
    ],
)
def test_parse_time(text, seconds):
    assert parse_time(text, START, 3600.0) == seconds


def test_a_time_of_day_needs_a_start():
    assert parse_time("@10:00:00", None, 3600.0) is None
