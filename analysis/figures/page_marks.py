"""Marks of people and models on a page for print: spans, onsets, and names above the traces that never overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import TYPE_CHECKING

from analysis.annotation import Annotation
from analysis.figures.page_layout import FOOT_POINTS, NAME_MM
from analysis.figures.style import INK, VIOLET, text_mm
from analysis.recording import Window

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINES, _LENGTH = 4, 32
_AIR = 3.0  # mm after a name; pixels make letters a little wider


@dataclass(frozen=True)
class PlacedName:
    """The name of a mark, which line it stands on, 0 on top, and where it begins in seconds."""

    mark: Annotation
    text: str
    line: int
    start: float


def _shown(marks: Sequence[Annotation], window: Window) -> list[Annotation]:
    shown = [mark for mark in marks if mark.onset < window.stop and mark.stop >= window.start]
    return sorted(shown, key=lambda mark: mark.onset)


def place_names(marks: Sequence[Annotation], window: Window, width: float) -> list[PlacedName]:
    """Places on traces of `width` millimetres, never past their edge; marks without a free line have no name."""
    speed = width / window.duration
    free = [window.start] * _LINES
    placed = []
    for mark in _shown(marks, window):
        text = shorten(mark.title or "mark", _LENGTH, placeholder="…")
        length = (text_mm(text, FOOT_POINTS) + _AIR) / speed
        start = max(window.start, min(max(mark.onset, window.start), window.stop - length))
        line = next((i for i, at in enumerate(free) if at <= start), None)
        if line is not None:
            free[line] = start + length
            placed.append(PlacedName(mark, text, line, start))
    return placed


def draw_marks(ax: Axes, marks: Sequence[Annotation], window: Window) -> None:
    """Spans shaded, onsets as lines; what a model says in violet."""
    for mark in _shown(marks, window):
        colour = VIOLET if mark.is_model else INK
        start, stop = max(mark.onset, window.start), min(mark.stop, window.stop)
        if stop > start:
            ax.axvspan(start, stop, color=colour, alpha=0.08, linewidth=0, zorder=0.4)
        if mark.onset >= window.start:
            ax.axvline(mark.onset, color=colour, linewidth=0.5, linestyle="-" if mark.is_model else (0, (4, 2)))


def draw_names(ax: Axes, names: Sequence[PlacedName], room: float, window: Window) -> None:
    """The names of marks above the traces."""
    for name in names:
        ax.text(
            name.start + 0.004 * window.duration, room - 0.6 - name.line * NAME_MM, name.text, fontsize=FOOT_POINTS,
            color=VIOLET if name.mark.is_model else INK, va="top", clip_on=True,
            bbox={"facecolor": "white", "alpha": 0.85, "linewidth": 0, "pad": 0.6},
        )  # fmt: skip
