"""Makes figures of analyses fit narrow paper: smaller letters, broken titles, and no labels that meet."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from analysis.figures.style import MM, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.text import Text

_NARROW, _WIDE, _LEAST = 85.0, 180.0, 0.65  # millimetres, and the share of the usual size of letters on narrow paper
_AIR = 1.05
_FEW_TICKS = 3
_SHORTEST = 8  # letters of a line


def letter_share(width_mm: float) -> float:
    """How large letters are on paper of a width, 1 on two columns of a journal."""
    return float(np.interp(width_mm, (_NARROW, _WIDE), (_LEAST, 1.0)))


def fit(figure: Figure) -> None:
    """Break titles and names of axes that are longer than their axes, and thin out tick labels that meet."""
    figure.draw_without_rendering()
    for ax in figure.axes:
        box = ax.get_window_extent()
        room = max(box.width, _column(figure, ax))
        for title in (ax.title, ax._left_title, ax._right_title):  # type: ignore[attr-defined]
            _break(title, title.get_window_extent().width, room)
        _break(ax.xaxis.label, ax.xaxis.label.get_window_extent().width, room)
        _break(ax.yaxis.label, ax.yaxis.label.get_window_extent().height, box.height * _AIR)
    if (over := figure._suptitle) is not None:  # type: ignore[attr-defined]
        lines = [wrapped(line, over.get_fontsize(), figure.bbox.width / figure.dpi * MM) for line in _lines(over)]
        over.set_text("\n".join(line for some in lines for line in some))
    figure.draw_without_rendering()
    thin(figure.axes)


def _lines(text: Text) -> list[str]:
    return text.get_text().split("\n")


def thin(axes: Sequence[Axes]) -> None:
    """Leave tick labels out that meet, of axes that have been laid out."""
    for ax in axes:
        _thin(ax.xaxis, 0)
        _thin(ax.yaxis, 1)


def copy_words(source: Axes, target: Axes) -> None:
    """Give axes the broken titles and names of others that show the same."""
    names = ("title", "_left_title", "_right_title")
    for mine, other in [(getattr(target, n), getattr(source, n)) for n in names]:
        mine.set_text(other.get_text())
    target.xaxis.label.set_text(source.xaxis.label.get_text())
    target.yaxis.label.set_text(source.yaxis.label.get_text())


def _column(figure: Figure, ax: Axes) -> float:
    """Width of the column of the grid that axes stand in, pixels; 0 for axes in none."""
    spec = ax.get_subplotspec()
    if spec is None:
        return 0.0
    columns = spec.get_gridspec().ncols
    span = len(spec.colspan)
    return 0.92 * figure.bbox.width * span / columns if hasattr(ax, "get_subplotspec") else 0.0


def _break(text: Text, length: float, room: float) -> None:
    words = text.get_text()
    if words and "\n" not in words and length > room:
        letters = max(_SHORTEST, int(len(words) * room / length))
        text.set_text("\n".join(wrap(words, letters, break_long_words=False)))


def _shown(axis: Axis) -> list[Text]:
    low, high = sorted(axis.get_view_interval())
    ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    labels = [label for tick in ticks for label in (tick.label1, tick.label2)]
    return [label for label in labels if label.get_visible() and label.get_text()]


def _meet(labels: Sequence[Text]) -> bool:
    boxes = [label.get_window_extent() for label in labels]
    return any(a.overlaps(b) for a, b in pairwise(boxes))


def _thin(axis: Axis, which: int) -> None:
    """Fewer numbers, or only every second or third name."""
    from matplotlib.ticker import FixedFormatter, MaxNLocator

    labels = _shown(axis)
    if not _meet(labels):
        return
    if isinstance(axis.get_major_formatter(), FixedFormatter):
        ticks = axis.get_major_ticks()
        step = next((step for step in (2, 3, 4) if not _meet(labels[::step])), 6)
        words = [tick.label1.get_text() or tick.label2.get_text() for tick in ticks]
        axis.set_ticks([tick.get_loc() for tick in ticks], [w if i % step == 0 else "" for i, w in enumerate(words)])
    elif isinstance(axis.get_major_locator(), MaxNLocator):
        axis.axes.locator_params(axis="y" if which else "x", nbins=_FEW_TICKS)
