"""Every action by its name: type a few letters of what is wanted, Enter does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PyQt6.QtCore import QEvent, QObject, Qt
from PyQt6.QtGui import QAction, QKeyEvent
from PyQt6.QtWidgets import QDialog, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from app.actions import ACTIONS

_ACTION_ROLE = Qt.ItemDataRole.UserRole
_WIDTH, _HEIGHT = 520, 380
_LIST_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


@dataclass(frozen=True)
class Command:
    """An action as it is listed: where it stands in the menus, what it is called now, and its keys."""

    menu: str
    action: QAction

    @property
    def text(self) -> str:
        """What the list shows."""
        keys = "  ".join(key.toString() for key in self.action.shortcuts())
        plain = self.action.text().replace("&", "")
        return f"{self.menu}: {plain}" + (f"     {keys}" if keys else "")


def rank(query: str, text: str) -> int | None:
    """How well a text answers a query (0 best), None where a word of the query is nowhere in it.

    Words that begin as the query does count for more than letters inside a word.
    """
    words = text.casefold().replace(":", " ").split()
    score = 0
    for wanted in query.casefold().split():
        if any(word.startswith(wanted) for word in words):
            continue
        if not any(wanted in word for word in words):
            return None
        score += 1
    return score


def find_commands(query: str, commands: Sequence[Command]) -> list[Command]:
    """The commands that answer a query, best first, and in the order of the menus where they do it equally well."""
    ranked = [(rank(query, command.text), i) for i, command in enumerate(commands)]
    return [commands[i] for found, i in sorted((r, i) for r, i in ranked if r is not None)]


class CommandSearch(QDialog):
    """A field and the list of what answers it; the chosen action is run when the dialog has closed."""

    def __init__(self, actions: Mapping[str, QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Find a command")
        self.resize(_WIDTH, _HEIGHT)
        self._commands = [Command(spec.menu, actions[spec.id]) for spec in ACTIONS if actions[spec.id].isVisible()]
        self.chosen: QAction | None = None
        self.field = QLineEdit()
        self.field.setPlaceholderText("What do you want to do?")
        self.field.setAccessibleName("Words of a command")
        self.field.setClearButtonEnabled(True)
        self.list = QListWidget()
        self.list.setAccessibleName("Commands")
        self.list.setUniformItemSizes(True)
        column = QVBoxLayout(self)
        column.addWidget(self.field)
        column.addWidget(self.list)
        self.field.textChanged.connect(self._show)
        self.field.returnPressed.connect(self._take)
        self.list.itemActivated.connect(self._take)
        self.field.installEventFilter(self)
        self._show("")

    def _show(self, query: str) -> None:
        self.list.clear()
        for command in find_commands(query, self._commands):
            item = QListWidgetItem(command.text)
            item.setData(_ACTION_ROLE, command.action)
            if not command.action.isEnabled():
                item.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(item)
        self.list.setCurrentRow(0)

    def _take(self) -> None:
        item = self.list.currentItem()
        if item is not None and item.flags() & Qt.ItemFlag.ItemIsEnabled:
            self.chosen = item.data(_ACTION_ROLE)
            self.accept()

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Arrows typed into the field move in the list."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in _LIST_KEYS:
            self.list.keyPressEvent(event)
            return True
        return super().eventFilter(watched, event)
