"""Attribution on the traces: signs and sizes at the right place, one range of colours, sums beside the names."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QImage, QPainter

from analysis.attribution_maps import ABSOLUTE, SIGNED
from analysis.montage import Derivation, Montage
from analysis.recording import Page, Window
from viewers.overlays.attribution import AttributionOverlay, OcclusionOverlay, TokenOverlay
from viewers.overlays.base import OverlayState
from viewers.rows import Rows
from viewers.time_scale import TimeScale

WIDTH, HEIGHT = 400, 200


class FakePlot:
    def __init__(self) -> None:
        self.keys, self.strips, self.told = {}, {}, 0

    def add_overlay_item(self, item, place) -> None:
        pass

    def remove_overlay_item(self, item) -> None:
        pass

    def set_key(self, owner, key) -> None:
        self.keys[owner] = key

    def set_strip(self, owner, strip) -> None:
        self.strips[owner] = strip
        self.told += 1


def turn(overlay, start: float, stop: float) -> None:
    page = Page(Window(start, stop), overlay.rows.names, 100.0, np.zeros((1, len(overlay.rows)), np.float32), start)
    overlay.show_page(page, overlay.rows)


def shown(kind, *rows: Derivation):
    overlay = kind()
    overlay.plot = FakePlot()
    overlay.attach(overlay.plot)
    rows = rows or tuple(Derivation(name, name) for name in ("Fp1", "C3", "O1"))
    overlay.rows = Rows(Montage("made", rows), HEIGHT, 7.0, 4.0)
    overlay.set_state(OverlayState(True, 1.0))
    turn(overlay, 10.0, 14.0)
    return overlay


def hue_at(overlay, time: float, row: int) -> str:
    picture = QImage(WIDTH, HEIGHT, QImage.Format.Format_ARGB32_Premultiplied)
    picture.fill(Qt.GlobalColor.white)
    painter = QPainter(picture)
    overlay.paint(painter, TimeScale(Window(10, 14), WIDTH), HEIGHT)
    painter.end()
    pixel = picture.pixelColor(int((time - 10) / 4 * WIDTH), round(float(overlay.rows.centre[row])))
    if pixel.saturation() < 10:
        return "none"
    return "teal" if 150 < pixel.hsvHue() < 200 else "orange"


def test_what_speaks_for_the_class_and_against_it_is_told_apart(qtbot, attribution) -> None:
    overlay = shown(AttributionOverlay)
    result = attribution()
    overlay.set_result(result)
    sums = result.values("attribution")[1].reshape(3, -1, 5).sum(-1)  # bins of 50 ms
    for row in range(3):
        strong = np.argsort(-np.abs(sums[row]))[:3]
        for i in strong:
            expected = "teal" if sums[row, i] > 0 else "orange"
            assert hue_at(overlay, 12 + 0.05 * i + 0.025, row) == expected
    overlay.choose(ABSOLUTE)
    assert hue_at(overlay, 12 + 0.05 * np.argmin(sums[0]) + 0.025, 0) == "orange"
    assert overlay.heat.scale.middle is None
    assert (overlay.heat.values >= 0).all()


def test_the_colours_keep_their_range_while_pages_turn(qtbot, attribution) -> None:
    overlay = shown(AttributionOverlay)
    overlay.set_result(attribution(size=1.0))
    first = overlay.heat.scale
    assert first.low == -first.high
    for size, seed in ((0.1, 2), (0.9, 3), (1.1, 4)):
        overlay.set_result(attribution(size=size, seed=seed))
        assert overlay.heat.scale == first
    overlay.set_result(attribution(size=30.0))
    wide = overlay.heat.scale
    assert wide.high > first.high
    overlay.set_result(attribution())
    assert overlay.heat.scale == wide
    overlay.choose(ABSOLUTE)
    assert (overlay.heat.scale.low, overlay.heat.scale.high) == (0.0, wide.high)


def test_the_key_says_range_unit_class_and_model(qtbot, attribution) -> None:
    overlay = shown(AttributionOverlay)
    overlay.set_result(attribution(random_weights=True))
    key = overlay.plot.keys["Attribution"]
    assert key.title == "Integrated Gradients: part of the score of seizure, per second, AXON-tiny"
    assert key.ends()[0].startswith("against −")
    assert key.ends()[1].endswith("score/s for")
    assert key.warning == "random weights"


def test_hovering_tells_value_unit_and_electrodes(qtbot, attribution) -> None:
    overlay = shown(AttributionOverlay, Derivation("Fp1-C3", "Fp1", ("C3",)), Derivation("O1", "O1"))
    result = attribution()
    overlay.set_result(result)
    value = result.values("attribution")[0, :2, 40:45].sum(-1).mean() / 0.05
    text = overlay.describe(10.42, "Fp1-C3")
    assert text.startswith("attribution to the score of seizure ")
    assert overlay.heat.scale.text(float(value)) in text
    assert text.endswith("score/s, mean of Fp1 and C3")
    assert overlay.describe(20.0, "O1") == ""


def test_sums_over_the_page_stand_beside_the_names_and_follow_it(qtbot, attribution) -> None:
    overlay = shown(AttributionOverlay)
    result = attribution()
    overlay.set_result(result)
    values = result.values("attribution")
    strip = overlay.plot.strips["Attribution"]
    np.testing.assert_allclose(strip.values, values.sum((0, 2)), rtol=1e-4, atol=1e-4)
    assert strip.quantity == "attribution to the score of seizure, sum over the page"
    assert strip.scale.unit == "score"
    turn(overlay, 12.0, 14.0)
    np.testing.assert_allclose(overlay.plot.strips["Attribution"].values, values[1].sum(-1), rtol=1e-4, atol=1e-4)
    told = overlay.plot.told
    turn(overlay, 12.0, 14.0)
    assert overlay.plot.told == told
    turn(overlay, 30.0, 34.0)
    assert np.isnan(overlay.plot.strips["Attribution"].values).all()
    overlay.set_hidden(True)
    turn(overlay, 10.0, 14.0)  # turned while the key is held
    assert overlay.plot.strips["Attribution"] is None
    overlay.set_hidden(False)
    assert overlay.plot.strips["Attribution"] is not None
    overlay.set_state(OverlayState(False))
    assert overlay.plot.strips["Attribution"] is None


def test_the_sum_of_sizes_is_not_the_size_of_the_sum(qtbot, attribution) -> None:
    overlay = shown(AttributionOverlay)
    result = attribution()
    overlay.set_result(result)
    overlay.choose(ABSOLUTE)
    sizes = np.abs(result.values("attribution").reshape(2, 3, 40, 5).sum(-1)).sum((0, 2))
    np.testing.assert_allclose(overlay.plot.strips["Attribution"].values, sizes, rtol=1e-4)


@pytest.mark.parametrize("part", [SIGNED, ABSOLUTE])
def test_the_lane_has_the_sum_over_the_channels(qtbot, attribution, part) -> None:
    overlay = shown(AttributionOverlay)
    overlay.set_result(attribution())
    overlay.choose(part)
    curve = overlay.curve()
    np.testing.assert_allclose(curve.values, overlay.heat.values.sum(0), rtol=1e-5, atol=1e-6)
    assert curve.subtitle == f"{part}, sum of channels"


def test_grad_cam_has_no_sign_and_is_averaged(qtbot, evidence) -> None:
    overlay = shown(TokenOverlay)
    result = evidence()
    assert overlay.parts(result) == [ABSOLUTE]
    overlay.set_result(result)
    values = result.values("evidence")
    np.testing.assert_allclose(overlay.heat.values[1], values[:, 1].ravel())
    assert overlay.heat.scale.low == 0
    assert overlay.plot.keys["Grad-CAM"].title == "Grad-CAM for seizure, last layer, no unit, AXON-tiny"
    np.testing.assert_allclose(overlay.plot.strips["Grad-CAM"].values, values.mean((0, 2)), rtol=1e-5)
    assert overlay.plot.strips["Grad-CAM"].quantity == "Grad-CAM for seizure, mean over the page"
    np.testing.assert_allclose(overlay.curve().values, overlay.heat.values.mean(0), rtol=1e-5)
    first = overlay.heat.scale
    overlay.set_result(evidence(size=0.2))
    assert overlay.heat.scale == first


def test_occlusion_is_drawn_second_by_second(qtbot, occlusion) -> None:
    overlay = shown(OcclusionOverlay)
    result = occlusion()
    overlay.set_result(result)
    values = result.values("by_second")
    np.testing.assert_allclose(overlay.heat.values[0], values[:, 0].ravel(), rtol=1e-6)
    assert overlay.plot.keys["Occlusion"].title.startswith("Occlusion: fall of the score of seizure")
    np.testing.assert_allclose(overlay.plot.strips["Occlusion"].values, values.sum((0, 2)), rtol=1e-5)
    overlay.set_result(occlusion(by="second"))
    assert overlay.heat is None
    assert overlay.curve() is None
    assert overlay.plot.strips["Occlusion"] is None
