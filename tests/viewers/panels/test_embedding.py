"""The panel of points: each where it was placed, told by time or seizure, ringed on this page, and a way back."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QPointF, Qt

from analysis.recording import Window
from viewers.panels.embedding import SEIZURE, Embedding

POINTS = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 20.0], [0.0, 20.0]])


@pytest.fixture
def panel(shown, make_analysis):
    arrays = {
        "points": (POINTS, ("window", "coordinate"), "1", "place of a window"),
        "window_onset": ([0.0, 2.0, 4.0, 6.0], ("window",), "s", "onset"),
        "seizure": ([0.0, 0.0, 1.0, 1.0], ("window",), "1", "marked seizure"),
    }
    facts = {"method": "PCA", "explained_variance": [0.3, 0.2], "first_window": 100.0, "window_seconds": 2.0}
    return shown(Embedding, make_analysis("embedding", arrays, facts=facts | {"n_windows": 4}))


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


def test_colours_tell_time_or_seizures(panel):
    by_time = [colour.name() for colour in panel.plot.colours()]
    assert len(set(by_time)) == 4
    panel.by.choose(SEIZURE)
    panel.by.chosen.emit(SEIZURE)
    by_seizure = [colour.name() for colour in panel.plot.colours()]
    assert by_seizure[0] == by_seizure[1] != by_seizure[2] == by_seizure[3]


def test_method_and_share_are_said_and_points_copied(panel):
    assert "PCA, 50% of the variance" in panel.heading.text()
    lines = [line.split("\t") for line in panel.table().splitlines() if line[0] != "#"]
    assert lines[3] == ["104.000", "10", "20", "1"]
