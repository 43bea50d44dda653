"""A journal tells what was done, however its writer came to an end and whatever befell the file since."""

from __future__ import annotations

import errno
import os
from dataclasses import fields
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from analysis.annotation import Annotation, Review
from analysis.errors import RecordingError
from analysis.review.journal import PART_CHANGES, Journal, open_journal
from analysis.review.journal_lines import (
    MARK_FIELDS,
    REVIEW_FIELDS,
    decode_changes,
    encode_changes,
    format_line,
    parse_line,
)
from analysis.review.journal_reading import Account, read_journal
from analysis.review.mark_book import Change, Edit, MarkBook

PLACE = "/somewhere/record.edf"


def _standing(account: Account) -> dict[int, Annotation | None]:
    return {number: mark for number, mark in account.history.states.items() if mark is not None}


def _begin(path: Path, reader_module: ModuleType) -> tuple[MarkBook, Journal]:
    account, _ = open_journal(path)
    journal = Journal(path, "id", PLACE, account)
    book = MarkBook(journal.step)
    book.set_base(reader_module.base_marks())
    book.adopt(account.history)
    return book, journal


def _marks(book: MarkBook) -> dict[int, Annotation]:
    return {mark.id: mark for mark in book.marks.items}


TEXTS = st.text(max_size=12)
FLOATS = st.floats(allow_nan=False)
MARKS = st.builds(
    Annotation,
    FLOATS,
    FLOATS,
    TEXTS,
    st.lists(TEXTS, max_size=3).map(tuple),
    st.none() | FLOATS,
    TEXTS,
    st.lists(st.tuples(TEXTS, TEXTS), max_size=2).map(tuple),
    st.integers(1, 2**40),
    st.builds(Review, st.sampled_from(["", "accepted", "rejected"]), TEXTS, TEXTS, TEXTS, TEXTS, TEXTS, TEXTS),
)


@given(st.lists(st.tuples(st.none() | MARKS, MARKS), max_size=3))
def test_a_line_holds_all_that_a_mark_says(pairs) -> None:
    changes = tuple(Change(before, after) for before, after in pairs)
    line = format_line(12, {"changes": encode_changes(changes)})
    assert line.count(b"\n") == 1
    record = parse_line(line.rstrip(b"\n"))
    assert record is not None
    assert record["n"] == 12
    again = decode_changes(record["changes"])
    assert again == changes
    assert [(c.before and c.before.id, c.after and c.after.id) for c in again] == [
        (c.before and c.before.id, c.after and c.after.id) for c in changes
    ]


def test_no_field_of_a_mark_is_forgotten() -> None:
    assert {f.name for f in fields(Annotation)} == set(MARK_FIELDS)
    assert {f.name for f in fields(Review)} == set(REVIEW_FIELDS)


def test_each_session_goes_on_where_the_one_before_ended(tmp_path: Path, random_reader: ModuleType) -> None:
    path = tmp_path / "marks" / "id.journal"
    expected = None
    for session in range(6):
        book, journal = _begin(path, random_reader)
        if expected is not None:
            assert (_marks(book), book.done, book.undone) == expected
        reader = random_reader.Reader(book, session)
        for _ in range(15):
            reader.gesture()
            assert _marks(book) == reader.expected
        expected = _marks(book), book.done, book.undone
        if session % 2:
            journal.close()
        assert bool(read_journal(path).unfinished) == (not session % 2)
    while book.undo():
        pass
    assert _marks(book) == {mark.id: mark for mark in random_reader.base_marks().items}
    while book.redo():
        pass
    account = read_journal(path)
    assert {**_marks(book), **_standing(account)} == _marks(book)
    assert not account.damaged


def test_nothing_is_written_where_nothing_is_done(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "marks" / "id.journal", "id", PLACE)
    journal.sync()
    journal.close()
    assert list(tmp_path.iterdir()) == []


def test_the_journal_names_the_recording_and_its_place_only(tmp_path: Path, random_reader: ModuleType) -> None:
    book, journal = _begin(tmp_path / "id.journal", random_reader)
    book.do(Edit("x", (Change(book.marks.items[0], None),)))
    journal.close()
    lines = (tmp_path / "id.journal").read_bytes().splitlines()
    records = [parse_line(line) or {} for line in lines]
    assert [list(record)[1] for record in records] == ["journal", "opened", "step", "closed"]
    assert set(records[0]) == {"n", "journal", "uid", "recording", "place"}
    assert (records[0]["recording"], records[0]["place"]) == ("id", PLACE)
    if os.name == "posix":
        assert (tmp_path / "id.journal").stat().st_mode & 0o077 == 0


def _written(path: Path, random_reader: ModuleType) -> Path:
    """A journal of a dozen gestures."""
    path.unlink(missing_ok=True)
    book, journal = _begin(path, random_reader)
    reader = random_reader.Reader(book, 4, ("add", "move", "delete", "several", "undo", "redo"))
    for _ in range(12):
        reader.gesture()
    journal.close()
    return path


def test_cut_at_any_byte_a_journal_tells_of_all_whole_lines(tmp_path: Path, random_reader: ModuleType) -> None:
    path = _written(tmp_path / "id.journal", random_reader)
    data = path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(data) if byte == ord("\n")]
    states = {}
    for end in ends[-4:]:
        path.write_bytes(data[:end])
        states[end] = _standing(read_journal(path))
    for size in range(ends[-4], len(data)):
        path.write_bytes(data[:size])
        whole = max(end for end in ends if end <= size)
        account, sentences = open_journal(path)
        assert _standing(account) == states[whole]
        assert sentences == []
        assert path.read_bytes() == data[:whole]


def test_writing_goes_on_behind_a_line_that_was_torn(tmp_path: Path, random_reader: ModuleType) -> None:
    path = _written(tmp_path / "id.journal", random_reader)
    path.write_bytes(path.read_bytes()[:-7])  # of the line that says it was closed
    book, journal = _begin(path, random_reader)
    before = len(book.done)
    book.do(Edit("x", (Change(book.marks.items[0], None),)))
    journal.close()
    account = read_journal(path)
    assert not account.damaged
    assert len(account.history.done) == before + 1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(where=st.floats(0, 1, exclude_max=True), what=st.binary(min_size=1, max_size=200))
@example(where=0.5876985377842172, what=bytes(6))  # over the end of a line
def test_damaged_bytes_cost_the_lines_they_lie_in(tmp_path, random_reader, where, what) -> None:
    path = _written(tmp_path / "id.journal", random_reader)
    data = path.read_bytes()
    sound = read_journal(path)
    at = int(where * len(data))
    spoilt = (data[:at] + what + data[at + len(what) :])[: len(data)]
    path.write_bytes(spoilt)
    account, sentences = open_journal(path)
    hit = len({data[:i].count(b"\n") for i in range(at, min(at + len(what), len(data)))})
    kept = [e for e in sound.history.done if e in account.history.done or e in account.history.undone]
    assert len(kept) >= len(sound.history.done) - hit
    assert read_journal(path).damaged == []  # mended
    asides = list(tmp_path.glob("id.damaged-*.journal"))
    assert bool(asides) == bool(sentences)
    for aside in asides:
        assert aside.read_bytes() == spoilt
        aside.unlink()
    # And the book stands on what is left: everything can still be undone.
    book = MarkBook()
    book.set_base(random_reader.base_marks())
    book.adopt(account.history)
    while book.undo():
        pass


def test_a_lost_undo_is_known_from_the_line_behind_it(tmp_path: Path, random_reader: ModuleType) -> None:
    path = tmp_path / "id.journal"
    book, journal = _begin(path, random_reader)
    first, second, third = (Annotation(float(i), 1.0, "x", author="reader") for i in range(3))
    for mark in (first, second):
        book.number([mark])
        book.do(Edit("add", (Change(None, mark),)))
    book.undo()
    book.number([third])
    book.do(Edit("add", (Change(None, third),)))
    journal.close()
    lines = path.read_bytes().splitlines(keepends=True)
    undo = next(i for i, line in enumerate(lines) if b'"undo"' in line)
    path.write_bytes(b"".join([*lines[:undo], b"spoilt\n", *lines[undo + 1 :]]))
    account, sentences = open_journal(path)
    assert sentences[0].startswith("a line was damaged in the journal of this recording's marks")
    assert list(_standing(account).values()) == [first, third]


def test_a_large_edit_counts_only_as_a_whole(tmp_path: Path, random_reader: ModuleType) -> None:
    path = tmp_path / "id.journal"
    _, journal = _begin(path, random_reader)
    marks = [Annotation(float(i), 0.0, "x", author="reader", id=10**9 + i) for i in range(2 * PART_CHANGES + 1)]
    edit = Edit("Import", tuple(Change(None, mark) for mark in marks), "now")
    parts = journal.write_parts(edit.changes)
    assert len(parts) == 3
    assert _standing(read_journal(path)) == {}
    journal.step("do", edit, parts)
    account = read_journal(path)
    assert account.history.done == [edit]
    assert len(_standing(account)) == len(marks)
    journal.close()


def test_what_is_saved_is_remembered_but_for_what_was_left_out(tmp_path: Path, random_reader: ModuleType) -> None:
    path = tmp_path / "id.journal"
    book, journal = _begin(path, random_reader)
    one, two, *_ = book.marks.items
    book.do(Edit("x", (Change(one, None),)))
    book.do(Edit("x", (Change(two, None),)))
    journal.saved({"path": "a.tsv"}, {two.id})
    book.history.settle({two.id})
    book.undo()
    journal.close()
    for history in (book.history, read_journal(path).history):
        assert history.unsaved == set()
    book, journal = _begin(path, random_reader)
    book.redo()
    assert book.history.unsaved_changes() == (Change(two, None),)
    journal.close()
    assert (read_journal(path).saved or {})["path"] == "a.tsv"


def test_a_full_disk_is_told_and_what_was_done_meanwhile_is_written_later(
    tmp_path: Path, random_reader: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "id.journal"
    book, journal = _begin(path, random_reader)
    reader = random_reader.Reader(book, 1)
    reader.gesture()
    real = os.write
    room = [40]

    def write(file: int, data: bytes) -> int:
        if room[0] <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        count = real(file, bytes(data)[: room[0]])
        room[0] -= count
        return count

    monkeypatch.setattr(os, "write", write)
    for _ in range(5):
        reader.gesture()
    assert journal.fault.startswith("marks cannot be kept on disk: No space left on device (")
    assert not read_journal(path).damaged
    monkeypatch.setattr(os, "write", real)
    journal.sync()
    assert journal.fault == ""
    account = read_journal(path)
    assert (account.history.done, account.damaged) == (list(book.done), [])
    journal.close()


def test_a_journal_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "id.journal"
    path.write_bytes(format_line(1, {"journal": 2, "uid": "x"}))
    with pytest.raises(RecordingError, match="newer version"):
        open_journal(path)
