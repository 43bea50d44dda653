"""The index finds what a search through the whole list finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.annotation import Annotation, number_annotations
from analysis.annotation_index import AnnotationIndex

spans = st.tuples(st.floats(0, 100), st.one_of(st.just(0.0), st.floats(0, 60)))


@given(st.lists(spans, max_size=40), st.floats(-5, 110), st.floats(0.01, 50))
def test_finds_what_a_full_search_finds(items: list[tuple[float, float]], start: float, length: float) -> None:
    index = AnnotationIndex(Annotation(onset, duration, "x") for onset, duration in items)
    stop = start + length
    found = [index.items[i] for i in index.within(start, stop)]
    expected = [a for a in index.items if a.onset < stop and (a.stop > start or a.onset >= start)]
    assert found == expected
    assert [a.onset for a in index.items] == sorted(onset for onset, _ in items)


def test_moment_at_the_start_of_a_page_belongs_to_it_and_at_the_end_to_the_next() -> None:
    index = AnnotationIndex([Annotation(10.0, 0.0, "x"), Annotation(5.0, 5.0, "ends here")])
    assert [index.items[i].description for i in index.within(10.0, 20.0)] == ["x"]
    assert index.within(0.0, 5.0).size == 0
    assert [index.items[i].description for i in index.within(5.0, 10.0)] == ["ends here"]


def test_long_annotation_from_far_before_is_found_among_many() -> None:
    marks = [Annotation(float(i), 0.0, "x") for i in range(1000)]
    index = AnnotationIndex([*marks, Annotation(3.5, 900.0, "long")])
    found = [index.items[i].description for i in index.within(800.0, 802.0)]
    assert found == ["long", "x", "x"]


def test_empty() -> None:
    index = AnnotationIndex()
    assert len(index) == 0
    assert index.within(0, 10).dtype == np.intp


@given(st.lists(spans, max_size=30), st.lists(spans, max_size=5), st.data())
def test_changing_the_index_is_the_same_as_building_it_anew(items, new, data) -> None:
    marks = [Annotation(onset, duration, "x", author=f"a{i % 3}") for i, (onset, duration) in enumerate(items)]
    number_annotations(marks)
    index = AnnotationIndex(marks)
    gone = data.draw(st.lists(st.sampled_from(marks), unique_by=id, max_size=5)) if marks else []
    added = [Annotation(onset, duration, "new", author="b") for onset, duration in new]
    changed = index.changed(gone, added)
    fresh = AnnotationIndex([*(mark for mark in index.items if all(mark is not g for g in gone)), *added])
    assert [id(item) for item in changed.items] == [id(item) for item in fresh.items]
    assert changed.authors == fresh.authors
    np.testing.assert_array_equal(changed.onset, fresh.onset)
    np.testing.assert_array_equal(changed.stop, fresh.stop)
    for start in (0.0, 20.0, 90.0):
        np.testing.assert_array_equal(changed.within(start, start + 10), fresh.within(start, start + 10))


def test_of_two_equal_marks_the_one_that_is_meant_goes() -> None:
    first, second = Annotation(1.0, 0.0, "x"), Annotation(1.0, 0.0, "x")
    index = AnnotationIndex([first, second])
    assert index.changed([second], []).items[0] is first
    assert index.changed([first], []).items[0] is second


def test_a_mark_that_is_not_there_cannot_go() -> None:
    with pytest.raises(KeyError):
        AnnotationIndex([Annotation(1.0, 0.0, "x")]).changed([Annotation(1.0, 0.0, "x")], [])
