"""Finds the annotations of a page among a hundred thousand without looking at each."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

import numpy as np

from analysis.annotation import Annotation


class AnnotationIndex:
    """Annotations sorted by onset, and who made them; `onset` and `stop` are read-only float64 (n,) arrays."""

    def __init__(self, annotations: Iterable[Annotation] = ()) -> None:
        items = list(annotations)
        onset = np.fromiter(map(attrgetter("onset"), items), np.float64, len(items))
        duration = np.fromiter(map(attrgetter("duration"), items), np.float64, len(items))
        order = np.lexsort((duration, onset))
        self.items: tuple[Annotation, ...] = tuple(map(items.__getitem__, order.tolist()))
        self.authors: frozenset[str] = frozenset(map(attrgetter("author"), items))
        self.onset = onset[order]
        self.stop = self.onset + duration[order]
        # Latest end so far: everything before the first place where it passes a time has ended by then.
        self._reach = np.maximum.accumulate(self.stop) if items else self.stop
        for array in (self.onset, self.stop, self._reach):
            array.flags.writeable = False

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
