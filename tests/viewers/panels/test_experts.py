"""The panel of experts: load, entropy, allocation, other recordings, and the block in the lane."""

from __future__ import annotations

import numpy as np
import pytest

from viewers.panels.experts import Experts

BLOCKS = ("tokenizer 1", "group 1")


@pytest.fixture
def result(make_analysis):
    def make(similarity=None):
        load = np.full((2, 8), 0.125)
        load[0, :2] = np.nan
        arrays = {
            "load": (load, ("block", "expert"), "1", "share of tokens"),
            "load_entropy": ([0.5, np.nan], ("block",), "1", "entropy"),
            "n_shared": ([2, 0], ("block",), "1", "shared"),
        }
        labels = {"block": BLOCKS, "expert": tuple("12345678")}
        if similarity is not None:
            arrays["routing_similarity"] = (
                similarity,
                ("recording", "other_recording"),
                "1",
                "cosine",
                "our definition",
            )
            labels["recording"] = labels["other_recording"] = ("a.edf", "b.edf")
        return make_analysis("experts", arrays, labels, {"n_seconds": 20, "top_k": 1})

    return make


def test_load_entropy_and_allocation_of_every_block(shown, result):
    panel = shown(Experts, result())
    assert panel.load.rows == BLOCKS
    assert np.isnan(panel.load.values[0, :2]).all()
    assert panel.entropy.names == BLOCKS
    assert panel.allocation._text(0) == "tokenizer 1: 3 shared, 6 routed"
    assert panel.allocation._text(1) == "group 1: 1 shared, 8 routed"
    assert "20 s" in panel.headings[panel.load].text()
    assert panel.similarity.isHidden()
    assert "Options" in panel._hint.text()


def test_squares_are_shared_from_the_left(shown, result):
    panel = shown(Experts, result())
    plot = panel.allocation
    plot.resize(300, plot.sizeHint().height())
    picture = plot.grab().toImage()
    colours = [picture.pixelColor(round(plot.x(i)), round(plot.y(0))).name() for i in range(9)]
    assert colours[0] == colours[1] == colours[2] != colours[3]
    assert len(set(colours[3:])) == 1


def test_a_block_that_is_clicked_is_asked_for_and_gives_way_again(shown, result):
    panel = shown(Experts, result())
    asked = []
    panel.part_chosen.connect(asked.append)
    panel.load.cell_clicked.emit(1, 4)
    panel.load.cell_clicked.emit(1, 2)
    assert asked == ["1", "mean"]
    panel.set_part("0")
    assert panel.part.currentText() == "Lane: tokenizer 1"


def test_other_recordings_are_compared(shown, result):
    panel = shown(Experts, result(np.array([[1.0, 0.25], [0.25, 1.0]])))
    assert not panel.similarity.isHidden()
    assert "b.edf 0.250" in panel.headings[panel.similarity].text()
    assert panel._hint.isHidden()
    assert "a.edf\t1\t0.25" in panel.table()
