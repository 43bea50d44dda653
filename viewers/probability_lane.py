"""What a model says over time: the probability of each scored segment, and the threshold that makes events of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PyQt6.QtCore import QPointF, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QFontMetricsF, QMouseEvent, QPainter, QPen, QPolygonF

from analysis.annotation import RANDOM_WEIGHTS
from analysis.results import SeizurePrediction
from viewers.lanes import Lane, dashed, hatch
from viewers.theme import font, px
from viewers.time_scale import TimeScale

TITLE = "p(seizure)"
HEIGHT = 62
_TOP, _BOTTOM = 7.0, 6.0
_GRAB_PX = 6.0

STALE = "not up to date"
_NOTHING_RUN = "no model has been run"


@dataclass(frozen=True)
class Steps:
    """Probabilities as they are drawn: `left`, `right` in pixels and `value`, one entry a step, in order of time."""

    left: np.ndarray
    right: np.ndarray
    value: np.ndarray


def steps_on(scale: TimeScale, times: np.ndarray, durations: np.ndarray, probability: np.ndarray) -> Steps:
    """The segments of a page; where several share a pixel, the most probable stands for them."""
    first = max(0, int(np.searchsorted(times, scale.window.start - (durations.max() if durations.size else 0))))
    last = int(np.searchsorted(times, scale.window.stop))
    left = (times[first:last] - scale.window.start) * scale.px_per_second
    right = left + durations[first:last] * scale.px_per_second
    value = np.asarray(probability[first:last], np.float64)
    if left.size <= 2 * scale.width or not left.size:
        return Steps(left, right, value)
    pixel = np.floor(left).astype(np.intp)
    starts = np.flatnonzero(np.diff(pixel, prepend=pixel[0] - 1))
    ends = np.concatenate([starts[1:], [left.size]]) - 1
    return (
        Steps(left[starts], np.maximum.reduceat(right, starts), np.maximum.reduceat(value, starts))
        if ends.size
        else (Steps(left, right, value))
    )


class ProbabilityLane(Lane):
    """Draws a SeizurePrediction as steps that hold for their segment; its threshold line can be dragged."""

    threshold_changed = pyqtSignal(float)

    def __init__(self) -> None:
        super().__init__(TITLE, HEIGHT)
        self.set_empty(True)
        self._waiting = False
        self._prediction: SeizurePrediction | None = None
        self._stale = ""
        self.empty_text = _NOTHING_RUN
        self._threshold = 0.5
        self._duration = 0.0
        self._grabbed = False

    @property
    def threshold(self) -> float:
        """Where the threshold line stands."""
        return self._threshold

    def set_duration(self, duration: float) -> None:
        """Take the length of the recording, beyond which nothing can be missing."""
        self._duration = duration
        self.changed()

    def set_prediction(self, prediction: SeizurePrediction | None) -> None:
        """Show a result, or what has arrived of it; None for none."""
        self._prediction = prediction
        self._say_what_it_is()
        if prediction is not None and not self._grabbed:
            self._threshold = float(prediction.threshold)
        self.set_empty(prediction is None and not self._waiting)
        self.changed()

    def set_stale(self, why: str) -> None:
        """Say that another run would give other numbers, and why; empty: it would not."""
        if why != self._stale:
            self._stale = why
            self._say_what_it_is()
            self.changed()

    def _say_what_it_is(self) -> None:
        prediction = self._prediction
        self.subtitle = "" if prediction is None else prediction.model_title
        self.badge = RANDOM_WEIGHTS if prediction is not None and prediction.random_weights else ""
        self.badge = self.badge or (STALE if prediction is not None and self._stale else "")
        told = () if prediction is None else (prediction.model_title, self._stale, prediction.caveat)
        self.setToolTip("\n".join(filter(None, told)))

    def set_threshold(self, value: float) -> None:
        """Move the threshold line."""
        if value != self._threshold:
            self._threshold = value
            self.update()

    def set_waiting(self, model: str) -> None:
        """Say, while there is nothing to draw, that this model is at work; an empty name: that none has been run."""
        self._waiting = bool(model)
        self.set_empty(self._prediction is None and not self._waiting)
        self.empty_text = f"{model} is running, its first numbers are still to come" if model else _NOTHING_RUN
        self.changed()

    def paint_plot(self, painter: QPainter, scale: TimeScale, size: QSize) -> None:
        """Steps with a soft ground, hatching where nothing was scored, dots where an answer is still to come."""
        prediction = self._prediction
        painter.setFont(font(10))
        if prediction is None:
            painter.setPen(self.theme.colour("muted"))
            painter.drawText(QRectF(6, 0, 600, size.height()), Qt.AlignmentFlag.AlignVCenter, self.empty_text)
            return
        self._paint_unscored(painter, scale, size, prediction)
        steps = steps_on(scale, prediction.times, prediction.durations, prediction.probability)
        if not prediction.complete:
            self._paint_missing(painter, scale, size, prediction)
        baseline = self._y(0.0, size.height())
        for part in _unbroken(steps):
            line, ground = self._outlines(part, size.height(), baseline)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.theme.colour("accent", 0.20))
            painter.drawPolygon(ground)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self.theme.colour("accent"), 1.5))
            painter.drawPolyline(line)

    def _outlines(self, part: Steps, height: float, baseline: float) -> tuple[QPolygonF, QPolygonF]:
        y = [self._y(float(v), height) for v in part.value]
        line = []
        for left, right, at in zip(part.left.tolist(), part.right.tolist(), y, strict=True):
            line += [QPointF(left, at), QPointF(right, at)]
        ground = [QPointF(line[0].x(), baseline), *line, QPointF(line[-1].x(), baseline)]
        return QPolygonF(line), QPolygonF(ground)

    def _paint_unscored(self, painter: QPainter, scale: TimeScale, size: QSize, prediction: SeizurePrediction) -> None:
        for start, stop, reason in prediction.not_scored:
            left, right = max(0.0, scale.x(start)), min(float(size.width()), scale.x(stop))
            if right <= left:
                continue
            hatch(painter, QRectF(left, _TOP, right - left, size.height() - _TOP - _BOTTOM), self.theme)
            text = f"not scored: {reason}" if reason else "not scored"
            metrics = QFontMetricsF(painter.font())
            if metrics.horizontalAdvance("not scored") + 12 < right - left:
                painter.setPen(self.theme.colour("muted"))
                text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, right - left - 8)
                painter.drawText(QRectF(left, _TOP + 1, right - left, px(16)), Qt.AlignmentFlag.AlignCenter, text)

    def _paint_missing(self, painter: QPainter, scale: TimeScale, size: QSize, prediction: SeizurePrediction) -> None:
        y = self._y(0.0, size.height())
        for start, stop in missing_spans(prediction, scale.window.start, min(scale.window.stop, self._duration)):
            left, right = scale.x(start), scale.x(stop)
            pen = QPen(self.theme.colour("accent", 0.6), 1.5, Qt.PenStyle.DotLine)
            painter.setPen(pen)
            painter.drawLine(QPointF(left, y), QPointF(right, y))
            if right - left > 70:
                painter.setPen(self.theme.colour("muted"))
                painter.drawText(QRectF(left, _TOP + 1, right - left, px(16)), Qt.AlignmentFlag.AlignCenter, "scoring…")

    def paint_moving(self, painter: QPainter) -> None:
        """The threshold line and its value, lighter while there is nothing to divide."""
        if self.is_folded or self._prediction is None:
            return
        area = self.plot_rect
        y = round(area.top() + self._y(self._threshold, area.height())) + 0.5
        colour = self.theme.colour("caution")
        painter.setPen(dashed(colour))
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        painter.setFont(font(10, self._grabbed))
        text = f"{self._threshold:.2f} ↕"
        width = QFontMetricsF(painter.font()).horizontalAdvance(text) + 6
        top = y - px(16) if y - px(16) >= area.top() else y + 1
        rect = QRectF(area.right() - width - 2, top, width, px(15))
        painter.fillRect(rect, self.theme.colour("canvas", 0.75))
        painter.setPen(colour)
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)

    def _y(self, probability: float, height: float) -> float:
        return height - _BOTTOM - probability * (height - _TOP - _BOTTOM)

    # Mouse

    def _near_line(self, y: float) -> bool:
        if self._prediction is None or self.is_folded:
            return False
        return abs(y - self.plot_rect.top() - self._y(self._threshold, self.plot_rect.height())) <= _GRAB_PX

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Take hold of the threshold line."""
        if event is None:
            return
        if event.position().x() >= self._left and self._near_line(event.position().y()):
            self._grabbed = True
            return
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        """Drag the threshold line."""
        if event is None:
            return
        super().mouseMoveEvent(event)
        at = event.position()
        if self._grabbed:
            height = self.plot_rect.height()
            share = (height - _BOTTOM - (at.y() - self.plot_rect.top())) / (height - _TOP - _BOTTOM)
            value = round(min(0.99, max(0.01, share)), 2)
            if value != self._threshold:
                self.set_threshold(value)
                self.threshold_changed.emit(value)
        if self._grabbed or (at.x() >= self._left and self._near_line(at.y())):
            self.setCursor(Qt.CursorShape.SizeVerCursor)

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:
        """Let the threshold line go."""
        self._grabbed = False
        self.update()


def _unbroken(steps: Steps) -> list[Steps]:
    """Parts without a hole of more than a pixel between their segments."""
    if not steps.left.size:
        return []
    breaks = np.flatnonzero(steps.left[1:] > steps.right[:-1] + 1.0) + 1
    parts = []
    for a, z in zip([0, *breaks.tolist()], [*breaks.tolist(), steps.left.size], strict=True):
        parts.append(Steps(steps.left[a:z], steps.right[a:z], steps.value[a:z]))
    return parts


def missing_spans(prediction: SeizurePrediction, start: float, stop: float) -> list[tuple[float, float]]:
    """Spans of [start, stop) that are neither scored nor known not to be."""
    starts = np.concatenate([prediction.times, [a for a, _, _ in prediction.not_scored], [stop]])
    ends = np.concatenate([prediction.times + prediction.durations, [z for _, z, _ in prediction.not_scored], [stop]])
    touching = (ends > start) & (starts <= stop)
    order = np.argsort(starts[touching], kind="stable")
    starts, ends = starts[touching][order], ends[touching][order]
    known_to = np.maximum.accumulate(np.concatenate([[start], ends]))[:-1]
    return [(float(known_to[i]), float(starts[i])) for i in np.flatnonzero(starts > known_to + 1e-6)]
