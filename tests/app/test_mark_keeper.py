"""Marks on disk: there before anybody sees them, there again after any end, and shared without loss."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.annotation import Annotation, Review, number_annotations
from analysis.event_tables import read_marks
from analysis.marks import Marks
from analysis.recording import Channel, Recording
from analysis.review.edits import split_edit
from analysis.review.journal_reading import read_journal
from analysis.review.mark_tables import MarkTable
from app.mark_keeper import MarkKeeper, MarkShelf

ID = "0123456789abcdef"
SPIKE = Annotation(3.0, 0.0, "spike", ("Fp1",), author="reader")
EVENT_OF_FILE = Annotation(5.0, 10.0, "sz", author="theirs.tsv")
EVENT = Annotation(5.0, 10.0, "sz", (), 0.75, "model:A")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "marks"


@pytest.fixture
def shelves(qtbot, folder: Path) -> Iterator[list[MarkShelf]]:
    """Shelves of this test; the first one is open."""
    made = [MarkShelf(folder=folder)]
    yield made
    for shelf in made:
        shelf.close()


@pytest.fixture
def recording(array_recording) -> Recording:
    recording = array_recording([Channel("Fp1", "Fp1", "eeg", "uV", 10.0)], np.zeros((1, 6000)), 10.0)
    recording.id = ID
    return recording


def _file_marks() -> Marks:
    marks = [Annotation(float(i), 1.0, text) for i, text in enumerate(("sz", "eyes open", "eyes open"))]
    number_annotations(marks)
    return Marks.of(marks)


def _begin(shelf: MarkShelf, recording: Recording, read: bool = True) -> MarkKeeper:
    keeper = shelf.take(ID, recording)
    keeper.set_file_marks(_file_marks())
    if read:
        keeper.ready()
    return keeper


def _die(shelf: MarkShelf) -> None:
    """End as a program does that is killed: nothing more is written, and its locks hold no one."""
    for keeper, _ in shelf._keepers.values():
        disk = keeper._disk
        disk._rest_timer.stop()
        disk._sync_timer.stop()
        if disk._journal._file is not None:
            os.close(disk._journal._file)
            disk._journal._file = None
        disk._lock.unlock()
    shelf._keepers.clear()


def _texts(keeper: MarkKeeper) -> list[tuple[float, str]]:
    return [(mark.onset, mark.description) for mark in keeper.marks.items]


def test_a_step_is_on_disk_before_it_is_told(shelves, folder: Path, recording) -> None:
    keeper = _begin(shelves[0], recording)
    found: list[int] = []
    keeper.changed.connect(lambda _marks: found.append(len(read_journal(folder / f"{ID}.journal").history.done)))
    mark = keeper.add([SPIKE], "Mark spike")[0]
    keeper.change(mark, replace(mark, onset=4.0), "Move spike")
    keeper.undo()
    keeper.redo()
    assert found == [1, 2, 1, 2]


def test_marks_and_steps_are_there_again_after_the_window_was_closed(shelves, recording) -> None:
    keeper = _begin(shelves[0], recording)
    first = keeper.marks.items[0]
    keeper.change(first, replace(first, onset=9.0), "Move")
    keeper.add([SPIKE], "Mark spike")
    keeper.decide(EVENT, "accepted")
    keeper.undo()
    expected = _texts(keeper)
    shelves[0].give_back(ID)
    keeper = _begin(shelves[0], recording)
    assert _texts(keeper) == expected
    assert keeper.recovered is None
    assert keeper.redo() is not None
    assert keeper.marks.items[-2].review.decision == "accepted"
    for _ in range(3):
        keeper.undo()
    assert _texts(keeper) == [(mark.onset, mark.description) for mark in _file_marks().items]


def test_the_first_edit_waits_for_what_is_on_disk(shelves, recording) -> None:
    keeper = _begin(shelves[0], recording)
    keeper.add([SPIKE], "Mark spike")
    shelves[0].give_back(ID)
    keeper = _begin(shelves[0], recording, read=False)
    keeper.add([replace(SPIKE, onset=8.0)], "Mark spike")
    assert [mark.onset for mark in keeper.marks.items if mark.description == "spike"] == [3.0, 8.0]
    assert len({mark.id for mark in keeper.marks.items}) == len(keeper.marks)


def test_reading_happens_in_the_background(qtbot, shelves, recording) -> None:
    keeper = _begin(shelves[0], recording)
    keeper.add([SPIKE], "Mark spike")
    shelves[0].give_back(ID)
    keeper = _begin(shelves[0], recording, read=False)
    assert not keeper.is_ready
    qtbot.waitUntil(lambda: keeper.is_ready)
    assert len(keeper.marks) == 4


@pytest.mark.parametrize("answer", ["keep", "leave out", "go on"])
def test_what_a_dead_session_did_is_there_and_offered(shelves, folder: Path, recording, answer: str) -> None:
    keeper = _begin(shelves[0], recording)
    keeper.add([replace(SPIKE, onset=1.0)], "Mark spike")
    shelves[0].give_back(ID)
    keeper = _begin(shelves[0], recording)
    mark = keeper.add([SPIKE], "Mark spike")[0]
    keeper.remove([keeper.marks.items[0]], "Delete")
    keeper.decide(mark, "rejected")
    keeper.undo()
    before = _texts(keeper)
    _die(shelves[0])
    keeper = _begin(shelves[0], recording)
    assert _texts(keeper) == before
    assert keeper.recovered is not None
    recovered = keeper.recovered
    assert (len(recovered.changes), recovered.steps, recovered.from_file) == (2, 4, False)
    if answer == "keep":
        keeper.keep_recovered()
    elif answer == "leave out":
        keeper.take_back_recovered()
        assert [mark.onset for mark in keeper.marks.items] == [0.0, 1.0, 1.0, 2.0]
        keeper.undo()
        assert _texts(keeper) == before
    else:
        keeper.add([SPIKE], "Mark spike")
        before = _texts(keeper)
    assert keeper.recovered is None
    _die(shelves[0])
    keeper = _begin(shelves[0], recording)
    assert _texts(keeper) == before
    assert (keeper.recovered is None) == (answer != "go on")


def test_a_mark_that_a_dead_session_took_back_was_removed_by_it(shelves, recording) -> None:
    keeper = _begin(shelves[0], recording)
    for onset in (1.0, 2.0):
        keeper.add([replace(SPIKE, onset=onset)], "Mark spike")
    _die(shelves[0])
    keeper = _begin(shelves[0], recording)
    assert keeper.recovered is not None
    assert keeper.recovered.from_file
    keeper.keep_recovered()
    keeper.undo()
    _die(shelves[0])
    recovered = _begin(shelves[0], recording).recovered
    assert recovered is not None
    assert [change.after for change in recovered.changes] == [None]
    assert recovered.steps == 1
    assert not recovered.from_file  # before it there was a mark more than there is in the file


def test_a_session_that_is_closed_without_an_answer_has_gone_on(shelves, recording) -> None:
    keeper = _begin(shelves[0], recording)
    keeper.add([SPIKE], "Mark spike")
    _die(shelves[0])
    assert _begin(shelves[0], recording).recovered is not None
    shelves[0].give_back(ID)
    assert _begin(shelves[0], recording).recovered is None


def _sidecar_marks(count: int) -> list[Annotation]:
    return [Annotation(float(i % 500), 0.0, "x", author="sidecar") for i in range(count)]


def _no_other_thread(_work, _then) -> None:
    """A background of windows, which those who have a disk have no use for."""
    raise AssertionError


def test_very_many_marks_are_written_in_the_background(qtbot, shelves, folder: Path, recording) -> None:
    keeper = _begin(shelves[0], recording)
    assert keeper.add(_sidecar_marks(6000), "Import", _no_other_thread) == ()
    keeper.add([SPIKE], "Mark spike")  # meanwhile
    assert not keeper.is_ready
    assert len(keeper.marks) == 4
    qtbot.waitUntil(lambda: keeper.is_ready)
    assert len(keeper.marks) == 6004
    assert len({mark.id for mark in keeper.marks.items}) == 6004
    history = read_journal(folder / f"{ID}.journal").history
    assert [edit.label for edit in history.done] == ["Mark spike", "Import"]
    assert sum(mark is not None for mark in history.states.values()) == 6001
    assert (len(keeper.book.history.unsaved), len(keeper.book.history.in_no_file)) == (6001, 1)


def test_marks_of_other_files_are_in_a_file_until_they_are_changed(shelves, recording) -> None:
    keeper = _begin(shelves[0], recording)
    history = keeper.book.history
    mark, other = keeper.add([EVENT_OF_FILE, replace(EVENT_OF_FILE, onset=50.0)], "Add events")
    assert (len(history.unsaved), history.in_no_file) == (2, set())
    keeper.do(split_edit(mark, 10.0, keeper.book.number))
    assert (len(history.unsaved), len(history.in_no_file)) == (3, 2)
    keeper.undo()
    assert history.in_no_file == set()
    keeper.decide(other, "accepted")
    assert history.in_no_file == {other.id}
    keeper.mark_saved({"path": "x"}, {mark.id})
    assert (history.unsaved, history.in_no_file) == ({mark.id}, set())
    shelves[0].give_back(ID)
    history = _begin(shelves[0], recording).book.history
    assert (history.unsaved, history.in_no_file) == ({mark.id}, set())


def test_very_many_marks_are_undone_in_the_background(qtbot, shelves, recording) -> None:
    keeper = _begin(shelves[0], recording)
    keeper.add(_sidecar_marks(6000), "Import")
    assert keeper.undo().label == "Import"
    assert len(keeper.marks) == 6003  # still
    qtbot.waitUntil(lambda: keeper.is_ready)
    assert len(keeper.marks) == 3
    assert keeper.redo().label == "Import"
    keeper.add([SPIKE], "Mark spike")  # after it, whatever has come of it yet
    assert len(keeper.marks) == 6004
    keeper.undo()
    assert keeper.undo().label == "Import"
    assert keeper.undo() is None
    assert len(keeper.marks) == 3
    qtbot.wait(50)
    assert len(keeper.marks) == 3
    assert not keeper.book.history.unsaved


@pytest.mark.parametrize("end", ["closed", "another recording", "and back"])
@pytest.mark.parametrize("compared", [False, True])
def test_very_many_marks_outlive_the_window(qtbot, shelves, recording, end: str, compared: bool) -> None:
    keeper = _begin(shelves[0], recording)
    add = keeper.add_missing if compared else keeper.add
    add(_sidecar_marks(6000), "Import", _no_other_thread)
    assert not keeper.is_ready
    if end == "closed":
        shelves[0].close()
        shelves.append(MarkShelf(folder=shelves[0]._folder))
    else:
        shelves[0].give_back(ID)
        if end == "another recording":
            qtbot.waitUntil(lambda: ID not in shelves[0]._keepers)
    keeper = _begin(shelves[-1], recording)
    qtbot.waitUntil(lambda: keeper.is_ready)
    assert len(keeper.marks) == 6003
    assert keeper.book.undo_label == "Import"
    assert keeper.recovered is None


def test_the_table_of_very_many_marks_keeps_nobody_waiting(
    qtbot, shelves, folder: Path, recording, monkeypatch
) -> None:
    def never_done(_table: MarkTable, _marks: object, check: Callable[[], None]) -> str:
        while True:  # as on a slow disk, until nobody wants it any more
            check()
            time.sleep(0.005)

    table = folder / f"{ID}_events.tsv"
    keeper = _begin(shelves[0], recording)
    with monkeypatch.context() as slow:
        slow.setattr(MarkTable, "format", never_done)
        keeper.add(_sidecar_marks(6000), "Import")
        shelves[0].close()
    assert not table.exists()
    assert read_journal(folder / f"{ID}.journal").is_table_behind
    shelves.append(MarkShelf(folder=folder))
    keeper = shelves[1].take(ID, recording)
    keeper.ready()
    keeper.set_file_marks(_file_marks())
    qtbot.waitUntil(lambda: keeper.is_ready)
    qtbot.waitUntil(table.exists, timeout=20_000)
    assert list(read_marks(table).events) == list(keeper.marks.items)
    shelves[1].give_back(ID)
    assert not read_journal(folder / f"{ID}.journal").is_table_behind


@pytest.mark.parametrize("in_background", [False, True])
def test_a_file_that_is_read_again_adds_nothing(qtbot, shelves, recording, in_background: bool) -> None:
    keeper = _begin(shelves[0], recording)
    told: list[tuple[int, int]] = []
    background = _no_other_thread if in_background else None
    events = [Annotation(float(i // 2), 0.0, "x", author="sidecar") for i in range(6000 if in_background else 6)]
    same = [replace(event, extras=(("value", "n/a"),)) for event in events]  # a column that came later
    for read, added in ((events, len(events)), (events, 0), (same, 0), ([*events, events[0], SPIKE], 2)):
        keeper.add_missing(read, "Add events", background, lambda *counts: told.append(counts))
        qtbot.waitUntil(lambda: keeper.is_ready)
        assert told.pop() == (added, len(read))
    assert len(keeper.marks) == 3 + len(events) + 2


def test_only_marks_of_the_reader_say_when_they_were_made(shelves, recording) -> None:
    keeper = _begin(shelves[0], recording)
    added = keeper.add([SPIKE, replace(SPIKE, author="sidecar"), replace(EVENT, review=Review(created="then"))], "Add")
    assert [bool(mark.review.created) for mark in added] == [True, False, True]


def test_a_table_for_other_programs_follows_within_two_seconds(qtbot, shelves, folder: Path, recording) -> None:
    keeper = _begin(shelves[0], recording)
    keeper.add([SPIKE], "Mark spike")
    table = folder / f"{ID}_events.tsv"
    qtbot.waitUntil(table.exists, timeout=10_000)
    assert list(read_marks(table).events) == list(keeper.marks.items)
    keeper.undo()
    shelves[0].give_back(ID)  # at once, when the window closes
    assert [mark.description for mark in read_marks(table).events] == ["sz", "eyes open", "eyes open"]


def test_a_second_program_marks_apart_and_nothing_is_lost(shelves, folder: Path, recording) -> None:
    first = _begin(shelves[0], recording)
    first.add([SPIKE], "Mark spike")
    shelves.append(MarkShelf(folder=folder))
    second = _begin(shelves[1], recording)
    assert (first.apart, second.apart) == (False, True)
    assert f"another program (process {os.getpid()}) has the marks of this recording open" in second.notes[0]
    assert _texts(second) == _texts(first)
    assert second.book.undo_label == ""
    second.add([replace(SPIKE, onset=7.0)], "Mark spike")
    moved = second.marks.items[0]
    second.change(moved, replace(moved, duration=5.0), "Lengthen")
    other = next(mark for mark in second.marks.items if mark.description == "spike")
    second.change(other, replace(other, onset=3.5), "Move")
    mine = next(mark for mark in first.marks.items if mark.description == "spike")
    first.change(mine, replace(mine, onset=2.5), "Move")  # both move it: both are kept
    first.add([replace(SPIKE, onset=8.0)], "Mark spike")
    shelves[1].give_back(ID)
    shelves[0].give_back(ID)
    keeper = _begin(shelves[0], recording)
    assert [mark.onset for mark in keeper.marks.items if mark.description == "spike"] == [2.5, 3.5, 7.0, 8.0]
    assert keeper.marks.items[0].duration == 5.0
    assert keeper.notes == ["3 changes of a second window joined these marks"]
    keeper.undo()
    assert [mark.onset for mark in keeper.marks.items if mark.description == "spike"] == [2.5, 8.0]
    keeper.redo()
    shelves[0].give_back(ID)
    again = _begin(shelves[0], recording)
    assert (len(again.marks), again.notes) == (7, [])
    assert [path.name for path in folder.glob("*taken-over")] == [f"{ID}-2.journal.taken-over"]


def test_windows_of_one_program_share_a_journal(shelves, recording) -> None:
    first = _begin(shelves[0], recording)
    second = _begin(shelves[0], recording)
    assert second is first
    first.add([SPIKE], "Mark spike")
    shelves[0].give_back(ID)
    assert ID in shelves[0]._keepers
    shelves[0].give_back(ID)
    assert ID not in shelves[0]._keepers


def test_marks_of_a_file_that_has_changed_are_kept_as_own_marks(shelves, recording) -> None:
    keeper = _begin(shelves[0], recording)
    first, _, third = keeper.marks.items
    keeper.change(first, replace(first, onset=0.5), "Move")
    keeper.change(third, replace(third, onset=2.5), "Move")
    shelves[0].give_back(ID)
    keeper = shelves[0].take(ID, recording)
    others = [Annotation(0.25, 1.0, "sz"), Annotation(2.0, 1.0, "eyes open")]
    number_annotations(others)
    keeper.ready()
    keeper.set_file_marks(Marks.of(others))
    assert _texts(keeper) == [(0.25, "sz"), (0.5, "sz"), (2.5, "eyes open")]
    assert keeper.notes == [
        "1 mark that was changed here is no longer in the recording's file: kept as marks of your own"
    ]
    keeper.undo()
    keeper.undo()
    assert _texts(keeper) == [(0.25, "sz"), (2.0, "eyes open")]


def test_marks_of_a_file_that_had_other_contents_are_told_of(qtbot, shelves, folder: Path, recording) -> None:
    keeper = _begin(shelves[0], recording)
    keeper.add([SPIKE], "Mark spike")
    shelves[0].give_back(ID)
    changed = shelves[0].take("another id", recording)  # of the same place
    changed.ready()
    table = folder / f"{ID}_events.tsv"
    assert [note.partition(": they are in ")[2].partition(",")[0] for note in changed.notes] == [str(table)]
    assert len(read_marks(table).events) == 4
    assert len(changed.marks) == 0


def test_a_damaged_journal_is_set_aside_and_told_of(shelves, folder: Path, recording) -> None:
    keeper = _begin(shelves[0], recording)
    keeper.add([SPIKE], "Mark spike")
    keeper.add([replace(SPIKE, onset=7.0)], "Mark spike")
    shelves[0].give_back(ID)
    journal = folder / f"{ID}.journal"
    journal.write_bytes(journal.read_bytes().replace(b'"onset":3.0', b'"onset":4.0'))
    keeper = _begin(shelves[0], recording)
    assert [mark.onset for mark in keeper.marks.items if mark.description == "spike"] == [7.0]
    assert "a line was damaged" in keeper.notes[0]
    assert len(list(folder.glob("*.damaged-*"))) == 1


def test_a_folder_that_cannot_be_written_is_told_and_marks_go_on(qtbot, tmp_path: Path, recording) -> None:
    (tmp_path / "marks").write_text("a file where the folder should be")
    shelf = MarkShelf(folder=tmp_path / "marks")
    keeper = _begin(shelf, recording)
    keeper.add([SPIKE], "Mark spike")
    assert len(keeper.marks) == 4
    assert "marks cannot be kept on disk" in keeper.fault
    shelf.close()


def test_what_was_saved_is_known_after_a_restart(shelves, recording) -> None:
    keeper = _begin(shelves[0], recording)
    mark = keeper.add([SPIKE], "Mark spike")[0]
    other = keeper.add([replace(SPIKE, onset=7.0)], "Mark spike")[0]
    keeper.mark_saved({"path": "/x.tsv", "digest": "d"}, {other.id})
    shelves[0].give_back(ID)
    keeper = _begin(shelves[0], recording)
    assert (keeper.saved["path"], keeper.saved["digest"]) == ("/x.tsv", "d")
    assert keeper.book.history.unsaved == {other.id}
    keeper.change(keeper.find(mark), replace(mark, onset=2.0), "Move")
    assert keeper.book.history.unsaved == {mark.id, other.id}


KILLED = """
import sys
from pathlib import Path
from PyQt6.QtCore import QCoreApplication
from analysis.annotation import Annotation
from app.mark_keeper import MarkShelf
application = QCoreApplication([])
shelf = MarkShelf(folder=Path(sys.argv[1]))
keeper = shelf.take(sys.argv[2])
keeper.add([Annotation(3.0, 0.0, "spike", author="reader")], "Mark spike")
print("+", flush=True)
application.exec()
"""


def test_the_lock_of_a_killed_program_holds_no_one(shelves, folder: Path, recording) -> None:
    root = Path(__file__).parents[2]
    with subprocess.Popen([sys.executable, "-c", KILLED, folder, ID], cwd=root, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"+\n"
        assert _begin(shelves[0], recording).apart
        shelves[0].give_back(ID)
        program.kill()
    keeper = _begin(shelves[0], recording)
    assert (keeper.apart, len(keeper.marks)) == (False, 4)
    assert keeper.recovered is not None
    assert keeper.recovered.from_file


@pytest.mark.parametrize("file_first", [False, True])
@pytest.mark.parametrize("edit", [False, True])
def test_very_many_marks_of_a_journal_are_sorted_in_the_background(
    qtbot, shelves, recording, file_first: bool, edit: bool
) -> None:
    keeper = _begin(shelves[0], recording)
    keeper.add([Annotation(float(i % 500), 0.0, "x", author="sidecar") for i in range(6000)], "Import")
    shelves[0].give_back(ID)
    keeper = shelves[0].take(ID, recording)
    if file_first:
        keeper.set_file_marks(_file_marks())
    keeper._disk.open()
    keeper.on_read()
    if not file_first:
        keeper.set_file_marks(_file_marks())
    assert not keeper.is_ready
    assert len(keeper.marks) < 6000
    if edit:
        keeper.undo()  # needs them at once
    qtbot.waitUntil(lambda: keeper.is_ready)
    qtbot.wait(200)  # for whatever the background still brings
    assert len(keeper.marks) == (3 if edit else 6003)
    keeper.redo()
    qtbot.waitUntil(lambda: keeper.is_ready)
    assert len(keeper.marks) == 6003
