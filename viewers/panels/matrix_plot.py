"""A table of numbers as colours: rows from top to bottom, a scale at the right, the value of a cell under the mouse."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PyQt6.QtCore import QPointF, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen, QResizeEvent

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
        self.chosen: tuple[int, int] | None = None
        self._square = square
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

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
        if self.chosen is not None and not (self.chosen[0] < deep and self.chosen[1] < wide):
            self.chosen = None
        self.x_range = (-0.5, max(wide, 1) - 0.5)
        self.y_range = (max(deep, 1) - 0.5, -0.5)
        metrics = QFontMetricsF(font(10))
        shown = [metrics.horizontalAdvance(text) for text in self.rows]
        self.left_room = min(px(_LONGEST_LABEL), max(shown, default=10.0) + px(18)) / px(1)
        self._fit()
        self.update()

    def sizeHint(self) -> QSize:
        """As high as it is easily read; square cells need no more than their width gives."""
        hint = super().sizeHint()
        if not self._square or not self.values.size or self.width() < 2 * px(self.left_room):
            return hint
        deep, wide = self.values.shape
        room = self.width() - px(self.left_room) - px(self.right_room)
        return QSize(hint.width(), min(hint.height(), round(room / wide * deep + px(self.bottom_room) + px(8))))

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Another width asks for another height."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self._square:
            self.setFixedHeight(self.sizeHint().height())

    def choose_cell(self, cell: tuple[int, int] | None) -> None:
        """Frame a cell, or none."""
        if cell != self.chosen:
            self.chosen = cell
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
        """The frame of the chosen cell, the scale of the colours, and what the rows are."""
        if not self.values.size:
            return
        self._paint_frames(painter, area)
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

    def _paint_frames(self, painter: QPainter, area: QRectF) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if self.chosen is not None:
            row, column = self.chosen
            left, top = self.x(column - 0.5), self.y(row - 0.5)
            box = QRectF(left, top, self.x(column + 0.5) - left, self.y(row + 0.5) - top)
            painter.setPen(QPen(self.theme.colour("accent"), 2))
            painter.drawRect(box)
        if self.hasFocus():
            painter.setPen(QPen(self.theme.colour("accent"), 1))
            painter.drawRect(area)

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

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Arrow keys choose the neighbouring cell."""
        step = _STEPS.get(Qt.Key(event.key())) if event is not None else None
        if step is None or not self.values.size:
            super().keyPressEvent(event)
            return
        deep, wide = self.values.shape
        row, column = self.chosen or (0, -step[1])
        cell = min(max(row + step[0], 0), deep - 1), min(max(column + step[1], 0), wide - 1)
        if cell != self.chosen:
            self.cell_clicked.emit(*cell)


_STEPS = {
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
}


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
    text = f"{value:.0f}" if 100 <= abs(value) < 10_000 else f"{value:.2g}"
    return text.replace("-", "−")


def _every(names: Sequence[str], most: float) -> list[Tick]:
    step = max(1, int(np.ceil(len(names) / max(1.0, most))))
    return [(float(i), names[i]) for i in range(0, len(names), step)]
