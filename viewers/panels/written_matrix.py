"""A table whose cells have a colour by one number and say another, such as accuracies coloured by their change."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QRectF, Qt
from PyQt6.QtGui import QFontMetricsF, QPainter

from viewers.colour_scales import STEPS
from viewers.panels.matrix_plot import MatrixPlot
from viewers.theme import font

_SIZES = (10, 9, 8, 7)


class WrittenMatrix(MatrixPlot):
    """Draws a table of colours with a text in every cell, in letters as large as all of them have room for."""

    def __init__(self, name: str, height: int = 180) -> None:
        super().__init__(name, height)
        self.texts: tuple[tuple[str, ...], ...] = ()

    def set_texts(self, texts: Sequence[Sequence[str]]) -> None:
        """What the cells say, rows of columns; as many as there are values."""
        self.texts = tuple(tuple(row) for row in texts)
        said = zip(self.rows, self.texts, strict=True)
        self.setAccessibleDescription("; ".join(f"{name}: {', '.join(filter(None, row))}" for name, row in said))
        self.update()

    def paint_plot(self, painter: QPainter, area: QRectF) -> None:
        """The cells, and what they say."""
        super().paint_plot(painter, area)
        if not self.values.size or not self.texts:
            return
        deep, wide = self.values.shape
        width, height = area.width() / wide, area.height() / deep
        painter.setFont(font(self._size_for(width - 4)))
        low, high = self.limits
        for i, row in enumerate(self.texts):
            for j, text in enumerate(row):
                share = (float(self.values[i, j]) - low) / (high - low)
                place = min(max(share if share == share else 0.5, 0.0), 1.0)
                ground = self.colours(self.theme)[round(place * (STEPS - 1))]
                light = int(ground.sum()) < 3 * 128
                painter.setPen(Qt.GlobalColor.white if light else Qt.GlobalColor.black)
                if share != share:
                    painter.setPen(self.theme.colour("text"))
                box = QRectF(area.left() + j * width, area.top() + i * height, width, height)
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _size_for(self, room: float) -> int:
        for size in _SIZES:
            metrics = QFontMetricsF(font(size))
            if all(metrics.horizontalAdvance(text) <= room for row in self.texts for text in row):
                return size
        return _SIZES[-1]
