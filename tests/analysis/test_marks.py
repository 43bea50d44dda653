"""Marks: sorted once, with the seizures they tell of."""

from __future__ import annotations

from analysis.annotation import Annotation
from analysis.marks import Marks


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
