"""All that people and files say of a recording, sorted once: the marks, and the seizures they tell of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import compress
from operator import attrgetter
from typing import Literal

import numpy as np

from analysis.annotation import Annotation
from analysis.annotation_index import AnnotationIndex
from analysis.seizure_marks import SeizureMarks, find_seizures, says_seizure, seizures, tells_of_seizure

Source = Literal["file", "model", "reader"]
SOURCES: tuple[Source, ...] = ("file", "model", "reader")
_NONE = AnnotationIndex()
_DESCRIPTION = attrgetter("description")


def source_of(annotation: Annotation) -> Source:
    """Who says it: a model, the reader at this window, or the recording's file and whatever else was read."""
    return _source_of_author(annotation.author)


@lru_cache(maxsize=256)
def _source_of_author(author: str) -> Source:
    return "model" if Annotation(0.0, 0.0, "", author=author).is_model else "reader" if author == "reader" else "file"


@dataclass(frozen=True)
class Marks:
    """An index of annotations with the seizure spans, (onset, stop) in seconds, that people tell of in any wording.

    What a reader has rejected tells of no seizure, and neither does what a model found, accepted or not: a model is
    compared with these spans, and must not be compared with itself.
    """

    index: AnnotationIndex = field(default_factory=AnnotationIndex)
    seizures: tuple[tuple[float, float], ...] = ()
    _telling: tuple[Annotation, ...] = ()
    _by_source: tuple[AnnotationIndex, ...] = (_NONE, _NONE, _NONE)  # as in SOURCES

    @classmethod
    def of(cls, annotations: Iterable[Annotation]) -> Marks:
        """Sort annotations and find their seizures; a hundred thousand take a tenth of a second."""
        index = AnnotationIndex(annotations)
        telling = _telling(index.items)
        return cls(index, tuple(seizures(telling)), telling, _sort_by_source(index))

    def of_source(self, source: Source) -> AnnotationIndex:
        """The marks of one source; the same object as long as none of these is changed."""
        return self._by_source[SOURCES.index(source)]

    @property
    def items(self) -> tuple[Annotation, ...]:
        """The annotations in order of their onsets."""
        return self.index.items

    @cached_property
    def seizure_marks(self) -> SeizureMarks:
        """The same seizures, with the onsets of those whose end nobody marked."""
        return find_seizures(self._telling)

    def __len__(self) -> int:
        return len(self.index)

    def changed(self, removed: Sequence[Annotation], added: Sequence[Annotation]) -> Marks:
        """The marks without some and with others; KeyError when one of `removed` is not there."""
        positions = self.index.positions(removed)
        index = self.index.changed(removed, added, positions)
        by_source = self._changed_sources(index, removed, added)
        new = _telling(added)
        if not new and not any(map(_tells, removed)):
            return Marks(index, self.seizures, self._telling, by_source)
        items = self.items
        gone = {id(items[place]) for place in positions}
        telling = (*(a for a in self._telling if id(a) not in gone), *new)
        return Marks(index, tuple(seizures(telling)), telling, by_source)

    def where(self, kept: np.ndarray) -> Marks:
        """The marks for which `kept`, bool (n,), is true, and the seizures that these tell of."""
        if kept.all():
            return self
        index = self.index.where(kept)
        gone = set(map(id, compress(self.items, (~kept).tolist())))
        telling = tuple(a for a in self._telling if id(a) not in gone)
        by_source = tuple(
            index if source is self.index else source.where(np.array([id(a) not in gone for a in source.items], bool))
            for source in self._by_source
        )
        return Marks(index, tuple(seizures(telling)), telling, by_source)

    def _changed_sources(
        self, index: AnnotationIndex, removed: Sequence[Annotation], added: Sequence[Annotation]
    ) -> tuple[AnnotationIndex, ...]:
        """The marks of each source, given all of them as `index`."""
        made = []
        gone_sources, new_sources = list(map(source_of, removed)), list(map(source_of, added))
        for source, old in zip(SOURCES, self._by_source, strict=True):
            gone = [a for a, of in zip(removed, gone_sources, strict=True) if of == source]
            new = [a for a, of in zip(added, new_sources, strict=True) if of == source]
            if not gone and not new:
                made.append(old)
            elif not new and len(gone) == len(old):
                made.append(_NONE)
            elif len(old) - len(gone) + len(new) == len(index):
                made.append(index)
            else:
                made.append(old.changed(gone, new))
        return tuple(made)


def _tells(annotation: Annotation) -> bool:
    told = not annotation.is_model and annotation.review.decision != "rejected"
    return told and tells_of_seizure(annotation)


def _telling(annotations: Sequence[Annotation]) -> tuple[Annotation, ...]:
    """Those that tell of a seizure; a text that says nothing of one is looked at once, however many marks have it."""
    texts = list(map(_DESCRIPTION, annotations))
    worth = {text for text in set(texts) if says_seizure(text)}
    if not worth:
        return ()
    return tuple(filter(_tells, compress(annotations, map(worth.__contains__, texts))))


def _sort_by_source(index: AnnotationIndex) -> tuple[AnnotationIndex, ...]:
    sources = set(map(_source_of_author, index.authors))
    if len(sources) == 1:
        # The usual case by far, and the one of files with a hundred thousand marks: nothing to sort.
        return tuple(index if source in sources else _NONE for source in SOURCES)
    return tuple(AnnotationIndex([a for a in index.items if source_of(a) == source]) for source in SOURCES)
