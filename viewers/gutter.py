"""The column left of the traces: names in the colour of their side, a quality strip, and what is wrong with a row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from PyQt6.QtCore import QEvent, QPointF, QRectF, Qt, pyqtSignal
from PyQt6.QtGui import (
    QContextMenuEvent,
    QFontMetricsF,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
    QWheelEvent,
)
from PyQt6.QtWidgets import QToolTip, QWidget

from analysis.channel_kinds import kind_of
from analysis.filtering import FilterBank
from viewers.glyphs import paint_focus
from viewers.heat_scales import HeatScale, tint
from viewers.page_state import CUT_OFF
from viewers.rows import Rows, electrodes, unit_text
from viewers.theme import LIGHT, Theme, font, px

LEFT, STRIP_ROOM = 10, 20
MIN_WIDTH, MAX_WIDTH = 108, 168
_NAME_SIZE, _SMALL_SIZE, _NOTE_SIZE, _TINY_SIZE = 11, 9, 9, 8
_TWO_LINES, _TIGHT_LINES = 22.0, 18.0
_GAP = 5.0
_LEAST_NAME = 20.0
_FOCUS = 4.5
_STRIP_WIDTH = 6.0
_VALUES_WIDTH = 13.0
_HOLLOW = frozenset({"no signal"})
_NOTCH = 120


def gutter_width(names: list[str]) -> int:
    """Room for the longest name and the strip."""
    metrics = QFontMetricsF(font(_NAME_SIZE))
    longest = max((metrics.horizontalAdvance(name) for name in names), default=0.0)
    return int(min(px(MAX_WIDTH), max(px(MIN_WIDTH), LEFT + longest + STRIP_ROOM + 8)))


@dataclass(frozen=True, eq=False)
class GutterStrip:
    """One value for each row (rows,), NaN for none, as a colour beside its name; `quantity` is what a value is."""

    values: np.ndarray
    scale: HeatScale
    quantity: str


@dataclass(frozen=True)
class RowText:
    """What is written at a row: its name and a note, in logical pixels; an empty note is not drawn."""

    name: str
    name_rect: QRectF
    name_size: int
    note: str = ""
    note_rect: QRectF = field(default_factory=QRectF)
    note_size: int = _NOTE_SIZE


class Gutter(QWidget):
    """Painted once per change of rows, states or colours; a page turn costs a blit.

    The wheel over a name makes its row taller or flatter, with Ctrl (or a double click) as tall as the page's again; a
    click chooses the row that keys act on. All of it is a wish that the owner answers.
    """

    row_stepped = pyqtSignal(int, int)  # row, steps; positive makes it taller
    row_reset = pyqtSignal(int)
    row_chosen = pyqtSignal(object)  # row, or None when it is let go
    menu_requested = pyqtSignal(int, object)  # row, QPoint on the screen

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: Rows | None = None
        self._names: tuple[str, ...] = ()
        self._states: tuple[str, ...] = ()
        self._theme = LIGHT
        self._pixmap: QPixmap | None = None
        self._hovered: int | None = None
        self._chosen: int | None = None
        self._filters: FilterBank | None = None
        self._strips: Mapping[str, GutterStrip] = {}
        self._focus, self._focus_words = "", ""
        self._stepped_by = 0.0
        self.setFixedWidth(MIN_WIDTH)
        self.setMouseTracking(True)
        self.setAccessibleName("Rows")

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

    def set_filters(self, filters: FilterBank) -> None:
        """Take what the rows are drawn through, which their tool tips tell beside what they were recorded through."""
        self._filters = filters

    def set_strips(self, strips: Mapping[str, GutterStrip]) -> None:
        """Show a value of each row for each overlay that has one, side by side from the right."""
        if strips != self._strips:
            self._strips = dict(strips)
            self._redraw()

    def set_focus(self, channel: str, words: str) -> None:
        """Mark the rows of a channel where a simulated seizure begins, which `words` tell; empty: none."""
        if (channel, words) != (self._focus, self._focus_words):
            self._focus, self._focus_words = channel, words
            self._redraw()

    def rows_of_focus(self) -> list[int]:
        """The rows that are marked as those of the focus."""
        if not self._focus or self._rows is None:
            return []
        derivations = self._rows.montage.derivations
        return [i for i, row in enumerate(derivations) if self._focus in electrodes(row)]

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self._theme = theme
        self._redraw()

    def set_hovered(self, row: int | None) -> None:
        """Point out the row under the cursor."""
        if row != self._hovered:
            self._hovered = row
            self.update()

    def set_chosen(self, row: int | None) -> None:
        """Frame the row that keys act on."""
        if row != self._chosen:
            self._chosen = row
            self.update()

    @property
    def chosen(self) -> int | None:
        """The row that keys act on."""
        return self._chosen

    @property
    def hovered(self) -> int | None:
        """The row under the cursor, here or on the traces."""
        return self._hovered

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
        if self._chosen is not None and self._rows is not None and self._chosen < len(self._rows):
            top, bottom = self._rows.band(self._chosen)
            painter.setPen(QPen(self._theme.colour("text"), 1))
            painter.drawRect(
                QRectF(3.5, round(top) + 0.5, self.width() - STRIP_ROOM, max(3.0, round(bottom - top) - 1))
            )

    def _draw(self, painter: QPainter) -> None:
        if self._rows is None:
            return
        rows = self._rows
        size = px(_NAME_SIZE if rows.pitch >= px(12) else _SMALL_SIZE)
        # Where names would overlap, every second, third, … is written, and each that has something to say.
        every = max(1, math.ceil((size + 1) / rows.pitch))
        free_from = 0.0
        for i in range(len(rows)):
            top, bottom = rows.band(i)
            middle = (top + bottom) / 2
            named = bool(i % every == 0 or self._states[i] or rows.notes[i]) and middle - size / 2 >= free_from - 0.5
            layout = self.layout_of(i) if named else None
            self._draw_strip(painter, i, top, bottom, told=layout is not None and bool(layout.note))
            if layout is not None:
                self._draw_name(painter, i, layout)
                free_from = middle + size / 2
        for i in self.rows_of_focus():
            paint_focus(painter, QPointF(LEFT / 2, sum(rows.band(i)) / 2), _FOCUS, self._theme)

    def _draw_strip(self, painter: QPainter, i: int, top: float, bottom: float, told: bool) -> None:
        assert self._rows is not None
        height = min(22.0, (bottom - top) - (2 if bottom - top > 8 else 0.5))
        rect = QRectF(self.width() - STRIP_ROOM + 6, (top + bottom - height) / 2, _STRIP_WIDTH, height)
        state = self._states[i]
        if not state and self._draw_values(painter, i, top, bottom):
            return
        # A scale of its own that finds no room to be written is at least pointed out; the tool tip tells it.
        usual = "muted" if self._rows.notes[i] and not told else "strip"
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour("caution" if state and state not in _HOLLOW else usual))
        if state in _HOLLOW:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(self._theme.colour("caution"))
        painter.drawRoundedRect(rect, 2, 2)

    def _draw_values(self, painter: QPainter, i: int, top: float, bottom: float) -> bool:
        """The values of a row, as wide together as there is room; whether it has any."""
        told = [(strip, float(strip.values[i])) for strip in self._strips.values() if i < len(strip.values)]
        told = [(strip, value) for strip, value in told if math.isfinite(value)]
        width = _VALUES_WIDTH / max(1, len(told))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for place, (strip, value) in enumerate(told):
            left = self.width() - _VALUES_WIDTH - 3 + place * width
            box = QRectF(left, top + 0.5, width - 1, max(1.0, bottom - top - 1))
            painter.fillRect(box, self._theme.colour("canvas"))
            painter.fillRect(box, tint(self._theme, strip.scale, value))
            if bottom - top > 6:
                painter.setPen(QPen(self._theme.colour("border"), 1))
                painter.drawRect(box)
        return bool(told)

    def layout_of(self, row: int) -> RowText:
        """What is written at a row, and where: its fault, or a scale that is not the page's, beside or below its name.

        The scale is never cut: half of one would mislead. Its name gives way to it.
        """
        rows = self._rows
        assert rows is not None
        top, bottom = rows.band(row)
        room = QRectF(LEFT, top, self.width() - LEFT - STRIP_ROOM, bottom - top)
        return _arrange(self._names[row], self._states[row], rows.notes[row], room)

    def _draw_name(self, painter: QPainter, i: int, layout: RowText) -> None:
        rows = self._rows
        assert rows is not None
        for text, rect, size, colour in (
            (layout.name, layout.name_rect, layout.name_size, rows.inks[i]),
            (layout.note, layout.note_rect, layout.note_size, self._note_colour(i, layout.note)),
        ):
            if text:
                painter.setFont(font(size))
                painter.setPen(self._theme.colour(colour))
                painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, text)

    def _note_colour(self, row: int, note: str) -> str:
        # The note may be the scale alone, or a fault that is cut short.
        if self._states[row] and note.startswith(self._states[row][:4]):
            return "caution"
        return "text" if self._rows is not None and self._rows.overridden[row] else "muted"

    def wheelEvent(self, event: QWheelEvent | None) -> None:
        """A notch makes the row under the cursor taller or flatter; with Ctrl it is as the page has it again."""
        if event is None or self._rows is None:
            return
        event.accept()
        row = self._rows.row_at(event.position().y())
        self._stepped_by += event.angleDelta().y() / _NOTCH
        steps = int(self._stepped_by)
        self._stepped_by -= steps
        if row is None or not steps:
            return
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.row_reset.emit(row)
        else:
            self.row_stepped.emit(row, steps)

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Choose the row for the keys, or let it go."""
        if event is not None and event.button() == Qt.MouseButton.LeftButton and self._rows is not None:
            row = self._rows.row_at(event.position().y())
            self.row_chosen.emit(None if row == self._chosen else row)

    def contextMenuEvent(self, event: QContextMenuEvent | None) -> None:
        """Ask for the menu of the row under the cursor, or of the chosen one where a key asks."""
        if event is None or self._rows is None:
            return
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        row = self._chosen if by_key else self._rows.row_at(event.pos().y())
        if row is not None:
            self.menu_requested.emit(row, event.globalPos())

    def mouseDoubleClickEvent(self, event: QMouseEvent | None) -> None:
        """Draw the row as the page has it again."""
        if event is not None and self._rows is not None:
            row = self._rows.row_at(event.position().y())
            if row is not None:
                self.row_reset.emit(row)

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        """Point out the row under the cursor."""
        if event is not None and self._rows is not None:
            self.set_hovered(self._rows.row_at(event.position().y()))

    def leaveEvent(self, event: QEvent | None) -> None:
        """The cursor is gone."""
        self.set_hovered(None)

    def event(self, event: QEvent | None) -> bool:
        """Tell on hovering what the file says of the channel."""
        if event is not None and event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            row = self._rows.row_at(event.pos().y()) if self._rows is not None else None
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
            if self._filters is not None:
                chosen = self._filters.of_kind(kind_of(channel))
                lines.append("drawn unfiltered" if chosen.is_off else f"drawn through: {chosen.describe()}")
        if self._rows.notes[row]:
            what = "a scale given to this row" if self._rows.overridden[row] else "a scale of its own"
            lines.append(f"drawn on {what}: {self._rows.notes[row]}")
        if self._states[row]:
            lines.append(self._states[row])
        for strip in self._strips.values():
            if row < len(strip.values) and math.isfinite(strip.values[row]):
                lines.append(f"{strip.quantity}: {strip.scale.text(float(strip.values[row]))}")
        if row in self.rows_of_focus():
            lines.append(self._focus_words)
        lines.append("wheel: taller or flatter; Ctrl and wheel, or double click: as the page")
        return "\n".join(lines)


def _arrange(name: str, state: str, scale: str, room: QRectF) -> RowText:
    """Two lines where the row is tall enough, else one, with smaller letters and a shorter name as needed."""
    middle, size = room.center().y(), _NAME_SIZE if room.height() >= px(12) else _SMALL_SIZE
    both = f"{state}, {scale}" if state and scale else state or scale
    # Where a trace is cut off is seen on the trace itself, so that the scale goes first.
    first = scale if state == CUT_OFF and scale else state or scale
    for least, name_size, note_size in ((_TWO_LINES, _NAME_SIZE, _NOTE_SIZE), (_TIGHT_LINES, _SMALL_SIZE, _TINY_SIZE)):
        for note in (both, first):
            fits = _width(note, note_size) <= room.width()
            # Letters of one line are larger, so two tight ones are for what one line cannot hold.
            beside = name_size != _NAME_SIZE and _width(name, size) + _GAP + _width(note, _TINY_SIZE) <= room.width()
            if note and room.height() >= px(least) and fits and not beside:
                upper = QRectF(room.left(), middle - px(name_size + 1), room.width(), px(name_size + 2))
                lower = QRectF(
                    room.left(), middle + (0.5 if note_size == _NOTE_SIZE else 0), room.width(), px(note_size + 3)
                )
                return RowText(_elided(name, name_size, room.width()), upper, name_size, note, lower, note_size)
    line = QRectF(room.left(), middle - px(9), room.width(), px(18))
    if not both:
        return RowText(_elided(name, size, room.width()), line, size)
    return _beside(name, first, bool(state) and first is not scale, line, size)


def _beside(name: str, note: str, may_be_cut: bool, line: QRectF, size: int) -> RowText:
    room = line.width()
    full = _width(name, size)
    note_size = next((s for s in (_NOTE_SIZE, _TINY_SIZE) if full + _GAP + _width(note, s) <= room), _TINY_SIZE)
    for_name = max(px(_LEAST_NAME), room - _GAP - _width(note, note_size))
    shown = _elided(name, size, for_name)
    rest = line.adjusted(_width(shown, size) + _GAP, 1, 0, 0)
    told = _elided(note, note_size, rest.width())
    if told != note and not (may_be_cut and len(told) > 3):
        return RowText(_elided(name, size, room), line, size)
    return RowText(shown, line, size, told, rest, note_size)


def _width(text: str, size: int) -> float:
    return QFontMetricsF(font(size)).horizontalAdvance(text)


def _elided(text: str, size: int, room: float) -> str:
    return QFontMetricsF(font(size)).elidedText(text, Qt.TextElideMode.ElideRight, room)
