"""A cursor that stays at a time, with the value of every row beside it."""

from __future__ import annotations

import math
from collections.abc import Callable

from PyQt6.QtCore import QLineF, QRectF, Qt
from PyQt6.QtGui import QFontMetricsF, QPainter, QPen

from analysis.measuring import trace_text
from viewers.pointer_tool import PointerTool
from viewers.theme import font
from viewers.trace_canvas import TraceCanvas

_FONT = 10
_GAP = 5.0
_INK = "caution"


class PinnedCursor(PointerTool):
    """Drawn over the traces; `value_at(time, row)` gives the value that is drawn there."""

    def __init__(self, canvas: TraceCanvas, value_at: Callable[[float, int], float]) -> None:
        self._canvas = canvas
        self._value_at = value_at
        self.time: float | None = None
        canvas.add_tool(self)

    def pin(self, time: float | None) -> None:
        """Stay at a time in seconds, or (None) go away."""
        if time != self.time:
            self.time = time
            self._canvas.repaint_all()

    def texts(self) -> list[tuple[float, str]]:
        """The y and the words of each row that has a value, no two over one another."""
        rows = self._canvas.rows
        if self.time is None or rows is None:
            return []
        found: list[tuple[float, str]] = []
        height = QFontMetricsF(font(_FONT)).height() - 1
        for row, unit in enumerate(rows.units):
            value, y = self._value_at(self.time, row), float(rows.centre[row])
            if math.isfinite(value) and (not found or y - found[-1][0] >= height):
                found.append((y, trace_text(value, unit, sign=unit == "uV")))
        return found

    def paint(self, painter: QPainter, height: float) -> None:
        """Draw the line and the values, at its left where there is no room at the right."""
        scale, theme = self._canvas.scale_px, self._canvas.theme
        if self.time is None or not 0 <= scale.x(self.time) <= scale.width:
            return
        x = round(scale.x(self.time)) + 0.5
        painter.setPen(QPen(theme.colour(_INK, 0.9), 1, Qt.PenStyle.DashDotLine))
        painter.drawLine(QLineF(x, 0, x, height))
        painter.setFont(font(_FONT))
        metrics = QFontMetricsF(painter.font())
        for y, text in self.texts():
            width = metrics.horizontalAdvance(text) + 4
            left = x + _GAP if x + _GAP + width < scale.width else x - _GAP - width
            box = QRectF(left, y - metrics.height() / 2, width, metrics.height())
            painter.fillRect(box, theme.colour("canvas", 0.85))
            painter.setPen(theme.colour("text"))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
