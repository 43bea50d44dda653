"""Makes figures of analyses fit narrow paper: smaller letters, broken titles, and no labels that meet."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from analysis.figures.style import MAY_GO, MM, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.text import Text

_NARROW, _WIDE, _LEAST = 85.0, 180.0, 0.65  # millimetres, and the share of the usual size of letters on narrow paper
_AIR_MM = 1.5  # between texts beside each other
_TALLER = 1.1  # than its axes the name of a vertical axis may be
_WIDER = 1.08  # letters may be at another resolution than the one that they were measured at
_FEW_TICKS = 3
_SHORTEST = 8  # letters of a line
_ROUNDS = 3  # broken lines change the layout, and that what has room and which numbers stand at axes


def letter_share(width_mm: float) -> float:
    """How large letters are on paper of a width, 1 on two columns of a journal."""
    return float(np.interp(width_mm, (_NARROW, _WIDE), (_LEAST, 1.0)))


def fit(figure: Figure) -> None:
    """Break titles and names of axes that reach beyond their room, and thin out tick labels that meet."""
    if (over := figure._suptitle) is not None:  # type: ignore[attr-defined]
        lines = [wrapped(line, over.get_fontsize(), figure.bbox.width / figure.dpi * MM) for line in _lines(over)]
        over.set_text("\n".join(line for some in lines for line in some))
    for number in range(_ROUNDS):
        figure.draw_without_rendering()
        changed = thin(figure.axes)
        broken = [_fit_words(figure, ax) for ax in figure.axes]
        if number and not changed and not any(broken):
            break
    else:
        figure.draw_without_rendering()
        if thin(figure.axes):
            figure.draw_without_rendering()
    if drop_cut(figure.axes):
        figure.draw_without_rendering()


def _fit_words(figure: Figure, ax: Axes) -> bool:
    """Titles begin where their axes do and end before the next axes do; names of axes stay half a gap away from it.

    Whether anything was broken.
    """
    box, air = ax.get_window_extent(), _AIR_MM / MM * figure.dpi
    beside = [other.get_window_extent() for other in figure.axes if _is_beside(other, ax)]
    right = min([b.x0 for b in beside if b.x0 >= box.x1], default=figure.bbox.x1)
    left = max([b.x1 for b in beside if b.x1 <= box.x0], default=figure.bbox.x0)
    titles = [(title, title.get_window_extent()) for title in (ax.title, ax._left_title, ax._right_title)]  # type: ignore[attr-defined]
    broken = [_break(title, size.width, right - air - size.x0) for title, size in titles]
    middle = (box.x0 + box.x1) / 2
    ends = [(box.x1 + right) / 2 if right < figure.bbox.x1 else right, (box.x0 + left) / 2 if left > 0 else left]
    across, upright = ax.xaxis.label, ax.yaxis.label
    broken.append(_break(across, across.get_window_extent().width, 2 * min(abs(e - middle) for e in ends) - air))
    broken.append(_break(upright, upright.get_window_extent().height, box.height * _TALLER))
    return any(broken)


def _is_beside(other: Axes, ax: Axes) -> bool:
    """Whether axes, not a bar of colours, share some height with others."""
    if other is ax or other.get_label() == "<colorbar>":
        return False
    a, b = other.get_window_extent(), ax.get_window_extent()
    return bool(min(a.y1, b.y1) > max(a.y0, b.y0))


def _lines(text: Text) -> list[str]:
    return text.get_text().split("\n")


def thin(axes: Sequence[Axes]) -> bool:
    """Leave tick labels out that meet, of axes that have been laid out; whether there were any."""
    changed = [(_thin(ax.xaxis, 0), _thin(ax.yaxis, 1), _thin_marks(ax)) for ax in axes]
    return any(any(each) for each in changed)


def drop_cut(axes: Sequence[Axes]) -> bool:
    """Leave numbers out that reach beyond the sides of the paper, of axes that have been laid out; whether any did."""
    return any([_drop_cut(ax) for ax in axes])  # noqa: C419 - all of them, not those before the first


def _drop_cut(ax: Axes) -> bool:
    from matplotlib.ticker import FixedLocator

    labels, paper = _shown(ax.xaxis), ax.get_figure(root=True).bbox  # type: ignore[union-attr]
    kept = [paper.x0 <= box.x0 and box.x1 <= paper.x1 for box in (label.get_window_extent() for label in labels)]
    if all(kept) or isinstance(ax.xaxis.get_major_locator(), FixedLocator):
        return False
    low, high = sorted(ax.get_xlim())
    places = [place for place in ax.xaxis.get_majorticklocs() if low <= place <= high]
    ax.set_xticks([place for place, keep in zip(places, kept, strict=False) if keep])
    return True


def _thin_marks(ax: Axes) -> bool:
    """Hide texts that may go, such as names of electrodes, where they meet one that stays; whether any was."""
    kept: list[np.ndarray] = []
    marks = [text for text in ax.texts if text.get_gid() == MAY_GO]
    before = [text.get_visible() for text in marks]
    for text in marks:
        text.set_visible(True)  # what is hidden has no corners
        corners = text_corners(text)
        text.set_visible(all(overlap(corners, other) <= 0 for other in kept))
        kept += [corners] if text.get_visible() else []
    return before != [text.get_visible() for text in marks]


def copy_words(source: Axes, target: Axes) -> None:
    """Give axes the broken titles and names of others that show the same."""
    names = ("title", "_left_title", "_right_title")
    for mine, other in [(getattr(target, n), getattr(source, n)) for n in names]:
        mine.set_text(other.get_text())
    target.xaxis.label.set_text(source.xaxis.label.get_text())
    target.yaxis.label.set_text(source.yaxis.label.get_text())


def _break(text: Text, length: float, room: float) -> bool:
    """Break lines at blanks where they are longer than there is room, both in pixels; whether that changed any."""
    words = text.get_text()
    if not words or length <= room or room <= 0:
        return False
    longest = max(len(line) for line in _lines(text))
    letters = max(_SHORTEST, int(longest * room / length))
    text.set_text("\n".join(part for line in _lines(text) for part in wrap(line, letters, break_long_words=False)))
    return bool(text.get_text() != words)


def _shown(axis: Axis) -> list[Text]:
    low, high = sorted(axis.get_view_interval())
    ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    labels = [label for tick in ticks for label in (tick.label1, tick.label2)]
    return [label for label in labels if label.get_visible() and label.get_text()]


def _meet(labels: Sequence[Text]) -> bool:
    if all(label.get_rotation() % 90 == 0 for label in labels):  # upright boxes tell, and are quicker
        boxes = [label.get_window_extent().expanded(_WIDER, 1.0) for label in labels]
        return any(a.overlaps(b) for a, b in pairwise(boxes))
    corners = [text_corners(label) for label in labels]
    return any(overlap(a, b) > 0 for a, b in pairwise(corners))


def text_corners(text: Text) -> np.ndarray:
    """The corners (4, 2) of the rectangle that a text takes, turned as it is, in pixels."""
    turn = text.get_rotation()
    around = text.get_window_extent()
    text.set_rotation(0.0)
    flat = text.get_window_extent()
    text.set_rotation(turn)
    half = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * (flat.width / 2, flat.height / 2)
    c, s = np.cos(np.deg2rad(turn)), np.sin(np.deg2rad(turn))
    middle = np.array([around.x0 + around.x1, around.y0 + around.y1]) / 2
    return np.asarray(half @ np.array([[c, s], [-s, c]]) + middle)


def overlap(first: np.ndarray, second: np.ndarray) -> float:
    """How far two rectangles (4, 2) reach into each other, by the axis on which that is least; negative if apart."""
    depth = np.inf
    for corners in (first, second):
        for side in (corners[1] - corners[0], corners[3] - corners[0]):
            length = float(np.hypot(*side))
            if length == 0:
                return -np.inf
            a, b = first @ side / length, second @ side / length
            depth = min(depth, min(a.max(), b.max()) - max(a.min(), b.min()))
    return float(depth)


def _thin(axis: Axis, which: int) -> bool:
    """Fewer numbers, or only every second or third name; whether any met."""
    from matplotlib.ticker import FixedLocator, MaxNLocator

    labels = _shown(axis)
    if not _meet(labels):
        return False
    if isinstance(axis.get_major_locator(), FixedLocator):
        ticks = axis.get_major_ticks()
        step = next((step for step in range(2, len(labels)) if not _meet(labels[::step])), len(labels))
        words = [tick.label1.get_text() or tick.label2.get_text() for tick in ticks]
        place, kept = [tick.get_loc() for tick in ticks], [i for i, word in enumerate(words) if word][::step]
        axis.set_ticks(place, [word if i in kept else "" for i, word in enumerate(words)])
    elif isinstance(axis.get_major_locator(), MaxNLocator) and len(labels) <= _FEW_TICKS + 1:
        low, high = sorted(axis.get_view_interval())
        places = [place for place in axis.get_majorticklocs() if low <= place <= high]
        ends = [] if _meet([labels[0], labels[-1]]) else [places[0], places[-1]]
        axis.set_ticks(ends or [max(places, key=abs)])
    elif isinstance(axis.get_major_locator(), MaxNLocator):
        axis.axes.locator_params(axis="y" if which else "x", nbins=_FEW_TICKS)
    return True
