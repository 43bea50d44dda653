"""What stays decided when the threshold moves, and what is shown again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.annotation import Annotation, Review
from analysis.postprocessing import OnlineRule, derive_events
from analysis.review.decisions import (
    needs_review,
    reviewed,
    seen_span,
    standing,
    undecided,
    with_model_span,
)

MODEL = "model:m"
SPANS = st.lists(st.tuples(st.integers(0, 200), st.integers(1, 40)), max_size=12)
CURVES = st.lists(st.integers(0, 20), min_size=5, max_size=120)


def event(onset: float, stop: float, author: str = MODEL, **review) -> Annotation:
    return Annotation(onset, stop - onset, "sz", author=author, review=Review(**review))


@pytest.mark.parametrize(
    ("mark", "found", "waits"),
    [
        (event(10, 20, decision="accepted"), event(10, 20), False),
        (event(10, 20, decision="rejected"), event(12, 14), False),  # shrank with a higher threshold
        (event(10, 20, decision="rejected"), event(10, 30), False),  # grew to twice of what was seen
        (event(10, 20, decision="rejected"), event(10, 31), True),  # mostly never looked at
        (event(10, 20, decision="accepted"), event(10, 31), True),
        (event(10, 20, decision="accepted"), event(20, 30), True),  # touches
        (event(10, 20, decision="accepted"), event(16, 24), False),
        (event(10, 20, decision="accepted"), event(17, 25), True),
        (event(10, 20, decision="accepted", author="model:other"), event(10, 20), True),
        (event(10, 20, decision="accepted", author="file"), event(10, 20), True),
        (event(10, 20), event(10, 20), False),  # taken back at another threshold: it stands in the book
        # A reader has moved the ends and nobody knows what the model had said: half of the shorter will do.
        (event(10, 20, changed="2026-01-01T00:00:00Z"), event(10, 200), False),
        (event(10, 20, changed="2026-01-01T00:00:00Z"), event(16, 200), True),
    ],
)
def test_which_marks_stand_for_an_event(mark, found, waits):
    assert (undecided([found], [mark]) == (found,)) == waits


def test_a_trimmed_event_stands_for_all_that_the_model_had_said():
    whole = event(10, 90)
    trimmed = replace(with_model_span(whole), onset=60.0, duration=10.0, review=Review(changed="x"))
    assert seen_span(trimmed) == (10.0, 90.0)
    assert undecided([event(10, 50), whole, event(5, 300)], [trimmed]) == (event(5, 300),)
    assert with_model_span(trimmed) is trimmed
    person = Annotation(1, 2, "sz", author="reader")
    assert with_model_span(person) is person


def _slow(events, marks) -> list[Annotation]:
    """The rule read aloud."""
    kept = []
    for one in events:
        half = one.duration / 2
        covered = [min(one.stop, m.stop) - max(one.onset, m.onset) for m in marks if m.author == one.author]
        if not any(overlap >= half for overlap in covered):
            kept.append(one)
    return kept


@given(SPANS, SPANS, st.lists(st.sampled_from([MODEL, "model:n", "file"]), min_size=12, max_size=12))
def test_the_rule_is_the_plain_one(found, decided, authors):
    events = [event(a, a + n, authors[i % 2 and 1]) for i, (a, n) in enumerate(found)]
    events = [e for e in events if e.is_model]
    marks = [event(a, a + n, authors[i], decision="rejected") for i, (a, n) in enumerate(decided)]
    assert list(undecided(events, marks)) == _slow(events, marks)


def _derived(curve: list[int], threshold: float) -> tuple[Annotation, ...]:
    p = np.array(curve, np.float32) / 20
    n = len(p)
    return derive_events(np.arange(n) * 2.0, np.full(n, 2.0), p, threshold, OnlineRule(), MODEL)


@given(CURVES, st.data())
def test_a_decision_takes_away_one_event_and_no_other(curve, data):
    events = _derived(curve, 0.5)
    if not events:
        return
    chosen = data.draw(st.sampled_from(events))
    decided = replace(chosen, id=7, review=Review(decision=data.draw(st.sampled_from(["accepted", "rejected"]))))
    assert undecided(events, [decided]) == tuple(e for e in events if e != chosen)


@given(CURVES, st.floats(0.5, 1.0))
def test_a_higher_threshold_never_brings_a_decision_back(curve, higher):
    decided = [replace(e, review=Review(decision="rejected")) for e in _derived(curve, 0.5)]
    assert undecided(_derived(curve, higher), decided) == ()


def test_reviewed_events_are_the_accepted_and_the_undecided_ones():
    live = event(10, 20), event(40, 50), event(70, 80)
    accepted, rejected = event(8, 21, decision="accepted"), event(40, 50, decision="rejected")
    other = event(1, 2, "model:n", decision="accepted")
    assert reviewed(live, [accepted, rejected, other], MODEL) == (accepted, live[2])
    assert reviewed((), [accepted, rejected, other], MODEL) == (accepted,)  # a threshold that nothing reaches


def test_what_a_review_queue_calls_a_mark():
    assert standing(event(1, 2)) == "to review"
    assert standing(event(1, 2, changed="x")) == "to review"
    assert standing(event(1, 2, decision="rejected")) == "rejected"
    assert standing(event(1, 2, author="file")) == "new"
    assert standing(event(1, 2, author="reader", changed="x")) == "edited"
    assert standing(event(1, 2, author="file", decision="accepted")) == "accepted"
    assert [needs_review(event(1, 2, a, decision=d)) for a in (MODEL, "file") for d in ("", "accepted")] == [
        *(True, False),
        *(False, False),
    ]
