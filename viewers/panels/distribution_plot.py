"""Distributions side by side: the share of each group that lies at or below a value, with its median."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from PyQt6.QtCore import QLineF, QPointF, QRectF, Qt
from PyQt6.QtGui import QFontMetricsF, QPainter, QPen, QPolygonF

from viewers.panels.layer_plot import Ink
from viewers.panels.plot import Plot
from viewers.theme import font, px

_POINTS = 200


@dataclass(frozen=True)
class Group:
    """Values (n,), how they are called and drawn."""

    name: str
    values: np.ndarray
    ink: Ink


class DistributionPlot(Plot):
    """Draws cumulative distributions, which need no bins; a line at the median of each."""

    def __init__(self, name: str, height: int = 150) -> None:
        super().__init__(name, height)
        self.groups: list[Group] = []

    def set_groups(self, groups: Sequence[Group], x_title: str) -> None:
        """Show groups with at least one value each on one axis."""
        kept = [Group(g.name, np.sort(g.values[np.isfinite(g.values)].astype(float)), g.ink) for g in groups]
        self.groups = [group for group in kept if group.values.size]
        self.x_title = x_title
        self.top_room = 6.0 + 14.0 * len(self.groups)
        ends = [(group.values[0], group.values[-1]) for group in self.groups]
        low, high = (min(a for a, _ in ends), max(z for _, z in ends)) if ends else (0.0, 1.0)
        margin = 0.04 * (high - low) or 0.5
        self.x_range = (low - margin, high + margin)
        self.set_message("" if self.groups else "No values")
        self.setAccessibleDescription("; ".join(self._words(group) for group in self.groups))
        self.update()

    @staticmethod
    def _words(group: Group) -> str:
        median = f"{np.median(group.values):.3f}".replace("-", "−")
        return f"{group.name}: median {median}, n = {group.values.size:,}"

    def paint_plot(self, painter: QPainter, area: QRectF) -> None:
        """The curves, from the first value to the last, and the medians."""
        for group in self.groups:
            n = group.values.size
            shares = np.unique(np.r_[0.0, np.linspace(1 / n, 1.0, min(n, _POINTS)), 1.0])
            x = np.quantile(group.values, shares, method="inverted_cdf")
            points = [QPointF(self.x(a), self.y(b)) for a, b in zip(x.tolist(), shares.tolist(), strict=True)]
            steps = [QPointF(b.x(), a.y()) for a, b in pairwise(points)]
            line = [points[0], *(p for pair in zip(steps, points[1:], strict=True) for p in pair)]
            painter.setPen(QPen(group.ink(self.theme), 1.6))
            painter.drawPolyline(QPolygonF(line))
            median = self.x(float(np.median(group.values)))
            painter.setPen(QPen(group.ink(self.theme), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QLineF(median, self.y(0.5), median, area.bottom()))

    def paint_over(self, painter: QPainter, area: QRectF) -> None:
        """What each curve is, a line each above them."""
        painter.setFont(font(10))
        metrics = QFontMetricsF(painter.font())
        for i, group in enumerate(self.groups):
            box = QRectF(area.left(), px(2 + 14.0 * i), self.width() - area.left() - 4, px(13))
            painter.setPen(group.ink(self.theme))
            text = metrics.elidedText(self._words(group), Qt.TextElideMode.ElideRight, box.width())
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)

    def share_below(self, group: Group, value: float) -> float:
        """The share of a group that lies at or below a value."""
        return float(np.searchsorted(group.values, value, side="right") / group.values.size)

    def describe(self, at: QPointF) -> str:
        """How much of each group lies at or below the value under the mouse."""
        value = self.x_at(at.x())
        shares = [f"{group.name}: {100 * self.share_below(group, value):.0f} %" for group in self.groups]
        return "\n".join([f"at or below {value:.3f}".replace("-", "−"), *shares]) if shares else ""
