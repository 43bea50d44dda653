"""H held down: the overlays come back whenever and wherever the key is let go."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import QCoreApplication, QEvent, Qt
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QLineEdit, QWidget

from app.held_key import Peek


class _Window(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self.peek = Peek(self, lambda: self.said.append("begin"), lambda: self.said.append("end"))
        self.field = QLineEdit(self)

    def keyPressEvent(self, event) -> None:
        if not self.peek.takes(event):
            super().keyPressEvent(event)


@pytest.fixture
def window(qtbot) -> _Window:
    made = _Window()
    qtbot.addWidget(made)
    return made


def held(kind: QEvent.Type, repeats: bool) -> QKeyEvent:
    return QKeyEvent(kind, Qt.Key.Key_H, Qt.KeyboardModifier.NoModifier, "h", repeats)


def test_begins_once_and_ends_when_the_key_comes_up(window, qtbot):
    qtbot.keyPress(window, Qt.Key.Key_H)
    for _ in range(3):  # a key that is held says so again and again
        QCoreApplication.sendEvent(window, held(QEvent.Type.KeyRelease, True))
        QCoreApplication.sendEvent(window, held(QEvent.Type.KeyPress, True))
    assert window.said == ["begin"]
    qtbot.keyRelease(window, Qt.Key.Key_H)
    assert window.said == ["begin", "end"]
    qtbot.keyPress(window, Qt.Key.Key_H, Qt.KeyboardModifier.ControlModifier)
    assert window.said == ["begin", "end"]


def test_ends_when_the_window_is_left(window, qtbot):
    qtbot.keyPress(window, Qt.Key.Key_H)
    QCoreApplication.sendEvent(window.field, QEvent(QEvent.Type.WindowDeactivate))
    assert window.said == ["begin"]
    QCoreApplication.sendEvent(window, QEvent(QEvent.Type.WindowDeactivate))
    assert window.said == ["begin", "end"]
    qtbot.keyRelease(window, Qt.Key.Key_H)
    assert window.said == ["begin", "end"]


def test_ends_when_a_field_that_took_the_keyboard_hears_the_key_come_up(window, qtbot):
    qtbot.keyPress(window, Qt.Key.Key_H)
    qtbot.keyRelease(window.field, Qt.Key.Key_H)
    assert window.said == ["begin", "end"]
