"""Every part of the window by keyboard: F6 goes from part to part, and what has the focus keeps the keys it needs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PyQt6.QtCore import QEvent, QObject, Qt
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QAbstractButton, QApplication, QComboBox, QPushButton, QTabBar, QToolButton, QWidget

if TYPE_CHECKING:
    from app.main_window import MainWindow

_ENTER = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})
_PRESS = frozenset({Qt.Key.Key_Space})
_UP_DOWN = frozenset({Qt.Key.Key_Up, Qt.Key.Key_Down})
_SIDEWAYS = frozenset({Qt.Key.Key_Left, Qt.Key.Key_Right})


def needed_keys(widget: QWidget) -> frozenset[Qt.Key]:
    """The keys that a control is worked with, which are those of the traces everywhere else."""
    if isinstance(widget, QAbstractButton):
        return _PRESS | _ENTER | (frozenset({Qt.Key.Key_Down}) if _opens_menu(widget) else frozenset())
    if isinstance(widget, QComboBox):
        return _PRESS | _UP_DOWN
    return _SIDEWAYS if isinstance(widget, QTabBar) else frozenset()


def _opens_menu(widget: QWidget) -> bool:
    return isinstance(widget, QToolButton | QPushButton) and widget.menu() is not None


class KeyWays(QObject):
    """Moves the focus between toolbar, panels, trends and traces, and watches over the keys of whatever has it."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._on_focus)

    def handlers(self) -> dict[str, Callable[[], None]]:
        """What the actions do."""
        return {"next_part": partial(self.step, 1), "previous_part": partial(self.step, -1)}

    # From part to part

    def step(self, step: int) -> None:
        """Give the focus to the next part of the window, or with -1 to the one before."""
        parts = self._parts()
        if not parts:
            return
        here = self._part_with_focus([part for part, _first in parts])
        parts[(here + step) % len(parts)][1].setFocus(Qt.FocusReason.TabFocusReason)

    def _parts(self) -> list[tuple[QWidget, QWidget]]:
        """The parts to be seen with what takes the focus in each: toolbar, left, trends, traces, right."""
        window = self._window
        sides: dict[Qt.DockWidgetArea, list[QWidget]] = {}
        for dock in window.docks.values():
            if dock.isVisible() and not dock.isFloating() and window.rect().intersects(dock.geometry()):
                sides.setdefault(window.dockWidgetArea(dock), []).append(dock)
        left, right = (
            sorted(sides.get(side, []), key=QWidget.y)
            for side in (Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea)
        )
        canvas = window.view.trace_view.canvas
        found = [(part, _first_in(part)) for part in (window.toolbar, window.notices, *left, window.view.trends)]
        found += [(window.view, canvas), *((part, _first_in(part)) for part in right)]
        return [(part, first) for part, first in found if first is not None]

    def _part_with_focus(self, parts: list[QWidget]) -> int:
        focus = QApplication.focusWidget()
        holding = [i for i, part in enumerate(parts) if focus is not None and part.isAncestorOf(focus)]
        return holding[0] if holding else parts.index(self._window.view)

    # The keys of what has the focus

    def _on_focus(self, old: QWidget | None, now: QWidget | None) -> None:
        # Neither is kept: of a widget that Qt made, such as a dialog's button, PyQt does not hear when it goes.
        if old is not None:
            old.removeEventFilter(self)
        if now is not None and needed_keys(now) and self._is_mine(now):
            now.installEventFilter(self)

    def _is_mine(self, widget: QWidget) -> bool:
        above: QWidget | None = widget
        while above is not None and above is not self._window:
            above = above.parentWidget()
        return above is not None

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Keep the keys that a control needs from the actions of the window, and press it with Enter as with Space."""
        if not isinstance(event, QKeyEvent) or not isinstance(watched, QWidget):
            return False
        plain = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier == Qt.KeyboardModifier.NoModifier
        if not plain or Qt.Key(event.key()) not in needed_keys(watched):
            return False
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        if event.type() != QEvent.Type.KeyPress or not isinstance(watched, QAbstractButton) or event.key() in _PRESS:
            return False
        if _opens_menu(watched):
            watched.showMenu()
        else:
            watched.click()
        return True


def _first_in(part: QWidget) -> QWidget | None:
    """The first widget of a part that Tab would stop at; None where there is none to be seen."""
    if not part.isVisible():
        return None
    widget = part.nextInFocusChain()
    while widget is not None and widget is not part:
        tabbed = widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        if tabbed and part.isAncestorOf(widget) and widget.isVisible() and widget.isEnabled():
            return widget
        widget = widget.nextInFocusChain()
    return None
