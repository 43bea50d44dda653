"""The real window on real recordings: opening, paging, marks, models, and what happens when things go wrong."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLabel, QMessageBox, QSpinBox

from analysis.annotation import Annotation
from app import commands
from app.actions import ACTIONS
from app.jobs import Job
from app.main_window import MainWindow
from app.remembering import InOrder
from app.settings import Settings
from app.testing import Window, open_window

SEIZURE = "scalp-seizure-46ch/demo_edf.edf"


@pytest.fixture
def opened(shared, qtbot):
    """Opens recordings in real windows and closes them after the test."""
    windows: list[Window] = []

    def open_it(name: str, **settings) -> Window:
        window = open_window(shared / "recordings" / name, (1400, 860), Settings(theme="light", **settings))
        windows.append(window)
        window.wait()
        return window

    yield open_it
    for window in windows:
        window.close()


def test_opens_in_the_clinical_montage_with_the_marks_of_the_file(opened):
    main = opened(SEIZURE).main
    assert main.session.view.montage == "LB-18.1"
    assert len(main.events.items()) == 8
    assert main.windowTitle().startswith("demo_edf.edf")
    assert main.toolbar.montage.value() == "Longitudinal LB-18.1"
    assert main.toolbar.sensitivity.value() == "7 µV/mm"


def test_traces_are_painted_in_the_colours_of_their_sides(opened):
    window = opened(SEIZURE)
    picture = window.grab()
    image = picture.convertToFormat(picture.Format.Format_RGB32)
    pixels = np.frombuffer(image.constBits().asarray(image.sizeInBytes()), np.uint8).reshape(image.height(), -1, 4)
    blue, green, red = (pixels[..., i].astype(int) for i in range(3))
    assert ((blue - red > 60) & (blue - green > 30)).sum() > 3000
    assert ((red - blue > 60) & (red - green > 60)).sum() > 3000


@pytest.mark.parametrize(
    ("key", "modifier", "start"),
    [
        (Qt.Key.Key_Right, Qt.KeyboardModifier.NoModifier, 20.0),
        (Qt.Key.Key_Left, Qt.KeyboardModifier.NoModifier, 0.0),
        (Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier, 11.0),
        (Qt.Key.Key_Home, Qt.KeyboardModifier.NoModifier, 0.0),
        (Qt.Key.Key_End, Qt.KeyboardModifier.NoModifier, 35.0),
    ],
)
def test_keys_turn_pages(opened, qtbot, key, modifier, start):
    window = opened(SEIZURE)
    window.show(10.0, 10.0)
    qtbot.keyClick(window.main, key, modifier)
    window.wait()
    assert window.main.session.window.start == start
    assert window.main.view.shown_window().start == start


def test_every_action_has_a_handler_and_every_key_is_used_once(opened):
    main = opened(SEIZURE).main
    assert set(main.actions_by_id) == {spec.id for spec in ACTIONS}
    keys = [key for spec in ACTIONS for key in spec.keys]
    assert len(keys) == len(set(keys))


def test_next_event_moves_the_page_there(opened):
    window = opened(SEIZURE)
    for _ in range(8):
        window.main.actions_by_id["next_event"].trigger()
    window.wait()
    chosen = window.main.events.selected()
    assert chosen.description.startswith("seizure ends")
    assert window.main.session.window.start <= chosen.onset < window.main.session.window.stop


def test_switching_the_montage_by_key_keeps_the_page(opened, qtbot):
    window = opened(SEIZURE)
    window.show(10.0, 10.0)
    qtbot.keyClick(window.main, Qt.Key.Key_6)
    window.wait()
    assert window.main.session.montage.ch_names[0] == "F7-avg"
    assert window.main.session.window.start == 10.0


def test_a_gap_is_told_in_the_panel_and_drawn(opened):
    window = opened("broken/edfplus_d_gap.edf")
    window.show(0.0, 70.0)
    window.wait()
    assert window.main.session.recording.gaps == ((5.0, 65.0),)
    assert window.main.view.settled()


def test_a_foreign_format_opens_through_the_reader_process(opened):
    main = opened("brainvision/test.vhdr").main
    assert len(main.session.recording.channels) == 32
    assert main.reader.pid is not None


def test_a_file_that_is_no_recording_is_refused_in_one_box(shared, qtbot):
    window = open_window(shared / "recordings/broken/html_page.edf", (1000, 700), Settings())
    try:
        boxes = window.main.findChildren
        qtbot.waitUntil(lambda: len(boxes(QMessageBox)) == 1, timeout=5000)
        assert "web page" in boxes(QMessageBox)[0].text()
        assert window.main.session.recording is None
    finally:
        window.close()


def test_the_tiny_model_streams_a_prediction_that_says_random_weights(opened, shared):
    window = opened(SEIZURE)
    parity = shared / "parity/mvpformer"
    window.load_model(str(parity / "tiny_base.pt"), str(parity / "tiny_head.pt"))
    window.wait()
    seen: list[int] = []
    window.main.session.prediction_changed.connect(lambda p: seen.append(len(p.times)))
    window.run_model(str(parity / "tiny_base.pt"))
    window.wait(120)
    prediction = window.main.session.prediction
    assert prediction.random_weights
    assert prediction.complete
    assert len(prediction.times) == 9
    assert seen == sorted(seen)
    authors = {a.author for a in window.main.events.items() if a.is_model}
    assert authors == {f"model:{prediction.model_title} (random weights)"}
    check_threshold(window)


def check_threshold(window: Window) -> None:
    """A moved threshold re-derives the events at once, from the numbers there are."""
    main = window.main
    main.runs.set_threshold(0.99)
    assert main.session.prediction.events == ()
    main.runs.set_threshold(0.01)
    assert [(e.onset, e.stop) for e in main.session.prediction.events] == [(0.0, 45.0)]
    window.wait()
    assert main.session.prediction.threshold == 0.01


def wait_until_at_work(window: Window) -> Job:
    """Serve the window until the engine has told of its work for the first time."""
    job = window.main.runs.job
    while not job.progress[2] and not job.ended:
        window.settled()
        time.sleep(0.02)
    return job


def test_a_killed_engine_is_a_failed_job_and_the_next_one_works(opened, shared):
    window = opened("scalp-seizure-42ch/scalp_seizure.edf")
    failures: list[BaseException] = []
    window.main.runner.added.connect(lambda job: job.failed.connect(failures.append))
    window.run_model("brainmaze")
    wait_until_at_work(window)
    os.kill(window.main.engine.pid, signal.SIGKILL)
    window.wait(30)
    assert "stopped in the middle of its work" in str(failures[0])
    assert window.main.session.prediction is None
    window.main.actions_by_id["next_page"].trigger()
    window.wait()
    assert window.main.view.shown_window().start == 10.0
    window.load_model(str(shared / "parity/mvpformer/tiny_base.pt"))
    window.wait(60)
    assert window.main.model_panel.current().title == "tiny_base"
    assert len(failures) == 1


def test_cancel_drops_what_had_arrived(opened):
    window = opened("scalp-seizure-42ch/scalp_seizure.edf")
    window.run_model("brainmaze")
    job = wait_until_at_work(window)
    assert "brainmaze A is running" in window.main.view.probability_lane.empty_text
    window.main.actions_by_id["cancel"].trigger()
    window.wait(10)
    assert job.state == "cancelled"
    assert window.main.view.probability_lane.empty_text == "no model has been run"
    assert window.main.session.prediction is None


def test_a_recording_opens_where_it_was_left(shared, qtbot, tmp_path):
    path = shared / "recordings" / SEIZURE
    positions = []
    for _ in range(2):
        main = MainWindow(Settings(), None, tmp_path)
        handle = Window(main)
        main.show()
        main.open_recording(str(path))
        handle.wait()
        positions.append((main.session.window.start, main.session.view.montage))
        main.session.change_view(montage="common average")
        main.session.go_to(20.0)
        handle.wait()
        handle.close()
    assert positions == [(0.0, "LB-18.1"), (20.0, "common average")]


def test_a_model_asked_again_answers_from_what_was_kept(shared, qtbot, tmp_path):
    parity = shared / "parity/mvpformer"
    found = []
    for _ in range(2):
        main = MainWindow(Settings(), results_folder=tmp_path)
        handle = Window(main)
        main.show()
        main.open_recording(str(shared / "recordings" / SEIZURE))
        handle.load_model(str(parity / "tiny_base.pt"), str(parity / "tiny_head.pt"))
        handle.wait()
        handle.run_model(str(parity / "tiny_base.pt"))
        handle.wait(120)
        found.append(main.session.prediction)
        handle.close()
    assert found[0].created == found[1].created
    assert np.array_equal(found[0].probability, found[1].probability)


def test_another_recording_opened_during_the_overview_pass_is_no_error(shared, qtbot, tmp_path):
    from app.bench_files import FILES, make_file, shortened

    long = make_file(shortened(FILES["day"], 0.2), tmp_path)
    window = open_window(long, (1000, 700), Settings())
    try:
        qtbot.waitUntil(lambda: window.main.session.recording is not None, timeout=10000)
        qtbot.waitUntil(lambda: any("Overview" in job.title for job in window.main.runner.jobs), timeout=10000)
        window.main.open_recording(str(shared / "recordings" / SEIZURE))
        window.wait(30)
        assert window.main.windowTitle().startswith("demo_edf")
        assert window.main.findChildren(QMessageBox) == []
        assert len(window.main.session.marks) == 8
    finally:
        window.close()


def test_events_asked_for_on_one_recording_do_not_reach_another(opened, shared, tmp_path):
    table = tmp_path / "events.tsv"
    table.write_text("onset\tduration\n1\t2\n")
    window = opened(SEIZURE)
    window.main.opener.read_events(table, window.main.session.recording)
    window.main.open_recording(str(shared / "recordings/broken/zero_start_date.edf"))
    window.wait()
    assert len(window.main.session.marks) == 0


def test_what_was_read_under_the_cursor_goes_with_its_recording(opened, shared):
    window = opened(SEIZURE)
    window.main.view.hovered.emit(22.5, "Fp1", 12.0, "uV")
    assert "Fp1" in window.main.status._cursor.text()
    window.main.open_recording(str(shared / "recordings/broken/zero_start_date.edf"))
    window.wait()
    assert not window.main.status._cursor.text()


def test_events_of_a_sidecar_join_those_of_the_file(opened, tmp_path):
    table = tmp_path / "events.tsv"
    table.write_text("onset\tduration\teventType\n1\t2\tsz\n")
    window = opened(SEIZURE)
    window.main.opener.read_events(table, window.main.session.recording)
    window.wait()
    assert len(window.main.session.marks) == 9
    assert (1.0, 3.0) in window.main.session.marks.seizures


def test_agreement_speaks_of_the_recording_that_is_open(opened, shared):
    window = opened(SEIZURE)
    said: list[object] = []
    window.main.runs.agreement_changed.connect(said.append)
    parity = shared / "parity/mvpformer"
    window.load_model(str(parity / "tiny_base.pt"), str(parity / "tiny_head.pt"))
    window.wait()
    window.run_model(str(parity / "tiny_base.pt"))
    while window.main.session.prediction is None or not window.main.session.prediction.complete:
        window.settled()
    window.main.open_recording(str(shared / "recordings/broken/zero_start_date.edf"))
    window.wait()
    assert isinstance(said[-1], str)
    assert "Run a model" in said[-1]


def test_the_notch_key_takes_the_mains_of_the_recording(opened):
    main = opened(SEIZURE, mains=50.0).main
    main.actions_by_id["toggle_notch"].trigger()
    assert main.session.view.notch == 60.0


def test_the_notch_key_returns_to_the_frequency_last_chosen_where_nothing_hums(opened):
    main = opened("broken/zero_start_date.edf").main
    main.session.change_view(notch=60.0)
    main.actions_by_id["toggle_notch"].trigger()
    assert main.session.view.notch == 0.0
    main.actions_by_id["toggle_notch"].trigger()
    assert main.session.view.notch == 60.0


def test_overlays_come_back_as_they_were_left(shared, qtbot, tmp_path):
    shown = []
    for _ in range(2):
        main = MainWindow(Settings(), None, tmp_path)
        handle = Window(main)
        main.show()
        main.open_recording(str(shared / "recordings" / SEIZURE))
        handle.wait()
        shown.append(main.overlay_panel.states()["annotations"])
        main.overlay_panel.set_visible("annotations", False)
        handle.close()
    assert shown == [True, False]


def test_overlays_are_hidden_while_h_is_held_and_that_is_said(opened, qtbot):
    main = opened(SEIZURE).main
    remark = main.docks["overlays"].heading.findChildren(QLabel)[-1]
    qtbot.keyPress(main, Qt.Key.Key_H)
    assert remark.text() == "hidden"
    qtbot.keyRelease(main, Qt.Key.Key_H)
    assert remark.text() == "hold H to hide"


def test_a_reading_is_cleared_when_the_mouse_leaves(opened):
    main = opened(SEIZURE).main
    main.view.hovered.emit(3.168, "P4-O2", 8.0, "uV")
    assert "P4-O2" in main.status._cursor.text()
    main.view.unhovered.emit()
    assert main.status._cursor.text() == ""


def test_keys_return_to_the_traces_after_a_number_was_entered(opened, shared, qtbot):
    window = opened(SEIZURE)
    parity = shared / "parity/mvpformer"
    window.load_model(str(parity / "tiny_base.pt"), str(parity / "tiny_head.pt"))
    window.wait()
    box = window.main.model_panel.findChild(QSpinBox)
    window.main.activateWindow()
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert not box.hasFocus()


def test_random_weights_are_said_in_the_list_and_of_the_agreement(opened, shared):
    window = opened(SEIZURE)
    parity = shared / "parity/mvpformer"
    window.load_model(str(parity / "tiny_base.pt"), str(parity / "tiny_head.pt"))
    window.wait()
    window.run_model(str(parity / "tiny_base.pt"))
    window.wait(120)
    found = [a for a in window.main.events.items() if a.is_model]
    assert found
    assert all("random weights" in a.author for a in found)
    said = [w.text() for w in window.main.agreement_panel.findChildren(QLabel) if w.isVisibleTo(window.main)]
    assert any("Random weights" in text for text in said)


def test_recent_recordings_are_offered(opened):
    main = opened(SEIZURE).main
    assert [action.text() for action in main.recent.actions()] == ["demo_edf.edf"]


def test_closing_remembers_how_the_window_looked(opened, monkeypatch):
    kept: list[Settings] = []
    window = opened(SEIZURE)
    monkeypatch.setattr(window.main.workplace, "_settings_file", InOrder(kept.append))
    window.set_sensitivity(20)
    window.set_filter(1.0, 35.0, 50.0)
    window.main.runs.set_threshold(0.7)
    window.main.close()
    settings = kept[-1]
    assert (settings.uv_per_mm, settings.highpass, settings.lowpass, settings.notch) == (20.0, 1.0, 35.0, 50.0)
    assert settings.model_events == {"brainmaze": {"threshold": 0.7}}
    assert settings.window_state
    assert Path(settings.recent_files[0]).name == "demo_edf.edf"


def test_a_second_window_on_a_recording_shows_the_same_marks(opened, qtbot):
    window = opened(SEIZURE)
    other = commands.open_new_window(window.main)
    qtbot.waitUntil(lambda: other.session.recording is not None and other.settled(), timeout=30_000)
    mark = other.session.add_annotations([Annotation(3.0, 1.0, "from the other window", author="reader")])[0]
    assert mark in window.main.session.marks.items
    assert mark in window.main.events.items()
    window.main.session.keeper.undo()
    assert mark not in other.session.marks.items
    other.close()
    assert window.main.workplace.windows == [window.main]
    window.main.session.keeper.redo()
    assert mark in window.main.session.marks.items
    window.show(5.0, 10.0)
    window.wait()


def test_resetting_the_view_goes_back_to_that_of_the_first_start(opened):
    window = opened(SEIZURE)
    before = window.main.session.view
    window.set_montage("as recorded")
    window.set_filter(2.0, 15.0, 50.0)
    window.set_sensitivity(100)
    window.main.docks["recording"].hide()
    window.main.actions_by_id["reset_view"].trigger()
    window.wait()
    assert window.main.session.view == before
    assert window.main.docks["recording"].isVisible()


def test_a_window_that_changes_its_size_while_another_recording_opens_asks_for_no_page_of_the_one_before(opened):
    window = opened("broken/edfplus_d_gap.edf")
    main, failures = window.main, []
    main.reading.failed.connect(failures.append)
    # As when panels make room for what is told of the new recording, at every step of its opening.

    def ask_early(*_):
        main.reading.request_page()
        time.sleep(0.2)  # until whoever makes pages has begun

    main.session.opened.connect(ask_early)
    main.reading.opened.connect(ask_early)
    main.session.opened.disconnect(main.reading._show_recording)
    main.session.opened.connect(main.reading._show_recording)  # after the one that asks
    main.open_recording(str(main.session.recording.path.parents[1] / SEIZURE))
    window.wait()
    assert failures == []
    assert main.view.shown_window().start == main.session.window.start
