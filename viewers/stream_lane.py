"""A lane with how fast NeurDuo's two streams turn: both rates on one axis, and where memory was written."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from PyQt6.QtCore import QLineF, QPointF, QRectF, QSize, Qt
from PyQt6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF

from viewers.curve_lane import CurveLane
from viewers.heat_scales import above
from viewers.lanes import dashed, hatch
from viewers.theme import Theme, font, px
from viewers.time_scale import TimeScale, time_text

TITLE = "Streams /s"
HEIGHT = 74
_TOP, _BOTTOM, _TICK = 6.0, 10.0, 5.0
_LEAST_TICK_PX = 3.0
_HOLE = 1.5  # steps; what is farther apart is not joined


@dataclass(frozen=True)
class StreamCurves:
    """Rates per second: `fast` (n,) of steps that begin at `times`, `slow` (m,) of writes at `written`, in seconds.

    `heard_to` is where the stream has come to, `resets` where its state starts from zero.
    """

    times: np.ndarray
    fast: np.ndarray
    written: np.ndarray
    slow: np.ndarray
    step: float
    write: float
    resets: tuple[float, ...]
    heard_to: float
    tip: str
    random_weights: bool = False
    subtitle: str = "fast · slow"


def fast_ink(theme: Theme) -> QColor:
    """The colour of the fast stream."""
    return theme.colour("accent")


def slow_ink(theme: Theme) -> QColor:
    """The colour of the slow stream."""
    return above(theme)


def rate_range(curves: StreamCurves) -> tuple[float, float]:
    """Whole decades that hold nearly all rates, so that the axis stays the same from page to page."""
    known = np.concatenate([curves.fast, curves.slow])
    known = known[np.isfinite(known) & (known > 0)]
    if not known.size:
        return -2.0, 0.0
    low, high = (math.log10(float(v)) for v in np.percentile(known, (1, 99)))
    low, high = math.floor(low + 1e-6), math.ceil(high - 1e-6)
    return float(low), float(max(high, low + 1))


class StreamLane(CurveLane):
    """Draws StreamCurves over time on an axis of decades."""

    def __init__(self, title: str = TITLE) -> None:
        super().__init__(title, HEIGHT)
        self.curve: StreamCurves | None = None
        self._range = (-2.0, 0.0)

    def set_curve(self, curve: StreamCurves | None) -> None:
        """Show what has been heard, or nothing."""
        self.curve = curve
        self.setToolTip(curve.tip if curve is not None else "")
        if curve is not None:
            self._range = rate_range(curve)
        self._head(curve)

    def paint_plot(self, painter: QPainter, scale: TimeScale, size: QSize) -> None:
        """Decades, gaps, writes, both curves, and what has not been heard yet."""
        curve = self.curve
        if curve is None:
            return
        height = float(size.height())
        self._paint_decades(painter, size)
        painter.setOpacity(self._opacity)
        self._paint_gaps(painter, scale, height, curve)
        self._paint_writes(painter, scale, height, curve)
        self._paint_line(painter, scale, height, curve.times, curve.fast, curve.step, fast_ink(self.theme))
        self._paint_line(painter, scale, height, curve.written, curve.slow, curve.write, slow_ink(self.theme))
        self._paint_resets(painter, scale, height, curve)
        painter.setOpacity(1.0)
        self._paint_unheard(painter, scale, size, curve)
        self._paint_ends(painter, size)

    # Parts

    def _paint_decades(self, painter: QPainter, size: QSize) -> None:
        painter.setPen(self.theme.colour("grid"))
        low, high = self._range
        for decade in range(int(low), int(high) + 1):
            y = round(self._y(10.0**decade, size.height())) + 0.5
            painter.drawLine(QLineF(0, y, size.width(), y))

    def _paint_gaps(self, painter: QPainter, scale: TimeScale, height: float, curve: StreamCurves) -> None:
        """Stretches without signal, and whether the state was carried over them."""
        ends = curve.times[:-1] + curve.step
        for i in np.flatnonzero(curve.times[1:] - ends > curve.step * (_HOLE - 1)):
            left, right = scale.x(float(ends[i])), scale.x(float(curve.times[i + 1]))
            if right < 0 or left > scale.width:
                continue
            hatch(painter, QRectF(left, _TOP, max(1.0, right - left), height - _TOP - _BOTTOM), self.theme)
            starts_anew = any(abs(reset - curve.times[i + 1]) < curve.step / 2 for reset in curve.resets)
            text = "no signal, then from zero" if starts_anew else "no signal, state carried over"
            self._write(painter, text, left, right, height)

    def _paint_writes(self, painter: QPainter, scale: TimeScale, height: float, curve: StreamCurves) -> None:
        if curve.write * scale.px_per_second < _LEAST_TICK_PX:
            return
        first, last = np.searchsorted(curve.written, (scale.window.start - curve.write, scale.window.stop))
        painter.setPen(QPen(self.theme.colour("muted"), 1))
        ticks = []
        for time in curve.written[first:last].tolist():
            x = round(scale.x(time + curve.step)) + 0.5  # the step that writes has been heard
            ticks.append(QLineF(x, height - _TICK, x, height))
        painter.drawLines(ticks)

    def _paint_line(
        self,
        painter: QPainter,
        scale: TimeScale,
        height: float,
        times: np.ndarray,
        values: np.ndarray,
        step: float,
        ink: QColor,
    ) -> None:
        first, last = np.searchsorted(times, (scale.window.start - 2 * step, scale.window.stop + step))
        times, values = times[first:last] + self._lead(step), values[first:last]
        painter.setPen(QPen(ink, 1.5))
        for low, high in _unbroken(times, values, step):
            x, y = _thinned((times[low:high] - scale.window.start) * scale.px_per_second, values[low:high])
            points = [QPointF(a, self._y(b, height)) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
            if len(points) > 1:
                painter.drawPolyline(QPolygonF(points))
            else:
                painter.drawEllipse(points[0], 1.2, 1.2)

    def _lead(self, step: float) -> float:
        """A rate holds when its step has been heard, at its end."""
        curve = self.curve
        return curve.step if curve is not None else step

    def _paint_resets(self, painter: QPainter, scale: TimeScale, height: float, curve: StreamCurves) -> None:
        painter.setFont(font(9))
        for time in curve.resets:
            x = scale.x(time)
            if not -1 <= x <= scale.width:
                continue
            painter.setPen(dashed(self.theme.colour("caution")))
            painter.drawLine(QLineF(round(x) + 0.5, 0, round(x) + 0.5, height))
            self._paint_label(painter, x, height)

    def _paint_label(self, painter: QPainter, x: float, height: float) -> None:
        """What a dashed line means, beside its foot."""
        text = "state from zero"
        width = QFontMetricsF(painter.font()).horizontalAdvance(text) + 4
        left = x + 3 if x + 3 + width < self.scale.width else x - 3 - width
        box = QRectF(left, height - _BOTTOM - px(12), width, px(12))
        painter.fillRect(box, self.theme.colour("canvas", 0.8))
        painter.setPen(self.theme.colour("caution"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_unheard(self, painter: QPainter, scale: TimeScale, size: QSize, curve: StreamCurves) -> None:
        left = scale.x(curve.heard_to)
        if left >= size.width() - 1:
            return
        y = size.height() - _BOTTOM
        painter.setPen(QPen(self.theme.colour("accent", 0.6), 1.5, Qt.PenStyle.DotLine))
        painter.drawLine(QLineF(max(0.0, left), y, size.width(), y))
        where = "" if left >= 0 else f", the stream is at {time_text(curve.heard_to)}"
        self._write(painter, f"not heard yet{where}", max(0.0, left), float(size.width()), float(size.height()))

    def _write(self, painter: QPainter, text: str, left: float, right: float, height: float) -> None:
        """A few words in the middle of a span, where they fit."""
        painter.setFont(font(10))
        left, right = max(0.0, left), min(right, self.scale.width)
        if QFontMetricsF(painter.font()).horizontalAdvance(text) + 10 < right - left:
            painter.setPen(self.theme.colour("muted"))
            painter.drawText(QRectF(left, _TOP, right - left, px(16)), Qt.AlignmentFlag.AlignCenter, text)

    def _paint_ends(self, painter: QPainter, size: QSize) -> None:
        """The ends of the axis and the names of the curves, at the right."""
        painter.setFont(font(9))
        metrics = QFontMetricsF(painter.font())
        low, high = self._range
        for value, y in ((high, 0.0), (low, size.height() - px(12) - _TICK)):
            text = f"{10.0**value:g}"
            width = metrics.horizontalAdvance(text) + 4
            box = QRectF(size.width() - width - 2, y, width, px(12))
            painter.fillRect(box, self.theme.colour("canvas", 0.75))
            painter.setPen(self.theme.colour("muted"))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        right = size.width() - metrics.horizontalAdvance(f"{10.0**high:g}") - 12
        for name, ink in (("slow", slow_ink(self.theme)), ("fast", fast_ink(self.theme))):
            width = metrics.horizontalAdvance(name) + 4
            box = QRectF(right - width, 0.0, width, px(12))
            painter.fillRect(box, self.theme.colour("canvas", 0.75))
            painter.setPen(ink)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, name)
            right -= width + 3
        self._paint_stale(painter, QRectF(6, 0, size.width(), size.height()))

    def _y(self, value: float, height: float) -> float:
        low, high = self._range
        place = (math.log10(max(value, 1e-12)) - low) / (high - low)
        return height - _BOTTOM - min(1.0, max(0.0, place)) * (height - _TOP - _BOTTOM)


def _unbroken(times: np.ndarray, values: np.ndarray, step: float) -> list[tuple[int, int]]:
    """Where values begin and end that follow each other and are known."""
    known = np.flatnonzero(np.isfinite(values))
    if not known.size:
        return []
    breaks = np.flatnonzero((np.diff(known) > 1) | (np.diff(times[known]) > _HOLE * step)) + 1
    parts = np.split(known, breaks)
    return [(int(part[0]), int(part[-1]) + 1) for part in parts]


def _thinned(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One mean a pixel where there are several values to each."""
    if x.size < 2 or x[-1] - x[0] >= x.size:
        return x, y
    pixel = np.floor(x).astype(np.intp)
    starts = np.flatnonzero(np.diff(pixel, prepend=pixel[0] - 1))
    counts = np.diff(np.append(starts, x.size))
    return np.add.reduceat(x, starts) / counts, np.add.reduceat(y.astype(np.float64), starts) / counts
