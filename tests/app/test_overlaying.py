"""The list of overlays in the real window: strength, colours and legend of each, remembered; H hides all of it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from PyQt6.QtCore import QEvent, Qt
from PyQt6.QtGui import QFontMetricsF, QKeyEvent
from PyQt6.QtTest import QTest

from app.overlay_panel import OverlayPanel
from app.overlay_row import Legend
from app.overlaying import SWATCHES
from app.settings import Settings
from app.testing import open_window
from viewers.colour_key import ColourKey
from viewers.heat_scales import DIVERGING, SEQUENTIAL, HeatScale, tints
from viewers.overlays import ANALYSIS_OVERLAYS
from viewers.overlays.heat import MEAN, Heat, HeatOverlay
from viewers.theme import LIGHT, font


@pytest.fixture
def opened(shared):
    windows = []

    def open_it(settings=None):
        window = open_window(shared / "recordings/scalp-seizure-46ch/demo_edf.edf", (1300, 800), settings)
        windows.append(window)
        window.wait()
        return window

    yield open_it
    for window in windows:
        window.close()


def heat(scale: HeatScale) -> Heat:
    names = ("Fp1", "F3", "C3", "P3", "O1")
    values = np.linspace(scale.low, scale.high, 50).reshape(5, 10).astype(np.float32)
    return Heat(np.arange(10.0), np.ones(10), names, values, scale, "Something of a model", "something")


def with_heat(window, kind: str, scale: HeatScale) -> HeatOverlay:
    """An overlay that draws numbers as if an analysis had given them."""
    overlay = window.main.analysing.drawing.overlay(kind)
    window.main.overlay_panel.set_visible(kind, True)
    overlay.heat_of = lambda _result, _part: heat(scale)
    overlay.curve_of = lambda _result, _part: None
    overlay.parts = lambda _result: [MEAN]
    overlay.set_result(SimpleNamespace(random_weights=False, kind=kind))
    return overlay


def strip_of_traces(window) -> np.ndarray:
    canvas = window.main.view.trace_view.canvas
    window.main.view.refine_now()
    image = canvas.grab().toImage()
    pixels = image.constBits().asarray(image.sizeInBytes())
    return np.frombuffer(pixels, np.uint8).reshape(image.height(), -1).copy()


def test_every_overlay_has_strength_and_colours_or_words_and_a_name_for_each_control(opened):
    panel = opened().main.overlay_panel
    assert set(panel.names()) == {*SWATCHES, *ANALYSIS_OVERLAYS}
    for name, row in panel.rows.items():
        row.more.click()
        assert row.controls().opacity.isVisibleTo(panel)
        for chooser in (row.controls().sequential, row.controls().diverging):
            assert chooser.isVisibleTo(panel) is (name not in SWATCHES)
        for widget in (row.more, row.controls().opacity, row.controls().sequential, row.controls().diverging):
            assert row.box.text() in widget.accessibleName()
            assert widget.toolTip()
            assert widget.focusPolicy() & Qt.FocusPolicy.TabFocus


def test_strength_and_colours_are_drawn_stand_in_the_legend_and_come_back(opened):
    settings = Settings()
    window = opened(settings)
    panel = window.main.overlay_panel
    overlay = with_heat(window, "gates", HeatScale(0.0, 1.0, 0.5, "", "low", "high"))
    keys = window.main.view.trace_view.canvas.furniture.keys
    row = panel.rows["gates"]
    assert row.legend.keys == [keys["Gates"]]
    row.controls().opacity.setValue(90)
    row.controls().diverging.choose("purple to green")
    row.controls().changed.emit()
    keys = window.main.view.trace_view.canvas.furniture.keys
    assert keys["Gates"].scale.colours == "purple to green"
    assert overlay.heat.scale.colours == "purple to green"
    assert overlay.state.opacity == 0.9
    assert row.legend.keys == [keys["Gates"]]
    assert "low 0.00 to 1.00 high" in row.legend.accessibleName()
    assert (settings.overlay_opacity, settings.overlay_balances) == ({"gates": 0.9}, {"gates": "purple to green"})
    again = opened(settings).main
    assert again.overlay_panel.state("gates").diverging == "purple to green"
    assert again.overlay_panel.rows["gates"].controls().opacity.value() == 90
    again.overlay_panel.reset()
    assert (settings.overlay_opacity, settings.overlay_balances) == ({}, {})


def test_what_was_remembered_but_is_not_there_gives_way_to_the_usual(opened):
    settings = Settings(overlay_opacity={"gates": 7.0, "gone": 0.1}, overlay_amounts={"gates": "tartan"})
    state = opened(settings).main.overlay_panel.state("gates")
    assert (state.opacity, state.sequential) == (1.0, "")


def test_the_strength_of_all_moves_each(qtbot):
    panel = OverlayPanel([("a", "A", "lane"), ("b", "B", "behind")])
    qtbot.addWidget(panel)
    told = []
    panel.look_changed.connect(told.append)
    panel.all.setValue(25)
    assert [panel.state(name).opacity for name in "ab"] == [0.25, 0.25]
    assert told == ["a", "b"]


def test_a_legend_has_the_colours_of_its_key_and_is_gone_when_switched_off(qtbot):
    panel = OverlayPanel([("a", "A", "behind")])
    qtbot.addWidget(panel)
    panel.resize(240, 100)
    panel.show()
    key = ColourKey("What it is", HeatScale(0.0, 1.0, None, "µV"), 0.8)
    panel.show_keys({"a": [key]})
    legend = panel.rows["a"].legend
    qtbot.waitExposed(panel)
    image = legend.grab().toImage()
    line = {image.pixelColor(x, image.height() * 3 // 4).name() for x in range(image.width())}
    assert len(line) > 20  # a ramp
    panel.set_visible("a", False)
    assert not legend.isVisibleTo(panel)
    panel.set_visible("a", True)
    assert legend.isVisibleTo(panel)


@pytest.mark.parametrize("reach", [0.23, 0.0097, 31.0])
@pytest.mark.parametrize("words", [("against", "for"), ("", "")])
@pytest.mark.parametrize("letters", [10, 15])  # in a dock that large letters do not widen
def test_the_ends_of_a_legend_have_room_in_the_dock(qtbot, reach, words, letters):
    legend = Legend()
    qtbot.addWidget(legend)
    key = ColourKey("Integrated Gradients", HeatScale(-reach, reach, 0.0, "score/s", *words))
    legend.show_keys([key])
    legend.resize(205, legend.height())
    metrics = QFontMetricsF(font(letters))
    low, high = legend.ends(key, metrics)
    assert low.startswith(words[0])
    assert high.endswith(words[1])
    assert letters > 10 or high == key.ends()[1]  # with its unit
    bar = 0 if words[0] else 24 + 12
    assert metrics.horizontalAdvance(low) + metrics.horizontalAdvance(high) + bar < legend.width()


@pytest.mark.parametrize("turn", ["not turned", "turned while held", "answered while held", "chosen while held"])
def test_h_held_hides_heat_keys_labels_and_lanes_until_it_is_let_go(opened, turn):
    window = opened()
    main, view = window.main, window.main.view
    window.show(12.0, 10.0)
    window.wait()
    for name in main.overlay_panel.names():
        main.overlay_panel.set_visible(name, False)
    window.wait()
    scale, canvas = HeatScale(0.0, 1.0), view.trace_view.canvas
    canvas.set_key("room", ColourKey("Something of a model", scale))  # rows stay where they are beside a key
    canvas.set_bare(True)
    window.wait()
    bare = strip_of_traces(window)
    canvas.set_key("room", None)
    canvas.set_bare(False)
    for name in SWATCHES:
        main.overlay_panel.set_visible(name, True)
    overlay = with_heat(window, "gates", scale)
    window.wait()
    assert canvas.furniture.keys
    bands = [view.trace_view.rows.band(i) for i in range(len(view.trace_view.rows))]
    assert (strip_of_traces(window) != bare).any()
    if turn == "turned while held":
        window.show(0.0, 10.0)
        window.wait()
    QTest.keyPress(main, Qt.Key.Key_H)
    try:
        if turn == "turned while held":
            window.show(12.0, 10.0)
            window.wait()
        if turn == "answered while held":
            overlay.set_heat(heat(HeatScale(0.0, 2.0)))
            late = HeatOverlay()
            view.trace_view.add_overlay(late)  # drawn for the first time
            late.set_heat(heat(scale))
        if turn == "chosen while held":
            main.overlay_panel.rows["gates"].controls().opacity.setValue(100)
        window.wait()
        assert [view.trace_view.rows.band(i) for i in range(len(bands))] == bands
        np.testing.assert_array_equal(strip_of_traces(window), bare)
        assert all(lane._is_bare for lane in view.lanes.values())
        assert main.overlay_panel.rows["gates"].legend.keys
    finally:
        QTest.keyRelease(main, Qt.Key.Key_H)
    assert view.trace_view.canvas.furniture.keys
    assert (strip_of_traces(window) != bare).any()
    assert not any(lane._is_bare for lane in view.lanes.values())


def test_arrow_keys_on_a_strength_are_its_own(opened):
    slider = opened().main.overlay_panel.rows["gates"].controls().opacity
    event = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Left, Qt.KeyboardModifier.NoModifier)
    event.ignore()
    slider.event(event)
    assert event.isAccepted()


def test_all_palettes_are_offered_with_the_usual_one_first(qtbot):
    panel = OverlayPanel([("a", "A", "behind")])
    qtbot.addWidget(panel)
    panel.set_theme(LIGHT)
    row = panel.rows["a"]
    for chooser, palettes in ((row.controls().sequential, SEQUENTIAL), (row.controls().diverging, DIVERGING)):
        assert [chooser.itemText(i) for i in range(chooser.count())] == list(palettes)
        assert chooser.value() == ""
        assert not chooser.itemIcon(0).isNull()
    assert not np.array_equal(tints(LIGHT, HeatScale(0, 1)), tints(LIGHT, HeatScale(0, 1, colours="blue")))
