"""Plots over layers: values at their layers, and a layer chosen by mouse or keys."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, Qt

from viewers.heat_scales import above, below
from viewers.panels.layer_plot import BalanceBars, LayerPlot, Series, accent
from viewers.theme import LIGHT


@pytest.fixture
def plot(qtbot) -> LayerPlot:
    made = LayerPlot("Rank")
    qtbot.addWidget(made)
    made.resize(320, 160)
    made.set_series([Series("rank", np.array([1.0, np.nan, 3.0, 2.0]), accent)])
    made.show()
    return made


def test_the_layer_that_is_clicked_is_told(plot, qtbot):
    for layer in range(4):
        with qtbot.waitSignal(plot.layer_clicked) as clicked:
            place = QPoint(round(plot.x(layer)), round(plot.area.center().y()))
            qtbot.mouseClick(plot, Qt.MouseButton.LeftButton, pos=place)
        assert clicked.args == [layer]
    with qtbot.assertNotEmitted(plot.layer_clicked):
        qtbot.mouseClick(plot, Qt.MouseButton.LeftButton, pos=QPoint(3, 3))


def test_arrow_keys_walk_through_the_layers_and_stop_at_the_ends(plot, qtbot):
    found = []
    plot.layer_clicked.connect(found.append)
    plot.layer_clicked.connect(plot.choose)
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Left):
        qtbot.keyClick(plot, key)
    assert found == [0, 1, 0, 0]


def test_values_that_are_none_are_said_to_be(plot):
    assert plot.describe_layer(1) == "layer 1\nrank not defined"
    assert "layer 2, rank 3.000" in plot.accessibleDescription()


def test_the_axis_reaches_a_little_beyond_what_is_shown(plot):
    assert plot.y_range == (0.0, pytest.approx(3.24))
    plot.set_series([Series("cosine", np.array([-1.0, 1.0]), accent)])
    assert plot.y_range[0] == -1.0


def test_names_of_several_series_stand_above_the_lines(plot):
    alone = plot.area.top()
    plot.set_series([Series(name, np.full(4, 1.0), accent) for name in ("within", "between")], y_range=(0.0, 1.0))
    assert plot.area.top() >= alone + 12
    picture, ink = plot.grab().toImage(), accent(LIGHT).getRgb()[:3]
    above_area = range(round(plot.area.top()) - 1)
    coloured = [picture.pixelColor(x, y).getRgb()[:3] for y in above_area for x in range(picture.width())]
    assert any(sum(abs(a - b) for a, b in zip(one, ink, strict=True)) < 60 for one in coloured)
    plot.set_series([Series("rank", np.full(4, 1.0), accent)])
    assert plot.area.top() == alone


def test_bars_part_at_the_balance(qtbot):
    bars = BalanceBars("Weight", ("spatial", "temporal"), (below, above))
    qtbot.addWidget(bars)
    bars.resize(320, 160)
    bars.set_series([Series("weight", np.array([0.9, 0.1, 0.5]), accent)], y_range=(0.0, 1.0))
    bars.show()
    picture = bars.grab().toImage()

    def colour(layer: float, value: float) -> str:
        pixel = picture.pixelColor(round(bars.x(layer)), round(bars.y(value)))
        return {above(LIGHT).name(): "teal", below(LIGHT).name(): "brown"}.get(pixel.name(), "none")

    assert [colour(0, 0.7), colour(0, 0.3), colour(1, 0.3), colour(1, 0.7)] == ["teal", "none", "brown", "none"]


def test_a_chosen_layer_stands_out(plot):
    before = plot.grab().toImage()
    plot.choose(2)
    after = plot.grab().toImage()
    x, y = round(plot.x(2)) - 8, round(plot.area.bottom()) - 4
    assert before.pixelColor(x, y) != after.pixelColor(x, y)
    assert before.pixelColor(round(plot.x(0)) - 8, y) == after.pixelColor(round(plot.x(0)) - 8, y)
