"""Figures of layer similarity, effective rank and the plane of windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.analyses import Analysis
from analysis.figures.draw import label_axis, write_above
from analysis.figures.panes import MIDDLE_MM, paper_mm, shape_of
from analysis.figures.style import BROWN, CYCLE, MUTED, SEQUENTIAL, TEAL, VIOLET

_MARKERS = "osD^vPX*"
FEW_ROWS = 50

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_cka(figure: Figure, result: Analysis) -> None:
    """The unbiased map beside the plain one, and with groups the similarity within and between them by layer."""
    grouped = "within" in result.arrays
    axes = _cka_places(figure, grouped)
    names = result.models if len(result.models) > 1 else result.models * 2
    for ax, name, title in zip(axes, ("cka_unbiased", "cka"), ("CKA, unbiased", "CKA, plain"), strict=False):
        image = ax.imshow(result.values(name), cmap=SEQUENTIAL, vmin=0, vmax=1, interpolation="nearest")
        ax.set_title(f"{title}\nn = {result.facts.get('n_rows', '?')} {result.facts.get('rows', 'rows')}")
        _label(ax, "x", result, "column_layer", names[1])
        _label(ax, "y", result, "row_layer", names[0])
    figure.colorbar(image, ax=axes[:2], shrink=0.6)
    write_above(figure, _cka_words(result))
    if grouped:
        _draw_groups(axes[2], result)


def _cka_places(figure: Figure, grouped: bool) -> list[Axes]:
    """Two maps, and a plot for groups: beside them where there is room, otherwise below."""
    width = paper_mm(figure)
    rows, columns = shape_of("cka", width)
    if grouped:
        rows, columns = (1, 3) if width >= MIDDLE_MM else (rows + 1, columns)
    grid = figure.add_gridspec(rows, columns)
    places = [grid[i, j] for i in range(rows) for j in range(columns)]
    if grouped and (rows, columns) == (2, 2):
        places = [*places[:2], grid[1, :]]
    return [figure.add_subplot(place) for place in places]


def _cka_words(result: Analysis) -> str:
    """What a row is, and how far to trust a table of few of them."""
    n, seconds = result.facts.get("n_rows", 0), result.facts.get("window_seconds", 0.0)
    words = f"Linear CKA [paper]; windows of {seconds:g} s, a row is a {result.facts.get('rows', 'rows')[:-1]}"
    if "within" in result.arrays:
        words += "; pairs of windows and shared experts [our definition]"
    if n < FEW_ROWS:
        words += f"\nOnly {n} rows (below {FEW_ROWS}): the plain estimator is far too high, the unbiased one uncertain"
    return words


def _label(ax: Axes, which: str, result: Analysis, axis: str, model: str) -> None:
    label_axis(ax, "x" if which == "x" else "y", result, axis)
    (ax.set_xlabel if which == "x" else ax.set_ylabel)(model)


def _draw_groups(ax: Axes, result: Analysis) -> None:
    layers = np.arange(len(result.values("within")))
    for name, colour in (("within", TEAL), ("between", BROWN)):
        ax.plot(layers, result.values(name), color=colour, marker="o", markersize=2.5, label=name)
    for x, count in enumerate(result.values("shared_experts")):
        ax.text(x, 0.02, f"{count:.0f}", ha="center", fontsize=6, color=VIOLET)
    counts = ",\n".join(
        f"{n} {name if len(name) <= 16 else name[:15] + '…'}"
        for name, n in result.facts.get("n_of_group", {}).items()
        if n
    )
    ax.set(title=f"Pairs of windows\n{counts}", ylim=(0, 1.02))
    label_axis(ax, "x", result, "layer")
    ax.set_xlabel("below: shared experts of 8")
    ax.legend(loc="lower right", bbox_to_anchor=(1, 0.06))


def draw_effective_rank(figure: Figure, result: Analysis) -> None:
    """Effective rank by layer."""
    ax = figure.subplots()
    rank = result.values("effective_rank")
    ax.plot(np.arange(len(rank)), rank, color=VIOLET, marker="o", markersize=3)
    ax.set(
        title=f"Effective rank, n = {result.facts['n_rows']} {result.facts['rows']}",
        ylim=(0, None),
        ylabel="dimensions",
    )
    label_axis(ax, "x", result, "layer")


def draw_embedding(figure: Figure, result: Analysis) -> None:
    """Windows coloured by time, or by recording where there are several; labels have markers, seizures rings."""
    ax = figure.subplots()
    points, onset, ictal = (result.values(name) for name in ("points", "window_onset", "seizure"))
    x, y = points.T
    files = result.labels["of_recording"]
    if len(files) > 1:
        for number, name in enumerate(files):
            own = result.values("recording") == number
            ax.scatter(x[own], y[own], s=14, color=CYCLE[number % len(CYCLE)], linewidths=0, label=name)
        ax.legend()
    else:
        dots = ax.scatter(x, y, c=onset + result.facts["first_window"], s=14, cmap=SEQUENTIAL, linewidths=0)
        figure.colorbar(dots, ax=ax, label="seconds of the recording")
    if result.facts["labels"] != "seizure":
        for number, name in enumerate(result.labels["group"]):
            own = result.values("label") == number
            ax.scatter(x[own], y[own], s=30, marker=_MARKERS[number % len(_MARKERS)], facecolors="none",
                       edgecolors=CYCLE[number % len(CYCLE)], linewidths=0.9, label=name)  # fmt: skip
        ax.legend()
    if ictal.any():
        ax.scatter(
            x[ictal > 0], y[ictal > 0], s=42, facecolors="none", edgecolors=BROWN, linewidths=1.2, label="seizure"
        )
        ax.legend()
    seconds = result.facts["window_seconds"]
    ax.set(
        title=f"{result.facts['method']} of {len(points)} windows of {seconds:g} s",
        xlabel="coordinate 1",
        ylabel="coordinate 2",
    )
    ax.set_aspect("equal", adjustable="datalim")
    ax.tick_params(colors=MUTED)
