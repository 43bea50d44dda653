"""The table of events that a reader walks through; fit for a hundred thousand of them."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import QEvent, QItemSelectionModel, QModelIndex, Qt, pyqtSignal
from PyQt6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent
from PyQt6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from analysis.annotation import Annotation
from analysis.review.queue import Order, Queue, QueueFilter
from viewers.review_delegate import DOT, MARGIN_LEFT, MARGIN_RIGHT, ReviewDelegate
from viewers.review_model import COLUMNS, QueueModel
from viewers.theme import Theme

_ROW_PADDING = 7
_WIDE = 470  # from this width on, in pixels, there is room for columns
_MOST_CHOSEN = 500  # more are not looked for again when the list changes
_TYPE = next(i for i, column in enumerate(COLUMNS) if column.heading == "Type")
_OWN_KEYS = frozenset({Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End})


class ReviewTable(QTableView):
    """One line per event in a narrow dock, columns in a wide one; emits `picked` when the reader chooses an event.

    A table rather than Qt's list view, which visits every row to lay them out.
    """

    picked = pyqtSignal(object)  # Annotation
    order_asked = pyqtSignal(str)  # an Order

    def __init__(self, time_text: Callable[[float], str]) -> None:
        super().__init__()
        self.rows = QueueModel(time_text, self)
        self.delegate = ReviewDelegate(time_text, self)
        self._quiet = False
        self._is_fitting = self._is_fitted_by_hand = False
        self.setModel(self.rows)
        self.setItemDelegate(self.delegate)
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QTableView.Shape.NoFrame)
        # A click must not take the arrow keys away from the traces; the Tab key may.
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setTabKeyNavigation(False)
        self.setMinimumHeight(90)
        self.setAccessibleName("Events")
        self._lay_out_headers()
        self._fit_columns()
        self.clicked.connect(self._on_clicked)

    def _lay_out_headers(self) -> None:
        rows, columns = self.verticalHeader(), self.horizontalHeader()
        assert rows is not None
        assert columns is not None
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setMinimumSectionSize(1)
        columns.setStretchLastSection(True)
        columns.setHighlightSections(False)
        columns.setSectionsClickable(True)
        columns.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        columns.sectionClicked.connect(self._on_heading)
        columns.sectionResized.connect(self._on_resized)
        self._fit_rows()

    # What is listed

    def show_queue(self, queue: Queue, wanted: QueueFilter, order: Order = "time", descending: bool = False) -> None:
        """List a queue anew, with the same events chosen where they are still there."""
        current, chosen = self.selected(), self.chosen()
        self._quiet = True
        self.rows.show(queue, wanted, order, descending)
        self._choose_again(current, chosen)
        self._quiet = False
        self._show_order(order, descending)

    def set_hidden(self, types: frozenset[str]) -> None:
        """Dim the rows of types that are hidden on the traces."""
        self.rows.set_hidden(types)

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self.delegate.theme = theme
        viewport = self.viewport()
        if viewport is not None:
            viewport.update()

    # What is chosen

    def selected(self) -> Annotation | None:
        """The current event."""
        index = self.currentIndex()
        return self.rows.mark(index.row()) if index.isValid() else None

    def chosen(self) -> list[Annotation]:
        """All events that are selected, in the order listed."""
        selection = self.selectionModel()
        assert selection is not None
        spans = [(span.top(), span.bottom() + 1) for span in selection.selection()]
        rows = sorted({row for first, last in spans for row in range(first, last)})
        return [self.rows.mark(row) for row in rows]

    def select(self, mark: Annotation | None) -> bool:
        """Make an event current that was chosen elsewhere; whether it is listed."""
        row = self.rows.row_of(mark) if mark is not None else None
        if row is None:
            self._set_current(QModelIndex())
            return False
        self._set_current(self.rows.index(row, 0))
        return True

    def select_row(self, row: int) -> Annotation:
        """Make the event of a row current, scroll to it and say so."""
        self._set_current(self.rows.index(row, 0))
        mark = self.rows.mark(row)
        self.picked.emit(mark)
        return mark

    def _set_current(self, index: QModelIndex) -> None:
        self._quiet = True
        if index.isValid():
            if index.row() != self.currentIndex().row():  # else others may be selected with it
                self._select_alone(index)
            self.scrollTo(index)
        else:
            self.setCurrentIndex(index)
            self.clearSelection()
        self._quiet = False

    def _select_alone(self, index: QModelIndex) -> None:
        """Make an event current, and nothing else selected, whatever keys are held: Ctrl+Z selects no second one."""
        selection = self.selectionModel()
        assert selection is not None
        flags = QItemSelectionModel.SelectionFlag
        selection.setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)

    def _choose_again(self, current: Annotation | None, chosen: list[Annotation]) -> None:
        row = self.rows.row_of(current) if current is not None else None
        if row is None:
            return
        self._set_current(self.rows.index(row, 0))
        if not 1 < len(chosen) <= _MOST_CHOSEN:
            return
        selection = self.selectionModel()
        assert selection is not None
        flags = QItemSelectionModel.SelectionFlag
        for mark in chosen:
            other = self.rows.row_of(mark)
            if other is not None:
                selection.select(self.rows.index(other, 0), flags.Select | flags.Rows)

    # Mouse and keys

    def _on_clicked(self, index: QModelIndex) -> None:
        self.picked.emit(self.rows.mark(index.row()))

    def currentChanged(self, current: QModelIndex, previous: QModelIndex) -> None:
        """Keys that walk through the table choose the event they come to."""
        super().currentChanged(current, previous)
        if not self._quiet and current.isValid() and self.hasFocus() and current.row() != previous.row():
            self.picked.emit(self.rows.mark(current.row()))

    def focusInEvent(self, event: QFocusEvent | None) -> None:
        """Coming in by Tab chooses nothing, so that the page stays; the first arrow key takes the first event."""
        had_one = self.currentIndex().isValid()
        self._quiet = True
        super().focusInEvent(event)
        self._quiet = False
        if not had_one:
            self._set_current(QModelIndex())

    def event(self, event: QEvent | None) -> bool:
        """Keep the keys that walk through the table from the actions of the window while the table has the focus."""
        if event is not None and event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            free = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier)
            if free and event.key() in _OWN_KEYS:
                event.accept()
                return True
        return super().event(event)

    # Narrow and wide

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Show columns where there is room for them."""
        super().resizeEvent(event)
        self._fit_columns()
        if self.currentIndex().isValid():
            self.scrollTo(self.currentIndex())

    def changeEvent(self, event: QEvent | None) -> None:
        """Follow another size of letters."""
        super().changeEvent(event)
        if event is not None and event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit_rows()
            self._fit_columns()

    def _fit_rows(self) -> None:
        rows = self.verticalHeader()
        if rows is not None:
            rows.setDefaultSectionSize(self.fontMetrics().height() + _ROW_PADDING)

    def _fit_columns(self) -> None:
        wide, columns = self.width() >= _WIDE, self.horizontalHeader()
        assert columns is not None
        if wide != self.delegate.is_wide or columns.isHidden() == wide:
            self.delegate.is_wide = wide
            self._is_fitted_by_hand = False
            columns.setHidden(not wide)
            for number in range(1, len(COLUMNS)):
                self.setColumnHidden(number, not wide)
        if not self._is_fitted_by_hand:
            self._share_width()
        bar = Qt.ScrollBarPolicy.ScrollBarAsNeeded if wide else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setHorizontalScrollBarPolicy(bar)

    def _share_width(self) -> None:
        """Give each column room for its usual text, and its share of what is left."""
        viewport, metrics = self.viewport(), self.fontMetrics()
        widths = [metrics.horizontalAdvance(column.sample) + MARGIN_LEFT + MARGIN_RIGHT for column in COLUMNS]
        widths[_TYPE] += DOT
        left = max(0, viewport.width() - sum(widths)) if viewport is not None else 0
        shares = sum(column.share for column in COLUMNS)
        self._is_fitting = True
        for number, (column, width) in enumerate(zip(COLUMNS, widths, strict=True)):
            self.setColumnWidth(number, width + left * column.share // shares)
        self._is_fitting = False

    def _on_resized(self, section: int, _before: int, _now: int) -> None:
        if not self._is_fitting and section < len(COLUMNS) - 1:  # the last one is stretched by the table itself
            self._is_fitted_by_hand = self.delegate.is_wide

    def _on_heading(self, section: int) -> None:
        order = COLUMNS[section].order
        if order is not None:
            self.order_asked.emit(order)

    def _show_order(self, order: Order, descending: bool) -> None:
        columns = self.horizontalHeader()
        assert columns is not None
        section = next(i for i, column in enumerate(COLUMNS) if column.order == order)
        columns.setSortIndicatorShown(True)
        columns.setSortIndicator(section, Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder)
