"""What was done to marks between two points, in words: mark by mark, and in a changed one field by field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from analysis.annotation import Annotation
from analysis.review.columns import source_name
from analysis.review.history import Change

Kind = Literal["added", "changed", "accepted", "rejected", "undecided", "removed"]
KINDS: tuple[Kind, ...] = ("added", "changed", "accepted", "rejected", "undecided", "removed")
# What stands in a sentence; "undecided" is a decision that was taken back.
KIND_WORDS: dict[Kind, str] = {
    "added": "added",
    "changed": "changed",
    "accepted": "accepted",
    "rejected": "rejected",
    "undecided": "no longer decided on",
    "removed": "removed",
}
ARROW = "→"
_NOTHING = "nothing"


@dataclass(frozen=True)
class FieldChange:
    """A field of a mark before and after, in words; empty where it held nothing."""

    field: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.field} {self.before or _NOTHING} {ARROW} {self.after or _NOTHING}"


@dataclass(frozen=True)
class ListedChange:
    """One line of a list of changes: what became of one mark."""

    change: Change

    @property
    def mark(self) -> Annotation:
        """The mark as it is now, or as it last was."""
        mark = self.change.after or self.change.before
        assert mark is not None
        return mark

    @property
    def kind(self) -> Kind:
        """What was done, first of all; a model's event that was taken in with its decision was decided on."""
        before, after = self.change.before, self.change.after
        if after is None:
            return "removed"
        decision = after.review.decision
        if before is None:
            return decision if decision and after.is_model else "added"
        if decision != before.review.decision:
            return decision or "undecided"
        return "changed"

    def fields(self, time_text: Callable[[float], str]) -> tuple[FieldChange, ...]:
        """What a change changed; for a mark that was added or removed, what it says or said."""
        before, after = self.change.before, self.change.after
        texts = [_texts(mark, time_text) if mark is not None else {} for mark in (before, after)]
        told = [FieldChange(name, texts[0].get(name, ""), texts[1].get(name, "")) for name in _names(*texts)]
        return tuple(field for field in told if field.before != field.after)

    def details(self, time_text: Callable[[float], str]) -> str:
        """The fields in one line."""
        if self.change.before is not None and self.change.after is not None:
            return "; ".join(map(str, self.fields(time_text)))
        told = [field for field in self.fields(time_text) if field.field not in ("start", "text")]
        return "; ".join(f"{field.field} {field.after or field.before}" for field in told)


class ChangeList:
    """Changes as `lines` in the order of time, `counts` of each kind of them, and a quick search; for any thread."""

    def __init__(self, changes: Iterable[Change] = ()) -> None:
        listed = [ListedChange(change) for change in changes]
        self.lines = sorted(listed, key=lambda line: (line.mark.onset, line.mark.stop, line.mark.id))
        self._kinds = [line.kind for line in self.lines]
        counts = Counter(self._kinds)
        self.counts: dict[Kind, int] = {kind: counts[kind] for kind in KINDS}
        self._texts = [_searched(line) for line in self.lines]

    def __len__(self) -> int:
        return len(self.lines)

    def find(self, text: str = "", kinds: Collection[Kind] = KINDS) -> list[int]:
        """Which lines are of some kinds and hold a text, in whatever case."""
        wanted = text.strip().casefold()
        pairs = enumerate(zip(self._kinds, self._texts, strict=True))
        return [i for i, (kind, searched) in pairs if kind in kinds and wanted in searched]

    def summary(self) -> str:
        """How many changes of each kind there are, in words."""
        told = [f"{count:,} {KIND_WORDS[kind]}" for kind, count in self.counts.items() if count]
        return ", ".join(told)


def _searched(line: ListedChange) -> str:
    parts: list[str] = [KIND_WORDS[line.kind]]
    for mark in (line.change.before, line.change.after):
        if mark is not None:
            review = mark.review
            parts += [mark.title, mark.description, *mark.ch_names, mark.author, review.comment, review.tag, review.by]
    return "\n".join(parts).casefold()


def _names(*texts: dict[str, str]) -> list[str]:
    return list(dict.fromkeys(name for text in texts for name in text))


def _texts(mark: Annotation, time_text: Callable[[float], str]) -> dict[str, str]:
    """All fields of a mark in words."""
    review = mark.review
    by = f" by {source_name(review.by)}" if review.decision and review.by else ""
    return {
        "start": time_text(mark.onset),
        "length": f"{mark.duration:.3f}".rstrip("0").rstrip(".") + " s",
        "text": mark.description,
        "channels": ", ".join(mark.ch_names) or "all",
        "confidence": "" if mark.confidence is None else f"{mark.confidence:.2f}",
        "decision": f"{review.decision}{by}",
        "comment": review.comment,
        "tag": review.tag,
        "by": mark.author if mark.is_model else source_name(mark.author),
        **dict(mark.extras),
    }
