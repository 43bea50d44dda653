"""The panel of points: each where it was placed, told by time, label or recording, ringed on this page, a way back."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QPointF, Qt

from analysis.recording import Window
from viewers.panels.embedding import LABEL, RECORDING, TIME, Embedding

POINTS = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 20.0], [0.0, 20.0]])


@pytest.fixture
def panel(shown, result):
    return shown(Embedding, result())


@pytest.fixture
def result(make_analysis):
    def make(recording=(0, 0, 0, 0), label=(0, 0, 1, -1)):
        return _make(make_analysis, recording, label)

    return make


def _make(make_analysis, recording, label):
    arrays = {
        "points": (POINTS, ("window", "coordinate"), "1", "place of a window"),
        "window_onset": ([0.0, 2.0, 4.0, 6.0], ("window",), "s", "onset"),
        "seizure": ([0.0, 0.0, 1.0, 1.0], ("window",), "1", "marked seizure"),
        "label": (label, ("window",), "1", "group"),
        "recording": (recording, ("window",), "1", "recording"),
    }
    files = ("night.edf", "day.edf") if any(recording) else ("night.edf",)
    labels = {"group": ("no seizure", "seizure"), "of_recording": files}
    facts = {"method": "PCA", "explained_variance": [0.3, 0.2], "first_window": 100.0, "window_seconds": 2.0}
    return make_analysis("embedding", arrays, labels, facts | {"n_windows": 4, "labels": "seizure"})


def test_points_keep_their_shape(panel):
    places = panel.plot.places()
    right, up = places[1] - places[0], places[2] - places[1]
    assert right[0] > 0
    assert up[1] < 0
    assert -up[1] == pytest.approx(2 * right[0])
    assert all(panel.plot.area.contains(QPointF(*place)) for place in places)


def test_a_click_asks_for_the_page_of_the_window(panel, qtbot):
    with qtbot.waitSignal(panel.time_requested) as asked:
        place = QPointF(*panel.plot.places()[2]).toPoint()
        qtbot.mouseClick(panel.plot, Qt.MouseButton.LeftButton, pos=place)
    assert asked.args == [104.0]
    assert panel.plot.describe(QPointF(place)).splitlines()[:2] == ["01:44.0 to 01:46.0", "marked seizure"]
    with qtbot.assertNotEmitted(panel.time_requested):
        qtbot.mouseClick(panel.plot, Qt.MouseButton.LeftButton, pos=panel.plot.area.center().toPoint())


def test_keys_go_through_the_windows_in_time(panel, qtbot):
    found = []
    panel.time_requested.connect(found.append)
    panel.time_requested.connect(lambda time: panel.set_window(Window(time, time + 1.0)))
    panel.set_window(Window(102.0, 103.0))
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left):
        qtbot.keyClick(panel.plot, key)
    assert found == [104.0, 106.0, 106.0, 104.0]


def test_windows_of_the_page_are_ringed(panel):
    panel.set_window(Window(101.0, 103.0))
    assert panel.plot.on_page().tolist() == [0, 1]
    panel.set_window(Window(102.0, 104.0))
    assert panel.plot.on_page().tolist() == [1]


def choose(panel, by):
    panel.by.choose(by)
    panel.by.chosen.emit(by)
    return [colour.name() for colour in panel.plot.colours()]


def test_colours_tell_time_or_labels_and_those_without_one(panel):
    assert len(set(choose(panel, TIME))) == 4
    by_label = choose(panel, LABEL)
    assert by_label[0] == by_label[1]
    assert len(set(by_label[1:])) == 3
    assert panel.plot.describe(QPointF(*panel.plot.places()[2])).splitlines()[2] == "seizure"
    assert panel.by.findData(RECORDING) < 0


def test_windows_of_another_recording_have_their_colour_and_no_page(shown, result, qtbot):
    panel = shown(Embedding, result(recording=(0, 0, 1, 1)))
    by_recording = choose(panel, RECORDING)
    assert by_recording[0] == by_recording[1] != by_recording[2] == by_recording[3]
    panel.set_window(Window(100.0, 110.0))
    assert panel.plot.on_page().tolist() == [0, 1]
    there = QPointF(*panel.plot.places()[2])
    assert "of day.edf, which is not on screen" in panel.plot.describe(there)
    with qtbot.assertNotEmitted(panel.time_requested):
        qtbot.mouseClick(panel.plot, Qt.MouseButton.LeftButton, pos=there.toPoint())
    with qtbot.waitSignal(panel.time_requested) as asked:
        qtbot.keyClick(panel.plot, Qt.Key.Key_Right)
    assert asked.args == [102.0]


def test_method_and_share_are_said_and_points_copied(panel):
    assert "PCA, 50% of the variance" in panel.heading.text()
    lines = [line.split("\t") for line in panel.table().splitlines() if line[0] != "#"]
    assert lines[0] == ["recording", "onset (s)", "coordinate 1", "coordinate 2", "seizure", "label"]
    assert lines[3] == ["night.edf", "104.000", "10", "20", "1", "seizure"]
    assert lines[4][-1] == ""
