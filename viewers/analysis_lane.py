"""A lane with what a model tells over time: one curve against the colours that the page is tinted with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PyQt6.QtCore import QPointF, QRectF, QSize, Qt
from PyQt6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF

from viewers.curve_lane import CurveLane
from viewers.heat_scales import HeatScale, above, amount, below
from viewers.lanes import dashed
from viewers.probability_lane import Steps, steps_on
from viewers.theme import font, px
from viewers.time_scale import TimeScale

HEIGHT = 58
_TOP, _BOTTOM = 7.0, 6.0


@dataclass(frozen=True)
class LaneCurve:
    """Values (n,) of spans that begin at `times` and last `widths` seconds; `quantity` is what they are."""

    times: np.ndarray
    widths: np.ndarray
    values: np.ndarray
    scale: HeatScale
    subtitle: str
    quantity: str
    random_weights: bool = False


class AnalysisLane(CurveLane):
    """Draws a LaneCurve as steps, filled from its middle in the colours of the page."""

    def __init__(self, title: str) -> None:
        super().__init__(title, HEIGHT)
        self.curve: LaneCurve | None = None

    def set_curve(self, curve: LaneCurve | None) -> None:
        """Show a curve, or none."""
        self.curve = curve
        self.setToolTip(curve.quantity if curve is not None else "")
        self._head(curve)

    def paint_plot(self, painter: QPainter, scale: TimeScale, size: QSize) -> None:
        """The curve, the value of its middle, and why it is faint."""
        curve = self.curve
        if curve is None:
            return
        height = float(size.height())
        base = curve.scale.low if curve.scale.middle is None else curve.scale.middle
        painter.setPen(dashed(self.theme.colour("muted", 0.6)))
        painter.drawLine(QPointF(0, self._y(base, height)), QPointF(size.width(), self._y(base, height)))
        painter.setOpacity(self._opacity)
        for part in _runs(steps_on(scale, curve.times, _shown_widths(curve), curve.values)):
            self._paint_run(painter, part, base, height)
        painter.setOpacity(1.0)
        self._paint_ends(painter, curve.scale, size)
        self._paint_stale(painter, QRectF(6, 0, size.width(), height))

    def _paint_run(self, painter: QPainter, run: Steps, base: float, height: float) -> None:
        scale = self.curve.scale if self.curve is not None else HeatScale(0, 1)
        zero = self._y(base, height)
        boxes: dict[Callable[..., QColor], list[QRectF]] = {above: [], below: [], amount: []}
        named = scale.colours
        line = []
        for left, right, value in zip(run.left.tolist(), run.right.tolist(), run.value.tolist(), strict=True):
            ink = amount if scale.middle is None else above if value >= base else below
            y = self._y(value, height)
            boxes[ink].append(QRectF(left, min(y, zero), right - left, abs(y - zero)))
            line += [QPointF(left, y), QPointF(right, y)]
        # Upright edges need no smoothing, which would cost tens of milliseconds for a long page.
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(Qt.PenStyle.NoPen)
        for ink, found in boxes.items():
            painter.setBrush(ink(self.theme, 0.45, named))
            painter.drawRects(found)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self.theme.colour("text", 0.8), 1))
        painter.drawPolyline(QPolygonF(line))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def _paint_ends(self, painter: QPainter, scale: HeatScale, size: QSize) -> None:
        """What the ends of the axis mean, at the right."""
        painter.setFont(font(9))
        metrics = QFontMetricsF(painter.font())
        top, bottom = f"{scale.text(scale.high)} {scale.high_word}", f"{scale.text(scale.low)} {scale.low_word}"
        for text, y in ((top, 1.0), (bottom, size.height() - px(12))):
            width = metrics.horizontalAdvance(text.strip()) + 4
            box = QRectF(size.width() - width - 2, y, width, px(12))
            painter.fillRect(box, self.theme.colour("canvas", 0.75))
            painter.setPen(self.theme.colour("muted"))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text.strip())

    def _y(self, value: float, height: float) -> float:
        share = self.curve.scale.share(value) if self.curve is not None else 0.0
        return height - _BOTTOM - share * (height - _TOP - _BOTTOM)


def _shown_widths(curve: LaneCurve) -> np.ndarray:
    """Overlapping spans end where the next one begins."""
    widths = curve.widths.copy()
    if widths.size > 1:
        widths[:-1] = np.minimum(widths[:-1], np.diff(curve.times))
    return widths


def _runs(steps: Steps) -> list[Steps]:
    """Parts without a hole of more than a pixel, and without values that are none."""
    runs, start = [], 0
    for i in range(steps.left.size + 1):
        ends = i == steps.left.size or not np.isfinite(steps.value[i])
        breaks = not ends and i > start and steps.left[i] > steps.right[i - 1] + 1.0
        if (ends or breaks) and i > start:
            runs.append(Steps(steps.left[start:i], steps.right[start:i], steps.value[start:i]))
        if ends:
            start = i + 1
        elif breaks:
            start = i
    return runs
