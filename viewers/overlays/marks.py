"""Painting of marks shared by the overlays that draw annotations: shades and onset lines, however many there are."""

from __future__ import annotations

import numpy as np
from PyQt6.QtCore import QLineF, QRectF, Qt
from PyQt6.QtGui import QColor, QImage, QPainter, QPen

from viewers.rows import Rows
from viewers.time_scale import TimeScale

MANY = 150


def paint_few(
    painter: QPainter,
    scale: TimeScale,
    height: float,
    spans: list[tuple[float, float, list[int]]],
    rows: Rows | None,
    shade: QColor,
    line: QColor,
    dashed: bool,
) -> None:
    """Shade each (onset, stop, rows) and draw its onset; no rows means the whole height."""
    pen = QPen(line, 0 if dashed else 2)
    if dashed:
        pen.setWidthF(1.0)
        pen.setDashPattern([4, 3])
    for onset, stop, which in spans:
        left, right = max(0.0, scale.x(onset)), min(scale.width, scale.x(stop))
        bands = [(0.0, height)] if not which or rows is None else [rows.band(i) for i in which]
        for top, bottom in bands:
            if right > left:
                painter.fillRect(QRectF(left, top, right - left, bottom - top), shade)
            if scale.window.start <= onset:
                painter.setPen(pen)
                x = round(scale.x(onset)) + (0.5 if dashed else 0.0)
                painter.drawLine(QLineF(x, top, x, bottom))
    painter.setPen(Qt.PenStyle.NoPen)


def paint_many(
    painter: QPainter,
    scale: TimeScale,
    height: float,
    onset: np.ndarray,
    stop: np.ndarray,
    shade: QColor,
    line: QColor,
) -> None:
    """The same for any number at the cost of one image: a row of pixels, stretched over the height."""
    width = max(1, round(scale.width))
    left = np.clip((onset - scale.window.start) * scale.px_per_second, 0, width).astype(np.intp)
    right = np.clip((stop - scale.window.start) * scale.px_per_second, 0, width).astype(np.intp)
    cover = np.zeros(width + 1, np.intp)
    np.add.at(cover, left, 1)
    np.add.at(cover, np.maximum(right, left), -1)
    pixels = np.where(np.cumsum(cover)[:width] > 0, _premultiplied(shade), 0).astype(np.uint32)
    begins = left[(onset >= scale.window.start) & (left < width)]
    pixels[begins] = _premultiplied(line)
    image = QImage(pixels.data, width, 1, 4 * width, QImage.Format.Format_ARGB32_Premultiplied)
    painter.drawImage(QRectF(0, 0, scale.width, height), image)


def _premultiplied(colour: QColor) -> int:
    alpha = colour.alphaF()
    red, green, blue = (round(c * alpha) for c in (colour.red(), colour.green(), colour.blue()))
    return round(255 * alpha) << 24 | red << 16 | green << 8 | blue
