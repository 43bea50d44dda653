"""What readers have decided on what a model found, and which of its events still wait for a decision."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from analysis.annotation import Annotation
from analysis.plain_numbers import number

# Further columns of a mark: the span that the model itself gave it, kept when a reader moves its ends.
MODEL_ONSET, MODEL_DURATION = "modelOnset", "modelDuration"

Standing = Literal["to review", "accepted", "rejected", "edited", "new"]
STANDINGS: tuple[Standing, ...] = ("to review", "accepted", "rejected", "edited", "new")


def standing(mark: Annotation) -> Standing:
    """Where a mark stands in the review: what a model found is to review until someone decides on it."""
    if mark.review.decision:
        return mark.review.decision
    return "to review" if mark.is_model else "edited" if mark.review.changed else "new"


def needs_review(mark: Annotation) -> bool:
    """Whether a model found it and nobody has decided on it yet."""
    return mark.is_model and not mark.review.decision


def with_model_span(mark: Annotation) -> Annotation:
    """A model's event that remembers the span the model gave it, where that is still known; any other mark as it is.

    To be called before a reader moves its ends, so that it is still known what the reader has seen.
    """
    if not mark.is_model or mark.review.changed or _model_span(mark) is not None:
        return mark
    span = (MODEL_ONSET, number(mark.onset)), (MODEL_DURATION, number(mark.duration))
    return replace(mark, extras=(*mark.extras, *span))


def without_model_span(extras: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The further columns of a mark but for those of the model's span."""
    return tuple(extra for extra in extras if extra[0] not in (MODEL_ONSET, MODEL_DURATION))


def seen_span(mark: Annotation) -> tuple[float, float]:
    """What a reader has looked at when deciding on a mark: its own span and the one the model gave it, in seconds."""
    span = _model_span(mark)
    return (mark.onset, mark.stop) if span is None else (min(mark.onset, span[0]), max(mark.stop, span[1]))


def ends_are_moved(mark: Annotation) -> bool:
    """Whether a reader has changed a model's event without it being known what the model's span was."""
    return bool(mark.review.changed) and _model_span(mark) is None


def undecided(events: Sequence[Annotation], marks: Iterable[Annotation]) -> tuple[Annotation, ...]:
    """The events of one model, as a threshold gives them, that no mark of the same model in the book stands for.

    A mark stands for an event when at least half of the event lies in what the reader has seen (`seen_span`): an event
    that shrinks with a higher threshold stays decided on, and one that grows with a lower threshold to more than twice
    of what was seen is shown again, since most of it was never looked at. Where a reader has moved the ends and the
    model's span is not known, half of the shorter of the two is enough. The marks themselves always stay.
    """
    authors = {event.author for event in events}
    own: dict[str, list[Annotation]] = {author: [] for author in authors}
    for mark in marks:
        if mark.author in own and mark.is_model:
            own[mark.author].append(mark)
    standings = {author: Standings.of(found) for author, found in own.items()}
    return tuple(event for event in events if not standings[event.author].cover(event.onset, event.stop))


def reviewed(events: Sequence[Annotation], marks: Iterable[Annotation], author: str) -> tuple[Annotation, ...]:
    """The events of one model after a review: those that were accepted or are undecided, with the reader's ends."""
    own = [mark for mark in marks if mark.author == author]
    return (*(mark for mark in own if mark.review.decision != "rejected"), *undecided(events, own))


class Standings:
    """The spans of one model's marks in the book: `start` and `stop` in seconds and `moved`, all (n,), in any order."""

    def __init__(self, start: np.ndarray, stop: np.ndarray, moved: np.ndarray) -> None:
        order = np.argsort(start, kind="stable")
        self._start, self._stop, self._moved = start[order], stop[order], moved[order]
        self._reach = np.maximum.accumulate(self._stop) if len(order) else self._stop

    @classmethod
    def of(cls, marks: Sequence[Annotation]) -> Standings:
        """The spans that readers have seen of these marks."""
        spans = np.array([seen_span(mark) for mark in marks]).reshape(-1, 2)
        return cls(spans[:, 0], spans[:, 1], np.fromiter(map(ends_are_moved, marks), bool, len(marks)))

    def cover(self, onset: float, stop: float) -> bool:
        """Whether one of the marks stands for the event [onset, stop), by the rule of `undecided`."""
        first = int(np.searchsorted(self._reach, onset, side="left"))
        last = int(np.searchsorted(self._start, stop, side="right"))
        if last <= first:
            return False
        starts, stops = self._start[first:last], self._stop[first:last]
        overlap = np.minimum(stops, stop) - np.maximum(starts, onset)
        length = stop - onset
        needed = np.where(self._moved[first:last], np.minimum(stops - starts, length), length) / 2
        return bool((overlap >= needed).any())


def _model_span(mark: Annotation) -> tuple[float, float] | None:
    if not mark.extras:
        return None
    extras = dict(mark.extras)
    try:
        onset = float(extras[MODEL_ONSET])
        return onset, onset + float(extras[MODEL_DURATION])
    except (KeyError, ValueError):
        return None
