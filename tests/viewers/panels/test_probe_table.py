"""What a linear probe loses when gates are replaced: accuracies coloured by their change, beside the paper's."""

from __future__ import annotations

import numpy as np
import pytest

from viewers.panels.interventions import Interventions

ACCURACY = np.array([[0.8, 0.6], [0.4, 0.6], [0.8, 0.75]])
FACTS = {
    "first_window": 0.0,
    "n_windows": 1,
    "probe": {"n_windows": 20, "n_of_class": {"T1": 9, "T2": 11}, "window_seconds": 4.0},
}


@pytest.fixture
def result(make_analysis):
    def make(published: bool = True):
        arrays = {
            "cosine": ([[0.9], [1.0]], ("intervention", "window"), "1", "cosine of the mean token", "our definition"),
            "window_onset": ([0.0], ("window",)),
            "balanced_accuracy": (ACCURACY, ("gates", "seed"), "1", "balanced accuracy of a probe", "paper"),
        }
        if published:
            arrays["published_change"] = ([-17.5, np.nan], ("intervention",), "%", "the paper's own", "paper")
        names = ("temporal_only", "by_hand")
        labels = {"intervention": names, "gates": ("learned", *names), "seed": ("0", "1")}
        return make_analysis("gate-interventions", arrays, labels, FACTS)

    return make


def test_accuracies_are_coloured_by_their_change(shown, result):
    panel = shown(Interventions, result())
    matrix = panel.probe.matrix
    assert panel.probe.isVisible()
    assert matrix.rows == ("learned", "temporal only", "by hand")
    assert matrix.columns == ("0", "1", "mean", "paper")
    assert matrix.texts[1] == ("0.400", "0.600", "0.500", "−17.5%")
    assert matrix.texts[2] == ("0.800", "0.750", "0.775", "")
    np.testing.assert_allclose(matrix.values[1], [-50, 0, 100 * (0.5 / 0.7 - 1), -17.5], rtol=1e-5)
    assert matrix.limits == (-50.0, 50.0)
    assert panel.probe.heading.mark == "[paper]"
    assert panel.probe.words.text().startswith("20 windows of 4 s: 9 of T1, 11 of T2; the last column is the paper's")
    assert "by hand\t0.8\t0.75\t0.775\t\t10.7142" in panel.table()


def test_without_published_numbers_or_a_probe_there_is_no_place_for_them(shown, result, make_analysis):
    panel = shown(Interventions, result(published=False))
    assert panel.probe.matrix.columns == ("0", "1", "mean")
    assert "paper's" not in panel.probe.words.text()
    arrays = {"cosine": ([[0.9]], ("intervention", "window")), "window_onset": ([0.0], ("window",))}
    panel.set_result(make_analysis("gate-interventions", arrays, {"intervention": ("uniform",)}, {"first_window": 0.0}))
    assert not panel.probe.isVisible()
    assert "balanced accuracy" not in panel.table()
