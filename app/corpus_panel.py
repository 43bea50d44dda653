"""The panel of a table of recordings: what became of each, filters, and the way from one to the next."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QEvent, QModelIndex, Qt, pyqtSignal
from PyQt6.QtGui import QFont, QFontMetrics, QKeyEvent, QResizeEvent
from PyQt6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from analysis.corpus_table import FAILED, Row, pooled
from app.panel import label
from viewers.recordings_model import COLUMNS, FILTERS, RecordingsModel
from viewers.theme import Theme, px

_WIDE = 420  # from this width on, in pixels at usual letters, there is room for the state in words
_STATE = next(i for i, column in enumerate(COLUMNS) if column.heading == "State")
_CELL_EDGES, _ROW_PADDING = 14, 7
_ENTER = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})
_OWN_KEYS = _ENTER | {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End}
_EMPTY = "Open the recordings.tsv that main.py predict wrote for many recordings, and walk through them here."


class RecordingsTable(QTableView):
    """One line per recording; emits `opened(line)` for Enter and a double click."""

    opened = pyqtSignal(int)

    def __init__(self) -> None:
        super().__init__()
        self.lines = RecordingsModel(self)
        self.setModel(self.lines)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setTabKeyNavigation(False)
        self.setMinimumHeight(90)
        self.setAccessibleName("Recordings of the table")
        self.setToolTip("Enter or a double click opens a recording with what the model found in it")
        rows, columns = self.verticalHeader(), self.horizontalHeader()
        assert rows is not None
        assert columns is not None
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        columns.setHighlightSections(False)
        columns.setSectionsClickable(True)
        columns.setMinimumSectionSize(24)
        columns.setStretchLastSection(False)
        columns.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        columns.sectionClicked.connect(self._on_heading)
        self.doubleClicked.connect(lambda index: self.opened.emit(index.row()))
        self._fit()

    @property
    def line(self) -> int:
        """The current line; -1 without one."""
        return self.currentIndex().row()

    @property
    def place(self) -> int | None:
        """The row of the whole table that is current."""
        return self.lines.places[self.line] if self.line >= 0 else None

    def choose(self, place: int | None) -> bool:
        """Make a row current, by its place in the whole table, and scroll to it; whether it is listed."""
        line = self.lines.line_of(place)
        index = self.lines.index(line, 0) if line is not None else QModelIndex()
        self.setCurrentIndex(index)
        if index.isValid():
            self.scrollTo(index)
        return index.isValid()

    def _on_heading(self, section: int) -> None:
        """Sort upwards, downwards, and as in the file again."""
        turns = {None: (section, False), (section, False): (section, True), (section, True): None}
        place, order = self.place, turns.get(self.lines.order, (section, False))
        self.lines.set_order(order)
        self.choose(place)
        columns = self.horizontalHeader()
        assert columns is not None
        columns.setSortIndicatorShown(order is not None)
        column, descends = order or (-1, False)
        columns.setSortIndicator(column, Qt.SortOrder.DescendingOrder if descends else Qt.SortOrder.AscendingOrder)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Enter opens the current recording."""
        if event is not None and event.key() in _ENTER and self.line >= 0:
            self.opened.emit(self.line)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent | None) -> bool:
        """Keep the keys that walk through the table from the actions of the window while the table has the focus."""
        if event is not None and event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            free = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
            if free and event.key() in _OWN_KEYS:
                event.accept()
                return True
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Show the state in words where there is room."""
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent | None) -> None:
        """Follow another size of letters."""
        super().changeEvent(event)
        if event is not None and event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def _fit(self) -> None:
        rows, viewport, metrics = self.verticalHeader(), self.viewport(), self.fontMetrics()
        if rows is None or viewport is None:
            return
        rows.setDefaultSectionSize(metrics.height() + _ROW_PADDING)
        self.setColumnHidden(_STATE, self.width() < px(_WIDE))
        bold = QFont(self.font())
        bold.setBold(True)  # as what is open
        metrics = QFontMetrics(bold)
        widths = [metrics.horizontalAdvance(column.sample) + round(px(_CELL_EDGES)) for column in COLUMNS]
        rest = [i for i in range(1, len(COLUMNS)) if not self.isColumnHidden(i)]
        for number in rest:
            self.setColumnWidth(number, widths[number])
        self.setColumnWidth(0, max(widths[0], viewport.width() - sum(widths[i] for i in rest)))


class CorpusPanel(QWidget):
    """Figures, filters and the table; `opened(Row)` when the reader wants one, `remark_changed` for the heading."""

    opened = pyqtSignal(object)
    remark_changed = pyqtSignal(str)
    open_requested = pyqtSignal()

    def __init__(self) -> None:
        super().__init__()
        self.table = RecordingsTable()
        self.filter, self.search = QComboBox(), QLineEdit()
        self.previous, self.next = QPushButton("‹ Before"), QPushButton("Next ›")
        self._open = QPushButton("Open table of recordings…")
        self._state = label(_EMPTY, "muted", wrap=True)
        self._none = label("No recording passes the filters.", "muted", wrap=True)
        self.filter.addItems(list(FILTERS))
        self.filter.setAccessibleName("Which recordings are listed")
        self.filter.setToolTip("Which recordings are listed")
        self.search.setPlaceholderText("Name")
        self.search.setAccessibleName("Find recordings by name")
        self.search.setToolTip("List recordings with these letters in their name")
        self.search.setClearButtonEnabled(True)
        self._open.setToolTip("Open a table of recordings (Ctrl+Alt+O)")
        self.previous.setToolTip("Recording before (Ctrl+PgUp)")
        self.next.setToolTip("Next recording (Ctrl+PgDown)")
        for button in (self._open, self.previous, self.next):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the keys to the traces
        self._lay_out()
        self.filter.currentTextChanged.connect(self._on_filter)
        self.search.textChanged.connect(self._on_filter)
        self._open.clicked.connect(self.open_requested)
        self.table.opened.connect(self.open_line)
        self._show_parts()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(5)
        column.addWidget(self._state)
        column.addWidget(self._open)
        filters = QHBoxLayout()
        filters.addWidget(self.filter, 1)
        filters.addWidget(self.search, 1)
        column.addLayout(filters)
        column.addWidget(self._none)
        column.addWidget(self.table, 1)
        buttons = QHBoxLayout()
        buttons.addWidget(self.previous)
        buttons.addWidget(self.next)
        column.addLayout(buttons)

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self.table.lines.set_theme(theme)

    # What is listed

    def show_rows(self, rows: Sequence[Row], folder: str = "") -> None:
        """List another table, with the row of this folder current where it has one."""
        self.table.lines.show(rows)
        place = next((i for i, row in enumerate(rows) if row.folder == folder), None) if folder else None
        self.table.choose(place)
        self._state.setText(corpus_words(rows))
        self._show_parts()

    def _on_filter(self, _text: str) -> None:
        place = self.table.place
        self.table.lines.set_filter(self.filter.currentText(), self.search.text())
        self.table.choose(place)
        self._show_parts()

    def _show_parts(self) -> None:
        lines = self.table.lines
        has_rows = bool(lines.rows)
        self._open.setVisible(not has_rows)
        for part in (self.filter, self.search, self.table, self.previous, self.next):
            part.setVisible(has_rows)
        self._none.setVisible(has_rows and not lines.places)
        listed, all_rows = len(lines.places), len(lines.rows)
        remark = f"{listed:,} of {all_rows:,}" if listed < all_rows else f"{all_rows:,}"
        self.remark_changed.emit(remark if has_rows else "")

    # Walking

    def open_line(self, line: int) -> None:
        """Ask for the recording of a line, which becomes the current one."""
        place = self.table.lines.places[line]
        self.table.choose(place)
        self.table.lines.set_open(place)
        self.opened.emit(self.table.lines.row(line))

    def step(self, direction: int) -> bool:
        """Ask for the next (1) or previous (-1) of the listed recordings; whether there is one."""
        line = self.table.line
        wanted = line + direction if line >= 0 else 0 if direction > 0 else len(self.table.lines.places) - 1
        if not 0 <= wanted < len(self.table.lines.places):
            return False
        self.open_line(wanted)
        return True


def corpus_words(rows: Sequence[Row]) -> str:
    """What became of all recordings in a sentence."""
    if not rows:
        return _EMPTY
    failed = sum(row.state == FAILED for row in rows)
    text = f"{len(rows) - failed:,} of {len(rows):,} predicted"
    scores = pooled(rows)
    if scores is None:
        return f"{text}; none was scored"
    rate = scores.fp_per_24h
    alarms = "" if rate is None else f", {rate:.3g} false alarms in 24 h"
    return f"{text}; {scores.tp:,} of {scores.n_reference:,} marked seizures found{alarms}"
