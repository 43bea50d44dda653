"""The shape of a head seen from above: nose, ears, and room for the names of electrodes within its outline."""

from __future__ import annotations

import math

from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPen

from viewers.theme import font

EAR, NOSE = 0.075, 0.115  # how far they stand out, in radii of the head
_NAME_SIZES = (11, 10, 9, 8, 7)
_NAME_GROWTH = 1 / 14  # pixels of letters to pixels of radius, where the picture is large


def paint_ears_and_nose(painter: QPainter, circle: QRectF, ink: QPen, ground: QColor) -> None:
    """Draw what tells front from back, half hidden by the outline that is drawn over it."""
    radius, middle = circle.width() / 2, circle.center()
    painter.setPen(ink)
    painter.setBrush(ground)
    nose = QPainterPath(QPointF(middle.x() - 0.13 * radius, middle.y() - 0.985 * radius))
    nose.quadTo(middle.x() - 0.035 * radius, middle.y() - (1 + NOSE) * radius, middle.x(), middle.y() - 1.1 * radius)
    nose.quadTo(
        middle.x() + 0.035 * radius,
        middle.y() - (1 + NOSE) * radius,
        middle.x() + 0.13 * radius,
        middle.y() - 0.985 * radius,
    )
    painter.drawPath(nose)
    for side in (-1, 1):
        ear = QPainterPath(QPointF(middle.x() + side * 0.985 * radius, middle.y() - 0.17 * radius))
        ear.cubicTo(
            QPointF(middle.x() + side * (1 + 1.15 * EAR) * radius, middle.y() - 0.26 * radius),
            QPointF(middle.x() + side * (1 + 1.15 * EAR) * radius, middle.y() + 0.24 * radius),
            QPointF(middle.x() + side * 0.985 * radius, middle.y() + 0.19 * radius),
        )
        painter.drawPath(ear)
    painter.setBrush(Qt.BrushStyle.NoBrush)


def lay_names(
    places: list[QPointF], names: tuple[str, ...], circle: QRectF, dot: float
) -> tuple[int, list[QRectF | None]]:
    """The largest letters with which all names fit, and where each stands; with the smallest, the most that fit."""
    largest = max(_NAME_SIZES[0], min(16, round(circle.width() / 2 * _NAME_GROWTH)))
    rects: list[QRectF | None] = []
    for size in (*range(largest, _NAME_SIZES[0], -1), *_NAME_SIZES):
        metrics = QFontMetricsF(font(size))
        rects = []
        taken = [QRectF(p.x() - dot, p.y() - dot, 2 * dot, 2 * dot) for p in places]
        for name, place in zip(names, places, strict=True):
            width, height = metrics.horizontalAdvance(name) + 1, metrics.capHeight() + 3
            rect = QRectF(place.x() - width / 2, place.y() - dot - height - 1, width, height)
            if place.y() < circle.center().y() and _overhang(rect, circle) > width / 3:
                rect.moveTop(place.y() + dot + 1)
            _move_inside(rect, circle)
            free = not any(rect.intersects(other) for other in taken)
            rects.append(rect if free else None)
            if free:
                taken.append(rect)
        if None not in rects:
            return size, rects
    return _NAME_SIZES[-1], rects


def _reach(rect: QRectF, circle: QRectF) -> float:
    """How far from the midline a name of this height may go without crossing the outline of the head."""
    radius = circle.width() / 2 - 3
    y = max(abs(rect.top() - circle.center().y()), abs(rect.bottom() - circle.center().y()))
    return math.sqrt(max(0.0, radius * radius - y * y))


def _overhang(rect: QRectF, circle: QRectF) -> float:
    """How far a name stands out over the outline of the head."""
    middle, reach = circle.center().x(), _reach(rect, circle)
    return max(0.0, middle - reach - rect.left(), rect.right() - middle - reach)


def _move_inside(rect: QRectF, circle: QRectF) -> None:
    """Move a name sideways until it does not cross the outline of the head."""
    middle, reach = circle.center().x(), _reach(rect, circle)
    if rect.left() < middle - reach:
        rect.moveLeft(middle - reach)
    elif rect.right() > middle + reach:
        rect.moveRight(middle + reach)
