"""Marks of the file and of people: a neutral dashed line at the onset, a soft shade, a name above the traces."""

from __future__ import annotations

import numpy as np
from PyQt6.QtCore import QRectF
from PyQt6.QtGui import QPainter

from analysis.annotation import Annotation
from analysis.annotation_index import AnnotationIndex
from analysis.marks import Marks
from analysis.recording import Window
from viewers.overlays.base import Label, PaintedOverlay
from viewers.overlays.marks import MANY, paint_few, paint_many
from viewers.time_scale import TimeScale

_MOST_LABELS = 60
_WHO = {"reader": " (you)", "sidecar": " (sidecar)", "file": " (file)"}


def name_of(annotation: Annotation) -> str:
    """What a mark is called on the traces: its text and who says so."""
    return (annotation.title or "mark") + _WHO.get(annotation.author, f" ({annotation.author})")


class AnnotationsOverlay(PaintedOverlay):
    """Draws every annotation of a human or of the file."""

    title = "Annotations"
    draws = Marks
    place = "behind"

    def __init__(self) -> None:
        super().__init__()
        self._index = AnnotationIndex()
        self._seizures = AnnotationIndex()

    def set_result(self, result: Marks | None) -> None:
        """Take the marks; a seizure is shaded from beginning to end, also where two marks tell of it."""
        marks = result if result is not None else Marks()
        self._index = marks.index
        spans = [Annotation(start, stop - start, "sz") for start, stop in marks.seizures]
        self._seizures = AnnotationIndex([span for span in spans if not self._is_marked(span)])
        self.update()

    def _is_marked(self, span: Annotation) -> bool:
        """Whether a mark of just this span is shaded already."""
        found = self._index.within(span.onset, span.stop)
        return bool(((self._index.onset[found] == span.onset) & (self._index.stop[found] == span.stop)).any())

    def labels(self, window: Window) -> tuple[list[Label], int]:
        """Names of the marks on the page; from a dense page the first ones."""
        if not self.state.visible:
            return [], 0
        found = self._index.within(window.start, window.stop)
        items = [self._index.items[i] for i in found[:_MOST_LABELS]]
        labels = [Label(a.onset, name_of(a), "reader" if a.author == "reader" else "human", a) for a in items]
        return labels, max(0, found.size - _MOST_LABELS)

    def describe(self, time: float, ch_name: str) -> str:
        """The marks at a time."""
        found = self._index.within(time, np.nextafter(time, np.inf))
        return ", ".join(self._index.items[i].title for i in found[:3])

    def paint(self, painter: QPainter, scale: TimeScale, height: float) -> None:
        """Draw what lies on the page."""
        shade = self.theme.colour("human", 0.10 * self.state.opacity)
        for i in self._seizures.within(scale.window.start, scale.window.stop):
            left, right = scale.x(self._seizures.onset[i]), scale.x(self._seizures.stop[i])
            painter.fillRect(QRectF(left, 0, right - left, height), shade)
        found = self._index.within(scale.window.start, scale.window.stop)
        if not found.size:
            return
        if found.size > MANY:
            onset, stop = self._index.onset[found], self._index.stop[found]
            paint_many(painter, scale, height, onset, stop, shade, self.theme.colour("human", 0.45))
            return
        spans = []
        for i in found:
            mark = self._index.items[i]
            which = self.rows.of_channels(mark.ch_names) if self.rows is not None and mark.ch_names else []
            spans.append((mark.onset, mark.stop, which))
        paint_few(painter, scale, height, spans, self.rows, shade, self.theme.colour("human", 0.9), dashed=True)
