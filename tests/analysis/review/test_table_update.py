"""Marks saved into a table that exists: what did not change stays byte for byte, and all marks can be read again."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.annotation import Annotation, Review
from analysis.errors import RecordingError
from analysis.event_tables import read_marks
from analysis.review.mark_tables import format_marks
from analysis.review.raters import said_by_file
from analysis.review.table_update import TableContents, TableUpdate

START = datetime(2021, 5, 6, 7, 8, 9)
OURS = "comment\tHED\tauthor\treviewState\treviewer\treviewTime\tcreated\tchanged"
BIDS = (
    "onset\tduration\ttrial_type\tvalue\tsample\n"
    "1.50\t0\tnoise \t3\tn/a\n"
    "1.5\t0\tnoise\t\t9\n"
    "4\t2.0\tsz\t5\t20\n"
    "x\t2\tsz\t5\t20\n"
    "7\t0\tlast\t5\t20\n"
)


def _update(path: Path, marks: list[Annotation], known: list[Annotation], keep_strangers: bool = True) -> str:
    update = TableUpdate(path, marks, known, 100.0)
    return update.text(keep_strangers, START).decode()


def test_an_unchanged_table_stays_as_it_is(tmp_path: Path) -> None:
    for end in ("\n", "\r\n"):
        path = tmp_path / "e.tsv"
        path.write_bytes(BIDS.replace("\n", end).encode("utf-8-sig" if end == "\r\n" else "utf-8"))
        events = list(read_marks(path, 100.0).events)
        update = TableUpdate(path, events, (), 100.0)
        assert update.contents == TableContents(4, 0, 0)
        assert update.text(False, START) == path.read_bytes()


def test_changed_and_new_marks_take_their_place_among_rows_that_stay(tmp_path: Path) -> None:
    path = tmp_path / "e.tsv"
    path.write_text(BIDS)
    events = list(read_marks(path, 100.0).events)
    longer = replace(events[2], duration=2.25, review=Review(changed="now"))
    new = Annotation(3.0, 0.0, "spike", ("Fp1",), author="reader", review=Review(tag="Spike", created="then"))
    text = _update(path, [*events[:2], longer, new, events[3]], events)
    none = "\tn/a" * 9
    assert text.splitlines() == [
        f"onset\tduration\ttrial_type\tvalue\tsample\tchannels\t{OURS}",
        f"1.50\t0\tnoise \t3\tn/a{none}",
        f"1.5\t0\tnoise\t\t9{none}",
        "3\t0\tspike\tn/a\tn/a\tFp1\tn/a\tSpike\treader\tnew\tn/a\tn/a\tthen\tn/a",
        "x\t2\tsz\t5\t20",
        "4\t2.25\tsz\t5\t20\tall\tn/a\tn/a\tsidecar\tedited\tn/a\tn/a\tn/a\tnow",
        f"7\t0\tlast\t5\t20{none}",
    ]
    path.write_text(text)
    again = TableUpdate(path, [*events[:2], longer, new, events[3]], events, 100.0)
    assert again.contents == TableContents(5, 0, 0)
    assert again.text(False, START).decode() == text


def test_rows_of_others_are_counted_and_kept_or_left_out(tmp_path: Path) -> None:
    path = tmp_path / "e.tsv"
    path.write_text(BIDS)
    events = list(read_marks(path, 100.0).events)
    update = TableUpdate(path, [events[3]], [events[0], events[3]], 100.0)
    assert update.contents == TableContents(1, 1, 2)
    lines = BIDS.splitlines()
    assert update.text(True, START).decode().splitlines() == [lines[0], *lines[2:]]
    assert update.text(False, START).decode().splitlines() == [lines[0], lines[4], lines[5]]


def test_rows_that_are_alike_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("onset,duration,label\n1,0,x\n1,0,x\n1,0,x\n")
    events = list(read_marks(path).events)
    assert _update(path, events[:2], events) == "onset,duration,label\n1,0,x\n1,0,x\n"


def _table_of_ours() -> str:
    marks = [
        Annotation(1.0, 2.0, "sz", author="reader", review=Review(comment="a\tb", created="then")),
        Annotation(1.0, 2.0, "sz", author="model:A", confidence=0.5, review=Review("accepted", "me", "now")),
        Annotation(1.0, 2.0, "sz", author="model:A", confidence=0.5),
        Annotation(4.0, 0.0, "x", ("T3",), author="other.tsv", extras=(("v", "1"), ("w", ""))),
        Annotation(4.0, 0.0, "x", ("T3",), author="other.tsv", extras=(("v", "1"), ("w", ""))),
    ]
    return format_marks(marks, START, 100.0).decode()


SZCORE = (
    "onset\tduration\teventType\tconfidence\tchannels\tdateTime\trecordingDuration\n"
    "1.0\t2.0\tsz\tn/a\tall\t2021-05-06 07:08:09\t100.0\n"
    "94.0\t9.0\tsz\t0.5\tT3,T5\t2021-05-06 07:08:09\t100.0\n"
)


@pytest.mark.parametrize("text", [_table_of_ours(), SZCORE, BIDS, BIDS + BIDS.split("\n", 1)[1]])
def test_marks_of_a_file_that_was_opened_are_those_of_its_rows(tmp_path: Path, text: str) -> None:
    path = tmp_path / "e.tsv"
    path.write_text(text)
    own = [mark for mark in read_marks(path, 100.0).events if mark.author == "reader"]
    opened = list(said_by_file(read_marks(path, 100.0).events, path.name))
    assert _update(path, [*own, *opened], [*own, *opened], False) == text
    assert _update(path, opened, opened, False) == text
    shorter = text.replace("\t100.0\n", "\t98.5\n").replace("\t100\t", "\t98.5\t")  # at which ends are cut then
    path.write_text(shorter)
    cut = list(said_by_file(read_marks(path, 100.0).events, path.name))
    assert _update(path, cut, cut, False) == shorter
    path.write_text(text)
    before = len(read_marks(path, 100.0).events)
    moved = [replace(opened[0], onset=0.25, review=replace(opened[0].review, changed="now")), *opened[1:]]
    path.write_text(_update(path, moved, [*opened, *moved]))
    again = list(said_by_file(read_marks(path, 100.0).events, path.name))
    assert sorted(map(repr, map(_content, again))) == sorted(map(repr, map(_content, moved)))
    path.write_text(_update(path, moved[:-1], [*opened, *moved]))
    assert len(read_marks(path, 100.0).events) == before - 1


def test_rows_of_background_and_past_the_end_stay(tmp_path: Path) -> None:
    path = tmp_path / "e.tsv"
    text = "onset\tduration\teventType\n0\t10\tbckg\n10\t5\tsz\n90\t50\tsz\n500\t5\tsz\n"
    path.write_text(text)
    events = list(read_marks(path, 100.0).events)
    assert [event.stop for event in events] == [15, 100]
    update = TableUpdate(path, events, (), 100.0)
    assert update.contents == TableContents(2, 0, 0)
    assert update.text(False, None).decode() == text


def test_a_table_that_said_there_was_nothing_says_so_no_more(tmp_path: Path) -> None:
    path = tmp_path / "e.tsv"
    path.write_bytes(format_marks([], START, 100.0))
    mark = Annotation(5.0, 1.0, "sz", author="reader")
    path.write_text(_update(path, [mark], []))
    assert path.read_bytes() == format_marks([mark], START, 100.0)


def test_a_text_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "e.tsv"
    path.write_text("Dear reader\n")
    with pytest.raises(RecordingError, match="no column is called onset"):
        TableUpdate(path, [], [], 100.0)


HEADS = ("onset\tduration\ttrial_type\tv", "begin\tend\tlabel\tv", "onset\tv", "onset\tduration\tcomment\tv")
TEXTS = st.sampled_from(["x", "sz", "a\tb", "ä", "", "n/a", "bckg", "SZ"])
MARKS = st.builds(
    Annotation,
    st.floats(0, 90),
    st.sampled_from([0.0, 0.2, 1 / 3]),
    TEXTS,
    st.sampled_from([(), ("T3",), ("T3", "a,b")]),
    st.sampled_from([None, 0.5, 2.0]),
    st.sampled_from(["reader", "model:A", "sidecar"]),
    st.sampled_from([(), (("v", "1"),), (("w", "n/a"), ("v", "2")), (("onset", "1"),)]),
    review=st.builds(Review, st.sampled_from(["", "rejected"]), comment=TEXTS, created=st.just("now")),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.sampled_from(HEADS), st.lists(MARKS, max_size=4), st.lists(st.lists(st.integers(0, 9), max_size=2), max_size=3)
)
def test_marks_come_back_from_a_table_of_others(
    tmp_path: Path, head: str, marks: list[Annotation], drops: list[list[int]]
) -> None:
    path = tmp_path / "e.tsv"
    rows = ["1\t3\tp\t7", "2\t4\tq\t", "1\t3\tp\t7"] if "d" in head else ["1\t7", "2\t8"]
    path.write_text("\n".join([head, *rows, ""]))
    standing = list(read_marks(path, 100.0).events)
    known = list(standing)
    for drop in [[], *drops]:
        standing = [mark for i, mark in enumerate(standing) if i not in drop] + (marks if not drop else [])
        known += standing
        update = TableUpdate(path, standing, known, 100.0)
        path.write_bytes(update.text(False, START))
        told = sorted(map(repr, map(_content, read_marks(path, 100.0).events)))
        assert told == sorted(map(repr, map(_content, standing)))


def _content(mark: Annotation) -> Annotation:
    return replace(mark, extras=tuple(sorted(extra for extra in mark.extras if extra[1] != "n/a")))
