"""Who marked what: one thin bar each for the file, the model and the reader."""

from __future__ import annotations

import numpy as np
from PyQt6.QtCore import QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QMouseEvent, QPainter

from analysis.annotation import RANDOM_WEIGHTS, Annotation
from analysis.annotation_index import AnnotationIndex
from analysis.marks import Marks, Source
from viewers.lanes import Lane
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
_WHO = "file · model · you"


def sort_by_line(marks: Marks, events: AnnotationIndex) -> list[AnnotationIndex]:
    """The marks of each line of LINES; on the model's, those that were decided on and the others."""
    lines = [marks.of_source(source) for _colour, source in LINES]
    if len(events):
        decided = lines[MODEL_LINE]
        lines[MODEL_LINE] = AnnotationIndex((*decided.items, *events.items)) if len(decided) else events
    return lines


def are_random(events: AnnotationIndex, random_weights: bool) -> bool:
    """Whether there are events of random weights, which must be told from those of a trained model."""
    return len(events) > 0 and (random_weights or any(RANDOM_WEIGHTS in author for author in events.authors))


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
        self._lines = sort_by_line(Marks(), AnnotationIndex())
        self._random_events = False

    def set_lines(self, lines: list[AnnotationIndex], random_weights: bool = False) -> None:
        """Take the marks of each line; the model's are drawn in outline when they come from random weights."""
        self._lines, self._random_events = lines, random_weights
        # The heading has room for one line more, and this one matters more than who has which line.
        self.subtitle, self.badge = ("", RANDOM_WEIGHTS) if random_weights else (_WHO, "")
        self.setToolTip(f"{_WHO}\n{RANDOM_TIP}" if random_weights else "")
        self.changed()

    def paint_plot(self, painter: QPainter, scale: TimeScale, size: QSize) -> None:
        """One line of bars each."""
        for number, (colour, _source) in enumerate(LINES):
            top = _TOP + number * _PITCH
            hollow = self._random_events and number == MODEL_LINE
            paint_bars(painter, scale, self._lines[number], top, BAR, self.theme.colour(colour), hollow)

    def mark_at(self, x: float, y: float) -> Annotation | None:
        """The mark under a point of the plot; the shortest where several lie there."""
        number = int((y - _TOP + (_PITCH - BAR) / 2) // _PITCH)
        if not 0 <= number < len(LINES):
            return None
        index, scale = self._lines[number], self.scale
        found = index.within(scale.time(x - 3), scale.time(x + 3))
        marks = [index.items[i] for i in found]
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
