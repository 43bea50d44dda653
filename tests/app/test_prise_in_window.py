"""PRiSE-EEG in the real window: experts in a lane, token maps by a click, arcs, groups on the scalp, and a way back."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QPointF, Qt

from app.settings import Settings
from app.testing import open_window
from viewers.overlays.base import OverlayState
from viewers.panels.dynamic_groups import DynamicGroups
from viewers.panels.experts import Experts
from viewers.panels.gradient_geometry import GradientGeometry
from viewers.panels.group_attribution import GroupAttribution
from viewers.panels.interventions import Interventions

SEIZURE = "scalp-seizure-46ch/demo_edf.edf"
PRISE = "random:prise-eeg:tiny:1"


@pytest.fixture(scope="module")
def window(shared, qapp):
    """The seizure recording with a PRiSE-EEG of random weights, in a window that the tests share."""
    made = open_window(shared / "recordings" / SEIZURE, (1500, 900), Settings(theme="light"))
    made.wait()
    made.load_model(PRISE)
    made.wait(120)
    made.main.model_panel.choose(PRISE)
    yield made
    made.close()


def run(window, kind: str, options=()):
    analysing = window.main.analysing
    analysing.open(kind)
    for name, value in dict(options).items():
        analysing._on_option(name, value)
    analysing.run()
    window.wait(120)
    assert analysing.answer is not None, analysing.tab._error.text()
    return analysing.answer, analysing.tab.shown


def test_experts_are_in_their_lane_and_a_click_chooses_the_block(window, qtbot):
    window.show(10.0, 10.0)
    answer, panel = run(window, "experts")
    assert isinstance(panel, Experts)
    lane = window.main.view.lanes["Experts"]
    assert lane.isVisible()
    assert lane.subtitle == "all blocks"
    np.testing.assert_allclose(lane.curve.times, np.arange(10.0, 20.0))
    place = QPointF(panel.load.x(5), panel.load.y(3)).toPoint()
    qtbot.mouseClick(panel.load, Qt.MouseButton.LeftButton, pos=place)
    assert lane.subtitle == answer.labels["block"][3]
    window.main.analysing.set_overlay("experts", OverlayState(False))
    assert not lane.isVisible()


def test_a_click_on_a_cell_shows_the_maps_of_both_layers(window, qtbot):
    window.show(10.0, 10.0)
    answer, panel = run(window, "cka")
    assert answer.facts["rows"] == "tokens"
    drawing = window.main.analysing.drawing
    assert drawing.overlay("cka").heat is None
    assert "Token maps" not in window.main.view.lanes or not window.main.view.lanes["Token maps"].isVisible()
    place = QPointF(panel.matrix.x(4), panel.matrix.y(1))
    text = panel.matrix.describe(place)
    assert "tokenizer 2" in text
    assert "time 2" in text
    assert f"{float(answer.values('cka_unbiased')[1, 4]):.4g}" in text
    qtbot.mouseClick(panel.matrix, Qt.MouseButton.LeftButton, pos=place.toPoint())
    overlay = drawing.overlay("cka")
    np.testing.assert_array_equal(overlay.heat.values, answer.values("row_map")[1])
    np.testing.assert_array_equal(overlay.lower.heat.values, answer.values("row_map")[4])
    window.show(20.0, 10.0)  # the page is followed, and the pair stays
    window.wait(60)
    assert window.main.analysing.answer.request.window.start == 20.0
    assert overlay.heat.times[0] == 20.0
    assert panel.matrix.chosen == (1, 4)
    qtbot.mouseClick(panel.matrix, Qt.MouseButton.LeftButton, pos=place.toPoint())
    assert overlay.heat is None


def test_arcs_stand_on_the_traces_of_the_lag_that_is_chosen(window):
    window.show(10.0, 10.0)
    _, panel = run(window, "dynamic-groups")
    assert isinstance(panel, DynamicGroups)
    overlay = window.main.analysing.drawing.overlay("dynamic-groups")
    assert overlay.arcs
    lane = window.main.view.lanes[overlay.title]
    assert not lane.isVisible()
    panel.lag.choose("2")
    panel.lag.chosen.emit("2")
    assert {round(1000 * arc.lag) for arc in overlay.arcs} <= {31}
    window.main.analysing.set_overlay("dynamic-groups", OverlayState(False))


@pytest.mark.parametrize(
    ("kind", "panel", "options"),
    [
        ("group-attribution", GroupAttribution, {"windows": 1}),
        ("group-interventions", Interventions, {"windows": 1}),
        ("gradient-geometry", GradientGeometry, {"window": 3.0, "steps": 9, "batch": 1}),
    ],
)
def test_each_kind_has_its_panel(window, kind, panel, options):
    window.show(10.0, 20.0)
    answer, shown = run(window, kind, options)
    assert isinstance(shown, panel)
    assert answer.kind == kind
    assert shown.table().startswith(f"# {kind}: PRiSE-EEG-tiny (random weights)")


def test_what_cannot_be_is_said_in_the_panel(window):
    window.show(0.0, 5.0)
    analysing = window.main.analysing
    analysing.open("group-attribution")
    analysing.run()
    window.wait(60)
    assert "made for 10 s, not for 5 s" in analysing.tab._error.text()
    assert analysing.answer is None
