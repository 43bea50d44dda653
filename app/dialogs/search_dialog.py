"""A field and the list of what answers it: type, move with the arrows, Enter takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from PyQt6.QtCore import QEvent, QObject, Qt
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QDialog, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

CHOICE_ROLE = Qt.ItemDataRole.UserRole  # of an item: what taking it chooses
_WIDTH, _HEIGHT = 560, 420
_LIST_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class SearchDialog(QDialog):
    """The base of every search; `chosen` is what was taken, None where nothing was."""

    def __init__(self, title: str, hint: str, field_name: str, list_name: str, parent: QWidget | None = None) -> None:
        """`hint` stands in the empty field; the names are for those who hear the screen."""
        super().__init__(parent)
        self.setWindowTitle(title)
        self.resize(_WIDTH, _HEIGHT)
        self.chosen: Any = None
        self.field = QLineEdit()
        self.field.setPlaceholderText(hint)
        self.field.setAccessibleName(field_name)
        self.field.setClearButtonEnabled(True)
        self.list = QListWidget()
        self.list.setAccessibleName(list_name)
        self.list.setUniformItemSizes(True)
        column = QVBoxLayout(self)
        column.addWidget(self.field)
        column.addWidget(self.list)
        self.field.textChanged.connect(self.search)
        self.field.returnPressed.connect(self._take)
        self.list.itemActivated.connect(self._take)
        self.field.installEventFilter(self)

    def answers(self, query: str) -> Iterable[QListWidgetItem]:
        """What answers a query, best first, each with its choice."""
        raise NotImplementedError

    def search(self, query: str) -> None:
        """List what answers a query."""
        self.list.clear()
        for item in self.answers(query):
            self.list.addItem(item)
        self.list.setCurrentRow(0)

    def _take(self) -> None:
        item = self.list.currentItem()
        if item is not None and item.flags() & Qt.ItemFlag.ItemIsEnabled:
            self.chosen = item.data(CHOICE_ROLE)
            self.accept()

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Arrows typed into the field move in the list."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in _LIST_KEYS:
            self.list.keyPressEvent(event)
            return True
        return super().eventFilter(watched, event)
