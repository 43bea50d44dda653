"""Stages in the order of hypnograms, whatever order and names a head has for them."""

from __future__ import annotations

import numpy as np
import pytest

from viewers.hypnogram_lane import stage_order
from viewers.overlays.unit_classes import ClassesOverlay


@pytest.mark.parametrize(
    ("labels", "order", "names"),
    [
        (("W", "N1", "N2", "N3", "R"), [0, 4, 1, 2, 3], ["W", "R", "N1", "N2", "N3"]),
        (("N3", "REM", "wake", "n2", "N1"), [2, 1, 4, 3, 0], ["W", "R", "N1", "N2", "N3"]),
        (("Sleep stage 1", "Sleep stage 2", "Sleep stage R", "Sleep stage W"), [3, 2, 0, 1], ["W", "R", "N1", "N2"]),
        (("background", "seizure"), [0, 1], ["background", "seizure"]),
        (("W", "N1", "artefact"), [0, 1, 2], ["W", "N1", "artefact"]),
    ],
)
def test_wake_on_top_then_rem_then_deeper_and_deeper(labels, order, names):
    assert stage_order(labels) == (order, names)


def test_units_stand_on_the_row_of_their_class(make_analysis, qtbot):
    probability = np.float32([[0.9, 0, 0.1, 0, 0], [0.1, 0.2, 0, 0, 0.7], [0, 0, 0, 0.6, 0.4]])
    arrays = {
        "time": ([0.0, 30.0, 90.0], ("unit",), "s"),
        "probability": (probability, ("unit", "class")),
        "choice": (probability.argmax(1), ("unit",)),
    }
    facts = {"first_time": 12.0, "unit_seconds": 30.0, "context_units": 20}
    labels = {"class": ("W", "N1", "N2", "N3", "R")}
    overlay = ClassesOverlay()
    overlay.set_result(make_analysis("stages", arrays, labels, facts, random_weights=True))
    curve = overlay.curve()
    assert [curve.names[row] for row in curve.rows] == ["W", "R", "N3"]
    np.testing.assert_allclose(curve.times, [12.0, 42.0, 102.0])
    np.testing.assert_allclose(curve.certainty, [0.9, 0.7, 0.6])
    assert curve.random_weights
    assert overlay.heat is None
    assert overlay.describe(50.0, "") == "R p 0.70"
    assert overlay.describe(80.0, "") == ""
