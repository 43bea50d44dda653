"""Figures of PRiSE-EEG's lag correlations, of what changed parts do to its answer, and of its gradients."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from analysis.analyses import Analysis
from analysis.figures.draw import label_axis, write_above
from analysis.figures.panes import NARROW_MM, paper_mm, shape_of
from analysis.figures.style import BROWN, CYCLE, SEQUENTIAL, TEAL, VIOLET

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_NAMED = 40
_MOST_BARS = 32  # under each other
_DARK = 0.6  # below it cells are dark


def draw_dynamic_groups(figure: Figure, result: Analysis) -> None:
    """Mean size of the correlation by pair at the best lag, and by time and lag."""
    rows, columns = shape_of("dynamic-groups", paper_mm(figure))
    left, right = figure.subplots(rows, columns, width_ratios=(3, 2)[:columns]).flat
    image = left.imshow(result.values("mean_size").max(0), cmap=SEQUENTIAL, vmin=0, vmax=1, interpolation="nearest")
    left.set(title="Mean |rho| of pairs, best lag [our definition]")
    names = result.labels["channel"]
    named = range(0, len(names), -(-len(names) // _MOST_NAMED))
    left.set_yticks(named, [names[i] for i in named], fontsize=5)
    left.set_xticks(named, [names[i] for i in named], fontsize=5, rotation=90)
    left.set(xlabel="later by the lag", ylabel="earlier")
    figure.colorbar(image, ax=left, shrink=0.7)
    image = right.imshow(result.values("strength"), cmap=SEQUENTIAL, vmin=0, aspect="auto", interpolation="nearest")
    right.set(title="By time and lag")
    label_axis(right, "y", result, "quarter")
    label_axis(right, "x", result, "lag")
    figure.colorbar(image, ax=right, label="mean |rho|")
    n, seconds = result.facts["n_windows"], result.facts["window_seconds"]
    write_above(figure, f"n = {n} {'window' if n == 1 else 'windows'} of {seconds:g} s [our definition]")


def draw_group_interventions(figure: Figure, result: Analysis) -> None:
    """Change of the last class's probability, or move of the mean token without a head, by intervention."""
    names = result.labels["intervention"]
    if "probability_change" in result.arrays:
        values = result.values("probability_change")[..., -1]
        label = f"change of p({result.labels['class'][-1]})"
    else:
        values = 1 - result.values("cosine")
        label = "1 - cosine of the mean token"
    columns = -(-len(names) // _MOST_BARS)
    reach = float(np.abs(values).max()) * 1.05 or 1.0
    for ax, rows in zip(
        figure.subplots(1, columns, squeeze=False)[0], np.array_split(np.arange(len(names)), columns), strict=True
    ):
        _draw_bars(ax, [names[i] for i in rows], values[rows])
        ax.set(xlabel=label, xlim=(-reach if values.min() < 0 else 0, reach))
    n, seconds = values.shape[1], result.facts["window_seconds"]
    spread = "; line: mean ± SD over windows" if n > 1 else ""
    words = f"n = {n} {'window' if n == 1 else 'windows'} of {seconds:g} s{spread} [our definition]"
    write_above(figure, f"Interventions, {words}")


def _draw_bars(ax: Axes, names: Sequence[str], values: np.ndarray) -> None:
    mean, spread, rows = values.mean(1), values.std(1), np.arange(len(names))
    ax.barh(rows, mean, color=np.where(mean >= 0, TEAL, BROWN), height=0.7)
    if values.shape[1] > 1:
        ax.hlines(rows, mean - spread, mean + spread, color=VIOLET, linewidth=0.8)
    ax.axvline(0, color="black", linewidth=0.5)
    ax.set_yticks(rows, names, fontsize=5 if len(names) > _MOST_BARS / 2 else 7)
    ax.invert_yaxis()


def draw_gradient_geometry(figure: Figure, result: Analysis) -> None:
    """Affinity, cosine and routing similarity by pair of sets, and affinity by rank."""
    axes = figure.subplots(*shape_of("gradient-geometry", paper_mm(figure))).ravel()
    for ax, name, title in zip(
        axes,
        ("affinity", "cosine", "routing_similarity"),
        ("Subspace affinity", "Cosine of gradients", "Routing similarity"),
        strict=False,
    ):
        _draw_table(figure, ax, result, name, title)
    ranks, names = result.values("affinity_by_rank"), result.labels["set"]
    for i, (a, b) in enumerate(combinations(range(len(names)), 2)):
        colour = CYCLE[i % len(CYCLE)]
        axes[3].plot(ranks[:, a, b], marker="o", markersize=3, color=colour, label=f"{names[a]} x {names[b]}")
    axes[3].set(title="Affinity by rank", ylim=(0, 1.05), xlabel="rank")
    axes[3].set_xticks(range(len(result.labels["rank"])), result.labels["rank"])
    axes[3].legend(fontsize=5, handlelength=1.0, borderpad=0.1)
    batch, seconds = result.facts["batch"], result.facts["window_seconds"]
    counts = ", ".join(f"{name} {count}" for name, count in result.facts["n_of_set"].items())
    one = "window" if batch == 1 else "windows"
    words = f"{result.facts['n_steps']} steps of {batch} {one} of {seconds:g} s; windows: {counts} [our definition]"
    write_above(figure, words)


def _draw_table(figure: Figure, ax: Axes, result: Analysis, name: str, title: str) -> None:
    values, names = result.values(name), result.labels["set"]
    image = ax.imshow(values, cmap=SEQUENTIAL, vmin=min(0.0, float(np.nanmin(values))), vmax=1, interpolation="nearest")
    for (row, column), value in np.ndenumerate(values):
        ax.text(
            column, row, f"{value:.2f}", ha="center", va="center", fontsize=6, color="white" if value < 0.6 else "black"
        )
    ax.set_xticks(range(len(names)), names, fontsize=6, rotation=30)
    ax.set_yticks(range(len(names)), names, fontsize=6)
    ax.set_title(title)
    if paper_mm(figure) >= NARROW_MM:  # the cells have numbers, which need no bar
        figure.colorbar(image, ax=ax, shrink=0.8)
