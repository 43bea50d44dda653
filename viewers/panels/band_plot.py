"""Curves with what is around them: lines over places with names, each with a band where it has one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF

from viewers.panels.layer_plot import Ink
from viewers.panels.plot import Plot, Tick, linear_ticks
from viewers.theme import font, px

_LINE_GAP = 10.0


@dataclass(frozen=True)
class Curve:
    """Values (n,) over the places; `band` (low, high) is filled lightly; `dashed` for what is only compared with."""

    name: str
    values: np.ndarray
    ink: Ink
    band: tuple[np.ndarray, np.ndarray] | None = None
    dashed: bool = False
    dots: bool = True


class BandPlot(Plot):
    """Draws curves over places that have names; names of curves stand above, in as many lines as they need."""

    def __init__(self, name: str, x_title: str, height: int = 150) -> None:
        super().__init__(name, height)
        self.x_title = x_title
        self.curves: list[Curve] = []
        self.places: tuple[str, ...] = ()
        self.limit: tuple[float, str] | None = None
        self._digits = 2

    def set_curves(
        self,
        curves: Sequence[Curve],
        places: Sequence[str],
        y_range: tuple[float, float] | None = None,
        limit: tuple[float, str] | None = None,
    ) -> None:
        """Show curves over `places`; without a range it is that of all values; `limit` is a line with its words."""
        self.curves, self.places, self.limit = list(curves), tuple(places), limit
        self.x_range = (-0.3, max(len(self.places), 2) - 0.7)
        self.y_range = y_range or _range_of(self.curves)
        reach = self.y_range[1] - self.y_range[0]
        self._digits = max(2, int(np.ceil(-np.log10(reach))) + 2) if reach > 0 else 2
        self.setAccessibleDescription("; ".join(self.describe_place(i).replace("\n", ", ") for i in range(self.count)))
        self.update()

    @property
    def count(self) -> int:
        """How many places there are."""
        return len(self.places)

    @property
    def area(self) -> QRectF:
        """Where the curves are, below the lines of their names and right of the widest value."""
        area = super().area
        metrics = QFontMetricsF(font(10))
        top = area.top() + len(self._legend(area.width())) * metrics.height()
        words = [text for _, text in linear_ticks(*self.y_range, most=4)]
        left = max(area.left(), max((metrics.horizontalAdvance(text) for text in words), default=0.0) + px(8))
        return QRectF(left, top, max(10.0, area.right() - left), max(10.0, area.bottom() - top))

    def x_ticks(self) -> Sequence[Tick]:
        """Names of places, as many as fit, the last one always."""
        metrics = QFontMetricsF(font(10))
        widest = max((metrics.horizontalAdvance(text) for text in self.places), default=1.0) + px(8)
        step = max(1, int(np.ceil(self.count * widest / max(1.0, self.area.width()))))
        last = self.count - 1
        return [(float(i), self.places[i]) for i in range(self.count) if (last - i) % step == 0]

    def y_ticks(self) -> Sequence[Tick]:
        """A few round values."""
        return linear_ticks(*self.y_range, most=4)

    def paint_plot(self, painter: QPainter, area: QRectF) -> None:
        """Bands first, then the limit, then the lines."""
        for curve in self.curves:
            if curve.band is not None:
                self._paint_band(painter, curve)
        if self.limit is not None:
            painter.setPen(QPen(self.theme.colour("caution"), 1, Qt.PenStyle.DashLine))
            for side in (self.limit[0], -self.limit[0]):
                painter.drawLine(QPointF(area.left(), self.y(side)), QPointF(area.right(), self.y(side)))
        for curve in self.curves:
            self._paint_line(painter, curve)

    def _paint_band(self, painter: QPainter, curve: Curve) -> None:
        assert curve.band is not None
        low, high = curve.band
        known = np.flatnonzero(np.isfinite(low) & np.isfinite(high))
        outline = [QPointF(self.x(i), self.y(float(high[i]))) for i in known]
        outline += [QPointF(self.x(i), self.y(float(low[i]))) for i in known[::-1]]
        ink = QColor(curve.ink(self.theme))  # the theme's own is shared
        ink.setAlphaF(0.22)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink)
        painter.drawPolygon(QPolygonF(outline))
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _paint_line(self, painter: QPainter, curve: Curve) -> None:
        ink = curve.ink(self.theme)
        points = [QPointF(self.x(i), self.y(v)) for i, v in enumerate(curve.values.tolist()) if np.isfinite(v)]
        painter.setPen(QPen(ink, 1.5, Qt.PenStyle.DashLine if curve.dashed else Qt.PenStyle.SolidLine))
        painter.drawPolyline(QPolygonF(points))
        if curve.dots:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ink)
            for point in points:
                painter.drawEllipse(point, 2.2, 2.2)
            painter.setBrush(Qt.BrushStyle.NoBrush)

    def paint_over(self, painter: QPainter, area: QRectF) -> None:
        """The names of the curves with a stroke each, and the words of the limit."""
        painter.setFont(font(10))
        metrics = QFontMetricsF(painter.font())
        full = super().area
        for row, line in enumerate(self._legend(full.width())):
            y = full.top() + (row + 0.5) * metrics.height()
            for x, curve in line:
                ink = curve.ink(self.theme)
                painter.setPen(QPen(ink, 2, Qt.PenStyle.DashLine if curve.dashed else Qt.PenStyle.SolidLine))
                painter.drawLine(QPointF(full.left() + x, y), QPointF(full.left() + x + px(14), y))
                painter.setPen(self.theme.colour("text"))
                painter.drawText(QPointF(full.left() + x + px(18), y + metrics.ascent() / 2 - 1), curve.name)
        if self.limit is not None:
            painter.setPen(self.theme.colour("caution"))
            width = metrics.horizontalAdvance(self.limit[1])
            painter.drawText(QPointF(area.right() - width - 3, self.y(self.limit[0]) - 3), self.limit[1])

    def _legend(self, width: float) -> list[list[tuple[float, Curve]]]:
        """The curves by line of the legend, each with its place from the left."""
        metrics = QFontMetricsF(font(10))
        lines: list[list[tuple[float, Curve]]] = []
        x = 0.0
        for curve in self.curves:
            length = px(18) + metrics.horizontalAdvance(curve.name)
            if not lines or x + length > width:
                lines.append([])
                x = 0.0
            lines[-1].append((x, curve))
            x += length + px(_LINE_GAP)
        return lines

    def describe_place(self, place: int) -> str:
        """The values at a place, a line each."""
        lines = [f"{self.x_title}: {self.places[place]}"]
        for curve in self.curves:
            value = float(curve.values[place])
            text = f"{value:.{self._digits}f}" if np.isfinite(value) else "not defined"
            if curve.band is not None and np.isfinite(value):
                low, high = (float(side[place]) for side in curve.band)
                text += f" ({low:.{self._digits}f} to {high:.{self._digits}f})"
            lines.append(f"{curve.name} {text}".replace("-", "−"))
        return "\n".join(lines)

    def describe(self, at: QPointF) -> str:
        """The values at the place under the mouse."""
        place = round(self.x_at(at.x()))
        return self.describe_place(place) if 0 <= place < self.count else ""


def _range_of(curves: Sequence[Curve]) -> tuple[float, float]:
    """All values and bands, with a little room."""
    parts = [part for curve in curves for part in (curve.values, *(curve.band or ()))]
    known = np.concatenate([np.asarray(part, float) for part in parts]) if parts else np.empty(0)
    known = known[np.isfinite(known)]
    if not known.size:
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    room = 0.06 * (high - low) or max(1e-6, 0.05 * abs(high))
    return low - room, high + room
