"""Splitting, merging and trimming of marks; nothing that a mark says is lost, and each is one step to undo."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from analysis.annotation import Annotation, Review
from analysis.errors import AnalysisError
from analysis.plain_numbers import number
from analysis.review.decisions import MODEL_DURATION, MODEL_ONSET, seen_span, with_model_span, without_model_span
from analysis.review.mark_book import Change, Edit, now

MERGED_FROM = "mergedFrom"
SHORTEST = 0.01  # seconds that a part of a split or trimmed mark keeps at least
_BETWEEN = "; "


def split(mark: Annotation, at: float) -> tuple[Annotation, Annotation]:
    """Two marks that meet at `at` seconds and say what the one says; AnalysisError when it does not lie inside."""
    if not mark.onset + SHORTEST <= at <= mark.stop - SHORTEST:
        raise AnalysisError(f"{at:.2f} s does not lie inside {_name(mark)}: put the cursor into it to split it")
    whole = with_model_span(mark)
    return replace(whole, duration=_length(mark.onset, at)), replace(whole, onset=at, duration=_length(at, mark.stop))


def trim(mark: Annotation, start: float, stop: float) -> Annotation:
    """The mark with other ends in seconds; AnalysisError when nothing of it would be left."""
    if stop - start < SHORTEST:
        raise AnalysisError(f"{_name(mark)} would end before it begins: choose another place for its end")
    return replace(with_model_span(mark), onset=start, duration=_length(start, stop))


def merge(marks: Sequence[Annotation]) -> Annotation:
    """One mark from the first onset to the last end; texts, channels and further columns of all are kept.

    What differs is joined with "; ", and `mergedFrom` lists what was merged. The merged mark has no decision unless
    all have the same one. AnalysisError for fewer than two, and for marks of people with those of a model or of
    several models, which must not be taken for one another.
    """
    parts = sorted(marks, key=lambda mark: (mark.onset, mark.stop))
    if len(parts) < 2:
        raise AnalysisError("there is nothing to merge with: select two marks or more, or one that another follows")
    if any(mark.is_model for mark in parts) and len({mark.author for mark in parts}) > 1:
        raise AnalysisError(
            "events of a model are merged with events of the same model only: select some of one source"
        )
    onset, stop = parts[0].onset, max(mark.stop for mark in parts)
    authors = {mark.author for mark in parts}
    everywhere = any(not mark.ch_names for mark in parts)
    return Annotation(
        onset,
        _length(onset, stop),
        _joined(mark.description for mark in parts),
        () if everywhere else tuple(dict.fromkeys(name for mark in parts for name in mark.ch_names)),
        max((mark.confidence for mark in parts if mark.confidence is not None), default=None),
        parts[0].author if len(authors) == 1 else "reader",
        _joined_extras(parts),
        review=_joined_review([mark.review for mark in parts]),
    )


def split_edit(mark: Annotation, at: float, count: Callable[[Sequence[Annotation]], None]) -> Edit:
    """The step that splits a mark, or a model's event that is in no book yet; `count` gives new marks their ids."""
    first, second = map(_edited, split(mark, at))
    new = [second] if mark.id else [first, second]
    _set_id(second, 0)
    _set_id(first, mark.id)
    count(new)
    changes = (Change(mark if mark.id else None, first), Change(None, second))
    return Edit(f"Split {_name(mark)}", changes)


def trim_edit(mark: Annotation, start: float, stop: float, count: Callable[[Sequence[Annotation]], None]) -> Edit:
    """The step that gives a mark, or a model's event that is in no book yet, other ends."""
    after = _edited(trim(mark, start, stop))
    _set_id(after, mark.id)
    if not mark.id:
        count([after])
    return Edit(f"Trim {_name(mark)}", (Change(mark if mark.id else None, after),))


def merge_edit(marks: Sequence[Annotation], count: Callable[[Sequence[Annotation]], None]) -> Edit:
    """The step that puts one mark in the place of several; it takes over the id of the first that has one."""
    after = _edited(merge(marks))
    kept = [mark for mark in sorted(marks, key=lambda mark: mark.onset) if mark.id]
    if kept:
        _set_id(after, kept[0].id)
    else:
        count([after])
    gone = [Change(mark, None) for mark in kept[1:]]
    return Edit(f"Merge {len(marks)} marks", (Change(kept[0] if kept else None, after), *gone))


def _length(start: float, stop: float) -> float:
    """Seconds between two times, without the digits that subtraction adds."""
    return round(stop - start, 9)


def _edited(mark: Annotation) -> Annotation:
    """The mark as changed just now."""
    at = now()
    return replace(mark, review=replace(mark.review, created=mark.review.created or at, changed=at))


def _set_id(mark: Annotation, value: int) -> None:
    object.__setattr__(mark, "id", value)


def _name(mark: Annotation) -> str:
    return mark.title or "mark"


def _joined(texts: Iterable[str]) -> str:
    return _BETWEEN.join(dict.fromkeys(text for text in texts if text))


def _joined_extras(parts: Sequence[Annotation]) -> tuple[tuple[str, str], ...]:
    names = dict.fromkeys(name for mark in parts for name, _ in without_model_span(mark.extras))
    kept = {
        name: _joined(value for mark in parts for other, value in mark.extras if other == name)
        for name in names
        if name != MERGED_FROM
    }
    made_of = _joined(dict(mark.extras).get(MERGED_FROM) or _words(mark) for mark in parts)
    extras = [*kept.items(), (MERGED_FROM, made_of)]
    if parts[0].is_model:
        spans = [seen_span(mark) for mark in parts]
        start, stop = min(a for a, _ in spans), max(z for _, z in spans)
        extras += [(MODEL_ONSET, number(start)), (MODEL_DURATION, number(stop - start))]
    return tuple(extras)


def _words(mark: Annotation) -> str:
    """A mark in one line: span in seconds, text, channels, confidence, source, and the decision on it."""
    review = mark.review
    decided = f"{review.decision} by {review.by or 'you'} {review.at}".strip() if review.decision else ""
    parts = (
        f"{number(mark.onset)}-{number(mark.stop)} s",
        mark.description,
        ",".join(mark.ch_names),
        f"p {mark.confidence:g}" if mark.confidence is not None else "",
        f"({mark.author})",
        decided,
    )
    return " ".join(part for part in parts if part)


def _joined_review(reviews: Sequence[Review]) -> Review:
    decisions = {review.decision for review in reviews}
    created = [review.created for review in reviews if review.created]
    last = max(reviews, key=lambda review: review.at)
    agreed = last.decision if len(decisions) == 1 else ""
    return Review(
        decision=agreed,
        by=_joined(review.by for review in reviews) if agreed else "",
        at=last.at if agreed else "",
        comment=_joined(review.comment for review in reviews),
        tag=_joined(review.tag for review in reviews),
        created=min(created, default=""),
    )
