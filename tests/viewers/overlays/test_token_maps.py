"""Token maps of two layers: the right layer in the right half of the right row, on one scale."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QImage, QPainter

from analysis.recording import Window
from viewers.heat_scales import above, below
from viewers.overlays.base import OverlayState
from viewers.overlays.token_maps import NOTHING, TokenMaps, map_scale, pair_of, pair_part
from viewers.rows import Rows
from viewers.theme import LIGHT
from viewers.time_scale import TimeScale

WIDTH, HEIGHT = 200, 100


@pytest.fixture
def result(make_analysis):
    def make(models=("AXON-tiny",), maps=True):
        layers = ("row_layer", "column_layer")
        table = np.array([[1.0, 0.3], [0.3, 1.0]])
        arrays = {"cka": (table, layers), "cka_unbiased": (table, layers)}
        facts = {"first_window": 10.0, "row_token_seconds": 1.0, "column_token_seconds": 2.0}
        labels = dict.fromkeys(layers, ("block 0", "block 1"))
        labels |= {"row_channel": ("C3", "C4"), "column_channel": ("C4", "C3")}
        if maps:
            first = np.stack([np.full((2, 2), 1.5), np.full((2, 2), 0.5)])  # (layers, channels, tokens)
            arrays["row_map"] = (first, ("row_layer", "row_channel", "row_token"))
            arrays["row_onset"] = ([0.0, 1.0], ("row_token",), "s")
        if maps and len(models) > 1:
            second = np.array([[[1.25], [1.0]], [[1.0], [0.75]]])
            arrays["column_map"] = (second, ("column_layer", "column_channel", "column_token"))
            arrays["column_onset"] = ([0.0], ("column_token",), "s")
        return make_analysis("cka", arrays, labels, facts, models=models, random_weights=True)

    return make


@pytest.fixture
def overlay(qtbot, single_montage):
    made = TokenMaps()
    made.rows = made.lower.rows = Rows(single_montage("C3", "C4"), HEIGHT, 7.0, 4.0)
    made.set_state(OverlayState(True, 1.0))
    return made


def painted(overlay):
    picture = QImage(WIDTH, HEIGHT, QImage.Format.Format_ARGB32_Premultiplied)
    picture.fill(Qt.GlobalColor.white)
    painter = QPainter(picture)
    overlay.paint(painter, TimeScale(Window(10.0, 12.0), WIDTH), HEIGHT)
    painter.end()
    return picture


def test_parts_name_pairs():
    assert pair_of(pair_part(3, 11)) == (3, 11)
    assert pair_of("mean") is pair_of("") is pair_of("3") is None


def test_nothing_is_drawn_before_a_cell_is_chosen_and_without_maps(overlay, result):
    overlay.set_result(result())
    assert overlay.part == NOTHING
    assert overlay.heat is overlay.lower.heat is overlay.curve() is None
    overlay.choose("0,1")
    assert overlay.heat is not None
    overlay.set_result(result(maps=False))
    assert overlay.heat is None
    assert overlay.part == NOTHING


def test_each_layer_has_its_half_of_every_row(overlay, result):
    overlay.set_result(result())
    overlay.choose("0,1")
    assert overlay.heat.scale == overlay.lower.heat.scale
    picture = painted(overlay)
    for row in range(2):
        top, bottom = overlay.rows.band(row)
        quarter = (bottom - top) / 4
        high, low = (picture.pixelColor(WIDTH // 2, round(y)) for y in (top + quarter, bottom - quarter))
        for colour, ink in ((high, above(LIGHT)), (low, below(LIGHT))):
            # Of the ink's hue, over white.
            assert (colour.red() < colour.blue()) == (ink.red() < ink.blue())
            assert colour.name() != "#ffffff"
    assert "block 0: token distance 1.50" in overlay.describe(10.5, "C3")
    assert "block 1: token distance 0.50" in overlay.describe(10.5, "C3")


def test_two_models_have_each_their_own_times_and_channels(overlay, result):
    overlay.set_result(result(models=("AXON-tiny", "PRiSE-EEG-tiny")))
    overlay.choose("1,0")
    assert overlay.lower.heat.ch_names == ("C4", "C3")
    np.testing.assert_allclose(overlay.lower.heat.widths, [2.0])
    assert "PRiSE-EEG-tiny block 0: token distance 1.00" in overlay.describe(11.5, "C3")
    assert "above AXON-tiny block 1, below PRiSE-EEG-tiny block 0 (CKA 0.30)" in overlay.key().title
    assert overlay.key().warning == "random weights"


@pytest.mark.parametrize(("spread", "reach"), [(0.05, 0.1), (0.2, 0.25), (3.0, 1.0)])
def test_colours_part_at_the_usual_distance(spread, reach):
    scale = map_scale(np.array([1.0 - min(spread, 1), 1.0, 1.0 + spread]))
    assert (scale.low, scale.middle, scale.high) == (1 - reach, 1.0, 1 + reach)
