"""Draws what a page for print has besides its traces: heat with its bar of colours, arcs, and lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.figures.layers import Arcs, Heat, Lane, Shares
from analysis.figures.page_layout import FOOT_POINTS, LANE, LANE_AIR, LANE_POINTS, Layout, bar_words, pitch_of
from analysis.figures.style import BROWN, CYCLE, DIVERGING, GRID, INK, MUTED, TEAL, VIOLET
from analysis.montage import Derivation, Montage
from analysis.recording import Window

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import FigureBase

_HEAT = "BuGn"  # white where there is nothing
_KEY_POINTS = 7.0  # of room for the key of shares, between a lane and its title
_BEND = 0.9  # of the time that an arc is drawn within
_MOST_ARCS = 400
_FILLED, _FILLED_AS_CHOSEN = 0.2, 0.45  # how strong the ground of a curve is


@dataclass(frozen=True)
class LaneAxes:
    """Where a lane stands: left, bottom and width in millimetres of a page of `size`."""

    left: float
    bottom: float
    width: float
    size: tuple[float, float]
    window: Window

    def make(self, figure: FigureBase) -> Axes:
        """Axes from the page's first second to its last."""
        w, h = self.size
        ax = figure.add_axes((self.left / w, self.bottom / h, self.width / w, (LANE - LANE_AIR) / h))
        ax.set(xlim=(self.window.start, self.window.stop), xticks=[])
        ax.tick_params(labelsize=LANE_POINTS, length=1.5, pad=1)
        return ax


def _colours(heat: Heat) -> Colormap:
    from matplotlib import colormaps
    from matplotlib.colors import LinearSegmentedColormap

    if heat.colours:
        return LinearSegmentedColormap.from_list("shown", list(heat.colours))
    return colormaps[_HEAT if heat.centre is None else DIVERGING]


def draw_heat(ax: Axes, heat: Heat, montage: Montage, centres: np.ndarray) -> None:
    """Each row's band in the colours of its electrodes' mean."""
    from matplotlib.colors import Normalize

    index = {channel: i for i, channel in enumerate(heat.ch_names)}
    pitch, scale, colours = pitch_of(centres), Normalize(*heat.ends()), _colours(heat)
    edges, values = heat.cells()
    for centre, row in zip(centres, montage.derivations, strict=True):
        rows = [index[channel] for channel in electrodes(row) if channel in index]
        if not rows or not values.size:
            continue
        top = centre + pitch / 2
        bands = [top - heat.band[1] * pitch, top - heat.band[0] * pitch]
        ax.pcolormesh(
            edges, bands, _mean(values[rows])[None], cmap=colours, norm=scale, alpha=heat.opacity, linewidth=0,
            rasterized=True, shading="flat", zorder=0.5,
        )  # fmt: skip


def _mean(values: np.ndarray) -> np.ndarray:
    """Over those of the rows (rows, n) that have a value; NaN where none has."""
    known = np.isfinite(values)
    count = known.sum(0)
    return np.where(count > 0, np.where(known, values, 0.0).sum(0) / np.maximum(count, 1), np.nan)


def electrodes(row: Derivation) -> tuple[str, ...]:
    """What a row is about: both ends of a difference; of many that it is shown against, none."""
    return (row.anode, *row.cathode) if len(row.cathode) <= 1 else (row.anode,)


def draw_bars(figure: FigureBase, layout: Layout, heats: Sequence[Heat], size: tuple[float, float]) -> None:
    """The scale of each heat beside the page, once where several share it."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    of_words = {bar_words(heat): heat for heat in reversed(heats)}
    words = dict.fromkeys(bar_words(heat) for heat in heats)
    w, h = size
    for word, lines, (x, y, wide, high) in zip(words, layout.bar_lines, layout.bar_places, strict=True):
        heat = of_words[word]
        place = figure.add_axes((x / w, y / h, wide / w, high / h))
        legend = figure.colorbar(ScalarMappable(Normalize(*heat.ends()), _colours(heat)), cax=place, alpha=heat.opacity)
        legend.set_label("\n".join(lines), fontsize=FOOT_POINTS, labelpad=2)
        legend.ax.tick_params(labelsize=LANE_POINTS, length=1.5, pad=1)
        legend.ax.locator_params(nbins=5)


def draw_arcs(ax: Axes, arcs: Arcs, montage: Montage, centres: np.ndarray) -> None:
    """The strongest arcs of the page, later ends as dots; usually teal above zero and brown below."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    start, stop = ax.get_xlim()
    places = _places(montage, arcs.ch_names, centres)
    shown = [i for i in np.argsort(-np.abs(arcs.values)) if start <= arcs.times[i] < stop]
    shown = [i for i in shown if int(arcs.first[i]) in places and int(arcs.later[i]) in places][:_MOST_ARCS]
    for i in shown:
        share = arcs.share(i)
        colour = arcs.colours[i] if arcs.colours else TEAL if arcs.values[i] >= 0 else BROWN
        style: dict[str, Any] = {"color": colour, "alpha": min(1.0, arcs.opacity * (0.5 + share))}
        x, bend = float(arcs.times[i]) + arcs.step / 2, _BEND * arcs.step
        end = x + float(arcs.lags[i])
        y, later = places[int(arcs.first[i])], places[int(arcs.later[i])]
        path = Path([(x, y), (x + bend, y), (end + bend, later), (end, later)], [Path.MOVETO, *[Path.CURVE4] * 3])
        ax.add_patch(PathPatch(path, fill=False, linewidth=0.4 + 0.8 * share, zorder=3, **style))
        ax.plot([end], [later], marker="o", markersize=1.6, markeredgewidth=0, zorder=3, **style)


def _places(montage: Montage, channels: Sequence[str], centres: np.ndarray) -> dict[int, float]:
    """Height of each channel by number: of the row it begins, or else of one that it ends."""
    places: dict[int, float] = {}
    for number, name in enumerate(channels):
        found = [i for i, row in enumerate(montage.derivations) if row.anode == name]
        found += [i for i, row in enumerate(montage.derivations) if name in electrodes(row)]
        if found:
            places[number] = float(centres[found[0]])
    return places


def lane_words(lane: Lane | Shares) -> tuple[str, ...]:
    """What stands at the left of a lane."""
    return lane.names if isinstance(lane, Lane) and lane.names else ("0.00",)


def draw_lane(figure: FigureBase, lane: Lane | Shares, place: LaneAxes) -> None:
    """A curve or shares, with what they are written above."""
    ax = place.make(figure)
    if isinstance(lane, Shares):
        _draw_shares(ax, lane)
    else:
        _draw_curve(ax, lane)
    above = _KEY_POINTS if isinstance(lane, Shares) else 1.5
    ax.annotate(
        lane.title, (0, 1), (0, above), "axes fraction", "offset points", ha="left", va="bottom", fontsize=FOOT_POINTS,
        color=INK, annotation_clip=False,
    )  # fmt: skip


def _draw_curve(ax: Axes, lane: Lane) -> None:
    ax.set_ylim(lane.low, lane.high)
    ax.step(lane.times, lane.values, where="post", color=INK if lane.colours else VIOLET, linewidth=0.8)
    if lane.names:
        ax.set_yticks(range(len(lane.names)), lane.names)
    else:
        base = lane.low if lane.base is None else lane.base
        below, above = lane.colours or (VIOLET, VIOLET)
        strength = _FILLED_AS_CHOSEN if lane.colours else _FILLED
        for colour, values in ((below, np.minimum(lane.values, base)), (above, np.maximum(lane.values, base))):
            ax.fill_between(lane.times, base, values, step="post", color=colour, alpha=strength, linewidth=0)
        ax.set_yticks(sorted({lane.low, base, lane.high}), [f"{v:.3g}" for v in sorted({lane.low, base, lane.high})])
        if base > lane.low:
            ax.axhline(base, color=MUTED, linewidth=0.3)
    if lane.threshold is not None:
        ax.axhline(lane.threshold, color=MUTED, linewidth=0.5, linestyle="--")


def _draw_shares(ax: Axes, lane: Shares) -> None:
    """Shares on top of each other, and in a legend at the right which part has which colour."""
    from matplotlib.patches import Patch

    ax.set_ylim(0, 1)
    ax.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
    foot = np.zeros(len(lane.onsets))
    for i, shares in enumerate(np.nan_to_num(lane.values).T):
        colour = (*CYCLE, MUTED, INK, GRID)[i % (len(CYCLE) + 3)]
        ax.bar(lane.onsets, shares, lane.step, foot, align="edge", color=colour, alpha=0.75, linewidth=0)
        foot = foot + shares
    keys = [Patch(color=(*CYCLE, MUTED, INK, GRID)[i % (len(CYCLE) + 3)], alpha=0.75) for i in range(len(lane.names))]
    ax.legend(
        keys, lane.names, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=len(keys), fontsize=LANE_POINTS,
        handlelength=0.8, handletextpad=0.2, columnspacing=0.6, borderpad=0.1, borderaxespad=0.0,
    )  # fmt: skip
