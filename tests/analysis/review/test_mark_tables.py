"""Our tables give back every mark as it was, whatever it says, and say so in words that others read."""

from __future__ import annotations

import csv
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.annotation import Annotation, Review
from analysis.event_columns import OUR_COLUMNS
from analysis.event_tables import COLUMNS, read_events, read_marks
from analysis.review.mark_tables import MarkTable, column_order, describe_columns, format_marks

START = datetime(2021, 5, 6, 7, 8, 9)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from(
    [
        "n/a",
        "N/A",
        "all",
        "SZ ",
        "sz",
        "bckg",
        " a",
        "a  b",
        "a\tb",
        "a\nb",
        "a\u2028b",
        'say "x", y;;;;;;;',
        "#",
        "1,5",
    ]
)
TIMES = st.floats(-1e5, 1e6) | st.sampled_from([0.0, 1 / 3, 5.1, 86399.123456])
REVIEWS = st.builds(Review, st.sampled_from(["", "accepted", "rejected"]), TEXTS, TEXTS, TEXTS, TEXTS, TEXTS, TEXTS)
MARKS = st.builds(
    Annotation,
    TIMES,
    st.floats(0, 1e5) | st.sampled_from([0.0, 0.1, 0.2]),
    TEXTS,
    st.lists(TEXTS, max_size=3).map(tuple),
    st.none() | st.floats(-1, 2),
    st.sampled_from(["reader", "file", "sidecar", "model:A", "", "Dr Ö"]),
    st.lists(st.tuples(TEXTS | st.sampled_from(["value", "stop", "onset", "exact"]), TEXTS), max_size=3).map(tuple),
    review=REVIEWS,
)


def _ordered(marks: list[Annotation]) -> list[Annotation]:
    return sorted(marks, key=lambda mark: (mark.onset, mark.stop))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(MARKS, max_size=5), st.sampled_from([("m.tsv", "\t"), ("m.csv", ",")]))
def test_marks_come_back_as_they_were(tmp_path: Path, marks: list[Annotation], kind: tuple[str, str]) -> None:
    path = tmp_path / kind[0]
    path.write_bytes(format_marks(marks, START, 600.5, kind[1]))
    table = read_marks(path, 600.5)
    assert list(table.events) == _ordered(marks)
    assert (table.duration, table.start_datetime, table.warnings, table.is_ours) == (600.5, START, (), True)


def test_the_table_reads_as_bids_and_szcore_want_it(tmp_path: Path) -> None:
    marks = [
        Annotation(3.25, 0.0, "éveil", ("T3", "T5"), 0.75, "reader", (("value", "7"),), review=Review(tag="Eye-blink")),
        Annotation(1 / 3, 20.0, "two\nlines", author="model:A", review=Review("rejected", "Dr Ö", comment="no")),
    ]
    path = tmp_path / "m.tsv"
    path.write_bytes(format_marks(marks, START, 60.0))
    rows = list(csv.DictReader(path.open(encoding="utf-8"), delimiter="\t"))
    assert list(rows[0]) == [*COLUMNS, *OUR_COLUMNS, "value", "exact"]
    assert [row["onset"] for row in rows] == ["0.3333333333333333", "3.25"]
    assert list(rows[1].values()) == [
        *("3.25", "0", "éveil", "0.75", "T3,T5", "2021-05-06 07:08:09", "60"),
        *("n/a", "Eye-blink", "reader", "new", "n/a", "n/a", "n/a", "n/a", "7", "n/a"),
    ]
    assert (rows[0]["eventType"], rows[0]["exact"]) == ("two lines", '{"label":"two\\nlines"}')
    assert set(rows[0]) == set(describe_columns(rows[0])) | {"value"}


def test_what_was_rejected_is_no_event_for_scores(tmp_path: Path) -> None:
    event = Annotation(5.0, 10.0, "sz", author="model:A")
    rejected = replace(event, onset=50.0, review=Review("rejected"))
    path = tmp_path / "m.tsv"
    path.write_bytes(format_marks([event, rejected], None, 52.0))
    assert [e.onset for e in read_events(path).events] == [5.0]
    assert [e.onset for e in read_marks(path).events] == [5.0, 50.0]
    assert [e.stop for e in read_marks(path, 52.0).events] == [15.0, 60.0]


def test_no_marks_are_a_recording_of_background(tmp_path: Path) -> None:
    path = tmp_path / "m.tsv"
    path.write_bytes(format_marks([], START, 45.0))
    assert path.read_text().splitlines()[1].split("\t")[:3] == ["0", "45", "bckg"]
    assert read_marks(path).events == ()
    assert read_marks(path).duration == 45.0


def test_cells_that_somebody_has_changed_by_hand_are_read(tmp_path: Path) -> None:
    path = tmp_path / "m.tsv"
    path.write_bytes(format_marks([Annotation(1.0, 0.0, "a\tb", author="reader")], None, 10.0))
    path.write_text(path.read_text().replace('{"label"', "{label"))
    assert read_marks(path).events == (Annotation(1.0, 0.0, "a b", author="reader"),)


@pytest.mark.parametrize(
    ("orders", "expected"),
    [
        (["b", "ab"], "ab"),
        (["ac", "bc", "abd"], "abcd"),
        (["ab", "ba"], "ab"),
        ([""], ""),
    ],
)
def test_columns_stand_in_the_order_of_the_marks(orders: list[str], expected: str) -> None:
    marks = [Annotation(0.0, 0.0, "x", extras=tuple((name, "1") for name in order)) for order in orders]
    assert "".join(name for name, _ in column_order(marks)) == expected


def test_columns_of_one_name_are_told_apart(tmp_path: Path) -> None:
    mark = Annotation(1.0, 0.0, "x", extras=(("v", "1"), ("v", "2")))
    path = tmp_path / "m.tsv"
    path.write_bytes(format_marks([mark], None, 10.0))
    assert path.read_text().splitlines()[0].endswith("changed\tv\tv")
    assert read_marks(path).events == (mark,)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(st.lists(st.lists(MARKS, max_size=4), max_size=4))
def test_a_table_made_again_is_that_of_the_marks_as_they_are_then(
    tmp_path: Path, sessions: list[list[Annotation]]
) -> None:
    table, path = MarkTable(START, 600.5), tmp_path / "m.tsv"
    marks: list[Annotation] = []
    for session, new in enumerate(sessions, 1):
        marks = [*marks[1:], *(replace(mark, id=10 * session + i) for i, mark in enumerate(new))]
        path.write_bytes(table.format(marks))
        assert list(read_marks(path).events) == _ordered(marks)


@pytest.mark.parametrize(
    ("mark", "cell", "exact"),
    [
        (Annotation(1.0, 2.0, "Seizure", author="reader", review=Review(tag="Epileptic-seizure")), "sz", False),
        (Annotation(1.0, 2.0, "Seizure", author="reader"), "sz", False),
        (Annotation(1.0, 2.0, "Focal aware seizure", author="reader"), "sz_foc_a", False),
        (Annotation(1.0, 2.0, "Seizure, EEG only", author="reader"), "sz", True),
        (Annotation(1.0, 2.0, "sz", author="reader"), "sz", True),  # typed so: not what `sz` otherwise reads as
        (Annotation(1.0, 2.0, "Seizure", author="file", review=Review(tag="Epileptic-seizure")), "sz", True),
        (Annotation(1.0, 2.0, "Seizure", author="file"), "Seizure", False),  # the file's own words
        (Annotation(1.0, 2.0, "sz", author="model:A"), "sz", False),
        (Annotation(1.0, 0.0, "Spike", author="reader"), "Spike", False),
    ],
)
@pytest.mark.parametrize("kind", [("m.tsv", "\t"), ("m.csv", ",")])
def test_the_types_of_szcore_are_written_and_come_back_as_the_readers_words(
    tmp_path: Path, mark: Annotation, cell: str, exact: bool, kind: tuple[str, str]
) -> None:
    path = tmp_path / kind[0]
    path.write_bytes(format_marks([mark], None, 10.0, kind[1]))
    (row,) = csv.DictReader(path.open(encoding="utf-8"), delimiter=kind[1])
    assert (row["eventType"], "exact" in row) == (cell, exact)
    assert read_marks(path).events == (mark,)
