"""Figures of attribution: by channel and time, on the scalp, by channel alone, and the checks that were made."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.analyses import Analysis
from analysis.attribution_maps import (
    ABSOLUTE,
    SIGNED,
    AttributionMap,
    attribution_map,
    colour_reach,
    map_words,
    ordered,
    parts_of,
    round_up,
)
from analysis.contact_layout import ContactLayout, layout_of_names
from analysis.errors import AnalysisError
from analysis.figures.draw import draw_plain, write_above
from analysis.figures.panes import NARROW_MM, paper_mm
from analysis.figures.style import BROWN, DIVERGING, MUTED, SEQUENTIAL, TEAL, VIOLET
from analysis.topography import HeadMap, build_head_map, site_layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

_MOST_NAMED, _MOST_BARS = 48, 12
_LABEL = 40  # letters of a line beside a bar of colours
_LEAST_TOLD = 1e-4
_CURVES = ("deletion", "insertion")


def draw_attribution(figure: Figure, result: Analysis) -> None:
    """The map, its sums (means of Grad-CAM) on the scalp and by channel, deletion and insertion below."""
    found = attribution_map(result)
    if found is None:
        draw_plain(figure, result)
        return
    checked = [name for name in _CURVES if f"{name}_by_map" in result.arrays]
    placed = _layout(result)
    rows = figure.add_gridspec(2 if checked else 1, 1, height_ratios=(2.2, 1) if checked else (1,))
    heat, places, bars = _upper(figure, rows[0], placed)
    _draw_map(figure, heat, result, found)
    total = found.over(float(found.times[0]), float((found.times + found.widths).max()))
    if places is not None and placed is not None:
        _draw_places(places, placed, found, total)
    _draw_bars(bars, found, total)
    if checked:
        lower = rows[1].subgridspec(1, len(checked))
        for i, name in enumerate(checked):
            _draw_curves(figure.add_subplot(lower[0, i]), result, name, paper_mm(figure) < NARROW_MM)
    write_above(figure, "\n".join(_words(result)))


def _draw_map(figure: Figure, ax: Axes, result: Analysis, found: AttributionMap) -> None:
    part = parts_of(result.kind)[0]
    values, signed = found.shown(part)
    reach = colour_reach(values)
    colours: dict[str, Any] = {"cmap": DIVERGING, "vmin": -reach} if signed else {"cmap": SEQUENTIAL, "vmin": 0.0}
    edges, cells = _with_holes(found, values)
    y = np.arange(len(found.ch_names) + 1) - 0.5
    image = ax.pcolormesh(edges, y, cells, vmax=reach, rasterized=True, linewidth=0, **colours)
    step = -(-len(found.ch_names) // _MOST_NAMED)
    ax.set_yticks(range(0, len(found.ch_names), step), found.ch_names[::step], fontsize=5)
    ax.set(xlabel="time (s)", ylabel="channel", ylim=(y[-1], y[0]))
    bar = figure.colorbar(image, ax=ax, extend="both" if signed else "max")
    words = map_words(result, SIGNED if signed else ABSOLUTE) + (f" ({found.unit})" if found.unit else "")
    bar.set_label("\n".join(wrap(words, _LABEL)), fontsize=6)
    bar.ax.tick_params(labelsize=5)


def _with_holes(found: AttributionMap, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges (n + 1,) and values (C, n), NaN where nothing was explained; of what overlaps the later goes on top."""
    stops = np.minimum(found.times + found.widths, np.append(found.times[1:], np.inf))
    holes = np.flatnonzero(found.times[1:] - stops[:-1] > 1e-6)
    edges = np.append(np.insert(found.times, holes + 1, stops[holes]), stops[-1])
    return edges, np.insert(values.astype(np.float64), holes + 1, np.nan, axis=1)


def _upper(figure: Figure, place: SubplotSpec, placed: object) -> tuple[Axes, Axes | None, Axes]:
    """Axes of the map, of the places where channels have some, and of the bars: beside the map, or below it."""
    if paper_mm(figure) < NARROW_MM:
        grid = place.subgridspec(2, 2, width_ratios=(1.5, 1), height_ratios=(1.2, 1))
        heat = figure.add_subplot(grid[0, :])
        if placed is None:
            return heat, None, figure.add_subplot(grid[1, :])
        return heat, figure.add_subplot(grid[1, 0]), figure.add_subplot(grid[1, 1])
    grid = place.subgridspec(2 if placed is not None else 1, 2, width_ratios=(2.4, 1))
    heat = figure.add_subplot(grid[:, 0])
    return heat, figure.add_subplot(grid[0, 1]) if placed is not None else None, figure.add_subplot(grid[-1, 1])


def _layout(result: Analysis) -> HeadMap | ContactLayout | None:
    """The head that the channels make, or the shafts of contacts in the brain; None for too few of either."""
    channels = result.labels["channel"]
    pairs = dict(zip(channels, result.labels.get("site", ()), strict=False))
    try:
        return build_head_map(site_layout(pairs))
    except AnalysisError:
        pass
    try:
        return layout_of_names(channels)
    except AnalysisError:
        return None


def _draw_places(ax: Axes, placed: HeadMap | ContactLayout, found: AttributionMap, total: np.ndarray) -> None:
    from analysis.figures.contacts import draw_contacts
    from analysis.figures.scalp import draw_scalp

    by_name = dict(zip(found.ch_names, total, strict=True))
    names = placed.ch_names if isinstance(placed, ContactLayout) else placed.layout.ch_names
    shown = np.array([by_name[name] for name in names])
    most = float(np.abs(shown).max())
    reach = round_up(most) if most > 0 else 1.0
    amount = f"sum ({found.sum_unit})" if found.is_signed else "mean"
    if isinstance(placed, ContactLayout):
        draw_contacts(ax, placed, shown, f"{amount},\nby contact", reach)
    else:
        draw_scalp(ax, placed, shown, f"{amount},\nstandard positions", reach)


def _draw_bars(ax: Axes, found: AttributionMap, total: np.ndarray) -> None:
    order = ordered(found.ch_names, total)[:_MOST_BARS]
    values = total[order]
    inks = [TEAL if value >= 0 else BROWN for value in values] if found.is_signed else VIOLET
    ax.barh(range(len(order)), values, color=inks)
    ax.set_yticks(range(len(order)), [found.ch_names[i] for i in order], fontsize=5)
    ax.invert_yaxis()
    ax.axvline(0, color=MUTED, linewidth=0.5)
    more = f" (largest {len(order)} of {len(total)})" if len(order) < len(total) else ""
    ax.set_xlabel((f"sum ({found.sum_unit})" if found.is_signed else "mean") + more, fontsize=6)
    ax.set_ylabel("channel", fontsize=6)
    ax.tick_params(axis="x", labelsize=5)


def _draw_curves(ax: Axes, result: Analysis, name: str, narrow: bool) -> None:
    for how, words, colour in (("by_map", "by the map", VIOLET), ("at_random", "at random", MUTED)):
        values = result.values(f"{name}_{how}").mean(0)
        ax.plot(100 * np.linspace(0, 1, len(values)), values, marker="o", markersize=2, color=colour, label=words)
    ax.set(title=name.capitalize(), xlabel="channels changed (%)", ylabel="score")
    if narrow:
        ax.legend(fontsize=5)
    else:
        ax.legend(fontsize=5, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.1)


def _words(result: Analysis) -> list[str]:
    """Class, method and windows, then what a reader must know of how well the map adds up."""
    facts = result.facts
    n = int(result.values("window_onset").shape[0]) if "window_onset" in result.arrays else 0
    count = f" · n = {n} {'window' if n == 1 else 'windows'} of {facts['window_seconds']:g} s" if n else ""
    lines = [f"{facts['method']} · class {facts['target']}{count}"]
    windows = facts.get("windows", ())
    if "completeness_gap" in facts:
        nodes = max(int(each["nodes"]) for each in windows)
        baselines = "; ".join(dict.fromkeys(str(each["baseline"]) for each in windows))
        gap = float(facts["completeness_gap"])
        size = f"up to {gap:.2%}" if gap >= _LEAST_TOLD else "below 0.01%"
        lines.append(f"Completeness gap {size} with up to {nodes} nodes · baseline: {baselines}")
    return lines
