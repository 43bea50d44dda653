"""The trace view turns pages into pictures and the mouse into wishes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest
from PyQt6.QtCore import QEvent, QPoint, QPointF, Qt
from PyQt6.QtGui import QMouseEvent, QWheelEvent
from PyQt6.QtWidgets import QApplication

from analysis.annotation import Annotation
from analysis.marks import Marks
from analysis.montage import Derivation, Montage
from analysis.recording import Page, Window
from viewers.colour_key import ColourKey
from viewers.heat_scales import HeatScale
from viewers.overlays.base import OverlayState
from viewers.overlays.lag_arcs import LagArcs
from viewers.rows import RowLooks
from viewers.theme import THEMES
from viewers.trace_picture import with_columns
from viewers.trace_view import TraceView

NAMES = ("A", "B", "C")


@pytest.fixture
def view(qtbot, eeg_channels, single_montage) -> TraceView:
    made = TraceView()
    qtbot.addWidget(made)
    made.resize(908, 426)
    made.set_facts(100.0, None, ())
    made.set_montage(single_montage(*NAMES, sides="lmr"), eeg_channels(*NAMES))
    made.show()
    qtbot.waitExposed(made)
    return made


@pytest.fixture
def page(make_page: Callable[..., Page]) -> Page:
    time = np.arange(2001)[:, None] / 200
    return make_page(np.array([10.0, 20.0, 40.0]) * np.sin(2 * np.pi * time) + np.array([0, 0, 3]), NAMES, 20.0)


def move(view: TraceView, x: float, y: float) -> None:
    event = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(x, y),
        QPointF(x, y),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
    )
    view.canvas.mouseMoveEvent(event)


def wheel(view: TraceView, dx: int, dy: int, modifiers=Qt.KeyboardModifier.NoModifier) -> None:
    at = QPointF(200, 100)
    view.canvas.wheelEvent(
        QWheelEvent(
            at, at, QPoint(), QPoint(dx, dy), Qt.MouseButton.NoButton, modifiers, Qt.ScrollPhase.NoScrollPhase, False
        )
    )


def test_page_is_painted_and_told(view: TraceView, page: Page, qtbot) -> None:
    with qtbot.waitSignal(view.page_shown) as told:
        view.show_page(page)
    assert told.args == [page.window]
    assert view.is_painted()


def test_same_settings_cost_no_paint(view: TraceView, page: Page, qtbot) -> None:
    view.set_note("7 µV/mm")
    view.show_page(page)
    qtbot.waitUntil(lambda: view.canvas.picture.refined)
    qtbot.wait(50)
    paints = []
    view.canvas.painted.connect(lambda: paints.append(1))
    view.set_note("7 µV/mm")
    qtbot.wait(50)
    assert not paints
    view.set_note("10 µV/mm")
    qtbot.waitUntil(lambda: len(paints) == 1)
    assert view.canvas.furniture.note == "10 µV/mm"


def test_rest_brings_antialiased_lines(view: TraceView, page: Page, qtbot) -> None:
    view.show_page(page)
    assert not view.canvas.picture.refined
    qtbot.waitUntil(lambda: view.canvas.picture.refined)
    view.set_scales(10.0, RowLooks())
    assert not view.canvas.picture.refined


def test_rest_leaves_a_page_whose_lines_take_long(view: TraceView, page: Page, make_page, qtbot) -> None:
    """5 mV of noise make lines of a million pixels; asked for by name, they are drawn all the same."""
    noise = np.random.default_rng(0).standard_normal((2001, 3)) * 5000
    view.show_page(make_page(noise, NAMES, 20.0))
    qtbot.waitUntil(lambda: not view._rest.isActive())
    assert not view.canvas.picture.refined
    view.refine_now()
    assert view.canvas.picture.refined


def test_hover_reads_time_channel_and_amplitude(view: TraceView, page: Page) -> None:
    told: list[tuple] = []
    view.hovered.connect(lambda *values: told.append(values))
    view.show_page(page)
    assert view.rows is not None
    for row, amplitude in enumerate((10.0, 20.0, 43.0)):
        x = view.canvas.scale_px.x(22.25)
        move(view, x, float(view.rows.centre[row]))
        time, name, value, unit = told[-1]
        assert time == pytest.approx(22.25)
        assert name == NAMES[row]
        assert value == pytest.approx(amplitude, abs=0.5)
        assert unit == "uV"


def test_hover_in_a_gap_and_off_the_rows(view: TraceView, make_page) -> None:
    data = np.zeros((2001, 3))
    data[500:900] = np.nan
    told: list[tuple] = []
    view.hovered.connect(lambda *values: told.append(values))
    view.show_page(make_page(data, NAMES))
    move(view, view.canvas.scale_px.x(3.5), float(view.rows.centre[0]))
    assert told[-1][1] == "A"
    assert np.isnan(told[-1][2])
    move(view, 10, view.canvas.height() - 1)
    assert told[-1][1] == ""


def test_pointer_at_rest_reads_the_new_page(view: TraceView, page: Page, make_page) -> None:
    told: list[tuple] = []
    view.hovered.connect(lambda *values: told.append(values))
    view.show_page(page)
    move(view, 400, float(view.rows.centre[1]))
    view.show_page(make_page(np.full((2001, 3), 7.0), NAMES, 30.0))
    assert told[-1][0] == pytest.approx(told[0][0] + 10)
    assert told[-1][2] == pytest.approx(7.0)


def test_wheel_turns_scrolls_and_scales(view: TraceView, page: Page) -> None:
    view.show_page(page)
    turned, scrolled, stepped = [], [], []
    view.turned.connect(turned.append)
    view.scrolled.connect(scrolled.append)
    view.sensitivity_requested.connect(stepped.append)
    wheel(view, 0, -120)
    wheel(view, 0, 120)
    wheel(view, 0, -60)
    assert turned == [1.0, -1.0]
    wheel(view, 0, -60)
    assert turned == [1.0, -1.0, 1.0]
    wheel(view, 0, -120, Qt.KeyboardModifier.ShiftModifier)
    wheel(view, 120, 0)
    assert scrolled == pytest.approx([1.0, -1.0])
    zoomed = []
    view.zoom_requested.connect(lambda *values: zoomed.append(values))
    wheel(view, 0, 120, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert stepped == [1]
    wheel(view, 0, -60, Qt.KeyboardModifier.ControlModifier)
    assert zoomed == []
    wheel(view, 0, -60, Qt.KeyboardModifier.ControlModifier)
    wheel(view, 0, 240, Qt.KeyboardModifier.ControlModifier)
    assert [steps for steps, _time in zoomed] == [1, -2]
    assert all(view.canvas._window.start < at < view.canvas._window.stop for _steps, at in zoomed)
    assert len(turned) == 3


def test_drag_selects_and_click_clears(view: TraceView, page: Page, qtbot) -> None:
    view.show_page(page)
    told, clicks = [], []
    view.span_selected.connect(told.append)
    view.clicked.connect(lambda time, name: clicks.append((time, name)))
    viewport = view.canvas.viewport()
    x = [round(view.canvas.scale_px.x(t)) for t in (22, 25)]
    qtbot.mousePress(viewport, Qt.MouseButton.LeftButton, pos=QPoint(x[1], 100))
    qtbot.mouseMove(viewport, QPoint(x[0], 120))
    qtbot.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=QPoint(x[0], 120))
    assert told[0].start == pytest.approx(22, abs=0.02)
    assert told[0].stop == pytest.approx(25, abs=0.02)
    assert view.canvas.selection == told[0]
    qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=QPoint(x[0], round(float(view.rows.centre[0]))))
    assert told[1] is None
    assert clicks[0][1] == "A"


def test_drag_with_shift_selects_the_channels_of_the_rows_under_it(view: TraceView, page: Page, qtbot) -> None:
    view.show_page(page)
    viewport = view.canvas.viewport()
    x = [round(view.canvas.scale_px.x(t)) for t in (22, 25)]
    y = [round(float(view.rows.centre[i])) for i in (2, 1)]
    for modifier, channels in ((Qt.KeyboardModifier.ShiftModifier, ("B", "C")), (Qt.KeyboardModifier.NoModifier, ())):
        qtbot.mousePress(viewport, Qt.MouseButton.LeftButton, modifier, QPoint(x[0], y[0]))
        qtbot.mouseMove(viewport, QPoint(x[1], y[1]))
        qtbot.mouseRelease(viewport, Qt.MouseButton.LeftButton, modifier, QPoint(x[1], y[1]))
        assert view.canvas.selection.duration == pytest.approx(3, abs=0.04)
        assert view.canvas.selection_channels == channels
    tops = [top for top, _bottom in view.canvas.bands_of(("B", "C"))]
    assert tops == [view.rows.band(1)[0], view.rows.band(2)[0]]


def test_label_is_clicked(view: TraceView, page: Page, qtbot) -> None:
    mark = Annotation(22.0, 1.0, "eyes open")
    view.set_result(Marks, Marks.of([mark]), has_labels=True)
    view.show_page(page)
    told: list[Annotation] = []
    view.event_clicked.connect(told.append)
    rect = view.canvas.band.placed[0].rect
    qtbot.mouseClick(view.canvas.viewport(), Qt.MouseButton.LeftButton, pos=rect.center().toPoint())
    assert told == [mark]


def test_labels_get_a_band_that_rows_keep_out_of(view: TraceView, page: Page) -> None:
    top = view.rows.band(0)[0]
    view.set_result(Marks, Marks.of([Annotation(22.0, 1.0, "x")]), has_labels=True)
    assert view.rows.band(0)[0] > top + 20


def test_an_overlay_that_comes_later_knows_the_page_that_is_shown(view: TraceView, page: Page) -> None:
    view.show_page(page)
    late = LagArcs()
    view.add_overlay(late)
    assert late.rows is view.rows


def test_overlay_states_and_the_key_that_hides_all(view: TraceView, page: Page) -> None:
    view.set_result(Marks, Marks.of([Annotation(22.0, 1.0, "x")]), has_labels=True)
    view.show_page(page)
    assert len(view.canvas.band.placed) == 1
    view.hide_overlays(True)
    assert view.canvas.band.placed == []
    view.hide_overlays(False)
    assert len(view.canvas.band.placed) == 1
    view.set_overlay_state("Annotations", OverlayState(visible=False))
    view.hide_overlays(False)
    assert view.canvas.band.placed == []
    with pytest.raises(KeyError):
        view.set_overlay_state("nothing", OverlayState())


def test_sensitivity_acts_at_once_on_the_page_that_is_there(view: TraceView, page: Page) -> None:
    view.show_page(page)
    gain = view.rows.gain[0]
    columns = view.page.lo
    view.set_scales(14.0, RowLooks())
    assert view.rows.gain[0] == pytest.approx(gain / 2)
    assert view.page.lo is columns


def test_resize_asks_for_a_page_of_the_new_width(view: TraceView, page: Page) -> None:
    told: list[int] = []
    view.width_changed.connect(told.append)
    view.resize(700, 426)
    QApplication.processEvents()
    assert told[-1] == view.width_px() == view.canvas.width()


def test_rows_with_their_own_scale_take_it_from_the_first_page(
    view: TraceView, make_page, eeg_channels, single_montage
) -> None:
    channels = (*eeg_channels("A"), *eeg_channels("SpO2", type="misc", unit="%"))
    view.set_montage(single_montage("A", "SpO2"), channels)
    data = np.zeros((2001, 2))
    data[:, 1] = np.linspace(97, 92, 2001)
    view.show_page(make_page(data, ("A", "SpO2")))
    top, bottom = view.rows.band(1)
    assert top < view.rows.y(1, 97) < view.rows.y(1, 92) < bottom
    gain = float(view.rows.gain[1])
    data[:, 1] = 95 + np.linspace(0, 0.1, 2001)
    view.show_page(make_page(data, ("A", "SpO2"), 10.0))
    assert float(view.rows.gain[1]) == gain


def test_every_theme_paints(view: TraceView, page: Page) -> None:
    view.show_page(page)
    seen = set()
    for theme in THEMES.values():
        view.set_theme(theme)
        image = view.grab().toImage()
        seen.add(image.pixelColor(view.gutter.width() + 300, 40).name())
        assert image.pixelColor(3, 200).name() == theme.canvas
    assert len(seen) >= 2


def test_window_without_page_moves_the_axis(view: TraceView, page: Page) -> None:
    view.show_page(page)
    view.set_window(Window(25.0, 35.0))
    assert view.canvas.scale_px.window == Window(25.0, 35.0)
    assert view.grab().toImage().width() == 908


def test_page_from_the_overview_says_what_it_shows(view: TraceView, make_page, eeg_channels) -> None:
    montage = Montage("pairs", (Derivation("A-B", "A", ("B",)), Derivation("B-C", "B", ("C",))))
    view.set_montage(montage, eeg_channels(*NAMES))
    view.set_note("pairs · 0.5–70 Hz", "muscle", "7 µV/mm")
    page = with_columns(make_page(np.zeros((2001, 2)), ("A-B", "B-C"), 20.0), view.width_px())
    view.show_page(page)
    furniture = view.canvas.furniture
    assert (furniture.note, furniture.warning) == ("pairs · 0.5–70 Hz", "muscle")
    assert view.gutter._names == ("A-B", "B-C")
    view.show_page(replace(page, filtered=False))
    assert furniture.note == "7 µV/mm"
    assert "unfiltered" in furniture.warning
    assert "muscle" not in furniture.warning
    view.set_filtered_share(0.34)
    assert "34%" in furniture.warning
    assert view.gutter._names == ("A", "B")
    told: list[tuple] = []
    view.hovered.connect(lambda *values: told.append(values))
    move(view, 200, float(view.rows.centre[0]))
    assert told[-1][1] == "A"
    view.show_page(page)
    assert view.gutter._names == ("A-B", "B-C")


def test_the_note_begins_with_when_the_page_was_recorded(
    view: TraceView, page: Page, single_montage, eeg_channels
) -> None:
    view.set_facts(100.0, datetime(2020, 3, 2, 10, 11, 12), ())
    view.set_note("7 µV/mm")
    assert view.canvas.furniture.note == "7 µV/mm"
    view.set_montage(single_montage(*NAMES), eeg_channels(*NAMES))
    view.show_page(page)
    assert view.canvas.furniture.note == "2020-03-02 10:11:32 (00:20) · 7 µV/mm"


def test_rows_make_room_for_the_lines_at_the_foot_and_take_it_back(view: TraceView, page: Page) -> None:
    view.show_page(page)
    usual = view.rows.bottom
    last = float(view.rows.centre[-1])
    key = ColourKey("Gates of AXON", HeatScale(0, 1, 0.5, "", "space", "time"))
    view.canvas.set_key("Gates", key)
    assert view.rows.bottom >= usual + 15
    assert view.rows.centre[-1] < last
    for name in "ABCD":
        view.canvas.set_key(name, key)
    assert view.rows.bottom >= usual + 30
    for name in ("Gates", *"ABCD"):
        view.canvas.set_key(name, None)
    assert view.rows.bottom == usual
    view.set_note(" · ".join(20 * ["a setting of some length"]))
    assert view.rows.bottom >= usual + 15
