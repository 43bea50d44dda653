"""A page of traces for print: true microvolts per millimetre, montage and filters named, heat and marks behind it.

Drawn anew from the recording with matplotlib, never taken from the screen. All vertical places are in millimetres of
the paper, so that the sensitivity holds there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from textwrap import shorten
from typing import TYPE_CHECKING

import numpy as np

from analysis.annotation import Annotation
from analysis.figures.row_scales import RowScale, foot_words, row_scales
from analysis.figures.style import DIVERGING, GRID, INK, MUTED, RESEARCH_ONLY, VIOLET, styled
from analysis.filtering import DisplayFilter
from analysis.montage import Montage
from analysis.recording import Page, Recording, Window
from analysis.signal_blocks import BlockSource
from analysis.time_words import elapsed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase

    from analysis.results import SeizurePrediction

_MM = 25.4
_SIDES = {"left": "#12427f", "right": "#a8261f", "midline": INK, "other": "#4a5563"}
_LEFT, _RIGHT, _TOP, _FOOT, _LANE, _BAR = 22.0, 8.0, 11.0, 17.0, 14.0, 14.0  # mm
_LINE_MM = 0.12
_BLOCK_GAP = 0.6  # of a row
_SAMPLES_PER_COLUMN = 4
_COLUMNS_PER_MM = 8.0
_NAME_LINES, _NAME_LENGTH, _LETTER_MM, _NAME_MM = 4, 32, 1.15, 2.7
_HEAT = "BuGn"  # white where there is nothing
_HEAT_ALPHA = 0.4  # the traces, which are dark, must stand out from the darkest heat


@dataclass(frozen=True)
class Heat:
    """Values behind the traces: (channels, patches), each patch `step` seconds from `onsets` (seconds) on.

    `centre` is the value without colour of a diverging scale, None for a sequential one.
    """

    ch_names: tuple[str, ...]
    onsets: np.ndarray
    step: float
    values: np.ndarray
    title: str
    unit: str = "1"
    centre: float | None = None


@dataclass(frozen=True)
class Lane:
    """A curve under the traces: `times` and `values`, between `low` and `high`, with a threshold where there is one.

    `names` are what the values 0, 1, 2… mean.
    """

    title: str
    times: np.ndarray
    values: np.ndarray
    low: float = 0.0
    high: float = 1.0
    threshold: float | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class PageFigure:
    """What a figure of a page shows; sizes in millimetres, times in seconds of the recording."""

    recording: Recording
    montage: Montage
    window: Window
    filters: DisplayFilter = field(default_factory=DisplayFilter)
    uv_per_mm: float = 7.0
    size_mm: tuple[float, float] = (180.0, 120.0)
    marks: Sequence[Annotation] = ()
    heat: Heat | None = None
    lanes: Sequence[Lane] = ()
    foot: Sequence[str] = ()


def probability_lane(prediction: SeizurePrediction) -> Lane:
    """The lane of a model's probability of a seizure."""
    if not len(prediction.times):
        return Lane("p(seizure)", np.empty(0), np.empty(0), threshold=prediction.threshold)
    times = np.append(prediction.times, prediction.times[-1] + prediction.durations[-1])
    values = np.append(prediction.probability, prediction.probability[-1])
    return Lane("p(seizure)", times, values, 0.0, 1.0, prediction.threshold)


def draw_page(page: PageFigure) -> Figure:
    """The figure of a page."""
    from matplotlib.figure import Figure

    width, height = page.size_mm
    with styled():
        figure = Figure(figsize=(width / _MM, height / _MM))
        draw_page_on(figure, page)
    return figure


def draw_page_on(figure: FigureBase, page: PageFigure) -> None:
    """Draw a page on a figure, or on a part of one, that is as large as the page asks for."""
    width, height = page.size_mm
    with styled():
        bar = _BAR if page.heat is not None else 0.0
        below = _FOOT + len(page.lanes) * _LANE
        room = height - _TOP - below
        ax = _axes(figure, page, _LEFT, below, width - _LEFT - _RIGHT - bar, room)
        names = _place_names(page)
        lines = max((line for _, line, _ in names), default=-1) + 1
        centres = _places(page.montage, room - lines * _NAME_MM)
        signal = BlockSource(page.recording, page.montage, page.filters).page(page.window)
        scales = row_scales(page.montage, page.recording, signal.data, page.uv_per_mm, _pitch(centres))
        if page.heat is not None:
            _draw_heat(figure, ax, page, centres, (width - _RIGHT - bar + 6.5, below + 0.25 * room, 2.5, 0.5 * room))
        _draw_marks(ax, page)
        _draw_traces(ax, page, signal, scales, centres)
        _draw_names(ax, page, names, room)
        _draw_scale(ax, page, scales, centres)
        for i, lane in enumerate(page.lanes):
            _draw_lane(figure, page, lane, below - (i + 1) * _LANE + 2.0, width - _LEFT - _RIGHT - bar)
        _write_foot(figure, page, scales)


def page_scales(page: PageFigure) -> list[RowScale]:
    """The scale of each row of a page's figure."""
    room = page.size_mm[1] - _TOP - _FOOT - len(page.lanes) * _LANE
    lines = max((line for _, line, _ in _place_names(page)), default=-1) + 1
    pitch = _pitch(_places(page.montage, room - lines * _NAME_MM))
    signal = BlockSource(page.recording, page.montage, page.filters).page(page.window)
    return row_scales(page.montage, page.recording, signal.data, page.uv_per_mm, pitch)


def _pitch(centres: np.ndarray) -> float:
    """Millimetres from row to row."""
    return float(np.abs(np.diff(centres)).min()) if len(centres) > 1 else 10.0


def _axes(figure: FigureBase, page: PageFigure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Axes placed in millimetres, y in millimetres from their foot."""
    w, h = page.size_mm
    ax = figure.add_axes((left / w, bottom / h, width / w, height / h))
    ax.set(xlim=(page.window.start, page.window.stop), ylim=(0, height), yticks=[])
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="x", length=0, labelsize=6, labeltop=True, labelbottom=False, pad=1)
    ticks = _ticks(page.window)
    ax.set_xticks(ticks, [elapsed(t, 0 if ticks.size < 2 or ticks[1] - ticks[0] >= 1 else 2) for t in ticks])
    ax.grid(axis="x", color=GRID, linewidth=0.3)
    ax.set_axisbelow(True)
    return ax


def _ticks(window: Window) -> np.ndarray:
    """At most about a dozen round times."""
    steps = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600)
    step = next((s for s in steps if window.duration / s <= 12), steps[-1])
    first = int(np.ceil(window.start / step - 1e-9))
    return np.arange(first, int(np.floor(window.stop / step + 1e-9)) + 1) * step


def _places(montage: Montage, room: float) -> np.ndarray:
    """Height of each row's zero, mm above the foot, with a gap between blocks."""
    at, y = 0.0, []
    previous: int | None = None
    for row in montage.derivations:
        at += 1.0 + (_BLOCK_GAP if previous is not None and row.block != previous else 0.0)
        previous = row.block
        y.append(at)
    pitch = room / (at + 0.5)
    return room - (np.array(y) - 0.25) * pitch


def _draw_traces(ax: Axes, page: PageFigure, signal: Page, scales: Sequence[RowScale], centres: np.ndarray) -> None:
    """The traces, and at the left the names of the rows with their scale where it is not the page's."""
    from matplotlib.collections import LineCollection

    times = signal.first_time + np.arange(signal.data.shape[0]) / signal.sfreq
    columns = int((page.size_mm[0] - _LEFT - _RIGHT) * _COLUMNS_PER_MM)
    size = min(6.5, 2.2 * _pitch(centres))
    for i, (row, scale) in enumerate(zip(page.montage.derivations, scales, strict=True)):
        height = scale.heights(signal.data[:, i])
        lines = [np.column_stack([t, centres[i] + y]) for t, y in _runs(*_thinned(times, height, columns))]
        colour = _SIDES[row.side]
        ax.add_collection(LineCollection(lines, colors=colour, linewidths=_LINE_MM / _MM * 72), autolim=False)
        ax.annotate(
            f"{row.name} ({scale.words()})" if scale.is_own else row.name, (0, centres[i]), (-2, 0),
            ("axes fraction", "data"), "offset points", ha="right", va="center",
            fontsize=min(size, 4.5) if scale.is_own else size, color=colour,
        )  # fmt: skip


def _thinned(times: np.ndarray, values: np.ndarray, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Least and most of each column where there are many samples to one, else the samples themselves."""
    step = len(values) // max(columns, 1)
    if step < _SAMPLES_PER_COLUMN:
        return times, values
    n = len(values) // step * step
    blocks = values[:n].reshape(-1, step)
    low, high = blocks.min(1), blocks.max(1)
    rising = blocks.argmin(1) < blocks.argmax(1)
    pairs = np.where(rising[:, None], np.stack([low, high], 1), np.stack([high, low], 1))
    at = times[:n].reshape(-1, step)
    return np.stack([at[:, 0], at[:, -1]], 1).ravel(), pairs.ravel()


def _runs(times: np.ndarray, values: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """The stretches without missing values; gaps are left open."""
    there = np.isfinite(values)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], there.view(np.int8), [0]])))
    return [(times[a:z], values[a:z]) for a, z in zip(edges[::2], edges[1::2], strict=True) if z - a > 1]


def _draw_heat(
    figure: FigureBase, ax: Axes, page: PageFigure, centres: np.ndarray, bar: tuple[float, float, float, float]
) -> None:
    """Each row's band in the colours of its electrodes' mean, and the scale beside the page."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    heat = page.heat
    assert heat is not None
    finite = heat.values[np.isfinite(heat.values)]
    if heat.centre is None:
        scale, name = Normalize(min(0.0, float(finite.min())), float(finite.max())), _HEAT
    else:
        most = max(float(np.abs(finite - heat.centre).max()), 1e-12)
        scale, name = Normalize(heat.centre - most, heat.centre + most), DIVERGING
    index = {channel: i for i, channel in enumerate(heat.ch_names)}
    pitch = _pitch(centres)
    edges = np.append(heat.onsets, heat.onsets[-1] + heat.step)
    for centre, row in zip(centres, page.montage.derivations, strict=True):
        # Of many electrodes that a row is shown against, an average or neighbours, none is what the row is about.
        shown = (row.anode, *row.cathode) if len(row.cathode) <= 1 else (row.anode,)
        rows = [index[channel] for channel in shown if channel in index]
        if rows:
            values = heat.values[rows].mean(0)[None]
            ax.pcolormesh(
                edges, [centre - pitch / 2, centre + pitch / 2], values, cmap=colormaps[name], norm=scale,
                alpha=_HEAT_ALPHA, linewidth=0, rasterized=True, shading="flat", zorder=0.5,
            )  # fmt: skip
    w, h = page.size_mm
    place = figure.add_axes((bar[0] / w, bar[1] / h, bar[2] / w, bar[3] / h))
    legend = figure.colorbar(ScalarMappable(scale, colormaps[name]), cax=place, alpha=_HEAT_ALPHA)
    legend.set_label(heat.title + (f" ({heat.unit})" if heat.unit != "1" else ""), fontsize=6)
    legend.ax.tick_params(labelsize=5, length=1.5)


def _shown_marks(page: PageFigure) -> list[Annotation]:
    shown = [mark for mark in page.marks if mark.onset < page.window.stop and mark.stop >= page.window.start]
    return sorted(shown, key=lambda mark: mark.onset)


def _draw_marks(ax: Axes, page: PageFigure) -> None:
    """Spans shaded, onsets as lines; what a model says in violet."""
    for mark in _shown_marks(page):
        colour = VIOLET if mark.is_model else INK
        start, stop = max(mark.onset, page.window.start), min(mark.stop, page.window.stop)
        if stop > start:
            ax.axvspan(start, stop, color=colour, alpha=0.08, linewidth=0, zorder=0.4)
        if mark.onset >= page.window.start:
            ax.axvline(mark.onset, color=colour, linewidth=0.5, linestyle="-" if mark.is_model else (0, (4, 2)))


def _place_names(page: PageFigure) -> list[tuple[Annotation, int, float]]:
    """The names of marks: which line each stands on, 0 on top, and where it begins in seconds, never past the edge."""
    speed = (page.size_mm[0] - _LEFT - _RIGHT - (_BAR if page.heat is not None else 0.0)) / page.window.duration
    free = [page.window.start] * _NAME_LINES
    placed = []
    for mark in _shown_marks(page):
        length = (len(_name_of(mark)) * _LETTER_MM + 2.0) / speed
        start = max(page.window.start, min(max(mark.onset, page.window.start), page.window.stop - length))
        line = next((i for i, at in enumerate(free) if at <= start), None)
        if line is not None:
            free[line] = start + length
            placed.append((mark, line, start))
    return placed


def _name_of(mark: Annotation) -> str:
    return shorten(mark.title or "mark", _NAME_LENGTH, placeholder="…")


def _draw_names(ax: Axes, page: PageFigure, names: Sequence[tuple[Annotation, int, float]], room: float) -> None:
    """The names of marks above the traces."""
    for mark, line, start in names:
        ax.text(
            start + 0.004 * page.window.duration, room - 0.6 - line * _NAME_MM, _name_of(mark), fontsize=5.5,
            color=VIOLET if mark.is_model else INK, va="top", clip_on=True,
            bbox={"facecolor": "white", "alpha": 0.85, "linewidth": 0, "pad": 0.6},
        )  # fmt: skip


def _draw_scale(ax: Axes, page: PageFigure, scales: Sequence[RowScale], centres: np.ndarray) -> None:
    """One second below at the right, and beside the last row of the page's sensitivity what 10 mm of it are."""
    second = 1.0 if page.window.duration <= 60 else round(page.window.duration / 10)
    x, y, height = page.window.stop - second, -1.0, 10.0
    ax.plot([x, x + second], [y, y], color=INK, linewidth=0.7, solid_capstyle="butt", clip_on=False)
    ax.annotate(
        f"{second:g} s", (x, y), (-2, 0), textcoords="offset points", fontsize=5.5, ha="right", va="center",
        annotation_clip=False,
    )  # fmt: skip
    of_page = [centre for centre, scale in zip(centres, scales, strict=True) if not scale.is_own]
    if not of_page:
        return
    foot = max(of_page[-1] - height / 2, 0.0)
    right = page.window.stop + 0.008 * page.window.duration
    ax.plot([right, right], [foot, foot + height], color=INK, linewidth=0.7, solid_capstyle="butt", clip_on=False)
    ax.annotate(
        f"{height * page.uv_per_mm:g} µV", (right, foot + height / 2), (2, 0), textcoords="offset points", fontsize=5.5,
        ha="left", va="center", rotation=90, annotation_clip=False,
    )  # fmt: skip


def _draw_lane(figure: FigureBase, page: PageFigure, lane: Lane, bottom: float, width: float) -> None:
    w, h = page.size_mm
    ax = figure.add_axes((_LEFT / w, bottom / h, width / w, (_LANE - 4.0) / h))
    ax.set(xlim=(page.window.start, page.window.stop), ylim=(lane.low, lane.high), xticks=[])
    ax.tick_params(labelsize=5, length=1.5)
    ax.step(lane.times, lane.values, where="post", color=VIOLET, linewidth=0.8)
    if lane.names:
        ax.set_yticks(range(len(lane.names)), lane.names)
    else:
        ax.fill_between(lane.times, lane.low, lane.values, step="post", color=VIOLET, alpha=0.2, linewidth=0)
    if lane.threshold is not None:
        ax.axhline(lane.threshold, color=MUTED, linewidth=0.5, linestyle="--")
    ax.set_ylabel(lane.title, fontsize=6)


def _write_foot(figure: FigureBase, page: PageFigure, scales: Sequence[RowScale]) -> None:
    speed = (page.size_mm[0] - _LEFT - _RIGHT - (_BAR if page.heat is not None else 0.0)) / page.window.duration
    settings = (foot_words(scales, page.uv_per_mm), f"{speed:.3g} mm/s", page.filters.describe(), "negative up")
    lines = [
        " · ".join((page.recording.path.name, page.montage.name, *settings)),
        *page.foot,
        RESEARCH_ONLY,
    ]
    figure.text(0.008, 0.008, "\n".join(lines), fontsize=5.5, color=MUTED, va="bottom")
