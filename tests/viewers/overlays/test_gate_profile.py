"""AXON's gates on the traces: the right weight at the right channel and second, centred on balance."""

from __future__ import annotations

import numpy as np
import pytest

from viewers.overlays.gate_profile import GateOverlay, gate_scale, patch_times, shown_weights
from viewers.overlays.heat import MEAN


def test_weights_of_a_layer_in_order_of_time(gates):
    result = gates(windows=2)
    weights = result.values("temporal")
    shown = shown_weights(result, "1")
    for window in range(2):
        for patch in range(2):
            np.testing.assert_array_equal(shown[:, 2 * window + patch], weights[1, window, :, patch])
    np.testing.assert_allclose(shown_weights(result, MEAN)[:, 3], weights[:, 1, :, 1].mean(0), rtol=1e-6)
    np.testing.assert_allclose(patch_times(result), [10.0, 10.9, 12.0, 12.9], rtol=1e-6)


@pytest.mark.parametrize(
    ("spread", "reach"), [(0.01, 0.05), (0.05, 0.05), (0.08, 0.1), (0.2, 0.25), (0.3, 0.5), (0.5, 0.5)]
)
def test_colours_reach_to_one_of_few_places_on_both_sides_of_balance(spread, reach):
    scale = gate_scale(np.float32([0.5 - spread, 0.5]))
    assert (scale.low, scale.middle, scale.high) == (0.5 - reach, 0.5, 0.5 + reach)
    assert (scale.low_word, scale.high_word) == ("spatial", "temporal")


def test_heat_and_lane_say_which_layer_of_which_model(gates, qtbot):
    overlay = GateOverlay()
    overlay.set_result(gates(random_weights=True))
    assert overlay.heat.ch_names == ("C3", "C4")
    assert overlay.heat.title == "Gates of AXON-tiny, mean of 3 layers [paper]"
    assert overlay.heat.random_weights
    overlay.choose("2")
    assert overlay.heat.quantity == "temporal weight (layer 2) [paper]"
    curve = overlay.curve()
    np.testing.assert_allclose(curve.values, overlay.heat.values.mean(0))
    assert curve.subtitle == "layer 2"
    assert curve.random_weights


def test_the_scale_gate_is_shown_in_the_same_way_with_its_own_words(gates, qtbot):
    overlay = GateOverlay()
    result = gates()
    overlay.set_result(result)
    assert overlay.parts(result) == [MEAN, "0", "1", "2", "short mean", "short 0", "short 1", "short 2"]
    overlay.choose("short 1")
    np.testing.assert_array_equal(overlay.heat.values, shown_weights(result, "short 1"))
    assert overlay.heat.title == "Scale gate of AXON-tiny, layer 1 [reference]"
    assert (overlay.heat.scale.low_word, overlay.heat.scale.high_word) == ("long", "short")
    assert overlay.curve().subtitle == "scale, layer 1"
    overlay.set_result(gates(two_scales=False))
    assert overlay.part == MEAN


def test_a_layer_that_another_model_lacks_gives_way_to_the_mean(gates, make_analysis):
    overlay = GateOverlay()
    overlay.set_result(gates())
    overlay.choose("2")
    smaller = gates()
    arrays = {name: (a.values[:2] if a.axes[0] == "layer" else a.values, a.axes) for name, a in smaller.arrays.items()}
    overlay.set_result(make_analysis("gates", arrays, dict(smaller.labels), dict(smaller.facts)))
    assert overlay.part == MEAN
    overlay.set_result(None)
    assert overlay.heat is None
    assert overlay.curve() is None
