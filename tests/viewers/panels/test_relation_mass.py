"""The panel of relations: shares on top of each other beside those of equal attention."""

from __future__ import annotations

import numpy as np
import pytest

from viewers.heat_scales import above
from viewers.panels.relation_mass import RelationMass
from viewers.theme import LIGHT

RELATIONS = ("itself", "same channel", "same time", "neither")


@pytest.fixture
def panel(shown, make_analysis):
    mass = [[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]]
    arrays = {
        "mass": (mass, ("layer", "relation"), "1", "share of attention", "paper"),
        "uniform": ([0.05, 0.15, 0.3, 0.5], ("relation",), "1", "share if all counted alike", "paper"),
    }
    labels = {"relation": RELATIONS, "layer": ("0", "1")}
    return shown(RelationMass, make_analysis("relation-mass", arrays, labels, {"n_windows": 3}))


def test_the_first_bar_is_that_of_equal_attention(panel):
    assert panel.plot.labels == ("equal", "0", "1")
    assert panel.plot.describe_layer(0).splitlines()[:2] == ["equal attention", "itself 5.00 %"]
    assert panel.plot.describe_layer(2).splitlines() == [
        "layer 1", "itself 40.00 %", "same channel 30.00 %", "same time 20.00 %", "neither 10.00 %",
    ]  # fmt: skip


def test_shares_stand_on_top_of_each_other(panel):
    picture = panel.plot.grab().toImage()
    teal = [
        y for y in range(panel.plot.height())
        if picture.pixelColor(round(panel.plot.x(2)) - 8, y).name() == above(LIGHT).name()
    ]  # fmt: skip
    assert min(teal) == pytest.approx(panel.plot.y(0.7), abs=1.5)
    assert max(teal) == pytest.approx(panel.plot.y(0.4), abs=1.5)


def test_shares_are_copied(panel):
    lines = [line.split("\t") for line in panel.table().splitlines() if line[0] != "#"]
    assert lines[0] == ["layer", *RELATIONS]
    np.testing.assert_allclose([float(v) for v in lines[2][1:]], [0.4, 0.3, 0.2, 0.1])
    assert panel.heading.mark == "[paper]"
