"""A lane with what each unit of a recording is taken for: a staircase of classes, such as stages of sleep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PyQt6.QtCore import QLineF, QRectF, QSize, Qt
from PyQt6.QtGui import QFontMetricsF, QPainter, QPen

from viewers.curve_lane import CurveLane
from viewers.theme import font, px
from viewers.time_scale import TimeScale

_ROW, _MARGIN = 15.0, 5.0
_REM = "R"
_FAINT = 0.35
# From the top down, as hypnograms are drawn; what a class may be called, in lower case.
STAGES = {
    "W": ("w", "wake", "awake", "sleep stage w", "stage w"),
    _REM: ("r", "rem", "sleep stage r", "stage r"),
    "N1": ("n1", "1", "s1", "sleep stage 1", "sleep stage n1", "stage 1"),
    "N2": ("n2", "2", "s2", "sleep stage 2", "sleep stage n2", "stage 2"),
    "N3": ("n3", "3", "s3", "sleep stage 3", "sleep stage n3", "stage 3", "n3/n4"),
    "N4": ("n4", "4", "s4", "sleep stage 4", "sleep stage n4", "stage 4"),
}
_STAGE_OF = {name: stage for stage, names in STAGES.items() for name in names}


@dataclass(frozen=True)
class Hypnogram:
    """Classes (n,) of units that begin at `times` (n,) seconds and last `length`, as rows of `names`; shares (n,) 0..1.

    `names` are in the order of the rows, from the top.
    """

    times: np.ndarray
    length: float
    rows: np.ndarray
    certainty: np.ndarray
    names: tuple[str, ...]
    subtitle: str
    tip: str
    random_weights: bool = False


def stage_order(labels: Sequence[str]) -> tuple[list[int], list[str]]:
    """Classes in the order of a hypnogram, as places in `labels`, and what they are called there.

    Where the labels are stages of sleep W stands on top, then R, N1, N2, N3; other labels keep their order.
    """
    stages = [_STAGE_OF.get(label.strip().lower()) for label in labels]
    if None in stages or len(set(stages)) < len(stages) or len(stages) < 2:
        return list(range(len(labels))), list(labels)
    ranks = list(STAGES)
    order = sorted(range(len(labels)), key=lambda i: ranks.index(str(stages[i])))
    return order, [str(stages[i]) for i in order]


class HypnogramLane(CurveLane):
    """Draws a Hypnogram; units the model is less sure of are fainter."""

    def __init__(self, title: str) -> None:
        super().__init__(title, round(px(5 * _ROW + 2 * _MARGIN)))
        self.curve: Hypnogram | None = None

    def set_curve(self, curve: Hypnogram | None) -> None:
        """Show what units are taken for, or nothing."""
        self.curve = curve
        self.setToolTip(curve.tip if curve is not None else "")
        self._head(curve)

    def paint_plot(self, painter: QPainter, scale: TimeScale, size: QSize) -> None:
        """A line for each class, the steps of the units, and the names at the left."""
        curve = self.curve
        if curve is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(self.theme.colour("grid"))
        for row in range(len(curve.names)):
            painter.drawLine(QLineF(0, self._y(row, size), size.width(), self._y(row, size)))
        painter.setOpacity(self._opacity)
        self._paint_units(painter, scale, size, curve)
        painter.setOpacity(1.0)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_names(painter, size, curve)

    def _paint_units(self, painter: QPainter, scale: TimeScale, size: QSize, curve: Hypnogram) -> None:
        first, last = np.searchsorted(curve.times, (scale.window.start - curve.length, scale.window.stop))
        joint = QPen(self.theme.colour("accent", 0.6), 1)
        for i in range(max(0, int(first) - 1), int(last)):
            left, y = scale.x(float(curve.times[i])), self._y(int(curve.rows[i]), size)
            width = max(1.0, curve.length * scale.px_per_second)
            strength = _FAINT + (1 - _FAINT) * float(curve.certainty[i])
            thick = 5.0 if curve.names[int(curve.rows[i])] == _REM else 2.5
            painter.fillRect(QRectF(left, y - thick / 2, width, thick), self.theme.colour("accent", strength))
            follows = i > 0 and curve.times[i] - curve.times[i - 1] < 1.5 * curve.length
            if follows and curve.rows[i] != curve.rows[i - 1]:
                painter.setPen(joint)
                painter.drawLine(QLineF(left, self._y(int(curve.rows[i - 1]), size), left, y))

    def _paint_names(self, painter: QPainter, size: QSize, curve: Hypnogram) -> None:
        painter.setFont(font(9))
        metrics = QFontMetricsF(painter.font())
        height = min(metrics.height(), (size.height() - 2 * _MARGIN) / max(1, len(curve.names)))
        for row, name in enumerate(curve.names):
            width = metrics.horizontalAdvance(name) + 6
            box = QRectF(1, self._y(row, size) - height / 2, width, height)
            painter.fillRect(box, self.theme.colour("canvas", 0.85))
            painter.setPen(self.theme.colour("muted"))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, name)
        self._paint_stale(painter, QRectF(40, 0, size.width(), size.height()))

    def _y(self, row: int, size: QSize) -> float:
        rows = max(1, len(self.curve.names) if self.curve is not None else 1)
        return _MARGIN + (row + 0.5) * (size.height() - 2 * _MARGIN) / rows
