"""The cursor that keys move over the traces, and the span that they draw out: all the mouse does, without it."""

from __future__ import annotations

from PyQt6.QtCore import QObject

from analysis.recording import Window
from viewers.gutter import Gutter
from viewers.mark_rows import channels_of
from viewers.trace_canvas import TraceCanvas

STEP = 0.01  # of the page
_SCROLL = 0.1  # of the page, when the cursor leaves it
_NO_ROW = -1.0


class KeyCursor(QObject):
    """Moves the cursor of a canvas in time, on the row that is chosen; what hears of the mouse hears of it as well."""

    def __init__(self, canvas: TraceCanvas, gutter: Gutter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._canvas = canvas
        self._gutter = gutter
        self._duration = 0.0
        self._anchor: tuple[float, int | None] = (0.0, None)  # time and row where the span began
        self._made: Window | None = None  # the span as keys have drawn it out so far
        self._left_at: tuple[float, float] | None = None  # where keys left the cursor

    def set_duration(self, duration: float) -> None:
        """Take the length of a recording in seconds."""
        self._duration, self._made = duration, None

    def place(self) -> tuple[float, int | None] | None:
        """Time and row of the cursor, be it moved by the mouse or by keys; None where there is none on the page."""
        rows, pointed = self._canvas.rows, self._canvas.pointed
        window = self._canvas.scale_px.window
        slack = 2 * _SCROLL * window.duration  # the page may still be on its way to the cursor
        if pointed is None or not window.start - slack <= pointed[0] <= window.stop + slack:
            return None
        row = rows.row_at(pointed[1]) if rows is not None else None
        if self._canvas.is_keyed and (chosen := self._chosen_row()) is not None:
            row = chosen
        return pointed[0], row

    def step(self, steps: float, extend: bool = False) -> None:
        """Move by so many hundredths of the page; with `extend` the span from where it began is selected."""
        time, row = self._place()
        if extend:
            self._begin(time, row)
        window = self._canvas.scale_px.window
        later = min(max(0.0, time + steps * STEP * window.duration), self._duration)
        if not window.start <= later <= window.stop:
            self._canvas.scrolled.emit(_SCROLL * window.duration * (1 if steps > 0 else -1))
        self._go(later, row, extend)

    def step_pixel(self, steps: int) -> None:
        """Move by so many pixels."""
        self.step(steps / STEP / max(1, self._canvas.width()))

    def extend_rows(self, steps: int) -> None:
        """Choose another row, and select the rows from where the span began to it."""
        time, row = self._place()
        rows = self._canvas.rows
        if rows is None or not len(rows):
            return
        self._begin(time, row)
        began, first = self._anchor
        if row is None:  # the first one from the edge, by itself
            first = row = 0 if steps > 0 else len(rows) - 1
        else:
            first = row if first is None else first
            row = min(max(row + steps, 0), len(rows) - 1)
        self._anchor = (began, first)
        self._gutter.set_chosen(row)
        self._canvas.selection_channels = channels_of(rows.montage, range(min(first, row), max(first, row) + 1))
        self._go(time, row, extend=True)

    def _place(self) -> tuple[float, int | None]:
        """Where the cursor is, or begins when there is none: in the middle of the page, on the chosen row."""
        window = self._canvas.scale_px.window
        return self.place() or ((window.start + min(window.stop, self._duration)) / 2, self._chosen_row())

    def _chosen_row(self) -> int | None:
        rows, chosen = self._canvas.rows, self._gutter.chosen
        return chosen if rows is not None and chosen is not None and chosen < len(rows) else None

    def _begin(self, time: float, row: int | None) -> None:
        """Begin another span here, unless the last key went on with one that is still there."""
        made, selection = self._made, self._canvas.selection
        goes_on = made is not None and self._canvas.pointed == self._left_at
        if not goes_on or selection != (made if made is not None and made.duration > 0 else None):
            self._anchor, self._made = (time, row), None
            self._canvas.selection_channels = ()

    def _go(self, time: float, row: int | None, extend: bool) -> None:
        rows = self._canvas.rows
        self._canvas.point_at(time, _NO_ROW if rows is None or row is None else float(rows.centre[row]))
        self._left_at = self._canvas.pointed
        began = self._anchor[0]
        self._made = Window(min(began, time), max(began, time)) if extend else None
        if self._made is not None and self._made.duration > 0:
            self._canvas.span_selected.emit(self._made)
