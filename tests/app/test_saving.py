"""Saving in the real window: what the status line says, the offer after a crash, and the dialog with its changes."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

import pytest
from PyQt6 import sip

from analysis.annotation import Annotation
from analysis.event_tables import read_events, read_marks
from analysis.readers import open_recording
from analysis.results import AnalysisRequest, SeizurePrediction
from app.main_window import MainWindow
from app.mark_keeper import MarkKeeper
from app.saving import kept_words
from app.settings import Settings
from app.testing import Window

SEIZURE = "scalp-seizure-46ch/demo_edf.edf"
OTHER = "scalp-seizure-42ch/scalp_seizure.edf"
SPIKE = Annotation(12.0, 0.0, "spike", ("Fp1",), author="reader")
EVENT = Annotation(17.0, 20.0, "sz", (), 0.94, "model:A")


@pytest.fixture
def opened(shared, qtbot, tmp_path):
    """Opens a recording in real windows that keep marks, and closes them after the test."""
    windows: list[Window] = []

    def open_it(name: str = SEIZURE) -> Window:
        main = MainWindow(Settings(theme="light"), None, tmp_path / "data")
        main.engine.start = lambda: None  # no model is run here
        window = Window(main)
        windows.append(window)
        main.resize(1200, 800)
        main.show()
        main.open_recording(str(shared / "recordings" / name))
        window.wait()
        main.settings.last_folder = str(tmp_path)  # never beside the recordings of the documents' folder
        return window

    yield open_it
    for window in windows:
        window.close()


def _dialog(window: Window, qtbot):
    window.main.actions_by_id["save_marks"].trigger()
    window.wait()
    return window.main.saving.dialog


def _save(window: Window, qtbot) -> None:
    dialog = window.main.saving.dialog
    qtbot.waitUntil(lambda: dialog._save().isEnabled())
    dialog.accept()
    window.wait()


def _kept(window: Window) -> str:
    return window.main.status._kept.text()


def test_marks_are_listed_saved_and_counted(opened, qtbot, tmp_path, shared):
    window = opened()
    keeper = window.main.session.keeper
    assert _kept(window) == "journal on"
    keeper.add([SPIKE], "Mark spike")
    assert _kept(window) == "1 own mark, not saved to a file · journal on"
    moved = keeper.marks.items[2]
    keeper.change(moved, replace(moved, onset=moved.onset + 0.5), "Move")
    keeper.remove([keeper.marks.items[-1]], "Delete")
    assert _kept(window) == "3 changes, not saved to a file · journal on"
    dialog = _dialog(window, qtbot)
    assert dialog.changes.summary.text() == "3 changes that no file holds yet: 1 added, 1 changed, 1 removed"
    assert dialog.changes.model.rowCount() == 3
    assert dialog.target() == tmp_path / "demo_edf_events.tsv"
    assert (dialog.categories["own"].text(), dialog.categories["own"].isChecked()) == ("Your own marks (1)", True)
    assert not dialog.categories["undecided"].isEnabled()
    _save(window, qtbot)
    table = tmp_path / "demo_edf_events.tsv"
    assert list(read_marks(table).events) == list(keeper.marks.items)
    assert table.with_suffix(".json").exists()
    assert _kept(window).startswith("saved ")
    assert window.main.status._message.text() == f"8 marks saved in {table}"
    keeper.undo()
    assert _kept(window).startswith("1 change since ")
    dialog = _dialog(window, qtbot)
    assert dialog.changes.summary.text().startswith("1 change since the save of ")
    assert dialog.target() == table
    qtbot.waitUntil(lambda: "8 rows stay as they are" in dialog.remark.text())
    _save(window, qtbot)
    assert len(read_marks(table).events) == 9
    assert list(tmp_path.glob("*.bak*")) == []  # all that was in it was ours
    assert not (shared / "recordings/scalp-seizure-46ch/demo_edf_events.tsv").exists()


def test_a_dialog_that_is_cancelled_saves_nothing(opened, qtbot, tmp_path):
    window = opened()
    window.main.session.keeper.add([SPIKE], "Mark spike")
    _dialog(window, qtbot).reject()
    assert window.main.saving.dialog is None
    assert _kept(window).startswith("1 own mark, not saved")
    assert not list(tmp_path.glob("*.tsv"))


def test_the_dialog_ends_with_its_recording(opened, qtbot, tmp_path, shared):
    window = opened()
    window.main.session.keeper.add([SPIKE], "Mark spike")
    dialog = _dialog(window, qtbot)
    window.main.open_recording(str(shared / "recordings" / OTHER))
    qtbot.waitUntil(lambda: window.main.saving.dialog is None)
    window.wait()
    assert window.main.session.recording.path.name == Path(OTHER).name
    assert sip.isdeleted(dialog) or not dialog.isVisible()
    assert not list(tmp_path.glob("*.tsv"))


def test_a_save_is_remembered_with_its_recording_although_another_one_has_opened(
    opened, qtbot, tmp_path, shared, monkeypatch
):
    window = opened()
    main = window.main
    main.session.keeper.add([SPIKE], "Mark spike")
    may_write = Event()
    write = main.saving._write

    def write_later(request, progress):
        may_write.wait(20.0)
        return write(request, progress)

    monkeypatch.setattr(main.saving, "_write", write_later)
    dialog = _dialog(window, qtbot)
    qtbot.waitUntil(lambda: dialog._save().isEnabled())
    dialog.accept()
    opened_one = main.session.recording
    main.open_recording(str(shared / "recordings" / OTHER))
    qtbot.waitUntil(lambda: main.session.recording is not opened_one, timeout=10000)
    may_write.set()
    window.wait()
    assert len(read_marks(tmp_path / "demo_edf_events.tsv").events) == 9
    assert main.session.keeper.saved == {}
    main.open_recording(str(shared / "recordings" / SEIZURE))
    qtbot.waitUntil(lambda: main.session.recording.path.name == Path(SEIZURE).name, timeout=10000)
    window.wait()
    assert main.session.keeper.saved["marks"] == 9
    assert _kept(window).startswith("saved ")


def test_a_file_of_others_is_asked_about_and_kept_as_a_backup(opened, qtbot, tmp_path):
    window = opened()
    window.main.session.keeper.add([SPIKE], "Mark spike")
    theirs, letter = tmp_path / "theirs.tsv", tmp_path / "letter.tsv"
    theirs.write_text("onset\tduration\ttrial_type\tvalue\n3\t0\tnoise\t7\n")
    letter.write_text("Dear reader\n")
    dialog = _dialog(window, qtbot)
    dialog.path.setText(str(letter))
    assert not dialog._save().isEnabled()  # until it is known what is in there
    qtbot.waitUntil(lambda: dialog._save().text() == "Replace")
    assert "is no table of events" in dialog.remark.text()
    dialog.path.setText(str(theirs))
    qtbot.waitUntil(lambda: not dialog.strangers.isHidden())
    assert dialog._save().text() == "Save"
    for category in ("file", "accepted", "rejected"):
        dialog.categories[category].setChecked(False)
    _save(window, qtbot)
    assert [(m.description, m.extras) for m in read_marks(theirs).events] == [
        ("noise", (("value", "7"),)),
        ("spike", ()),
    ]
    assert (tmp_path / "theirs.tsv.bak").read_text().endswith("3\t0\tnoise\t7\n")
    assert "theirs.tsv.bak" in window.main.status._message.text()
    assert letter.read_text() == "Dear reader\n"


def test_a_table_that_was_opened_keeps_its_rows(opened, qtbot, tmp_path):
    window = opened()
    keeper = window.main.session.keeper
    table = tmp_path / "theirs.tsv"
    text = "onset\tduration\ttrial_type\tvalue\n1\t0\tnoise\t7\n3\t0\tnoise\t7\n3\t0\tnoise\t7\n"
    table.write_text(text)

    def save(*dropped: str) -> int:
        dialog = _dialog(window, qtbot)
        dialog.path.setText(str(table))
        for category in dropped:
            dialog.categories[category].setChecked(False)
        qtbot.waitUntil(lambda: "This table exists" in dialog.remark.text())
        _save(window, qtbot)
        return len(read_marks(table).events)

    keeper.add([SPIKE], "Mark spike")
    n_before = len(keeper.marks)
    window.main.opener.read_events(str(table), window.main.session.recording)
    window.wait()
    assert len(keeper.marks) == n_before + 3
    assert _kept(window) == "1 own mark, not saved to a file · journal on"  # what was opened is in a file already
    assert save("file") == 4
    assert [row.split("\t")[:4] for row in table.read_text().splitlines()[:4]] == [
        row.split("\t") for row in text.splitlines()
    ]
    assert save() == n_before + 3
    first = next(mark for mark in keeper.marks.items if mark.author == "theirs.tsv")
    keeper.change(first, replace(first, onset=2.5), "Move")
    assert _kept(window).startswith("1 change since")
    assert save() == n_before + 3
    assert sorted(m.onset for m in read_marks(table).events if m.description == "noise") == [2.5, 3.0, 3.0]
    keeper.remove([next(m for m in keeper.marks.items if m.onset == 3.0 and m.description == "noise")], "Delete")
    assert save() == n_before + 2
    window.main.opener.read_events(str(table), window.main.session.recording)
    window.wait()
    assert [mark.description for mark in keeper.marks.items].count("noise") == 2


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("{recording}", "This is the recording itself"),
        ("{folder}", "Name a file"),
        ("", "Name a file"),
        ("{folder}/marks.txt", "Let the name end in"),
        ("{folder}/none/marks.tsv", "There is no folder"),
    ],
)
def test_places_that_cannot_be_meant_are_refused(opened, qtbot, tmp_path, shared, path, fault):
    dialog = _dialog(opened(), qtbot)
    dialog.path.setText(path.format(recording=shared / "recordings" / SEIZURE, folder=tmp_path))
    assert dialog.remark.text().startswith(fault)
    assert not dialog._save().isEnabled()


def test_marks_go_into_a_copy_of_the_recording(opened, qtbot, tmp_path):
    window = opened()
    keeper = window.main.session.keeper
    keeper.add([SPIKE, replace(SPIKE, onset=20.0, confidence=0.5)], "Mark spikes")
    keeper.decide(EVENT, "accepted")
    dialog = _dialog(window, qtbot)
    dialog.format.setCurrentIndex(dialog.format.findData(".edf"))
    assert dialog.target() == tmp_path / "demo_edf_marked.edf"
    assert not dialog.anonymize.isHidden()
    _save(window, qtbot)
    with open_recording(tmp_path / "demo_edf_marked.edf") as copy:
        told = [(a.onset, a.description, a.ch_names, a.author) for a in copy.annotations if a.author != "file"]
        spikes = [(a.onset, a.ch_names) for a in copy.annotations if a.description == "spike"]
    assert told == [(17.0, "sz", (), "model:A")]
    assert spikes == [(12.0, ("Fp1",)), (20.0, ("Fp1",))]
    # What the copy cannot hold is not saved yet.
    assert {c.after.onset for c in keeper.book.history.unsaved_changes()} == {17.0, 20.0}
    assert "save a table as well" in window.main.notices.text.text()


def test_events_of_a_model_are_saved_by_whoever_marked_nothing(opened, qtbot, tmp_path):
    window = opened()
    session = window.main.session
    request = AnalysisRequest("seizure", session.recording.id, ())
    session.set_prediction(SeizurePrediction(request, "", "", events=(EVENT, replace(EVENT, onset=40.0, duration=3.0))))
    window.wait()
    dialog = _dialog(window, qtbot)
    assert dialog.categories["undecided"].text() == "Model events that nobody has decided on (2)"
    assert dialog.categories["undecided"].isChecked()
    dialog.categories["file"].setChecked(False)
    _save(window, qtbot)
    saved = read_events(tmp_path / "demo_edf_events.tsv")
    assert [(e.onset, e.stop, e.author) for e in saved.events] == [(17.0, 37.0, "model:A"), (40.0, 43.0, "model:A")]
    assert saved.duration == 45.0
    session.keeper.decide(EVENT, "accepted")
    dialog = _dialog(window, qtbot)
    assert not dialog.categories["undecided"].isChecked()
    assert dialog.categories["undecided"].text().endswith("(1)")
    assert dialog.categories["accepted"].isChecked()


def test_without_a_recording_there_is_nothing_to_save(qtbot, tmp_path):
    main = MainWindow(Settings(), None, tmp_path)
    window = Window(main)
    main.actions_by_id["save_marks"].trigger()
    assert main.status._message.text() == "open a recording first"
    assert main.saving.dialog is None
    window.close()


KILLED = """
import sys
from pathlib import Path
from PyQt6.QtCore import QCoreApplication
from analysis.annotation import Annotation
from analysis.readers import open_recording
from app.mark_keeper import MarkShelf
application = QCoreApplication([])
shelf = MarkShelf(folder=Path(sys.argv[1]))
recording = open_recording(sys.argv[2])
keeper = shelf.take(recording.id, recording)
for onset in (12.0, 20.0, 21.0):
    keeper.add([Annotation(onset, 0.0, "spike", ("Fp1",), author="reader")], "Mark spike")
keeper.undo()
print("+", flush=True)
application.exec()
"""


@pytest.mark.parametrize("answer", ["keep", "leave_out", "save"])
def test_a_killed_program_has_lost_nothing_and_the_reader_is_asked(opened, qtbot, tmp_path, shared, answer):
    root, recording = Path(__file__).parents[2], shared / "recordings" / SEIZURE
    command = [sys.executable, "-c", KILLED, tmp_path / "data/marks", recording]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"+\n"
        program.kill()
    window = opened()
    notices, keeper = window.main.notices, window.main.session.keeper
    assert notices.isVisible()
    assert notices.text.text().startswith("The program ended before this recording was closed. 4 steps, the last of ")
    assert notices.text.text().endswith(" were kept: 2 marks added.")
    assert window.main.actions_by_id["undo_edit"].text() == "Undo: Mark spike"
    assert notices.leave_out.text() == "Start from the file"
    assert len(keeper.marks) == 10
    if answer == "save":
        notices.save.click()
        assert window.main.saving.dialog is not None
        window.main.saving.dialog.reject()
        assert notices.isVisible()
    else:
        getattr(notices, answer).click()
        assert not notices.isVisible()
        assert len(keeper.marks) == (10 if answer == "keep" else 8)
    if answer == "leave_out":
        window.main.actions_by_id["undo_edit"].trigger()
        assert len(keeper.marks) == 10


def test_a_second_program_is_told_that_it_marks_apart(opened, qtbot):
    opened().main.session.keeper.add([SPIKE], "Mark spike")
    window = opened()  # with a workplace of its own, as another program has
    assert "has the marks of this recording open" in window.main.notices.text.text()
    assert _kept(window) == "1 own mark, not saved to a file · journal on, kept apart"
    assert not window.main.actions_by_id["undo_edit"].isEnabled()


def test_undo_and_redo_are_offered_after_a_restart(opened, qtbot):
    window = opened()
    keeper = window.main.session.keeper
    keeper.add([SPIKE], "Mark spike")
    keeper.add([replace(SPIKE, onset=20.0)], "Mark another")
    keeper.undo()
    window.main.session.close()
    window = opened()
    assert not window.main.notices.isVisible()
    undo, redo = (window.main.actions_by_id[name] for name in ("undo_edit", "redo_edit"))
    assert (undo.text(), redo.text()) == ("Undo: Mark spike", "Redo: Mark another")
    undo.trigger()
    assert len(window.main.session.marks) == 8
    assert _kept(window) == "journal on"


def test_the_status_line_says_what_is_amiss() -> None:
    keeper = MarkKeeper()
    assert kept_words(keeper)[0] == ""
    keeper.add([SPIKE, replace(SPIKE, onset=1.0)], "Mark spikes")
    assert kept_words(keeper)[0] == "2 own marks, not saved to a file"
    keeper.mark_saved({"path": "x"})
    now = datetime.now(UTC).astimezone()
    assert kept_words(keeper)[0] in (f"saved {now:%H:%M}", f"saved {now.replace(minute=(now.minute - 1) % 60):%H:%M}")
    keeper.saved["saved"] = "2001-02-03T04:05:06Z"
    assert kept_words(keeper)[0].startswith(("saved 3 Feb ", "saved 2 Feb ", "saved 4 Feb "))
