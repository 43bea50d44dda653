"""Moving about in a recording: longer and shorter pages about a time, a time typed in, and back to places visited."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtWidgets import QWidget

from analysis.recording import Window
from app.asking import ask
from app.dialogs.go_to_time import GoToTimeDialog
from app.session import Session
from app.view import LEAST_PAGE_SECONDS, PAGE_SECONDS

_SHORTER = (LEAST_PAGE_SECONDS, 0.2, 0.5)
_KEPT = 50
_ONE_GESTURE = 1.0  # seconds: jumps that follow this fast, as when the overview is dragged, are one
_NEAR = 0.5  # of a page: moving no farther than this beyond the page is no jump


class Places:
    """Where the page has been before each jump, and the way forward again after going back."""

    def __init__(self) -> None:
        self._behind: list[Window] = []
        self._ahead: list[Window] = []
        self._jumped_at = -_ONE_GESTURE

    @property
    def visited(self) -> list[Window]:
        """Places behind, the last one first."""
        return self._behind[::-1]

    def moved(self, before: Window, after: Window, now: float) -> None:
        """Take note of a move at `now` (seconds of any clock); only a jump leaves a place behind."""
        if not is_jump(before, after):
            return
        if now - self._jumped_at >= _ONE_GESTURE:
            self._behind = [*self._behind, before][-_KEPT:]
            self._ahead = []
        self._jumped_at = now

    def back(self, here: Window) -> Window | None:
        """The place before the last jump, or None; `here` can be gone forward to."""
        return self._step(self._behind, self._ahead, here)

    def forward(self, here: Window) -> Window | None:
        """The place that was gone back from, or None."""
        return self._step(self._ahead, self._behind, here)

    @staticmethod
    def _step(source: list[Window], target: list[Window], here: Window) -> Window | None:
        if not source:
            return None
        target.append(here)
        return source.pop()


def is_jump(before: Window, after: Window) -> bool:
    """Whether a move leaves the page and its neighbourhood; turning pages does not."""
    reach = _NEAR * before.duration
    return after.start > before.stop + reach or after.stop < before.start - reach


def page_lengths(duration: float) -> list[float]:
    """Lengths of a page in seconds, from the shortest to the whole recording."""
    shorter = [float(s) for s in (*_SHORTER, *PAGE_SECONDS) if s < duration]
    return [*shorter, duration] if duration > 0 else [*_SHORTER, *map(float, PAGE_SECONDS)]


class Travelling(QObject):
    """Handles the actions that move the page about, and remembers where it was."""

    told = pyqtSignal(str)

    def __init__(
        self,
        session: Session,
        window: QWidget,
        clock_shown: Callable[[], bool],
        looked_at: Callable[[], float | None],
    ) -> None:
        """`window` is under the dialogs; `clock_shown()` tells whether the axis shows times of day.

        `looked_at()` is the time on the page that the reader looks at; None where that is not known.
        """
        super().__init__(window)
        self._session = session
        self._window = window
        self._clock_shown = clock_shown
        self._looked_at = looked_at
        self._places = Places()
        self._here = session.window
        self._is_returning = False
        session.opened.connect(self._on_opened)
        session.window_changed.connect(self._on_window)

    def handlers(self) -> dict[str, Callable[[], None]]:
        """What the rows of the action table do."""
        return {
            "go_to_time": self.ask_time,
            "back": partial(self._return, True),
            "forward": partial(self._return, False),
            "longer_page": partial(self._zoom_here, 1),
            "shorter_page": partial(self._zoom_here, -1),
        }

    def _zoom_here(self, steps: int) -> None:
        self.zoom(steps, self._looked_at())

    def zoom(self, steps: int, at: float | None = None) -> None:
        """Show more (positive) or less time per page; `at` keeps its place on the screen, or else the left edge."""
        session = self._session
        before, lengths = session.view.page_seconds, page_lengths(session.duration)
        beyond = [s for s in lengths if s > before] if steps > 0 else [s for s in reversed(lengths) if s < before]
        if not beyond:
            return
        length = beyond[min(abs(steps), len(beyond)) - 1]
        start = session.window.start
        if at is not None:
            start = at - (at - start) * length / before
        session.change_view(page_seconds=length, start=start)

    def ask_time(self) -> None:
        """Ask for a time and show it at the left edge of the page."""
        recording = self._session.recording
        if recording is None:
            self.told.emit("open a recording first")
            return
        visited = [place.start for place in self._places.visited]
        here, duration = self._session.window.start, self._session.duration
        dialog = GoToTimeDialog(
            recording.start_datetime, duration, here, self._clock_shown(), visited, parent=self._window
        )
        if ask(dialog, self._session) and dialog.seconds is not None:
            self._session.go_to(dialog.seconds)

    def _return(self, back: bool) -> None:
        here = self._session.window
        place = self._places.back(here) if back else self._places.forward(here)
        if place is None:
            self.told.emit("no place before this one" if back else "no place after this one")
            return
        self._is_returning = True
        self._session.show(place.start, place.duration)
        self._is_returning = False

    def _on_opened(self, _recording: object) -> None:
        self._places = Places()
        self._here = self._session.window

    def _on_window(self, window: Window) -> None:
        before, self._here = self._here, window
        if not self._is_returning:
            self._places.moved(before, window, time.monotonic())
