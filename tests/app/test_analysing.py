"""Looking into models in the real window: what is offered, computed once, kept up with the page, and never stale."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QApplication, QMenu, QMessageBox

from analysis.kinds import KINDS, kinds_of
from analysis.recording import Window as Span
from app.analysis_panel import AnalysisTab
from app.settings import Settings
from app.testing import open_window
from viewers.overlays import ANALYSIS_OVERLAYS
from viewers.panels.array_table import ArrayTable
from viewers.panels.embedding import Embedding
from viewers.panels.gate_bars import GateBars
from viewers.panels.layer_similarity import LayerSimilarity

SEIZURE = "scalp-seizure-46ch/demo_edf.edf"
AXON, PRISE = "random:axon:tiny:7", "random:prise-eeg:tiny:1"


@pytest.fixture(scope="module")
def one_window(shared, qapp):
    """The seizure recording with three models listed, in a window that the tests share."""
    window = open_window(shared / "recordings" / SEIZURE, (1500, 900), Settings(theme="light"))
    window.wait()
    for name in (PRISE, AXON):
        window.load_model(name)
        window.wait(120)
    yield window
    window.close()


@pytest.fixture
def window(one_window):
    """The window with AXON chosen, on its first page, with nothing asked yet."""
    main = one_window.main
    analysing = main.analysing
    main.model_panel.choose(AXON)
    for kind in ANALYSIS_OVERLAYS:
        main.overlay_panel.set_visible(kind, False)
    main.view.span_selected.emit(None)
    one_window.show(0.0, 10.0)
    analysing._answers.clear()
    analysing._wanted.clear()
    analysing._wishes.forget_choices()
    analysing.open("gates")
    analysing.tab.arrays.setChecked(False)
    one_window.wait()
    main.calls = []
    call = type(main.engine).call
    main.engine.call = lambda function, *rest: main.calls.append(function) or call(main.engine, function, *rest)
    yield one_window
    del main.engine.call
    one_window.wait()


def run(window, kind: str, seconds: float = 60.0):
    window.main.analysing.open(kind)
    window.main.analysing.run()
    window.wait(seconds)
    return window.main.analysing.answer


def panel(window):
    return window.main.analysing.tab.shown


def error_boxes(window) -> list[QMessageBox]:
    return [box for box in window.main.findChildren(QMessageBox) if box.isVisible()]


def test_a_model_offers_what_its_family_gives(window):
    tab = window.main.analysing.tab
    assert [tab.kind.itemData(i) for i in range(tab.kind.count())] == kinds_of("axon")
    window.main.model_panel.choose(PRISE)
    assert [tab.kind.itemData(i) for i in range(tab.kind.count())] == kinds_of("prise-eeg")
    assert tab._model.text() == "of PRiSE-EEG-tiny, random weights 1"
    window.main.model_panel.choose("brainmaze")
    assert tab.kind.count() == 0
    assert not tab.run.isVisible()
    assert "brainmaze A only finds seizures" in tab._hint.text()
    said = []
    window.main.analysing.said.connect(said.append)
    window.main.actions_by_id["run_analysis"].trigger()
    assert said == ["brainmaze A only finds seizures: choose a model that can be looked into under Checkpoints"]
    window.main.model_panel.choose(AXON)
    assert tab.run.isVisible()


def test_the_menu_lists_the_kinds_of_the_chosen_model_and_starts_them(window):
    menu = QMenu()
    window.main.analysing.offers.fill_menu(menu)
    assert [action.text() for action in menu.actions()] == [KINDS[kind].title for kind in kinds_of("axon")]
    menu.actions()[kinds_of("axon").index("effective-rank")].trigger()
    window.wait(60)
    assert window.main.analysing.answer.kind == "effective-rank"
    window.main.model_panel.choose("brainmaze")
    window.main.analysing.offers.fill_menu(menu)
    assert [action.isEnabled() for action in menu.actions()] == [False]
    model_menu = next(a.menu() for a in window.main.menuBar().actions() if a.text() == "&Model")
    assert "Analyse" in [action.text() for action in model_menu.actions()]


def test_gates_come_to_panel_traces_and_lane_and_say_random_weights(window):
    result = run(window, "gates")
    assert isinstance(panel(window), GateBars)
    assert panel(window)._caption.text().startswith("AXON-tiny · demo_edf.edf · 00:00.0 to 00:10.0")
    assert panel(window)._random.isVisible()
    assert window.main.overlay_panel.states()["gates"]
    drawing = window.main.analysing.drawing
    heat, lane = drawing.overlay("gates").heat, drawing.lane("gates")
    np.testing.assert_allclose(heat.values, result.values("temporal").mean(0)[0], rtol=1e-5)
    assert window.main.view.trace_view.canvas.furniture.keys["Gates"].warning == "random weights"
    assert lane.isVisible()
    assert lane.badge == "random weights"
    np.testing.assert_allclose(lane.curve.values, heat.values.mean(0))


def test_the_same_is_computed_once(window):
    run(window, "gates")
    first = window.main.analysing.answer
    run(window, "gates")
    run(window, "effective-rank")
    run(window, "gates")
    assert window.main.analysing.answer is first
    assert window.main.calls.count("analysis.engine.analyze:analyze") <= 2


def test_a_kind_that_follows_is_marked_old_and_renewed_when_the_page_rests(window):
    run(window, "gates")
    overlay = window.main.analysing.drawing.overlay("gates")
    window.main.session.page(1)
    assert panel(window).profile.stale
    assert panel(window).profile.stale_text == "computing…"
    assert "computing…" in overlay.key().warning
    window.wait(60)
    assert not panel(window).profile.stale
    assert overlay.key().warning == "random weights"
    assert "00:10.0 to 00:20.0" in panel(window)._caption.text()
    assert overlay.heat.times[0] == pytest.approx(10.0)
    before = len(window.main.calls)
    window.main.session.page(-1)
    window.wait(60)
    assert "00:00.0 to 00:10.0" in panel(window)._caption.text()
    assert len(window.main.calls) == before  # it was known


def test_pages_that_are_passed_over_are_not_computed(window):
    run(window, "gates")
    before = len(window.main.calls)
    for start in (3.0, 7.0, 11.0, 15.5):
        window.main.session.go_to(start)
        QApplication.processEvents()
    window.wait(60)
    assert len(window.main.calls) - before == 1
    assert "00:15.5 to 00:25.5" in panel(window)._caption.text()


def test_what_is_being_computed_is_not_said_to_be_missing(qtbot):
    tab = AnalysisTab()
    qtbot.addWidget(tab)
    tab.build()
    tab.show_kinds([("gates", "Gates")], None)
    tab.set_result(None)
    assert tab._state.isVisibleTo(tab)
    tab.set_progress((0.2, "window 1 of 5"))
    assert not tab._state.isVisibleTo(tab)
    tab.set_progress(None)
    assert tab._state.isVisibleTo(tab)
    tab.refuse("nothing is selected")
    tab.set_progress(None)
    assert not tab._state.isVisibleTo(tab)  # the reason stands there
    assert tab._error.isVisibleTo(tab)


def test_a_kind_that_does_not_follow_is_said_to_be_of_another_span(window):
    run(window, "gates")
    window.main.analysing.tab.follow.click()
    before = len(window.main.calls)
    window.main.session.page(1)
    window.wait()
    assert panel(window).profile.stale_text == "of another span"
    assert "press Run" in window.main.analysing.tab._state.text()
    assert "of another span" in window.main.analysing.drawing.overlay("gates").key().warning
    assert len(window.main.calls) == before
    window.main.session.page(-1)
    assert not panel(window).profile.stale


def test_other_options_make_an_answer_old_until_it_is_run_again(window):
    run(window, "gate-interventions")
    tab = window.main.analysing.tab
    tab._more.setChecked(True)
    assert tab.form.isVisible()
    tab.form.widgets["seed"].setValue(5)
    window.wait()
    assert panel(window).move.stale_text == "of other options"
    tab.run.click()
    window.wait(60)
    assert not panel(window).move.stale
    assert dict(window.main.analysing.answer.request.options)["seed"] == 5


def test_whole_recordings_do_not_grow_old_with_the_page(window):
    tab = window.main.analysing.tab
    window.main.analysing.open("effective-rank")
    tab.span.choose("recording")
    tab.span.chosen.emit("recording")
    assert not tab.follow.isVisible()
    tab.run.click()
    window.wait(60)
    window.main.session.page(1)
    assert not panel(window).plot.stale
    assert "00:00.0 to 00:45.0" in panel(window)._caption.text()


def test_a_selection_is_looked_at(window):
    tab = window.main.analysing.tab
    tab.span.choose("selection")
    tab.span.chosen.emit("selection")
    tab.run.click()
    assert "Nothing is selected: drag on the traces" in tab._error.text()
    window.main.view.span_selected.emit(Span(2.0, 6.0))
    assert not tab._error.isVisible()
    tab.run.click()
    window.wait(60)
    assert "00:02.0 to 00:06.0" in panel(window)._caption.text()


def test_what_cannot_be_computed_is_one_sentence_in_the_panel(window):
    tab = window.main.analysing.tab
    tab.span.choose("selection")
    tab.span.chosen.emit("selection")
    window.main.view.span_selected.emit(Span(2.0, 2.5))
    tab.run.click()
    window.wait(60)
    assert tab._error.isVisible()
    assert "hold no patch: give at least 1 s." in tab._error.text()
    assert error_boxes(window) == []
    assert window.main.analysing.answer is None
    window.main.view.span_selected.emit(Span(2.0, 6.0))
    assert not tab._error.isVisible()


def test_a_layer_goes_to_the_traces(window, qtbot):
    run(window, "gates")
    window.main.overlay_panel.set_visible("gates", False)
    panel(window).profile.layer_clicked.emit(2)
    drawing = window.main.analysing.drawing
    assert window.main.overlay_panel.states()["gates"]
    assert drawing.overlay("gates").heat.title == "Gates of AXON-tiny, layer 2 [paper]"
    assert drawing.lane("gates").subtitle == "layer 2"
    window.main.session.page(1)
    window.wait(60)
    assert drawing.overlay("gates").heat.title == "Gates of AXON-tiny, layer 2 [paper]"
    assert panel(window).profile.chosen == 2
    panel(window).profile.layer_clicked.emit(2)
    assert drawing.overlay("gates").part == "mean"
    panel(window).scale.layer_clicked.emit(1)
    assert drawing.overlay("gates").heat.title == "Scale gate of AXON-tiny, layer 1 [reference]"
    assert drawing.lane("gates").subtitle == "scale, layer 1"
    panel(window).scale.layer_clicked.emit(1)
    panel(window).profile.layer_clicked.emit(0)
    panel(window).profile.layer_clicked.emit(0)


def test_the_overlay_alone_asks_for_what_it_draws(window):
    window.main.measuring.dock.open("topography")
    window.main.overlay_panel.set_visible("gates", True)
    window.wait(60)
    assert window.main.analysing.drawing.overlay("gates").heat is not None
    window.main.overlay_panel.set_visible("gates", False)
    assert not window.main.analysing.drawing.lane("gates").isVisible()
    before = len(window.main.calls)
    window.main.session.page(1)
    window.wait()
    assert len(window.main.calls) == before  # nobody looks


def test_an_overlay_that_the_model_does_not_give_is_explained(window):
    window.main.model_panel.choose(PRISE)
    said = []
    window.main.analysing.said.connect(said.append)
    box = window.main.overlay_panel.rows["gates"].box
    box.click()
    assert said[-1].startswith("PRiSE-EEG-tiny, random weights 1 gives no gates, it gives ")
    assert said[-1].endswith("choose a model of AXON")
    box.click()


def test_hovering_tells_the_gate_and_its_electrodes(window):
    run(window, "gates")
    window.set_montage("LB-18.1")
    window.wait()
    canvas = window.main.view.trace_view.canvas
    canvas.point_at(4.2, float(canvas.rows.centre[0]))
    result = window.main.analysing.answer
    rows = [result.labels["channel"].index(name) for name in ("Fp1", "F7")]
    value = result.values("temporal").mean(0)[0, rows, 4].mean()  # of 0.9 s steps, the one with 4.2 s
    assert window.main.status._heat.text() == (
        f"temporal weight (mean of 6 layers) [paper] {value:.2f}, mean of Fp1 and F7 (random weights)"
    )
    canvas.leaveEvent(None)
    assert window.main.status._heat.text() == ""


def test_two_models_are_compared_by_their_layers(window):
    analysing = window.main.analysing
    analysing.open("cka")
    tab = analysing.tab
    assert [tab.partner.itemText(i) for i in range(tab.partner.count())] == [
        "by itself",
        "compared with PRiSE-EEG-tiny, random weights 1",
    ]
    for name, value in (("window", 1.0), ("windows", 10)):
        analysing._on_option(name, value)
    tab.partner.choose(PRISE)
    tab.partner.chosen.emit(PRISE)
    tab.run.click()
    window.wait(60)
    assert isinstance(panel(window), LayerSimilarity)
    assert (panel(window).matrix.row_title, panel(window).matrix.x_title) == ("AXON-tiny", "PRiSE-EEG-tiny")
    assert "Only 10 rows" in panel(window)._sentence.text()


def test_cka_of_a_page_is_of_its_tokens(window):
    result = run(window, "cka")
    assert result.facts["rows"] == "tokens"
    assert result.facts["n_rows"] == 220
    assert not panel(window)._sentence.isVisible()


def test_an_answer_about_another_model_is_taken_away_and_comes_back(window):
    answer = run(window, "gates")
    window.main.model_panel.choose(PRISE)
    assert window.main.analysing.answer is None
    assert window.main.analysing.drawing.overlay("gates").heat is None
    window.main.model_panel.choose(AXON)
    window.main.analysing.choose_kind("gates")
    assert window.main.analysing.answer is answer
    assert window.main.analysing.drawing.overlay("gates").heat is not None


def test_a_click_on_a_window_moves_the_page_there(window):
    analysing = window.main.analysing
    analysing.open("embedding")
    analysing._on_option("window", 2.0)
    analysing.run()
    window.wait(60)
    assert isinstance(panel(window), Embedding)
    assert panel(window).plot.on_page().tolist() == [0, 1, 2, 3, 4]
    panel(window).plot.point_clicked.emit(16)
    window.wait()
    page = window.main.session.window
    assert page.start < 32.0 < page.stop
    assert 16 in panel(window).plot.on_page()


def test_every_array_can_be_looked_at_and_copied(window):
    run(window, "gates")
    window.main.analysing.tab.arrays.setChecked(True)
    assert isinstance(panel(window), ArrayTable)
    assert panel(window).array.count() == len(window.main.analysing.answer.arrays)
    window.main.measuring.inspector.copy_values()
    _limit, title, *_ = QGuiApplication.clipboard().text().splitlines()
    assert title.startswith("# gates: AXON-tiny (random weights); span 0.000 to 10.000 s")
    window.main.analysing.tab.arrays.setChecked(False)
    assert isinstance(panel(window), GateBars)


def test_work_can_be_cancelled_and_is_not_begun_again_unasked(window, qtbot):
    run(window, "gates")
    analysing = window.main.analysing
    window.main.engine.call = lambda function, arguments, progress: slow(progress)
    window.main.session.go_to(23.7)
    qtbot.waitUntil(lambda: analysing.tab.stop.isVisible(), timeout=5000)
    analysing.tab.stop.click()
    qtbot.waitUntil(lambda: not window.main.runner.jobs, timeout=5000)
    assert not analysing.tab.stop.isVisible()
    assert panel(window).profile.stale_text == "of another span"
    window.wait()
    assert not window.main.runner.jobs


def slow(progress):
    while True:
        progress.report(1, 10, "working")
        time.sleep(0.02)


def test_another_recording_starts_with_nothing(shared, qapp):
    window = open_window(shared / "recordings" / SEIZURE, (1300, 800), Settings(theme="dark"))
    try:
        window.wait()
        window.load_model(AXON)
        window.wait(120)
        run(window, "gates")
        other = shared / "recordings/eegmmidb/eegmmidb_overlapping_annotations.edf"
        window.main.analysing.tab.follow.click()
        window.main.open_recording(str(other))
        window.wait(60)
        assert window.main.analysing.answer is None
        assert window.main.analysing.drawing.overlay("gates").heat is None
        assert not window.main.analysing.drawing.lane("gates").isVisible()
        window.main.set_theme("light")
        window.main.analysing.tab.follow.click()
        window.wait(60)
        assert window.main.analysing.answer.labels["channel"][0] == "FC5"
    finally:
        window.close()


def test_the_window_starts_without_the_table_of_kinds():
    code = "import sys, app.main_window; print([m for m in ('analysis.kinds', 'models.families') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_the_keys_of_the_actions_do_what_they_say(window, qtbot):
    window.main.measuring.dock.open("topography")
    window.main.actions_by_id["analyse"].trigger()
    assert window.main.measuring.inspector.in_view is window.main.analysing.tab
    window.main.actions_by_id["run_analysis"].trigger()
    window.wait(60)
    assert window.main.analysing.answer is not None
    assert window.main.analysing.tab.run.focusPolicy() & Qt.FocusPolicy.TabFocus


def test_a_channel_marked_bad_makes_an_answer_old_and_stays_out_of_the_next(window):
    session, analysing = window.main.session, window.main.analysing
    run(window, "gates")
    analysing.tab.follow.click()  # is not done again by itself
    assert "C3" in analysing.answer.labels["channel"]
    try:
        session.set_bad_channels(["ECG"])  # of which no model is given anything
        window.wait()
        assert not panel(window).profile.stale
        session.set_bad_channels(["C3"])
        window.wait()
        assert panel(window).profile.stale_text == "with other bad channels"
        run(window, "gates")
        assert "C3" not in analysing.answer.labels["channel"]
        assert analysing.answer.provenance["bad_channels"] == ["C3"]
        assert "Channels left out: C3 (marked bad)." in panel(window)._notes.text()
        assert not panel(window).profile.stale
    finally:
        session.set_bad_channels([])
    window.wait()
    assert panel(window).profile.stale or "C3" in analysing.answer.labels["channel"]


def test_a_prediction_does_without_bad_channels_and_says_when_they_have_changed(window):
    session, lane = window.main.session, window.main.view.probability_lane
    try:
        session.set_bad_channels(["Fpz"])
        window.run_model(AXON)
        window.wait(60)
        assert ("Fpz", "marked bad") in session.prediction.left_out
        assert "Fpz" not in session.prediction.provenance["scored_channels"]
        assert "Left out: Fpz, marked bad" in window.main.prediction_panel._left_out.text()
        assert "marked bad since" not in lane.toolTip()
        session.set_bad_channels(["Fpz", "C3"])
        assert "C3 marked bad since this ran" in window.main.prediction_panel._stale.text()
        assert "C3 marked bad since this ran" in lane.toolTip()
    finally:
        session.set_bad_channels([])
        session.set_prediction(None)
