"""A page of plots of sanity checks: agreement, re-drawn weights, deletion and insertion, and the truth where known."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from analysis.analyses import Analysis
from analysis.figures.draw import write_above
from analysis.figures.panes import paper_mm, shape_of
from analysis.figures.style import BROWN, DIVERGING, INK, MUTED, TEAL, VIOLET, wrapped
from analysis.trust_table import HELD, number, score, verdicts_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = {"IG signed": VIOLET, "IG unsigned": BROWN, "Grad-CAM": TEAL, "RMS": INK}
_WAYS = (("deletion", BROWN, -0.15), ("insertion", TEAL, 0.15))
_KEY_POINTS = 6
_LIMIT = 0.3
_LIGHT = 0.62  # |rho| from which on the ground of a cell is dark
_EDGE_MM = 15.0  # beside a note


def draw_sanity_checks(figure: Figure, result: Analysis) -> None:
    """Two rows of plots; above them whether each check holds, and with which limit."""
    there = "truth" in result.arrays
    rows, columns = shape_of("sanity-checks", paper_mm(figure))
    grid = figure.add_gridspec(rows, columns, height_ratios=(1.6, 1, 1, 1) if rows == 4 else None)
    places = [grid[i, j] for i in range(rows) for j in range(columns)]
    if rows == 4:  # on narrow paper the first and the last go from side to side
        places = [grid[0, :], *places[2:6], grid[3, :]]
    agreement, depths, truth, deletion, insertion, areas = (figure.add_subplot(place) for place in places)
    _draw_agreement(agreement, result)
    _draw_depths(depths, result)
    _draw_ranks(truth, result) if there else _write_gap(figure, truth, result)
    _draw_orders(deletion, result, "deletion")
    _draw_orders(insertion, result, "insertion")
    _draw_areas(areas, result)
    write_above(figure, _words(result))


def _words(result: Analysis) -> str:
    facts = result.facts
    n = facts["n_windows"]
    first = (
        f"Class {facts['target']}; {n} window{'s' if n != 1 else ''} of {facts['window_seconds']:g} s; "
        f"completeness gap {facts['completeness_gap']:.2%} with {facts['nodes']} points"
    )
    held = [
        f"{verdict['check']}: {HELD[verdict['holds']]}" + (f" ({verdict['limit']})" if verdict["limit"] else "")  # type: ignore[index]
        for verdict in verdicts_of(result)
    ]
    return "\n".join([first, *(fill(line, 150) for line in held)])


def _draw_agreement(ax: Axes, result: Analysis) -> None:
    values, names = result.values("agreement"), result.labels["method"]
    ax.imshow(values, cmap=DIVERGING, vmin=-1, vmax=1, interpolation="nearest")
    for (i, j), value in np.ndenumerate(values):
        colour = "white" if abs(value) > _LIGHT else INK
        ax.text(j, i, number(value).replace("0.", "."), ha="center", va="center", fontsize=3.6, color=colour)
    ax.set_xticks(range(len(names)), names, rotation=60, fontsize=6)
    ax.set_yticks(range(len(names)), names, fontsize=6)
    ax.set_title("Agreement (rho)")


def _draw_depths(ax: Axes, result: Analysis) -> None:
    places = ("nothing", *result.labels["depth"])
    at = np.arange(len(places))
    mean, spread = result.values("likeness_mean"), result.values("likeness_sd")
    for name, row, half in zip(result.labels["map"], mean, spread, strict=True):
        if not np.isfinite(row).any():
            continue
        values, sd = np.concatenate([[1.0], row]), np.concatenate([[0.0], half])
        style = "--" if name == "RMS" else "-"
        ax.plot(at, values, style, color=_COLOURS[name], marker="o", markersize=2, label=name)
        ax.fill_between(at, values - sd, values + sd, color=_COLOURS[name], alpha=0.18, linewidth=0)
    for side in (-_LIMIT, _LIMIT):
        ax.axhline(side, color=MUTED, linewidth=0.6, linestyle=":")
    n = result.values("likeness").shape[2]
    ax.set(title="Weights re-drawn", ylim=(-1.05, 1.12), ylabel=f"rho ± SD of {n}")
    ax.set_xticks(at, places, rotation=60, fontsize=6)
    ax.legend(fontsize=5, loc="lower left", ncols=2, columnspacing=0.8, handlelength=1.4)


def _draw_orders(ax: Axes, result: Analysis, way: str) -> None:
    share = result.values("fraction")
    low, mean, high = result.values(f"{way}_random")
    ax.fill_between(share, low, high, color=MUTED, alpha=0.25, linewidth=0)
    ax.plot(share, mean, color=MUTED, linewidth=0.8)
    names = result.labels["method"]
    for name in ("RMS", "IG signed"):
        row = result.values(way)[names.index(name)]
        style = "--" if name == "RMS" else "-"
        ax.plot(share, row, style, color=_COLOURS[name], marker="o", markersize=2)
    parts = result.request.options.get("parts", "parts")
    done = "taken out" if way == "deletion" else "put in"
    key = "violet: by IG signed; dashed: by RMS;\ngrey: 95 % of random orders"
    ax.set(title=way.capitalize(), ylabel="score")
    ax.set_xlabel(f"share of {parts} {done}\n{key}", fontsize=_KEY_POINTS)


def _draw_areas(ax: Axes, result: Analysis) -> None:
    """Mean scores of every order beside those of random ones: deletion should be low, insertion high."""
    names = [name for name, v in zip(result.labels["method"], result.values("deletion_area"), strict=True) if v == v]
    rows = [result.labels["method"].index(name) for name in names]
    at = np.arange(len(names))
    for way, colour, shift in _WAYS:
        chance = result.values(f"{way}_area_random")
        low, high = np.percentile(chance, (2.5, 97.5))
        ax.axvspan(float(low), float(high), color=colour, alpha=0.14, linewidth=0)
        areas = result.values(f"{way}_area")[rows]
        ax.plot(areas, at + shift, "o", color=colour, markersize=3)
    ax.set_yticks(at, names, fontsize=6)
    ax.invert_yaxis()
    ax.set_title("Mean score")
    means = "; ".join(f"{way} {score(float(result.values(f'{way}_area_random').mean()))}" for way, _, _ in _WAYS)
    ax.set_xlabel(
        f"score; brown: deletion, teal: insertion;\nbands: 95 % of random orders, mean\n{means}", fontsize=_KEY_POINTS
    )


def _draw_ranks(ax: Axes, result: Analysis) -> None:
    """The rank of the focus in every map, and in those of models with re-drawn weights."""
    rank = result.labels["measure"].index("rank")
    table, redrawn = result.values("truth")[:, rank], result.values("truth_redrawn")[..., rank]
    rows = np.flatnonzero(np.isfinite(table))
    at = np.arange(len(rows))
    ax.plot(redrawn[rows].ravel(), np.repeat(at, redrawn.shape[1]), "o", color=MUTED, markersize=2.5)
    ax.plot(table[rows], at, "D", color=VIOLET, markersize=4)
    ax.axvline(3.5, color=MUTED, linewidth=0.6, linestyle=":")
    ax.set_yticks(at, [result.labels["method"][row] for row in rows], fontsize=6)
    ax.invert_yaxis()
    seizures = result.facts["truth"]["seizures"]
    foci = ", ".join(dict.fromkeys(each["focus_channel"] for each in seizures))
    n_channels = seizures[0]["channels"]
    ax.set_title("Rank of the focus")
    key = "violet: this model; grey: weights re-drawn;\ndotted: top 3"
    ax.set_xlabel(f"rank of {foci} among {n_channels} channels\n{key}", fontsize=_KEY_POINTS)
    ax.set_xlim(0.4, n_channels + 0.6)


def _write_gap(figure: Figure, ax: Axes, result: Analysis) -> None:
    """In place of the truth, why there is none."""
    sentence = next(str(v["sentence"]) for v in verdicts_of(result) if v["check"] == "truth")
    ax.set_axis_off()
    ax.set_title("Truth")
    room = paper_mm(figure) / shape_of("sanity-checks", paper_mm(figure))[1] - _EDGE_MM
    words = "\n".join(wrapped(sentence, _KEY_POINTS, room))
    note = ax.text(0, 0.95, words, fontsize=_KEY_POINTS, color=MUTED, va="top", transform=ax.transAxes)
    note.set_in_layout(False)
