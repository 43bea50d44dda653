"""MVPFormer in the real window: strengths and arcs on the traces, masses in the panel, predictions in a lane."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QPointF, Qt

from analysis.attention_parts import Part
from app.cli import main
from app.settings import Settings
from app.testing import open_window
from viewers.overlays.base import OverlayState
from viewers.panels.attention_times import AttentionTimes
from viewers.panels.channel_map import ChannelMap
from viewers.panels.next_state import NextStatePanel

SEIZURE = "scalp-seizure-46ch/demo_edf.edf"
CLASSIFIER, BASE = "random:mvpformer:tiny:1", "random:mvpformer:base:1"


@pytest.fixture(scope="module")
def window(shared, qapp):
    """The seizure recording with MVPFormers of random weights, in a window that the tests share."""
    made = open_window(shared / "recordings" / SEIZURE, (1500, 900), Settings(theme="light"))
    made.wait()
    for name in (BASE, CLASSIFIER):
        made.load_model(name)
        made.wait(120)
    yield made
    made.close()


def run(window, kind: str, model: str):
    window.main.model_panel.choose(model)
    analysing = window.main.analysing
    analysing.open(kind)
    analysing.run()
    window.wait(120)
    assert analysing.answer is not None, analysing.tab._error.text()
    return analysing.answer, analysing.tab.shown


def test_a_click_on_a_row_of_the_map_draws_its_arcs(window, qtbot):
    window.show(0.0, 20.0)
    answer, panel = run(window, "channel-map", CLASSIFIER)
    assert isinstance(panel, ChannelMap)
    canvas, overlay = window.main.view.trace_view.canvas, window.main.analysing.drawing.overlay("channel-map")
    assert {"Channel map in", "Channel map out"} <= set(canvas.strips)
    assert overlay.targets == []
    place = QPointF(panel.matrix.x(0), panel.matrix.y(3)).toPoint()
    qtbot.mouseClick(panel.matrix, Qt.MouseButton.LeftButton, pos=place)
    flow = answer.values("flow").mean((0, 1))[3]
    others = [i for i in np.argsort(-flow) if i != 3]
    assert overlay.part == Part(channel=3).name
    assert overlay.targets[0] == others[0]
    assert panel.matrix.chosen == (3, 3)
    assert answer.labels["channel"][3] in canvas.furniture.keys["Channel map"].title
    assert not window.main.view.lanes[overlay.title].isVisible()
    window.main.analysing.set_overlay("channel-map", OverlayState(False))
    assert canvas.strips == {}
    assert "Channel map" not in canvas.furniture.keys


def test_attention_by_time_has_its_panel(window):
    window.show(0.0, 20.0)
    answer, panel = run(window, "attention", CLASSIFIER)
    assert isinstance(panel, AttentionTimes)
    assert answer.facts["segments"] == 4
    assert panel.table().startswith("# attention: MVPFormer-tiny (random weights)")


def test_predictions_are_in_their_lane(window):
    window.show(0.0, 45.0)
    answer, panel = run(window, "prediction", BASE)
    assert isinstance(panel, NextStatePanel)
    lane = window.main.view.lanes["Prediction"]
    assert lane.isVisible()
    np.testing.assert_allclose(lane.curve.times, 5.0 * np.arange(1, 9))
    np.testing.assert_allclose(lane.curve.values, answer.values("true")[0].mean(-1), rtol=1e-6)
    assert panel.ictal.isVisible()
    panel.lane.choose("random")
    panel.lane.chosen.emit("random")
    assert lane.subtitle == "random segment"
    window.main.analysing.set_overlay("prediction", OverlayState(False))
    assert not lane.isVisible()


def test_a_classifier_foresees_nothing_and_says_so(window):
    window.main.model_panel.choose(CLASSIFIER)
    analysing = window.main.analysing
    analysing.open("prediction")
    analysing.run()
    window.wait(60)
    assert "classification head in place of its predictions" in analysing.tab._error.text()


@pytest.mark.parametrize(
    ("kind", "model", "file", "seconds"),
    [
        ("channel-map", CLASSIFIER, SEIZURE, 20),
        ("channel-map", CLASSIFIER, "eegmmidb/eegmmidb_overlapping_annotations.edf", 15),
        ("attention", CLASSIFIER, "eeglab/eeglab_data.set", 20),
        ("prediction", BASE, SEIZURE, 30),
    ],
)
def test_the_command_line_writes_numbers_and_figure(shared, tmp_path, capsys, kind, model, file, seconds):
    span = ["--duration", str(seconds)]
    path = str(shared / "recordings" / file)
    assert main(["analyze", kind, path, "--checkpoint", model, *span, "--out", str(tmp_path)]) == 0
    capsys.readouterr()
    with np.load(tmp_path / f"{kind}.npz") as found:
        assert all(np.isfinite(found[name]).any() for name in found.files)
    assert (tmp_path / f"{kind}.svg").stat().st_size > 10_000
