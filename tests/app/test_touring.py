"""The demonstration and its tour in the real window: what is opened, what each stop points at, and how it ends."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, QRect, QSize
from PyQt6.QtWidgets import QApplication

from analysis.annotation import Annotation
from analysis.event_tables import read_events
from analysis.kinds import KINDS
from analysis.postprocessing import OnlineRule
from analysis.results import AnalysisRequest, SeizurePrediction
from analysis.saved_predictions import read_prediction
from analysis.simulation.demo import RECORDING, TITLE
from analysis.simulation.truth import read_truth
from app.commands import load_checkpoint
from app.demo import Demo, bundled_models
from app.engine_process import EngineProcess
from app.headless import predict
from app.main_window import MainWindow
from app.session import ModelChoice
from app.settings import Settings, load_settings, save_settings
from app.testing import Window
from app.tour_stops import STOPS, found_words
from models.families import MODELS
from viewers.callout import place_beside
from viewers.overlays import ANALYSIS_OVERLAYS

MODEL = ModelChoice("AXON, demo", "random:axon:tiny")


@pytest.fixture
def unrun(monkeypatch):
    """No model runs: the packaged detector takes its time."""
    runs = []
    monkeypatch.setattr("app.commands.run_model", runs.append)
    return runs


@pytest.fixture
def opened(qapp):
    """Makes a window that shows the demonstration, with the models named."""
    windows = []

    def make(models=(), settings=None, results=None, **more):
        main = MainWindow(settings or Settings(theme="light"), results_folder=results, **more)
        handle = Window(main)
        windows.append(handle)
        main.resize(1500, 900)
        main.show()
        main.touring.demo = Demo(main, partial(load_checkpoint, main), models)
        main.touring.show_demo()
        handle.wait(120)
        return handle

    yield make
    for window in windows:
        window.close()


def test_the_bundled_recording_is_opened_and_said_to_be_simulated(opened) -> None:
    main = opened(settings=Settings(tour_refused=True)).main
    assert main.session.recording.path == RECORDING
    assert main.windowTitle().startswith(TITLE)
    assert "imulated" in TITLE
    assert main.session.window.start == 40.0
    assert main.known_truth.truth.seed > 0
    assert main.touring.at is None


def test_only_models_that_are_there_are_bundled(tmp_path) -> None:
    assert bundled_models(tmp_path) == []
    (tmp_path / "neurduo.safetensors").touch()
    assert [(m.title, m.checkpoint) for m in bundled_models(tmp_path)] == [
        ("NeurDuo, demo", str(tmp_path / "neurduo.safetensors"))
    ]


def test_the_first_model_is_run_and_the_others_are_made_ready(opened, tmp_path) -> None:
    again = ModelChoice("AXON again", "random:axon:tiny:1")
    window = opened((MODEL, again), Settings(tour_refused=True), tmp_path / "results")
    main = window.main
    assert [model.checkpoint for model in main.model_panel.choices()[-2:]] == [MODEL.checkpoint, again.checkpoint]
    assert main.session.model.checkpoint == MODEL.checkpoint
    assert main.session.prediction.complete
    before = {path for path in (tmp_path / "results").rglob("*") if path.is_file()}
    window.run_model(again.checkpoint)
    window.wait(60)
    assert main.session.prediction.complete
    assert {path for path in (tmp_path / "results").rglob("*") if path.is_file()} == before  # nothing was computed


def test_the_second_start_asks_no_model_for_what_the_first_one_did(opened, tmp_path, monkeypatch) -> None:
    asked = []
    call = EngineProcess.call

    def heard(engine, function, *more):
        asked.append(function)
        return call(engine, function, *more)

    def visit(main: MainWindow, window: Window) -> list:
        window.wait(120)
        found = [main.session.prediction.probability.tolist()]
        for number in (2, 5):
            main.touring.go_to(number)
            window.wait(120)
            answer = main.analysing.answer
            found += [answer.kind, *(array.values.tolist() for array in answer.arrays.values()), answer.facts]
        return found

    monkeypatch.setattr(EngineProcess, "call", heard)
    first = opened((MODEL,), Settings(tour_refused=True), tmp_path)
    shown = visit(first.main, first)
    assert {"analysis.engine.predict:predict_seizures", "analysis.engine.analyze:analyze"} <= set(asked)
    first.main.close()
    asked.clear()
    second = opened((MODEL,), Settings(tour_refused=True), tmp_path)
    assert repr(visit(second.main, second)) == repr(shown)
    assert set(asked) <= {"analysis.scoring:score_events"}


EVENTS = ((31.0, 97.0), (215.0, 250.0), (490.0, 500.0), (300.0, 310.0))  # seizures at 31.6, 210.97, 403.87; movement


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ((), "AXON finds 0 of the 3 simulated seizures here, and no rhythmic movement fools it."),
        (EVENTS[:2], "AXON finds 2 of the 3 simulated seizures here, and no rhythmic movement fools it."),
        (EVENTS[:3], "AXON finds 2 of the 3 simulated seizures here, and takes a rhythmic movement for one."),
        (EVENTS[3:], "finds 0 of the 3 simulated seizures here, and no rhythmic movement fools it; one event is a"),
    ],
)
def test_the_tour_tells_what_the_model_on_show_really_finds(events, words) -> None:
    truth = read_truth(RECORDING)
    marks = tuple(Annotation(start, stop - start, "sz") for start, stop in events)
    prediction = SeizurePrediction(AnalysisRequest("seizure", "", ()), "", "", events=marks, model_title="AXON")
    assert words in found_words(prediction, truth)


def test_the_window_shows_the_events_that_predict_writes(opened, tmp_path) -> None:
    (model,) = bundled_models()[:1]
    main = opened((model,), Settings(tour_refused=True)).main
    predict(RECORDING, model.checkpoint, tmp_path / "out", device="cpu")
    written = read_prediction(tmp_path / "out")
    events = [(mark.onset, mark.stop) for mark in read_events(tmp_path / "out/events.tsv").events]
    shown = main.session.prediction
    assert events
    assert np.array([(event.onset, event.stop) for event in shown.events]) == pytest.approx(np.array(events), abs=1e-3)
    assert (main.runs.threshold, main.runs.is_own) == (written.threshold, True)
    assert main.view.probability_lane.threshold == written.threshold != 0.5
    assert shown.provenance["rule"] == written.provenance["rule"]
    panel = main.sensitivity_panel
    assert panel._own.text() == f"Model's own: {written.threshold:.2f}"
    assert not panel._own.isEnabled()
    main.runs.set_threshold(0.99)
    assert panel._own.isEnabled()
    main.runs.set_rule(OnlineRule())
    assert len(main.session.prediction.events) != len(events) or main.session.prediction.events != shown.events
    panel._own.click()
    assert main.session.prediction.events == shown.events
    assert main.settings.model_events == {}


def test_the_focus_of_the_seizure_on_the_page_is_marked_and_only_there(opened) -> None:
    window = opened(settings=Settings(tour_refused=True))
    main = window.main
    gutter, panel = main.view.trace_view.gutter, main.measuring.topography
    names = [main.session.montage.ch_names[row] for row in gutter.rows_of_focus()]
    assert names == ["F7-T7", "T7-P7"]
    assert "simulated focus of the seizure at 00:31.6: T7" in gutter.tool_tip(gutter.rows_of_focus()[0])
    assert "T7, then F7 and Pz" in panel._focus.text()
    window.show(210.0, 10.0)
    window.wait()
    assert main.known_truth.seizure.focus_channel == panel.head._focus == "F4"
    window.show(300.0, 10.0)
    window.wait()
    assert (gutter.rows_of_focus(), panel.head._focus, panel._focus.text()) == ([], "", "")


def test_attribution_is_shown_beside_the_truth(opened) -> None:
    window = opened((MODEL,), Settings(tour_refused=True))
    main = window.main
    main.touring.go_to(len(STOPS) - 1)
    window.wait(120)
    panel = main.analysing.tab.shown
    assert panel.map.head._focus == "F4"
    assert panel.focus.isVisibleTo(panel)
    assert [name for name in panel.bars.names if "◆" in name] == ["F4 ◆"]
    assert main.view.probability_lane.subtitle
    assert main.overlay_panel.states()["integrated-gradients"]
    main.touring.go_to(2)
    window.wait(120)
    assert not main.overlay_panel.states()["integrated-gradients"]
    assert main.overlay_panel.states()["gates"]
    assert main.analysing.answer.kind == "gates"
    main.touring._follow()
    row = main.overlay_panel.rows["gates"]
    assert main.touring._placed == QRect(row.mapTo(main, QPoint(0, 0)), row.size())


def test_the_tour_goes_on_and_back_and_remembers_that_it_was_seen(opened, unrun) -> None:
    main = opened().main
    touring, callout = main.touring, main.touring.callout
    assert (touring.at, callout.isVisible(), callout.back.isEnabled()) == (0, True, False)
    titles = []
    for number in range(len(STOPS)):
        titles.append(callout.title.text())
        assert touring.at == number
        assert callout.remark.isVisibleTo(callout) == (STOPS[number].family != "")  # no model is listed
        assert main.rect().contains(callout.geometry())
        callout.next.click()
    assert unrun == [main]  # the chosen model, for the first stop
    assert titles == [f"{i} of 6 · {stop.title}" for i, stop in enumerate(STOPS, 1)]
    assert (touring.at, callout.isVisible(), callout.outline.isVisible()) == (None, False, False)
    assert main.settings.tour_refused
    main.actions_by_id["tour"].trigger()
    callout.next.click()
    callout.back.click()
    assert touring.at == 0


def test_esc_ends_it_for_now_and_no_more_for_good(opened, unrun, tmp_path) -> None:
    main = opened().main
    assert main.touring.callout.next.hasFocus() or QApplication.focusWidget() is None
    main.actions_by_id["cancel"].trigger()
    assert main.touring.at is None
    assert not main.settings.tour_refused
    main.actions_by_id["tour"].trigger()
    main.touring.callout.none.click()
    assert main.touring.at is None
    save_settings(main.settings, tmp_path)
    assert load_settings(tmp_path)[0].tour_refused


def test_the_action_opens_the_demonstration_where_nothing_is_open(qapp, unrun) -> None:
    main = MainWindow(Settings(theme="dark", tour_refused=True))
    window = Window(main)
    main.show()
    main.touring.demo = Demo(main, partial(load_checkpoint, main), ())
    main.actions_by_id["tour"].trigger()
    window.wait(60)
    assert (main.session.recording.path, main.touring.at) == (RECORDING, 0)
    window.close()


@pytest.mark.parametrize("stop", STOPS, ids=lambda stop: stop.title)
def test_stops_name_what_there_is_and_say_it_in_two_sentences(stop) -> None:
    for is_simulated in (False, True):
        assert len(stop.text(is_simulated).split(". ")) == 2
    if stop.kind:
        assert stop.kind in ANALYSIS_OVERLAYS
        assert KINDS[stop.kind].function_for(stop.family)
        assert stop.family in MODELS


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ((0, 0, 200, 1000), (206, 400)),  # a column at the left: to its right
        ((800, 0, 200, 1000), (494, 400)),
        ((0, 900, 1000, 100), (350, 694)),  # a lane below: above it
        ((0, 0, 1000, 100), (350, 106)),
        ((0, 0, 20, 20), (0, 26)),  # kept inside
    ],
)
def test_a_callout_stands_where_there_is_most_room(target, place) -> None:
    found = place_beside(QRect(*target), QSize(300, 200), QRect(0, 0, 1000, 1000))
    assert (found.x(), found.y()) == pytest.approx(place, abs=1)
