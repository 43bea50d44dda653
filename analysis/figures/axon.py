"""Figures of AXON's gates, interventions and relation masses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.analyses import Analysis
from analysis.figures.draw import label_axis
from analysis.figures.style import BROWN, CYCLE, DIVERGING, MUTED, TEAL, VIOLET

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLLAPSE = 0.40


def draw_gates(figure: Figure, result: Analysis) -> None:
    """Profile over layers, entropy ratio with the collapse line, spreads, and the weight by channel and layer."""
    (top, entropy), (spread, heat) = figure.subplots(2, 2)
    layers = np.arange(len(result.values("mean")))
    _profile(top, layers, result)
    entropy.plot(layers, result.values("entropy_ratio"), color=VIOLET, marker="o", markersize=2.5)
    entropy.axhline(_COLLAPSE, color=BROWN, linestyle="--", linewidth=0.8)
    entropy.text(layers[-1], _COLLAPSE, "collapse 0.40 ", color=BROWN, fontsize=6, ha="right", va="bottom")
    entropy.set(title="Entropy ratio", ylim=(0, 1.05), xlabel="layer")
    for name, colour in (("d_token", VIOLET), ("d_position", TEAL), ("d_content", BROWN)):
        text = name.capitalize().replace("_", " ")
        spread.plot(layers, result.values(name), color=colour, marker="o", markersize=2.5, label=text)
    spread.set(title="Spread between tokens", xlabel="layer", ylim=(0, None))
    spread.legend()
    mean = result.values("temporal").mean((1, 3))  # (layers, channels)
    image = heat.imshow(mean.T, aspect="auto", cmap=DIVERGING, vmin=0, vmax=1, interpolation="nearest")
    heat.set(title="Temporal weight by channel", xlabel="layer")
    label_axis(heat, "y", result, "channel")
    bar = figure.colorbar(image, ax=heat)
    bar.set_ticks([0, 0.5, 1], labels=["spatial", "0.5", "temporal"])


def _profile(ax: Axes, layers: np.ndarray, result: Analysis) -> None:
    mean, sd = result.values("mean"), result.values("sd")
    colours = [TEAL if value >= 0.5 else BROWN for value in mean]
    ax.bar(layers, mean - 0.5, bottom=0.5, color=colours, width=0.8)
    ax.errorbar(layers, mean, yerr=sd, fmt="none", ecolor=MUTED, elinewidth=0.8)
    ax.axhline(0.5, color=MUTED, linewidth=0.6)
    ax.set(title="Temporal weight, mean ± SD over tokens", ylim=(0, 1), xlabel="layer")
    ax.text(0.99, 0.97, "temporal", color=TEAL, transform=ax.transAxes, ha="right", va="top", fontsize=7)
    ax.text(0.99, 0.03, "spatial", color=BROWN, transform=ax.transAxes, ha="right", va="bottom", fontsize=7)


def draw_interventions(figure: Figure, result: Analysis) -> None:
    """Heatmap of the change of class probabilities by intervention and window, and the cosine of the mean token."""
    has_head = "probability_change" in result.arrays
    axes = figure.subplots(1, 2 if has_head else 1, squeeze=False)[0]
    names = [name.replace("_", " ") for name in result.labels["intervention"]]
    if has_head:
        change = result.values("probability_change")[..., -1]
        most = max(float(np.abs(change).max()), 1e-6)
        image = axes[0].imshow(change, aspect="auto", cmap=DIVERGING, vmin=-most, vmax=most, interpolation="nearest")
        label = result.labels["class"][-1] if result.labels["class"] else "last class"
        axes[0].set(title=f"Change of p({label})", xlabel="window")
        axes[0].set_yticks(range(len(names)), names)
        figure.colorbar(image, ax=axes[0])
    cosine = result.values("cosine")
    ax = axes[-1]
    ax.barh(range(len(names)), 1 - cosine.mean(1), xerr=cosine.std(1), color=VIOLET, ecolor=MUTED, height=0.7)
    ax.set_yticks(range(len(names)), names if not has_head else [""] * len(names))
    ax.invert_yaxis()
    ax.set(title="Move of the mean token", xlabel="1 - cosine with the learned gates")


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
    ax.set(title="Share of attention by relation", xlabel="layer", ylabel="share", ylim=(0, 1))
    ax.legend(ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.12))


def draw_probe(figure: Figure, result: Analysis) -> None:
    """Balanced accuracy by intervention: mean and each seed, with the learned gates as the line to compare with."""
    ax = figure.subplots()
    accuracy = result.values("balanced_accuracy")
    names = [name.replace("_", " ") for name in result.labels["intervention"]]
    mean = accuracy.mean(1)
    colours = [MUTED] + [TEAL if value >= mean[0] else BROWN for value in mean[1:]]
    ax.barh(range(len(names)), mean, color=colours, height=0.7)
    for i, row in enumerate(accuracy):
        ax.plot(row, [i] * len(row), "o", color="white", markersize=3, markeredgecolor=VIOLET, markeredgewidth=0.7)
        ax.text(1.01, i, f"{mean[i]:.3f} ({mean[i] - mean[0]:+.3f})", va="center", fontsize=7)
    ax.axvline(mean[0], color=MUTED, linewidth=0.6, linestyle="--")
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    counts = ", ".join(f"{n} {name}" for name, n in result.facts["n_of_class"].items())
    ax.set(title=f"Linear probe, windows: {counts}", xlabel="balanced accuracy", xlim=(0, 1))


def draw_lesion(figure: Figure, result: Analysis) -> None:
    """Recall by class with electrodes covered, and balanced accuracy as more of them are deleted."""
    left, right = figure.subplots(1, 2)
    recall = result.values("recall").mean(1)  # (covers, classes)
    place = np.arange(len(recall))
    width = 0.8 / recall.shape[1]
    for c, (name, colour) in enumerate(zip(result.labels["class"], CYCLE, strict=False)):
        left.bar(
            place + width * (c - (recall.shape[1] - 1) / 2), recall[:, c], width=0.95 * width, color=colour, label=name
        )
    left.set_xticks(place, result.labels["cover"])
    left.set(title="Recall with electrodes covered", ylim=(0, 1))
    left.legend(ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.1))
    deletion = result.values("deletion")
    steps = np.arange(len(deletion))
    right.errorbar(steps, deletion.mean(1), yerr=deletion.std(1), color=VIOLET, marker="o", markersize=3)
    right.axhline(0.5, color=MUTED, linewidth=0.6, linestyle="--")
    right.set_xticks(steps, result.labels["share"])
    right.set(title="Electrodes deleted at random", xlabel="share deleted", ylabel="balanced accuracy", ylim=(0, 1))
