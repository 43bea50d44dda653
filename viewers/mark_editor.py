"""Marks under the mouse: choosing one at its edge, dragging its ends, and the outline of the one that is chosen."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from PyQt6.QtCore import QObject, QPointF, QRectF, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QFontMetricsF, QMouseEvent, QPainter, QPen

from analysis.annotation import Annotation
from analysis.marks import source_of
from viewers.labels import is_same
from viewers.mark_words import exact_time, name_of, tip_of
from viewers.overlays.annotations import COLOURS
from viewers.pointer_tool import PointerTool
from viewers.theme import font, px
from viewers.trace_canvas import TraceCanvas

Part = Literal["start", "end", "whole"]

_NEAR_PX = 5.0
_GRAB_PX = 7.0
_STILL_PX = 3.0  # less is a hand that trembles
_KNOB = 4.5
_GRIP = (26.0, 11.0)
_ROOM_FOR_GRIP = 60.0
_MOST_LOOKED_AT = 300
_LEAST_DECIMALS = 3


@dataclass
class _Drag:
    mark: Annotation
    part: Part
    pressed: QPointF
    grabbed: float  # time under the mouse when it was pressed
    onset: float
    stop: float
    has_moved: bool = False


def _nothing(_start: float, _stop: float) -> Sequence[Annotation]:
    return ()


class MarkEditor(QObject, PointerTool):
    """Chooses marks and moves their ends; what a gesture means for the book is for its owner to do.

    `marks_within(start, stop)` gives the marks that are drawn between two times in seconds.
    """

    chosen = pyqtSignal(object)  # Annotation that was clicked at an edge
    selected_changed = pyqtSignal(object)  # Annotation or None
    moved = pyqtSignal(object, float, float)  # Annotation, new onset and end in seconds
    edit_requested = pyqtSignal(object)  # Annotation

    def __init__(self, canvas: TraceCanvas, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._canvas = canvas
        self._drag: _Drag | None = None
        self._is_hidden = False
        self._duration = 0.0
        self._start: datetime | None = None
        self.marks_within: Callable[[float, float], Sequence[Annotation]] = _nothing
        canvas.add_tool(self)

    # What is chosen

    @property
    def selected(self) -> Annotation | None:
        """The mark that is drawn with handles."""
        return self._canvas.current

    def set_facts(self, duration: float, start: datetime | None) -> None:
        """Take the length in seconds and the start of a recording, and let go of what was chosen."""
        self._duration, self._start = duration, start
        self._drag = None
        self.select(None)

    def select(self, mark: Annotation | None) -> None:
        """Draw a mark, or none, as the chosen one."""
        if mark is not self._canvas.current:
            self._canvas.current = mark
            self._canvas.repaint_all()
            self.selected_changed.emit(mark)

    def set_hidden(self, hidden: bool) -> None:
        """Draw nothing for a look at the bare traces."""
        self._is_hidden = hidden

    def cancel(self) -> bool:
        """Let a drag go without effect; whether there was one."""
        had_one, self._drag = self._drag is not None, None
        self._canvas.repaint_all()
        return had_one

    # The mouse

    def press(self, event: QMouseEvent) -> bool:
        """Take hold of an end of the chosen mark, or with Alt or at its grip of the whole of it."""
        at = event.position()
        if event.button() != Qt.MouseButton.LeftButton:
            return False
        mark, part = self.selected, self._part_at(at)
        if part is None and event.modifiers() & Qt.KeyboardModifier.AltModifier:
            mark, part = self._body_at(at), "whole"
        if mark is None or part is None:
            return False
        self.select(mark)
        self._drag = _Drag(mark, part, at, self._canvas.scale_px.time(at.x()), mark.onset, mark.stop)
        return True

    def move(self, event: QMouseEvent) -> None:
        """Show where the end would be."""
        drag = self._drag
        if drag is None or not (drag.has_moved or abs(event.position().x() - drag.pressed.x()) > _STILL_PX):
            return
        drag.has_moved = True
        scale, mark = self._canvas.scale_px, drag.mark
        time = min(max(scale.time(event.position().x()), scale.window.start), scale.window.stop)
        if drag.part == "whole":
            shift = min(max(time - drag.grabbed, -mark.onset), max(0.0, self._duration - mark.stop))
            drag.onset = self.rounded(mark.onset + shift)
            drag.stop = drag.onset + mark.duration
        elif drag.part == "start":
            drag.onset = self.rounded(min(max(time, 0.0), mark.stop))
        else:
            drag.stop = self.rounded(max(min(time, self._duration), mark.onset))
        self._canvas.repaint_all()

    def release(self, event: QMouseEvent) -> None:
        """Say where the ends are now, if they have moved; else it was a click, which goes on to the next mark there."""
        drag, self._drag = self._drag, None
        self._canvas.repaint_all()
        if drag is not None and not drag.has_moved and len(self._edges_at(drag.pressed)) > 1:
            self.click(drag.pressed)
        if drag is not None and (drag.onset, drag.stop) != (drag.mark.onset, drag.mark.stop):
            self.moved.emit(drag.mark, drag.onset, drag.stop)

    def click(self, at: QPointF) -> bool:
        """Choose the mark whose edge is clicked; clicking again goes on to the next one there."""
        marks = self._edges_at(at)
        if not marks:
            self.select(None)
            return False
        places = [i for i, mark in enumerate(marks) if is_same(mark, self.selected)]
        self.chosen.emit(marks[(places[0] + 1) % len(marks)] if places else marks[0])
        return True

    def double_click(self, event: QMouseEvent) -> bool:
        """Ask to edit the mark whose name or edge is clicked twice."""
        at = event.position()
        label = self._canvas.band.at(at.x(), at.y())
        marks = [label.annotation] if label is not None else self._edges_at(at)
        if event.button() != Qt.MouseButton.LeftButton or not marks:
            return False
        self.edit_requested.emit(next((mark for mark in marks if is_same(mark, self.selected)), marks[0]))
        return True

    def hover(self, at: QPointF) -> Qt.CursorShape | None:
        """Tell by the shape of the mouse what can be dragged and what can be clicked."""
        part = self._part_at(at)
        if part is not None:
            return Qt.CursorShape.SizeAllCursor if part == "whole" else Qt.CursorShape.SizeHorCursor
        return Qt.CursorShape.PointingHandCursor if self._edges_at(at) else None

    def tip(self, at: QPointF) -> str:
        """All that is known of the marks under the mouse."""
        label = self._canvas.band.at(at.x(), at.y())
        if label is not None:
            return tip_of([label.annotation], self._start)
        marks = sorted(self._marks_near(at, _NEAR_PX), key=lambda mark: mark.duration)
        return tip_of(marks, self._start) if marks else ""

    def rounded(self, time: float) -> float:
        """A time as exact as the pixels are, to a millisecond at least, so that files hold no needless digits."""
        per_second = max(1.0, self._canvas.scale_px.px_per_second)
        return round(time, max(_LEAST_DECIMALS, math.ceil(math.log10(per_second))))

    def _part_at(self, at: QPointF) -> Part | None:
        """What of the chosen mark a point takes hold of."""
        mark = self.selected
        if mark is None:
            return None
        bands = self._bands(mark)
        left, right = self._canvas.scale_px.x(mark.onset), self._canvas.scale_px.x(mark.stop)
        if bands and self._has_grip(left, right) and self._grip(left, right, bands[0]).contains(at):
            return "whole"
        if not any(top <= at.y() <= bottom for top, bottom in bands):
            return None
        reach = min(_GRAB_PX, max(2.0, (right - left) / 3)) if right > left else _GRAB_PX
        if right <= left:
            return "whole" if abs(at.x() - left) <= reach else None
        # Inside a mark the ends reach less far than outside of it: a short one keeps room between them.
        near_start = left - _GRAB_PX <= at.x() <= left + reach
        near_end = right - reach <= at.x() <= right + _GRAB_PX
        return "start" if near_start else "end" if near_end else None

    def _bands(self, mark: Annotation) -> list[tuple[float, float]]:
        """Tops and bottoms of what is outlined: the rows of the mark, or all that lies below the names of marks."""
        bands = self._canvas.bands_of(mark.ch_names)
        return bands if mark.ch_names else [(self._canvas.band_height, bands[0][1])]

    def _body_at(self, at: QPointF) -> Annotation | None:
        label = self._canvas.band.at(at.x(), at.y())
        if label is not None:
            return label.annotation
        marks = self._marks_near(at, 0.0)
        chosen = [mark for mark in marks if is_same(mark, self.selected)]
        return chosen[0] if chosen else min(marks, key=lambda mark: mark.duration, default=None)

    def _edges_at(self, at: QPointF) -> list[Annotation]:
        """The marks with an edge near a point, the nearest first, and of equally near ones the shortest."""
        scale = self._canvas.scale_px

        def distance(mark: Annotation) -> float:
            return min(abs(scale.x(mark.onset) - at.x()), abs(scale.x(mark.stop) - at.x()))

        near = [mark for mark in self._marks_near(at, _NEAR_PX) if distance(mark) <= _NEAR_PX]
        return sorted(near, key=lambda mark: (round(distance(mark)), mark.duration))

    def _marks_near(self, at: QPointF, reach: float) -> list[Annotation]:
        scale = self._canvas.scale_px
        marks = self.marks_within(scale.time(at.x() - reach), scale.time(at.x() + max(reach, 0.5)))
        return [
            mark
            for mark in marks[:_MOST_LOOKED_AT]
            if any(top <= at.y() <= bottom for top, bottom in self._canvas.bands_of(mark.ch_names))
        ]

    # What is drawn over everything

    def paint(self, painter: QPainter, height: float) -> None:
        """Draw the chosen mark in front, with its handles, and while it is dragged the times."""
        mark = self.selected
        if mark is None or self._is_hidden:
            return
        drag = self._drag
        onset, stop = (drag.onset, drag.stop) if drag is not None else (mark.onset, mark.stop)
        window = self._canvas.scale_px.window
        if stop < window.start or onset > window.stop:
            return
        colour = self._canvas.theme.colour(COLOURS[source_of(mark)])
        left, right = self._canvas.scale_px.x(onset), self._canvas.scale_px.x(stop)
        bands = self._bands(mark)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for top, bottom in bands:
            self._paint_outline(painter, QRectF(left, top + 1, right - left, bottom - top - 2), colour)
        if bands:
            self._paint_handles(painter, left, right, bands, colour)
        if drag is not None and drag.has_moved:
            self._paint_times(painter, drag, left, right, bands)
        elif not any(is_same(item.label.annotation, mark) for item in self._canvas.band.placed):
            self._paint_pill(painter, name_of(mark), max(0.0, left) + 4, bands, colour)

    def _paint_outline(self, painter: QPainter, area: QRectF, colour: QColor) -> None:
        halo = self._canvas.theme.colour("canvas", 0.8)
        soft = QColor(colour)
        soft.setAlphaF(0.07)
        for pen, brush in ((QPen(halo, 4.0), Qt.BrushStyle.NoBrush), (QPen(colour, 1.8), soft)):
            painter.setPen(pen)
            painter.setBrush(brush)
            painter.drawRect(area)
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _paint_handles(
        self, painter: QPainter, left: float, right: float, bands: Sequence[tuple[float, float]], colour: QColor
    ) -> None:
        painter.setPen(QPen(self._canvas.theme.colour("canvas"), 1.5))
        painter.setBrush(colour)
        for top, bottom in bands if len(bands) <= 3 else (bands[0], bands[-1]):
            for x in {left, right}:
                painter.drawEllipse(QPointF(x, (top + bottom) / 2), _KNOB, _KNOB)
        if self._has_grip(left, right):
            grip = self._grip(left, right, bands[0])
            painter.drawRoundedRect(grip, 4, 4)
            painter.setPen(QPen(self._canvas.theme.colour("canvas"), 1.2))
            for dx in (-4.0, 0.0, 4.0):
                x = grip.center().x() + dx
                painter.drawLine(QPointF(x, grip.top() + 3), QPointF(x, grip.bottom() - 3))
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _has_grip(self, left: float, right: float) -> bool:
        width = self._canvas.width()
        return min(right, width) - max(left, 0.0) >= _ROOM_FOR_GRIP

    def _grip(self, left: float, right: float, band: tuple[float, float]) -> QRectF:
        """Where the whole mark is taken hold of: at the top of its first row, in the middle of what is on the page."""
        middle = (max(left, 0.0) + min(right, float(self._canvas.width()))) / 2
        return QRectF(middle - _GRIP[0] / 2, band[0], *_GRIP)

    def _paint_times(
        self, painter: QPainter, drag: _Drag, left: float, right: float, bands: Sequence[tuple[float, float]]
    ) -> None:
        """Write where the end that is dragged would be, and how long the mark would be then."""
        time, x = (drag.stop, right) if drag.part == "end" else (drag.onset, left)
        length = f"  ·  {drag.stop - drag.onset:.3f} s" if drag.stop > drag.onset else ""
        room = 8.0 if drag.part != "start" else -8.0
        self._paint_pill(painter, exact_time(time) + length, x + room, bands, None, leftwards=drag.part == "start")

    def _paint_pill(
        self,
        painter: QPainter,
        text: str,
        x: float,
        bands: Sequence[tuple[float, float]],
        colour: QColor | None,
        leftwards: bool = False,
    ) -> None:
        """Write something above the first row of a mark, at x or to the left of it."""
        theme = self._canvas.theme
        painter.setFont(font(11, bold=True))
        wide, high = QFontMetricsF(painter.font()).horizontalAdvance(text) + px(12), px(18)
        least = self._canvas.band_height
        top = min(max(least, bands[0][0] - high - 3), self._canvas.height() - high) if bands else least
        left = min(max(0.0, x - wide if leftwards else x), self._canvas.width() - wide)
        pill = QRectF(left, top, wide, high)
        painter.setPen(QPen(theme.colour("border"), 1))
        painter.setBrush(theme.colour("field"))
        painter.drawRoundedRect(pill, 4, 4)
        painter.setPen(colour or theme.colour("text"))
        painter.drawText(pill, Qt.AlignmentFlag.AlignCenter, text)
        painter.setBrush(Qt.BrushStyle.NoBrush)
