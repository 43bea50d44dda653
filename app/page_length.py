"""How much time a page shows: as text, as a reader types it, and as a speed in millimetres a second of screen."""

from __future__ import annotations

import re

from PyQt6.QtCore import QObject, pyqtSignal

from app.session import Session
from app.view import LEAST_PAGE_SECONDS, PAGE_SPEEDS, View
from viewers.recording_view import RecordingView

LONGEST_PAGE_SECONDS = 31 * 86400.0
_UNITS = {"": 1.0, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_TYPED = re.compile(r"([\d.,]+)\s*([a-z]*)(\s*/\s*s)?$")


def page_text(seconds: float) -> str:
    """A page length in the unit that reads best."""
    if seconds < 60 or seconds % 60:
        return f"{seconds:.4g} s" if seconds < 1000 else f"{seconds / 60:.4g} min"
    if seconds < 3600:
        return f"{seconds / 60:g} min"
    return f"{seconds / 3600:.4g} h"


def rounded(seconds: float) -> float:
    """A length as exactly as anyone wants to read it."""
    return float(f"{seconds:.3g}") if seconds < 60 else float(round(seconds))


def parse_length(text: str, duration: float) -> tuple[float, float] | None:
    """(seconds, 0) for "0.5", "90 s", "2 min", "1:30", "4 h", "all"; (0, speed) for "30 mm/s"; None for other words."""
    word = text.strip().lower()
    if word in ("all", "whole"):
        return (duration, 0.0) if duration >= LEAST_PAGE_SECONDS else None
    if ":" in word:
        return _clock_length(word)
    match = _TYPED.match(word)
    if match is None:
        return None
    try:
        number = float(match[1].replace(",", "."))
    except ValueError:
        return None
    if match[3]:
        return (0.0, number) if match[2] == "mm" and 1 <= number <= 1000 else None
    return _allowed(number * _UNITS[match[2]]) if match[2] in _UNITS else None


def _clock_length(word: str) -> tuple[float, float] | None:
    try:
        parts = [float(part) for part in word.split(":")]
    except ValueError:
        return None
    seconds = 0.0
    for part in parts:
        seconds = seconds * 60 + part
    return _allowed(seconds) if len(parts) <= 3 else None


def _allowed(seconds: float) -> tuple[float, float] | None:
    return (seconds, 0.0) if LEAST_PAGE_SECONDS <= seconds <= LONGEST_PAGE_SECONDS else None


class TimeBase(QObject):
    """Keeps the page as long as a chosen speed asks, whatever the width of the traces and the size of the screen."""

    changed = pyqtSignal(object, bool)  # [(mm/s, seconds a page)], whether the screen has been measured

    def __init__(self, session: Session, view: RecordingView, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._view = view
        view.width_changed.connect(self._follow)
        session.opened.connect(self._follow)

    def seconds_at(self, mm_per_second: float) -> float:
        """How much time fits on a page at a speed."""
        return max(LEAST_PAGE_SECONDS, round(self._view.width_mm() / mm_per_second, 3))

    def choices(self) -> list[tuple[float, float]]:
        """The usual speeds, each with the length of its page in seconds."""
        return [(speed, self.seconds_at(speed)) for speed in PAGE_SPEEDS]

    def choose(self, seconds: float, mm_per_second: float) -> None:
        """Show so many seconds a page, or (a speed that is not 0) so many millimetres a second."""
        if mm_per_second:
            seconds = self.seconds_at(mm_per_second)
        self._session.change_view(page_seconds=float(seconds), mm_per_second=float(mm_per_second))

    def choose_speed(self, mm_per_second: float) -> None:
        """Show so many millimetres a second."""
        self.choose(0.0, mm_per_second)

    def follow(self) -> None:
        """Take another width or another size of the screen's pixels into account."""
        self.changed.emit(self.choices(), self._view.is_calibrated())
        view: View = self._session.view
        if view.mm_per_second and self._session.recording is not None:
            seconds = self.seconds_at(view.mm_per_second)
            if seconds != view.page_seconds:
                self._session.change_view(page_seconds=seconds, mm_per_second=view.mm_per_second)

    def _follow(self, _what: object) -> None:
        self.follow()
