"""The overview bar: the whole recording, what is marked in it, what the model says, and where the page is."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
from PyQt6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QBrush, QFontMetricsF, QHelpEvent, QMouseEvent, QPainter, QPolygonF, QWheelEvent
from PyQt6.QtWidgets import QToolTip
from pyqtgraph import functions

from analysis.annotation import RANDOM_WEIGHTS, Annotation
from analysis.overview import Overview
from analysis.recording import Window
from analysis.results import SeizurePrediction
from analysis.time_words import duration_words
from viewers.lanes import Lane, hatch
from viewers.probability_lane import Steps, steps_on
from viewers.readers_lane import LINES, RANDOM_TIP, Lines, paint_lines
from viewers.theme import font, px
from viewers.time_scale import TimeScale, clock_origin, tick_text, time_text

TITLE = "Overview"
HEIGHT = 88
_BARS_ROOM = 28.0
_BAR, _PITCH = 4.0, 7.0
_LEAST_PAGE_PX = 4.0
_NOTCH = 120
_AXIS_ROOM = 13.0
_LABEL_PX = 80
_EDGE_PX = 4.0
_EDGES_FROM_PX = 18.0  # a narrower page is held as a whole, or its edges would leave no middle
_LEAST_PAGE_SECONDS = 0.1
_NEAR_PX = 3.0
_NAMED_MARKS = 4


class Timeline(Lane):
    """Painted once per change of what it shows; a page step only moves the rectangle."""

    window_requested = pyqtSignal(object)
    zoom_requested = pyqtSignal(int, float)  # steps, positive for more time a page; the time that keeps its place
    event_clicked = pyqtSignal(object)

    def __init__(self) -> None:
        super().__init__(TITLE, HEIGHT, foldable=False)
        self._duration = 0.0
        self._start: datetime | None = None
        self._gaps: tuple[tuple[float, float], ...] = ()
        self._overview: Overview | None = None
        self._prediction: SeizurePrediction | None = None
        self._lines = Lines()
        self._random_events = False
        self._page = Window(0.0, 10.0)
        self._held: float | None = None  # seconds from the page's start to where it is held
        self._edge = ""  # which end of the page is held, "left" or "right"
        self._clock = False
        self._zoomed_by = 0.0
        self._current: Annotation | None = None
        self.pictures_made = 0

    def set_facts(self, duration: float, start: datetime | None, gaps: tuple[tuple[float, float], ...]) -> None:
        """Take the length, start and gaps of a recording, and forget the rest."""
        self._duration, self._start, self._gaps = duration, start, gaps
        self._overview = self._prediction = self._current = None
        self._lines, self._random_events = Lines(), False
        self.subtitle = duration_words(duration)
        super().set_window(Window(0.0, max(duration, 1e-9)))
        self._say_random()

    def set_clock(self, clock: bool) -> None:
        """Write times of day where the start is known, else times from the start."""
        if clock != self._clock:
            self._clock = clock
            self.changed()

    def set_overview(self, overview: Overview | None) -> None:
        """Show the envelope of the recording's amplitude."""
        self._overview = overview
        self.changed()

    def set_lines(self, lines: Lines, random_weights: bool = False) -> None:
        """Show the marks of file, model and reader; the model's in outline when they come from random weights."""
        self._lines, self._random_events = lines, random_weights
        self._say_random()

    def set_prediction(self, prediction: SeizurePrediction | None) -> None:
        """Show the probability over the whole recording."""
        self._prediction = prediction
        self._say_random()

    def _say_random(self) -> None:
        random_curve = self._prediction is not None and self._prediction.random_weights
        self.badge = RANDOM_WEIGHTS if random_curve or self._random_events else ""
        self.setToolTip(RANDOM_TIP if self.badge else "")
        self.changed()

    def set_current_event(self, annotation: Annotation | None) -> None:
        """Point out one mark."""
        if annotation != self._current:
            self._current = annotation
            self.update()

    def set_window(self, window: Window) -> None:
        """Move the page's rectangle; the picture stays."""
        if window != self._page:
            self._page = window
            self.update()

    @property
    def page_rect(self) -> QRectF:
        """The page's rectangle in the widget; never thinner than can be seen."""
        area = self.plot_rect
        left, right = self.scale.x(self._page.start), self.scale.x(min(self._page.stop, self._duration))
        width = max(_LEAST_PAGE_PX, right - left)
        left = min(max(0.0, left - max(0.0, _LEAST_PAGE_PX - (right - left)) / 2), max(0.0, area.width() - width))
        return QRectF(area.left() + left, area.top() + 3, width, area.height() - px(_AXIS_ROOM) - 4)

    def _picture(self, ratio: float):
        self.pictures_made += 1
        return super()._picture(ratio)

    def paint_plot(self, painter: QPainter, scale: TimeScale, size: QSize) -> None:
        """Gaps, envelope, probability and bars."""
        if self._duration <= 0:
            return
        height = size.height() - _BARS_ROOM - px(_AXIS_ROOM)
        self._paint_times(painter, scale, size)
        for start, stop in self._gaps:
            left = scale.x(start)
            hatch(painter, QRectF(left, 4, max(1.0, scale.x(stop) - left), height - 2), self.theme)
        self._paint_envelope(painter, scale, height)
        if self._prediction is not None and self._prediction.times.size:
            self._paint_probability(painter, scale, height)
        top = height + 5
        paint_lines(painter, scale, self._lines, self.theme, top, _BAR, _PITCH, self._random_events)

    def _paint_times(self, painter: QPainter, scale: TimeScale, size: QSize) -> None:
        """Labels along the lower edge."""
        start = self._start if self._clock else None
        painter.setFont(font(9))
        painter.setPen(self.theme.colour("muted"))
        metrics = QFontMetricsF(painter.font())
        step = scale.step(px(_LABEL_PX))
        for time in scale.ticks(step, clock_origin(start)):
            text = tick_text(time, step, scale.window, start)
            width = metrics.horizontalAdvance(text) + 2
            left = min(max(scale.x(time) - width / 2, 0.0), size.width() - width)
            box = QRectF(left, size.height() - px(_AXIS_ROOM), width, px(_AXIS_ROOM))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_probability(self, painter: QPainter, scale: TimeScale, height: float) -> None:
        prediction = self._prediction
        assert prediction is not None
        steps = steps_on(scale, prediction.times, prediction.durations, prediction.probability)
        pattern = Qt.BrushStyle.Dense5Pattern if prediction.random_weights else Qt.BrushStyle.SolidPattern
        brush = QBrush(self.theme.colour("accent", 0.38), pattern)
        tall = pixel_heights(steps, int(scale.width)) * (height - 6)
        edges = np.flatnonzero(np.diff(tall, prepend=-1.0))
        for a, z in zip(edges.tolist(), [*edges[1:].tolist(), tall.size], strict=True):
            if tall[a] > 0:
                painter.fillRect(QRectF(a, height - tall[a], z - a, tall[a]), brush)

    def _paint_envelope(self, painter: QPainter, scale: TimeScale, height: float) -> None:
        if self._overview is None:
            painter.setPen(self.theme.colour("muted"))
            painter.setFont(font(10))
            painter.drawText(QRectF(6, 0, 300, height), Qt.AlignmentFlag.AlignVCenter, "surveying the recording…")
            return
        x, reach = envelope_columns(self._overview.envelope, scale.width)
        usual = float(np.nanpercentile(reach, 98)) if np.isfinite(reach).any() else 0.0
        middle, room = height / 2 + 1, height / 2 - 5
        tall = np.clip(reach / usual if usual > 0 else reach, 0, 1.25) * (room / 1.25)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.colour("envelope", 0.8))
        present = np.isfinite(tall)
        edges = np.flatnonzero(np.diff(np.concatenate([[0], present.astype(np.int8), [0]])))
        for a, z in zip(edges[::2], edges[1::2], strict=True):
            # A value stands for its whole bin, so the first and the last one reach its outer edge.
            half = (scale.width / x.size) / 2
            along = np.concatenate([[x[a] - half], x[a:z], [x[z - 1] + half]])
            reach = np.pad(np.maximum(0.5, tall[a:z]), 1, mode="edge")
            outline = functions.arrayToQPolygonF(
                np.concatenate([along, along[::-1]]), np.concatenate([middle - reach, middle + reach[::-1]])
            )
            painter.drawPolygon(outline)
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def subtitles(self) -> tuple[str, ...]:
        """The length of the recording, and when it began."""
        return (self.subtitle, "" if self._start is None else time_text(0, 1, self._start))

    def paint_moving(self, painter: QPainter) -> None:
        """The page, and the mark that is pointed out."""
        if self._duration <= 0:
            return
        # Plain rectangles: this is painted at every page turn, and rounded ones cost ten times as much.
        rect = self.page_rect.toRect()
        painter.fillRect(rect, self.theme.colour("accent", 0.14))
        painter.setPen(self.theme.colour("accent"))
        painter.drawRect(rect.adjusted(0, 0, -1, -1))
        if self._current is not None:
            x = self.plot_rect.left() + self.scale.x(self._current.onset)
            colour = self.theme.colour("accent" if self._current.is_model else "human")
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            bottom = float(self.height()) - px(_AXIS_ROOM)
            painter.drawPolygon(QPolygonF([QPointF(x - 4, bottom), QPointF(x + 4, bottom), QPointF(x, bottom - 6)]))
            painter.setBrush(Qt.BrushStyle.NoBrush)

    # Mouse

    def _edge_at(self, x: float) -> str:
        """Which end of the page a place in the widget lies on, "left" or "right"; empty for none."""
        rect = self.page_rect
        if rect.width() < _EDGES_FROM_PX:
            return ""
        near = {"left": abs(x - rect.left()), "right": abs(x - rect.right())}
        side = min(near, key=lambda name: near[name])
        return side if near[side] <= _EDGE_PX else ""

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Take hold of the page or of one of its ends, or bring it to where the click is."""
        if event is None or event.button() != Qt.MouseButton.LeftButton or self._duration <= 0:
            return
        x = event.position().x() - self.plot_rect.left()
        if x < 0:
            return
        time = self.scale.time(x)
        self._edge = self._edge_at(event.position().x())
        if self._edge:
            return
        inside = self.page_rect.contains(QPointF(event.position().x(), self.page_rect.center().y()))
        self._held = time - self._page.start if inside else self._page.duration / 2
        if not inside:
            self._ask(time)

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        """Drag the page, or one of its ends."""
        if event is None:
            return
        super().mouseMoveEvent(event)
        if self._edge:
            self._ask_edge(self.scale.time(event.position().x() - self.plot_rect.left()))
        elif self._held is not None:
            self._ask(self.scale.time(event.position().x() - self.plot_rect.left()))
        over = event.position().x() >= self._left
        shape = Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor
        on_edge = self._edge or (over and self._held is None and self._edge_at(event.position().x()))
        self.setCursor(Qt.CursorShape.SizeHorCursor if on_edge else shape)

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:
        """Let the page go."""
        self._held, self._edge = None, ""

    def wheelEvent(self, event: QWheelEvent | None) -> None:
        """A notch turns a page, and with Ctrl it makes the page shorter or longer, as on the traces."""
        if event is None or self._duration <= 0:
            return
        event.accept()
        notches = event.angleDelta().y() / _NOTCH
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._zoomed_by -= notches
            steps = int(self._zoomed_by)
            if steps:
                self._zoomed_by -= steps
                self.zoom_requested.emit(steps, self.scale.time(event.position().x() - self.plot_rect.left()))
        elif notches:
            self._ask_start(self._page.start - notches * self._page.duration)

    def event(self, event: QEvent | None) -> bool:
        """Say what lies under the mouse: the time, the gap, and the marks."""
        if event is not None and event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            x = event.pos().x() - self.plot_rect.left()
            if 0 <= x <= self.plot_rect.width() and self._duration > 0:
                QToolTip.showText(event.globalPos(), self.describe(self.scale.time(x)), self)
                return True
        return super().event(event)

    def describe(self, time: float) -> str:
        """What lies at a time, a line each: the time from the start and of the day, a gap, marks by their titles."""
        lines = [time_text(time, 1.0)]
        if self._start is not None:
            lines[0] += f"  ·  {self._start + timedelta(seconds=time):%a %d %b %Y %H:%M:%S}"
        near = _NEAR_PX / self.scale.px_per_second if self.scale.px_per_second else 0.0
        lines += [f"gap of {duration_words(z - a)}" for a, z in self._gaps if a - near <= time < z + near][:1]
        marks = [
            index.items[i]
            for number in range(len(LINES))
            for index in self._lines.of_line(number)
            for i in index.within(time - near, time + near)[: _NAMED_MARKS + 1].tolist()
        ]
        lines += [f"{mark.title}  {time_text(mark.onset, 1.0)}" for mark in marks[:_NAMED_MARKS]]
        lines += ["…"] * (len(marks) > _NAMED_MARKS) + [RANDOM_TIP] * bool(self.badge)
        return "\n".join(lines)

    def _ask(self, time: float) -> None:
        assert self._held is not None
        self._ask_start(time - self._held)

    def _ask_edge(self, time: float) -> None:
        """Ask for the page with the end that is held at another time, to two digits of its length."""
        time = min(max(0.0, time), self._duration)
        if self._edge == "left":
            length = max(_LEAST_PAGE_SECONDS, self._page.stop - time)
        else:
            length = max(_LEAST_PAGE_SECONDS, time - self._page.start)
        length = float(f"{length:.2g}") if length < 100 else float(round(length))
        start = self._page.stop - length if self._edge == "left" else self._page.start
        if length != self._page.duration and start >= 0 and start + length <= self._duration:
            self.window_requested.emit(Window(start, start + length))

    def _ask_start(self, start: float) -> None:
        length = self._page.duration
        start = min(max(0.0, start), max(0.0, self._duration - length))
        if start != self._page.start:
            self.window_requested.emit(Window(start, start + length))


def pixel_heights(steps: Steps, pixels: int) -> np.ndarray:
    """The greatest probability in each pixel (pixels,), 0 where there is none; each pixel is painted once."""
    heights = np.zeros(max(1, pixels))
    first = np.clip(np.floor(steps.left), 0, heights.size - 1).astype(np.intp)
    last = np.clip(np.round(steps.right), first + 1, heights.size).astype(np.intp)
    for a, z, value in zip(first.tolist(), last.tolist(), steps.value.tolist(), strict=True):
        np.maximum(heights[a:z], value, out=heights[a:z])
    return heights


def envelope_columns(envelope: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray]:
    """x in pixels and the envelope there: the greatest value of each pixel where there are more values than pixels."""
    n = envelope.size
    pixels = max(1, int(width))
    if n <= pixels:
        return (np.arange(n) + 0.5) * (width / n), envelope
    starts = (np.arange(pixels) * n) // pixels
    return np.arange(pixels) + 0.5, np.fmax.reduceat(envelope, starts)
