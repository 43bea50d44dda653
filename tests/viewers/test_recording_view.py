"""Traces, lanes and overview move together, and only when told."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, QPointF, Qt
from PyQt6.QtGui import QWheelEvent
from PyQt6.QtWidgets import QApplication

from analysis.annotation import Annotation
from analysis.marks import Marks
from analysis.recording import Page, Window
from analysis.results import AnalysisRequest, SeizurePrediction
from viewers.lanes import FOLDED_HEIGHT
from viewers.recording_view import RecordingView
from viewers.theme import THEMES, set_text_scale
from viewers.trace_picture import with_columns

NAMES = ("A", "B")
EVENT = Annotation(24.0, 3.0, "seizure", confidence=0.8, author="model:m")


@pytest.fixture
def view(qtbot, eeg_channels, single_montage) -> RecordingView:
    made = RecordingView()
    qtbot.addWidget(made)
    made.resize(1008, 600)
    made.show()
    qtbot.waitExposed(made)
    made.set_recording_facts(100.0, None, (), eeg_channels(*NAMES))
    made.set_montage(single_montage(*NAMES), eeg_channels(*NAMES))
    made.set_window(Window(20.0, 30.0))
    return made


@pytest.fixture
def page_at(view: RecordingView, make_page: Callable[..., Page]) -> Callable[..., Page]:
    def make(start: float, names: tuple[str, ...] = NAMES) -> Page:
        data = np.random.default_rng(0).standard_normal((2001, len(names))) * 20
        return with_columns(make_page(data, names, start, start + 10.0), view.width_px())

    return make


def prediction(**changes) -> SeizurePrediction:
    times = np.arange(100.0)
    given = {
        "times": times,
        "durations": np.ones(100),
        "probability": (times / 100).astype(np.float32),
        "events": (EVENT,),
        "model_title": "a model",
        **changes,
    }
    return SeizurePrediction(AnalysisRequest("seizure", "r", ("c",)), "t", "0", **given)


def test_settled_once_the_page_is_on_screen(view: RecordingView, page_at, qtbot) -> None:
    assert not view.settled()
    view.show_page(page_at(20.0))
    qtbot.waitUntil(view.settled)
    view.set_window(Window(30.0, 40.0))
    assert not view.settled()
    view.show_page(page_at(30.0))
    qtbot.waitUntil(view.settled)


def test_all_axes_move_with_the_page(view: RecordingView, page_at) -> None:
    view.show_page(page_at(20.0))
    view.set_window(Window(30.0, 40.0))
    assert view.shown_window() == Window(20.0, 30.0)
    view.show_page(page_at(30.0))
    assert view.shown_window() == Window(30.0, 40.0)
    x = view.trace_view.canvas.scale_px.x(35.0)
    for lane in view.lanes.values():
        assert lane.scale.x(35.0) == pytest.approx(x)
        assert lane.plot_rect.left() == view.trace_view.gutter.width()
    assert view.timeline.plot_rect.width() == pytest.approx(view.trace_view.canvas.width())


def test_axes_move_without_a_page_that_is_late(view: RecordingView, page_at, qtbot) -> None:
    view.show_page(page_at(20.0))
    view.set_window(Window(50.0, 60.0))
    qtbot.waitUntil(lambda: view.shown_window() == Window(50.0, 60.0))
    assert not view.settled()


def test_new_montage_waits_for_its_page(view: RecordingView, page_at, eeg_channels, single_montage, qtbot) -> None:
    view.show_page(page_at(20.0))
    view.set_montage(single_montage("C"), eeg_channels("C"))
    assert view.trace_view.rows.names == NAMES
    assert not view.settled()
    view.show_page(page_at(20.0))
    assert view.trace_view.rows.names == NAMES
    view.show_page(page_at(20.0, ("C",)))
    assert view.trace_view.rows.names == ("C",)
    qtbot.waitUntil(view.settled)
    view.show_page(page_at(20.0))  # a late page of the old montage
    assert view.trace_view.page.ch_names == ("C",)


def test_wishes_stay_inside_the_recording(view: RecordingView, page_at) -> None:
    told: list[Window] = []
    view.window_requested.connect(told.append)
    view.show_page(page_at(20.0))
    at = QPointF(100, 100)
    for notches in (-1, 1, 5):
        event = QWheelEvent(
            at,
            at,
            QPoint(),
            QPoint(0, 120 * notches),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        view.trace_view.canvas.wheelEvent(event)
    assert told == [Window(30.0, 40.0), Window(10.0, 20.0), Window(0.0, 10.0)]
    assert view.shown_window() == Window(20.0, 30.0)


def test_cursor_is_shared(view: RecordingView, page_at) -> None:
    view.show_page(page_at(20.0))
    view.probability_lane.cursor_moved.emit(23.0)
    assert view.trace_view.axis._cursor == view.readers_lane._cursor == view.timeline._cursor == 23.0
    view.probability_lane.cursor_moved.emit(None)
    assert view.trace_view.axis._cursor is None


def test_prediction_reaches_traces_lane_and_overview(view: RecordingView, page_at) -> None:
    view.show_page(page_at(20.0))
    view.set_prediction(prediction(threshold=0.6))
    assert view.probability_lane.threshold == pytest.approx(0.6)
    assert [item.text for item in view.trace_view.canvas.band.placed] == ["Seizure, model  p 0.80"]
    view.set_threshold(0.7)
    assert view.probability_lane.threshold == 0.7
    view.set_prediction(None)
    assert view.trace_view.canvas.band.placed == []


def test_threshold_wish_comes_through(view: RecordingView) -> None:
    told: list[float] = []
    view.threshold_changed.connect(told.append)
    view.probability_lane.threshold_changed.emit(0.3)
    assert told == [0.3]


def test_another_recording_forgets_the_last_one(view: RecordingView, page_at, eeg_channels) -> None:
    view.set_marks(Marks.of([Annotation(22.0, 1.0, "x")]))
    view.set_prediction(prediction())
    view.show_page(page_at(20.0))
    view.set_recording_facts(50.0, None, (), eeg_channels("Z"))
    assert view.trace_view.page is None
    assert view.trace_view.canvas.band.placed == []
    assert view.probability_lane.subtitle == ""
    assert not view.settled()
    view.show_page(page_at(20.0))  # late page of the last recording
    assert view.trace_view.page is None


def test_index_made_elsewhere_is_taken(view: RecordingView, page_at) -> None:
    view.set_marks(Marks.of([Annotation(22.0, 1.0, "x")]))
    view.show_page(page_at(20.0))
    assert len(view.trace_view.canvas.band.placed) == 1


def test_millimetres_come_from_the_calibration(view: RecordingView) -> None:
    assert not view.is_calibrated()
    assert 1.5 < view.px_per_mm() < 15
    view.set_px_per_mm(5.0)
    assert view.is_calibrated()
    assert view.px_per_mm() == 5.0


def test_lanes_fold_by_title(view: RecordingView) -> None:
    view.set_prediction(prediction())
    view.layout().activate()
    height = view.trace_view.height()
    view.set_lane_collapsed("p(seizure)", True)
    assert view.probability_lane.is_folded
    view.layout().activate()
    assert view.trace_view.height() > height
    assert view.lane_titles() == ["p(seizure)", "Readers"]
    assert view.overlay_titles() == ["Annotations", "Model events"]


@pytest.mark.parametrize("name", THEMES)
def test_every_theme_paints_everything(view: RecordingView, page_at, name: str) -> None:
    view.set_marks(Marks.of([Annotation(22.0, 1.0, "x"), Annotation(23.0, 0.0, "mine", author="reader")]))
    view.set_prediction(prediction(random_weights=True, complete=False, not_scored=((26.0, 27.0, "gap"),)))
    view.show_page(page_at(20.0))
    view.set_theme(name)
    view.set_current_event(EVENT)
    view.refine_now()
    image = view.grab().toImage()
    colours = {image.pixelColor(x, y).name() for x in range(0, 1008, 3) for y in range(0, 600, 3)}
    assert len(colours) > 30


def test_long_names_make_room_before_the_page_is_asked_for(view: RecordingView, eeg_channels, single_montage) -> None:
    width = view.width_px()
    name = "a rather long electrode name"
    view.set_montage(single_montage(name), eeg_channels(name))
    assert view.width_px() < width
    assert view.readers_lane.plot_rect.left() == view.trace_view.gutter.width()
    assert view.trace_view.canvas.x() == view.trace_view.gutter.width()


def test_recording_without_channels_is_an_empty_page(view: RecordingView, page_at, single_montage, qtbot) -> None:
    view.set_recording_facts(100.0)
    view.set_montage(single_montage(), ())
    view.set_window(Window(20.0, 30.0))
    view.show_page(page_at(20.0, ()))
    qtbot.waitUntil(view.settled)
    view.refine_now()
    assert view.grab().width() == 1008


def test_random_weights_are_said_in_every_place_that_draws_them(view: RecordingView, page_at) -> None:
    view.show_page(page_at(20.0))
    for random_weights in (True, False):
        view.set_prediction(prediction(random_weights=random_weights))
        lanes = (view.probability_lane, view.readers_lane, view.timeline)
        assert [lane.badge for lane in lanes] == ["random weights" if random_weights else ""] * 3
        said = "random weights" in view.trace_view.canvas.band.placed[0].text
        assert said == random_weights
    view.set_prediction(prediction(random_weights=True))
    view.set_prediction(None)
    assert not any(lane.badge for lane in (view.probability_lane, view.readers_lane, view.timeline))


@pytest.mark.parametrize("height", [500, 600, 800, 1100])
def test_the_trends_leave_the_traces_half_of_the_window(view: RecordingView, page_at, height: int) -> None:
    view.resize(1008, height)
    before = view.trace_view.height()
    view.trends.show()
    QApplication.processEvents()
    assert view.trends.height() > 0
    assert view.trace_view.height() == before - view.trends.height()
    assert view.trace_view.height() >= min(height // 2, before - view.trends.least_height())
    view.set_lane_collapsed("p(seizure)", True)
    QApplication.processEvents()
    assert view.trace_view.height() >= min(height // 2, before - view.trends.least_height())


def test_a_lane_with_nothing_to_draw_takes_one_line_and_gives_the_rest_to_the_traces(view: RecordingView) -> None:
    def traces() -> int:
        view.layout().activate()
        return view.trace_view.height()

    nothing = traces()
    assert view.probability_lane.height() == FOLDED_HEIGHT
    view.set_waiting("a model")
    assert (view.probability_lane.height(), traces()) == (62, nothing - 42)
    view.set_prediction(prediction())
    view.set_waiting("")
    assert (view.probability_lane.height(), traces()) == (62, nothing - 42)
    view.set_prediction(None)
    assert (view.probability_lane.height(), traces()) == (FOLDED_HEIGHT, nothing)


@pytest.mark.parametrize("letters", [100, 150, 200])
@pytest.mark.parametrize("height", [575, 740, 811])
def test_the_traces_keep_most_of_the_height_whatever_the_letters(view: RecordingView, height: int, letters) -> None:
    try:
        set_text_scale(letters)
        view.set_theme("light")
        view.resize(1008, height)
        view.layout().activate()
        assert view.trace_view.height() >= 0.7 * height
        view.set_prediction(prediction())
        view.layout().activate()
        assert view.trace_view.height() >= 0.65 * height
        assert view.readers_lane.height() >= FOLDED_HEIGHT * letters / 100
        view.trends.show()
        QApplication.processEvents()
        assert view.trace_view.height() >= 0.4 * height
        assert sum(lane.isVisible() for lane in view.trends.lanes) >= 2
    finally:
        set_text_scale(100)


def test_trends_follow_page_clock_and_gutter_and_ask_for_pages(view: RecordingView, page_at) -> None:
    asked, zooms = [], []
    view.window_requested.connect(asked.append)
    view.zoom_requested.connect(lambda *values: zooms.append(values))
    view.set_window(Window(40.0, 50.0))
    view.trends.go_to(80.0)
    assert asked == [Window(75.0, 85.0)]
    assert view.trends.axis.plot_rect.left() == view.timeline.plot_rect.left()
    view.timeline.zoom_requested.emit(1, 33.0)
    view.trace_view.zoom_requested.emit(-1, 44.0)
    assert zooms == [(1, 33.0), (-1, 44.0)]
