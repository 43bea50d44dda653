"""What the small plots of panels share: an area with axes, round ticks, and a reading under the mouse."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PyQt6.QtCore import QEvent, QLineF, QPointF, QRectF, QSize, Qt
from PyQt6.QtGui import QFontMetricsF, QMouseEvent, QPainter, QPaintEvent, QPen
from PyQt6.QtWidgets import QSizePolicy, QToolTip, QWidget

from viewers.theme import LIGHT, Theme, font, px

Tick = tuple[float, str]
BUSY = "reading…"
_FONT = 10
_LEAST_GAP = 34.0


class Plot(QWidget):
    """A plot with its ground, axes and message; subclasses paint into `area` and say what lies under the mouse."""

    x_title = ""
    y_title = ""
    stale_text = BUSY  # what is said of what is faded

    def __init__(self, name: str, height: int = 170) -> None:
        super().__init__()
        self.theme = LIGHT
        self.x_range = (0.0, 1.0)
        self.y_range = (0.0, 1.0)
        self.message = ""
        self.stale = False
        self._height = height
        self._mouse: QPointF | None = None
        self.setMouseTracking(True)
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        """As high as it is easily read."""
        return QSize(280, round(px(self._height)))

    def minimumSizeHint(self) -> QSize:
        """The size below which nothing can be read."""
        return QSize(160, round(px(self._height * 0.75)))

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self.theme = theme
        self.update()

    def set_message(self, text: str) -> None:
        """Say something in place of the curves; empty takes it away."""
        if text != self.message:
            self.message = text
            self.update()

    def set_stale(self, stale: bool) -> None:
        """Fade what is shown, and say so, while it is renewed."""
        if stale != self.stale:
            self.stale = stale
            self.update()

    # Places

    @property
    def area(self) -> QRectF:
        """Where the curves are."""
        left, bottom, right, top = px(self.left_room), px(self.bottom_room), px(self.right_room), px(self.top_room)
        width, height = self.width() - left - right, self.height() - bottom - top
        return QRectF(left, top, max(10.0, width), max(10.0, height))

    left_room, right_room, bottom_room, top_room = 38.0, 6.0, 30.0, 6.0

    def x(self, value: float) -> float:
        """Pixel of a value of the horizontal axis."""
        low, high = self.x_range
        return self.area.left() + (value - low) / (high - low) * self.area.width()

    def y(self, value: float) -> float:
        """Pixel of a value of the vertical axis."""
        low, high = self.y_range
        return self.area.bottom() - (value - low) / (high - low) * self.area.height()

    def x_at(self, pixel: float) -> float:
        """Value of the horizontal axis at a pixel."""
        low, high = self.x_range
        return low + (pixel - self.area.left()) / self.area.width() * (high - low)

    def y_at(self, pixel: float) -> float:
        """Value of the vertical axis at a pixel."""
        low, high = self.y_range
        return low + (self.area.bottom() - pixel) / self.area.height() * (high - low)

    # Painting

    def x_ticks(self) -> Sequence[Tick]:
        """Values and words of the horizontal axis."""
        return linear_ticks(*self.x_range, most=max(2, int(self.area.width() / px(_LEAST_GAP))))

    def y_ticks(self) -> Sequence[Tick]:
        """Values and words of the vertical axis."""
        return linear_ticks(*self.y_range, most=max(2, int(self.area.height() / px(_LEAST_GAP))))

    def paint_plot(self, painter: QPainter, area: QRectF) -> None:
        """Draw the curves; the painter is clipped to the area."""
        raise NotImplementedError

    def paint_over(self, painter: QPainter, area: QRectF) -> None:
        """Draw what stands over everything, not clipped."""

    def describe(self, at: QPointF) -> str:
        """What the mouse is told at a point of the area."""
        return ""

    def paintEvent(self, _event: QPaintEvent | None) -> None:
        """Draw ground, curves, axes and message."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = self.area
        painter.fillRect(area, self.theme.colour("canvas"))
        if not self.message:
            self._paint_axes(painter, area)
            painter.save()
            painter.setClipRect(area)
            painter.setOpacity(0.35 if self.stale else 1.0)
            self.paint_plot(painter, area)
            self._paint_mouse(painter, area)
            painter.restore()
            self.paint_over(painter, area)
        painter.setPen(QPen(self.theme.colour("border"), 1))
        painter.drawRect(area)
        text = self.message or (self.stale_text if self.stale else "")
        if text:
            paint_message(painter, area, text, self.theme)

    def _paint_axes(self, painter: QPainter, area: QRectF) -> None:
        painter.setFont(font(_FONT))
        metrics = QFontMetricsF(painter.font())
        line, words = QPen(self.theme.colour("grid_strong"), 1), self.theme.colour("muted")
        for value, text in self.x_ticks():
            x = round(self.x(value)) + 0.5
            painter.setPen(line)
            painter.drawLine(QLineF(x, area.top(), x, area.bottom()))
            painter.setPen(words)
            width = metrics.horizontalAdvance(text)
            left = min(max(area.left() - 8, x - width / 2), self.width() - width - 1)
            painter.drawText(QPointF(left, area.bottom() + metrics.ascent() + 2), text)
        for value, text in self.y_ticks():
            y = round(self.y(value)) + 0.5
            painter.setPen(line)
            painter.drawLine(QLineF(area.left(), y, area.right(), y))
            painter.setPen(words)
            box = QRectF(0, y - 8, area.left() - 4, 16)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        painter.setPen(words)
        foot = area.bottom() + px(self.bottom_room)
        below = QRectF(area.left(), foot - metrics.height(), area.width(), metrics.height())
        painter.drawText(below, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom, self.x_title)

    def _paint_mouse(self, painter: QPainter, area: QRectF) -> None:
        if self._mouse is not None and area.contains(self._mouse):
            painter.setPen(QPen(self.theme.colour("muted", 0.8), 1, Qt.PenStyle.DashLine))
            x = round(self._mouse.x()) + 0.5
            painter.drawLine(QLineF(x, area.top(), x, area.bottom()))

    # Mouse

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        """Tell the values under the mouse."""
        if event is None:
            return
        self._mouse = event.position()
        self.update()
        there = self.area.contains(self._mouse) and not self.message and not self.stale
        QToolTip.showText(event.globalPosition().toPoint(), self.describe(self._mouse) if there else "", self)

    def leaveEvent(self, event: QEvent | None) -> None:
        """Nothing is told any more."""
        self._mouse = None
        self.update()
        super().leaveEvent(event)


def paint_message(painter: QPainter, area: QRectF, text: str, theme: Theme) -> None:
    """Write a sentence in the middle of an area, on a ground of its own."""
    painter.setFont(font(11))
    room = area.adjusted(16, 8, -16, -8)
    flags = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignCenter
    box = QFontMetricsF(painter.font()).boundingRect(room, int(flags), text).adjusted(-8, -5, 8, 5)
    painter.setPen(QPen(theme.colour("border"), 1))
    painter.setBrush(theme.colour("canvas", 0.92))
    painter.drawRoundedRect(box, 5, 5)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(theme.colour("text"))
    painter.drawText(room, int(flags), text)


def linear_ticks(low: float, high: float, most: int) -> list[Tick]:
    """Round values from `low` to `high`, at most about `most`, as they are written."""
    if not high > low:
        return []
    raw = (high - low) / max(1, most)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    values = [i * step for i in range(first, last + 1)]
    return [(value, f"{value:.{decimals}f}".replace("-", "−")) for value in values]


def decade_ticks(low: float, high: float) -> list[Tick]:
    """Powers of ten from 10**low to 10**high, placed by their exponents."""
    exponents = range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)
    return [(float(e), _power_text(e)) for e in exponents]


def _power_text(exponent: int) -> str:
    if -3 <= exponent <= 4:
        return f"{10.0**exponent:g}"
    digits = str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{digits}"
