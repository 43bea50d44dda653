"""Lists of changes say what became of each mark, field by field."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.annotation import Annotation, Review
from analysis.review.change_list import ChangeList, ListedChange
from analysis.review.history import Change, History
from analysis.review.mark_book import Edit

SPIKE = Annotation(3.0, 0.25, "spike", ("T3",), author="reader", id=1)
EVENT = Annotation(5.0, 10.0, "sz", (), 0.75, "model:A", id=2)
ACCEPTED = replace(EVENT, review=Review("accepted", "Dr Ö", "now"))


def _time(seconds: float) -> str:
    return f"{seconds:.2f}"


@pytest.mark.parametrize(
    ("before", "after", "kind", "details"),
    [
        (None, SPIKE, "added", "length 0.25 s; channels T3; by you"),
        (SPIKE, None, "removed", "length 0.25 s; channels T3; by you"),
        (SPIKE, replace(SPIKE, onset=3.5), "changed", "start 3.00 → 3.50"),
        (
            SPIKE,
            replace(SPIKE, description="", ch_names=(), review=Review(comment="why", changed="now")),
            "changed",
            "text spike → nothing; channels T3 → all; comment nothing → why",
        ),
        (
            None,
            ACCEPTED,
            "accepted",
            "length 10 s; channels all; confidence 0.75; decision accepted by Dr Ö; by model:A",
        ),
        (EVENT, ACCEPTED, "accepted", "decision nothing → accepted by Dr Ö"),
        (
            ACCEPTED,
            replace(EVENT, review=Review("rejected")),
            "rejected",
            "decision accepted by Dr Ö → rejected",
        ),
        (ACCEPTED, EVENT, "undecided", "decision accepted by Dr Ö → nothing"),
        (None, replace(SPIKE, review=Review("accepted")), "added", None),
    ],
)
def test_a_line_says_what_was_done(before, after, kind, details) -> None:
    line = ListedChange(Change(before, after))
    assert line.kind == kind
    assert details is None or line.details(_time) == details


def test_lines_stand_in_the_order_of_time_are_counted_and_found() -> None:
    moved = replace(SPIKE, onset=4.0, review=Review(comment="Näher"))
    changes = ChangeList([Change(None, ACCEPTED), Change(SPIKE, None), Change(SPIKE, moved)])
    assert [line.kind for line in changes.lines] == ["removed", "changed", "accepted"]
    assert (changes.counts["removed"], changes.counts["accepted"], changes.counts["added"]) == (1, 1, 0)
    assert changes.summary() == "1 changed, 1 accepted, 1 removed"
    assert changes.find() == [0, 1, 2]
    assert changes.find("NÄHER") == [1]
    assert changes.find("t3", ("removed",)) == [0]
    assert changes.find("seizure") == [2]
    assert ChangeList().summary() == ""


def test_what_was_done_and_undone_is_no_change() -> None:
    moved, away = replace(SPIKE, onset=9.0), replace(SPIKE, onset=20.0)
    history = History.of([Edit("add", (Change(None, SPIKE),))])
    history.settle()
    session = dict(history.states)
    history.do(Edit("move", (Change(SPIKE, moved),)))
    history.do(Edit("move", (Change(moved, away),)))
    assert history.unsaved_changes() == history.changes_since(session) == (Change(SPIKE, away),)
    history.do(Edit("move", (Change(away, SPIKE),)))
    assert history.unsaved_changes() == history.changes_since(session) == ()
    history.do(Edit("remove", (Change(SPIKE, None),)))
    assert history.unsaved_changes() == (Change(SPIKE, None),)
    assert history.changes_since({}) == ()  # of what was not there at all, nothing is left
