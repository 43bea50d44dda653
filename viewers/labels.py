"""Names of marks in the band above the traces: each where its mark begins, none over another, the rest counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from PyQt6.QtCore import QRectF, Qt
from PyQt6.QtGui import QFont, QFontMetricsF, QPainter

from analysis.annotation import Annotation
from viewers.overlays.base import Label
from viewers.theme import Theme, font, px
from viewers.time_scale import TimeScale

LINES = 2
LINE_HEIGHT = 17.0
_FONT_SIZE = 11
_MAX_TEXT = 280.0
_PADDING = 4.0
_REST_WIDTH = 74.0
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


def place_labels(
    labels: Sequence[Label], scale: TimeScale, text_width: Callable[[str], float], more: int = 0
) -> tuple[list[PlacedLabel], int]:
    """Put labels, in order of time, on the first line that has room; returns them and how many found none.

    What begins before the page stands at its left edge. When not all fit, the end of the last line is kept free for
    their number. `more` labels are missing from the list already.
    """
    placed, left_out = _fill(labels, scale, text_width, scale.width)
    if left_out + more:
        placed, left_out = _fill(labels, scale, text_width, scale.width - px(_REST_WIDTH))
    return placed, left_out + more


def _fill(
    labels: Sequence[Label], scale: TimeScale, text_width: Callable[[str], float], last_width: float
) -> tuple[list[PlacedLabel], int]:
    ends = [0.0] * LINES
    placed: list[PlacedLabel] = []
    left_out = 0
    for label in sorted(labels, key=lambda item: item.time):
        width = min(text_width(label.text), px(_MAX_TEXT)) + 2 * _PADDING
        wanted = max(0.0, scale.x(label.time) + 1)
        for line in range(LINES):
            limit = last_width if line == LINES - 1 else scale.width
            x = min(wanted, limit - width)
            if x >= ends[line] and x >= 0:
                rect = QRectF(x, px(3 + line * LINE_HEIGHT), width, px(LINE_HEIGHT) - 1)
                placed.append(PlacedLabel(label, label.text, rect))
                ends[line] = x + width + 3
                break
        else:
            left_out += 1
    return placed, left_out


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
        self.placed: list[PlacedLabel] = []
        self.left_out = 0

    def set_labels(self, labels: Sequence[Label], more: int, scale: TimeScale) -> None:
        """Lay out the labels of a page."""
        key = font(_FONT_SIZE, bold=True).key()
        self.placed, self.left_out = place_labels(labels, scale, lambda text: _width(text, key), more)

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
        if self.left_out:
            self._paint_rest(painter, theme, width)

    def _paint_rest(self, painter: QPainter, theme: Theme, width: float) -> None:
        painter.setFont(font(_FONT_SIZE, bold=True))
        top, wide = px(3 + (LINES - 1) * LINE_HEIGHT), px(_REST_WIDTH)
        rect = QRectF(width - wide, top, wide - 4, px(LINE_HEIGHT) - 1)
        painter.fillRect(rect, theme.colour("canvas", _GROUND))
        painter.setPen(theme.colour("muted"))
        words = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(rect, words, f"+{self.left_out:,} more")
