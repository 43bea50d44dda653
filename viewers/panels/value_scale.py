"""What the colours of a map of values stand for, and the bar that says so."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PyQt6.QtCore import QLineF, QRectF, Qt
from PyQt6.QtGui import QColor, QFontMetricsF, QImage, QPainter, QPen

from analysis.measuring import amount_text, trace_text
from viewers.colour_scales import amount_scale, image, indices, signed_scale
from viewers.heat_scales import balance_colours
from viewers.theme import Theme, font

BAR_HEIGHT = 9.0


@dataclass(frozen=True)
class Scale:
    """What the colours stand for: from `low` to `high` in `unit`; with a sign, zero has the colour of the ground.

    `as_on_traces` values with a sign have the colours that the same quantity has behind the traces.
    """

    low: float
    high: float
    unit: str
    as_on_traces: bool = False

    @property
    def has_sign(self) -> bool:
        """Whether values may lie on either side of zero."""
        return self.low < 0


def colour_table(scale: Scale, theme: Theme) -> np.ndarray:
    """Colours (256, 3) uint8 from the low to the high end."""
    if not scale.has_sign:
        return amount_scale(theme)
    return balance_colours(theme) if scale.as_on_traces else signed_scale(theme)


def colours_of(values: np.ndarray, scale: Scale, theme: Theme) -> list[QColor]:
    """The colour of each value (n,)."""
    rgb = colour_table(scale, theme)[indices(values, scale.low, scale.high)]
    return [QColor(*colour) for colour in rgb.tolist()]


def value_text(value: float, scale: Scale) -> str:
    """A value with its unit, and its sign where the scale has one."""
    return trace_text(value, scale.unit, True) if scale.has_sign else amount_text(value, scale.unit)


class ScaleBar:
    """Keeps the picture of a scale's bar, which changes less often than the values it is of."""

    def __init__(self) -> None:
        self._kept: tuple[object, QImage] | None = None

    def paint(self, painter: QPainter, scale: Scale, room: QRectF, width: float, theme: Theme) -> None:
        """Draw the bar, `width` wide, in the middle of a room on whole pixels."""
        device = painter.device()
        ratio = device.devicePixelRatioF() if device is not None else 1.0
        key = scale, room.getRect(), width, theme, ratio, font(11).pixelSize()
        if self._kept is None or self._kept[0] != key:
            picture = QImage(room.size().toSize() * ratio, QImage.Format.Format_ARGB32_Premultiplied)
            picture.setDevicePixelRatio(ratio)
            picture.fill(Qt.GlobalColor.transparent)
            inner = QPainter(picture)
            inner.setRenderHint(QPainter.RenderHint.Antialiasing)
            paint_scale_bar(inner, scale, room.width() / 2, 0.0, room.height(), width, theme)
            inner.end()
            self._kept = key, picture
        painter.drawImage(room.topLeft(), self._kept[1])


def paint_scale_bar(
    painter: QPainter, scale: Scale, middle: float, top: float, room: float, width: float, theme: Theme
) -> None:
    """Draw the colours, `width` wide about `middle`, within `room` pixels below `top`, and write what both ends are."""
    low = amount_text(scale.low, sign=True) if scale.has_sign else "0"
    high = amount_text(scale.high, scale.unit, sign=scale.has_sign)
    painter.setFont(font(11))
    # Long numbers take room from the bar.
    beside = max(QFontMetricsF(painter.font()).horizontalAdvance(text) for text in (low, high)) + 2
    width = max(40.0, min(width, 2 * (middle - beside - 10)))
    bar = QRectF(middle - width / 2, top + (room - BAR_HEIGHT) / 2, width, BAR_HEIGHT)
    painter.drawImage(bar, image(colour_table(scale, theme)[None]))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(theme.colour("border"), 1))
    painter.drawRect(bar)
    painter.setPen(theme.colour("text"))
    side = Qt.AlignmentFlag.AlignVCenter
    y = bar.top() - 6
    painter.drawText(QRectF(bar.left() - beside - 6, y, beside, 21), side | Qt.AlignmentFlag.AlignRight, low)
    painter.drawText(QRectF(bar.right() + 6, y, beside, 21), side | Qt.AlignmentFlag.AlignLeft, high)
    if scale.has_sign:
        painter.setPen(QPen(theme.colour("muted"), 1))
        painter.drawLine(QLineF(middle, bar.bottom(), middle, bar.bottom() + 3))
