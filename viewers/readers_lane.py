"""Who marked what: one thin bar each for the file, the model and the reader."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from PyQt6.QtCore import QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QMouseEvent, QPainter, QPen

from analysis.annotation import RANDOM_WEIGHTS, Annotation
from analysis.annotation_index import AnnotationIndex
from analysis.marks import Marks, Source, source_of
from viewers.lanes import Lane
from viewers.theme import Theme
from viewers.time_scale import TimeScale

TITLE = "Readers"
HEIGHT = 38
BAR = 5.0
_PITCH = 10.0
_TOP = 6.0
_LEAST_PX = 3.0
LINES: tuple[tuple[str, Source], ...] = (("human", "file"), ("accent", "model"), ("reader", "reader"))
MODEL_LINE = 1
RANDOM_TIP = f"The model's events, in outline, come from {RANDOM_WEIGHTS}: they mean nothing."
STATES_TIP = "Of the model: a bar is to review, underlined it is accepted, a thin line is rejected."
_WHO = "file · model · you"
_THIN = 1.5
_UNDERLINE = 2.0


@dataclass(frozen=True)
class Lines:
    """The marks of each line of LINES: `told` by files, `mine`, and of models those to review and those decided on."""

    told: AnnotationIndex = field(default_factory=AnnotationIndex)
    to_review: AnnotationIndex = field(default_factory=AnnotationIndex)
    mine: AnnotationIndex = field(default_factory=AnnotationIndex)
    open: AnnotationIndex = field(default_factory=AnnotationIndex)
    accepted: AnnotationIndex = field(default_factory=AnnotationIndex)
    rejected: AnnotationIndex = field(default_factory=AnnotationIndex)
    seizures: AnnotationIndex = field(default_factory=AnnotationIndex)  # as spans, where two marks may tell of one

    def of_line(self, number: int) -> tuple[AnnotationIndex, ...]:
        """All that is drawn on one line."""
        if LINES[number][1] == "model":
            return (self.to_review, self.open, self.accepted, self.rejected)
        return (self.told, self.seizures) if LINES[number][1] == "file" else (self.mine,)

    def line_of(self, mark: Annotation) -> int:
        """The number of the line on which a mark lies."""
        return [source for _colour, source in LINES].index(source_of(mark))


def sort_by_line(marks: Marks, events: AnnotationIndex) -> Lines:
    """The marks of each line, and the events of a model that nobody has decided on."""
    found = marks.of_source("model")
    if not len(found):
        return Lines(marks.of_source("file"), events, marks.of_source("reader"))
    decisions = np.array([mark.review.decision for mark in found.items])
    parts = (found.where(decisions == decision) for decision in ("", "accepted", "rejected"))
    return Lines(marks.of_source("file"), events, marks.of_source("reader"), *parts)


def are_random(lines: Lines, random_weights: bool) -> bool:
    """Whether there are events of random weights, which must be told from those of a trained model."""
    of_models = [index for index in lines.of_line(MODEL_LINE) if len(index)]
    named = any(RANDOM_WEIGHTS in author for index in of_models for author in index.authors)
    return named or (random_weights and bool(of_models))


def paint_lines(
    painter: QPainter,
    scale: TimeScale,
    lines: Lines,
    theme: Theme,
    top: float,
    bar: float,
    pitch: float,
    random_weights: bool = False,
) -> None:
    """All lines under one another from `top` on; what was accepted is underlined, what was rejected is a thin line."""
    accent = theme.colour("accent")
    for number, (colour, source) in enumerate(LINES):
        y = top + number * pitch
        if source != "model":
            for index in lines.of_line(number):
                paint_bars(painter, scale, index, y, bar, theme.colour(colour))
            continue
        for index in (lines.to_review, lines.open, lines.accepted):
            paint_bars(painter, scale, index, y, bar, accent, random_weights)
        paint_bars(painter, scale, lines.accepted, y + bar, _UNDERLINE, theme.colour("reader"))
        paint_bars(painter, scale, lines.rejected, y + (bar - _THIN) / 2, _THIN, theme.colour("accent", 0.7))


def paint_bars(
    painter: QPainter,
    scale: TimeScale,
    index: AnnotationIndex,
    top: float,
    height: float,
    colour: QColor,
    hollow: bool = False,
) -> None:
    """Bars of one line; moments are thin ticks. Any number costs no more than the pixels there are."""
    found = index.within(scale.window.start, scale.window.stop)
    if not found.size:
        return
    left = (index.onset[found] - scale.window.start) * scale.px_per_second
    right = (index.stop[found] - scale.window.start) * scale.px_per_second
    left, right = np.clip(left, 0, scale.width), np.clip(right, 0, scale.width)
    moments = right - left < _LEAST_PX
    ticks = np.zeros(int(scale.width) + 2, bool)
    ticks[np.round(left[moments]).astype(np.intp)] = True
    painter.setPen(Qt.PenStyle.NoPen)
    for x, z in _runs(ticks):
        painter.fillRect(QRectF(x, top, z - x + 1.0, height), colour)
    if hollow:
        painter.setPen(colour)
    else:
        painter.setBrush(colour)
    inset = 0.5 if hollow else 0.0
    for a, z in _merged(left[~moments], right[~moments]):
        bar = QRectF(a, top, z - a, height).adjusted(inset, inset, -inset, -inset)
        painter.drawRoundedRect(bar, height / 2, height / 2)
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _merged(left: np.ndarray, right: np.ndarray) -> list[tuple[float, float]]:
    """Spans in order of their start, joined where less than half a pixel lies between them."""
    if not left.size:
        return []
    reach = np.maximum.accumulate(right)
    begins = np.concatenate([[True], left[1:] > reach[:-1] + 0.5])
    starts = np.flatnonzero(begins)
    return list(zip(left[starts].tolist(), np.maximum.reduceat(right, starts).tolist(), strict=True))


def _runs(mask: np.ndarray) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(mask.astype(np.int8), prepend=0, append=0))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


class ReadersLane(Lane):
    """Bars of the file's marks, the model's events and the reader's own marks, one under the other."""

    event_clicked = pyqtSignal(object)

    def __init__(self) -> None:
        super().__init__(TITLE, HEIGHT)
        self.subtitle = _WHO
        self._lines = Lines()
        self._random_events = False
        self._note = ""
        self._current: Annotation | None = None
        self.setToolTip(STATES_TIP)

    def set_lines(self, lines: Lines, random_weights: bool = False) -> None:
        """Take the marks of each line; the model's are drawn in outline when they come from random weights."""
        self._lines, self._random_events = lines, random_weights
        self._say()

    def set_note(self, text: str) -> None:
        """Say what is not drawn, in place of whose line is whose."""
        self._note = text
        self._say()

    def set_current_event(self, annotation: Annotation | None) -> None:
        """Point out one mark."""
        if annotation is not self._current:
            self._current = annotation
            self.update()

    def _say(self) -> None:
        # The heading has room for one line more, and what is missing or means nothing matters more than who is who.
        self.badge = RANDOM_WEIGHTS if self._random_events else ""
        self.subtitle = self._note or ("" if self._random_events else _WHO)
        self.setToolTip("\n".join((_WHO, RANDOM_TIP)) if self._random_events else STATES_TIP)
        self.changed()

    def paint_plot(self, painter: QPainter, scale: TimeScale, size: QSize) -> None:
        """One line of bars each."""
        paint_lines(painter, scale, self._lines, self.theme, _TOP, BAR, _PITCH, self._random_events)

    def paint_moving(self, painter: QPainter) -> None:
        """A frame around the mark that is pointed out."""
        mark, area, scale = self._current, self.plot_rect, self.scale
        if mark is None or self.is_folded or mark.stop < scale.window.start or mark.onset > scale.window.stop:
            return
        left, right = max(-3.0, scale.x(mark.onset)), min(scale.width + 3, scale.x(mark.stop))
        y = _TOP + self._lines.line_of(mark) * _PITCH
        frame = QRectF(left - 2, y - 2, max(right - left, 1.0) + 4, BAR + 4 + _UNDERLINE / 2)
        painter.save()
        painter.setClipRect(area)
        painter.translate(area.topLeft())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.theme.colour("text"), 1.2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(frame, 3, 3)
        painter.restore()

    def mark_at(self, x: float, y: float) -> Annotation | None:
        """The mark under a point of the plot; the shortest where several lie there."""
        number = int((y - _TOP + (_PITCH - BAR) / 2) // _PITCH)
        if not 0 <= number < len(LINES):
            return None
        start, stop = self.scale.time(x - 3), self.scale.time(x + 3)
        marks = [index.items[i] for index in self._lines.of_line(number) for i in index.within(start, stop)]
        return min(marks, key=lambda a: a.duration) if marks else None

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """A click on a bar chooses its mark."""
        if event is None:
            return
        area = self.plot_rect
        mark = self.mark_at(event.position().x() - area.left(), event.position().y() - area.top())
        if event.position().x() >= self._left and not self.is_folded and mark is not None:
            self.event_clicked.emit(mark)
            return
        super().mousePressEvent(event)
