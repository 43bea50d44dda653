"""What a panel is: a result drawn on axes of its own, in one file, that names what it was made from.

A panel never computes. It tells by `wanted` that it needs another result, and is answered with `set_result`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from analysis.simulation.truth import Seizure
from viewers.theme import LIGHT, Theme

Choice = tuple[str, str]  # the value, and what a person reads


class Panel(QWidget):
    """Base of all panels; subclasses give a `title` for their tab and the type of result that they draw."""

    title: str = ""
    tip: str = ""
    draws: type | None = None
    wanted = pyqtSignal()  # what is chosen asks for another result

    def __init__(self) -> None:
        super().__init__()
        self.theme = LIGHT
        self.setAccessibleName(self.title)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(6)

    def set_result(self, result: Any) -> None:
        """Take a new result, or None."""
        raise NotImplementedError

    def set_time(self, time: float | None) -> None:
        """Speak of a moment, the one under the cursor; None when it is gone."""

    def set_busy(self) -> None:
        """Say that what is shown is being computed anew."""
        raise NotImplementedError

    def refuse(self, sentence: str) -> None:
        """Say in place of the picture why there is none."""
        raise NotImplementedError

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self.theme = theme
        self.update()

    def table(self) -> str:
        """The numbers on screen as tab-separated text; empty where there are none."""
        return ""


def focus_words(seizure: Seizure | None) -> str:
    """Where a simulated seizure begins, as a line below a map; empty for none."""
    if seizure is None:
        return ""
    first, *others = seizure.focus_rank
    then = f", then {' and '.join(others)}" if others else ""
    return f"◆ Simulated focus, from the truth file: {first}{then}"


def note(text: str = "", role: str = "muted") -> QLabel:
    """A line of text below or above a picture, which may break and be copied."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    made.setWordWrap(True)
    made.setProperty("role", role)
    made.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
    return made


def as_sentence(text: str) -> str:
    """A cause, as errors give it, as a sentence of its own."""
    return f"{text[:1].upper()}{text[1:]}." if text else ""


class Chooser(QComboBox):
    """A list to choose one value from, which keeps its choice when the list changes."""

    chosen = pyqtSignal(str)

    def __init__(self, name: str, choices: Sequence[Choice] = (), tip: str = "") -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setToolTip(tip or name)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(4)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.set_choices(choices)
        self.activated.connect(self._on_activated)

    def set_choices(self, choices: Sequence[Choice]) -> None:
        """Offer other values; a value that is no longer there gives way to the first."""
        before = self.value()
        if list(choices) == [(self.itemData(i), self.itemText(i)) for i in range(self.count())]:
            return
        self.clear()
        for value, text in choices:
            self.addItem(text, value)
        self.choose(before)

    def value(self) -> str:
        """The value that is chosen; empty without any."""
        return str(self.currentData() or "")

    def choose(self, value: str) -> None:
        """Take a value, or the first where there is no such value; nothing is told."""
        self.setCurrentIndex(max(0, self.findData(value)))

    def set_offered(self, value: str, offered: bool) -> None:
        """Let a value be chosen, or show it greyed."""
        model, place = self.model(), self.findData(value)
        item = model.item(place) if model is not None and place >= 0 else None
        if item is not None:
            item.setEnabled(offered)

    def _on_activated(self, _index: int) -> None:
        self.chosen.emit(self.value())


def check_box(text: str, tip: str, on: bool = False) -> QCheckBox:
    """A box to tick."""
    made = QCheckBox(text)
    made.setChecked(on)
    made.setToolTip(tip)
    made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return made


def line_of(*widgets: QWidget) -> QHBoxLayout:
    """Widgets side by side."""
    row = QHBoxLayout()
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(6)
    for widget in widgets:
        row.addWidget(widget)
    return row
