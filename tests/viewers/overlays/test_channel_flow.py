"""What flows between channels on the traces: strengths beside the rows, arcs from a chosen channel, and their keys."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QImage, QPainter

from analysis.attention_parts import Part, part_named
from analysis.montage import Derivation, Montage
from analysis.recording import Window
from viewers.overlays.base import OverlayState
from viewers.overlays.channel_flow import ChannelFlow, strength_scale
from viewers.rows import Rows
from viewers.time_scale import TimeScale

NAMES = ("C3", "C4", "Cz", "Pz")


class Canvas:
    """Takes what an overlay gives the traces."""

    def __init__(self) -> None:
        self.keys: dict[str, object] = {}
        self.strips: dict[str, object] = {}

    def add_overlay_item(self, item: object, place: str) -> None:
        """Nothing is drawn."""

    def remove_overlay_item(self, item: object) -> None:
        """Nothing was drawn."""

    def set_key(self, owner: str, key: object) -> None:
        """Keep the key, or forget it."""
        self.keys = {k: v for k, v in {**self.keys, owner: key}.items() if v is not None}

    def set_strip(self, owner: str, strip: object) -> None:
        """Keep the strip, or forget it."""
        self.strips = {k: v for k, v in {**self.strips, owner: strip}.items() if v is not None}


@pytest.fixture
def flow(make_analysis):
    """Two layers and two heads; of layer 1, head 0 everything goes to Cz, elsewhere attention is even."""
    maps = np.full((2, 2, 4, 4), 0.25)
    maps[1, 0] = np.eye(4)[2]
    axes = ("layer", "head", "channel", "other_channel")
    arrays = {"flow": (maps, axes, "1", "attention that flows", "our definition")}
    return make_analysis("channel-map", arrays, {"channel": NAMES}, {"first_window": 0.0}, random_weights=True)


def test_parts_are_named_and_found_again():
    for part in (Part(), Part(1), Part(None, 2), Part(0, 0, 3), Part(channel=7)):
        assert part_named(part.name) == part
    assert Part().name == "mean"
    assert part_named("true") == Part()
    values = np.arange(6.0).reshape(2, 3)
    assert Part(1).map_of(values) == pytest.approx(4.0)
    assert Part(None, 0).map_of(values) == pytest.approx(1.5)


def test_even_attention_is_in_the_middle_of_the_scale():
    scale = strength_scale(np.ones(3), np.ones(3))
    assert (scale.low, scale.middle, scale.high) == (0.95, 1.0, 1.05)
    assert strength_scale(np.array([0.2, 1.0, 1.8]), np.ones(3)).high == 2.0
    assert strength_scale(np.array([4.0]), np.ones(1)).high == 3.0  # beyond the last reach


@pytest.fixture
def drawn(flow, qtbot, single_montage):
    overlay, canvas = ChannelFlow(), Canvas()
    overlay.attach(canvas)
    overlay.rows = Rows(single_montage(*NAMES), 120, 7.0, 4.0)
    overlay.set_state(OverlayState(True, 1.0))
    overlay.set_result(flow)
    return overlay, canvas


def test_strengths_stand_beside_the_rows(drawn):
    overlay, canvas = drawn
    overlay.choose(Part(1, 0).name)
    received, given = canvas.strips["Channel map in"], canvas.strips["Channel map out"]
    np.testing.assert_allclose(received.values, [0, 0, 4, 0])
    np.testing.assert_allclose(given.values, [4 / 3, 4 / 3, 0, 4 / 3])
    assert "[our definition], random weights" in received.quantity
    assert "layer 1, head 0" in received.quantity
    assert set(canvas.keys) == {"Channel map strength"}  # no channel is chosen, so there is no key of arcs
    overlay.set_hidden(True)
    assert (canvas.strips, canvas.keys) == ({}, {})
    overlay.set_hidden(False)
    assert len(canvas.strips) == 2
    overlay.set_stale("of another span")
    assert canvas.strips == {}  # what is old is not taken for what is new
    overlay.set_stale("")
    overlay.detach()
    assert (canvas.strips, canvas.keys) == ({}, {})


def test_rows_of_a_difference_take_the_mean_of_their_electrodes(drawn):
    overlay, canvas = drawn
    montage = Montage("m", (Derivation("Cz-C4", "Cz", ("C4",)), Derivation("ECG", "ECG", ())))
    overlay.rows = Rows(montage, 100, 7.0, 4.0)
    overlay.choose(Part(1, 0).name)
    np.testing.assert_allclose(canvas.strips["Channel map in"].values, [2.0, np.nan])


def test_a_turn_of_the_page_keeps_the_strips_of_a_montage(drawn):
    overlay, _ = drawn
    first = overlay.strips(overlay.rows.montage)
    assert overlay.strips(overlay.rows.montage) is first


def inked(overlay):
    picture = QImage(400, 120, QImage.Format.Format_ARGB32_Premultiplied)
    picture.fill(Qt.GlobalColor.white)
    painter = QPainter(picture)
    overlay.paint(painter, TimeScale(Window(10.0, 12.0), 400), 120)
    painter.end()
    return np.array([[picture.pixelColor(x, y).name() != "#ffffff" for x in range(400)] for y in range(120)])


def test_arcs_go_from_the_chosen_channel_to_those_it_attends_to_more_than_evenly(drawn):
    overlay, canvas = drawn
    assert not inked(overlay).any()
    overlay.choose(Part(1, 0, 0).name)
    assert overlay.targets == [2]
    places = [round(float(y)) for y in overlay.rows.centre]
    seen = inked(overlay)
    assert seen[places[0], 12:21].any()
    assert seen[places[2], 12:21].any()
    assert not seen[places[3] - 6 :].any()
    assert not seen[:, 250:].any()
    assert canvas.keys["Channel map"].title.startswith("What C3 attends to most, of even attention, layer 1, head 0")
    assert canvas.keys["Channel map"].warning == "random weights"
    assert (canvas.keys["Channel map"].scale.low, canvas.keys["Channel map"].scale.high) == (1.0, 5.0)
    overlay.choose(Part(0, 0, 0).name)  # evenly
    assert overlay.targets == []
    assert "Channel map" not in canvas.keys


def test_hovering_tells_strengths_and_the_share_of_the_chosen_channel(drawn):
    overlay, _ = drawn
    overlay.choose(Part(1, 0, 1).name)
    text = overlay.describe(10.0, "Cz")
    assert text == "Cz receives 4.00×, gives 0.00× of even attention, 100 % of C4's (random weights)"
    assert overlay.describe(10.0, "C4").startswith("C4 receives 0.00×, gives 1.33× of even attention (")
    assert overlay.describe(10.0, "ECG") == ""


def test_a_part_that_other_numbers_lack_gives_way_to_the_mean(drawn, make_analysis):
    overlay, _ = drawn
    overlay.choose(Part(1, 0, 3).name)
    small = {"flow": (np.full((2, 2, 2, 2), 0.5), ("layer", "head", "channel", "other_channel"), "1", "flow")}
    overlay.set_result(make_analysis("channel-map", small, {"channel": NAMES[:2]}, {}))
    assert overlay.part == "mean"
    assert overlay.parts(overlay.result)[:3] == ["mean", "mean/0", "mean/1"]
    overlay.set_result(None)
    assert overlay.key() is None
    assert overlay.describe(10.0, "Cz") == ""
