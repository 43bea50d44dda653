"""A topography for print: the field over the head from above, electrodes with their names, and its colour bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.figures.contacts import draw_contacts
from analysis.figures.style import INK, MAY_GO, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from analysis.scalp_maps import Topography
    from analysis.topography import HeadMap

_SIGNED = "RdBu_r"  # blue below zero, red above, as on the screen
_UNSIGNED = "YlOrRd"  # light where there is little, so that names stay readable
_MOST_NAMES = 40


def draw_topography(ax: Axes, result: Topography, time: float | None = None) -> bool:
    """Draw a map at a time in seconds, or that of its whole span, on the scalp or by contact; whether it has values."""
    values = result.at(time)
    if values is None or result.layout is None:
        return False
    if result.head is not None:
        draw_scalp(ax, result.head, values, result.unit)
    elif result.contacts is not None:
        draw_contacts(ax, result.contacts, values, result.unit)
    return True


def draw_scalp(ax: Axes, head: HeadMap, values: np.ndarray, unit: str, limit: float | None = None) -> None:
    """Draw values (n,) of a map's electrodes; about zero where any is negative, else from zero on.

    `limit` is the end of the colour scale in `unit`, usually the greatest size among the values.
    """
    from matplotlib.patches import Circle
    from matplotlib.patheffects import withStroke

    is_signed = bool((values < 0).any())
    end = limit or float(np.abs(values).max()) or 1.0
    picture = ax.imshow(
        head.interpolate(values) if is_signed else head.interpolate_amounts(values),
        extent=(-1, 1, -1, 1),
        alpha=np.clip(head.cover, 0, 1),
        cmap=_SIGNED if is_signed else _UNSIGNED,
        vmin=-end if is_signed else 0.0,
        vmax=end,
        interpolation="bilinear",
    )
    picture.set_clip_path(Circle((0, 0), 1, transform=ax.transData))
    _draw_outline(ax)
    x, y = head.layout.points.T
    ax.scatter(x, y, s=5, color=INK, linewidths=0, zorder=3)
    if len(x) <= _MOST_NAMES:
        for name, a, b in zip(head.layout.ch_names, x, y, strict=True):
            written = ax.annotate(
                name, (a, b), (0, 2.5), textcoords="offset points", ha="center", fontsize=5, zorder=3,
                path_effects=[withStroke(linewidth=1.2, foreground="white")],
            )  # fmt: skip
            written.set_gid(MAY_GO)
    ax.set(xlim=(-1.2, 1.2), ylim=(-1.04, 1.18), aspect="equal")
    ax.set_axis_off()
    bar = ax.figure.colorbar(picture, ax=ax, orientation="horizontal", shrink=0.6, fraction=0.04, pad=0.0, aspect=40)
    ticks = [-end, 0, end] if is_signed else [0, end]
    bar.set_ticks(ticks, labels=[f"{tick:,.0f}" if abs(tick) >= 100 else f"{tick:.3g}" for tick in ticks], fontsize=6)
    bar.set_label(unit, fontsize=6)


def _draw_outline(ax: Axes) -> None:
    """Head, nose and ears."""
    turn = np.linspace(0, 2 * np.pi, 181)
    style: dict[str, Any] = {"color": MUTED, "linewidth": 0.9, "zorder": 2}
    ax.plot(np.cos(turn), np.sin(turn), **style)
    ax.plot([-0.12, 0, 0.12], [0.993, 1.13, 0.993], **style)
    for side in (-1, 1):
        ax.plot(side * np.array([0.99, 1.06, 1.07, 1.06, 0.99]), [0.16, 0.14, 0.0, -0.14, -0.16], **style)
