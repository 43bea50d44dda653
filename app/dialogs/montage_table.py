"""The rows of a montage as a table that can be edited: label, two inputs, and what is wrong with each row."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PyQt6.QtCore import QModelIndex, Qt, pyqtSignal
from PyQt6.QtGui import QColor
from PyQt6.QtWidgets import (
    QAbstractItemView,
    QCompleter,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPushButton,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from analysis.montages.custom import AVERAGE_WORD, CustomRow, Electrode, parse_electrode, try_rows
from analysis.montages.derivation import Derivation
from analysis.montages.sources import Sources
from app.panel import label

_LABEL, _FIRST, _SECOND, _CHECK = range(4)
_HEADINGS = ("Label", "Input 1", "minus input 2", "Check")
_GAP = "gap between blocks"
_EMPTY = Electrode("", is_site=False)
_NO_FIRST = "input 1 is empty"


class RowTable(QWidget):
    """Rows in order, None for a gap; `changed` tells of every edit."""

    changed = pyqtSignal()

    def __init__(self, sources: Sources | None, names: Sequence[str], caution: QColor) -> None:
        """`sources` is the open recording that rows are checked against, `names` what can be typed in it."""
        super().__init__()
        self._sources = sources
        self._caution = caution
        self._rows: list[CustomRow | None] = []
        self.table = QTableWidget(0, len(_HEADINGS))
        self.table.setHorizontalHeaderLabels(_HEADINGS)
        self.table.setAccessibleName("Rows of the montage")
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        header = self.table.horizontalHeader()
        assert header is not None
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        for column, width in ((_LABEL, 130), (_FIRST, 90), (_SECOND, 140)):
            self.table.setColumnWidth(column, width)
        self._names = _NameDelegate([*names, AVERAGE_WORD], self.table)
        self.table.setItemDelegate(self._names)
        self.table.itemChanged.connect(self._on_item)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.table, 1)
        column.addLayout(self._make_buttons())
        self.state = label("", "muted", wrap=True)
        column.addWidget(self.state)

    def _make_buttons(self) -> QHBoxLayout:
        line = QHBoxLayout()
        commands: tuple[tuple[str, str, Callable[[], None]], ...] = (
            ("Add row", "Ins", self.add_row),
            ("Add gap", "", self.add_gap),
            ("Duplicate", "Ctrl+D", self.duplicate),
            ("Remove", "Del", self.remove),
            ("Up", "Alt+Up", lambda: self.move(-1)),
            ("Down", "Alt+Down", lambda: self.move(1)),
        )
        for text, key, handler in commands:
            button = QPushButton(text)
            button.setAutoDefault(False)
            if key:
                button.setShortcut(key)
                button.setToolTip(f"{text} ({key})")
            button.clicked.connect(handler)
            line.addWidget(button)
        line.addStretch(1)
        return line

    def set_sources(self, sources: Sources | None, names: Sequence[str]) -> None:
        """Check the rows against another recording; what they say stays."""
        self._sources = sources
        self._names.set_names([*names, AVERAGE_WORD])
        self._check()

    # The rows

    def blocks(self) -> tuple[tuple[CustomRow, ...], ...]:
        """The rows between the gaps; empty blocks are left out."""
        blocks: list[list[CustomRow]] = [[]]
        for row in self._rows:
            if row is None:
                blocks.append([])
            else:
                blocks[-1].append(row)
        return tuple(tuple(block) for block in blocks if block)

    def set_blocks(self, blocks: Sequence[Sequence[CustomRow]]) -> None:
        """Show the rows of a montage."""
        self._rows = []
        for block in blocks:
            self._rows += [None, *block] if self._rows else block
        self._fill()

    def fault(self) -> str:
        """Why these rows cannot be a montage; empty when they can."""
        for number, row in enumerate(self._rows, 1):
            if row is not None and not row.input1.name:
                return f"line {number} has no input 1: name an electrode or remove the line"
        return "" if any(self._rows) else "there is no row yet: add one"

    def add_row(self) -> None:
        """Put an empty row behind the current one and begin to type its first input."""
        at = self._insert([CustomRow(_EMPTY)])
        self.table.setCurrentCell(at, _FIRST)
        self.table.editItem(self.table.item(at, _FIRST))

    def add_gap(self) -> None:
        """Begin a new block behind the current row."""
        self._insert([None])

    def duplicate(self) -> None:
        """Repeat the selected rows behind the last of them."""
        chosen = self._chosen()
        if chosen:
            self.table.setCurrentCell(chosen[-1], _LABEL)
            self._insert([self._rows[i] for i in chosen])

    def remove(self) -> None:
        """Take the selected rows away."""
        chosen = self._chosen()
        if chosen:
            self._rows = [row for i, row in enumerate(self._rows) if i not in chosen]
            self._fill()
            self.table.setCurrentCell(min(chosen[0], len(self._rows) - 1), _LABEL)
            self.changed.emit()

    def move(self, step: int) -> None:
        """Move the selected rows up (-1) or down (1) by one."""
        chosen = self._chosen()
        if not chosen or not 0 <= chosen[0] + step <= len(self._rows) - 1 or chosen[-1] + step >= len(self._rows):
            return
        for i in chosen if step < 0 else reversed(chosen):
            self._rows[i + step], self._rows[i] = self._rows[i], self._rows[i + step]
        self._fill()
        self._select([i + step for i in chosen])
        self.changed.emit()

    def _insert(self, rows: list[CustomRow | None]) -> int:
        """Put rows behind the current one and select them; returns where they are."""
        at = self.table.currentRow() + 1 if self._rows else 0
        self._rows[at:at] = rows
        self._fill()
        self._select(list(range(at, at + len(rows))))
        self.changed.emit()
        return at

    def _chosen(self) -> list[int]:
        model = self.table.selectionModel()
        return sorted({index.row() for index in model.selectedIndexes()}) if model is not None else []

    def _select(self, numbers: list[int]) -> None:
        self.table.setCurrentCell(numbers[-1], _LABEL)
        self.table.clearSelection()
        mode = self.table.selectionMode()
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.MultiSelection)
        for i in numbers:
            self.table.selectRow(i)
        self.table.setSelectionMode(mode)

    # The table

    def _fill(self) -> None:
        self.table.blockSignals(True)
        self.table.clearSpans()
        self.table.setRowCount(len(self._rows))
        for i, row in enumerate(self._rows):
            texts = ("", "", "", _GAP) if row is None else (row.label, row.input1.name, second_text(row), "")
            for column, text in enumerate(texts):
                item = QTableWidgetItem(text)
                if row is None or column == _CHECK:
                    item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEditable)
                self.table.setItem(i, column, item)
        self.table.blockSignals(False)
        self._check()

    def _check(self) -> None:
        """Say at each row what the open recording cannot give, and below the table how many rows there are."""
        places = [i for i, row in enumerate(self._rows) if row is not None]
        rows = [row for row in self._rows if row is not None]
        found = try_rows(rows, self._sources) if self._sources is not None else [None] * len(rows)
        self.table.blockSignals(True)
        bad = 0
        for i, row, made in zip(places, rows, found, strict=True):
            fault = _NO_FIRST if not row.input1.name else made if isinstance(made, str) else ""
            bad += bool(fault)
            item = self.table.item(i, _CHECK)
            assert item is not None
            item.setText(fault or (f"✓ {made.name}" if isinstance(made, Derivation) else ""))
            item.setToolTip(item.text())
            item.setData(Qt.ItemDataRole.ForegroundRole, self._caution if fault else None)
        self.table.blockSignals(False)
        self.state.setText(_summary(len(rows), bad, self._sources is not None))

    def _on_item(self, item: QTableWidgetItem) -> None:
        i, text = item.row(), item.text().strip()
        row = self._rows[i]
        if row is None:
            return
        if item.column() == _LABEL:
            self._rows[i] = CustomRow(row.input1, row.input2, row.to_average, text)
        elif item.column() == _FIRST:
            first = parse_electrode(text, self._sources) or _EMPTY
            self._rows[i] = CustomRow(first, row.input2, row.to_average, row.label)
        elif item.column() == _SECOND:
            self._rows[i] = with_second(row, text, self._sources)
        self._check()
        self.changed.emit()


class _NameDelegate(QStyledItemDelegate):
    """Completes what is typed to the names that the recording has."""

    def __init__(self, names: Sequence[str], parent: QWidget) -> None:
        super().__init__(parent)
        self.set_names(names)

    def set_names(self, names: Sequence[str]) -> None:
        """Complete to these names from the next cell on."""
        self._names = list(names)

    def createEditor(self, parent: QWidget | None, option: QStyleOptionViewItem, index: QModelIndex) -> QWidget | None:
        """A field for the text of a cell."""
        editor = QLineEdit(parent)
        if index.column() in (_FIRST, _SECOND):
            completer = QCompleter(self._names, editor)
            completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
            editor.setCompleter(completer)
        return editor


def second_text(row: CustomRow) -> str:
    """Input 2 as it is typed: names with commas, or the word for the common average."""
    return AVERAGE_WORD if row.to_average else ", ".join(electrode.name for electrode in row.input2)


def with_second(row: CustomRow, text: str, sources: Sources | None) -> CustomRow:
    """A row with the input 2 that was typed."""
    if text.casefold() == AVERAGE_WORD:
        return CustomRow(row.input1, (), True, row.label)
    typed = [parse_electrode(word, sources) for word in text.split(",")]
    return CustomRow(row.input1, tuple(electrode for electrode in typed if electrode is not None), False, row.label)


def _summary(count: int, bad: int, is_checked: bool) -> str:
    rows = f"{count} row{'' if count == 1 else 's'}"
    if not is_checked:
        return f"{rows}; open a recording to check them"
    return f"{rows}; {bad} cannot be given by the open recording" if bad else f"{rows}, all in the open recording"
