"""H held down: the bare traces for as long as the key is held, wherever it is let go."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import QCoreApplication, QEvent, QObject, Qt
from PyQt6.QtGui import QKeyEvent

_LOST = (QEvent.Type.WindowDeactivate, QEvent.Type.ApplicationDeactivate)


class Peek(QObject):
    """Calls `begin` when H goes down, and `end` when it comes up or the window is left before that."""

    def __init__(self, window: QObject, begin: Callable[[], None], end: Callable[[], None]) -> None:
        super().__init__(window)
        self._window = window
        self._begin, self._end = begin, end
        self._is_held = False

    def takes(self, event: QKeyEvent) -> bool:
        """Whether a key that went down is this one; begins if so."""
        if event.key() != Qt.Key.Key_H or event.modifiers():
            return False
        app = QCoreApplication.instance()
        if not event.isAutoRepeat() and not self._is_held and app is not None:
            self._is_held = True
            # The key may come up while another part or another program has the keyboard.
            app.installEventFilter(self)
            self._begin()
        return True

    def let_go(self) -> None:
        """End, if H is held."""
        app = QCoreApplication.instance()
        if self._is_held and app is not None:
            self._is_held = False
            app.removeEventFilter(self)
            self._end()

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """While H is held: whatever tells that it no longer is."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyRelease:
            if event.key() == Qt.Key.Key_H and not event.isAutoRepeat():
                self.let_go()
        elif event is not None and event.type() in _LOST and watched in (self._window, QCoreApplication.instance()):
            self.let_go()
        return False
