"""Arcs of lag correlations: the strongest pairs of each quarter, at their lag, from row to row."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QImage, QPainter

from analysis.lag_arcs import lag_and_channel, strongest_arcs
from analysis.montage import Derivation, Montage
from analysis.recording import Window
from viewers.overlays.base import OverlayState
from viewers.overlays.lag_arcs import LagArcs, part_of, row_places
from viewers.rows import Rows
from viewers.time_scale import TimeScale

NAMES = ("C3", "C4", "Cz")


@pytest.fixture
def result(make_analysis):
    rho = np.zeros((2, 4, 2, 3, 3))
    rho[..., range(3), range(3)] = 1.0  # a channel with itself is no pair
    rho[0, 1, 1, 0, 2] = 0.9  # C3, then Cz, in the second quarter of the first second, at the second lag
    rho[0, 1, 1, 2, 0] = 0.6  # the other way about is weaker
    rho[1, 3, 0, 1, 2] = -0.8
    rho[1, 0, 0, 0, 1] = 0.4  # too weak
    axes = ("second", "quarter", "lag", "channel", "later_channel")
    facts = {"first_window": 10.0, "quarter_seconds": 0.25, "lag_seconds": [0.0, 0.03125]}
    labels = {"channel": NAMES, "later_channel": NAMES, "lag": ("0 ms", "31 ms")}
    arrays = {"correlation": (rho, axes), "second_onset": ([0.0, 1.0], ("second",), "s")}
    return make_analysis("dynamic-groups", arrays, labels, facts, random_weights=True)


def test_parts_name_lag_and_channel():
    for lag in (None, 0, 5):
        for channel in (None, 0, 12):
            assert lag_and_channel(part_of(lag, channel)) == (lag, channel)


def test_the_strongest_pairs_of_a_quarter_once_each(result):
    found = strongest_arcs(result, "mean")
    assert [(a.time, a.channel, a.later, a.lag) for a in found] == [(10.25, 0, 2, 0.03125), (11.75, 1, 2, 0.0)]
    assert [a.correlation for a in found] == pytest.approx([0.9, -0.8])
    assert [a.time for a in strongest_arcs(result, "0")] == [11.75]
    assert [a.time for a in strongest_arcs(result, part_of(None, 0))] == [10.25]
    assert strongest_arcs(result, part_of(0, 0)) == []


def test_channels_stand_where_their_rows_begin(single_montage):
    rows = Rows(Montage("m", (Derivation("Cz-C4", "Cz", ("C4",)), Derivation("C4", "C4", ()))), 100, 7.0, 4.0)
    places = row_places(rows, NAMES)
    assert set(places) == {1, 2}
    assert places[1] == pytest.approx(float(rows.centre[1]))
    assert places[2] == pytest.approx(float(rows.centre[0]))
    only = Rows(Montage("m", (Derivation("Cz-C4", "Cz", ("C4",)),)), 100, 7.0, 4.0)
    assert row_places(only, NAMES)[1] == pytest.approx(float(only.centre[0]))


def test_arcs_are_drawn_and_told_where_they_are(result, qtbot, single_montage):
    overlay = LagArcs()
    overlay.rows = Rows(single_montage(*NAMES), 120, 7.0, 4.0)
    overlay.set_state(OverlayState(True, 1.0))
    overlay.set_result(result)
    picture = QImage(400, 120, QImage.Format.Format_ARGB32_Premultiplied)
    picture.fill(Qt.GlobalColor.white)
    painter = QPainter(picture)
    overlay.paint(painter, TimeScale(Window(10.0, 12.0), 400), 120)
    painter.end()
    inked = np.array([[picture.pixelColor(x, y).name() != "#ffffff" for x in range(400)] for y in range(120)])
    assert inked[:, 50:125].any()
    assert inked[:, 350:].any()
    assert not inked[:, :50].any()
    assert not inked[:, 150:350].any()
    assert overlay.describe(10.3, "C3") == "C3 → Cz ρ 0.90, 31 ms"
    assert overlay.describe(11.8, "C4") == "C4 → Cz ρ −0.80, 0 ms"
    assert overlay.describe(10.3, "C4") == ""
    assert overlay.key().warning == "random weights"
    overlay.set_stale("computing…")
    assert "computing…" in overlay.key().warning
