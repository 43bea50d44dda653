"""Recall on the traces: the weights of the step under the cursor, over the time at which each slot was written."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.recording import Page, Window
from viewers.overlays.bank_recall import RecallOverlay, recalled, step_of


@pytest.mark.parametrize(("time", "step"), [(100.0, 0), (101.49, 2), (101.5, 3), (107.9, 15), (130.0, 15), (99.0, -1)])
def test_the_step_that_holds_a_time(memory, time, step):
    assert step_of(memory(), time) == step


def test_each_weight_lies_over_the_two_seconds_before_its_write_ended(memory, qtbot):
    result = memory()
    overlay = RecallOverlay()
    overlay.set_result(result)
    overlay.set_time(106.2)
    assert overlay.heat.title == "Recall of NeurDuo-EEG-S at 106.0 s [paper]"
    np.testing.assert_allclose(overlay.heat.times, [100.0, 102.0, 104.0])
    np.testing.assert_allclose(overlay.heat.widths, 2.0)
    np.testing.assert_array_equal(overlay.heat.values, result.values("weights")[12])
    overlay.set_time(103.4)  # one write is held by then, and the empty slots are left out
    np.testing.assert_allclose(overlay.heat.times, [100.0])
    np.testing.assert_allclose(overlay.heat.values, 1.0)
    overlay.set_time(100.6)
    assert overlay.heat is None


def test_without_a_moment_on_the_page_its_end_is_spoken_of(memory, qtbot):
    overlay = RecallOverlay()
    overlay.set_result(memory())
    assert overlay.moment() is None
    assert overlay.heat.title.startswith("Recall of NeurDuo-EEG-S at 107.5 s")
    overlay.set_time(101.0)
    page = Page(Window(102.0, 105.0), ("C3",), 200.0, np.zeros((1, 600), np.float32), 102.0)
    overlay.show_page(page, None)
    assert overlay.heat.title.startswith("Recall of NeurDuo-EEG-S at 104.5 s")
    overlay.set_time(103.5)
    assert overlay.heat.title.startswith("Recall of NeurDuo-EEG-S at 103.5 s")


def test_the_lane_has_the_gate_from_the_first_write_on(memory, qtbot):
    result = memory()
    overlay = RecallOverlay()
    overlay.set_result(result)
    curve = overlay.curve()
    assert np.isnan(curve.values[:3]).all()
    np.testing.assert_allclose(curve.values[3:], result.values("gate").mean(1)[3:], rtol=1e-6)


def test_slots_in_the_order_of_time(memory):
    starts, widths, weights = recalled(memory(), 15)
    np.testing.assert_allclose(starts, [102.0, 104.0, 106.0])
    np.testing.assert_allclose(widths, 2.0)
    assert weights.shape == (2, 3)
