"""A table of numbers as colours: rows from top to bottom, a scale at the right, the value of a cell under the mouse."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PyQt6.QtCore import QPointF, QRectF, Qt, pyqtSignal
from PyQt6.QtGui import QFontMetricsF, QMouseEvent, QPainter, QPen

from viewers.colour_scales import amount_scale, image, indices
from viewers.heat_scales import balance_colours
from viewers.panels.plot import Plot, Tick
from viewers.theme import Theme, font, px

_BAR = 9.0
_LONGEST_LABEL = 110.0


class MatrixPlot(Plot):
    """Draws values (rows, columns) between two limits; NaN stays the colour of the ground."""

    cell_clicked = pyqtSignal(int, int)
    right_room = 54.0

    def __init__(self, name: str, height: int = 220, square: bool = False) -> None:
        super().__init__(name, height)
        self.values = np.empty((0, 0), np.float32)
        self.rows: tuple[str, ...] = ()
        self.columns: tuple[str, ...] = ()
        self.limits = (0.0, 1.0)
        self.signed = False
        self.row_title = ""
        self.quantity = ""
        self._square = square

    def set_values(
        self,
        values: np.ndarray,
        rows: Sequence[str] = (),
        columns: Sequence[str] = (),
        limits: tuple[float, float] | None = None,
        titles: tuple[str, str] = ("", ""),
        quantity: str = "",
    ) -> None:
        """Show a table; `titles` name rows and columns, `quantity` the values. Limits of both signs part at zero."""
        self.values = np.asarray(values, np.float32)
        deep, wide = self.values.shape
        self.rows = tuple(rows) or tuple(str(i) for i in range(deep))
        self.columns = tuple(columns) or tuple(str(i) for i in range(wide))
        self.limits = limits or limits_of(self.values)
        self.signed = self.limits[0] < 0
        self.row_title, self.x_title = titles
        self.quantity = quantity
        self.x_range = (-0.5, max(wide, 1) - 0.5)
        self.y_range = (max(deep, 1) - 0.5, -0.5)
        metrics = QFontMetricsF(font(10))
        shown = [metrics.horizontalAdvance(text) for text in self.rows]
        self.left_room = min(px(_LONGEST_LABEL), max(shown, default=10.0) + px(18)) / px(1)
        self.update()

    @property
    def area(self) -> QRectF:
        """Where the cells are; square cells leave room at the right or below."""
        area = super().area
        if not self._square or not self.values.size:
            return area
        deep, wide = self.values.shape
        side = min(area.width() / wide, area.height() / deep)
        return QRectF(area.left(), area.top(), side * wide, side * deep)

    def x_ticks(self) -> Sequence[Tick]:
        """Names of columns, as many as fit."""
        metrics = QFontMetricsF(font(10))
        widest = max((metrics.horizontalAdvance(text) for text in self.columns), default=1.0) + 6
        return _every(self.columns, self.area.width() / widest)

    def y_ticks(self) -> Sequence[Tick]:
        """Names of rows, as many as fit, cut short where they are long."""
        metrics = QFontMetricsF(font(10))
        room = px(self.left_room) - px(16)
        found = _every(self.rows, self.area.height() / (metrics.height() + 1))
        return [(at, metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)) for at, text in found]

    def colours(self, theme: Theme) -> np.ndarray:
        """The table of colours from the lower to the upper limit."""
        return balance_colours(theme) if self.signed else amount_scale(theme)

    def paint_plot(self, painter: QPainter, area: QRectF) -> None:
        """The cells."""
        if self.values.size:
            rgb = self.colours(self.theme)[indices(self.values, *self.limits)]
            painter.drawImage(area, image(rgb, ~np.isnan(self.values)))

    def paint_over(self, painter: QPainter, area: QRectF) -> None:
        """The scale of the colours, and what the rows are."""
        if not self.values.size:
            return
        bar = QRectF(area.right() + px(6), area.top(), px(_BAR), area.height())
        painter.drawImage(bar, image(self.colours(self.theme)[::-1][:, None]))
        painter.setPen(QPen(self.theme.colour("border"), 1))
        painter.drawRect(bar)
        painter.setFont(font(10))
        painter.setPen(self.theme.colour("muted"))
        low, high = self.limits
        for value, y in ((high, bar.top()), (low, bar.bottom() - px(13))):
            box = QRectF(bar.right() + 3, y, self.width() - bar.right() - 3, px(13))
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, number(value))
        if self.row_title:
            painter.save()
            painter.translate(px(11), area.bottom())
            painter.rotate(-90)
            box = QRectF(0, -px(11), area.height(), px(13))
            text = QFontMetricsF(painter.font()).elidedText(self.row_title, Qt.TextElideMode.ElideRight, area.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
            painter.restore()

    def cell_at(self, at: QPointF) -> tuple[int, int] | None:
        """Row and column of a point."""
        if not self.values.size or not self.area.contains(at):
            return None
        row, column = round(self.y_at(at.y())), round(self.x_at(at.x()))
        inside = 0 <= row < self.values.shape[0] and 0 <= column < self.values.shape[1]
        return (row, column) if inside else None

    def describe(self, at: QPointF) -> str:
        """Both names and the value."""
        cell = self.cell_at(at)
        if cell is None:
            return ""
        value = float(self.values[cell])
        text = f"{value:.4g}".replace("-", "−") if np.isfinite(value) else "not defined"
        names = (
            f"{self._named(self.row_title, self.rows[cell[0]])} × {self._named(self.x_title, self.columns[cell[1]])}"
        )
        return f"{names}\n{self.quantity} {text}".strip()

    @staticmethod
    def _named(title: str, name: str) -> str:
        return f"{title} {name}".strip()

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Tell which cell is clicked."""
        cell = self.cell_at(event.position()) if event is not None and not self.message else None
        if cell is not None:
            self.cell_clicked.emit(*cell)


def limits_of(values: np.ndarray) -> tuple[float, float]:
    """From zero to the greatest value, or as far below zero as above it where there are both signs."""
    known = values[np.isfinite(values)]
    if not known.size:
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    if low < 0:
        reach = max(-low, high)
        return -reach, reach
    return 0.0, high or 1.0


def number(value: float) -> str:
    """A value as it stands at a scale."""
    return f"{value:.2g}".replace("-", "−")


def _every(names: Sequence[str], most: float) -> list[Tick]:
    step = max(1, int(np.ceil(len(names) / max(1.0, most))))
    return [(float(i), names[i]) for i in range(0, len(names), step)]
