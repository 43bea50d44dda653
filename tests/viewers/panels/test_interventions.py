"""The panel of interventions: how far the answer and the tokens move, on average and by window."""

from __future__ import annotations

import numpy as np
import pytest

from viewers.panels.interventions import Interventions

NAMES = ("temporal_only", "uniform", "shuffled")
CHANGE = np.array([[[-0.2, 0.2], [-0.4, 0.4]], [[0.1, -0.1], [0.1, -0.1]], [[0.0, 0.0], [0.0, 0.0]]])


@pytest.fixture
def result(make_analysis):
    def make(windows: int = 2, head: bool = True):
        cosine = np.array([[0.9, 0.7], [1.0, 0.98], [1.0, 1.0]])[:, :windows]
        arrays = {
            "cosine": (cosine, ("intervention", "window"), "1", "cosine of the mean token", "our definition"),
            "window_onset": (10.0 * np.arange(windows), ("window",), "s", "begin", ""),
        }
        if head:
            arrays["probability"] = ([[0.4, 0.6], [0.2, 0.8]][:windows], ("window", "class"))
            axes = ("intervention", "window", "class")
            arrays["probability_change"] = (CHANGE[:, :windows], axes, "1", "change of the probabilities", "paper")
        labels = {"intervention": NAMES, "class": ("background", "seizure")}
        return make_analysis("gate-interventions", arrays, labels, {"first_window": 10.0, "n_windows": windows})

    return make


def test_changes_of_the_class_that_is_looked_for(shown, result):
    panel = shown(Interventions, result())
    assert panel.label.currentText() == "p(seizure)"
    np.testing.assert_allclose(panel.change.values, [0.3, -0.1, 0.0], rtol=1e-5)
    np.testing.assert_allclose(panel.change.spread, [0.1, 0.0, 0.0], atol=1e-6)
    assert panel.change.names == ("temporal only", "uniform", "shuffled")
    assert "p(seizure) with the learned gates: 0.700 on average" in panel._learned.text()
    assert panel.change.describe(panel.change.area.center()).startswith("uniform: −0.1000")
    np.testing.assert_allclose(panel.move.values, [0.2, 0.01, 0.0], atol=1e-6)


def test_another_class_can_be_chosen(shown, result):
    panel = shown(Interventions, result())
    panel.label.choose("0")
    panel.label.chosen.emit("0")
    np.testing.assert_allclose(panel.change.values, [-0.3, 0.1, 0.0], rtol=1e-5)
    panel.set_result(result())
    assert panel.label.currentText() == "p(background)"


def test_windows_apart_where_there_are_some(shown, result):
    panel = shown(Interventions, result())
    assert panel.table_plot.isVisible()
    assert panel.table_plot.columns == ("10 s", "20 s")
    assert panel.table_plot.limits == (pytest.approx(-0.4), pytest.approx(0.4))
    panel.set_result(result(windows=1))
    assert not panel.table_plot.isVisible()
    assert "on average" not in panel._learned.text()


def test_without_a_head_only_the_tokens_move(shown, result):
    panel = shown(Interventions, result(head=False))
    assert not panel.change.isVisible()
    assert not panel.label.isVisible()
    assert panel.move.isVisible()
    lines = [line for line in panel.table().splitlines() if not line.startswith("#")]
    assert lines[0] == "intervention\tcosine"


def test_the_table_has_every_class(shown, result):
    lines = [line.split("\t") for line in shown(Interventions, result()).table().splitlines() if line[0] != "#"]
    assert lines[0] == ["intervention", "change of p(background)", "change of p(seizure)", "cosine"]
    assert lines[1][0] == "temporal only"
    assert [float(v) for v in lines[1][1:]] == pytest.approx([-0.3, 0.3, 0.8])
