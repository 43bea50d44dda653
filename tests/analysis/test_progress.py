"""The bar of the terminal: drawn where someone looks, not too often, and ended before anything else is printed."""

from __future__ import annotations

import io

import pytest

from analysis import progress as module
from analysis.progress import ConsoleProgress, PartProgress, Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, to be set."""
    time = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: time[0])
    return time


def test_nothing_is_drawn_where_nobody_looks() -> None:
    stream = io.StringIO()
    bar = ConsoleProgress("Copying", stream)
    bar.report(1, 2, "half")
    bar.close()
    assert stream.getvalue() == ""


def test_a_line_tells_share_time_left_and_what_is_done(clock: list[float]) -> None:
    stream = Terminal()
    bar = ConsoleProgress("Copying", stream, width=8)
    clock[0] += 10
    bar.report(1, 4, "copying")
    assert stream.getvalue() == f"\rCopying [##......]  25%   30 s left {'copying':<32}"
    bar.close()
    bar.close()
    assert stream.getvalue().count("\n") == 1


def test_it_is_drawn_ten_times_a_second_at_most_and_always_at_the_end(clock: list[float]) -> None:
    stream = Terminal()
    bar = ConsoleProgress("Copying", stream)
    for k in range(100):
        clock[0] += 0.025
        bar.report(k, 100)
    drawn = stream.getvalue().count("\r")
    assert 20 <= drawn <= 25
    bar.report(100, 100)
    assert stream.getvalue().count("\r") == drawn + 1
    assert "100%" in stream.getvalue()


def test_work_of_unknown_size_and_more_than_all_of_it_can_be_told(clock: list[float]) -> None:
    stream = Terminal()
    bar = ConsoleProgress("Copying", stream, width=4)
    bar.report(0, 0)
    bar.report(3, 2)
    assert "[....]   0%" in stream.getvalue()
    assert "[####] 100%" in stream.getvalue()


def test_a_part_is_told_as_part_of_the_whole() -> None:
    told: list[tuple[float, float, str]] = []

    class Listening(Progress):
        def report(self, done: float, total: float, message: str = "") -> None:
            told.append((done, total, message))

    part = PartProgress(Listening(), 2, 5)
    part.report(3, 4, "nodes")
    part.report(9, 4)
    part.report(0, 0)
    assert told == [(2.75, 5, "nodes"), (3.0, 5, ""), (2.0, 5, "")]
