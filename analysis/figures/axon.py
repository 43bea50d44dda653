"""Figures of AXON's gates, interventions and relation masses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.analyses import Analysis, NamedArray
from analysis.figures.draw import label_axis
from analysis.figures.panes import paper_mm, shape_of
from analysis.figures.style import BROWN, CYCLE, DIVERGING, MUTED, TEAL, VIOLET

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase

_COLLAPSE = 0.40
_FEW = 12
_HEADROOM = 1.5
_DEEP = 0.55  # of the colours, from where letters are white


def draw_gates(figure: Figure, result: Analysis) -> None:
    """Profile over layers of both gates, entropy ratio with the collapse line, spreads, and the weight by channel."""
    has_scale, has_head = "short_mean" in result.arrays, "place" in result.arrays
    top, scale, entropy, spread, heat, head = figure.subplots(*shape_of("gates", paper_mm(figure))).flat
    layers = np.arange(len(result.values("mean")))
    _balance(top, layers, result, ("mean", "sd"), "Temporal weight", ("spatial", "temporal"))
    if has_scale:
        _balance(scale, layers, result, ("short_mean", "short_sd"), "Scale gate", ("long", "short"))
    else:
        _say(scale, "one scale in windows of this length")
    entropy.plot(layers, result.values("entropy_ratio"), color=VIOLET, marker="o", markersize=2.5)
    entropy.axhline(_COLLAPSE, color=BROWN, linestyle="--", linewidth=0.8)
    entropy.text(layers[-1], _COLLAPSE, "collapse 0.40 ", color=BROWN, fontsize=6, ha="right", va="bottom")
    entropy.set(title=_marked("Entropy ratio", result.arrays["entropy_ratio"]), ylim=(0, 1.05), xlabel="layer")
    _draw_spread(spread, layers, result)
    mean = result.values("temporal").mean((1, 3))  # (layers, channels)
    image = heat.imshow(mean.T, aspect="auto", cmap=DIVERGING, vmin=0, vmax=1, interpolation="nearest")
    heat.set(title="By channel [paper]", xlabel="layer")
    label_axis(heat, "y", result, "channel")
    bar = figure.colorbar(image, ax=heat)
    bar.set_ticks([0, 0.5, 1], labels=["spatial", "0.5", "temporal"])
    if has_head:
        _draw_head(figure, head, result.values("place"), mean.mean(0))
    else:
        head.set_axis_off()


def _marked(title: str, array: NamedArray) -> str:
    """A title with the mark of who defined what it names."""
    return f"{title} [{array.source}]" if array.source else title


def _say(ax: Axes, text: str) -> None:
    ax.set_axis_off()
    ax.text(0.5, 0.5, text, ha="center", va="center", fontsize=7, color=MUTED, wrap=True, transform=ax.transAxes)


def _balance(
    ax: Axes, layers: np.ndarray, result: Analysis, names: Sequence[str], title: str, words: tuple[str, str]
) -> None:
    """Bars from balance with whiskers of one SD; `words` say what lies below and above."""
    mean, sd = (result.values(name) for name in names)
    colours = [TEAL if value >= 0.5 else BROWN for value in mean]
    ax.bar(layers, mean - 0.5, bottom=0.5, color=colours, width=0.8)
    ax.errorbar(layers, mean, yerr=sd, fmt="none", ecolor=MUTED, elinewidth=0.8)
    ax.axhline(0.5, color=MUTED, linewidth=0.6)
    ax.locator_params(axis="x", integer=True)
    ax.set(title=_marked(title, result.arrays[names[0]]), ylim=(0, 1), xlabel="layer", ylabel="mean ± SD")
    ax.text(0.99, 0.97, words[1], color=TEAL, transform=ax.transAxes, ha="right", va="top", fontsize=7)
    ax.text(0.99, 0.03, words[0], color=BROWN, transform=ax.transAxes, ha="right", va="bottom", fontsize=7)


def _draw_spread(ax: Axes, layers: np.ndarray, result: Analysis) -> None:
    for name, colour in (("d_token", VIOLET), ("d_position", TEAL), ("d_content", BROWN)):
        values = result.values(name)
        text = name.capitalize().replace("_", " ")
        more = "" if np.isfinite(values).any() else " (one window: not defined)"
        ax.plot(layers, values, color=colour, marker="o", markersize=2.5, label=text + more)
    ax.set(title=_marked("Spread", result.arrays["d_token"]), xlabel="layer")
    ax.set_ylim(0, _HEADROOM * ax.get_ylim()[1])  # with room for the legend above the lines
    ax.legend(loc="upper left", fontsize=6)
    ax.locator_params(axis="x", integer=True)


def _draw_head(figure: Figure, ax: Axes, places: np.ndarray, values: np.ndarray) -> None:
    """Electrodes seen from above, nose up, in the colours of the gate."""
    turn = np.linspace(0, 2 * np.pi, 97)
    ax.plot(np.cos(turn), np.sin(turn), color=MUTED, linewidth=0.8)
    ax.plot([-0.12, 0, 0.12], [0.99, 1.12, 0.99], color=MUTED, linewidth=0.8)
    reach = max(0.05, float(np.abs(values - 0.5).max()))
    drawn = ax.scatter(
        places[:, 0], places[:, 1], c=values, cmap=DIVERGING, vmin=0.5 - reach, vmax=0.5 + reach,
        s=26, edgecolors=MUTED, linewidths=0.4,
    )  # fmt: skip
    figure.colorbar(drawn, ax=ax, shrink=0.7)
    ax.set(title="Mean of layers [paper]", xlim=(-1.15, 1.15), ylim=(-1.1, 1.2), aspect="equal")
    ax.set_axis_off()


def draw_interventions(figure: Figure, result: Analysis) -> None:
    """Change of class probabilities and of the mean token by intervention; below it, what a linear probe loses."""
    probed = "balanced_accuracy" in result.arrays
    halves: Any = figure.subfigures(2, 1, height_ratios=(1, 1.25)) if probed else (figure, figure)
    upper, lower = halves
    has_head = "probability_change" in result.arrays
    shape = shape_of("gate-interventions", paper_mm(figure)) if has_head else (1, 1)
    axes = upper.subplots(*shape, squeeze=False).ravel()
    names = [name.replace("_", " ") for name in result.labels["intervention"]]
    if has_head:
        change = result.values("probability_change")[..., -1]
        most = max(float(np.abs(change).max()), 1e-6)
        image = axes[0].imshow(change, aspect="auto", cmap=DIVERGING, vmin=-most, vmax=most, interpolation="nearest")
        label = result.labels["class"][-1] if result.labels["class"] else "last class"
        axes[0].set(title=_marked(f"Change of p({label})", result.arrays["probability_change"]), xlabel="window")
        axes[0].set_xticks(range(change.shape[1]) if change.shape[1] <= _FEW else [0, change.shape[1] - 1])
        axes[0].set_yticks(range(len(names)), names)
        upper.colorbar(image, ax=axes[0])
    cosine = result.values("cosine")
    ax = axes[-1]
    ax.barh(range(len(names)), 1 - cosine.mean(1), xerr=cosine.std(1), color=VIOLET, ecolor=MUTED, height=0.7)
    ax.set_yticks(range(len(names)), names if shape[1] == 1 else [""] * len(names))
    ax.invert_yaxis()
    ax.set(title=_marked("Mean token", result.arrays["cosine"]), xlabel="1 - cosine with the learned gates")
    if probed:
        _draw_probe(lower, result)


def _draw_probe(figure: FigureBase, result: Analysis) -> None:
    """The paper's heatmap: accuracy by seed, coloured by its change from the learned gates."""
    ax = figure.subplots()
    accuracy = result.values("balanced_accuracy")
    table: np.ndarray = np.column_stack([accuracy, accuracy.mean(1)])
    change = 100 * (table / table[:1] - 1)
    texts = [[f"{value:.3f}" for value in row] for row in table]
    for row, mean in zip(texts, change[:, -1], strict=True):
        row[-1] += f" ({mean:+.1f} %)"
    columns = [*(f"seed {seed}" for seed in result.labels["seed"]), "mean"]
    if "published_change" in result.arrays:
        published = np.concatenate([[0.0], result.values("published_change")])
        change = np.column_stack([change, published])
        columns.append("paper, six tasks")
        for row, value in zip(texts, published, strict=True):
            row.append(f"{value:+.1f} %" if np.isfinite(value) else "")
    most = max(float(np.nanmax(np.abs(change))), 1e-6)
    ax.imshow(change, aspect="auto", cmap=DIVERGING, vmin=-most, vmax=most, interpolation="nearest")
    for i, row in enumerate(texts):
        for j, text in enumerate(row):
            ink = "white" if abs(change[i, j]) > _DEEP * most else "black"
            ax.text(j, i, text.replace("-", "−"), ha="center", va="center", fontsize=6.5, color=ink)
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(texts)), [name.replace("_", " ") for name in result.labels["gates"]])
    counts = ", ".join(f"{n} {name}" for name, n in result.facts["probe"]["n_of_class"].items())
    ax.set_title(_marked("Balanced accuracy of a linear probe", result.arrays["balanced_accuracy"]))
    ax.set_xlabel(f"colour: change from the learned gates; windows: {counts}")


def draw_relation_mass(figure: Figure, result: Analysis) -> None:
    """Stacked shares by layer, beside the shares of equal attention."""
    ax = figure.subplots()
    mass, equal = result.values("mass"), result.values("uniform")
    table = np.concatenate([equal[None], mass])
    bottom = np.zeros(len(table))
    for i, (name, colour) in enumerate(zip(result.labels["relation"], CYCLE, strict=False)):
        ax.bar(range(len(table)), table[:, i], bottom=bottom, label=name, color=colour, width=0.85)
        bottom += table[:, i]
    ax.set_xticks(range(len(table)), ["equal", *(str(i) for i in range(len(mass)))])
    for share in np.cumsum(equal)[:-1]:
        ax.axhline(share, color="black", linewidth=0.7, linestyle="--")
    title = _marked("Share of attention by relation, dashed: equal attention", result.arrays["mass"])
    ax.set(title=title, xlabel="layer", ylabel="share", ylim=(0, 1))
    ax.legend(ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.12))


def draw_lesion(figure: Figure, result: Analysis) -> None:
    """Recall by class with electrodes covered, and balanced accuracy as more of them are deleted."""
    left, right = figure.subplots(*shape_of("lesion", paper_mm(figure))).flat
    recall = result.values("recall").mean(1)  # (covers, classes)
    place = np.arange(len(recall))
    width = 0.8 / recall.shape[1]
    for c, (name, colour) in enumerate(zip(result.labels["class"], CYCLE, strict=False)):
        left.bar(
            place + width * (c - (recall.shape[1] - 1) / 2), recall[:, c], width=0.95 * width, color=colour, label=name
        )
        for at, value, change in zip(place, recall[:, c], result.values("recall_change")[:, c], strict=True):
            if at:  # the first is what the others are compared with
                x = at + width * (c - (recall.shape[1] - 1) / 2)
                text = f"{change:+.2f}".replace("-", "−")
                left.text(x, value + 0.01, text, ha="center", va="bottom", fontsize=5.5, rotation=90)
    left.set_xticks(place, result.labels["cover"])
    left.set(title=_marked("Recall with electrodes covered", result.arrays["recall"]), ylim=(0, 1.25))
    left.legend(ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.1))
    deletion = result.values("deletion")
    steps = np.arange(len(deletion))
    right.errorbar(steps, deletion.mean(1), yerr=deletion.std(1), color=VIOLET, marker="o", markersize=3)
    chance = 1 / len(result.labels["class"])
    right.axhline(chance, color=MUTED, linewidth=0.6, linestyle="--")
    right.set_xticks(steps, result.labels["share"])
    title = _marked("Electrodes deleted at random", result.arrays["deletion"])
    right.set(title=title, xlabel="share deleted", ylabel="balanced accuracy", ylim=(0, 1))
