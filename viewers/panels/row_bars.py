"""Bars that lie beside names: one line each, from zero to either side, with the value written out."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PyQt6.QtCore import QLineF, QPointF, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen

from viewers.heat_scales import above, amount, below
from viewers.panels.plot import Plot, Tick
from viewers.theme import font, px

_PITCH = 19.0
_MOST_NAME = 120.0


def digits_for(values: np.ndarray) -> int:
    """Decimals that show three figures of the largest value."""
    most = float(np.abs(values).max(initial=0.0))
    return min(6, max(0, 2 - math.floor(math.log10(most)))) if most > 0 else 3


class RowBars(Plot):
    """Draws values (n,) under each other; `signed` ones have a colour for either sign."""

    row_clicked = pyqtSignal(int)
    right_room, bottom_room = 52.0, 4.0

    def __init__(self, name: str, signed: bool = False, can_choose: bool = False) -> None:
        """With `can_choose` a line can be clicked, or walked to with the arrow keys."""
        super().__init__(name)
        self.chosen: int | None = None
        self._can_choose = can_choose
        if can_choose:
            self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.names: tuple[str, ...] = ()
        self.values = np.empty(0)
        self.spread: np.ndarray | None = None
        self._signed = signed
        self._digits = 3

    def set_bars(
        self,
        names: Sequence[str],
        values: np.ndarray,
        spread: np.ndarray | None = None,
        digits: int = 3,
        most: float | None = None,
    ) -> None:
        """Show values with half lengths of whiskers, written with so many decimals.

        The longest bar fills the width, or, of a measure that cannot exceed `most`, that would.
        """
        self.names, self.values, self.spread, self._digits = tuple(names), np.asarray(values, float), spread, digits
        known = np.abs(self.values[np.isfinite(self.values)])
        reach = float(known.max()) * 1.05 if known.size and known.max() > 0 else 1.0
        reach = most if most is not None else reach
        self.x_range = (-reach, reach) if self._signed else (0.0, reach)
        self.y_range = (max(len(self.names), 1) - 0.5, -0.5)
        metrics = QFontMetricsF(font(10))
        widest = max((metrics.horizontalAdvance(name) for name in self.names), default=20.0)
        self.left_room = min(px(_MOST_NAME), widest + 8) / px(1)
        self.setAccessibleDescription(
            "; ".join(f"{n} {self._text(v)}" for n, v in zip(self.names, self.values, strict=True))
        )
        self.updateGeometry()
        self.update()

    def choose(self, row: int | None) -> None:
        """Point out a line, or none."""
        if row != self.chosen:
            self.chosen = row
            self.update()

    def sizeHint(self) -> QSize:
        """As high as its lines."""
        return QSize(280, round(px(_PITCH) * max(2, len(self.names)) + px(10)))

    def minimumSizeHint(self) -> QSize:
        """All lines."""
        return QSize(160, self.sizeHint().height())

    def x_ticks(self) -> Sequence[Tick]:
        """Zero alone: the values are written out."""
        return [(0.0, "")]

    def y_ticks(self) -> Sequence[Tick]:
        """The names, as the area is wide."""
        metrics = QFontMetricsF(font(10))
        room = px(self.left_room) - 6
        return [
            (float(i), metrics.elidedText(name, Qt.TextElideMode.ElideRight, room)) for i, name in enumerate(self.names)
        ]

    def paint_plot(self, painter: QPainter, area: QRectF) -> None:
        """A bar with its whisker a line, on the ground of the chosen one."""
        if self.chosen is not None and self.chosen < len(self.names):
            top, bottom = self.y(self.chosen - 0.5), self.y(self.chosen + 0.5)
            painter.fillRect(QRectF(area.left(), top, area.width(), bottom - top), self.theme.colour("accent", 0.16))
        for i, value in enumerate(self.values.tolist()):
            if not np.isfinite(value):
                continue
            zero, x, y = self.x(0.0), self.x(value), self.y(i)
            ink = amount if not self._signed else above if value >= 0 else below
            painter.fillRect(QRectF(min(zero, x), y - px(5), abs(x - zero), px(10)), ink(self.theme))
            if self.spread is not None and self.spread[i] > 0:
                painter.setPen(QPen(self.theme.colour("text", 0.7), 1.2))
                half = float(self.spread[i])
                painter.drawLine(QLineF(self.x(value - half), y, self.x(value + half), y))

    def paint_over(self, painter: QPainter, area: QRectF) -> None:
        """The values at the right, and the focus."""
        if self.hasFocus():
            painter.setPen(QPen(self.theme.colour("accent"), 1))
            painter.drawRect(area)
        painter.setFont(font(10))
        painter.setPen(self.theme.colour("text"))
        for i, value in enumerate(self.values.tolist()):
            box = QRectF(area.right() + 4, self.y(i) - px(8), self.width() - area.right() - 5, px(16))
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, self._text(value))

    def describe(self, at: QPointF) -> str:
        """Name and value of the line under the mouse."""
        i = round(self.y_at(at.y()))
        if not 0 <= i < len(self.names):
            return ""
        spread = f" ± {self.spread[i]:.{self._digits}f}" if self.spread is not None and self.spread[i] > 0 else ""
        return f"{self.names[i]}: {self._text(float(self.values[i]))}{spread}"

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Tell which line is clicked, by its name or its bar."""
        row = round(self.y_at(event.position().y())) if event is not None else -1
        if self._can_choose and 0 <= row < len(self.names):
            self.row_clicked.emit(row)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Up and down choose the neighbouring line."""
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        if event is None or event.key() not in steps or not self._can_choose or not self.names:
            super().keyPressEvent(event)
            return
        step = steps[Qt.Key(event.key())]
        start = self.chosen if self.chosen is not None else (-1 if step > 0 else len(self.names))
        self.row_clicked.emit(min(max(start + step, 0), len(self.names) - 1))

    def _text(self, value: float) -> str:
        if not np.isfinite(value):
            return "—"
        value = round(value, self._digits) + 0.0  # no negative zero
        sign = "+" if self._signed and value > 0 else ""
        return f"{sign}{value:.{self._digits}f}".replace("-", "−")
