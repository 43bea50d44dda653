"""The demonstration and its tour in the real window: what is opened, what each stop points at, and how it ends."""

from __future__ import annotations

from functools import partial

import pytest
from PyQt6.QtCore import QPoint, QRect, QSize
from PyQt6.QtWidgets import QApplication

from analysis.kinds import KINDS
from analysis.simulation.demo import RECORDING, TITLE
from app.commands import load_checkpoint
from app.demo import Demo, bundled_models
from app.main_window import MainWindow
from app.session import ModelChoice
from app.settings import Settings, load_settings, save_settings
from app.testing import Window
from app.tour_stops import STOPS
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
