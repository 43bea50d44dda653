"""Marks of files and readers, and what was decided on those of models: edges, a soft shade, a name above the traces.

Whose a mark is shows in colour, line and name: files and other people dashed and near-black, the reader at this window
dash-dotted and green, a model solid and violet. What was rejected is dotted and faint, and its name is struck.
"""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import islice

import numpy as np
from PyQt6.QtCore import QRectF
from PyQt6.QtGui import QPainter

from analysis.annotation import Annotation
from analysis.annotation_index import AnnotationIndex
from analysis.marks import SOURCES, Marks, Source, source_of
from analysis.recording import Page, Window
from viewers.mark_rows import MarkRows
from viewers.mark_words import name_of
from viewers.overlays.base import Label, OverlayState, PaintedItem, PaintedOverlay, Plot
from viewers.overlays.marks import (
    DASHED,
    DASHED_AND_DOTTED,
    DOTTED,
    MANY,
    Stroke,
    bands_of,
    paint_brackets,
    paint_few,
    paint_many,
)
from viewers.rows import Rows
from viewers.time_scale import TimeScale

COLOURS: dict[Source, str] = {"file": "human", "model": "accent", "reader": "reader"}
_PATTERNS = {"file": DASHED, "model": (), "reader": DASHED_AND_DOTTED}
_SHADES = {"file": 0.10, "model": 0.16, "reader": 0.16}
_LOCAL_SHADE = 0.4  # of marks of single rows, which are small
_MOST_LABELS = 60
_MOST_APART = 4000  # on one page; more are no longer told apart by row and state, only by who made them
_NOT_HERE = " [not in this montage]"


class AnnotationsOverlay(PaintedOverlay):
    """Draws every mark of the book."""

    title = "Annotations"
    draws = Marks
    place = "behind"

    def __init__(self) -> None:
        super().__init__()
        self._marks = Marks()
        self._seizures = AnnotationIndex()
        self._mark_rows: MarkRows | None = None
        self._front: PaintedItem | None = None

    def attach(self, plot: Plot) -> None:
        """Create an item behind the traces, and one for what must not be hidden by them."""
        super().attach(plot)
        self._front = PaintedItem(self._paint_front)
        self._front.setVisible(self.is_shown)
        plot.add_overlay_item(self._front, "front")

    def detach(self) -> None:
        """Remove both."""
        if self._plot is not None and self._front is not None:
            self._plot.remove_overlay_item(self._front)
        self._front = None
        super().detach()

    def set_state(self, state: OverlayState) -> None:
        """Show, hide or fade."""
        super().set_state(state)
        if self._front is not None:
            self._front.setVisible(self.is_shown)

    def set_hidden(self, hidden: bool) -> None:
        """Vanish, or come back as the state says."""
        super().set_hidden(hidden)
        if self._front is not None:
            self._front.setVisible(self.is_shown)

    def set_result(self, result: Marks | None) -> None:
        """Take the marks; a seizure is shaded from beginning to end, also where two marks tell of it."""
        marks = result if result is not None else Marks()
        if marks.seizures is not self._marks.seizures:
            self._seizures = AnnotationIndex([Annotation(a, z - a, "sz") for a, z in marks.seizures])
        self._marks = marks
        self.update()

    def events_at(self, time: float) -> list[Annotation]:
        """Marks, and seizures of which two marks tell the ends."""
        told = self._seizures.within(time, math.nextafter(time, math.inf))
        return [*super().events_at(time), *(self._seizures.items[i] for i in told if self.state.visible)]

    def show_page(self, page: Page, rows: Rows) -> None:
        """Follow the rows."""
        if self._mark_rows is None or self._mark_rows.montage is not rows.montage:
            self._mark_rows = MarkRows(rows.montage)
        super().show_page(page, rows)

    def labels(self, window: Window) -> tuple[list[Label], int]:
        """Names of the marks on the page; from a dense page the first ones."""
        if not self.state.visible:
            return [], 0
        index = self._marks.index
        found = index.within(window.start, window.stop)
        marks = [index.items[i] for i in found[:_MOST_LABELS]]
        if found.size > _MOST_LABELS:  # those of the file, of which there may be thousands, after all others
            marks = self._first_marks(window)
        return [self._label(mark) for mark in marks], max(0, found.size - _MOST_LABELS)

    def _first_marks(self, window: Window) -> list[Annotation]:
        """As many marks of a dense page as are named: the reader's, then of models, then of the file."""
        sources = (self._marks.of_source(source) for source in ("reader", "model", "file"))
        marks = (index.items[i] for index in sources for i in index.within(window.start, window.stop).tolist())
        return list(islice(marks, _MOST_LABELS))

    def _label(self, mark: Annotation) -> Label:
        missing = _NOT_HERE if self._rows_of(mark) is None else ""
        return Label(mark.onset, name_of(mark) + missing, COLOURS[source_of(mark)], mark)

    def marks_within(self, start: float, stop: float) -> list[Annotation]:
        """The marks that overlap a span, or are moments in it."""
        if not self.state.visible:
            return []
        return [self._marks.items[i] for i in self._marks.index.within(start, stop)]

    def describe(self, time: float, ch_name: str) -> str:
        """The marks at a time."""
        return ", ".join(mark.title for mark in self.marks_within(time, float(np.nextafter(time, np.inf)))[:3])

    def paint(self, painter: QPainter, scale: TimeScale, height: float) -> None:
        """Draw what lies on the page."""
        self._paint_told_seizures(painter, scale, height)
        found = self._marks.index.within(scale.window.start, scale.window.stop)
        if found.size > _MOST_APART:
            self._paint_by_source(painter, scale, height)
        elif found.size:
            self._paint_apart(painter, scale, height, found)

    def _paint_told_seizures(self, painter: QPainter, scale: TimeScale, height: float) -> None:
        shade = self.theme.colour("human", _SHADES["file"] * self.state.opacity)
        for i in self._seizures.within(scale.window.start, scale.window.stop):
            if not _is_marked(self._marks.index, self._seizures.items[i]):
                left, right = scale.x(self._seizures.onset[i]), scale.x(self._seizures.stop[i])
                painter.fillRect(QRectF(left, 0, right - left, height), shade)

    def _paint_by_source(self, painter: QPainter, scale: TimeScale, height: float) -> None:
        for source in SOURCES:
            index = self._marks.of_source(source)
            found = index.within(scale.window.start, scale.window.stop)
            if found.size:
                onset, stop = index.onset[found], index.stop[found]
                paint_many(painter, scale, onset, stop, [(0.0, height)], self._stroke(source, False, 0.45))

    def _paint_front(self, painter: QPainter, scale: TimeScale, height: float) -> None:
        """Point at the marks of single rows, which traces would hide."""
        found = self._marks.index.within(scale.window.start, scale.window.stop)
        if not 0 < found.size <= MANY:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        halo = self.theme.colour("canvas", 0.8)
        for (source, rejected, rows), members in self._groups(found).items():
            if rows:
                onset, stop = self._marks.index.onset[members].tolist(), self._marks.index.stop[members].tolist()
                spans = list(zip(onset, stop, strict=True))
                bands, stroke = bands_of(self.rows, rows, height), self._stroke(source, rejected, 1)
                paint_brackets(painter, scale, spans, bands, stroke, halo)

    def _groups(self, found: np.ndarray) -> dict[tuple[Source, bool, tuple[int, ...]], list[int]]:
        """Numbers of the marks that look the same: by whose they are, whether they were rejected, and their rows."""
        groups: dict[tuple[Source, bool, tuple[int, ...]], list[int]] = defaultdict(list)
        for i in found.tolist():
            mark = self._marks.items[i]
            rows = self._rows_of(mark)
            if rows is not None:
                groups[source_of(mark), mark.review.decision == "rejected", rows].append(i)
        return groups

    def _paint_apart(self, painter: QPainter, scale: TimeScale, height: float, found: np.ndarray) -> None:
        """Draw each mark on its own rows, those that look the same together."""
        for (source, rejected, rows), members in self._groups(found).items():
            bands = bands_of(self.rows, rows, height)
            onset, stop = self._marks.index.onset[members], self._marks.index.stop[members]
            if found.size > MANY:
                paint_many(painter, scale, onset, stop, bands, self._stroke(source, rejected, 0.45))
            else:
                spans = list(zip(onset.tolist(), stop.tolist(), strict=True))
                paint_few(painter, scale, spans, bands, self._stroke(source, rejected, 0.9, bool(rows)), ends=True)

    def _stroke(self, source: Source, rejected: bool, strength: float, is_local: bool = False) -> Stroke:
        colour = COLOURS[source]
        if rejected:
            return Stroke(self.theme.colour(colour, 0.0), self.theme.colour(colour, 0.5 * strength), DOTTED)
        shade = self.theme.colour(colour, (_LOCAL_SHADE if is_local else _SHADES[source]) * self.state.opacity)
        return Stroke(shade, self.theme.colour(colour, strength), _PATTERNS[source])

    def _rows_of(self, mark: Annotation) -> tuple[int, ...] | None:
        """Rows of a mark in this montage; empty for all of them, None where it has none of the mark's channels."""
        if not mark.ch_names or self._mark_rows is None:
            return ()
        return self._mark_rows.of(mark.ch_names) or None


def _is_marked(index: AnnotationIndex, span: Annotation) -> bool:
    """Whether a mark of just this span is shaded already."""
    found = index.within(span.onset, span.stop)
    return bool(((index.onset[found] == span.onset) & (index.stop[found] == span.stop)).any())
