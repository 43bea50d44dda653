"""The panel of gradients: every pair of sets once, by measure and by rank."""

from __future__ import annotations

import numpy as np
import pytest

from viewers.panels.gradient_geometry import GradientGeometry


@pytest.fixture
def result(make_analysis):
    def make(names):
        n = len(names)
        table = np.eye(n) + 0.1 * np.add.outer(np.arange(n), np.arange(n)) * (1 - np.eye(n))
        pair = ("set", "other_set")
        arrays = {
            name: (table, pair, "1", name, "our definition") for name in ("affinity", "cosine", "routing_similarity")
        }
        by_rank = np.stack([table * (1 - 0.1 * i) for i in range(2)])
        arrays["affinity_by_rank"] = (by_rank, ("rank", *pair), "1", "affinity", "our definition")
        facts = {
            "n_of_set": dict.fromkeys(names, 5), "n_steps": 64, "batch": 4, "loss": "pretraining",
            "projected": 1024, "projection_seed": 42,
        }  # fmt: skip
        labels = {"set": names, "other_set": names, "rank": ("3", "4")}
        return make_analysis("gradient-geometry", arrays, labels, facts)

    return make


def test_two_sets_are_one_pair(shown, result):
    panel = shown(GradientGeometry, result(("no seizure", "seizure")))
    assert panel.pairs["affinity"].names == ("no seizure × seizure",)
    assert panel.pairs["affinity"].values == pytest.approx([0.1])
    assert panel.ranks.series[0].values == pytest.approx([0.1, 0.09])
    assert panel.matrix.isHidden()
    assert "64 steps of 4" in panel._sets.text()


def test_three_sets_are_three_pairs_and_a_table(shown, result):
    panel = shown(GradientGeometry, result(("W", "N2", "R")))
    assert panel.pairs["cosine"].names == ("W × N2", "W × R", "N2 × R")
    assert panel.pairs["cosine"].values == pytest.approx([0.1, 0.2, 0.3])
    assert panel.matrix.values.shape == (3, 3)
    assert not panel.matrix.isHidden()
    assert "# affinity_by_rank" in panel.table()
