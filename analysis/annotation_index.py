"""Finds the annotations of a page among a hundred thousand without looking at each."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import compress
from operator import attrgetter

import numpy as np

from analysis.annotation import Annotation

_FEW = 64  # changes that are worked into the sorted arrays one by one
_AUTHOR, _ONSET, _DURATION = attrgetter("author"), attrgetter("onset"), attrgetter("duration")


class AnnotationIndex:
    """Annotations sorted by onset, and who made them; `onset` and `stop` are read-only float64 (n,) arrays."""

    def __init__(self, annotations: Iterable[Annotation] = ()) -> None:
        items = list(annotations)
        onset = np.fromiter(map(_ONSET, items), np.float64, len(items))
        duration = np.fromiter(map(_DURATION, items), np.float64, len(items))
        order = np.lexsort((duration, onset))
        self.items: tuple[Annotation, ...] = tuple(map(items.__getitem__, order.tolist()))
        self._authors = Counter(map(_AUTHOR, items))
        self.onset = onset[order]
        self.stop = self.onset + duration[order]
        self._settle()

    def _settle(self) -> None:
        """Work out what follows from onsets and ends, and let nobody change them."""
        # Latest end so far: everything before the first place where it passes a time has ended by then.
        self._reach = np.maximum.accumulate(self.stop) if self.items else self.stop
        for array in (self.onset, self.stop, self._reach):
            array.flags.writeable = False

    @property
    def authors(self) -> frozenset[str]:
        """Everybody who says something."""
        return frozenset(self._authors)

    def __len__(self) -> int:
        return len(self.items)

    def within(self, start: float, stop: float) -> np.ndarray:
        """Indices, in order of onset, of what overlaps [start, stop) or is a moment inside it; intp (n,)."""
        first = int(np.searchsorted(self._reach, start, side="left"))
        last = int(np.searchsorted(self.onset, stop, side="left"))
        if last <= first:
            return np.empty(0, np.intp)
        ends, onsets = self.stop[first:last], self.onset[first:last]
        keep = (ends > start) | (onsets >= start)
        return np.flatnonzero(keep) + first

    def position(self, annotation: Annotation) -> int:
        """Where an annotation stands: itself, or with an id the one that has it; KeyError where it does not."""
        first = int(np.searchsorted(self.onset, annotation.onset, side="left"))
        last = int(np.searchsorted(self.onset, annotation.onset, side="right"))
        for i in range(first, last):
            item = self.items[i]
            if item is annotation or (annotation.id and item.id == annotation.id):
                return i
        raise KeyError(annotation)

    def positions(self, annotations: Sequence[Annotation]) -> list[int]:
        """Where annotations stand, as `position`; of very many, all that have ids or are themselves in the index."""
        if len(annotations) <= _FEW:
            return [self.position(annotation) for annotation in annotations]
        # All of them are looked at once, in place of a search for each.
        by_id = {item.id: i for i, item in enumerate(self.items)}
        by_object = {id(item): i for i, item in enumerate(self.items)} if 0 in by_id else {}
        return [by_id[a.id] if a.id else by_object[id(a)] for a in annotations]

    def where(self, kept: np.ndarray) -> AnnotationIndex:
        """The index of those for which `kept`, bool (n,), is true."""
        index = AnnotationIndex.__new__(AnnotationIndex)
        index.items = tuple(compress(self.items, kept.tolist()))
        index.onset, index.stop = self.onset[kept], self.stop[kept]
        only = next(iter(self._authors), "") if len(self._authors) == 1 else None
        index._authors = Counter(map(_AUTHOR, index.items)) if only is None else +Counter({only: len(index.items)})
        index._settle()
        return index

    def changed(
        self, removed: Sequence[Annotation], added: Sequence[Annotation], positions: Iterable[int] | None = None
    ) -> AnnotationIndex:
        """The index without some annotations and with others, for few of them without sorting it all again.

        `positions` are those of `removed` where they are known already.
        """
        places = sorted(self.positions(removed) if positions is None else positions, reverse=True)
        if len(removed) + len(added) > _FEW:
            kept = np.ones(len(self.items), bool)
            kept[places] = False
            rest = self.where(kept) if places else self
            return AnnotationIndex([*rest.items, *added]) if added else rest
        items = list(self.items)
        for place in places:
            del items[place]
        onset, stop = np.delete(self.onset, places), np.delete(self.stop, places)
        for annotation in added:
            place = _place_for(annotation, onset, items)
            items.insert(place, annotation)
            onset = np.insert(onset, place, annotation.onset)
            stop = np.insert(stop, place, annotation.stop)
        index = AnnotationIndex.__new__(AnnotationIndex)
        index.items, index.onset, index.stop = tuple(items), onset, stop
        index._authors = +(self._authors + Counter(map(_AUTHOR, added)) - Counter(map(_AUTHOR, removed)))
        index._settle()
        return index


def _place_for(annotation: Annotation, onset: np.ndarray, items: list[Annotation]) -> int:
    """Where an annotation belongs: by onset, then by duration, after those that are equal."""
    first = int(np.searchsorted(onset, annotation.onset, side="left"))
    last = int(np.searchsorted(onset, annotation.onset, side="right"))
    return bisect_right(items, annotation.duration, first, last, key=_DURATION)
