"""Marks: sorted once, with the seizures they tell of."""

from __future__ import annotations

import itertools
from dataclasses import replace

from analysis.annotation import Annotation
from analysis.marks import SOURCES, Marks


def test_marks_are_sorted_and_tell_of_seizures():
    marks = Marks.of(
        [
            Annotation(44.0, 0.0, "seizure ends"),
            Annotation(15.0, 0.0, "SEIZURE#8 STARTS"),
            Annotation(3.0, 0.0, "eyes open", author="sidecar"),
        ]
    )
    assert [a.onset for a in marks.items] == [3.0, 15.0, 44.0]
    assert marks.seizures == ((15.0, 44.0),)
    assert marks.index.authors == {"file", "sidecar"}


def test_no_marks_tell_of_nothing():
    assert len(Marks()) == 0
    assert Marks.of([]).seizures == ()


def test_marks_of_each_source_follow_every_change() -> None:
    numbers = itertools.count(1)

    def mark(onset: float, author: str) -> Annotation:
        return Annotation(onset, 1.0, "x", author=author, id=next(numbers))

    marks = Marks.of([mark(float(i), "file") for i in range(5)])
    assert marks.of_source("file") is marks.index
    mine, found = mark(2.5, "reader"), mark(3.5, "model:m")
    more = marks.changed((), [mine, found])
    assert more.of_source("file") is marks.index
    assert (more.of_source("reader").items, more.of_source("model").items) == ((mine,), (found,))
    moved = replace(mine, onset=9.0, id=mine.id)
    third = more.changed([mine, marks.items[0]], [moved])
    assert third.of_source("reader").items == (moved,)
    assert third.of_source("file").items == marks.items[1:]
    assert third.of_source("model") is more.of_source("model")
    again = Marks.of(third.items)
    for source in SOURCES:
        assert again.of_source(source).items == third.of_source(source).items
