"""Which experts of each block are shared by all tokens and which are routed: one square an expert."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QFontMetricsF, QPainter, QPen

from viewers.heat_scales import above, below
from viewers.panels.plot import Plot, Tick
from viewers.theme import font, px

_POOL = 8
_MOST_NAME = 92.0
_PITCH = 17.0


class AllocationPlot(Plot):
    """Draws a line a block: the shared expert that each has, those of its pool that are shared too, and the routed."""

    right_room, bottom_room = 6.0, 32.0

    def __init__(self) -> None:
        super().__init__("Shared and routed experts by block")
        self.blocks: tuple[str, ...] = ()
        self.n_shared = np.empty(0, int)

    def set_counts(self, blocks: Sequence[str], n_shared: np.ndarray) -> None:
        """Show how many of each block's pool (n,) are shared."""
        self.blocks, self.n_shared = tuple(blocks), np.asarray(n_shared, int)
        self.x_range, self.y_range = (-0.5, _POOL + 0.5), (max(len(blocks), 1) - 0.5, -0.5)
        self._height = round(_PITCH * max(2, len(blocks)) + 42)
        metrics = QFontMetricsF(font(10))
        widest = max((metrics.horizontalAdvance(name) for name in self.blocks), default=20.0)
        self.left_room = min(px(_MOST_NAME), widest + 8) / px(1)
        self.setAccessibleDescription("; ".join(self._text(i) for i in range(len(self.blocks))))
        self.updateGeometry()
        self.update()

    def x_ticks(self) -> Sequence[Tick]:
        """The numbers of the experts, 0 being the one that is always shared."""
        return [(float(i), str(i)) for i in range(_POOL + 1)]

    def y_ticks(self) -> Sequence[Tick]:
        """The blocks."""
        return [(float(i), name) for i, name in enumerate(self.blocks)]

    def paint_plot(self, painter: QPainter, area: QRectF) -> None:
        """The squares, on plain ground."""
        painter.fillRect(area, self.theme.colour("canvas"))
        wide, high = self.x(1) - self.x(0), self.y(1) - self.y(0)
        painter.setPen(Qt.PenStyle.NoPen)
        for row, shared in enumerate(self.n_shared.tolist()):
            for expert in range(_POOL + 1):
                ink = above(self.theme) if expert <= shared else below(self.theme, 0.35)
                box = QRectF(self.x(expert) - wide / 2, self.y(row) - high / 2, wide, high).adjusted(
                    1.5, 1.5, -1.5, -1.5
                )
                painter.fillRect(box, ink)

    def paint_over(self, painter: QPainter, area: QRectF) -> None:
        """What the colours say."""
        painter.setFont(font(10))
        metrics = QFontMetricsF(painter.font())
        x, y = area.left(), area.bottom() + px(17)
        for word, ink in (("shared", above(self.theme)), ("routed", below(self.theme, 0.35))):
            painter.fillRect(QRectF(x, y + px(3), px(8), px(8)), ink)
            painter.setPen(QPen(self.theme.colour("muted")))
            painter.drawText(QPointF(x + px(12), y + metrics.ascent()), word)
            x += px(12) + metrics.horizontalAdvance(word) + px(14)

    def describe(self, at: QPointF) -> str:
        """How many a block shares."""
        row = round(self.y_at(at.y()))
        return self._text(row) if 0 <= row < len(self.blocks) else ""

    def _text(self, row: int) -> str:
        shared = int(self.n_shared[row])
        return f"{self.blocks[row]}: {1 + shared} shared, {_POOL - shared} routed"
