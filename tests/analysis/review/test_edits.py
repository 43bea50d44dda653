"""Splitting, merging and trimming keep all that was said, and are one step each."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.annotation import Annotation, Review, number_annotations
from analysis.errors import AnalysisError
from analysis.marks import Marks
from analysis.review.decisions import seen_span, undecided
from analysis.review.edits import MERGED_FROM, merge, merge_edit, split, split_edit, trim, trim_edit
from analysis.review.mark_book import MarkBook

LIVE = Annotation(10.0, 20.0, "sz", confidence=0.9, author="model:m")
TEXT = st.text("abc xyz", max_size=5).map(str.strip)


def book_of(*marks: Annotation) -> MarkBook:
    book = MarkBook()
    number_annotations(marks)
    book.set_base(Marks.of(marks))
    return book


def test_parts_meet_at_the_cursor_and_say_the_same():
    mark = Annotation(2.0, 8.0, "sz", ("C3",), 0.5, "sidecar", (("vigilance", "awake"),), review=Review(comment="why"))
    first, second = split(mark, 5.0)
    assert (first.onset, first.stop, second.onset, second.stop) == (2.0, 5.0, 5.0, 10.0)
    for part in (first, second):
        assert (part.description, part.ch_names, part.confidence, part.author) == ("sz", ("C3",), 0.5, "sidecar")
        assert part.extras == mark.extras
        assert part.review == mark.review


def test_subtraction_adds_no_digits():
    first, second = split(Annotation(25.7, 0.4, "sz"), 25.9)
    assert (first.duration, second.onset, second.duration) == (0.2, 25.9, 0.2)
    assert trim(LIVE, 25.7, 26.1).duration == 0.4
    assert merge([Annotation(0.1, 0.1, "a"), Annotation(0.2, 0.1, "b")]).duration == 0.2


@pytest.mark.parametrize("at", [1.0, 2.0, 10.0, 11.0])
def test_what_does_not_lie_inside_is_no_place_to_split(at):
    with pytest.raises(AnalysisError, match="does not lie inside Seizure"):
        split(Annotation(2.0, 8.0, "sz"), at)


def test_a_mark_cannot_be_trimmed_to_nothing():
    with pytest.raises(AnalysisError, match="would end before it begins"):
        trim(LIVE, 15.0, 15.0)


PARTS = st.lists(
    st.builds(
        Annotation,
        st.integers(0, 50).map(float),
        st.integers(0, 20).map(float),
        TEXT,
        st.lists(st.sampled_from(["C3", "C4"]), unique=True, max_size=2).map(tuple),
        st.none() | st.integers(0, 10).map(lambda n: n / 10),
        st.sampled_from(["file", "sidecar", "reader"]),
        st.dictionaries(st.sampled_from(["a", "b"]), TEXT).map(lambda d: tuple(d.items())),
        review=st.builds(Review, comment=TEXT, tag=TEXT),
    ),
    min_size=2,
    max_size=5,
)


@given(PARTS)
def test_a_merged_mark_keeps_all_texts_and_columns(parts):
    whole = merge(parts)
    assert whole.onset == min(p.onset for p in parts)
    assert whole.stop == pytest.approx(max(p.stop for p in parts))
    extras = dict(whole.extras)
    for part in parts:
        assert part.description in whole.description
        assert part.review.comment in whole.review.comment
        assert part.review.tag in whole.review.tag
        assert set(part.ch_names) <= set(whole.ch_names) or whole.ch_names == ()
        assert all(value in extras[name] for name, value in part.extras)
    assert whole.ch_names == () or all(p.ch_names for p in parts)
    assert len(extras[MERGED_FROM].split("; ")) <= len(parts)


def test_merging_what_was_merged_lists_every_first_mark():
    one, two, three = (Annotation(t, 2.0, "sz", author="reader", confidence=t / 10) for t in (1.0, 4.0, 7.0))
    extras = dict(merge([three, merge([two, one])]).extras)
    assert extras[MERGED_FROM].split("; ") == [
        "1-3 s sz p 0.1 (reader)",
        "4-6 s sz p 0.4 (reader)",
        "7-9 s sz p 0.7 (reader)",
    ]


@pytest.mark.parametrize(
    ("decisions", "merged"), [(("accepted", "accepted"), "accepted"), (("accepted", "rejected"), ""), (("", ""), "")]
)
def test_only_one_and_the_same_decision_is_kept(decisions, merged):
    parts = [Annotation(t, 1.0, "sz", author="model:m", review=Review(d, by="AB")) for t, d in enumerate(decisions)]
    whole = merge(parts)
    assert (whole.review.decision, whole.review.by) == (merged, "AB" if merged else "")


@pytest.mark.parametrize("other", ["model:n", "file", "reader"])
def test_findings_of_a_model_are_never_merged_with_others(other):
    with pytest.raises(AnalysisError, match="same model only"):
        merge([LIVE, Annotation(40.0, 5.0, "sz", author=other)])


def test_marks_of_several_people_become_the_readers():
    assert merge([Annotation(1, 1, "a", author="file"), Annotation(2, 1, "a", author="sidecar")]).author == "reader"
    assert merge([Annotation(1, 1, "a", author="file"), Annotation(2, 1, "a", author="file")]).author == "file"


def test_one_alone_is_no_merger():
    with pytest.raises(AnalysisError, match="nothing to merge with"):
        merge([LIVE])


def spans(book: MarkBook) -> list[tuple[float, float]]:
    return [(mark.onset, mark.stop) for mark in book.marks.items]


@pytest.mark.parametrize("live", [False, True])
def test_each_is_one_step_in_the_book(live):
    if live:
        book, mark, before = book_of(), LIVE, []
    else:
        book = book_of(Annotation(10.0, 20.0, "sz"))
        (mark,), before = book.marks.items, [(10.0, 30.0)]
    for edit, after in (
        (split_edit(mark, 17.0, book.number), [(10.0, 17.0), (17.0, 30.0)]),
        (trim_edit(mark, 12.0, 20.0, book.number), [(12.0, 20.0)]),
    ):
        book.do(edit)
        assert spans(book) == after
        assert all(m.id and m.state == "edited" for m in book.marks.items)
        assert len({m.id for m in book.marks.items}) == len(after)
        assert undecided([mark] if live else [], book.marks.items) == ()
        book.undo()
        assert spans(book) == before
        assert undecided([LIVE], book.marks.items) == (LIVE,)


def test_live_events_and_marks_of_a_model_become_one():
    book = book_of(LIVE)
    later = Annotation(40.0, 10.0, "sz", confidence=0.95, author="model:m")
    mark = book.marks.items[0]
    book.do(merge_edit([later, mark], book.number))
    (whole,) = book.marks.items
    assert (whole.id, whole.onset, whole.stop, whole.confidence) == (mark.id, 10.0, 50.0, 0.95)
    assert seen_span(whole) == (10.0, 50.0)
    assert undecided([LIVE, later], book.marks.items) == ()
    book.undo()
    assert book.marks.items == (mark,)
