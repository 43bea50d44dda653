"""The queue lists what a plain search through all marks would, in the order it would, however it came about."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.annotation import Annotation, Review
from analysis.marks import Marks
from analysis.review.columns import MarkColumns, Vocabulary, channel_text, source_name
from analysis.review.decisions import standing, undecided
from analysis.review.queue import ORDERS, Queue, QueueFilter

MARK = st.builds(
    Annotation,
    st.integers(0, 30).map(float),
    st.integers(0, 9).map(float),
    st.sampled_from(["sz", "Seizure", "spike", "Artefact", ""]),
    st.sampled_from([(), ("C3",), ("C3", "C4")]),
    st.none() | st.sampled_from([0.1, 0.5, 0.9]),
    st.sampled_from(["file", "reader", "model:m", "model:n", "other.tsv"]),
    review=st.builds(
        Review,
        st.sampled_from(["", "accepted", "rejected"]),
        st.sampled_from(["", "AB"]),
        comment=st.sampled_from(["", "after HV"]),
        changed=st.sampled_from(["", "x"]),
    ),
)
MARKS = st.lists(MARK, max_size=15)
EVENT = st.builds(
    Annotation, st.integers(0, 30).map(float), st.integers(1, 9).map(float), st.just("sz"), author=st.just("model:m")
)
FILTER = st.builds(
    QueueFilter,
    st.none() | st.frozensets(st.sampled_from(["Seizure", "spike", "Artefact", "nothing"])),
    st.none() | st.frozensets(st.sampled_from(["file", "reader", "model:m", "nobody"])),
    st.none() | st.frozensets(st.sampled_from(["to review", "accepted", "rejected", "edited", "new"])),
    st.sampled_from(["", "seiz", "C4", "hv", "AB", "model", "zzz"]),
)
KEYS = {
    "time": lambda mark: mark.onset,
    "type": lambda mark: mark.title.casefold(),
    "duration": lambda mark: mark.duration,
    "confidence": lambda mark: np.inf if mark.confidence is None else mark.confidence,
}


def passes(mark: Annotation, wanted: QueueFilter) -> bool:
    review = mark.review
    words = [mark.title, mark.description, *mark.ch_names, mark.author, review.comment, review.by]
    words.append(source_name(mark.author))
    return (
        (wanted.types is None or mark.title in wanted.types)
        and (wanted.authors is None or mark.author in wanted.authors)
        and (wanted.states is None or standing(mark) in wanted.states)
        and any(wanted.text.casefold() in word.casefold() for word in words)
    )


@given(MARKS, st.lists(EVENT, max_size=6), FILTER, st.sampled_from(list(KEYS)))
def test_lists_what_a_plain_search_finds(marks, events, wanted, order):
    index = Marks.of(marks)
    queue = Queue.of(index.items, sorted(events, key=lambda e: e.onset))
    there = [*index.items, *undecided(sorted(events, key=lambda e: e.onset), marks)]
    listed = [queue.item(i) for i in queue.listed(wanted, order)]
    expected = sorted((m for m in there if passes(m, wanted)), key=lambda m: m.onset)
    assert listed == sorted(expected, key=KEYS[order])
    facets = queue.facets(wanted)
    for names, without in ((facets.types, "types"), (facets.authors, "authors"), (facets.states, "states")):
        rest = [m for m in there if passes(m, replace(wanted, **{without: None}))]
        value = {"types": lambda m: m.title, "authors": lambda m: m.author, "states": standing}[without]
        assert {name for name, _ in names} == {value(m) for m in there}
        assert all(count == sum(value(m) == name for m in rest) for name, count in names)


@given(MARKS, MARKS, st.lists(EVENT, max_size=4))
def test_a_later_state_is_the_same_as_a_new_list(before, after, events):
    first, second = Marks.of(before), Marks.of(before[: len(before) // 2] + after)
    followed = Queue.of(first.items, events).with_marks(second.items, events)
    fresh = Queue.of(second.items, events)
    for order in ORDERS:
        assert [followed.item(i) for i in followed.listed(QueueFilter(), order)] == [
            fresh.item(i) for i in fresh.listed(QueueFilter(), order)
        ]


def test_only_what_changed_is_looked_at(monkeypatch):
    items = [Annotation(float(i), 1.0, "x") for i in range(5000)]
    vocabulary = Vocabulary()
    columns = MarkColumns.of(items, vocabulary)
    looked: list[int] = []
    of = MarkColumns.of.__func__
    monkeypatch.setattr(
        MarkColumns, "of", classmethod(lambda cls, some, words: (looked.append(len(some)), of(cls, some, words))[1])
    )
    changed = [*items[:4000], replace(items[4000], description="y"), *items[4001:]]
    later = columns.follow(tuple(changed), vocabulary)
    assert looked == [1]
    assert vocabulary.types[later.type[4000]] == "y"
    assert columns.follow(columns.items, vocabulary) is columns


def test_the_greatest_come_first_when_asked_and_unknown_confidence_last():
    items = [Annotation(float(i), 1.0, "x", confidence=c) for i, c in enumerate([0.5, None, 0.9, 0.5])]
    queue = Queue.of(items)
    assert queue.listed(QueueFilter(), "confidence", descending=True).tolist() == [2, 0, 3, 1]
    assert queue.listed(QueueFilter(), "time", descending=True).tolist() == [3, 2, 1, 0]


def test_places_are_found_by_id_or_by_what_an_event_says():
    alike = [Annotation(1.0, 1.0, "x", id=5), Annotation(1.0, 1.0, "x", id=6)]
    event = Annotation(1.0, 1.0, "x", author="model:m")
    queue = Queue.of(alike, [event])
    assert [queue.place(mark) for mark in (*alike, event)] == [0, 1, 2]
    assert queue.place(replace(event, duration=2.0)) is None
    assert queue.place(Annotation(9.0, 1.0, "x", id=6)) is None
    assert queue.place_of_id(6) == 1
    assert queue.place_of_id(7) is None


def test_decisions_on_a_model_are_counted():
    marks = [Annotation(i, 1.0, "sz", author="model:m", review=Review(d)) for i, d in enumerate(["accepted", ""])]
    marks += [Annotation(i, 1.0, "sz", author="file", review=Review("rejected")) for i in (5, 6)]
    queue = Queue.of(marks, [Annotation(9.0, 1.0, "sz", author="model:m")])
    assert queue.decided_by("model:m") == 1
    assert queue.decided_by("model:other") == 0
    assert queue.number_of("to review") == 2
    assert queue.number_of("accepted", "rejected") == 3


@pytest.mark.parametrize(
    ("names", "text"), [((), "all"), (("C3",), "C3"), (("A", "B", "C"), "A B C"), (tuple("ABCDE"), "A B C +2")]
)
def test_channels_in_few_words(names, text):
    assert channel_text(names) == text
