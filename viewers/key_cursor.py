"""The cursor that keys move over the traces, and the span that they draw out: all the mouse does, without it."""

from __future__ import annotations

from PyQt6.QtCore import QObject

from analysis.recording import Window
from viewers.mark_rows import channels_of
from viewers.trace_canvas import TraceCanvas

STEP = 0.01  # of the page
_SCROLL = 0.1  # of the page, when the cursor leaves it


class KeyCursor(QObject):
    """Moves the cursor of a canvas in time and from row to row; what hears of the mouse hears of it as well."""

    def __init__(self, canvas: TraceCanvas, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._canvas = canvas
        self._duration = 0.0
        self._anchor: tuple[float, int] | None = None  # time and row where the span began
        self._made: Window | None = None  # the span as keys have drawn it out so far
        self._left_at: tuple[float, float] | None = None  # where keys left the cursor

    def set_duration(self, duration: float) -> None:
        """Take the length of a recording in seconds."""
        self._duration = duration
        self._anchor = self._made = None

    def step(self, steps: float, extend: bool = False) -> None:
        """Move by so many hundredths of the page; with `extend` the span from where it began is selected."""
        time, row = self._place()
        window = self._canvas.scale_px.window
        later = time + steps * STEP * window.duration
        if extend:
            self._begin(time, row)
        if not window.start <= later <= window.stop:
            self._canvas.scrolled.emit(_SCROLL * window.duration * (1 if steps > 0 else -1))
        self._go(later, row, extend)

    def step_row(self, steps: int, extend: bool = False) -> None:
        """Move to another row; with `extend` the rows in between are selected, of the span that is."""
        time, row = self._place()
        rows = self._canvas.rows
        if rows is None or not len(rows):
            return
        if extend:
            self._begin(time, row)
        self._go(time, min(max(row + steps, 0), len(rows) - 1), extend, over_rows=True)

    def _place(self) -> tuple[float, int]:
        """Where the cursor is: under the mouse, else where keys left it, else in the middle of the page."""
        rows, pointed = self._canvas.rows, self._canvas.pointed
        window = self._canvas.scale_px.window
        slack = 2 * _SCROLL * window.duration  # the page may still be on its way to the cursor
        if pointed is None or not window.start - slack <= pointed[0] <= window.stop + slack:
            return (window.start + window.stop) / 2, 0
        row = rows.nearest(pointed[1]) if rows is not None else None
        return pointed[0], row or 0

    def _begin(self, time: float, row: int) -> None:
        """Begin another span here, unless the last key went on with one that is still there."""
        made, selection = self._made, self._canvas.selection
        goes_on = made is not None and self._canvas.pointed == self._left_at
        if not goes_on or selection != (made if made is not None and made.duration > 0 else None):
            self._anchor, self._made = (time, row), None
            self._canvas.selection_channels = ()

    def _go(self, time: float, row: int, extend: bool, over_rows: bool = False) -> None:
        rows, time = self._canvas.rows, min(max(0.0, time), self._duration)
        self._canvas.point_at(time, float(rows.centre[row]) if rows is not None and len(rows) else 0.0)
        self._left_at = self._canvas.pointed
        if not extend or self._anchor is None:
            self._made = None
            return
        began, first = self._anchor
        if rows is not None and over_rows:
            self._canvas.selection_channels = channels_of(rows.montage, range(min(first, row), max(first, row) + 1))
        self._made = Window(min(began, time), max(began, time))
        if self._made.duration > 0:
            self._canvas.span_selected.emit(self._made)
