"""What two people change about one mark at the same time both comes true."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.annotation import Annotation, Review
from analysis.errors import AnalysisError
from analysis.review.rebase import rebase

MARK = Annotation(2.0, 3.0, "Seizure", ("A",), 0.5, "reader", (("column", "x"),), 7, Review(tag="t", comment="c"))


def commented(mark: Annotation, comment: str) -> Annotation:
    return replace(mark, review=replace(mark.review, comment=comment))


def spans(onset: float, stop: float) -> Annotation:
    return replace(MARK, onset=onset, duration=stop - onset)


@pytest.mark.parametrize(
    ("after", "current", "expected"),
    [
        (spans(2.0, 6.0), MARK, (2.0, 6.0)),
        (MARK, spans(1.0, 2.0), (1.0, 2.0)),
        (spans(2.0, 6.0), spans(1.0, 5.0), (1.0, 6.0)),  # an end each
        (spans(1.5, 5.0), spans(2.0, 9.0), (1.5, 9.0)),
        (spans(10.0, 13.0), spans(2.0, 9.0), (10.0, 17.0)),  # moved here, lengthened there
        (spans(10.0, 11.0), spans(2.0, 9.0), (10.0, 11.0)),
    ],
)
def test_only_the_end_that_was_moved_moves(after, current, expected):
    made = rebase(MARK, after, current)
    assert (made.onset, made.stop) == pytest.approx(expected, abs=1e-9)


def test_every_field_is_merged_by_itself():
    current = replace(commented(MARK, "theirs"), confidence=0.9, onset=1.0)
    after = replace(MARK, description="Spike", ch_names=("B",), review=replace(MARK.review, tag="s"))
    expected = replace(current, description="Spike", ch_names=("B",), review=replace(current.review, tag="s"))
    assert rebase(MARK, after, current) == expected
    decided = replace(MARK, review=replace(MARK.review, decision="accepted", by="R", at="now"))
    made = rebase(MARK, commented(MARK, "mine"), decided)
    assert made.review == replace(decided.review, comment="mine")


def test_the_later_of_two_texts_stands_and_an_unchanged_mark_takes_all():
    assert rebase(MARK, commented(MARK, "mine"), commented(MARK, "theirs")).review.comment == "mine"
    after = replace(MARK, onset=1.0, duration=0.1 + 0.2)
    assert rebase(MARK, after, replace(MARK)) is after


def test_ends_do_not_change_places():
    with pytest.raises(AnalysisError, match="another window"):
        rebase(MARK, spans(4.0, 5.0), spans(1.0, 2.0))
    with pytest.raises(AnalysisError, match="another window"):
        rebase(MARK, spans(2.0, 3.0), spans(4.0, 5.0))
