"""Marks as columns of numbers, so that a hundred thousand of them are filtered, sorted and counted at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np

from analysis.annotation import UNREVIEWED, Annotation
from analysis.review.decisions import STANDINGS, ends_are_moved, seen_span, standing

_SOURCES = {"reader": "you", "file": "file"}
_BLOCK = 2048
_ONSET, _DURATION, _CONFIDENCE = attrgetter("onset"), attrgetter("duration"), attrgetter("confidence")


def source_name(author: str) -> str:
    """Who says it, as a person calls it: "file", "you", the title of a model, or the name of another file or person."""
    if author.startswith("model:"):
        return author.removeprefix("model:")
    return _SOURCES.get(author, author)


def channel_text(ch_names: Sequence[str], most: int = 3) -> str:
    """The channels of a mark in a few words."""
    if not ch_names:
        return "all"
    more = f" +{len(ch_names) - most}" if len(ch_names) > most else ""
    return " ".join(ch_names[:most]) + more


class Vocabulary:
    """The types, sources and searchable texts that columns refer to by number; it only ever grows."""

    def __init__(self) -> None:
        self.types: list[str] = []
        self.authors: list[str] = []
        self.texts: list[str] = []
        self._types: dict[str, int] = {}
        self._authors: dict[str, int] = {}
        self._codes: dict[tuple[Any, ...], tuple[int, int, int, int]] = {}

    def codes(self, mark: Annotation) -> tuple[int, int, int, int]:
        """Numbers of the type, the author, the standing and the searchable text of a mark."""
        review = mark.review
        key: tuple[Any, ...] = (mark.description, mark.author, mark.ch_names)
        if review is not UNREVIEWED:
            key += (review.decision, bool(review.changed), review.comment, review.tag, review.by)
        found = self._codes.get(key)
        if found is None:
            found = self._codes[key] = self._new_codes(mark)
        return found

    def _new_codes(self, mark: Annotation) -> tuple[int, int, int, int]:
        words = (mark.title, mark.description, *mark.ch_names, source_name(mark.author), mark.author)
        self.texts.append("\n".join((*words, mark.review.comment, mark.review.tag, mark.review.by)).casefold())
        return (
            _number_of(mark.title, self._types, self.types),
            _number_of(mark.author, self._authors, self.authors),
            STANDINGS.index(standing(mark)),
            len(self.texts) - 1,
        )

    def type_number(self, name: str) -> int | None:
        """The number of a type; None for one that no mark has had."""
        return self._types.get(name)

    def author_number(self, author: str) -> int | None:
        """The number of an author; None for one that no mark has had."""
        return self._authors.get(author)


@dataclass(frozen=True)
class MarkColumns:
    """`items` and what is said of each, all (n,): times in seconds as float64, NaN for no confidence.

    `start`, `stop` and `moved` are the span a reader has seen and whether it is known (analysis.review.decisions);
    `type`, `author` and `text` are numbers of the vocabulary, `standing` of STANDINGS.
    """

    items: tuple[Annotation, ...]
    onset: np.ndarray
    duration: np.ndarray
    confidence: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    moved: np.ndarray
    type: np.ndarray
    author: np.ndarray
    standing: np.ndarray
    text: np.ndarray

    @classmethod
    def of(cls, items: Sequence[Annotation], vocabulary: Vocabulary) -> MarkColumns:
        """Columns of marks in the order given; a hundred thousand take some tenths of a second."""
        n = len(items)
        onset, duration = (np.fromiter(map(of, items), np.float64, n) for of in (_ONSET, _DURATION))
        confidence = np.array(list(map(_CONFIDENCE, items)), np.float64)  # None becomes NaN
        start, stop, moved = onset.copy(), onset + duration, np.zeros(n, bool)
        for i, mark in enumerate(items):
            if mark.extras:
                start[i], stop[i] = seen_span(mark)
            if mark.review is not UNREVIEWED and mark.review.changed:
                moved[i] = ends_are_moved(mark)
        codes = np.fromiter(chain.from_iterable(map(vocabulary.codes, items)), np.int32, 4 * n).reshape(n, 4)
        kind, author, stands, text = (np.ascontiguousarray(codes[:, i]) for i in range(4))
        return cls(tuple(items), onset, duration, confidence, start, stop, moved, kind, author, stands, text)

    def __len__(self) -> int:
        return len(self.items)

    def unlike(self, items: tuple[Annotation, ...]) -> tuple[int, int]:
        """How many marks at the beginning and at the end are those of `items`."""
        if items is self.items:
            return len(items), 0
        first = _same(self.items, items)
        most = min(len(self.items), len(items)) - first
        return first, min(most, _same(self.items[::-1], items[::-1]))

    def follow(
        self, items: tuple[Annotation, ...], vocabulary: Vocabulary, unlike: tuple[int, int] | None = None
    ) -> MarkColumns:
        """The columns of a later state of the same marks; only what lies between equal ends is looked at.

        `unlike` is what the method of that name says of them, where it was asked.
        """
        first, last = unlike or self.unlike(items)
        if first == len(items) == len(self.items):
            return self
        new = MarkColumns.of(items[first : len(items) - last], vocabulary)
        tail = len(self.items) - last
        arrays = {
            field.name: np.concatenate(
                (getattr(self, field.name)[:first], getattr(new, field.name), getattr(self, field.name)[tail:])
            )
            for field in fields(self)
            if field.name != "items"
        }
        return MarkColumns(items=items, **arrays)


def _same(old: Sequence[Annotation], new: Sequence[Annotation]) -> int:
    """How many marks from the beginning are equal; sequences of the same objects are compared without looking in."""
    n = min(len(old), len(new))
    first = next((i for i in range(0, n, _BLOCK) if old[i : i + _BLOCK] != new[i : i + _BLOCK]), n)
    last = min(n, first + _BLOCK)
    return next((i for i in range(first, last) if old[i] is not new[i] and old[i] != new[i]), last)


def _number_of(name: str, numbers: dict[str, int], names: list[str]) -> int:
    if name not in numbers:
        numbers[name] = len(names)
        names.append(name)
    return numbers[name]
