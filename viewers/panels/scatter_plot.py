"""Pairs of channels as points: one quantity of theirs against another, the pair under the mouse by its names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QPainter, QPen, QPolygonF

from viewers.panels.plot import Plot
from viewers.theme import px

_NEAR = 10.0
_FAINT = 300  # points from which they are drawn see-through


class ScatterPlot(Plot):
    """Draws points (n,), (n,) with a name each; those of which either number is unknown are left out."""

    left_room = 46.0

    def __init__(self, name: str, height: int = 190) -> None:
        super().__init__(name, height)
        self.points = np.empty((0, 2))
        self.names: tuple[str, ...] = ()
        self._y_words = ""

    def set_points(self, x: np.ndarray, y: np.ndarray, names: Sequence[str], titles: tuple[str, str]) -> None:
        """Show points; `titles` name both axes with their units."""
        known = np.isfinite(x) & np.isfinite(y)
        self.points = np.column_stack([x[known], y[known]]).astype(float)
        self.names = tuple(name for name, there in zip(names, known, strict=True) if there)
        self.x_title, self._y_words = titles
        if len(self.points):
            (left, low), (right, high) = self.points.min(0), self.points.max(0)
            spread = (high - low) * 0.05 or abs(high) * 0.05 or 0.5
            self.x_range = (min(0.0, left), right * 1.03 or 1.0)
            self.y_range = (low - spread, high + spread)
        self.update()

    def pixels(self) -> np.ndarray:
        """Where the points are drawn, (n, 2)."""
        (left, right), (low, high), area = self.x_range, self.y_range, self.area
        share = (self.points - [left, low]) / [right - left, high - low]
        return np.column_stack([area.left() + share[:, 0] * area.width(), area.bottom() - share[:, 1] * area.height()])

    def paint_plot(self, painter: QPainter, area: QRectF) -> None:
        """The points."""
        ink = self.theme.colour("accent", 0.3 if len(self.points) > _FAINT else 0.65)
        painter.setPen(QPen(ink, px(4.0), Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.drawPoints(QPolygonF([QPointF(x, y) for x, y in self.pixels().tolist()]))

    def describe(self, at: QPointF) -> str:
        """The nearest pair and its numbers."""
        if not len(self.points):
            return ""
        away = np.hypot(*(self.pixels() - [at.x(), at.y()]).T)
        i = int(away.argmin())
        if away[i] > px(_NEAR):
            return ""
        x, y = (f"{value:.4g}".replace("-", "−") for value in self.points[i])
        return f"{self.names[i]}\n{self.x_title}: {x}\n{self._y_words}: {y}"
