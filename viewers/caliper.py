"""The caliper: time, frequency and amplitude between two places of a trace, and of the selected span."""

from __future__ import annotations

from PyQt6.QtCore import QLineF, QObject, QPointF, QRectF, Qt, pyqtSignal
from PyQt6.QtGui import QFontMetricsF, QMouseEvent, QPainter, QPen

from analysis.measuring import (
    CaliperReading,
    duration_text,
    frequency_text,
    read_caliper,
    snap_to_peak,
    trace_text,
)
from viewers.pointer_tool import PointerTool
from viewers.theme import font, px
from viewers.trace_canvas import TraceCanvas

_STILL_PX = 4.0  # less is a click
_GRAB_PX = 6.0
_SNAP_PX = 14.0
_LEAST_REACH = 16.0
_LABEL_FONT = 11
_INK = "caution"  # what the reader may move
FILTERED, UNFILTERED = "as filtered on screen", "overview, unfiltered"
_LONG = "from the reach of each pixel"


class Caliper(QObject, PointerTool):
    """Measures between two ends of one row: dragged with the right button, or with the left while it is `armed`.

    It stays until it is cleared, also while pages turn. Shift lets an end snap to the peak nearby; an end that is
    there can be taken hold of again. What it reads are the values that are drawn.
    """

    measured = pyqtSignal(object)  # CaliperReading, or None when it is cleared

    def __init__(self, canvas: TraceCanvas, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._canvas = canvas
        self._row = ""
        self._ends: tuple[float, float] | None = None
        self._pressed: tuple[QPointF, float, str] | None = None  # where, the other end, its row
        self._is_dragged = False
        self.armed = False
        self.reading: CaliperReading | None = None
        canvas.add_tool(self)

    # What is measured

    def arm(self, armed: bool) -> None:
        """Let the left button measure in place of selecting."""
        self.armed = armed

    def clear(self) -> bool:
        """Take the caliper away; whether there was one."""
        had_one = self._ends is not None
        self._ends = self._pressed = self.reading = None
        self._row = ""
        if had_one:
            self.measured.emit(None)
            self._canvas.repaint_all()
        return had_one

    def place(self, row: str, start: float, stop: float) -> None:
        """Measure a row of the montage from one time to another, in seconds."""
        self._row, self._ends, self.reading = row, (start, stop), None
        self.measure_again()

    def place_end(self, time: float, y: float) -> None:
        """Put the first end at a place; where there is only a first one, the second, on the same row."""
        rows = self._canvas.rows
        row = rows.nearest(y) if rows is not None else None
        if rows is None or row is None:
            return
        if self._ends is not None and self._ends[0] == self._ends[1] and self._row in rows.names:
            self.place(self._row, self._ends[0], time)
        else:
            self.place(rows.names[row], time, time)

    def forget_values(self) -> None:
        """Montage or filters have changed: nothing that was read holds any more."""
        if self._ends is not None:
            self.reading = None
            self._canvas.repaint_all()

    def measure_again(self) -> None:
        """Read the page that is drawn now, where it holds both ends; elsewhere what was read stays."""
        page, rows = self._canvas.picture.page, self._canvas.rows
        if self._ends is None or page is None or rows is None:
            return
        early, late = sorted(self._ends)
        covered = page.complete and page.window.start - 1e-6 <= early and late <= page.window.stop + 1e-6
        if self._row in rows.names and self._canvas.page_fits(page) and covered:
            row = rows.index(self._row)
            reading = read_caliper(page, row, rows.units[row], *self._ends)
            if reading != self.reading:
                self.reading = reading
                self.measured.emit(reading)
        self._canvas.repaint_all()

    def source_text(self) -> str:
        """What the values are: those that are drawn, or of a page from the overview."""
        page = self._canvas.picture.page
        if self.reading is None or page is None:
            return ""
        if not self.reading.filtered:
            return UNFILTERED
        return FILTERED if page.data.shape[0] else f"{FILTERED}, {_LONG}"

    # The mouse

    def press(self, event: QMouseEvent) -> bool:
        """Take hold of an end, or begin a new measure on the row under the mouse."""
        left, right = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton
        rows = self._canvas.rows
        if rows is None or not (event.button() == right or (event.button() == left and self.armed)):
            return False
        at = event.position()
        other = self._other_end(at)
        row = rows.nearest(at.y())
        if other is not None:
            self._pressed, self._is_dragged = (at, other, self._row), True
            return True
        if row is None:
            return False
        self._pressed, self._is_dragged = (at, self._time_at(event, rows.names[row]), rows.names[row]), False
        return True

    def move(self, event: QMouseEvent) -> None:
        """Follow the mouse with the end that is held."""
        if self._pressed is None:
            return
        at, other, row = self._pressed
        if abs(event.position().x() - at.x()) > _STILL_PX:
            self._is_dragged = True
        if self._is_dragged:
            self.place(row, other, self._time_at(event, row))

    def release(self, event: QMouseEvent) -> None:
        """Leave the ends where they are."""
        self._pressed = None

    def hover(self, at: QPointF) -> Qt.CursorShape | None:
        """Show that an end can be moved."""
        return Qt.CursorShape.SizeHorCursor if self.armed and self._other_end(at) is not None else None

    def _other_end(self, at: QPointF) -> float | None:
        """The end that stays when the one under the mouse is moved; None where there is none."""
        rows = self._canvas.rows
        if self._ends is None or rows is None or self._row not in rows.names:
            return None
        top, bottom = self._reach(rows.index(self._row))
        if not top - _GRAB_PX <= at.y() <= bottom + _GRAB_PX:
            return None
        gaps = [abs(self._canvas.scale_px.x(end) - at.x()) for end in self._ends]
        if min(gaps) > _GRAB_PX:
            return None
        return self._ends[1 - gaps.index(min(gaps))]

    def _time_at(self, event: QMouseEvent, row: str) -> float:
        scale, rows, page = self._canvas.scale_px, self._canvas.rows, self._canvas.picture.page
        time = min(max(scale.time(event.position().x()), scale.window.start), scale.window.stop)
        snap = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if snap and rows is not None and page is not None and row in rows.names and self._canvas.page_fits(page):
            return snap_to_peak(page, rows.index(row), time, _SNAP_PX / scale.px_per_second)
        return time

    # Painting

    def paint(self, painter: QPainter, height: float) -> None:
        """Draw the ends, the peaks between them and what was read; at a selection, how long it is."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_selection_length(painter, height)
        rows = self._canvas.rows
        if self._ends is not None and rows is not None and self._row in rows.names:
            self._paint_caliper(painter, rows.index(self._row))
        painter.restore()

    def _reach(self, row: int) -> tuple[float, float]:
        """From where to where the ends are drawn: a little beyond the trace, and never less than can be grabbed."""
        rows = self._canvas.rows
        assert rows is not None
        middle = float(rows.centre[row])
        ends = [middle - _LEAST_REACH, middle + _LEAST_REACH]
        if self.reading is not None and self.reading.peak_to_peak == self.reading.peak_to_peak:
            ends += [rows.y(row, self.reading.low), rows.y(row, self.reading.high)]
        return max(2.0, min(ends) - 8), min(self._canvas.height() - 2.0, max(ends) + 8)

    def _paint_caliper(self, painter: QPainter, row: int) -> None:
        assert self._ends is not None
        scale, ink = self._canvas.scale_px, self._canvas.theme.colour(_INK)
        left, right = sorted(scale.x(end) for end in self._ends)
        if right < 0 or left > scale.width:
            return
        top, bottom = self._reach(row)
        painter.fillRect(QRectF(left, top, right - left, bottom - top), self._canvas.theme.colour(_INK, 0.08))
        painter.setPen(QPen(ink, 1.2))
        for x in (left, right):
            painter.drawLine(QLineF(x, top, x, bottom))
        painter.drawLine(QLineF(left, bottom, right, bottom))
        self._paint_peaks(painter, row, left, right)
        self._paint_label(painter, left, right, top, bottom)

    def _paint_peaks(self, painter: QPainter, row: int, left: float, right: float) -> None:
        reading, rows, scale = self.reading, self._canvas.rows, self._canvas.scale_px
        if reading is None or rows is None or reading.peak_to_peak != reading.peak_to_peak:
            return
        dotted = QPen(self._canvas.theme.colour(_INK, 0.8), 1, Qt.PenStyle.DotLine)
        for time, value in ((reading.low_time, reading.low), (reading.high_time, reading.high)):
            y = rows.y(row, value)
            painter.setPen(dotted)
            painter.drawLine(QLineF(left, y, right, y))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._canvas.theme.colour(_INK))
            painter.drawEllipse(QPointF(scale.x(time), y), 2.6, 2.6)
            painter.setBrush(Qt.BrushStyle.NoBrush)

    def _lines(self) -> list[tuple[str, str]]:
        """Words of the label and their colours."""
        assert self._ends is not None
        duration = abs(self._ends[1] - self._ends[0])
        lines = [(_length_text(duration), "text")]
        reading = self.reading
        if reading is None:
            return [*lines, (f"{self._row}: turn to where both ends are", "muted")]
        amounts = f"p-p {trace_text(reading.peak_to_peak, reading.unit)}"
        if reading.difference == reading.difference:
            amounts += f"   ΔV {trace_text(reading.difference, reading.unit, sign=True)}"
        lost = [(reading.lost_text(), _INK)] if reading.lost else []
        return [*lines, *lost, (amounts, "text"), (f"{reading.row}, {self.source_text()}", "muted")]

    def _paint_label(self, painter: QPainter, left: float, right: float, top: float, bottom: float) -> None:
        lines = self._lines()
        painter.setFont(font(_LABEL_FONT))
        metrics = QFontMetricsF(painter.font())
        pitch = metrics.height()
        width = max(metrics.horizontalAdvance(text) for text, _ in lines) + px(14)
        box = _beside(self._canvas, left, right, top, bottom, width, pitch * len(lines) + px(8))
        _paint_ground(painter, self._canvas, box)
        for number, (text, colour) in enumerate(lines):
            painter.setPen(self._canvas.theme.colour(colour))
            line = QRectF(box.left() + px(7), box.top() + px(4) + number * pitch, width, pitch)
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_selection_length(self, painter: QPainter, height: float) -> None:
        selection, scale = self._canvas.selection, self._canvas.scale_px
        if selection is None or selection.duration <= 0:
            return
        left, right = scale.x(selection.start), scale.x(selection.stop)
        if right < 0 or left > scale.width:
            return
        text = _length_text(selection.duration)
        painter.setFont(font(_LABEL_FONT))
        metrics = QFontMetricsF(painter.font())
        width = metrics.horizontalAdvance(text) + px(12)
        x = min(max(2.0, (max(left, 0.0) + min(right, scale.width) - width) / 2), scale.width - width - 2)
        box = QRectF(x, height - px(46), width, metrics.height() + px(3))
        _paint_ground(painter, self._canvas, box)
        painter.setPen(self._canvas.theme.colour("text"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)


def _length_text(seconds: float) -> str:
    return f"Δt {duration_text(seconds)}   {frequency_text(1 / seconds if seconds > 0 else float('inf'))}"


def _beside(
    canvas: TraceCanvas, left: float, right: float, top: float, bottom: float, width: float, height: float
) -> QRectF:
    """Room for a label right of a span, else left of it, else over it; always within the canvas."""
    x = right + 8
    if x + width > canvas.width() - 2:
        x = left - 8 - width
    x = min(max(2.0, x), max(2.0, canvas.width() - width - 2))
    y = min(max(2.0, (top + bottom - height) / 2), max(2.0, canvas.height() - height - 2))
    return QRectF(x, y, width, height)


def _paint_ground(painter: QPainter, canvas: TraceCanvas, box: QRectF) -> None:
    painter.setPen(QPen(canvas.theme.colour("border"), 1))
    painter.setBrush(canvas.theme.colour("canvas", 0.93))
    painter.drawRoundedRect(box, 4, 4)
    painter.setBrush(Qt.BrushStyle.NoBrush)
