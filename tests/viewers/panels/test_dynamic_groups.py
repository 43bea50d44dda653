"""The panel of dynamic groups: pairs at a lag, by time and lag, and which arcs are asked for."""

from __future__ import annotations

import numpy as np
import pytest

from viewers.panels.dynamic_groups import DynamicGroups

NAMES = ("C3", "C4")


@pytest.fixture
def result(make_analysis):
    def make(selects=False):
        pairs = ("lag", "channel", "later_channel")
        mean = np.array([[[1.0, 0.2], [0.2, 1.0]], [[0.5, 0.7], [0.1, 0.4]]])
        arrays = {
            "mean_size": (mean, pairs, "1", "mean size", "our definition"),
            "strength": (np.full((4, 2), 0.3), ("quarter", "lag"), "1", "mean size", "our definition"),
            "kept": (np.full((4, 2), 0.5), ("quarter", "lag"), "1", "kept", "our definition"),
        }
        labels = {"channel": NAMES, "later_channel": NAMES, "lag": ("0 ms", "31 ms"), "quarter": tuple("abcd")}
        return make_analysis("dynamic-groups", arrays, labels, {"has_selector": selects})

    return make


def test_pairs_are_those_of_the_lag_or_of_the_best(shown, result):
    panel = shown(DynamicGroups, result())
    np.testing.assert_allclose(panel.pairs.values, [[1.0, 0.7], [0.2, 1.0]], rtol=1e-6)
    panel.set_part("1")
    np.testing.assert_allclose(panel.pairs.values, [[0.5, 0.7], [0.1, 0.4]], rtol=1e-6)
    assert panel.kept.isHidden()
    assert "no selector" in panel.kept_heading.text()
    assert not shown(DynamicGroups, result(True)).kept.isHidden()


def test_lag_and_channel_are_asked_for_together(shown, result):
    panel = shown(DynamicGroups, result())
    asked = []
    panel.part_chosen.connect(asked.append)
    panel.lag.choose("1")
    panel.lag.chosen.emit("1")
    panel.pairs.cell_clicked.emit(1, 0)
    assert asked == ["1", "1:1"]
    assert "Arcs of C4 alone" in panel._hint.text()
    panel.pairs.cell_clicked.emit(1, 1)
    assert asked[-1] == "1"
