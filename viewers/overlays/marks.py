"""Painting of marks shared by the overlays that draw annotations: shades and edges, however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PyQt6.QtCore import QLineF, QPointF, QRectF, Qt
from PyQt6.QtGui import QColor, QImage, QPainter, QPen, QPolygonF

from viewers.rows import Rows
from viewers.time_scale import TimeScale

MANY = 150
DASHED = (4.0, 3.0)
DASHED_AND_DOTTED = (7.0, 3.0, 1.5, 3.0)
DOTTED = (1.0, 3.0)
_SOLID_WIDTH = 2.0
_ARROW = 4.5  # half the width of the arrow that points at a moment on a row
_BRACKET, _LEG = 2.0, 7.0  # how thick the bracket over a span on a row is, and how far it reaches down
_END = 0.45  # how much fainter the end of a mark is drawn than its beginning

Band = tuple[float, float]


@dataclass(frozen=True)
class Stroke:
    """How marks of one kind look: the shade of their span, the colour of their edges, and the pattern of these."""

    shade: QColor
    line: QColor
    pattern: tuple[float, ...] = ()  # none for a solid line

    def pen(self, fade: float = 1.0) -> QPen:
        """What edges are drawn with."""
        colour = QColor(self.line)
        colour.setAlphaF(colour.alphaF() * fade)
        pen = QPen(colour, 1.0 if self.pattern or fade < 1 else _SOLID_WIDTH)
        if self.pattern:
            pen.setDashPattern(list(self.pattern))
        return pen


def bands_of(rows: Rows | None, which: Sequence[int], height: float) -> list[Band]:
    """Tops and bottoms of rows; of the whole height where none are meant."""
    return [(0.0, height)] if not which or rows is None else [rows.band(i) for i in which]


def paint_few(
    painter: QPainter,
    scale: TimeScale,
    spans: Sequence[tuple[float, float]],
    bands: Sequence[Band],
    stroke: Stroke,
    ends: bool = False,
) -> None:
    """Shade each (onset, stop) in some bands and draw its onset, and fainter its end where `ends` are asked for."""
    offset = 0.5 if stroke.pattern else 0.0
    for onset, stop in spans:
        left, right = max(0.0, scale.x(onset)), min(scale.width, scale.x(stop))
        for top, bottom in bands:
            if right > left:
                painter.fillRect(QRectF(left, top, right - left, bottom - top), stroke.shade)
            if scale.window.start <= onset:
                _paint_edge(painter, round(scale.x(onset)) + offset, top, bottom, stroke.pen())
            if ends and onset < stop <= scale.window.stop:
                _paint_edge(painter, round(scale.x(stop)) + 0.5, top, bottom, stroke.pen(_END))
    painter.setPen(Qt.PenStyle.NoPen)


def paint_brackets(
    painter: QPainter,
    scale: TimeScale,
    spans: Sequence[tuple[float, float]],
    bands: Sequence[Band],
    stroke: Stroke,
    halo: QColor,
) -> None:
    """Draw a bracket over each (onset, stop) at the top of its bands, and for a moment an arrow, each with a halo.

    For marks of single rows, whose traces hide what is drawn behind them; thin enough to hide nothing itself.
    """
    pen = QPen(stroke.line, _BRACKET)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    if stroke.pattern == DOTTED:
        pen.setDashPattern([1.0, 1.5])
    for onset, stop in spans:
        left, right = scale.x(onset), scale.x(stop)
        for top, bottom in bands:
            if stop <= onset:
                _paint_arrow(painter, left, top, stroke.line, halo)
                continue
            leg, y = min(_LEG, (bottom - top) / 2), top + _BRACKET / 2
            line = QPolygonF([QPointF(left, top + leg), QPointF(left, y), QPointF(right, y), QPointF(right, top + leg)])
            for each in (QPen(halo, _BRACKET + 2.5), pen):
                painter.setPen(each)
                painter.drawPolyline(line)
    painter.setPen(Qt.PenStyle.NoPen)


def _paint_arrow(painter: QPainter, x: float, top: float, colour: QColor, halo: QColor) -> None:
    painter.setPen(QPen(halo, 1.5))
    painter.setBrush(colour)
    tip = QPointF(x + 0.5, top + 1.5 * _ARROW)
    painter.drawPolygon(QPolygonF([QPointF(tip.x() - _ARROW, top), QPointF(tip.x() + _ARROW, top), tip]))
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _paint_edge(painter: QPainter, x: float, top: float, bottom: float, pen: QPen) -> None:
    painter.setPen(pen)
    painter.drawLine(QLineF(x, top, x, bottom))


def paint_many(
    painter: QPainter,
    scale: TimeScale,
    onset: np.ndarray,
    stop: np.ndarray,
    bands: Sequence[Band],
    stroke: Stroke,
) -> None:
    """The same for any number at the cost of one image: a row of pixels, stretched over each band."""
    width = max(1, round(scale.width))
    left = np.clip((onset - scale.window.start) * scale.px_per_second, 0, width).astype(np.intp)
    right = np.clip((stop - scale.window.start) * scale.px_per_second, 0, width).astype(np.intp)
    cover = np.zeros(width + 1, np.intp)
    np.add.at(cover, left, 1)
    np.add.at(cover, np.maximum(right, left), -1)
    pixels = np.where(np.cumsum(cover)[:width] > 0, _premultiplied(stroke.shade), 0).astype(np.uint32)
    begins = left[(onset >= scale.window.start) & (left < width)]
    pixels[begins] = _premultiplied(stroke.line)
    image = QImage(pixels.data, width, 1, 4 * width, QImage.Format.Format_ARGB32_Premultiplied)
    for top, bottom in bands:
        painter.drawImage(QRectF(0, top, scale.width, bottom - top), image)


def _premultiplied(colour: QColor) -> int:
    alpha = colour.alphaF()
    red, green, blue = (round(c * alpha) for c in (colour.red(), colour.green(), colour.blue()))
    return round(255 * alpha) << 24 | red << 16 | green << 8 | blue
