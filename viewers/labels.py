"""Names of marks in the band above the traces: each where its mark begins, none over another, the rest counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from PyQt6.QtCore import QRectF, Qt
from PyQt6.QtGui import QFont, QFontMetricsF, QPainter

from analysis.annotation import Annotation
from analysis.marks import source_of
from analysis.seizure_marks import tells_of_seizure
from viewers.overlays.base import Label
from viewers.theme import Theme, font, px
from viewers.time_scale import TimeScale

LINES = 2
LINE_HEIGHT = 17.0
_FONT_SIZE = 11
_MAX_TEXT = 280.0
_PADDING = 4.0
_REST_WIDTH = 74.0
_LEAST_TEXT = 60.0  # a name is not cut shorter than this
_NEAR = 140.0  # how far from where it begins a name is counted that has no room
_BETWEEN = 3.0
_NUMBERS = 4  # what names without a word weigh
_FAINT = 0.55  # of the names of what was rejected
_GROUND = 0.75  # names are read on it, and peaks of the first row are still seen through it


def band_height() -> float:
    """Room that the names need above the first row, in logical pixels."""
    return px(LINES * LINE_HEIGHT + 6)


@dataclass(frozen=True)
class PlacedLabel:
    """A label and where it stands, in logical pixels."""

    label: Label
    text: str
    rect: QRectF


@dataclass(frozen=True)
class PlacedCount:
    """How many names found no room near here."""

    count: int
    rect: QRectF


@dataclass
class Names:
    """Where the names of a page stand, and the numbers of those without room; `rest` of them are told at its end."""

    placed: list[PlacedLabel] = field(default_factory=list)
    counts: list[PlacedCount] = field(default_factory=list)
    rest: int = 0

    @property
    def left_out(self) -> int:
        """How many names have no room."""
        return self.rest + sum(item.count for item in self.counts)


def weight(label: Label) -> int:
    """Which names come first where not all have room: the reader's, models', of seizures and types, words, numbers."""
    mark = label.annotation
    source = source_of(mark)
    if source != "file":
        return 0 if source == "reader" else 1
    if mark.review.tag or tells_of_seizure(mark):
        return 2
    return _NUMBERS - 1 if any(map(str.isalpha, mark.description)) else _NUMBERS


def place_labels(labels: Sequence[Label], scale: TimeScale, text_width: Callable[[str], float], more: int = 0) -> Names:
    """Put the labels that weigh most on the first line that has room, and shorten others that almost fit.

    What begins before the page stands at its left edge. Those without room are counted near where they begin, or else
    at the end of the last line, which is kept free for that. `more` labels are missing from the list already.
    """
    wishes = sorted((_wish(label, scale, text_width) for label in labels), key=lambda wish: (wish[0], wish[1].time))
    found = Names(rest=1) if more else _fill(wishes, scale.width, scale.width, text_width)
    if found.rest:
        found = _fill(wishes, scale.width, scale.width - px(_REST_WIDTH), text_width)
    found.rest += more
    return found


# What a label weighs, the label, where it begins, its width, and the least one that it can be cut to, in pixels.
_Wish = tuple[int, Label, float, float, float]


def _wish(label: Label, scale: TimeScale, text_width: Callable[[str], float]) -> _Wish:
    heavy, width = weight(label), min(text_width(label.text), px(_MAX_TEXT)) + 2 * _PADDING
    least = width if heavy == _NUMBERS else px(_LEAST_TEXT)  # half a number says nothing
    return heavy, label, max(0.0, scale.x(label.time) + 1), width, least


class _Lines:
    """The spans that are taken of each line, in pixels."""

    def __init__(self, widths: Sequence[float]) -> None:
        self._widths = widths
        self._taken: list[list[tuple[float, float]]] = [[] for _ in widths]

    def room(self, line: int, x: float) -> float:
        """How far a line is free from x on; below zero where something stands there."""
        ends = [self._widths[line]]
        for left, right in self._taken[line]:
            if left - _BETWEEN <= x < right + _BETWEEN:
                return -1.0
            if left > x:
                ends.append(left - _BETWEEN)
        return min(ends) - x

    def width(self, line: int) -> float:
        """How long a line is."""
        return self._widths[line]

    def next_free(self, line: int, x: float) -> float:
        """The first place from x on where nothing stands."""
        for left, right in sorted(self._taken[line]):
            if left - _BETWEEN <= x < right + _BETWEEN:
                x = right + _BETWEEN
        return x

    def take(self, line: int, x: float, width: float) -> QRectF:
        """Put something there; returns where it stands."""
        self._taken[line].append((x, x + width))
        return QRectF(x, px(3 + line * LINE_HEIGHT), width, px(LINE_HEIGHT) - 1)


def _fill(wishes: Sequence[_Wish], first_width: float, last_width: float, text_width: Callable[[str], float]) -> Names:
    lines = _Lines([first_width] * (LINES - 1) + [last_width])
    names = Names()
    without: list[float] = []
    for _weight, label, wanted, width, least in wishes:
        rect = _place(lines, wanted, width, least)
        if rect is None:
            without.append(wanted)
        else:
            names.placed.append(PlacedLabel(label, label.text, rect))
    names.placed.sort(key=lambda item: item.label.time)
    _count(names, lines, without, text_width("+00") + 2 * _PADDING)
    return names


def _place(lines: _Lines, wanted: float, width: float, least: float) -> QRectF | None:
    """Put a name where it begins, before that at the right edge, or cut to the room there is, but not below `least`."""
    longest, best = least, -1
    for line in range(LINES):
        x = min(wanted, lines.width(line) - width)
        room = lines.room(line, x) if x >= 0 else -1.0
        if room >= width:
            return lines.take(line, x, width)
        if x == wanted and room >= longest:
            longest, best = room, line
    return lines.take(best, wanted, longest) if best >= 0 else None


def _count(names: Names, lines: _Lines, places: Sequence[float], width: float) -> None:
    """Count the names that begin at `places` beside the names that are in their way."""
    reach = px(_NEAR)
    for wanted in sorted(places):
        last = names.counts[-1] if names.counts else None
        if last is not None and wanted <= last.rect.left() <= wanted + reach:
            names.counts[-1] = PlacedCount(last.count + 1, last.rect)
            continue
        free = [(lines.next_free(line, wanted), -line) for line in range(LINES)]
        fitting = [(x, line) for x, line in free if x <= wanted + reach and lines.room(-line, x) >= width]
        if fitting:
            x, line = min(fitting)
            names.counts.append(PlacedCount(1, lines.take(-line, x, width)))
        else:
            names.rest += 1


def is_same(mark: object, other: object) -> bool:
    """Whether two annotations are one mark, as it was and as it is, or one event that nobody has decided on."""
    if not isinstance(mark, Annotation) or not isinstance(other, Annotation):
        return False
    return mark is other or (mark.id == other.id if mark.id or other.id else mark == other)


@lru_cache(maxsize=4096)  # measuring sixty names takes longer than laying them out
def _width(text: str, _font_key: str) -> float:
    return QFontMetricsF(font(_FONT_SIZE, bold=True)).horizontalAdvance(text)


class LabelBand:
    """Lays the labels of a page out and paints them; remembers where they are for the mouse."""

    def __init__(self) -> None:
        self.names = Names()

    def set_labels(self, labels: Sequence[Label], more: int, scale: TimeScale) -> None:
        """Lay out the labels of a page."""
        key = font(_FONT_SIZE, bold=True).key()
        self.names = place_labels(labels, scale, lambda text: _width(text, key), more)

    @property
    def placed(self) -> list[PlacedLabel]:
        """The names that are written."""
        return self.names.placed

    def at(self, x: float, y: float) -> Label | None:
        """The label under a point."""
        return next((item.label for item in self.placed if item.rect.contains(x, y)), None)

    def paint(self, painter: QPainter, theme: Theme, width: float, current: object = None) -> None:
        """Draw all labels and the number of the others; what was rejected is struck."""
        usual = font(_FONT_SIZE, bold=True)
        struck = QFont(usual)
        struck.setStrikeOut(True)
        metrics = QFontMetricsF(usual)
        for item in self.placed:
            mark = item.label.annotation
            chosen, rejected = is_same(mark, current), mark.review.decision == "rejected"
            painter.setPen(theme.colour(item.label.colour) if chosen else Qt.PenStyle.NoPen)
            painter.setBrush(theme.colour("accent_soft") if chosen else theme.colour("canvas", _GROUND))
            painter.drawRoundedRect(item.rect.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
            painter.setFont(struck if rejected else usual)
            painter.setPen(theme.colour(item.label.colour, _FAINT if rejected and not chosen else 1.0))
            inner = item.rect.adjusted(_PADDING, 0, -_PADDING + 1, 0)
            text = metrics.elidedText(item.text, Qt.TextElideMode.ElideRight, inner.width())
            painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter, text)
        top, wide = px(3 + (LINES - 1) * LINE_HEIGHT), px(_REST_WIDTH)
        for item in self.names.counts:
            self._paint_count(painter, theme, item.rect, f"+{item.count}", Qt.AlignmentFlag.AlignCenter)
        if self.names.rest:
            rect = QRectF(width - wide, top, wide - 4, px(LINE_HEIGHT) - 1)
            self._paint_count(painter, theme, rect, f"+{self.names.rest:,} more", Qt.AlignmentFlag.AlignRight)

    @staticmethod
    def _paint_count(painter: QPainter, theme: Theme, rect: QRectF, text: str, side: Qt.AlignmentFlag) -> None:
        painter.setFont(font(_FONT_SIZE, bold=True))
        painter.fillRect(rect, theme.colour("canvas", _GROUND))
        painter.setPen(theme.colour("muted"))
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | side, text)
