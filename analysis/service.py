"""What may be chosen of how a model is served, and how much of a recording it does in a minute. No torch."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from analysis.progress import Progress

MEMORY_SHARE = 0.5  # of the free memory, which a batch may take
FLOAT32, BFLOAT16 = "float32", "bfloat16"
PRECISIONS = ("auto", FLOAT32, BFLOAT16)
_TOLD_AFTER = 1.0  # seconds; what is told of a shorter time jumps


def hours_per_minute(recorded: float, spent: float) -> float | None:
    """Hours of a recording in a minute of work, from seconds of both; None where no time was spent."""
    return recorded / 3600 / (spent / 60) if spent > 0 else None


class Pace(Progress):
    """Passes progress on with the hours of recording that are done in a minute; `recorded` seconds are to be done."""

    def __init__(self, whole: Progress, recorded: float, now: Callable[[], float] = time.monotonic) -> None:
        self._whole, self._recorded, self._now = whole, recorded, now
        self._began = now()

    @property
    def spent(self) -> float:
        """Seconds since the work began."""
        return self._now() - self._began

    def check(self) -> None:
        """Raise Cancelled when the work is no longer wanted."""
        self._whole.check()

    def report(self, done: float, total: float, message: str = "") -> None:
        """Report with the pace behind the message."""
        spent, share = self.spent, done / total if total > 0 else 0.0
        if share > 0 and spent >= _TOLD_AFTER:
            message = f"{message}, {hours_per_minute(share * self._recorded, spent):.3g} h/min"
        self._whole.report(done, total, message)

    def partial(self, result: Any) -> None:
        """Pass a result on."""
        self._whole.partial(result)
