"""Heat behind the traces: each value on its row and span, means for differences, and a key that says what it is."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QImage, QPainter

from analysis.montage import Derivation, Montage
from analysis.recording import Window
from viewers.heat_scales import HeatScale
from viewers.overlays.base import OverlayState
from viewers.overlays.heat import Heat, HeatOverlay, nearest_cells
from viewers.rows import Rows
from viewers.time_scale import TimeScale

SCALE = HeatScale(0.0, 1.0, 0.5, "", "space", "time")
WIDTH, HEIGHT = 400, 200
PAGE = Window(0.0, 4.0)


class FakePlot:
    def __init__(self) -> None:
        self.keys = {}

    def add_overlay_item(self, item, place) -> None:
        self.place = place

    def remove_overlay_item(self, item) -> None:
        pass

    def set_key(self, owner, key) -> None:
        self.keys[owner] = key


def heat(values, times=(0.0, 1.0), widths=1.0, names=("C3", "C4"), **changes) -> Heat:
    times = np.asarray(times, float)
    table = np.asarray(values, np.float32)
    return Heat(times, np.full(times.shape, widths), names, table, SCALE, "Gates of AXON", "weight", **changes)


@pytest.fixture
def overlay(qtbot, single_montage) -> HeatOverlay:
    made = HeatOverlay()
    made.attach(FakePlot())
    made.rows = Rows(single_montage("C3", "C4"), HEIGHT, 7.0, 4.0)
    made.set_state(OverlayState(True, 1.0))
    return made


def use(overlay: HeatOverlay, *rows: Derivation) -> None:
    overlay.rows = Rows(Montage("made", rows), HEIGHT, 7.0, 4.0)


def painted(overlay: HeatOverlay, window: Window = PAGE, ratio: float = 1.0) -> QImage:
    picture = QImage(round(WIDTH * ratio), round(HEIGHT * ratio), QImage.Format.Format_ARGB32_Premultiplied)
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.white)
    painter = QPainter(picture)
    overlay.paint(painter, TimeScale(window, WIDTH), HEIGHT)
    painter.end()
    return picture


def colour_at(overlay: HeatOverlay, time: float, row: int, window: Window = PAGE, ratio: float = 1.0) -> str:
    x = round((time - window.start) / window.duration * WIDTH * ratio)
    pixel = painted(overlay, window, ratio).pixelColor(x, round(float(overlay.rows.centre[row]) * ratio))
    if pixel.saturation() < 10:
        return "none"
    return "teal" if 150 < pixel.hsvHue() < 200 else "brown" if 15 < pixel.hsvHue() < 50 else "other"


@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_each_value_stands_on_its_row_and_span(overlay, ratio):
    overlay.set_heat(heat([[1.0, 0.0], [0.0, np.nan]]))
    assert [colour_at(overlay, t, 0, ratio=ratio) for t in (0.5, 1.5, 2.5)] == ["teal", "brown", "none"]
    assert [colour_at(overlay, t, 1, ratio=ratio) for t in (0.5, 1.5, 2.5)] == ["brown", "none", "none"]


def test_the_page_moves_over_it(overlay):
    overlay.set_heat(heat([[1.0, 0.0], [0.0, 0.0]]))
    assert colour_at(overlay, 0.5, 0) == "teal"
    assert colour_at(overlay, 1.5, 0, Window(1.0, 5.0)) == "brown"
    assert colour_at(overlay, 2.5, 0, Window(1.0, 5.0)) == "none"


def test_overlapping_spans_meet_in_the_middle():
    overlapping = heat([[1.0, 0.0, 1.0]], (0.0, 0.9, 1.8), names=("C3",))
    starts, stops = overlapping.cells()
    np.testing.assert_allclose(starts, [0.0, 0.95, 1.85])
    np.testing.assert_allclose(stops, [0.95, 1.85, 2.8])
    apart = heat([[1.0, 0.0]], (0.0, 3.0), names=("C3",))
    assert nearest_cells(apart, np.array([-0.1, 0.0, 0.99, 1.0, 2.9, 3.5, 4.0])).tolist() == [-1, 0, 0, -1, -1, 1, -1]


def test_a_difference_takes_the_mean_of_its_electrodes(overlay):
    use(overlay, Derivation("C3-C4", "C3", ("C4",)), Derivation("C4-Cz", "C4", ("Cz",)), Derivation("Fz", "Fz"))
    overlay.set_heat(heat([[1.0, 0.2], [0.5, 0.4]]))
    np.testing.assert_allclose(overlay.row_values(), [[0.75, 0.3], [0.5, 0.4], [np.nan, np.nan]], rtol=1e-6)
    assert overlay.describe(0.5, "C3-C4") == "weight 0.75, mean of C3 and C4"
    assert overlay.describe(0.5, "C4-Cz") == "weight 0.50, of C4 alone"
    assert overlay.describe(0.5, "Fz") == ""


def test_an_electrode_without_a_value_is_left_out_of_the_mean(overlay):
    use(overlay, Derivation("C3-C4", "C3", ("C4",)))
    overlay.set_heat(heat([[1.0, np.nan], [np.nan, np.nan]]))
    np.testing.assert_array_equal(overlay.row_values(), [[1.0, np.nan]])


def test_a_row_against_an_average_is_that_of_its_electrode(overlay):
    use(overlay, Derivation("C3-AVG", "C3", ("C3", "C4")))
    overlay.set_heat(heat([[1.0, 0.2], [0.0, 0.0]]))
    np.testing.assert_allclose(overlay.row_values(), [[1.0, 0.2]], rtol=1e-6)
    assert overlay.describe(1.5, "C3-AVG") == "weight 0.20, at C3"


def test_hovering_tells_random_weights_and_age(overlay):
    overlay.set_heat(heat([[1.0, 0.2], [0.0, 0.0]], random_weights=True))
    assert overlay.describe(0.5, "C3") == "weight 1.00 (random weights)"
    overlay.set_stale("computing…")
    assert overlay.describe(0.5, "C3").endswith("(random weights), computing…")
    assert overlay.describe(3.5, "C3") == ""
    assert overlay.describe(0.5, "nowhere") == ""


def test_the_key_comes_and_goes_with_what_it_explains(overlay):
    plot = overlay._plot
    overlay.set_heat(heat([[1.0, 0.2], [0.0, 0.0]], random_weights=True))
    assert plot.keys["Heat"].title == "Gates of AXON"
    assert plot.keys["Heat"].warning == "random weights"
    overlay.set_stale("computing…")
    assert plot.keys["Heat"].warning == "random weights · computing…"
    overlay.set_hidden(True)
    assert plot.keys["Heat"] is None
    overlay.set_hidden(False)
    assert plot.keys["Heat"] is not None
    overlay.set_state(OverlayState(False))
    assert plot.keys["Heat"] is None
    overlay.set_state(OverlayState(True))
    overlay.set_heat(None)
    assert plot.keys["Heat"] is None


def test_strength_is_the_readers_and_what_is_old_is_fainter_and_striped(overlay):
    overlay.set_heat(heat([[1.0, 1.0], [1.0, 1.0]]))

    def lightness() -> list[int]:
        picture = painted(overlay)
        return [picture.pixelColor(x, round(float(overlay.rows.centre[0]))).lightness() for x in range(20, 80)]

    strong = lightness()
    assert len(set(strong)) == 1
    overlay.set_state(OverlayState(True, 0.3))
    faint = lightness()
    assert strong[0] < faint[0] < 255
    overlay.set_state(OverlayState(True, 1.0))
    overlay.set_stale("computing…")
    old = lightness()
    assert min(old) > strong[0]
    assert max(old) == 255  # see-through stripes
    overlay.set_stale("")
    assert lightness() == strong


def test_a_repaint_of_the_same_page_works_nothing_out_again(overlay):
    overlay.set_heat(heat([[1.0, 0.0], [0.0, 0.0]]))
    painted(overlay)
    first = overlay._picture
    painted(overlay)
    assert overlay._picture is first
    painted(overlay, Window(1.0, 5.0))
    assert overlay._picture is not first


def test_many_values_a_pixel_cost_no_more_than_the_page_shows(overlay):
    times = np.arange(100_000) * 0.01
    values = np.where(times < 500, 1.0, 0.0)[None].repeat(2, 0)
    overlay.set_heat(heat(values, times, 0.01))
    assert colour_at(overlay, 499.0, 0, Window(498.0, 502.0)) == "teal"
    assert colour_at(overlay, 501.0, 0, Window(498.0, 502.0)) == "brown"
