"""What stands around the traces on a page: the grid of time, holes in the signal, the scale bar and the notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from PyQt6.QtCore import QLineF, QRectF, Qt
from PyQt6.QtGui import QBrush, QFontMetricsF, QPainter, QPen

from viewers.colour_key import ColourKey, key_width, paint_key
from viewers.page_state import Hole
from viewers.rows import Rows, nice_floor
from viewers.theme import Theme, font, px, text_width
from viewers.time_axis import LABEL_PX
from viewers.time_scale import TimeScale

_LINE = 16.0  # of the notes at the foot of the page
_FOOT = 4.0  # above and below them
_SEPARATOR = " · "
_BAR_MAX_PX = 62.0
_BAR_MIN_UV = 1e-3
_BAR_MIN_SECONDS_PX, _BAR_MAX_SECONDS_PX = 20.0, 170.0
_WIDEST_SHARE = 5.0
_LONG_BARS = (2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0, 1800.0, 3600.0, 10_800.0)
_BAR_MARGIN, _BAR_WORDS = 14.0, 40.0
_SMALL = 10
_KEY_GAP = 10.0
_LEFT, _GAP = 6.0, 12.0
_ZOOMS = (1.0, 0.8, 0.66, 0.5)  # of the letters at the foot
_LEAST_LETTERS = 9.0
_FOOT_SHARE = 0.22  # of the page's height


def foot_height(lines: int = 1, zoom: float = 1.0) -> float:
    """Room under the last row for so many lines of notes, in logical pixels."""
    return px(_FOOT + lines * _LINE * zoom)


def foot_lines(parts: Sequence[str], first: float, other: float, size: float = _SMALL) -> list[list[str]]:
    """Parts of a note in lines that fit `first` and then `other` pixels; only what fills a line alone is too long."""
    lines: list[list[str]] = [[]]
    for part in parts:
        room = first if len(lines) == 1 else other
        if lines[-1] and text_width(_SEPARATOR.join([*lines[-1], part]), size) > room:
            lines.append([])
        lines[-1].append(part)
    return lines


def paint_grid(painter: QPainter, scale: TimeScale, height: float, theme: Theme, origin: float) -> None:
    """Lines at the labelled times, and lighter ones at whole seconds (or the next unit) between them."""
    step = scale.step(px(LABEL_PX))
    minor = scale.minor_step(step)
    strong = {round(time / minor) for time in scale.ticks(step, origin)} if minor else set()
    lines: dict[str, list[QLineF]] = {"grid": [], "grid_strong": []}
    for time in scale.ticks(minor, origin):
        x = round(scale.x(time)) + 0.5
        lines["grid_strong" if round(time / minor) in strong else "grid"].append(QLineF(x, 0, x, height))
    for name, found in lines.items():
        painter.setPen(QPen(theme.colour(name), 1))
        painter.drawLines(found)


def paint_holes(
    painter: QPainter, scale: TimeScale, height: float, holes: Sequence[Hole], rows: Rows | None, theme: Theme
) -> None:
    """Hatch the spans without signal and say why there is none."""
    painter.setPen(Qt.PenStyle.NoPen)
    hatch = QBrush(theme.colour("muted", 0.30), Qt.BrushStyle.BDiagPattern)
    for hole in holes:
        left, right = max(0.0, scale.x(hole.start)), min(scale.width, scale.x(hole.stop))
        top, bottom = (0.0, height) if hole.row is None or rows is None else rows.band(hole.row)
        area = QRectF(left, top, max(1.0, right - left), bottom - top)
        if hole.row is None:
            painter.fillRect(area, theme.colour("chrome"))
        painter.fillRect(area, hatch)
        if hole.row is not None:
            continue
        painter.setPen(QPen(theme.colour("muted", 0.6), 1))
        for x in (scale.x(hole.start), scale.x(hole.stop)):
            if 0 <= x <= scale.width:
                painter.drawLine(QLineF(round(x) + 0.5, 0, round(x) + 0.5, height))
        _write_on_hole(painter, QRectF(left, 0, right - left, height), hole.text, theme)
        painter.setPen(Qt.PenStyle.NoPen)


def _write_on_hole(painter: QPainter, area: QRectF, text: str, theme: Theme) -> None:
    painter.setFont(font(11, bold=True))
    width = QFontMetricsF(painter.font()).horizontalAdvance(text) + 16
    if not text or width > area.width() + 30:
        return
    pill = QRectF(area.center().x() - width / 2, area.height() / 2 - px(11), width, px(22))
    painter.setPen(QPen(theme.colour("border"), 1))
    painter.setBrush(theme.colour("canvas", 0.95))
    painter.drawRoundedRect(pill, 4, 4)
    painter.setPen(theme.colour("muted"))
    painter.drawText(pill, Qt.AlignmentFlag.AlignCenter, text)
    painter.setBrush(Qt.BrushStyle.NoBrush)


@dataclass
class Furniture:
    """The scale bar, the note of settings at the lower left, a warning after it, and a message in the middle.

    The note takes as many lines as it needs, beside the scale bar and below: every page tells all of its settings.
    `keys` say what colours behind the traces mean, by the name of what draws them, on lines of their own, which stay
    empty while the page is `bare`. `reserve` are other notes that may take the place of this one, for which there is to
    be room.
    """

    note: str = ""
    warning: str = ""
    message: str = ""
    calibrated: bool = True
    bars: list[tuple[float, float]] = field(default_factory=list)  # (units, seconds) as last painted
    keys: dict[str, ColourKey] = field(default_factory=dict)
    bare: bool = False
    reserve: tuple[tuple[str, str], ...] = ()  # note and warning

    def foot(self, scale: TimeScale, height: float) -> tuple[int, float]:
        """How many lines stand at the foot of a page, and how large their letters are beside the usual ones.

        Where large letters would take more than their share of a small page, they are smaller here.
        """
        notes = ((self.note, self.warning), *self.reserve)
        lines = 0
        for zoom in (zoom for zoom in _ZOOMS if zoom == 1 or px(_SMALL * zoom) >= _LEAST_LETTERS):
            lines = max(len(self._notes(scale, *texts, zoom)) for texts in notes) + len(self._key_lines(scale, zoom))
            if foot_height(lines, zoom) <= _FOOT_SHARE * height:
                return lines, zoom
        return lines, zoom

    def paint(self, painter: QPainter, scale: TimeScale, height: float, rows: Rows | None, theme: Theme) -> None:
        """Draw them over the traces, on a ground that lets traces through."""
        lines, zoom = self.foot(scale, height)
        foot = foot_height(lines, zoom)
        self._paint_notes(painter, scale, height - foot + px(_FOOT) / 2, zoom, theme)
        line = px(_LINE * zoom)
        for i, keys in enumerate([] if self.bare else self._key_lines(scale, zoom)):
            right, top = scale.width - _LEFT, height - (i + 1) * line - px(_FOOT) / 2
            for key in keys:
                right = paint_key(painter, key, right, top, line, theme, zoom) - _KEY_GAP
        if rows is not None and len(rows):
            self._paint_bar(painter, scale, height - foot + 2, rows, theme)
        if self.message:
            _write_on_hole(painter, QRectF(0, 0, scale.width, height), self.message, theme)

    def _key_lines(self, scale: TimeScale, zoom: float) -> list[list[ColourKey]]:
        """Keys in lines that hold them whole, from the foot up; only what fills a line alone may be too long."""
        lines: list[list[ColourKey]] = []
        left = 0.0
        for key in self.keys.values():
            width = key_width(key, zoom) + _KEY_GAP
            if not lines or width > left:
                lines.append([])
                left = scale.width - 2 * _LEFT + _KEY_GAP
            lines[-1].append(key)
            left -= width
        return lines

    def _notes(self, scale: TimeScale, note: str, warning: str, zoom: float) -> list[list[str]]:
        bar = max(bar_seconds(scale) * scale.px_per_second, px(_BAR_WORDS)) + _BAR_MARGIN
        parts = [part for part in (*note.split(_SEPARATOR), warning) if part]
        room = scale.width - _LEFT - _GAP
        return foot_lines(parts, room - bar, room, _SMALL * zoom)

    def _paint_notes(self, painter: QPainter, scale: TimeScale, top: float, zoom: float, theme: Theme) -> None:
        painter.setFont(font(_SMALL * zoom))
        metrics, line = QFontMetricsF(painter.font()), px(_LINE * zoom)
        for number, parts in enumerate(self._notes(scale, self.note, self.warning, zoom)):
            x = _LEFT
            is_warned = bool(self.warning) and parts[-1:] == [self.warning]
            settings = _SEPARATOR.join(parts[:-1] if is_warned else parts)
            for text, colour in ((settings, "muted"), (self.warning if is_warned else "", "caution")):
                if text:
                    text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0.0, scale.width - _GAP - x))
                    rect = QRectF(x, top + number * line, metrics.horizontalAdvance(text) + 2, line)
                    painter.fillRect(rect.adjusted(-3, 0, 3, 0), theme.colour("canvas", 0.8))
                    painter.setPen(theme.colour(colour))
                    painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, text)
                    x = rect.right() + metrics.horizontalAdvance(_SEPARATOR)

    def _paint_bar(self, painter: QPainter, scale: TimeScale, base: float, rows: Rows, theme: Theme) -> None:
        units = nice_floor(max(_BAR_MIN_UV, _BAR_MAX_PX / rows.px_per_mm * rows.uv_per_mm))
        tall = units / rows.uv_per_mm * rows.px_per_mm
        seconds = bar_seconds(scale)
        wide = seconds * scale.px_per_second
        self.bars = [(units, seconds)]
        right = scale.width - _BAR_MARGIN
        painter.setFont(font(_SMALL))
        metrics = QFontMetricsF(painter.font())
        amplitude = f"{units:g} µV" if units < 1000 else f"{units / 1000:g} mV"
        amplitude = f"+↑ {amplitude}" if rows.looks.positive_up else amplitude
        text_width = metrics.horizontalAdvance(amplitude) + 4
        lines = [QLineF(right, base - tall, right, base), QLineF(right - wide, base, right, base)]
        # A halo for the lines and a ground for the words alone: a box would hide the traces in it.
        for colour, width in ((theme.colour("canvas", 0.7), 5.0), (theme.colour("text"), 1.4)):
            painter.setPen(QPen(colour, width))
            painter.drawLines(lines)
        below = _seconds_text(seconds)
        below_width = metrics.horizontalAdvance(below) + 4
        centre = right - max(wide, below_width) / 2
        for text, rect in (
            (amplitude, QRectF(right - text_width - 4, base - tall / 2 - px(7), text_width, px(14))),
            (below, QRectF(centre - below_width / 2, base + 2, below_width, px(14))),
        ):
            painter.fillRect(rect, theme.colour("canvas", 0.7))
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)


def bar_seconds(scale: TimeScale) -> float:
    """How much time the scale bar stands for: a second where it is neither too short nor too long."""
    second = scale.px_per_second
    if _BAR_MIN_SECONDS_PX <= second <= 1.4 * _BAR_MAX_SECONDS_PX:
        return 1.0
    if second > _BAR_MAX_SECONDS_PX:
        return nice_floor(_BAR_MAX_SECONDS_PX / second)
    widest = min(_BAR_MAX_SECONDS_PX, scale.width / _WIDEST_SHARE)
    return max((s for s in _LONG_BARS if s * second <= widest), default=_LONG_BARS[0])


def _seconds_text(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:g} ms"
    if seconds < 60:
        return f"{seconds:g} s"
    return f"{seconds / 60:g} min" if seconds < 3600 else f"{seconds / 3600:g} h"
