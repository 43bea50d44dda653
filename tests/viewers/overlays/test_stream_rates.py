"""NeurDuo's rates on the traces: nothing unless a stream is chosen, then each rate over the time it tells of."""

from __future__ import annotations

import numpy as np
import pytest

from viewers.overlays.base import OverlayState
from viewers.overlays.heat import MEAN
from viewers.overlays.stream_rates import StreamOverlay, rate_scale


def test_the_lane_stands_alone_until_a_stream_is_chosen(streams, qtbot):
    overlay = StreamOverlay()
    result = streams()
    overlay.set_result(result)
    assert overlay.parts(result) == [MEAN, "fast", "slow"]
    assert overlay.heat is None
    curve = overlay.curve()
    np.testing.assert_allclose(curve.times, 100.0 + 0.5 * np.arange(16))
    np.testing.assert_allclose(curve.written, [101.5, 103.5, 105.5, 107.5])
    np.testing.assert_array_equal(curve.fast, result.values("fast"))
    assert (curve.heard_to, curve.resets) == (108.0, (100.0,))


def test_each_rate_lies_over_the_time_it_tells_of(streams, qtbot):
    overlay = StreamOverlay()
    result = streams(random_weights=True)
    overlay.set_result(result)
    overlay.choose("fast")
    np.testing.assert_allclose(overlay.heat.times, 100.0 + 0.5 * np.arange(16))
    np.testing.assert_array_equal(overlay.heat.values, result.values("fast_by_channel").T)
    assert overlay.heat.random_weights
    assert overlay.heat.title == "Streams of NeurDuo-EEG-S, fast [paper]"
    overlay.choose("slow")
    # The step that begins at 101.5 s writes, which closes the two seconds from 100 s on.
    np.testing.assert_allclose(overlay.heat.times, [100.0, 102.0, 104.0, 106.0])
    np.testing.assert_allclose(overlay.heat.widths, 2.0)


def test_hovering_tells_both_rates_of_a_time(streams, qtbot):
    overlay = StreamOverlay()
    result = streams()
    overlay.set_result(result)
    overlay.set_state(OverlayState(True))
    fast, slow = result.values("fast")[5], result.values("slow")[1]
    assert overlay.describe(102.7, "C3") == f"streams fast {fast:.3g}, slow {slow:.3g} /s"
    assert overlay.describe(90.0, "C3") == overlay.describe(120.0, "C3") == ""
    overlay.set_state(OverlayState(False))
    assert overlay.describe(102.7, "C3") == ""


@pytest.mark.parametrize(("most", "reach"), [(0.04, 0.05), (0.3, 0.5), (0.9, 1.0), (1.5, 2.0), (7.0, 10.0)])
def test_colours_reach_to_a_round_rate(most, reach):
    scale = rate_scale(np.full(100, most))
    assert (scale.low, scale.middle) == (0.0, None)
    assert scale.high == pytest.approx(reach)
