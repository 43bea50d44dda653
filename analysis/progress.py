"""How long work tells of itself and learns that it is no longer wanted."""

from __future__ import annotations

import sys
import time
from typing import Any, TextIO


class Cancelled(Exception):
    """The work was cancelled by the person who started it; partial output is dropped."""


class Progress:
    """Receives the progress of one piece of work; this one ignores it and never cancels."""

    def check(self) -> None:
        """Raise Cancelled when the work is no longer wanted; for work that waits and has nothing to report."""

    def report(self, done: float, total: float, message: str = "") -> None:
        """Take note that `done` of `total` is finished; raises Cancelled when the work is no longer wanted."""

    def partial(self, result: Any) -> None:
        """Take a result that is complete for a part of the request, as soon as it is ready."""


class PartProgress(Progress):
    """The progress of one of several equal parts of a piece of work, numbered from 0, told as that of the whole."""

    def __init__(self, whole: Progress, number: int, count: int) -> None:
        self._whole, self._number, self._count = whole, number, count

    def check(self) -> None:
        """Raise Cancelled when the whole is no longer wanted."""
        self._whole.check()

    def report(self, done: float, total: float, message: str = "") -> None:
        """Report what is done of this part, and of all before it."""
        share = min(1.0, done / total) if total > 0 else 0.0
        self._whole.report(self._number + share, self._count, message)


class ConsoleProgress(Progress):
    """Draws one line with a bar on a terminal, and stays silent anywhere else."""

    def __init__(self, title: str, stream: TextIO | None = None, width: int = 24) -> None:
        self._title = title
        self._stream = stream if stream is not None else sys.stderr
        self._width = width
        self._drawn_at = 0.0
        self._started = time.monotonic()
        self._open = False

    def report(self, done: float, total: float, message: str = "") -> None:
        """Redraw the bar at most ten times a second."""
        if not self._stream.isatty():
            return
        now = time.monotonic()
        if now - self._drawn_at < 0.1 and done < total:
            return
        self._drawn_at = now
        share = min(1.0, done / total) if total > 0 else 0.0
        filled = round(share * self._width)
        left = (now - self._started) * (1 / share - 1) if share > 0 else 0.0
        bar = "#" * filled + "." * (self._width - filled)
        self._stream.write(f"\r{self._title} [{bar}] {share:4.0%} {left:4.0f} s left {message:<32.32}")
        self._stream.flush()
        self._open = True

    def close(self) -> None:
        """End the line so that what is printed next begins on its own."""
        if self._open:
            self._stream.write("\n")
            self._stream.flush()
            self._open = False
