"""The page scrolling on by itself, in real time or a multiple of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial

from PyQt6.QtCore import QEvent, QObject, Qt, QTimer, pyqtSignal
from PyQt6.QtGui import QAction, QKeyEvent
from PyQt6.QtWidgets import QAbstractButton, QApplication, QComboBox, QWidget

from analysis.recording import Window
from app.actions import PLAY_SPEEDS
from app.session import Session

SPEEDS = PLAY_SPEEDS
_FRAME_MS = 33
_USE_SPACE = (QAbstractButton, QComboBox)  # pressed or opened by it while they have the keyboard


class Playing(QObject):
    """Moves the page by the clock: a page that comes late costs pictures, never time.

    It ends with Space, at the end of the recording, and with whatever else moves the page; another montage, other
    filters and another length of page leave it going.
    """

    changed = pyqtSignal(str)  # what is to be known while it plays; empty once it has stopped
    told = pyqtSignal(str)

    def __init__(
        self,
        session: Session,
        is_page_there: Callable[[], bool],
        parent: QObject | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`is_page_there()` tells whether the page asked for last has come; `now()` is a clock in seconds."""
        super().__init__(parent)
        self._session = session
        self._is_page_there = is_page_there
        self._now = now
        self._actions: Mapping[str, QAction] = {}
        self._began = (0.0, 0.0)  # where the page began, and when
        self._page = session.window  # as it was shown last
        self._is_moving = False
        self.speed = SPEEDS[0]
        self._remark = ""
        self._frames = QTimer(self)
        self._frames.setInterval(_FRAME_MS)
        self._frames.timeout.connect(self.advance)
        session.window_changed.connect(self._on_window)
        session.opened.connect(self.stop)

    def handlers(self) -> dict[str, Callable[[], None]]:
        """What the actions do."""
        speeds = {f"play_{speed}": partial(self.set_speed, speed) for speed in SPEEDS}
        return {"play": self.toggle, "next_play_speed": self.next_speed, **speeds}

    def attach(self, actions: Mapping[str, QAction]) -> None:
        """Take the actions, of which those of the speeds show the one in force."""
        self._actions = actions
        actions["play"].setAutoRepeat(False)
        self._check_speed()

    @property
    def is_on(self) -> bool:
        """Whether the page scrolls."""
        return self._frames.isActive()

    def toggle(self) -> None:
        """Play, or stop; a button that has the keyboard gets its Space all the same."""
        focused = QApplication.focusWidget()
        if isinstance(focused, _USE_SPACE):
            _press_space(focused)
        elif self.is_on:
            self.stop()
        else:
            self.start()

    def start(self) -> None:
        """Scroll on from the page that is shown."""
        if self._session.recording is None:
            self.told.emit("open a recording first")
        elif self._session.window.start >= self._last_start():
            self.told.emit("nothing to play: the recording ends on this page")
        else:
            self._begin_here()
            self._frames.start()
            self._say()

    def stop(self, _what: object = None) -> bool:
        """Stay where the page is; whether it was moving."""
        was_on = self.is_on
        self._frames.stop()
        if was_on:
            self.changed.emit("")
        return was_on

    def next_speed(self) -> None:
        """Take the next speed, after the fastest the slowest."""
        self.set_speed(SPEEDS[(SPEEDS.index(self.speed) + 1) % len(SPEEDS)])

    def set_speed(self, speed: int) -> None:
        """Play at so many seconds a second, from here on."""
        self.speed = speed
        self._check_speed()
        if self.is_on:
            self._begin_here()
            self._say()
        else:
            self.told.emit(f"play speed {speed}x")

    def advance(self) -> None:
        """Show the page that the clock asks for, unless the one before is still on its way."""
        if not self.is_on or not self._is_page_there():
            return
        began, at = self._began
        start, last = began + (self._now() - at) * self.speed, self._last_start()
        self._is_moving = True
        self._session.go_to(min(start, last))
        self._is_moving = False
        self._page = self._session.window
        if start >= last:
            self.stop()
            self.told.emit("played to the end of the recording")

    def _last_start(self) -> float:
        return max(0.0, self._session.duration - self._session.window.duration)

    def _begin_here(self) -> None:
        self._page = self._session.window
        self._began = self._page.start, self._now()

    def _on_window(self, window: Window) -> None:
        """Let go of the page when somebody else moves it; one that only became longer or shorter is played on."""
        if not self.is_on or self._is_moving:
            return
        if window.start == self._page.start:
            self._begin_here()
        else:
            self.stop()

    def set_remark(self, text: str) -> None:
        """Say something more while it plays, such as what cannot keep up; empty: nothing."""
        if text != self._remark:
            self._remark = text
            if self.is_on:
                self._say()

    def _say(self) -> None:
        remark = f", {self._remark}" if self._remark else ""
        self.changed.emit(f"playing {self.speed}x{remark}, Space stops")

    def _check_speed(self) -> None:
        for speed in SPEEDS if self._actions else ():
            self._actions[f"play_{speed}"].setChecked(speed == self.speed)


def _press_space(widget: QWidget) -> None:
    for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
        QApplication.sendEvent(widget, QKeyEvent(kind, Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier, " "))
