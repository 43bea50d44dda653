"""Small signs drawn as lines, so that they look the same with every font and in every theme."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import QPointF, QRectF, QSize, Qt
from PyQt6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPen, QPixmap, QPolygonF

from viewers.theme import Theme

SIZE = QSize(16, 14)
Paint = Callable[[QPainter, QRectF, QColor, bool], None]


def paint_eye(painter: QPainter, rect: QRectF, colour: QColor, is_open: bool) -> None:
    """An eye, struck through where it is not open."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(colour, 1.2))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    middle, half = rect.center(), rect.width() / 2
    lid = QPainterPath(QPointF(rect.left(), middle.y()))
    lid.quadTo(QPointF(middle.x(), middle.y() - half * 1.1), QPointF(rect.right(), middle.y()))
    lid.quadTo(QPointF(middle.x(), middle.y() + half * 1.1), QPointF(rect.left(), middle.y()))
    painter.drawPath(lid)
    painter.setBrush(colour)
    painter.drawEllipse(middle, half * 0.26, half * 0.26)
    if not is_open:
        painter.drawLine(rect.topLeft() + QPointF(1, 0), rect.bottomRight() - QPointF(1, 0))
    painter.restore()


def paint_funnel(painter: QPainter, rect: QRectF, colour: QColor, is_full: bool) -> None:
    """A funnel, filled where something is filtered."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(colour, 1.2))
    painter.setBrush(colour if is_full else Qt.BrushStyle.NoBrush)
    x, top, bottom, middle = rect.center().x(), rect.top(), rect.bottom(), rect.center().y()
    half, neck = rect.width() * 0.42, rect.width() * 0.11
    corners = ((-half, top), (half, top), (neck, middle), (neck, bottom), (-neck, bottom - 2), (-neck, middle))
    painter.drawPolygon(QPolygonF([QPointF(x + dx, y) for dx, y in corners]))
    painter.restore()


def paint_pop_out(painter: QPainter, rect: QRectF, colour: QColor, is_out: bool) -> None:
    """A window that leaves another one, or comes back into it."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(colour, 1.2))
    size = min(rect.width(), rect.height())
    back = QRectF(rect.left() + 1.5, rect.top() + size * 0.3, size * 0.68, size * 0.68)
    front = back.translated(size * 0.34, -size * 0.3)
    painter.drawRect(back)
    painter.setBrush(colour if is_out else Qt.BrushStyle.NoBrush)
    painter.drawRect(front)
    painter.restore()


def paint_focus(painter: QPainter, middle: QPointF, half: float, theme: Theme) -> None:
    """A diamond with a rim of the ground's colour: where a simulated seizure really begins."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.colour("canvas"), 1.5))
    painter.setBrush(theme.colour("good"))
    corners = ((0.0, -half), (half, 0.0), (0.0, half), (-half, 0.0))
    painter.drawPolygon(QPolygonF([middle + QPointF(x, y) for x, y in corners]))
    painter.restore()


def icon(paint: Paint, theme: Theme, on: str = "text", off: str = "muted") -> QIcon:
    """An icon of two states, in the colours of the theme that are named for each."""
    made = QIcon()
    for state, is_on, colour in ((QIcon.State.On, True, on), (QIcon.State.Off, False, off)):
        picture = QPixmap(SIZE * 2)
        picture.setDevicePixelRatio(2.0)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        paint(painter, QRectF(1, 2, SIZE.width() - 2, SIZE.height() - 4), theme.colour(colour), is_on)
        painter.end()
        made.addPixmap(picture, QIcon.Mode.Normal, state)
    return made
