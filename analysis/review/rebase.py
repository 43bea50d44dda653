"""Changes of a mark that were begun before others changed it: what was changed here is changed, all else stays."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from analysis.annotation import Annotation, Review
from analysis.errors import AnalysisError

_SPAN = ("onset", "duration")
_SAME_END = 1e-6  # seconds: less comes from adding and subtracting


def rebase(before: Annotation, after: Annotation, current: Annotation) -> Annotation:
    """The mark as it is now (`current`) with what differs between `before` and `after`, to the single end and field.

    A mark that was moved as a whole keeps the length it has now. AnalysisError where the ends would change places.
    """
    if current == before:
        return after
    onset, duration = _span(before, after, current)
    if duration < 0:
        raise AnalysisError(
            f"{current.title or 'the mark'} was moved in another window meanwhile: change its ends again"
        )
    review = replace(current.review, **_changes(before.review, after.review))
    changes = {name: value for name, value in _changes(before, after).items() if name not in (*_SPAN, "review", "id")}
    return replace(current, onset=onset, duration=duration, review=review, **changes)


def _span(before: Annotation, after: Annotation, current: Annotation) -> tuple[float, float]:
    """Onset and duration in seconds."""
    moved_onset, moved_stop = after.onset != before.onset, abs(after.stop - before.stop) > _SAME_END
    if moved_onset and moved_stop:
        same_length = abs(after.duration - before.duration) <= _SAME_END
        return after.onset, current.duration if same_length else after.duration
    if moved_onset:
        return after.onset, round(current.stop - after.onset, 6)
    if moved_stop:
        return current.onset, round(after.stop - current.onset, 6)
    return current.onset, current.duration


def _changes(before: Annotation | Review, after: Annotation | Review) -> dict[str, Any]:
    pairs = {field.name: (getattr(before, field.name), getattr(after, field.name)) for field in fields(before)}
    return {name: new for name, (old, new) in pairs.items() if new != old}
