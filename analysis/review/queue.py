"""The list a reader walks through: the marks of a recording and the live events of a model, filtered and sorted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from analysis.annotation import Annotation
from analysis.review.columns import MarkColumns, Vocabulary
from analysis.review.decisions import STANDINGS, Standing, Standings

Order = Literal["time", "type", "duration", "confidence", "state", "source"]
ORDERS: tuple[Order, ...] = ("time", "type", "duration", "confidence", "state", "source")
TO_REVIEW: Standing = "to review"


@dataclass(frozen=True)
class QueueFilter:
    """What is listed: types by name, sources by author, states; None for all of them. `text` must be found anywhere."""

    types: frozenset[str] | None = None
    authors: frozenset[str] | None = None
    states: frozenset[str] | None = None
    text: str = ""

    @property
    def is_active(self) -> bool:
        """Whether anything may be left out."""
        return self != QueueFilter()


@dataclass(frozen=True)
class Facets:
    """What can be chosen from, each with the number of marks that the other choices leave."""

    types: tuple[tuple[str, int], ...]
    authors: tuple[tuple[str, int], ...]
    states: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Queue:
    """Marks and live events, each in order of their onsets; place i is a mark, or past those an event."""

    marks: MarkColumns
    events: MarkColumns
    vocabulary: Vocabulary

    @classmethod
    def of(cls, marks: Sequence[Annotation], events: Sequence[Annotation] = ()) -> Queue:
        """Look at marks in order of their onsets, and at the events of a model that no mark stands for."""
        vocabulary = Vocabulary()
        columns = MarkColumns.of(marks, vocabulary)
        return cls(columns, MarkColumns.of((), vocabulary), vocabulary).with_events(events)

    def with_marks(
        self, marks: tuple[Annotation, ...], events: Sequence[Annotation], unlike: tuple[int, int] | None = None
    ) -> Queue:
        """A later state of the marks, and all events that the model finds now; `unlike` as in `MarkColumns.follow`."""
        columns = self.marks.follow(marks, self.vocabulary, unlike)
        return replace(self, marks=columns).with_events(events)

    def with_events(self, events: Sequence[Annotation]) -> Queue:
        """The same marks with other events of models, of which those that a mark stands for are left out."""
        standings = {author: self._standings(author) for author in {event.author for event in events}}
        live = [event for event in events if not standings[event.author].cover(event.onset, event.stop)]
        return replace(self, events=MarkColumns.of(live, self.vocabulary))

    def _standings(self, author: str) -> Standings:
        of_author = self.marks.author == self.vocabulary.author_number(author)
        return Standings(self.marks.start[of_author], self.marks.stop[of_author], self.marks.moved[of_author])

    # What is in it

    def __len__(self) -> int:
        return len(self.marks) + len(self.events)

    def item(self, place: int) -> Annotation:
        """The mark or event at a place."""
        n = len(self.marks)
        return self.marks.items[place] if place < n else self.events.items[place - n]

    def place(self, mark: Annotation) -> int | None:
        """Where a mark with an id, or an equal event without one, is; None where it is not."""
        columns, first = (self.marks, 0) if mark.id else (self.events, len(self.marks))
        begin = int(np.searchsorted(columns.onset, mark.onset, side="left"))
        end = int(np.searchsorted(columns.onset, mark.onset, side="right"))
        found = (i for i in range(begin, end) if _is_same(columns.items[i], mark))
        return next((first + i for i in found), None)

    def place_of_id(self, number: int) -> int | None:
        """Where the mark with this id is, wherever it has been moved to; None where it is not."""
        return next((i for i, mark in enumerate(self.marks.items) if mark.id == number), None)

    @cached_property
    def onset(self) -> np.ndarray:
        """Onsets of all places in seconds (n,)."""
        return np.concatenate((self.marks.onset, self.events.onset))

    @cached_property
    def standing(self) -> np.ndarray:
        """Numbers of STANDINGS of all places (n,)."""
        return np.concatenate((self.marks.standing, self.events.standing))

    @cached_property
    def type(self) -> np.ndarray:
        """Numbers of the vocabulary's types of all places (n,)."""
        return np.concatenate((self.marks.type, self.events.type))

    @cached_property
    def author(self) -> np.ndarray:
        """Numbers of the vocabulary's authors of all places (n,)."""
        return np.concatenate((self.marks.author, self.events.author))

    @cached_property
    def by_time(self) -> np.ndarray:
        """All places in order of their onsets, a mark before an event at the same time (n,)."""
        return np.argsort(self.onset, kind="stable")

    def number_of(self, *states: Standing) -> int:
        """How many are in one of these states."""
        counts = np.bincount(self.standing, minlength=len(STANDINGS))
        return int(sum(counts[STANDINGS.index(state)] for state in states))

    def decided_by(self, author: str) -> int:
        """How many of one model's findings somebody has decided on."""
        decided = np.isin(self.marks.standing, [STANDINGS.index("accepted"), STANDINGS.index("rejected")])
        return int((decided & (self.marks.author == self.vocabulary.author_number(author))).sum())

    # What is listed of it

    def listed(self, wanted: QueueFilter, order: Order = "time", descending: bool = False) -> np.ndarray:
        """The places that pass a filter, in an order; at the same value by time (m,)."""
        places = self.by_time
        if wanted.is_active:
            places = places[self._passes(wanted)[places]]
        if order != "time":
            values = self._values(order)[places]
            places = places[np.argsort(-values if descending else values, kind="stable")]
        elif descending:
            places = places[::-1]
        return places

    def facets(self, wanted: QueueFilter) -> Facets:
        """All types, authors and states there are, and how many of each the rest of the filter leaves."""
        names = self.vocabulary
        types = self._counts(self.type, names.types, replace(wanted, types=None))
        authors = self._counts(self.author, names.authors, replace(wanted, authors=None))
        states = self._counts(self.standing, STANDINGS, replace(wanted, states=None))
        return Facets(types, authors, states)

    def _counts(self, numbers: np.ndarray, names: Sequence[str], wanted: QueueFilter) -> tuple[tuple[str, int], ...]:
        there = np.bincount(numbers, minlength=len(names))
        left = np.bincount(numbers[self._passes(wanted)], minlength=len(names)) if wanted.is_active else there
        return tuple((names[i], int(left[i])) for i in np.flatnonzero(there).tolist())

    def _passes(self, wanted: QueueFilter) -> np.ndarray:
        passes = np.ones(len(self), bool)
        for chosen, names, numbers in (
            (wanted.types, self.vocabulary.types, self.type),
            (wanted.authors, self.vocabulary.authors, self.author),
            (wanted.states, STANDINGS, self.standing),
        ):
            if chosen is not None:
                passes &= np.array([name in chosen for name in names], bool)[numbers]
        if wanted.text:
            needle = wanted.text.casefold()
            texts = np.concatenate((self.marks.text, self.events.text))
            passes &= np.array([needle in text for text in self.vocabulary.texts], bool)[texts]
        return passes

    def _values(self, order: Order) -> np.ndarray:
        """What is sorted by; without a confidence comes last, however it is sorted."""
        if order == "duration":
            return np.concatenate((self.marks.duration, self.events.duration))
        if order == "confidence":
            return np.concatenate((self.marks.confidence, self.events.confidence))  # NaN is sorted last
        if order == "state":
            return self.standing.astype(np.int64)
        names, numbers = (
            (self.vocabulary.types, self.type) if order == "type" else (self.vocabulary.authors, self.author)
        )
        ranks = np.argsort(np.argsort([name.casefold() for name in names], kind="stable"), kind="stable")
        return ranks[numbers]


def _is_same(one: Annotation, other: Annotation) -> bool:
    return one.id == other.id if other.id else one == other
