"""The rows of a table of recordings: which are listed, in which order, cell by cell; fit for tens of thousands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PyQt6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PyQt6.QtGui import QFont

from analysis.corpus_table import FAILED, Row
from analysis.time_words import duration_words
from viewers.theme import LIGHT, Theme

_Index = QModelIndex | QPersistentModelIndex
_UNITS = ((3600.0, "h"), (60.0, "min"), (1.0, "s"))
_AT_THE_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


def missed(row: Row) -> int | None:
    """How many marked seizures were not found; None where nobody has marked any span."""
    return None if row.seizures is None or row.found is None else row.seizures - row.found


FILTERS: dict[str, Callable[[Row], bool]] = {
    "All": lambda _row: True,
    "Failed": lambda row: row.state == FAILED,
    "With false alarms": lambda row: bool(row.false_alarms),
    "With missed seizures": lambda row: bool(missed(row)),
}


def events_text(row: Row) -> str:
    """How many events were found, or that there was no way to find any."""
    return FAILED if row.state == FAILED else _count(row.events)


def found_text(row: Row) -> str:
    """How many of the marked seizures were found; empty where nobody has marked any."""
    return "" if row.found is None or row.seizures is None else f"{row.found:,}/{row.seizures:,}"


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _name(row: Row) -> str:
    return row.folder


def _state(row: Row) -> str:
    return row.state


def _false_alarms(row: Row) -> str:
    return _count(row.false_alarms)


def _duration(row: Row) -> str:
    """A length in two figures, for a narrow column."""
    if row.duration is None:
        return ""
    size, unit = next(((size, unit) for size, unit in _UNITS if row.duration >= size), _UNITS[-1])
    return f"{row.duration / size:.2g} {unit}" if row.duration < 99.5 * size else f"{row.duration / size:,.0f} {unit}"


@dataclass(frozen=True)
class Column:
    """A column: heading, what it is called in full, what stands in it, what it is sorted by, and a usual text."""

    heading: str
    tip: str
    text: Callable[[Row], str]
    key: Callable[[Row], float | str | None]
    sample: str


COLUMNS: tuple[Column, ...] = (
    Column(
        "Recording", "Recording, by the folder of its results", _name, lambda row: row.folder.casefold(), "chb01_03"
    ),
    Column("State", "Whether the recording was predicted", _state, _state, "failed"),
    Column("Events", "Events that the model found", events_text, lambda row: row.events, "Events"),
    Column("Found", "Found of the marked seizures; sorted by those missed", found_text, missed, "12/12"),
    Column("False", "False alarms", _false_alarms, lambda row: row.false_alarms, "False"),
    Column("Length", "Length of the recording", _duration, lambda row: row.duration, "1.5 min"),
)
_NUMBERS = frozenset({"Events", "Found", "False", "Length"})


class RecordingsModel(QAbstractTableModel):
    """The listed part of a table; only what is on the screen is ever put into words."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: Sequence[Row] = ()
        self.places: list[int] = []  # which rows are listed, in the order shown
        self.order: tuple[int, bool] | None = None  # column and whether it descends; None: as in the file
        self.theme: Theme = LIGHT
        self._wanted, self._words = "All", ""
        self._open: int | None = None

    def show(self, rows: Sequence[Row]) -> None:
        """List the rows of another table."""
        self.rows, self._open = rows, None
        self._list()

    def set_filter(self, wanted: str, words: str) -> None:
        """List those that pass one of FILTERS and have the words in their name."""
        self._wanted, self._words = wanted, words.casefold().strip()
        self._list()

    def set_order(self, order: tuple[int, bool] | None) -> None:
        """List in another order; rows without a value come last in either direction."""
        self.order = order
        self._list()

    def set_open(self, place: int | None) -> None:
        """Say which row is open in the window."""
        self._open = place
        self._changed()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self.theme = theme
        self._changed()

    def row(self, line: int) -> Row:
        """What stands in a line."""
        return self.rows[self.places[line]]

    def line_of(self, place: int | None) -> int | None:
        """The line in which a row of the table is listed; None where it is not."""
        return self.places.index(place) if place is not None and place in self.places else None

    def _list(self) -> None:
        self.beginResetModel()
        passes = FILTERS[self._wanted]
        listed = [i for i, row in enumerate(self.rows) if passes(row) and self._words in row.folder.casefold()]
        if self.order is not None:
            column, descends = self.order
            keys = {i: COLUMNS[column].key(self.rows[i]) for i in listed}
            known = sorted((i for i in listed if keys[i] is not None), key=lambda i: keys[i], reverse=descends)
            listed = known + [i for i in listed if keys[i] is None]
        self.places = listed
        self.endResetModel()

    def _changed(self) -> None:
        if self.places:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.places) - 1, len(COLUMNS) - 1))

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """Number of recordings listed."""
        return 0 if parent.isValid() else len(self.places)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """Number of columns."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Headings, and what they are called in full."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        column = COLUMNS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole and column.heading in _NUMBERS:
            return _AT_THE_RIGHT
        return {
            Qt.ItemDataRole.DisplayRole: column.heading,
            Qt.ItemDataRole.ToolTipRole: column.tip,
            Qt.ItemDataRole.AccessibleTextRole: column.tip,
        }.get(Qt.ItemDataRole(role))

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """The text of a cell, its colour and letters, or all that is known of a recording."""
        row, column = self.row(index.row()), COLUMNS[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(row)
        if role == Qt.ItemDataRole.ForegroundRole:
            name = _colour(row, column)
            return self.theme.colour(name) if name else None
        if role == Qt.ItemDataRole.FontRole and self.places[index.row()] == self._open:
            font = QFont()
            font.setBold(True)
            return font
        if role == Qt.ItemDataRole.TextAlignmentRole and column.heading in _NUMBERS:
            return _AT_THE_RIGHT
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return said(row, "\n" if role == Qt.ItemDataRole.ToolTipRole else ", ")
        return None


def _colour(row: Row, column: Column) -> str:
    """The meaning of the colour of a cell; empty: that of text."""
    if row.state == FAILED:
        return "bad" if column.heading in ("State", "Events") else "muted"
    if column.heading == "Found" and missed(row):
        return "bad"
    if column.heading == "False" and row.false_alarms:
        return "caution"
    return "muted" if column.heading in ("State", "Length") else ""


def said(row: Row, joint: str = ", ") -> str:
    """A recording as a tool tip or a screen reader says it."""
    facts = [row.folder, row.recording, row.reason or row.state]
    if row.events is not None:
        facts.append(f"{row.events:,} events found by the model")
    if row.seizures is not None:
        facts.append(
            f"{row.found:,} of {row.seizures:,} marked seizures found, {_count(row.false_alarms)} false alarms"
        )
    if row.duration is not None:
        facts.append(duration_words(row.duration))
    return joint.join(facts)
