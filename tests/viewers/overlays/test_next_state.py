"""The lane of predictions: means over channels around what random segments give, at the times that were foreseen."""

from __future__ import annotations

import numpy as np
import pytest

from viewers.overlays.next_state import NextState


@pytest.fixture
def result(make_analysis):
    """Two windows of four segments of 5 s from 100 s on, two channels."""
    axes = ("window", "step", "channel")
    true = np.array([[[0.5, 0.7], [0.2, 0.2], [0.0, 0.2]], [[0.6, 0.6], [0.1, 0.1], [0.3, 0.3]]])
    arrays = {
        "true": (true, axes, "1", "cosine with the next segment", "paper"),
        "two_step": (
            true[:, :2] - 0.4,
            ("window", "step_but_one", "channel"),
            "1",
            "cosine with the one after",
            "paper",
        ),
        "random": (np.full((2, 3, 2), 0.1), axes, "1", "cosine with a random one", "paper"),
        "time": ([[5.0, 10.0, 15.0], [25.0, 30.0, 35.0]], ("window", "step"), "s"),
    }
    facts = {"first_window": 100.0, "segment_seconds": 5.0, "means": {"random": 0.1}}
    return make_analysis("prediction", arrays, {"channel": ("C3", "C4")}, facts, random_weights=True)


def test_the_lane_has_the_means_where_they_were_foreseen(result):
    overlay = NextState()
    overlay.set_result(result)
    curve = overlay.curve()
    np.testing.assert_allclose(curve.values, [0.6, 0.2, 0.1, 0.6, 0.1, 0.3], rtol=1e-6)
    np.testing.assert_allclose(curve.times, [105, 110, 115, 125, 130, 135])
    np.testing.assert_allclose(curve.widths, 5.0)
    assert (curve.scale.low, curve.scale.middle, curve.scale.high) == (0.0, 0.1, 1.0)
    assert curve.subtitle == "next segment"
    assert "teal above the mean with random segments (0.10)" in curve.quantity
    assert "[paper]" in curve.quantity
    assert curve.random_weights
    assert overlay.heat is None


def test_two_steps_ahead_begin_a_segment_later_and_may_be_below_zero(result):
    overlay = NextState()
    overlay.set_result(result)
    overlay.choose("two_step")
    curve = overlay.curve()
    np.testing.assert_allclose(curve.times, [110, 115, 130, 135])
    assert (curve.scale.low, curve.scale.high) == (-0.5, 0.5)
    overlay.choose("2/3:1")  # a part of another kind of analysis
    assert overlay.curve().subtitle == "next segment"
