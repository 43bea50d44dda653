"""Figures of AXON's analyses: marks, numbers and prior are drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.engine.analyze import analyze
from analysis.figures.draw import figure_bytes, make_figure

PROBED = {"window": 4, "labels": "T0,T1"}


@pytest.fixture(scope="module")
def found(shared: Path) -> dict[str, Any]:
    moving = shared / "recordings" / "eegmmidb" / "eegmmidb_overlapping_annotations.edf"
    asked: dict[str, tuple[str, float, dict[str, Any]]] = {
        "gates": ("random:axon", 20, {}),
        "gate-interventions": ("random:axon", 8, PROBED),
        "relation-mass": ("random:axon:dense-tiny", 10, {}),
    }
    return {kind: analyze(kind, moving, [name], 0, span, options) for kind, (name, span, options) in asked.items()}


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("gates", ["Temporal weight [paper]", "Scale gate [reference]", "collapse 0.40", "Spread [our definition]"]),
        ("gate-interventions", ["Change of p(seizure) [paper]", "linear probe [paper]", "paper, six tasks", "seed 2"]),
        ("relation-mass", ["dashed: equal attention [paper]", "neither"]),
    ],
)
def test_the_words_of_each_figure(kind: str, words: list[str], found: Any) -> None:
    svg = figure_bytes(found[kind], "svg").decode()
    for word in (*words, "Random weights", "Research use only"):
        assert word in svg


def test_the_heatmap_has_accuracies_coloured_by_their_change(found: Any) -> None:
    result = found["gate-interventions"]
    heat = make_figure(result).axes[-1]
    accuracy = result.values("balanced_accuracy").astype(float)
    change = 100 * (accuracy / accuracy[0] - 1)
    np.testing.assert_allclose(heat.images[0].get_array()[:, :3], change, atol=1e-3)
    np.testing.assert_allclose(heat.images[0].get_array()[1:, -1], result.values("published_change"))
    assert [text.get_text() for text in heat.texts[:3]] == [f"{value:.3f}" for value in accuracy[0]]


def test_the_uniform_prior_is_drawn_over_all_layers(found: Any) -> None:
    result = found["relation-mass"]
    lines = [float(line.get_ydata()[0]) for line in make_figure(result).axes[0].lines]
    np.testing.assert_allclose(lines, np.cumsum(result.values("uniform"))[:3], rtol=1e-6)


def test_a_window_with_one_scale_says_so_in_place_of_a_scale_profile(shared: Path) -> None:
    scalp = shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"
    svg = figure_bytes(analyze("gates", scalp, ["random:axon"], 0, 5, {"window": 5}), "svg").decode()
    assert "one scale in windows of this length" in svg
    assert "not defined" in svg
