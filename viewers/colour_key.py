"""The key of colours at the foot of the page: what they stand for, with values, and whose they are."""

from __future__ import annotations

from dataclasses import dataclass

from PyQt6.QtCore import QRectF, Qt
from PyQt6.QtGui import QFontMetricsF, QImage, QPainter, QPen

from viewers.heat_scales import HeatScale, tints
from viewers.theme import Theme, font, px

_SIZE = 10
_BAR, _BAR_HEIGHT, _GAP = 72.0, 8.0, 5.0
_LEAST_BAR = 24.0


@dataclass(frozen=True)
class ColourKey:
    """What the colours behind the traces mean; `strength` is the reader's, `warning` what must be known of them."""

    title: str
    scale: HeatScale
    strength: float = 1.0
    warning: str = ""

    def ends(self) -> tuple[str, str]:
        """What stands at either end of the bar."""
        scale = self.scale
        return (
            f"{scale.low_word} {scale.text(scale.low)}".strip(),
            f"{scale.text(scale.high)} {scale.high_word}".strip(),
        )


def key_width(key: ColourKey, zoom: float = 1.0) -> float:
    """How wide a key is with its whole title, in logical pixels."""
    metrics = QFontMetricsF(font(_SIZE * zoom))
    return _fixed_width(key, metrics) + metrics.horizontalAdvance(key.title)


def _fixed_width(key: ColourKey, metrics: QFontMetricsF) -> float:
    """The width of everything but the title."""
    width = px(_BAR) + 4 * _GAP + sum(metrics.horizontalAdvance(text) for text in key.ends())
    return width + (metrics.horizontalAdvance(key.warning) + 2 * _GAP if key.warning else 0.0)


def paint_key(
    painter: QPainter, key: ColourKey, right: float, top: float, height: float, theme: Theme, zoom: float = 1.0
) -> float:
    """Draw a key that ends at `right`; returns where it begins. Where there is little room the title is cut short."""
    painter.setFont(font(_SIZE * zoom))
    metrics = QFontMetricsF(painter.font())
    low, high = key.ends()
    middle = key.scale.text(key.scale.middle) if key.scale.middle is not None else ""
    fixed = _fixed_width(key, metrics)
    spared = min(px(_BAR) - px(_LEAST_BAR), max(0.0, fixed - (right - 6)))  # a short bar rather than words cut off
    fixed -= spared
    if fixed > right - 6 and key.scale.unit:  # it stands at the other end too
        whole, low = low, low.replace(f" {key.scale.unit}", "", 1)
        fixed -= metrics.horizontalAdvance(whole) - metrics.horizontalAdvance(low)
    title = metrics.elidedText(key.title, Qt.TextElideMode.ElideRight, max(0.0, right - 6 - fixed))
    width = fixed + metrics.horizontalAdvance(title)
    left = right - width
    painter.fillRect(QRectF(left - 3, top + 1, width + 3, height - 1), theme.colour("canvas", 0.85))
    x = left
    for text, colour in ((title, "muted"), (key.warning, "caution"), (low, "text")):
        if text:
            painter.setPen(theme.colour(colour))
            painter.drawText(QRectF(x, top, right - x, height), Qt.AlignmentFlag.AlignVCenter, text)
            x += metrics.horizontalAdvance(text) + _GAP
    bar = QRectF(x, top + (height - px(_BAR_HEIGHT)) / 2, px(_BAR) - spared, px(_BAR_HEIGHT))
    paint_bar(painter, bar, key, theme)
    if middle:
        at = bar.left() + key.scale.share(key.scale.middle or 0.0) * bar.width()
        painter.drawLine(round(at), round(bar.top()) - 1, round(at), round(bar.bottom()) + 1)
    painter.setPen(theme.colour("text"))
    after = QRectF(bar.right() + _GAP, top, right - bar.right(), height)
    painter.drawText(after, Qt.AlignmentFlag.AlignVCenter, high)
    return left


def paint_bar(painter: QPainter, bar: QRectF, key: ColourKey, theme: Theme, upright: bool = False) -> None:
    """Draw the colours on the ground of the page, from left to right or, `upright`, from the foot to the top."""
    table = tints(theme, key.scale, key.strength)
    line = table[::-1].copy() if upright else table.copy()
    width, height = (1, line.size) if upright else (line.size, 1)
    image = QImage(line.data, width, height, 4 * width, QImage.Format.Format_ARGB32_Premultiplied)
    painter.fillRect(bar, theme.colour("canvas"))
    painter.drawImage(bar, image)
    painter.setPen(QPen(theme.colour("border"), 1))
    painter.drawRect(bar)
