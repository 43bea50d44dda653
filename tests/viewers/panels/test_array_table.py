"""Any array can be looked at: a line for one axis, colours for two, sliders for those before."""

from __future__ import annotations

import numpy as np
import pytest

from viewers.panels.array_table import ArrayTable

CUBE = np.arange(2.0 * 3 * 4 * 5).reshape(2, 3, 4, 5) - 10


@pytest.fixture
def panel(shown, make_analysis):
    arrays = {
        "line": ([1.0, 2.0], ("layer",), "s", "time constant", "paper"),
        "table": (np.eye(3), ("channel", "channel_2"), "1", "who hears whom", ""),
        "cube": (CUBE, ("layer", "window", "channel", "patch"), "uV", "everything", "our definition"),
    }
    labels = {"layer": ("first", "last"), "channel": ("Fp1", "Fp2", "Fz", "Cz")}
    return shown(ArrayTable, make_analysis("anything", arrays, labels))


def choose(panel: ArrayTable, name: str) -> None:
    panel.array.choose(name)
    panel.array.chosen.emit(name)


def test_one_axis_is_a_line(panel):
    assert panel.line.isVisible()
    assert not panel.matrix.isVisible()
    assert panel.line.labels == ("first", "last")
    assert "Time constant, in s" in panel._meaning.text()
    assert "[paper]" in panel._meaning.text()
    assert "2 layer" in panel._meaning.text()


def test_two_axes_are_colours(panel):
    choose(panel, "table")
    assert panel.matrix.isVisible()
    assert panel.sliders == []
    np.testing.assert_array_equal(panel.matrix.values, np.eye(3))
    assert (panel.matrix.row_title, panel.matrix.x_title) == ("channel", "channel_2")


def test_sliders_walk_along_the_axes_before(panel):
    choose(panel, "cube")
    assert [slider.axis for slider in panel.sliders] == ["layer", "window"]
    np.testing.assert_array_equal(panel.matrix.values, CUBE[0, 0])
    panel.sliders[0].slider.setValue(1)
    panel.sliders[1].slider.setValue(2)
    np.testing.assert_array_equal(panel.matrix.values, CUBE[1, 2])
    assert panel.sliders[0]._words.text() == "layer last"
    assert panel.matrix.rows == ("Fp1", "Fp2", "Fz", "Cz")
    # One scale for all slices, so that they can be compared.
    assert panel.matrix.limits == (-109.0, 109.0)


def test_the_array_that_was_looked_at_is_looked_at_again(panel, make_analysis):
    choose(panel, "cube")
    panel.sliders[1].slider.setValue(2)
    panel.set_result(panel.result)
    assert panel.array.value() == "cube"
    assert panel.index() == (0, 2)
    panel.set_result(make_analysis("other", {"else": ([1.0], ("x",))}))
    assert panel.array.value() == "else"
    assert panel.sliders == []


def test_the_whole_array_is_copied(panel):
    choose(panel, "cube")
    lines = [line.split("\t") for line in panel.table().splitlines() if line[0] != "#"]
    assert lines[0] == ["layer", "window", "channel", "0", "1", "2", "3", "4"]
    assert len(lines) == 1 + 2 * 3 * 4
    assert lines[-1] == ["last", "2", "Cz", "105", "106", "107", "108", "109"]
