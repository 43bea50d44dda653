"""The column left of the traces: names in the colour of their side, a quality strip, and what is wrong with a row."""

from __future__ import annotations

import math

from PyQt6.QtCore import QEvent, QRectF, Qt
from PyQt6.QtGui import QFontMetricsF, QHelpEvent, QPainter, QPaintEvent, QPixmap, QResizeEvent
from PyQt6.QtWidgets import QToolTip, QWidget

from viewers.rows import Rows, unit_text
from viewers.theme import LIGHT, Theme, font

LEFT, STRIP_ROOM = 10, 20
MIN_WIDTH, MAX_WIDTH = 108, 168
_NAME_SIZE, _SMALL_SIZE, _NOTE_SIZE = 11, 9, 9
_TWO_LINES = 22.0
_STRIP_WIDTH = 6.0
_HOLLOW = frozenset({"no signal"})


def gutter_width(names: list[str]) -> int:
    """Room for the longest name and the strip."""
    metrics = QFontMetricsF(font(_NAME_SIZE))
    longest = max((metrics.horizontalAdvance(name) for name in names), default=0.0)
    return int(min(MAX_WIDTH, max(MIN_WIDTH, LEFT + longest + STRIP_ROOM + 8)))


class Gutter(QWidget):
    """Painted once per change of rows, states or colours; a page turn costs a blit."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: Rows | None = None
        self._names: tuple[str, ...] = ()
        self._states: tuple[str, ...] = ()
        self._theme = LIGHT
        self._pixmap: QPixmap | None = None
        self._hovered: int | None = None
        self.setFixedWidth(MIN_WIDTH)
        self.setMouseTracking(True)

    def set_rows(self, rows: Rows, names: tuple[str, ...] | None = None) -> None:
        """Show these rows, under other `names` where the page shows something else than its montage says."""
        names = rows.names if names is None else names
        if len(self._states) != len(rows):
            self._states = ("",) * len(rows)
        same = self._rows is not None and names == self._names and rows.looks_like(self._rows)
        self._rows, self._names = rows, names
        if not same:
            self._redraw()

    def set_states(self, states: tuple[str, ...]) -> None:
        """Say what is wrong with each row; "" for nothing."""
        if states != self._states:
            self._states = states
            self._redraw()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self._theme = theme
        self._redraw()

    def set_hovered(self, row: int | None) -> None:
        """Point out the row under the cursor."""
        if row != self._hovered:
            self._hovered = row
            self.update()

    @property
    def states(self) -> tuple[str, ...]:
        """What is said of each row."""
        return self._states

    def _redraw(self) -> None:
        self._pixmap = None
        self.update()

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """A new size needs a new picture."""
        self._redraw()

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Blit the picture."""
        ratio = self.devicePixelRatioF()
        if self._pixmap is None or self._pixmap.devicePixelRatio() != ratio:
            self._pixmap = QPixmap(self.size() * ratio)
            self._pixmap.setDevicePixelRatio(ratio)
            self._pixmap.fill(self._theme.colour("canvas"))
            painter = QPainter(self._pixmap)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._draw(painter)
            painter.end()
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._pixmap)
        if self._hovered is not None and self._rows is not None and self._hovered < len(self._rows):
            top, bottom = self._rows.band(self._hovered)
            painter.fillRect(QRectF(2, top + 2, 3, max(2.0, bottom - top - 4)), self._theme.colour("muted", 0.55))

    def _draw(self, painter: QPainter) -> None:
        if self._rows is None:
            return
        rows = self._rows
        size = _NAME_SIZE if rows.pitch >= 12 else _SMALL_SIZE
        # Where names would overlap, every second, third, … is written, and each that has something to say.
        every = max(1, math.ceil((size + 1) / rows.pitch))
        free_from = 0.0
        for i in range(len(rows)):
            top, bottom = rows.band(i)
            self._draw_strip(painter, i, top, bottom)
            middle = (top + bottom) / 2
            if (i % every == 0 or self._states[i]) and middle - size / 2 >= free_from - 0.5:
                self._draw_name(painter, i, top, bottom, size)
                free_from = middle + size / 2

    def _draw_strip(self, painter: QPainter, i: int, top: float, bottom: float) -> None:
        height = min(22.0, (bottom - top) - (2 if bottom - top > 8 else 0.5))
        rect = QRectF(self.width() - STRIP_ROOM + 6, (top + bottom - height) / 2, _STRIP_WIDTH, height)
        state = self._states[i]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour("caution" if state and state not in _HOLLOW else "strip"))
        if state in _HOLLOW:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(self._theme.colour("caution"))
        painter.drawRoundedRect(rect, 2, 2)

    def _draw_name(self, painter: QPainter, i: int, top: float, bottom: float, size: int) -> None:
        rows = self._rows
        assert rows is not None
        note = self._states[i] or rows.notes[i]
        room = self.width() - LEFT - STRIP_ROOM
        below = bool(note) and bottom - top >= _TWO_LINES
        middle = (top + bottom) / 2
        name_font, note_font = font(size), font(_NOTE_SIZE)
        metrics, small = QFontMetricsF(name_font), QFontMetricsF(note_font)
        painter.setFont(name_font)
        painter.setPen(self._theme.colour(rows.sides[i]))
        line = QRectF(LEFT, middle - 9 - (6 if below else 0), room, 18)
        name = metrics.elidedText(self._names[i], Qt.TextElideMode.ElideRight, room)
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, name)
        if not note:
            return
        painter.setFont(note_font)
        painter.setPen(self._theme.colour("caution" if self._states[i] else "muted"))
        if below:
            rect = QRectF(LEFT, middle, room, 14)
        else:
            used = metrics.horizontalAdvance(name) + 5
            rect = QRectF(LEFT + used, middle - 8, room - used, 17)
        text = small.elidedText(note, Qt.TextElideMode.ElideRight, rect.width())
        # A fault is told even in part; half a scale would mislead.
        if text == note or (self._states[i] and len(text) > 3):
            painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, text)

    def event(self, event: QEvent | None) -> bool:
        """Tell on hovering what the file says of the channel."""
        if event is not None and event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            row = self._rows.row_at(event.position().y()) if self._rows is not None else None
            QToolTip.showText(event.globalPos(), self.tool_tip(row) if row is not None else "", self)
            return True
        return super().event(event)

    def tool_tip(self, row: int) -> str:
        """Name, the file's own label, rate, unit and pre-filter of a row's channel, and what is wrong with it."""
        assert self._rows is not None
        lines = [self._rows.names[row]]
        channel = self._rows.channel(row)
        if channel is not None:
            lines.append(f"label in the file: {channel.original_name}")
            lines.append(f"{channel.type}, {channel.sfreq:g} Hz, {unit_text(channel.unit) or 'no unit'}")
            if channel.prefilter:
                lines.append(f"recorded through: {channel.prefilter}")
        if self._states[row]:
            lines.append(self._states[row])
        return "\n".join(lines)
