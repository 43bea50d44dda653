"""Attention by how long ago: lines over lags, with the reach of a window marked."""

from __future__ import annotations

from PyQt6.QtCore import QRectF, Qt
from PyQt6.QtGui import QFontMetricsF, QPainter, QPen

from viewers.panels.layer_plot import LayerPlot
from viewers.theme import font, px


class LagPlot(LayerPlot):
    """Draws series over lags; the lags up to `window` have a ground of their own."""

    def __init__(self, name: str, height: int = 150) -> None:
        super().__init__(name, height)
        self.x_title = "before the segment that looks"
        self.window: int | None = None

    def set_window(self, window: int | None) -> None:
        """Mark lags 0 to `window`."""
        self.window = window
        self.update()

    def describe_layer(self, layer: int) -> str:
        """The values at a lag, a line each."""
        inside = "" if self.window is None or layer <= self.window else "\noutside the window of the content term"
        return super().describe_layer(layer).replace("layer ", "lag ", 1) + inside

    def paint_series(self, painter: QPainter) -> None:
        """The window's ground, then the lines."""
        if self.window is not None and self.count:
            right = self.x(min(self.window, self.count - 1) + 0.5)
            box = QRectF(self.area.left(), self.area.top(), right - self.area.left(), self.area.height())
            painter.fillRect(box, self.theme.colour("accent", 0.09))
            painter.setPen(QPen(self.theme.colour("accent", 0.7), 1, Qt.PenStyle.DashLine))
            painter.drawLine(box.topRight(), box.bottomRight())
            painter.setFont(font(10))
            text = f"content window: {self.window} segments back"
            width = QFontMetricsF(painter.font()).horizontalAdvance(text)
            left = max(self.area.left() + 3, min(right - width - 4, self.area.right() - width - 3))
            painter.setPen(self.theme.colour("muted"))
            painter.drawText(QRectF(left, self.area.top() + 2, width, px(13)), Qt.AlignmentFlag.AlignLeft, text)
        super().paint_series(painter)
