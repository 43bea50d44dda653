"""A map of contacts for print: a line for each shaft or strip, several for a grid, contacts in colours of values."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from analysis.contact_layout import NOT_RECORDED, ContactLayout, Slot
from analysis.figures.style import INK, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

_SIGNED, _UNSIGNED = "RdBu_r", "YlOrRd"  # those of the scalp
_APART = 0.25  # lines between blocks
_MOST_LINES = 24  # above which contacts are too small for their numbers


def draw_contacts(ax: Axes, layout: ContactLayout, values: np.ndarray, unit: str, limit: float | None = None) -> None:
    """Draw values (n,) of a layout's contacts; about zero where any is negative, else from zero on.

    `limit` is the end of the colour scale in `unit`, usually the greatest size among the values.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    known = values[np.isfinite(values)]
    is_signed = bool((known < 0).any())
    end = limit or float(np.abs(known).max(initial=0.0)) or 1.0
    colours = ScalarMappable(Normalize(-end if is_signed else 0.0, end), _SIGNED if is_signed else _UNSIGNED)
    lines = [(block.title if i == 0 else "", row) for block in layout.blocks for i, row in enumerate(block.rows())]
    tops = [y - 1 for y in accumulate(1 + _APART * (bool(title) and i > 0) for i, (title, _) in enumerate(lines))]
    for top, (title, row) in zip(tops, lines, strict=True):
        ax.text(-0.25, top + 0.5, title, fontsize=6, fontweight="bold", color=INK, ha="right", va="center")
        for x, slot in enumerate(row):
            _draw_contact(ax, slot, (x, top), values, colours, numbers=len(lines) <= _MOST_LINES)
    ax.set(xlim=(-1.5, max(len(row) for _, row in lines)), ylim=(tops[-1] + 1.1, -0.1), aspect="equal")
    ax.set_axis_off()
    bar = ax.figure.colorbar(colours, ax=ax, orientation="horizontal", shrink=0.6, fraction=0.04, pad=0.02, aspect=40)
    ticks = [-end, 0, end] if is_signed else [0, end]
    bar.set_ticks(ticks, labels=[f"{tick:,.0f}" if abs(tick) >= 100 else f"{tick:.3g}" for tick in ticks], fontsize=6)
    bar.set_label(unit, fontsize=6)


def _draw_contact(
    ax: Axes, slot: Slot, at: tuple[float, float], values: np.ndarray, colours: ScalarMappable, numbers: bool
) -> None:
    """A square in the colour of its value, hollow where there is none, crossed out where the contact is faulty."""
    from matplotlib.patches import Rectangle

    x, y = at
    value = float(values[slot.index]) if slot.index is not None else float("nan")
    fill = colours.to_rgba(np.array([value]))[0] if np.isfinite(value) else (1.0, 1.0, 1.0, 0.0)
    absent = slot.why == NOT_RECORDED
    ax.add_patch(
        Rectangle(
            (x + 0.05, y + 0.05), 0.9, 0.9, facecolor=fill, edgecolor=MUTED, linewidth=0.4,
            linestyle=":" if absent else "-",
        )
    )  # fmt: skip
    if slot.why and not absent:
        ax.plot([x + 0.05, x + 0.95], [y + 0.95, y + 0.05], color=MUTED, linewidth=0.6)
    elif numbers and not absent and len(slot.label) <= 3:
        dark = float(np.dot(fill[:3], (0.299, 0.587, 0.114))) < 0.5
        ax.text(
            x + 0.5, y + 0.52, slot.label, fontsize=4, color="white" if dark else INK, ha="center", va="center"
        )  # fmt: skip
