"""Figures of PRiSE-EEG's experts and groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.analyses import Analysis
from analysis.figures.draw import label_axis
from analysis.figures.style import BROWN, GRID, MUTED, SEQUENTIAL, TEAL, VIOLET

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STATIC = 18


def draw_experts(figure: Figure, result: Analysis) -> None:
    """Load by block and expert, its entropy with the shared experts, and the busiest expert over time."""
    from matplotlib import colormaps

    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    cmap = colormaps[SEQUENTIAL].with_extremes(bad=GRID)
    image = left.imshow(result.values("load"), cmap=cmap, vmin=0, aspect="auto", interpolation="nearest")
    left.set_title("Load of the routed experts (grey: shared)")
    label_axis(left, "y", result, "block")
    left.set_xticks(range(8), result.labels["expert"])
    left.set_xlabel("expert")
    figure.colorbar(image, ax=left, label="share of tokens")
    blocks = np.arange(len(result.labels["block"]))
    right.barh(blocks, np.nan_to_num(result.values("load_entropy")), color=VIOLET, height=0.7)
    for y, count in zip(blocks, result.values("n_shared"), strict=True):
        right.text(1.02, y, f"{count:.0f} shared", va="center", fontsize=6, color=BROWN)
    right.set(title="Load entropy", xlim=(0, 1.25), yticks=[])
    right.invert_yaxis()


def draw_group_attribution(figure: Figure, result: Analysis) -> None:
    """Shares by static group, and of the dynamic ones by time and lag."""
    grid = figure.add_gridspec(2, 2, width_ratios=(3, 2))
    ax = figure.add_subplot(grid[:, 0])
    names, share = result.labels["group"][:_STATIC], result.values("share")[:_STATIC]
    colours = [TEAL] * len(result.labels["region"]) + [BROWN] * len(result.labels["network"])
    ax.barh(range(_STATIC), 100 * share, color=colours, height=0.75)
    ax.set_yticks(range(_STATIC), names, fontsize=7)
    ax.invert_yaxis()
    ax.set(title=f"Static groups, {result.facts['target']}", xlabel="share of |attribution|, %")
    for row, axis, title in ((0, "quarter", "Dynamic groups by time"), (1, "lag", "Dynamic groups by lag")):
        _bars(figure.add_subplot(grid[row, 1]), result, axis, title)
    relative = result.facts["completeness_relative"]
    text = f"completeness gap {100 * relative:.2g} %"
    ax.text(0.98, 0.02, text, transform=ax.transAxes, ha="right", fontsize=6, color=MUTED)


def _bars(ax: Axes, result: Analysis, axis: str, title: str) -> None:
    values = result.values("by_window" if axis == "quarter" else "by_lag")
    ax.bar(range(len(values)), 100 * values, color=VIOLET, width=0.7)
    ax.set_xticks(range(len(values)), result.labels[axis], fontsize=6, rotation=20)
    ax.set(title=title, ylabel="%")
