"""Electrodes on a head seen from above, each in the colour of its value; nothing is guessed between them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from viewers.colour_scales import STEPS, image
from viewers.heat_scales import HeatScale, balance_colours
from viewers.panels.head_shape import NOSE, paint_ears_and_nose
from viewers.panels.plot import Plot, Tick
from viewers.theme import font, px

_DOT, _NEAR = 6.0, 14.0
_BAR = 9.0


class ElectrodeDots(Plot):
    """Draws values (n,) at places (n, 2): x to the right, y to the nose, the outline of the head at distance 1."""

    left_room, right_room, bottom_room = 8.0, 74.0, 8.0

    def __init__(self, name: str, height: int = 190) -> None:
        super().__init__(name, height)
        self.names: tuple[str, ...] = ()
        self.places = np.empty((0, 2))
        self.values = np.empty(0)
        self.scale = HeatScale(0.0, 1.0, 0.5)

    def set_dots(self, names: Sequence[str], places: np.ndarray, values: np.ndarray, scale: HeatScale) -> None:
        """Show values; electrodes whose place is not a number are left out."""
        known = np.isfinite(places).all(1)
        self.names = tuple(name for name, there in zip(names, known, strict=True) if there)
        self.places, self.values, self.scale = places[known].astype(float), values[known].astype(float), scale
        self.setAccessibleDescription("; ".join(f"{n} {v:.2f}" for n, v in zip(self.names, self.values, strict=True)))
        self.update()

    def x_ticks(self) -> Sequence[Tick]:
        """None."""
        return []

    def y_ticks(self) -> Sequence[Tick]:
        """None."""
        return []

    @property
    def circle(self) -> QRectF:
        """The outline of the head."""
        area = self.area
        side = min(area.width(), area.height()) / (1 + NOSE)
        middle = QPointF(area.center().x(), area.center().y() + NOSE * side / 4)
        return QRectF(middle.x() - side / 2, middle.y() - side / 2, side, side)

    def point(self, i: int) -> QPointF:
        """Where an electrode is drawn."""
        circle, radius = self.circle, self.circle.width() / 2 - px(_DOT)
        return circle.center() + QPointF(self.places[i, 0] * radius, -self.places[i, 1] * radius)

    def paint_plot(self, painter: QPainter, area: QRectF) -> None:
        """Head and electrodes."""
        circle = self.circle
        ink = QPen(self.theme.colour("muted"), 1.2)
        paint_ears_and_nose(painter, circle, ink, self.theme.colour("canvas"))
        painter.drawEllipse(circle)
        table = balance_colours(self.theme)
        painter.setPen(QPen(self.theme.colour("muted"), 0.8))
        for i, value in enumerate(self.values.tolist()):
            painter.setBrush(QColor(*table[round(self.scale.share(value) * (STEPS - 1))].tolist()))
            painter.drawEllipse(self.point(i), px(_DOT), px(_DOT))
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def paint_over(self, painter: QPainter, area: QRectF) -> None:
        """What the colours mean, at the right."""
        bar = QRectF(area.right() + px(6), area.top() + px(8), px(_BAR), area.height() - px(16))
        painter.drawImage(bar, image(balance_colours(self.theme)[::-1][:, None]))
        painter.setPen(QPen(self.theme.colour("border"), 1))
        painter.drawRect(bar)
        painter.setFont(font(10))
        painter.setPen(self.theme.colour("muted"))
        scale, high = self.scale, QFontMetricsF(painter.font()).height()
        left = bar.right() + 4
        ends = ((scale.high, scale.high_word, bar.top()), (scale.low, scale.low_word, bar.bottom() - 2 * high))
        for value, word, y in ends:
            for line, text in enumerate((scale.text(value), word)):
                box = QRectF(left, y + line * high, self.width() - left, high)
                painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)

    def describe(self, at: QPointF) -> str:
        """The electrode under the mouse and its value."""
        if not self.names:
            return ""
        distance = [(self.point(i) - at).manhattanLength() for i in range(len(self.names))]
        nearest = int(np.argmin(distance))
        if distance[nearest] >= px(_NEAR):
            return ""
        return f"{self.names[nearest]}  {self.scale.text(self.values[nearest])}"
