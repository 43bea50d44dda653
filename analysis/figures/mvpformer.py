"""Figures of MVPFormer's attention between channels and times, and of the states it foresees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.analyses import Analysis
from analysis.attention_maps import CODE, FLOW, PRIOR, TERM, against_even, pairs_of, spearman
from analysis.figures.draw import write_above
from analysis.figures.fitting import letter_share
from analysis.figures.panes import paper_mm, shape_of
from analysis.figures.style import BROWN, DIVERGING, MUTED, SEQUENTIAL, TEAL, VIOLET

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COVERED = 99.0
_TITLE_POINTS = 8.0
_NAMED = 13  # names of channels beside a small map
_LEGEND_ROOM = 0.2  # of a vertical axis, above the lines
_LEAST_REACH = 0.05  # of axes around even attention, so that next to nothing looks like it
_TITLES = {FLOW: "Realised map", TERM: "Channel term", PRIOR: "Prior map", CODE: "Implied distance"}
_COLUMNS = ("loaded", "initial", "loaded − initial")
_INKS = {"content": VIOLET, "time": TEAL, "channel": BROWN}
_PREDICTED = {"true": ("next segment", VIOLET), "two_step": ("the one after", TEAL), "random": ("random", BROWN)}


def draw_channel_map(figure: Figure, result: Analysis) -> None:
    """Realised map and channel term beside those of random weights, strengths, codes, and distance in space."""
    places = _map_places(figure)
    for row, which in enumerate((FLOW, TERM)):
        own, random = (against_even(result.values(f"{p}{which}").mean((0, 1))) for p in ("", "random_"))
        _draw_maps(figure, places[row][:3], result, which, own, random)
    own, random = result.values(CODE), result.values(f"random_{CODE}")
    _draw_maps(figure, places[2][:3], result, CODE, own, random)
    for row, draw in enumerate((_draw_strength, _draw_entropy, _draw_space)):
        draw(places[row][3], result)
    write_above(
        figure,
        f"{_windows(result)}; mean of layers and heads; rows look at columns; initial: random weights, seed "
        f"{result.facts['initial_seed']}\nMaps in % above even attention; what acts without a signal is symmetric "
        "Toeplitz in the number of the channel [our definition]",
    )


def _map_places(figure: Figure) -> list[list[Axes]]:
    """Three maps and a plot for each kind of map: beside each other, the plots below all maps, or two by two."""
    rows, columns = shape_of("channel-map", paper_mm(figure))
    grid = figure.add_gridspec(rows, columns, width_ratios=(1, 1, 1, 1.1) if columns == 4 else None)
    if columns == 3:
        return [[*(figure.add_subplot(grid[i, j]) for j in range(3)), figure.add_subplot(grid[3, i])] for i in range(3)]
    each = 4 // columns
    return [[figure.add_subplot(grid[each * i + j // columns, j % columns]) for j in range(4)] for i in range(3)]


def _draw_maps(
    figure: Figure, axes: list[Axes], result: Analysis, which: str, own: np.ndarray, random: np.ndarray
) -> None:
    """A map of the loaded weights, of random ones, and the difference, with a scale for each kind."""
    scale, unit = _colours(np.stack([own, random])), "distance" if which == CODE else "%"
    pairs = ((own, scale), (random, scale), (own - random, _colours((own - random)[None])))
    for ax, (values, colours), words in zip(axes, pairs, _COLUMNS, strict=True):
        image = ax.imshow(values, interpolation="nearest", **colours)
        ax.set_title(_TITLES[which] if ax is axes[0] else words, fontsize=_title_points(ax))
        _name_channels(ax, result, both=True)
        if ax is not axes[0]:
            bar = figure.colorbar(image, ax=ax, shrink=0.85)
            bar.set_label(unit, fontsize=6)
            bar.ax.tick_params(labelsize=5)


def _title_points(ax: Axes) -> float:
    """Points of the titles of small panels, which are as large on all paper as the other letters allow."""
    return _TITLE_POINTS * letter_share(paper_mm(ax.figure))


def _name_channels(ax: Axes, result: Analysis, both: bool = False) -> None:
    """As many names as can be read, at the foot and, with `both`, at the side."""
    names = result.labels["channel"]
    places = range(0, len(names), -(-len(names) // _NAMED))
    chosen = [names[i] for i in places]
    ax.set_xticks(places, chosen, fontsize=4, rotation=60)
    if both:
        ax.set_yticks(places, chosen, fontsize=4)
    ax.tick_params(length=1.5)


def _colours(maps: np.ndarray) -> dict[str, Any]:
    """Zero in the middle for both signs, as far as nearly all pairs of channels reach; from zero on for amounts."""
    apart = maps[:, ~np.eye(maps.shape[-1], dtype=bool)]
    if maps.min() >= 0 and maps.max() > 0:
        return {"cmap": SEQUENTIAL, "vmin": 0.0}
    reach = float(np.percentile(np.abs(apart), _COVERED)) if apart.size else 0.0
    reach = reach or float(np.abs(maps).max()) or 1.0
    return {"cmap": DIVERGING, "vmin": -reach, "vmax": reach}


def _draw_strength(ax: Axes, result: Analysis) -> None:
    """What each channel receives and gives, mean of layers and heads, with 1 for even attention."""
    names = result.labels["channel"]
    place = np.arange(len(names))
    ax.axhline(1.0, color=MUTED, linewidth=0.6)
    for name, words, colour in (("strength_in", "receives", TEAL), ("strength_out", "gives", BROWN)):
        ax.plot(place, result.values(name).mean((0, 1)), color=colour, linewidth=0.8, marker=".", label=words)
    ax.set_title("Strength, × even", fontsize=_title_points(ax))
    _name_channels(ax, result)
    ax.tick_params(axis="y", labelsize=5)
    low, high = ax.get_ylim()
    ax.set_ylim(min(low, 1 - _LEAST_REACH), max(high, 1 + _LEAST_REACH))
    ax.legend(fontsize=5)


def _draw_entropy(ax: Axes, result: Analysis) -> None:
    """Row entropy by layer, mean of heads, of the maps that are shares."""
    for which, colour in ((FLOW, VIOLET), (TERM, TEAL)):
        place = result.labels["map"].index(which)
        for name, style in (("entropy", "-"), ("random_entropy", ":")):
            words = _TITLES[which] if name == "entropy" else "initial"
            ax.plot(result.values(name)[place].mean(-1), style, color=colour, marker=".", label=words)
    ax.set_title("Row entropy / log C", fontsize=_title_points(ax))
    ax.set_xlabel("layer", fontsize=6)
    ax.set_xticks(range(result.values(FLOW).shape[0]))
    ax.set_ylim(min(ax.get_ylim()[0], 1 - 2 * _LEAST_REACH), 1 + _LEAST_REACH / 4)
    ax.tick_params(labelsize=5)
    ax.legend(fontsize=5)


def _draw_space(ax: Axes, result: Analysis) -> None:
    """Distance of the codes of pairs of channels against their distance in space, where places are known."""
    ax.set_title("Codes against space", fontsize=_title_points(ax))
    if result.facts["n_located"] < 3:
        ax.text(0.5, 0.5, "no positions", ha="center", va="center", fontsize=7, transform=ax.transAxes)
        ax.set_axis_off()
        return
    x, y = pairs_of(result.values("physical")), pairs_of(result.values(CODE))
    rho, n = spearman(x, y)
    ax.plot(x, y, ".", color=VIOLET, markersize=2, alpha=0.5)
    ax.set_title(f"Codes against space\nSpearman ρ {rho:.2f}, {n} pairs".replace("-", "−"), fontsize=6)
    ax.set_xlabel("distance in space, mm", fontsize=6)
    ax.set_ylabel("distance of codes", fontsize=6)
    ax.tick_params(labelsize=5)


def draw_attention(figure: Figure, result: Analysis) -> None:
    """Mass by lag, shares of the terms, channel against time, and segment against segment, mean of the heads."""
    by_lag, terms, relations, times = figure.subplots(*shape_of("attention", paper_mm(figure))).flat
    _draw_lags(by_lag, result)
    for i, name in enumerate(result.labels["term"]):
        terms.plot(result.values("share").mean(1)[:, i], color=_INKS[name], marker=".", label=name)
    terms.set(title="Share of the terms in the scores", ylim=(0, 1.02), xlabel="layer")
    terms.set_xticks(range(len(result.values("share"))))
    terms.legend()
    _draw_relations(relations, result)
    between = result.values("between_times").mean((0, 1))
    seconds = float(result.facts["segment_seconds"])
    reach = seconds * len(between)
    image = times.imshow(
        between, cmap=SEQUENTIAL, vmin=0, interpolation="nearest", extent=(0, reach, reach, 0), aspect="auto"
    )
    times.set(title="From segment to segment", xlabel="to, s", ylabel="from, s")
    figure.colorbar(image, ax=times, label="share of attention")
    write_above(figure, f"{_windows(result)}; mean of {_depth(result)} [our definition]")


def _draw_lags(ax: Axes, result: Analysis) -> None:
    seconds = float(result.facts["segment_seconds"])
    lags = seconds * np.arange(len(result.labels["lag"]))
    ax.plot(lags, result.facts["even_by_lag"], color=MUTED, linewidth=0.8, label="even attention")
    lines = {
        "by_lag": ("as it is", VIOLET),
        "by_lag_without_content": ("without content", BROWN),
        "by_lag_whole_context": ("window widened", TEAL),
    }
    for name, (words, colour) in lines.items():
        if name in result.arrays:
            ax.plot(lags, result.values(name).mean((0, 1)), color=colour, marker=".", label=words)
    window = seconds * result.facts["content_window_segments"]
    if window < lags[-1]:
        ax.axvline(window + seconds / 2, color=MUTED, linestyle="--", linewidth=0.8, label="content window")
    ax.set(title="Attention by lag", xlabel="before the segment that looks, s", ylabel="share", ylim=(0, None))
    ax.legend(fontsize=6)


def _draw_relations(ax: Axes, result: Analysis) -> None:
    names, place = result.labels["relation"], np.arange(len(result.labels["relation"]))
    ax.barh(place, result.values("relation").mean((0, 1)), color=VIOLET, height=0.6, label="attention")
    ax.plot(result.facts["even_relation"], place, "|", color=BROWN, markersize=12, markeredgewidth=1.5, label="even")
    ax.set_yticks(place, names)
    ax.invert_yaxis()
    ax.set(title="Channel against time", xlabel="share of attention", xlim=(0, 1))
    ax.legend(fontsize=6)


def draw_prediction(figure: Figure, result: Analysis) -> None:
    """Cosines over time, their distributions, and those of segments in seizures and outside."""
    grid = figure.add_gridspec(*shape_of("prediction", paper_mm(figure)))
    _draw_course(figure.add_subplot(grid[0, :]), result)
    ax = figure.add_subplot(grid[1, 0])
    for name, (words, colour) in _PREDICTED.items():
        _draw_distribution(ax, result.values(name).ravel(), f"{words}, n = {result.values(name).size:,}", colour)
    ax.set(title="Every segment and channel", xlabel="cosine similarity", ylabel="share at or below", ylim=(0, 1.02))
    ax.legend(fontsize=6)
    _draw_ictal(figure.add_subplot(grid[-1, -1]), result)
    write_above(
        figure,
        f"{_windows(result)}; cosine of the predicted with the actual state [paper]; seizures against the rest "
        "[our definition]",
    )


def _draw_course(ax: Axes, result: Analysis) -> None:
    """Means over channels; marked seizures are shaded."""
    seconds, first = float(result.facts["segment_seconds"]), float(result.facts["first_window"])
    times = result.values("time").astype(np.float64) + first
    for name, (words, colour) in _PREDICTED.items():
        shown = times[:, 1:] if name == "two_step" else times
        # Windows are apart: a line across would claim what nobody computed.
        for i, (at, values) in enumerate(zip(shown, result.values(name).mean(-1), strict=True)):
            steps = np.append(values, values[-1])
            ax.step(np.append(at, at[-1] + seconds), steps, where="post", color=colour, label=words if not i else None)
    for at in times[result.values("seizure") > 0]:
        ax.axvspan(at, at + seconds, color=MUTED, alpha=0.18, linewidth=0)
    ax.set(title="Mean of the channels", xlabel="s", ylabel="cosine")
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + _LEGEND_ROOM * (high - low))
    ax.legend(fontsize=6, ncols=3, loc="upper right")


def _draw_ictal(ax: Axes, result: Analysis) -> None:
    means, marked = result.values("true").mean(-1), result.values("seizure") > 0
    found = result.facts["ictal"]["true"]
    ax.set_title("In marked seizures and outside")
    if not (found["n_first"] and found["n_second"]):
        lacking = "in a marked seizure" if not found["n_first"] else "outside one"
        ax.text(0.5, 0.5, f"no segment {lacking}", ha="center", va="center", fontsize=7, transform=ax.transAxes)
        ax.set_axis_off()
        return
    _draw_distribution(ax, means[marked], f"in seizures, n = {found['n_first']}", BROWN)
    _draw_distribution(ax, means[~marked], f"outside, n = {found['n_second']}", VIOLET)
    words = f"difference {found['difference']:+.3f}"
    if found["low"] is not None:
        words += f" (95 % {found['low']:+.3f} to {found['high']:+.3f})"
    ax.set(ylabel="share at or below", ylim=(0, 1.02))
    ax.set_xlabel(f"cosine, mean of channels\n{words}, AUROC {found['auroc']:.2f}".replace("-", "−"), fontsize=7)
    ax.legend(fontsize=6)


def _draw_distribution(ax: Axes, values: np.ndarray, words: str, colour: str) -> None:
    ax.ecdf(np.asarray(values, np.float64).ravel(), color=colour, label=words)


def _windows(result: Analysis) -> str:
    n, seconds = result.facts["n_windows"], result.facts["window_seconds"]
    return f"n = {n} {'window' if n == 1 else 'windows'} of {seconds:g} s"


def _depth(result: Analysis) -> str:
    deep, wide = result.values("by_lag").shape[:2]
    return f"{deep} layers and {wide} heads (terms: of the heads)"
