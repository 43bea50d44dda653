"""The panel of gates: profile, scale gate, entropy with its collapse line, spreads; a layer goes to the traces."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, Qt

from viewers.panels.gate_bars import GateBars
from viewers.panels.kind_panel import MEAN


def test_the_profile_has_means_with_their_spread(shown, gates):
    result = gates()
    panel = shown(GateBars, result)
    (series,) = panel.profile.series
    np.testing.assert_array_equal(series.values, result.values("mean"))
    np.testing.assert_array_equal(series.spread, result.values("sd"))
    assert panel.profile.balance == 0.5
    assert panel.profile.y_range == (0.0, 1.0)
    mean, sd = result.values("mean")[1], result.values("sd")[1]
    assert panel.profile.describe_layer(1) == f"layer 1\ntemporal weight {mean:.3f} ± {sd:.3f}"


def test_the_entropy_ratio_stands_beside_the_collapse_line(shown, gates):
    panel = shown(GateBars, gates())
    assert panel.entropy.limit == (0.4, "collapse 0.40")
    assert [s.name for s in panel.spread.series] == ["D_token", "D_position", "D_content"]
    assert [h.mark for h in panel.headings.values()] == ["[paper]", "[reference]", "[paper]", "[our definition]"]


def test_one_window_has_no_content_spread_and_says_so(shown, gates):
    panel = shown(GateBars, gates(windows=1))
    assert [s.name for s in panel.spread.series] == ["D_token"]
    assert "D_content needs two windows" in panel.headings[panel.spread].text()


def test_a_scale_gate_is_drawn_only_where_there_are_two_scales(shown, gates):
    panel = shown(GateBars, gates(two_scales=False, notes=("A window of 2 patches holds only one scale.",)))
    assert not panel.scale.isVisible()
    assert "only one scale" in panel._notes.text()
    panel.set_result(gates())
    assert panel.scale.isVisible()


@pytest.mark.parametrize("plot", ["profile", "entropy", "spread", "scale"])
def test_a_click_on_a_layer_asks_for_it_on_the_traces_and_another_for_the_mean(shown, gates, qtbot, plot):
    panel = shown(GateBars, gates())
    where = getattr(panel, plot)
    place = QPoint(round(where.x(2)), round(where.area.center().y()))
    asked = []
    panel.part_chosen.connect(asked.append)
    qtbot.mouseClick(where, Qt.MouseButton.LeftButton, pos=place)
    of_scale = plot == "scale"
    assert (panel.gate.value(), panel.part.value()) == ("short" if of_scale else "temporal", "2")
    assert (panel.profile.chosen, panel.scale.chosen) == ((None, 2) if of_scale else (2, None))
    qtbot.mouseClick(where, Qt.MouseButton.LeftButton, pos=place)
    assert (panel.part.value(), panel.profile.chosen, panel.scale.chosen) == (MEAN, None, None)
    assert asked == (["short 2", "short mean"] if of_scale else ["2", MEAN])


def test_the_head_shows_what_the_traces_show(shown, gates):
    result = gates()
    panel = shown(GateBars, result)
    assert panel.head.names == ("C3", "C4")
    np.testing.assert_allclose(panel.head.values, result.values("temporal").mean((0, 1, 3)), rtol=1e-6)
    assert panel.head_heading.mark == "[paper]"
    panel.set_part("short 1")
    np.testing.assert_allclose(panel.head.values, result.values("short")[1].mean((0, 2)), rtol=1e-6)
    assert panel.head.scale.high_word == "short"
    assert panel.head_heading.mark == "[reference]"
    assert panel.head.describe(panel.head.point(1)).startswith("C4  0.")
    assert panel.head.point(0).x() < panel.head.circle.center().x()


def test_what_is_on_the_traces_is_pointed_out(shown, gates):
    panel = shown(GateBars, gates())
    with_nothing = panel.profile.chosen
    panel.set_part("1")
    assert (with_nothing, panel.profile.chosen, panel.part.currentText()) == (None, 1, "Traces: layer 1")
    panel.set_part("block 3")  # of another kind
    assert (panel.profile.chosen, panel.part.value()) == (None, MEAN)


def test_every_quantity_is_copied_by_layer(shown, gates):
    panel = shown(GateBars, gates())
    lines = [line.split("\t") for line in panel.table().splitlines() if not line.startswith("#")]
    assert lines[0] == [
        "layer",
        "mean",
        "sd",
        "short_mean",
        "short_sd",
        "entropy_ratio",
        "d_token",
        "d_position",
        "d_content",
    ]
    assert [line[5] for line in lines[1:]] == ["0.9", "0.5", "0.3"]
