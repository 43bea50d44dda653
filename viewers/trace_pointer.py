"""What the mouse says and asks on the traces: the value under it, a span, a click; all of it told, nothing moved."""

from __future__ import annotations

from PyQt6.QtCore import QObject, pyqtSignal

from analysis.recording import Window
from viewers.gutter import Gutter
from viewers.trace_canvas import TraceCanvas


class TracePointer(QObject):
    """Turns pixels of the canvas into times, rows and values of the page that is drawn there."""

    hovered = pyqtSignal(float, str, float, str)  # time, row name, value, unit
    unhovered = pyqtSignal()
    cursor_moved = pyqtSignal(object)  # time or None
    span_selected = pyqtSignal(object)  # Window, or None when one is taken away
    clicked = pyqtSignal(float, str)  # time, row name

    def __init__(self, canvas: TraceCanvas, gutter: Gutter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._canvas = canvas
        self._gutter = gutter
        self._mouse: tuple[float, float] | None = None  # pixels
        canvas.cursor_moved.connect(self._on_cursor)
        canvas.cursor_left.connect(self._on_cursor_left)
        canvas.span_dragged.connect(self.select)
        canvas.span_selected.connect(self._on_span)
        canvas.clicked.connect(self._on_click)

    def select(self, window: Window | None) -> None:
        """Show a selected span, or none."""
        self._canvas.selection = window
        self._canvas.repaint_all()

    def read_again(self) -> None:
        """The mouse rests while another page comes: it now points at another time."""
        if self._mouse is not None:
            self._on_cursor(self._canvas.scale_px.time(self._mouse[0]), self._mouse[1])

    def value_at(self, time: float, row: int) -> float:
        """The value drawn at a time of a row: the nearest sample, or the middle of the column; NaN where none is."""
        page = self._canvas.picture.page
        if page is None or not self._canvas.page_fits(page):
            return float("nan")
        if page.data.shape[0]:
            i = round((time - page.first_time) * page.sfreq)
            return float(page.data[i, row]) if 0 <= i < page.data.shape[0] else float("nan")
        column = int(time / page.column_seconds) - page.first_column if page.column_seconds else -1
        if not 0 <= column < page.lo.shape[0]:
            return float("nan")
        return float((page.lo[column, row] + page.hi[column, row]) / 2)

    def _on_cursor(self, time: float, y: float) -> None:
        rows = self._canvas.rows
        self._mouse = (self._canvas.scale_px.x(time), y)
        self.cursor_moved.emit(time)
        row = rows.row_at(y) if rows is not None else None
        self._gutter.set_hovered(row)
        if rows is None or row is None:
            self.hovered.emit(time, "", float("nan"), "")
            return
        self.hovered.emit(time, self._row_name(row), self.value_at(time, row), rows.units[row])

    def _row_name(self, row: int) -> str:
        rows, page = self._canvas.rows, self._canvas.picture.page
        assert rows is not None
        unfiltered = page is not None and not page.filtered
        return rows.montage.derivations[row].anode if unfiltered else rows.names[row]

    def _on_cursor_left(self) -> None:
        self._mouse = None
        self._gutter.set_hovered(None)
        self.cursor_moved.emit(None)
        self.unhovered.emit()

    def _on_span(self, window: Window | None) -> None:
        had_one = self._canvas.selection is not None
        self.select(window)
        if window is not None or had_one:
            self.span_selected.emit(window)

    def _on_click(self, time: float, y: float) -> None:
        rows = self._canvas.rows
        row = rows.row_at(y) if rows is not None else None
        self.clicked.emit(time, rows.names[row] if rows is not None and row is not None else "")
