"""Draws an analysis as a figure for a paper; every kind that has no drawing of its own gets a plain one."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from analysis.analyses import Analysis, NamedArray
from analysis.figures.fitting import copy_words, drop_cut, fit, letter_share, thin
from analysis.figures.panes import height_mm
from analysis.figures.style import DIVERGING, MM, MUTED, RESEARCH_ONLY, SEQUENTIAL, styled, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase, SubFigure

# Drawings by kind ("module:function"): each gets a figure and the analysis, and fills the figure.
DRAWINGS: Mapping[str, str] = {
    "gates": "analysis.figures.axon:draw_gates",
    "gate-interventions": "analysis.figures.axon:draw_interventions",
    "lesion": "analysis.figures.axon:draw_lesion",
    "relation-mass": "analysis.figures.axon:draw_relation_mass",
    "experts": "analysis.figures.prise:draw_experts",
    "group-attribution": "analysis.figures.prise:draw_group_attribution",
    "group-interventions": "analysis.figures.prise_geometry:draw_group_interventions",
    "dynamic-groups": "analysis.figures.prise_geometry:draw_dynamic_groups",
    "gradient-geometry": "analysis.figures.prise_geometry:draw_gradient_geometry",
    "streams": "analysis.figures.neurduo:draw_streams",
    "timescales": "analysis.figures.neurduo:draw_timescales",
    "memory": "analysis.figures.neurduo:draw_memory",
    "stages": "analysis.figures.neurduo:draw_stages",
    "channel-map": "analysis.figures.mvpformer:draw_channel_map",
    "attention": "analysis.figures.mvpformer:draw_attention",
    "prediction": "analysis.figures.mvpformer:draw_prediction",
    "integrated-gradients": "analysis.figures.attribution:draw_attribution",
    "occlusion": "analysis.figures.attribution:draw_attribution",
    "grad-cam": "analysis.figures.attribution:draw_attribution",
    "sanity-checks": "analysis.figures.sanity_checks:draw_sanity_checks",
    "cka": "analysis.figures.similarity:draw_cka",
    "effective-rank": "analysis.figures.similarity:draw_effective_rank",
    "embedding": "analysis.figures.similarity:draw_embedding",
}
_WIDTH_MM = 183.0  # two columns of a journal
_FOOT_POINTS, _FOOT_LINE_MM, _FOOT_EDGE_MM = 6.0, 2.55, 1.5
_MOST_PANELS = 6
_LISTED = 24


def make_figure(result: Analysis, size: tuple[float, float] | None = None) -> Figure:
    """A matplotlib figure of an analysis, `size` in inches, with a foot that names span, model and limits of use."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    size = size or (_WIDTH_MM / MM, height_mm(result, _WIDTH_MM) / MM)
    with styled(letter_share(size[0] * MM)):
        room = _foot_room(result, size)
        figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(rect=(0, room, 1, 1 - room)))
        _fill(figure, result, size)
        fit(figure)
    return figure


def draw_panel(part: SubFigure, result: Analysis, size: tuple[float, float]) -> None:
    """The same figure on a part of a larger one, a part of `size` in inches.

    Layout engines lay out whole figures only, so that the places are those of a figure of its own.
    """
    alone = make_figure(result, size)
    alone.draw_without_rendering()
    with styled(letter_share(size[0] * MM)):
        _fill(part, result, size)
    for ax, placed in zip(list(part.axes), alone.axes, strict=True):
        ax.set_position(placed.get_position(original=True))
        copy_words(placed, ax)
    for mine, other in zip(part.texts, alone.texts, strict=True):
        mine.set_position(other.get_position())
    if alone.get_suptitle():
        title = alone._suptitle  # type: ignore[attr-defined]
        part.suptitle(title.get_text(), x=title.get_position()[0], y=title.get_position()[1], ha="left", fontsize=7)
    part.get_figure(root=True).draw_without_rendering()
    thin(list(part.axes))
    drop_cut(list(part.axes))


def _fill(figure: FigureBase, result: Analysis, size: tuple[float, float]) -> None:
    drawing = DRAWINGS.get(result.kind)
    (_drawing(drawing) if drawing else draw_plain)(figure, result)  # type: ignore[arg-type]
    x, y = _FOOT_EDGE_MM / MM / size[0], _FOOT_EDGE_MM / MM / size[1]
    words = "\n".join(_foot_lines(result, size))
    figure.text(x, y, words, fontsize=_FOOT_POINTS, color=MUTED, va="bottom", linespacing=1.2)


def _foot_lines(result: Analysis, size: tuple[float, float]) -> list[str]:
    room = size[0] * MM - 2 * _FOOT_EDGE_MM
    return [line for words in foot(result).split("\n") for line in wrapped(words, _FOOT_POINTS, room)]


def _foot_room(result: Analysis, size: tuple[float, float]) -> float:
    """Of the height."""
    return (2 * _FOOT_EDGE_MM + _FOOT_LINE_MM * len(_foot_lines(result, size))) / MM / size[1]


def figure_bytes(
    result: Analysis,
    form: Literal["svg", "pdf", "png"],
    size_mm: tuple[float, float] | None = None,
    dpi: int = 300,
) -> bytes:
    """The figure as a file; the same analysis gives the same bytes."""
    from analysis.figures.saving import saved

    return saved(make_figure(result, (size_mm[0] / MM, size_mm[1] / MM) if size_mm else None), form, dpi)


def foot(result: Analysis) -> str:
    """What stands under every figure: the model, the recording and span, and what it may be used for."""
    start, stop = result.provenance.get("span", (0.0, 0.0))
    name = str(result.provenance.get("recording", {}).get("path", "")).replace("\\", "/").rsplit("/", 1)[-1]
    lines = [f"{' and '.join(result.models)} · {name}, {start:g} to {stop:g} s"]
    if result.random_weights:
        lines.append("Random weights: the figure shows how the analysis works and says nothing about the recording.")
    return "\n".join([*lines, RESEARCH_ONLY])


def draw_plain(figure: Figure, result: Analysis) -> None:
    """Lines for one axis, images for two, means over the leading axes for more; at most six arrays."""
    chosen = [(name, array) for name, array in result.arrays.items() if array.values.ndim >= 1][:_MOST_PANELS]
    columns = min(len(chosen), 3) or 1
    rows = -(-len(chosen) // columns) or 1
    axes = figure.subplots(rows, columns, squeeze=False)
    for ax in axes.flat[len(chosen) :]:
        ax.set_axis_off()
    for ax, (name, array) in zip(axes.flat, chosen, strict=False):
        _draw_array(figure, ax, name, array, result)


def _draw_array(figure: Figure, ax: Axes, name: str, array: NamedArray, result: Analysis) -> None:
    values, names = array.values, list(array.axes)
    while values.ndim > 2:
        values, names = values.mean(0), names[1:]
    ax.set_title(name.replace("_", " "))
    unit = f" ({array.unit})" if array.unit != "1" else ""
    if values.ndim == 1:
        ax.plot(values, marker="o", markersize=2)
        ax.set_ylabel(array.meaning + unit, fontsize=6, wrap=True)
        label_axis(ax, "x", result, names[0])
        return
    image = ax.imshow(values, aspect="auto", interpolation="nearest", **colours(values))
    bar = figure.colorbar(image, ax=ax)
    bar.set_label(array.meaning + unit, fontsize=6)
    label_axis(ax, "x", result, names[1])
    label_axis(ax, "y", result, names[0])


def colours(values: np.ndarray) -> dict[str, Any]:
    """A diverging scale around zero for values of both signs, a sequential one for others."""
    finite = values[np.isfinite(values)]
    if finite.size and finite.min() < 0 < finite.max():
        most = float(np.abs(finite).max())
        return {"cmap": DIVERGING, "vmin": -most, "vmax": most}
    return {"cmap": SEQUENTIAL}


def write_above(figure: Figure, words: str) -> None:
    """A line over all panels: how many windows a figure rests on, and whose definitions it shows."""
    figure.suptitle(words, x=0.01, ha="left", fontsize=7)


def label_axis(ax: Axes, which: Literal["x", "y"], result: Analysis, name: str) -> None:
    """Name an axis, and its entries where they have names and are few."""
    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_label_text(name)
    entries = result.labels.get(name, ())
    if 0 < len(entries) <= _LISTED and not all(entry.isdigit() for entry in entries):
        axis.set_ticks(range(len(entries)), entries, fontsize=6, rotation=60 if which == "x" else 0)


def _drawing(name: str) -> Callable[[Figure, Analysis], None]:
    module, _, function = name.partition(":")
    found: Callable[[Figure, Analysis], None] = getattr(importlib.import_module(module), function)
    return found
