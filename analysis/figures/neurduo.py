"""Figures of NeurDuo: the rates of its streams, the time constants of its blocks, what its memory recalls, units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.analyses import Analysis
from analysis.figures.draw import label_axis
from analysis.figures.panes import MIDDLE_MM, paper_mm, shape_of
from analysis.figures.style import BROWN, CYCLE, GRID, MUTED, SEQUENTIAL, TEAL, VIOLET

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FAST, SLOW = VIOLET, TEAL
_NAMED = 40
_LEGEND_ROOM = 0.25  # of a vertical axis for each line of a legend, above the curves
_QUANTILES = (5, 25, 50, 75, 95)


def draw_streams(figure: Figure, result: Analysis) -> None:
    """Rates of both streams over time with the writes below, and the fast rate of each channel as a heat map."""
    top, heat = figure.subplots(2, 1, sharex=True, height_ratios=(1, 1))
    start, facts = float(result.facts["first_time"]), result.facts
    time, written = start + result.values("time"), start + result.values("slow_time")
    fast, slow = result.values("fast"), result.values("slow")
    top.plot(
        time, fast, color=FAST, linewidth=0.8, label=_named("fast, every", facts["step_seconds"], facts["fast_median"])
    )
    top.plot(
        written, slow, color=SLOW, marker="o", markersize=1.5, linewidth=0.9,
        label=_named("slow, every", facts["write_seconds"], facts["slow_median"]),
    )  # fmt: skip
    for reset in facts["resets"]:
        top.axvline(reset, color=BROWN, linewidth=0.8, linestyle="--")
    positive = np.concatenate([fast[fast > 0], slow[slow > 0]])
    if positive.size:
        top.set_yscale("log")
        top.plot(
            written, np.full(len(written), positive.min() / 2), "|", color=MUTED, markersize=4, label="memory write"
        )
    top.set(title="Relative change per second, mean over channels", ylabel="1/s")
    low, high = top.get_ylim()
    lines = 3 if paper_mm(figure) < MIDDLE_MM else 1  # of the legend
    top.set_ylim(low, high * (high / low) ** (_LEGEND_ROOM * lines) if positive.size else high)
    top.legend(loc="upper right", ncols=3 // lines, fontsize=6)
    by_channel = result.values("fast_by_channel")
    edges = (time[0], time[-1] + facts["step_seconds"]) if len(time) else (0, 1)
    most = float(np.nanpercentile(by_channel, 98)) if np.isfinite(by_channel).any() else 1.0
    image = heat.imshow(
        by_channel.T, aspect="auto", interpolation="nearest", cmap=SEQUENTIAL, vmin=0, vmax=most,
        extent=(*edges, by_channel.shape[1] - 0.5, -0.5),
    )  # fmt: skip
    heat.set(title="Fast stream by channel", xlabel="time (s)")
    _name_channels(heat, result)
    figure.colorbar(image, ax=heat, label="1/s", extend="max")


def _named(text: str, seconds: float, median: float | None) -> str:
    middle = "" if median is None else f", median {median:.3g}"
    return f"{text} {seconds:g} s{middle}"


def draw_timescales(figure: Figure, result: Analysis) -> None:
    """Quantiles of the time constants of every block, fast beside slow, with the untrained model's behind."""
    rows, columns = shape_of("timescales", paper_mm(figure))
    blocks, spread = figure.subplots(rows, columns, width_ratios=(2, 1)[:columns], sharey=True).flat
    place = 0.0
    ticks, names = [], []
    for stream, colour in (("fast", FAST), ("slow", SLOW)):
        own, reference = result.values(stream), result.values(f"untrained_{stream}")
        for i in range(len(own)):
            _quantiles(blocks, place - 0.17, reference[i], MUTED)
            _quantiles(blocks, place + 0.17, own[i], colour)
            ticks.append(place)
            names.append(f"{stream} {i}")
            place += 1
        place += 0.5
        for values, shade, style in ((own, colour, "-"), (reference, MUTED, "--" if stream == "fast" else ":")):
            counts, edges = np.histogram(np.log10(values), 60)
            middle = 10 ** ((edges[1:] + edges[:-1]) / 2)
            whose = stream if shade == colour else f"{stream}, untrained"
            spread.plot(counts / counts.max(), middle, color=shade, linestyle=style, label=whose)
    blocks.set_yscale("log")
    blocks.set_xticks(ticks, names, rotation=60, fontsize=6)
    blocks.set(title="Nominal time constants by block", ylabel="seconds")
    blocks.text(
        0.01, 0.99, "bar 5-95 %, box 25-75 %; grey: never trained", transform=blocks.transAxes, va="top", fontsize=6
    )
    spread.set(title="All states", xlabel="share of the commonest")
    spread.legend()
    for ax in (blocks, spread):
        ax.grid(axis="y", color=GRID, linewidth=0.5)


def _quantiles(ax: Axes, x: float, values: np.ndarray, colour: str) -> None:
    low, first, median, third, high = np.percentile(values, _QUANTILES)
    ax.plot([x, x], [low, high], color=colour, linewidth=0.8)
    ax.plot([x, x], [first, third], color=colour, linewidth=4, solid_capstyle="butt", alpha=0.6)
    ax.plot([x], [median], marker="o", markersize=2.5, color=colour)


def draw_memory(figure: Figure, result: Analysis) -> None:
    """Recall of each slot over time, mean over channels; mean recall by channel; gate and share of the recall."""
    rows, columns = shape_of("memory", paper_mm(figure))
    slots_ax, mean_ax, pass_ax, gate_ax = figure.subplots(rows, columns, width_ratios=(2, 1)[:columns]).flat
    weights, start = result.values("weights"), float(result.facts["first_time"])
    time = start + result.values("time")
    edges = (time[0], time[-1] + result.facts["step_seconds"])
    slots = weights.shape[2]
    recall = weights.mean(1)
    image = slots_ax.imshow(
        recall.T, aspect="auto", interpolation="nearest", cmap=SEQUENTIAL, vmin=0, vmax=np.percentile(recall, 99),
        extent=(*edges, slots - 0.5, -0.5),
    )  # fmt: skip
    slots_ax.set(title="Recall of each slot, mean over channels", xlabel="time (s)")
    label_axis(slots_ax, "y", result, "slot")
    figure.colorbar(image, ax=slots_ax, extend="max")
    image = mean_ax.imshow(weights.mean(0), aspect="auto", interpolation="nearest", cmap=SEQUENTIAL, vmin=0)
    mean_ax.set(title="Mean recall by channel")
    mean_ax.set_xticks([0, slots - 1], ["oldest slot", "newest"])
    _name_channels(mean_ax, result)
    figure.colorbar(image, ax=mean_ax)
    gate, share = result.values("gate"), result.values("share")
    for values, colour, name in ((gate, VIOLET, "gate"), (share, TEAL, "length of the recall over the slow state's")):
        mean = np.where(recall.any(1), values.mean(1), np.nan)  # nothing passes before the first write
        pass_ax.plot(time, mean, color=colour, linewidth=0.8, label=name)
    pass_ax.set(title="How much passes, mean over channels", xlabel="time (s)", ylim=(0, None))
    pass_ax.legend()
    gate_ax.barh(range(gate.shape[1]), gate.mean(0), color=VIOLET, height=0.7)
    _name_channels(gate_ax, result)
    gate_ax.invert_yaxis()
    gate_ax.set(title="Mean gate", xlim=(0, 1))


def draw_stages(figure: Figure, result: Analysis) -> None:
    """The likeliest class of each unit as a staircase, and the probabilities of all classes stacked."""
    stairs, stack = figure.subplots(2, 1, sharex=True)
    seconds, start = float(result.facts["unit_seconds"]), float(result.facts["first_time"])
    time = start + result.values("time")
    probability, choice = result.values("probability"), result.values("choice")
    names = result.labels["class"]
    stairs.hlines(choice, time, time + seconds, color=VIOLET, linewidth=2)
    joined = np.flatnonzero(np.abs(np.diff(time) - seconds) < 1e-3)
    stairs.vlines(time[joined + 1], choice[joined], choice[joined + 1], color=MUTED, linewidth=0.6)
    stairs.set_yticks(range(len(names)), names)
    stairs.set_ylim(len(names) - 0.5, -0.5)
    stairs.set(title=f"Likeliest class of each {seconds:g} s")
    bottom = np.zeros(len(time))
    for i, name in enumerate(names):
        stack.bar(
            time, probability[:, i], seconds, bottom=bottom, align="edge", color=CYCLE[i % len(CYCLE)], label=name
        )
        bottom += probability[:, i]
    stack.set(title="Probability", xlabel="time (s)", ylim=(0, 1))
    stack.margins(x=0)
    stack.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=len(names))


def _name_channels(ax: Axes, result: Analysis) -> None:
    """Names of the channels down the side, small where they are many."""
    names = result.labels["channel"]
    if len(names) <= _NAMED:
        ax.set_yticks(range(len(names)), names, fontsize=6 if len(names) <= 20 else 4.5)
    else:
        ax.set_ylabel("channel")
