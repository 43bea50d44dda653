"""The options of a kind of analysis as widgets, made from its table and checked as on the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QWheelEvent
from PyQt6.QtWidgets import (
    QCheckBox,
    QDoubleSpinBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSpinBox,
    QToolButton,
    QWidget,
)

from viewers.panels.base import Chooser, check_box

if TYPE_CHECKING:
    from analysis.kinds import Option

_MOST_WHOLE = 2_000_000_000
_MOST, _DECIMALS = 1e9, 3


class _WholeBox(QSpinBox):
    """Changes by the wheel only while it has the keys: the panel scrolls over it."""

    def wheelEvent(self, event: QWheelEvent | None) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        elif event is not None:
            event.ignore()


class _NumberBox(QDoubleSpinBox):
    """As a whole number's box, and without zeros that say nothing."""

    def wheelEvent(self, event: QWheelEvent | None) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        elif event is not None:
            event.ignore()

    def textFromValue(self, value: float) -> str:
        return self.locale().toString(value, "g", 9)


class FileField(QWidget):
    """Names of files with commas between; a button lets them be picked."""

    named = pyqtSignal(str)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.line = QLineEdit()
        self.line.setAccessibleName(f"{name}: files")
        self._pick = QToolButton()
        self._pick.setText("…")
        self._pick.setToolTip("Pick files")
        self._pick.setAccessibleName(f"Pick files for {name}")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.line, 1)
        row.addWidget(self._pick)
        self.setFocusProxy(self.line)
        self.line.editingFinished.connect(self._tell)
        self._pick.clicked.connect(self._on_pick)

    def _tell(self) -> None:
        self.named.emit(self.line.text().strip())

    def _on_pick(self) -> None:
        paths, _ = QFileDialog.getOpenFileNames(self, "Other recordings")
        if paths:
            self.line.setText(", ".join(paths))
            self._tell()


class OptionForm(QWidget):
    """One line an option of a kind; `changed` tells its name and what the reader set it to."""

    changed = pyqtSignal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self._rows = QFormLayout(self)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setHorizontalSpacing(8)
        self._rows.setVerticalSpacing(4)
        self._widgets: dict[str, QWidget] = {}

    @property
    def widgets(self) -> Mapping[str, QWidget]:
        """The widget of each option, by name."""
        return self._widgets

    def show_options(self, options: Sequence[Option], values: Mapping[str, Any]) -> None:
        """Show options with their values; lines are made anew where there are other options."""
        if [option.name for option in options] != list(self._widgets):
            self._make(options)
        for option in options:
            _set_value(self._widgets[option.name], values.get(option.name, option.default))

    def _make(self, options: Sequence[Option]) -> None:
        while self._rows.rowCount():
            self._rows.removeRow(0)
        self._widgets = {}
        for option in options:
            widget = self._widget_for(option)
            widget.setToolTip(_tip(option))
            widget.setAccessibleName(f"{option.name}: {option.text}")
            name = QLabel(option.name.replace("_", " "))
            name.setToolTip(_tip(option))
            self._rows.addRow(name, widget)
            self._widgets[option.name] = widget

    def _widget_for(self, option: Option) -> QWidget:
        tell = partial(self._tell, option.name)
        if option.choices:
            chooser = Chooser(option.name, [(str(choice), str(choice)) for choice in option.choices])
            chooser.chosen.connect(tell)
            return chooser
        if isinstance(option.default, bool):
            box = check_box(option.text, "")
            box.clicked.connect(tell)
            return box
        if isinstance(option.default, int | float):
            return self._number_for(option, tell)
        if option.is_file:
            files = FileField(option.name)
            files.named.connect(tell)
            return files
        line = QLineEdit()
        line.editingFinished.connect(lambda: tell(line.text().strip()))
        return line

    def _number_for(self, option: Option, tell: Callable[[Any], None]) -> QWidget:
        whole = isinstance(option.default, int)
        number = _WholeBox() if whole else _NumberBox()
        most = _MOST_WHOLE if whole else _MOST
        if isinstance(number, QDoubleSpinBox):
            number.setDecimals(_DECIMALS)
        number.setRange(type(most)(-most if option.least is None else option.least), most)  # type: ignore[arg-type]
        number.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        number.setKeyboardTracking(False)
        number.valueChanged.connect(tell)
        return number

    def _tell(self, name: str, value: Any) -> None:
        self.changed.emit(name, value)


def _tip(option: Option) -> str:
    least = f", at least {option.least:g}" if option.least is not None else ""
    return f"{option.text} (usually {option.default}{least})"


def _set_value(widget: QWidget, value: Any) -> None:
    widget.blockSignals(True)
    if isinstance(widget, Chooser):
        widget.choose(str(value))
    elif isinstance(widget, QCheckBox):
        widget.setChecked(bool(value))
    elif isinstance(widget, QSpinBox):
        widget.setValue(int(value))
    elif isinstance(widget, QDoubleSpinBox):
        widget.setValue(float(value))
    elif isinstance(widget, QLineEdit):
        widget.setText(str(value))
    elif isinstance(widget, FileField):
        widget.line.setText(str(value))
    widget.blockSignals(False)
