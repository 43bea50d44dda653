"""A page of traces for print: true microvolts per millimetre, montage and filters named, heat and marks behind it.

Drawn anew from the recording with matplotlib, never taken from the screen. All vertical places are in millimetres of
the paper, so that the sensitivity holds there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from analysis.annotation import Annotation
from analysis.channel_kinds import KIND_TITLES
from analysis.figures.layers import Arcs, Heat, Lane, RowLook, Shares
from analysis.figures.layers import probability_lane as probability_lane
from analysis.figures.page_layers import LaneAxes, draw_arcs, draw_bars, draw_heat, draw_lane, lane_words
from analysis.figures.page_layout import FOOT_POINTS, OWN_POINTS, ROW_POINTS, TICK_POINTS, Layout, bar_words, pitch_of
from analysis.figures.page_marks import PlacedName, draw_marks, draw_names, place_names
from analysis.figures.row_scales import RowScale, foot_words, row_scales
from analysis.figures.style import GRID, INK, MM, MUTED, RESEARCH_ONLY, styled, text_mm
from analysis.filtering import DisplayFilter, Filters, as_bank
from analysis.montage import Montage
from analysis.recording import Page, Recording, Window
from analysis.signal_blocks import BlockSource
from analysis.time_words import elapsed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase

_SIDES = {"left": "#12427f", "right": "#a8261f", "midline": INK, "other": "#4a5563"}
_LINE_MM = 0.12
_SAMPLES_PER_COLUMN = 4
_COLUMNS_PER_MM = 8.0
_TICK_GAP = 2.5  # mm between two times
_SPEED = "##.# mm/s"  # until the room for the traces is known
_USUAL_PITCH = 5.0


@dataclass(frozen=True)
class PageFigure:
    """What a figure of a page shows; sizes in millimetres, times in seconds of the recording.

    `looks` hold rows as a window draws them, `clock` writes times of day where the recording's start is known, `head`
    stands over everything.
    """

    recording: Recording
    montage: Montage
    window: Window
    filters: Filters = field(default_factory=DisplayFilter)
    uv_per_mm: float = 7.0
    size_mm: tuple[float, float] = (180.0, 120.0)
    marks: Sequence[Annotation] = ()
    heat: Heat | None = None
    lanes: Sequence[Lane | Shares] = ()
    foot: Sequence[str] = ()
    more_heat: Sequence[Heat] = ()
    arcs: Sequence[Arcs] = ()
    looks: Sequence[RowLook] = ()
    clock: bool = False
    head: str = ""

    @property
    def heats(self) -> tuple[Heat, ...]:
        """Everything behind the traces."""
        return (*([self.heat] if self.heat is not None else []), *self.more_heat)


def draw_page(page: PageFigure) -> Figure:
    """The figure of a page; AnalysisError where the paper is too small for it."""
    from matplotlib.figure import Figure

    width, height = page.size_mm
    with styled():
        figure = Figure(figsize=(width / MM, height / MM))
        draw_page_on(figure, page)
    return figure


def draw_page_on(figure: FigureBase, page: PageFigure) -> None:
    """Draw a page on a figure, or on a part of one, that is as large as the page asks for."""
    with styled():
        made = _Measures(page)
        layout, centres = made.layout, made.centres
        ax = _axes(figure, page, layout)
        for heat in page.heats:
            draw_heat(ax, heat, page.montage, centres)
        draw_bars(figure, layout, page.heats, page.size_mm)
        draw_marks(ax, page.marks, page.window)
        _draw_traces(ax, page, made)
        for arcs in page.arcs:
            draw_arcs(ax, arcs, page.montage, centres)
        draw_names(ax, made.names, layout.room, page.window)
        _draw_scale(ax, page, made.scales, centres)
        for i, lane in enumerate(page.lanes):
            place = LaneAxes(layout.left, layout.lane_foot(i), layout.width, page.size_mm, page.window)
            draw_lane(figure, lane, place)
        _write_foot(figure, page, layout)


def page_scales(page: PageFigure) -> list[RowScale]:
    """The scale of each row of a page's figure."""
    return _Measures(page).scales


class _Measures:
    """The signal of a page, and where everything of it stands."""

    def __init__(self, page: PageFigure) -> None:
        self.signal: Page = BlockSource(page.recording, page.montage, page.filters).page(page.window)
        self._looks = {look.row: look for look in page.looks}
        self.layout = _layout(page, self._scales(page, _USUAL_PITCH))
        self.names: list[PlacedName] = place_names(page.marks, page.window, self.layout.width)
        self.centres = self.layout.places(max((name.line for name in self.names), default=-1) + 1)
        self.scales = self._scales(page, pitch_of(self.centres))

    def _scales(self, page: PageFigure, pitch: float) -> list[RowScale]:
        data = self.signal.data
        return row_scales(page.montage, page.recording, data, page.uv_per_mm, pitch, self._looks)


def _layout(page: PageFigure, scales: Sequence[RowScale]) -> Layout:
    named = [_row_words(page, scale) for scale in scales]
    return Layout(
        page.size_mm,
        tuple(words for words, scale in zip(named, scales, strict=True) if not scale.is_own),
        tuple(words for words, scale in zip(named, scales, strict=True) if scale.is_own),
        tuple(row.block for row in page.montage.derivations),
        tuple(words for lane in page.lanes for words in lane_words(lane)),
        len(page.lanes),
        tuple(dict.fromkeys(bar_words(heat) for heat in page.heats)),
        (_settings_words(page, scales), *(arcs.title for arcs in page.arcs), *page.foot, RESEARCH_ONLY),
        page.head,
    )


def _row_words(page: PageFigure, scale: RowScale) -> str:
    if not scale.is_own:
        return scale.row
    notes = {look.row: look.note for look in page.looks}
    return f"{scale.row} ({notes.get(scale.row) or scale.words()})"


def _settings_words(page: PageFigure, scales: Sequence[RowScale]) -> str:
    """What stands first at the foot: which recording, and how it is shown."""
    up = {scale.per_mm > 0 for scale in scales if scale.kind and scale.per_mm is not None}
    direction = "positive up" if up == {True} else "negative up"
    bank = as_bank(page.filters)
    shown = {scale.kind for scale in scales}
    own = [f"{KIND_TITLES.get(kind, kind)} {chosen.describe()}" for kind, chosen in bank.own if kind in shown]
    filters = bank.page.describe() + (f" ({'; '.join(own)})" if own else "")
    settings = (foot_words(scales, page.uv_per_mm), _SPEED, filters, direction)
    return " · ".join((page.recording.path.name, page.montage.name, *settings))


def _axes(figure: FigureBase, page: PageFigure, layout: Layout) -> Axes:
    """Axes placed in millimetres, y in millimetres from their foot."""
    w, h = page.size_mm
    ax = figure.add_axes((layout.left / w, layout.below / h, layout.width / w, layout.room / h))
    ax.set(xlim=(page.window.start, page.window.stop), ylim=(0, layout.room), yticks=[])
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="x", length=0, labelsize=TICK_POINTS, labeltop=True, labelbottom=False, pad=1)
    ticks, words = _ticks(page, layout.width)
    ax.set_xticks(ticks, words)
    ax.annotate(
        "h:min:s" if _clock(page) or page.window.stop >= 3600 else "min:s",
        (0, 1), (-text_mm(words[0] if words else "", TICK_POINTS) / 2 / MM * 72 - 2, 1.5), "axes fraction",
        "offset points", ha="right", va="bottom", fontsize=FOOT_POINTS, color=MUTED,
    )  # fmt: skip
    ax.grid(axis="x", color=GRID, linewidth=0.3)
    ax.set_axisbelow(True)
    return ax


def _clock(page: PageFigure) -> bool:
    return page.clock and page.recording.start_datetime is not None


def _ticks(page: PageFigure, width: float) -> tuple[np.ndarray, list[str]]:
    """Round times, as many as have room beside each other, and how they are written."""
    steps = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600)
    window = page.window
    for step in steps:
        last = int(np.floor(window.stop / step + 1e-9))
        ticks = np.arange(int(np.ceil(window.start / step - 1e-9)), last + 1) * step
        if ticks.size > 12:
            continue
        words = [_time_words(page, float(time), 0 if step >= 1 else 2) for time in ticks]
        room = max((text_mm(word, TICK_POINTS) for word in words), default=0.0) + _TICK_GAP
        if step / window.duration * width >= room:
            break
    return ticks, words


def _time_words(page: PageFigure, time: float, decimals: int) -> str:
    start = page.recording.start_datetime
    if not _clock(page) or start is None:
        return elapsed(time, decimals)
    moment = start + timedelta(seconds=time)
    return f"{moment:%H:%M:%S}" + (f".{moment.microsecond // 10000:02d}" if decimals else "")


def _draw_traces(ax: Axes, page: PageFigure, made: _Measures) -> None:
    """The traces, and at the left the names of the rows with their scale where it is not the page's."""
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Rectangle

    signal, pitch = made.signal, pitch_of(made.centres)
    times = signal.first_time + np.arange(signal.data.shape[0]) / signal.sfreq
    columns = int(made.layout.width * _COLUMNS_PER_MM)
    looks = {look.row: look for look in page.looks}
    for i, (row, scale) in enumerate(zip(page.montage.derivations, made.scales, strict=True)):
        look, centre = looks.get(row.name), made.centres[i]
        height = scale.heights(signal.data[:, i])
        lines = [np.column_stack([t, centre + y]) for t, y in _runs(*_thinned(times, height, columns))]
        colour = (look.colour if look is not None else "") or _SIDES[row.side]
        traces = LineCollection(lines, colors=colour, linewidths=_LINE_MM / MM * 72, label=row.name)
        ax.add_collection(traces, autolim=False)
        if look is not None and look.is_cut:
            room = (page.window.start, centre - pitch / 2)
            traces.set_clip_path(Rectangle(room, page.window.duration, pitch, transform=ax.transData))
        words = _row_words(page, scale)
        ax.annotate(
            words, (0, centre), (-2, 0), ("axes fraction", "data"), "offset points", ha="right", va="center",
            fontsize=_points(words, scale, pitch, made.layout.left), color=colour,
        )  # fmt: skip


def _points(words: str, scale: RowScale, pitch: float, room: float) -> float:
    """The size of a row's name: no higher than the row, no longer than the room beside it."""
    most = min(OWN_POINTS if scale.is_own else ROW_POINTS, 2.2 * pitch)
    return min(most, most * (room - 1.5) / max(text_mm(words, most), 1e-6))


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


def _draw_scale(ax: Axes, page: PageFigure, scales: Sequence[RowScale], centres: np.ndarray) -> None:
    """A length of time below at the right, and beside the last row of the page's sensitivity what 10 mm of it are."""
    duration = page.window.duration
    second = 0.1 if duration < 2 else 1.0 if duration <= 60 else round(duration / 10)
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


def _write_foot(figure: FigureBase, page: PageFigure, layout: Layout) -> None:
    w, h = page.size_mm
    speed = f"{layout.width / page.window.duration:.3g} mm/s"
    lines = [line.replace(_SPEED, speed) for line in layout.foot_lines]
    figure.text(1.5 / w, 1.0 / h, "\n".join(lines), fontsize=FOOT_POINTS, color=MUTED, va="bottom", linespacing=1.2)
    if page.head:
        figure.text(1.5 / w, 1 - 1.0 / h, page.head, fontsize=TICK_POINTS, color=INK, va="top")
