"""How much of a recording is done in a minute, told while it is done."""

from __future__ import annotations

from typing import Any

import pytest

from analysis.progress import Cancelled, Progress
from analysis.service import Pace, hours_per_minute


class Listening(Progress):
    def __init__(self) -> None:
        self.told: list[Any] = []

    def check(self) -> None:
        raise Cancelled

    def report(self, done: float, total: float, message: str = "") -> None:
        self.told.append((done, total, message))

    def partial(self, result: Any) -> None:
        self.told.append(result)


def test_hours_of_recording_in_a_minute_of_work() -> None:
    assert hours_per_minute(7200, 30) == 4
    assert hours_per_minute(7200, 0) is None


def test_the_pace_stands_behind_the_message_once_it_is_known() -> None:
    time, listening = [50.0], Listening()
    pace = Pace(listening, 7200, lambda: time[0])
    pace.report(0, 8, "scoring")
    time[0] += 0.5
    pace.report(1, 8, "scoring")
    time[0] += 29.5
    pace.report(2, 8, "scoring")  # a quarter of two hours in half a minute
    assert listening.told == [(0, 8, "scoring"), (1, 8, "scoring"), (2, 8, "scoring, 1 h/min")]
    assert pace.spent == 30
    pace.partial("a part")
    assert listening.told[-1] == "a part"
    pace.report(0, 0, "nothing to do")
    with pytest.raises(Cancelled):
        pace.check()
