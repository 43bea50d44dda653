"""One field for any way of writing a time, with what it will be taken for, and the places visited before."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from PyQt6.QtCore import QEvent, QObject, Qt
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from analysis.time_words import elapsed
from app.panel import label, set_role
from app.time_text import Reading, clock_with_day, readings

_EXAMPLES = "90 · 1:30 · 0:01:30 · 1h30m · +30 · 50%"
_CLOCK_EXAMPLES = " · @10:41 · Wed 10:41 · 4 Mar 10:41 · day 2 10:41"
_WIDTH = 500
_MOST_PLACES = 6
_DECIMALS = 1


class GoToTimeDialog(QDialog):
    """Asks for a time; `seconds` holds the answer once it was accepted."""

    def __init__(
        self,
        start: datetime | None,
        duration: float,
        here: float,
        clock_first: bool = False,
        visited: Sequence[float] = (),
        parent: QWidget | None = None,
    ) -> None:
        """`here` is where the page begins, `visited` where it began before, the last one first, all in seconds."""
        super().__init__(parent)
        self.setWindowTitle("Go to time")
        self.setMinimumWidth(_WIDTH)
        self.seconds: float | None = None
        self._start, self._duration, self._here, self._clock_first = start, duration, here, clock_first
        self._field = QLineEdit()
        self._field.setAccessibleName("Time")
        self._field.setPlaceholderText(elapsed(here, _DECIMALS))
        self._field.setClearButtonEnabled(True)
        self._meanings = self._make_list("What the time means")
        self._says = label("", "muted", wrap=True)
        self._places = self._make_list("Places visited")
        self._buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self._buttons.button(QDialogButtonBox.StandardButton.Ok).setText("Go")
        self._lay(visited)
        self._field.textChanged.connect(self._read)
        self._field.installEventFilter(self)
        self._meanings.itemDoubleClicked.connect(self._go_to_item)
        self._places.itemActivated.connect(self._go_to_item)
        self._buttons.accepted.connect(self._go)
        self._buttons.rejected.connect(self.reject)
        self._read("")

    def _make_list(self, name: str) -> QListWidget:
        made = QListWidget()
        made.setAccessibleName(name)
        made.setUniformItemSizes(True)
        made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        return made

    def _lay(self, visited: Sequence[float]) -> None:
        column = QVBoxLayout(self)
        column.setSpacing(8)
        examples = _EXAMPLES + (_CLOCK_EXAMPLES if self._start is not None else "")
        column.addWidget(label(self._span_text(), "", wrap=True))
        column.addWidget(self._field)
        column.addWidget(self._meanings)
        column.addWidget(self._says)
        column.addWidget(label(examples, "muted", wrap=True))
        if visited:
            column.addWidget(label("Places visited (Alt+Left and Alt+Right)", "strong"))
            for seconds in visited[:_MOST_PLACES]:
                self._add(self._places, seconds, "")
            self._fit(self._places)
            column.addWidget(self._places)
        column.addWidget(self._buttons)

    def _span_text(self) -> str:
        text = f"The page begins at {self._place_text(self._here)}; the recording lasts {elapsed(self._duration)}"
        if self._start is not None:
            text += f", from {clock_with_day(self._start, 0)} to {clock_with_day(self._start, self._duration)}"
        return f"{text}."

    def _place_text(self, seconds: float) -> str:
        decimals = 0 if seconds == round(seconds) else _DECIMALS
        of_day = clock_with_day(self._start, seconds)
        return elapsed(seconds, decimals) + (f"  ·  {of_day}" if of_day else "")

    def _add(self, target: QListWidget, seconds: float, remark: str) -> None:
        text = self._place_text(seconds) + (f"      {remark}" if remark else "")
        item = QListWidgetItem(text)
        item.setData(Qt.ItemDataRole.UserRole, seconds)
        target.addItem(item)

    @staticmethod
    def _fit(target: QListWidget) -> None:
        rows = sum(target.sizeHintForRow(row) for row in range(target.count()))
        target.setFixedHeight(rows + 2 * target.frameWidth() + 4)

    def _read(self, text: str) -> None:
        """Show what the text is taken for as it is typed."""
        found = readings(text, self._start, self._duration, self._here, self._clock_first)
        self._meanings.clear()
        for reading in found:
            self._add(self._meanings, reading.seconds, f"as {reading.taken_for}")
        self._meanings.setVisible(bool(found))
        if found:
            self._meanings.setCurrentRow(0)
            self._fit(self._meanings)
        self._say(text, found)
        self._buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(bool(found))
        self.adjustSize()

    def _say(self, text: str, found: Sequence[Reading]) -> None:
        if not text.strip():
            says, role = "Type a time.", "muted"
        elif not found:
            says, role = f"“{text.strip()}” is no time of this recording.", "warning"
        elif len(found) > 1:
            says, role = "Up and Down choose among these.", "muted"
        else:
            says, role = "", "muted"
        self._says.setText(says)
        self._says.setVisible(bool(says))
        set_role(self._says, role)

    def _go(self) -> None:
        focused = self._places if self._places.hasFocus() else self._meanings
        item = focused.currentItem()
        if item is not None:
            self._go_to_item(item)

    def _go_to_item(self, item: QListWidgetItem) -> None:
        self.seconds = float(item.data(Qt.ItemDataRole.UserRole))
        self.accept()

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Up and Down choose a meaning while the field has the focus."""
        if watched is self._field and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
            if step and self._meanings.count():
                row = self._meanings.currentRow() + step
                self._meanings.setCurrentRow(min(max(row, 0), self._meanings.count() - 1))
                return True
        return super().eventFilter(watched, event)
