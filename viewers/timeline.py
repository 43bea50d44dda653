"""The overview bar: the whole recording, what is marked in it, what the model says, and where the page is."""

from __future__ import annotations

from datetime import datetime

import numpy as np
from PyQt6.QtCore import QPointF, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QBrush, QMouseEvent, QPainter, QPolygonF, QWheelEvent
from pyqtgraph import functions

from analysis.annotation import RANDOM_WEIGHTS, Annotation
from analysis.overview import Overview
from analysis.recording import Window
from analysis.results import SeizurePrediction
from analysis.time_words import duration_words
from viewers.lanes import Lane, hatch
from viewers.probability_lane import Steps, steps_on
from viewers.readers_lane import RANDOM_TIP, Lines, paint_lines
from viewers.theme import font
from viewers.time_scale import TimeScale, time_text

TITLE = "Overview"
HEIGHT = 88
_BARS_ROOM = 28.0
_BAR, _PITCH = 4.0, 7.0
_LEAST_PAGE_PX = 4.0
_NOTCH = 120


class Timeline(Lane):
    """Painted once per change of what it shows; a page step only moves the rectangle."""

    window_requested = pyqtSignal(object)
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
        return QRectF(area.left() + left, area.top() + 3, width, area.height() - 7)

    def _picture(self, ratio: float):
        self.pictures_made += 1
        return super()._picture(ratio)

    def paint_plot(self, painter: QPainter, scale: TimeScale, size: QSize) -> None:
        """Gaps, envelope, probability and bars."""
        if self._duration <= 0:
            return
        height = size.height() - _BARS_ROOM
        for start, stop in self._gaps:
            left = scale.x(start)
            hatch(painter, QRectF(left, 4, max(1.0, scale.x(stop) - left), height - 2), self.theme)
        self._paint_envelope(painter, scale, height)
        if self._prediction is not None and self._prediction.times.size:
            self._paint_probability(painter, scale, height)
        top = size.height() - _BARS_ROOM + 5
        paint_lines(painter, scale, self._lines, self.theme, top, _BAR, _PITCH, self._random_events)

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
            bottom = float(self.height())
            painter.drawPolygon(QPolygonF([QPointF(x - 4, bottom), QPointF(x + 4, bottom), QPointF(x, bottom - 6)]))
            painter.setBrush(Qt.BrushStyle.NoBrush)

    # Mouse

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Take hold of the page, or bring it to where the click is."""
        if event is None or event.button() != Qt.MouseButton.LeftButton or self._duration <= 0:
            return
        x = event.position().x() - self.plot_rect.left()
        if x < 0:
            return
        time = self.scale.time(x)
        inside = self.page_rect.contains(QPointF(event.position().x(), self.page_rect.center().y()))
        self._held = time - self._page.start if inside else self._page.duration / 2
        if not inside:
            self._ask(time)

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        """Drag the page."""
        if event is None:
            return
        super().mouseMoveEvent(event)
        if self._held is not None:
            self._ask(self.scale.time(event.position().x() - self.plot_rect.left()))
        over = event.position().x() >= self._left
        self.setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor)

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:
        """Let the page go."""
        self._held = None

    def wheelEvent(self, event: QWheelEvent | None) -> None:
        """A notch turns a page, as on the traces."""
        if event is not None and self._duration > 0:
            event.accept()
            pages = -event.angleDelta().y() / _NOTCH
            if pages:
                self._ask_start(self._page.start + pages * self._page.duration)

    def _ask(self, time: float) -> None:
        assert self._held is not None
        self._ask_start(time - self._held)

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
