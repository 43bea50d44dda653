"""Agreement of two raters against closed forms, scikit-learn's kappa and timescoring's overlaps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from timescoring.annotations import Annotation as Labels
from timescoring.scoring import EventScoring

from analysis.annotation import Annotation, Review
from analysis.errors import AnalysisError
from analysis.review.raters import (
    SEIZURES,
    Dispute,
    Overlap,
    Rater,
    compare_raters,
    overlap_by_type,
    rate,
    said_by_file,
    sample_labels,
)

SPANS = st.lists(st.tuples(st.integers(0, 95), st.integers(1, 20)), max_size=6).map(
    lambda spans: tuple((a, min(100, a + n)) for a, n in spans)
)


def compare(a, b, **options):
    return compare_raters(Rater("A", tuple(a)), Rater("B", tuple(b)), 100.0, **options)


def test_kappa_of_a_square_by_hand():
    # Of 100 s both mark 20, A alone 10, B alone 5: observed 0.85, by chance 0.3 * 0.25 + 0.7 * 0.75 = 0.6.
    found = compare([(10, 40)], [(20, 45)])
    assert found.samples == (20, 10, 5, 65)
    assert found.kappa == pytest.approx(0.25 / 0.4)
    assert found.word == "Substantial"
    assert found.agreed == ((20, 40),)


def test_kappa_is_undefined_where_both_say_nothing():
    found = compare([], [])
    assert (found.kappa, found.word, found.overlap.f1) == (None, None, None)
    assert found.disputes == ()


@given(SPANS, SPANS, st.sampled_from([1.0, 0.1]))
@settings(max_examples=60, deadline=None)
def test_kappa_is_that_of_scikit_learn(a, b, step):
    found = compare(a, b, step=step)
    middles = (np.arange(round(100 / step)) + 0.5) * step
    said = [np.any([(middles >= s) & (middles < z) for s, z in spans] or [middles < 0], axis=0) for spans in (a, b)]
    assert np.array_equal(sample_labels(sorted(a), 100.0, step), said[0])
    if found.kappa is None:
        assert said[0].all() == said[1].all()
        assert said[0].any() == said[1].any()
    else:
        assert found.kappa == pytest.approx(cohen_kappa_score(*said), abs=1e-12)
    assert sum(found.samples) == len(middles)


@given(SPANS, SPANS)
@settings(max_examples=60, deadline=None)
def test_events_found_are_those_of_timescoring(a, b):
    """With no tolerances, no merging and any overlap, sensitivity counts A's events that B has marked too."""
    params = EventScoring.Parameters(
        toleranceStart=0, toleranceEnd=0, minOverlap=0, maxEventDuration=1e6, minDurationBetweenEvents=0
    )
    found = compare(a, b)
    for one, other, share in ((a, b, found.overlap.a_found), (b, a, found.overlap.b_found)):
        labels = [Labels(sample_labels(sorted(spans), 100.0, 0.1), 10) for spans in (one, other)]
        assert EventScoring(*labels, params).tp == share


@given(SPANS, SPANS, st.sampled_from([0.0, 2.0, 5.0]))
@settings(deadline=None)
def test_disputes_and_agreement_make_up_all_that_was_marked(a, b, tolerance):
    found = compare(a, b, tolerance=tolerance)
    step = 0.5
    both, either = (
        sample_labels(sorted(a), 100.0, step) & sample_labels(sorted(b), 100.0, step),
        sample_labels(sorted(a), 100.0, step) | sample_labels(sorted(b), 100.0, step),
    )
    disputed = sample_labels([(d.start, d.stop) for d in found.disputes], 100.0, step)
    agreed = sample_labels(found.agreed, 100.0, step)
    assert np.array_equal(agreed, both)
    assert not (disputed & both).any()
    assert not (disputed & ~either).any()
    if tolerance == 0:
        assert np.array_equal(disputed, either & ~both)
    left = either & ~both & ~disputed
    runs = np.diff(np.flatnonzero(np.diff(np.concatenate([[0], left.astype(int), [0]]))))[::2]
    assert (runs * step <= 2 * tolerance).all()  # two short differences, one of each rater, may touch


def test_exchanging_the_raters_exchanges_everything():
    a, b = [(10, 40), (60, 61)], [(12, 38), (80, 90)]
    found, other = compare(a, b), compare(b, a)
    assert found.kappa == other.kappa
    assert other.overlap == Overlap(found.overlap.n_b, found.overlap.n_a, found.overlap.b_found, found.overlap.a_found)
    swap = {"A": "B", "B": "A", "A only": "B only", "B only": "A only"}
    turned = [Dispute(d.start, d.stop, swap.get(d.kind, d.kind), swap[d.by]) for d in found.disputes]
    assert sorted(turned, key=lambda d: d.start) == list(other.disputes)


@pytest.mark.parametrize(
    ("a", "b", "disputes"),
    [
        ([(10, 40)], [], [Dispute(10, 40, "A only", "A")]),
        ([], [(10, 40)], [Dispute(10, 40, "B only", "B")]),
        ([(10, 40)], [(12, 40)], []),  # no longer than the tolerance
        ([(10, 40)], [(12.5, 40)], [Dispute(10, 12.5, "start", "A")]),
        ([(10, 40)], [(10, 45)], [Dispute(40, 45, "end", "B")]),
        ([(10, 40)], [(10, 20), (30, 40)], [Dispute(20, 30, "inside", "A")]),
        ([(10, 40)], [(5, 20), (30, 50)], [Dispute(5, 10, "start", "B"), Dispute(20, 30, "inside", "A")]),
        ([(10, 40)], [(20, 20)], [Dispute(10, 40, "length", "A")]),
        ([(10, 10)], [(11, 11)], []),
        ([(10, 10)], [(13, 13)], [Dispute(10, 10, "A only", "A"), Dispute(13, 13, "B only", "B")]),
    ],
)
def test_what_is_disputed(a, b, disputes):
    found = [d for d in compare(a, b).disputes if not (d.kind == "end" and len(b) == 2 and d.by == "B")]
    assert found == disputes


def test_both_differences_of_two_crossing_events_are_told():
    found = compare([(10, 30)], [(20, 50)])
    assert found.disputes == (Dispute(10, 20, "start", "A"), Dispute(30, 50, "end", "B"))
    assert found.overlap == Overlap(1, 1, 1, 1)
    assert found.overlap.f1 == 1.0


def test_shares_and_f1():
    overlap = Overlap(n_a=4, n_b=6, a_found=2, b_found=3)
    assert (overlap.a_share, overlap.b_share, overlap.f1) == (0.5, 0.5, 0.5)
    assert Overlap(1, 1, 0, 0).f1 == 0.0


def test_seizures_are_known_by_any_wording_and_other_types_by_their_title():
    marks = [
        Annotation(10, 0, "seizure starts"),
        Annotation(30, 0, "seizure ends"),
        Annotation(50, 5, "sz"),
        Annotation(70, 0, "seizure"),
        Annotation(80, 1, "spike"),
    ]
    assert rate("A", marks, SEIZURES).spans == ((10, 30), (50, 55), (70, 70))
    assert rate("A", marks, "spike").spans == ((80, 81),)
    assert rate("A", marks, "Seizure").spans == ((50, 55),)


def test_what_was_rejected_is_not_said():
    marks = [Annotation(10, 5, "sz", review=Review(decision)) for decision in ("accepted", "rejected", "")]
    assert len(rate("A", marks, SEIZURES).spans) == 1
    assert rate("A", marks[1:2], "Seizure").spans == ()


def test_another_file_speaks_in_its_own_name():
    found = Annotation(1, 2, "sz", author="model:M")
    decided = replace(found, review=Review("accepted", by="AB"))
    mine, theirs = Annotation(3, 1, "sz", author="reader"), Annotation(5, 1, "sz", author="sidecar")
    given = said_by_file([found, decided, mine, theirs], "b.tsv")
    assert [mark.author for mark in given] == ["model:M", "b.tsv", "b.tsv", "b.tsv"]
    assert given[1].extras == (("author", "model:M"),)
    assert given[1].review.by == "AB"
    assert said_by_file([mine], "reader")[0].author == "reader (file)"


def test_types_are_compared_each_for_itself():
    a = [Annotation(10, 5, "sz"), Annotation(40, 1, "spike"), Annotation(60, 1, "spike")]
    b = [Annotation(12, 5, "sz"), Annotation(40, 1, "spike"), Annotation(80, 1, "Artefact")]
    assert overlap_by_type(a, b, 100.0) == {
        "spike": Overlap(2, 1, 1, 1),
        SEIZURES: Overlap(1, 1, 1, 1),
        "Artefact": Overlap(0, 1, 0, 0),
    }


def test_spans_outside_the_recording_are_cut():
    assert compare([(-5, 3), (95, 130), (150, 160)], [(0, 3), (95, 100)]).kappa == 1.0


def test_a_recording_of_no_length_is_refused():
    with pytest.raises(AnalysisError, match="not known"):
        compare_raters(Rater("A", ()), Rater("B", ()), 0.0)


def test_the_definition_stands_with_the_numbers():
    text = compare([(1, 2)], [], step=0.1, tolerance=3.0).describe()
    assert "samples of 0.1 s" in text
    assert "3 s" in text
