"""Figures of PRiSE-EEG's experts and groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.analyses import Analysis
from analysis.errors import AnalysisError
from analysis.figures.draw import label_axis, write_above
from analysis.figures.panes import NARROW_MM, paper_mm, shape_of
from analysis.figures.style import BROWN, GRID, MUTED, SEQUENTIAL, TEAL, VIOLET, wrapped
from analysis.topography import site_layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STATIC = 18
_EDGE_MM = 15.0  # beside a note


def draw_experts(figure: Figure, result: Analysis) -> None:
    """Load by block and expert, its entropy, and the allocation of the experts."""
    from matplotlib import colormaps

    narrow = paper_mm(figure) < NARROW_MM
    grid = figure.add_gridspec(2, 2, width_ratios=(1, 1) if narrow else (3, 2))
    left = figure.add_subplot(grid[0, :] if narrow else grid[:, 0])
    cmap = colormaps[SEQUENTIAL].with_extremes(bad=GRID)
    image = left.imshow(result.values("load"), cmap=cmap, vmin=0, aspect="auto", interpolation="nearest")
    left.set_title("Load of the routed experts (grey: shared)")
    label_axis(left, "y", result, "block")
    left.set_xticks(range(8), result.labels["expert"])
    left.set_xlabel("expert")
    figure.colorbar(image, ax=left, label="share of tokens")
    blocks = np.arange(len(result.labels["block"]))
    right = figure.add_subplot(grid[1, 0] if narrow else grid[0, 1])
    right.barh(blocks, np.nan_to_num(result.values("load_entropy")), color=VIOLET, height=0.7)
    right.set(title="Load entropy", xlim=(0, 1.02), xlabel="of the most there can be")
    right.set_yticks(blocks, result.labels["block"], fontsize=_names_size(len(blocks)))
    right.invert_yaxis()
    _draw_allocation(figure.add_subplot(grid[1, 1]), result, narrow)
    n, seconds = result.facts["n_windows"], result.facts["window_seconds"]
    write_above(figure, f"n = {n} {'window' if n == 1 else 'windows'} of {seconds:g} s")


def _names_size(n: int) -> float:
    return 6 if n <= 12 else 4


def _draw_allocation(ax: Axes, result: Analysis, narrow: bool) -> None:
    """Shared and routed experts of each block; the similarity to other recordings where there are any."""
    shared = 1 + result.values("n_shared")
    blocks = np.arange(len(shared))
    ax.barh(blocks, shared, color=TEAL, height=0.7, label="shared")
    ax.barh(blocks, 9 - shared, left=shared, color=BROWN, alpha=0.4, height=0.7, label="routed")
    ax.set(title="Allocation of 9 experts", xlim=(0, 9), xlabel=_similarity_words(result))
    ax.set_yticks(blocks, result.labels["block"], fontsize=_names_size(len(blocks)))
    ax.set_ylim(len(blocks) + (0.3 if narrow else 0.09) * len(blocks), -0.6)  # the legend stands under the last bar
    ax.legend(loc="lower right", ncols=1 if narrow else 2, fontsize=6, borderpad=0, borderaxespad=0.2)


def _similarity_words(result: Analysis) -> str:
    if "routing_similarity" not in result.arrays:
        return "experts"
    names, values = result.labels["recording"][1:], result.values("routing_similarity")[0, 1:]
    lines = [
        f"{value:.3f} with {name if len(name) < 25 else name[:24] + '…'}"
        for name, value in zip(names, values, strict=True)
    ]
    return "\n".join(["routing similarity (cosine):", *lines])


def draw_group_attribution(figure: Figure, result: Analysis) -> None:
    """Shares by static group, of the dynamic ones by time and lag, on the scalp, and what is left of the priors."""
    rows, columns = shape_of("group-attribution", paper_mm(figure))
    wide = columns == 3
    grid = figure.add_gridspec(
        rows, columns, width_ratios=(3, 2, 2) if wide else None, height_ratios=None if wide else (1.6, 1, 1)
    )
    places = [grid[0, 1], grid[1, 1], grid[0, 2], grid[1, 2]] if wide else [grid[i, j] for i in (1, 2) for j in (0, 1)]
    by_time, by_lag, scalp, prior = (figure.add_subplot(place) for place in places)
    ax = figure.add_subplot(grid[:, 0] if wide else grid[0, :])
    names, share = result.labels["group"][:_STATIC], result.values("share")[:_STATIC]
    colours = [TEAL] * len(result.labels["region"]) + [BROWN] * len(result.labels["network"])
    ax.barh(range(_STATIC), 100 * share, color=colours, height=0.75)
    ax.set_yticks(range(_STATIC), names, fontsize=7 if wide else 5)
    ax.invert_yaxis()
    ax.set(title=f"Static groups, {result.facts['target']}", xlabel="share of |attribution|, %")
    _bars(by_time, result, "quarter", "Dynamic, by time")
    _bars(by_lag, result, "lag", "Dynamic, by lag")
    _draw_scalp(figure, scalp, result)
    _write_prior(figure, prior, result)
    n, seconds = result.facts["n_windows"], result.facts["window_seconds"]
    write_above(
        figure,
        f"n = {n} {'window' if n == 1 else 'windows'} of {seconds:g} s; share of each group [paper], "
        "groups and sums by time, lag and electrode [our definition]",
    )


def _draw_scalp(figure: Figure, ax: Axes, result: Analysis) -> None:
    """The electrodes from above in the colour of the share that goes through them."""
    pairs = dict(zip(result.labels["channel"], result.labels["site"], strict=True))
    try:
        layout = site_layout(pairs)
    except AnalysisError as error:
        ax.text(0.5, 0.5, str(error), ha="center", va="center", fontsize=6, wrap=True, transform=ax.transAxes)
        ax.set_axis_off()
        return
    values = 100 * result.values("channel")[[result.labels["channel"].index(name) for name in layout.ch_names]]
    turn = np.linspace(0, 2 * np.pi, 97)
    ax.plot(np.cos(turn), np.sin(turn), color=MUTED, linewidth=0.8)
    ax.plot([-0.12, 0, 0.12], [0.99, 1.12, 0.99], color=MUTED, linewidth=0.8)
    x, y = layout.points.T
    dots = ax.scatter(x, y, c=values, cmap=SEQUENTIAL, vmin=0, s=26, edgecolors=MUTED, linewidths=0.4)
    figure.colorbar(dots, ax=ax, shrink=0.8, label="%")
    ax.set(title="Through the electrodes", xlim=(-1.15, 1.15), ylim=(-1.1, 1.2), aspect="equal")
    ax.set_axis_off()


def _write_prior(figure: Figure, ax: Axes, result: Analysis) -> None:
    """What training left of the static groups, and what the attributions miss."""
    lines = [
        f"{name}: {value:.3f}"
        for name, value in zip(result.labels["preservation"], result.values("prior"), strict=True)
    ]
    lines.append(f"completeness residual: {100 * result.facts['completeness_relative']:.2g} %")
    ax.set_title("Prior preservation")
    room = paper_mm(figure) / shape_of("group-attribution", paper_mm(figure))[1]
    words = "\n".join(part for line in lines for part in wrapped(line, 6, room - _EDGE_MM))
    ax.text(0, 0.95, words, va="top", fontsize=6, transform=ax.transAxes, linespacing=1.5).set_in_layout(False)
    ax.set_axis_off()


def _bars(ax: Axes, result: Analysis, axis: str, title: str) -> None:
    values = result.values("by_window" if axis == "quarter" else "by_lag")
    ax.bar(range(len(values)), 100 * values, color=VIOLET, width=0.7)
    ax.set_xticks(range(len(values)), result.labels[axis], fontsize=6, rotation=35, ha="right", rotation_mode="anchor")
    ax.set(title=title, ylabel="%")
