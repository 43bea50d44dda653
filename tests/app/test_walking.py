"""A table of recordings in the real window: made by predict, opened in every way, and walked from one to the next."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from PyQt6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PyQt6.QtGui import QDropEvent
from PyQt6.QtWidgets import QFileDialog, QMessageBox

from analysis.corpus_table import TABLE, Row, read_table, write_table
from app import terminal
from app.cli import main as command
from app.corpus import Asked, predict_corpus
from app.corpus_panel import CorpusPanel, corpus_words
from app.settings import Settings
from app.testing import Window, open_window

SCALP = ("scalp-seizure-46ch/demo_edf.edf", "scalp-seizure-42ch/scalp_seizure.edf", "broken/truncated_last_record.edf")


@pytest.fixture(scope="module")
def corpus(shared: Path, tmp_path_factory) -> Path:
    """A folder of results: one recording with marked seizures, one without, one that is too short for the model."""
    out = tmp_path_factory.mktemp("corpus")
    sources = [shared / "recordings" / name for name in SCALP]
    predict_corpus(sources, Asked("random:axon:tiny", stop=40.0, device="cpu", threshold=0.4), out)
    return out


@pytest.fixture
def table(corpus: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    shutil.copytree(corpus, tmp_path / "copy")
    return tmp_path / "copy" / TABLE


@pytest.fixture
def window(table: Path, qtbot) -> Window:
    window = open_window(table, (1400, 860), Settings(theme="light"))
    qtbot.waitUntil(lambda: window.main.walking.table is not None)
    window.wait()
    yield window
    window.close()


def said(window: Window) -> str:
    return window.main.status._message.text()


def walk(window: Window, action: str, qtbot) -> str:
    """The name of the recording that an action leads to."""
    session = window.main.session
    with qtbot.waitSignal(session.opened, timeout=30_000):
        window.main.actions_by_id[action].trigger()
    window.wait()
    qtbot.wait(20)
    window.wait()
    return session.recording.path.name


def test_each_recording_comes_with_what_the_model_found(window: Window, table: Path, qtbot):
    main, rows = window.main, read_table(table)
    assert main.session.recording is None
    assert main.docks["recordings"].isVisible()
    assert walk(window, "next_recording", qtbot) == "demo_edf.edf"
    prediction = main.session.prediction
    assert prediction is not None
    assert (len(prediction.events), main.runs.threshold) == (rows[0].events, 0.4)
    assert prediction.random_weights
    assert main.view.probability_lane._prediction.times.tolist() == [0.0, 10.0, 20.0, 30.0]
    assert any(mark.is_model for mark in main.queue.live)
    assert walk(window, "next_recording", qtbot) == "scalp_seizure.edf"
    assert walk(window, "next_recording", qtbot) == "truncated_last_record.edf"
    assert main.session.prediction is None
    assert said(window) == rows[2].reason
    main.actions_by_id["next_recording"].trigger()
    assert said(window) == "no recording after this one"
    assert walk(window, "previous_recording", qtbot) == "scalp_seizure.edf"
    assert main.corpus_panel.table.line == 1


def test_an_event_of_the_folder_is_reviewed_as_any_other(window: Window, qtbot):
    walk(window, "next_recording", qtbot)
    main = window.main
    main.actions_by_id["next_to_review"].trigger()
    main.actions_by_id["accept_event"].trigger()
    accepted = [mark for mark in main.session.marks.items if mark.review.decision == "accepted"]
    assert [mark.is_model for mark in accepted] == [True]


def test_enter_and_a_double_click_open_what_they_are_on(window: Window, qtbot):
    main, table = window.main, window.main.corpus_panel.table
    table.setFocus()
    table.choose(1)
    with qtbot.waitSignal(main.session.opened, timeout=30_000):
        qtbot.keyClick(table, Qt.Key.Key_Return)
    window.wait()
    assert main.session.recording.path.name == "scalp_seizure.edf"
    with qtbot.waitSignal(main.session.opened, timeout=30_000):
        table.doubleClicked.emit(table.lines.index(0, 0))
    window.wait()
    assert main.session.recording.path.name == "demo_edf.edf"
    assert table.place == 0


def test_the_place_is_kept_whatever_is_listed_and_when_the_table_is_opened_again(window: Window, table: Path, qtbot):
    main, panel = window.main, window.main.corpus_panel
    walk(window, "next_recording", qtbot)
    walk(window, "next_recording", qtbot)
    panel.table._on_heading(0)
    panel.table._on_heading(0)
    assert (panel.table.place, panel.table.line) == (1, 1)
    panel.search.setText("IZURE")
    assert (panel.table.place, panel.table.line) == (1, 0)
    assert main.docks["recordings"].heading._remark.text() == "1 of 3"
    panel.filter.setCurrentText("Failed")
    assert panel.table.place is None
    panel.search.clear()
    assert walk(window, "next_recording", qtbot) == "truncated_last_record.edf"
    assert main.settings.table_places == {str(table): "truncated_last_record"}
    panel.filter.setCurrentText("All")
    with qtbot.waitSignal(main.walking.table_opened):
        main.open_recording(str(table))
    assert panel.table.place == 2


def test_a_recording_that_is_gone_is_a_sentence_and_the_way_goes_on(window: Window, table: Path, qtbot):
    rows = read_table(table)
    write_table([replace(rows[0], recording="/nowhere/gone.edf"), *rows[1:]], table)
    main = window.main
    with qtbot.waitSignal(main.walking.table_opened):
        main.open_recording(str(table))
    with qtbot.waitSignal(main.walking.told):
        main.actions_by_id["next_recording"].trigger()
    assert said(window) == "the recording is no longer there (/nowhere/gone.edf): put it back, or go on to the next"
    assert walk(window, "next_recording", qtbot) == "scalp_seizure.edf"
    assert main.session.prediction is not None


def test_results_of_another_state_of_the_recording_are_not_shown(window: Window, table: Path, qtbot):
    run = table.parent / "scalp_seizure" / "run.json"
    recorded = window.main.session
    walk(window, "next_recording", qtbot)
    run.write_text((table.parent / "demo_edf" / "run.json").read_text())
    walk(window, "next_recording", qtbot)
    assert recorded.prediction is None
    assert "has changed since the model ran" in said(window)
    run.unlink()
    walk(window, "previous_recording", qtbot)
    walk(window, "next_recording", qtbot)
    assert recorded.prediction is None
    assert said(window).startswith("no results are there (")


def test_paths_are_looked_for_beside_the_table(window: Window, shared: Path, table: Path, qtbot):
    rows = read_table(table)
    (table.parent / "files").mkdir()
    shutil.copy(shared / "recordings" / SCALP[0], table.parent / "files" / "demo.edf")
    write_table([replace(rows[0], recording="files/demo.edf")], table)
    with qtbot.waitSignal(window.main.walking.table_opened):
        window.main.open_recording(str(table))
    assert walk(window, "next_recording", qtbot) == "demo.edf"
    assert window.main.session.prediction is not None


def test_a_table_is_opened_by_menu_and_by_dropping_it(qtbot, corpus: Path, shared: Path, monkeypatch):
    window = open_window(shared / "recordings" / SCALP[0], (1400, 860), Settings(theme="light"))
    window.wait()
    main = window.main
    assert not main.docks["recordings"].isVisible()
    main.actions_by_id["next_recording"].trigger()
    assert "opens a table of recordings" in said(window)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(corpus / TABLE))])
    button, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    drop = QDropEvent(QPointF(QPoint(9, 9)), Qt.DropAction.CopyAction, data, button, keys)
    with qtbot.waitSignal(main.walking.table_opened):
        main.dropEvent(drop)
    assert main.session.recording.path.name == "demo_edf.edf"  # stays until the reader goes on
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(corpus / TABLE), ""))
    with qtbot.waitSignal(main.walking.table_opened):
        main.actions_by_id["open_table"].trigger()
    assert main.settings.recent_files[0] == str(corpus / TABLE)
    window.close()


def test_what_is_no_table_is_a_sentence(window: Window, tmp_path: Path, qtbot):
    wrong = tmp_path / "recordings.tsv"
    wrong.write_text("onset\tduration\n")
    with qtbot.waitSignal(window.main.walking.failed):
        window.main.open_recording(str(wrong))
    (box,) = [box for box in window.main.findChildren(QMessageBox) if box.isVisible()]
    assert box.text().startswith("not a table of recordings (")
    box.close()
    assert window.main.corpus_panel.table.lines.rowCount() == 3


def test_a_table_on_the_command_line(corpus: Path, tmp_path: Path, monkeypatch, capsys):
    opened = []
    monkeypatch.setattr("app.start.run_window", lambda opening: opened.append(opening.recording) or 0)
    assert command([str(corpus / TABLE)]) == 0
    assert opened == [str(corpus / TABLE)]
    (tmp_path / TABLE).write_text("nothing\n")
    assert command([str(tmp_path / TABLE)]) == 1
    assert "not a table of recordings" in capsys.readouterr().err
    assert callable(terminal.window)


def test_ten_thousand_recordings_are_listed_sorted_and_filtered(qtbot):
    rows = [Row(f"/a/{i}.edf", f"sub-{i:05}", "done", "", 60.0 + i, i % 7, 1, i % 2, i % 5, 1.0) for i in range(10_000)]
    panel = CorpusPanel()
    qtbot.addWidget(panel)
    panel.resize(320, 500)
    panel.show()
    panel.show_rows(rows, "sub-09000")
    assert panel.table.place == 9000
    assert not panel.table.visualRect(panel.table.currentIndex()).isEmpty()
    panel.table._on_heading(5)
    panel.table._on_heading(5)
    assert panel.table.lines.row(0).folder == "sub-09999"
    assert panel.table.place == 9000
    panel.filter.setCurrentText("With missed seizures")
    assert panel.table.lines.rowCount() == 5000
    assert panel.step(1)
    assert panel.table.lines.row(panel.table.line).folder == "sub-08998"
    assert corpus_words(rows).startswith("10,000 of 10,000 predicted; 5,000 of 10,000 marked seizures found, ")
    assert corpus_words([]).startswith("Open the recordings.tsv")
    assert corpus_words([Row("a", "a", "failed", "why")]) == "0 of 1 predicted; none was scored"
