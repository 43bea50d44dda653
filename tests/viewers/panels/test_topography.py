"""The topography panel: the picture against the values it is of, the words around it, and its refusals."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QPointF

from analysis.electrodes import position_of
from analysis.filtering import DisplayFilter
from analysis.recording import Channel, Window
from analysis.scalp_maps import electrode_montage, map_band_power, map_mean_voltage, map_voltage
from analysis.signal_blocks import BlockSource
from analysis.spectra import BANDS
from analysis.topography import build_head_map, scalp_layout
from viewers.panels.head_shape import lay_names
from viewers.panels.topography import SPAN, VOLTAGE, TopographyPanel
from viewers.theme import DARK, LIGHT

SFREQ = 100.0
NAMES = "Fp1 Fp2 F7 F3 Fz F4 F8 T3 C3 Cz C4 T4 T5 P3 Pz P4 T6 O1 O2".split()
SITES = {"T3": "T7", "T4": "T8", "T5": "P7", "T6": "P8"}


@pytest.fixture
def maps(array_recording):
    """Positive at the left and negative at the right from 10 s on, the other way round before; 10 Hz at the back."""
    sites = [SITES.get(name, name) for name in NAMES]
    channels = [Channel(n, n, "eeg", "uV", SFREQ, position_of(s), s) for n, s in zip(NAMES, sites, strict=True)]
    time = np.arange(2000) / SFREQ
    sideways = np.array([position_of(site)[0] for site in sites]) * -500
    data = sideways[:, None] * np.where(time >= 10, 1.0, -1.0)
    data[-2:] += 15 * np.sin(2 * np.pi * 10 * time)
    recording = array_recording(channels, data, SFREQ)
    head = build_head_map(scalp_layout(recording, {"F8": "flat"}))
    source = BlockSource(recording, electrode_montage(head), DisplayFilter(None, None, None))
    window = Window(5.0, 15.0)
    return {
        "voltage": map_voltage(source, head, window),
        "mean": map_mean_voltage(source, head, Window(12.0, 14.0)),
        "alpha": map_band_power(recording, head, window, BANDS[2]),
    }


@pytest.fixture
def panel(qtbot) -> TopographyPanel:
    made = TopographyPanel()
    qtbot.addWidget(made)
    made.resize(290, 440)
    made.show()
    qtbot.waitExposed(made)
    return made


def colour(panel: TopographyPanel, x: float, y: float):
    """Colour of the drawing at a place from -1 to 1, right and nose positive."""
    circle = panel.head._circle()
    radius = circle.width() / 2
    at = QPointF(circle.center().x() + x * radius, circle.center().y() - y * radius).toPoint()
    return panel.head.grab().toImage().pixelColor(at)


def warmth(panel: TopographyPanel, x: float, y: float) -> int:
    found = colour(panel, x, y)
    return found.red() - found.blue()


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_left_is_left_positive_is_warm_and_it_follows_the_cursor(panel, maps, theme):
    panel.set_theme(theme)
    panel.set_time(14.0)
    panel.set_result(maps["voltage"])
    assert warmth(panel, -0.75, -0.15) > 45
    assert warmth(panel, 0.75, -0.15) < -45
    assert abs(warmth(panel, 0.0, -0.1)) < 30
    panel.set_time(7.0)
    assert warmth(panel, -0.75, -0.15) < -45
    assert warmth(panel, 0.75, -0.15) > 45


def test_says_what_it_shows_from_what_and_who_is_missing(panel, maps, qtbot):
    panel.set_time(14.0)
    panel.set_result(maps["voltage"])
    assert panel._caption.text() == "Voltage at 00:14.000, average reference"
    assert panel._foot.text() == "18 electrodes, standard positions · unfiltered"
    assert panel._left_out.text() == "Left out: F8 (flat)"
    qtbot.waitUntil(lambda: "T3" in panel.head.accessibleDescription())


def test_power_has_a_scale_from_nothing_and_is_dark_where_there_is_much(panel, maps):
    panel.quantity.choose("alpha")
    panel._on_quantity("alpha")
    panel.set_result(maps["alpha"])
    assert panel.scale.low == 0.0
    assert panel.scale.high == pytest.approx((15 * 16 / 18) ** 2 / 2, rel=0.05)
    assert colour(panel, 0.0, -0.8).lightness() < 130 < colour(panel, 0.0, 0.5).lightness()
    assert panel._caption.text().startswith("Power of alpha, 8–13 Hz, from 00:05.0 to 00:15.0")
    assert not panel.follows_cursor
    assert not panel.range.isEnabled()


def test_ranges_are_of_the_page_of_the_moment_or_fixed(panel, maps):
    panel.set_time(14.0)
    panel.set_result(maps["voltage"])
    assert panel.scale.high == pytest.approx(maps["voltage"].usual)
    panel.range.choose("100")
    assert (panel.scale.low, panel.scale.high) == (-100.0, 100.0)
    panel.range.choose("moment")
    assert panel.scale.high == pytest.approx(np.abs(maps["voltage"].at(14.0)).max())


def test_a_mean_stays_where_it_is_whatever_the_cursor_does(panel, maps):
    panel.place.choose(SPAN)
    panel.set_result(maps["mean"])
    before = panel.head.values.copy()
    panel.set_time(7.0)
    np.testing.assert_array_equal(panel.head.values, before)
    assert "from 00:12.0 to 00:14.0, mean of 2.00 s" in panel._caption.text()


def test_a_time_outside_leaves_the_head_empty_and_says_so(panel, maps):
    panel.set_result(maps["voltage"])
    panel.set_time(99.0)
    assert panel.head.values is None
    assert panel.table() == ""
    panel.set_time(14.0)
    assert panel.table().count("\n") == 20


def test_a_time_that_is_still_being_computed_is_not_called_one_without_signal(panel, maps):
    panel.set_time(14.0)
    panel.set_result(maps["voltage"])
    shown = panel.head.values
    panel.set_busy()
    for time in (99.0, 99.5):  # the cursor moves on over a page whose map is on its way
        panel.set_time(time)
        assert (panel.head._message, panel.head._stale) == ("", True)
        assert panel.head.values is shown
        assert "14.000" in panel._caption.text()
    panel.set_time(7.0)  # a moment that the map of before holds is shown, as one that is being renewed
    assert panel.head._stale
    panel.set_time(99.0)
    panel.set_result(maps["voltage"])
    assert panel.head._message == "no signal at this time"
    assert not panel.head._stale


def test_a_choice_that_needs_other_numbers_asks_for_them(panel):
    asked = []
    panel.wanted.connect(lambda: asked.append(panel.band))
    panel.quantity.choose("theta")
    panel._on_quantity("theta")
    assert asked == [BANDS[1]]
    assert panel.place.value() == SPAN
    panel.quantity.choose(VOLTAGE)
    panel._on_quantity(VOLTAGE)
    assert asked[-1] is None


def test_the_mouse_is_told_electrodes_and_what_lies_between(panel, maps):
    panel.set_time(14.0)
    panel.set_result(maps["voltage"])
    panel.head.grab()
    head, circle = panel.head, panel.head._circle()
    t3 = maps["voltage"].head.layout.ch_names.index("T3")
    place = head._place(maps["voltage"].head.layout.points[t3], circle)
    assert head.describe(place).startswith("T3  +")
    between = head._place(np.array([0.0, -0.2]), circle)
    assert head.describe(between).endswith("interpolated")
    assert head.describe(circle.topLeft()) == ""


def test_a_refusal_takes_the_head_away_and_a_map_brings_it_back(panel, maps):
    panel.refuse("a scalp topography needs EEG: this recording has none")
    assert panel.head._message == "A scalp topography needs EEG: this recording has none."
    assert panel.head._head is None
    panel.set_time(14.0)
    panel.set_result(maps["voltage"])
    assert panel.head._message == ""
    assert panel.head.values is not None


@pytest.mark.parametrize("size", [(200, 220), (290, 300), (900, 800)])
def test_names_do_not_touch_and_stay_inside_the_outline(panel, maps, size):
    panel.head.resize(*size)
    head, circle = maps["voltage"].head, panel.head._circle()
    places = [panel.head._place(point, circle) for point in head.layout.points]
    _, rects = lay_names(places, head.layout.ch_names, circle, 3.0)
    there = [rect for rect in rects if rect is not None]
    assert len(there) == len(places)
    assert not any(a.intersects(b) for i, a in enumerate(there) for b in there[:i])
    middle, radius = circle.center(), circle.width() / 2
    for rect in there:
        for corner in (rect.topLeft(), rect.topRight(), rect.bottomLeft(), rect.bottomRight()):
            assert np.hypot(corner.x() - middle.x(), corner.y() - middle.y()) <= radius


def test_the_head_takes_the_room_it_is_given(panel):
    panel.head.resize(900, 900)
    large = panel.head._circle()
    panel.head.resize(900, 300)
    flat = panel.head._circle()
    assert large.width() > 700
    assert 200 < flat.width() < 300
    assert flat.bottom() < 300
