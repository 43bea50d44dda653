"""A reader who does things at random, and a plain list that says what must come of it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

from analysis.annotation import Annotation, Review, number_annotations
from analysis.marks import Marks
from analysis.review.mark_book import Change, Edit, MarkBook

GESTURES = ("add", "move", "delete", "decide", "several", "undo", "redo", "import")


def base_marks(count: int = 6) -> Marks:
    """What a recording's file says."""
    marks = [Annotation(float(i), 1.0, ("sz", "spike")[i % 2]) for i in range(count)]
    number_annotations(marks)
    return Marks.of(marks)


class Reader:
    """Takes gestures on a book as a seed says, and keeps a plain list of what must stand after each."""

    def __init__(self, book: MarkBook, seed: int, gestures: Sequence[str] = GESTURES) -> None:
        self.book = book
        self._gestures = gestures
        self._random = random.Random(seed)
        self.past = [{mark.id: mark for mark in book.marks.items}]
        self._future: list[dict[int, Annotation]] = []
        for edit in reversed(book.done):
            self.past.insert(0, _applied(self.past[0], [change.reverse for change in edit.changes]))
        for edit in reversed(book.undone):
            self._future.insert(0, _applied(self._future[0] if self._future else self.past[-1], edit.changes))

    @property
    def expected(self) -> dict[int, Annotation]:
        """What must stand now."""
        return self.past[-1]

    def gesture(self) -> str:
        """Do one thing; returns what it was."""
        what = self._random.choice(self._gestures)
        if what == "undo":
            if self.book.undo():
                self._future.append(self.past.pop())
        elif what == "redo":
            if self.book.redo():
                self.past.append(self._future.pop())
        else:
            self._edit(what)
        return what

    def _edit(self, what: str) -> None:
        changes = self._changes(what)
        self.book.do(Edit(f"{what} ü", tuple(changes)))
        self.past.append(_applied(self.expected, changes))
        self._future.clear()

    def _changes(self, what: str) -> list[Change]:
        dice, marks = self._random, sorted(self.expected.values(), key=attrgetter("id"))
        if what in ("add", "import") or not marks:
            count = dice.randrange(20, 700) if what == "import" else 1
            made = [self._mark() for _ in range(count)]
            self.book.number(made)
            return [Change(None, mark) for mark in made]
        chosen = dice.sample(marks, min(len(marks), 3 if what == "several" else 1))
        if what == "delete":
            return [Change(mark, None) for mark in chosen]
        if what == "decide":
            decision = dice.choice(("", "accepted", "rejected"))
            return [
                Change(m, replace(m, review=replace(m.review, decision=decision, by="Dr Ö", at="2026-01-01")))
                for m in chosen
            ]
        return [Change(mark, replace(mark, onset=dice.uniform(0, 3600))) for mark in chosen]

    def _mark(self) -> Annotation:
        dice = self._random
        names = dice.choice([(), ("Fp1",), ("T3", "T5")])
        text = dice.choice(["sz", "", "Ärger\t\n", "日本 \u2028 \x00", "n/a"])
        extras = (("col", "x"),) if dice.random() < 0.2 else ()
        review = Review(comment=text, created="now") if dice.random() < 0.5 else Review()
        onset, confidence = dice.uniform(0, 3600), dice.choice([None, dice.random()])
        return Annotation(onset, dice.choice([0.0, 1 / 3]), text, names, confidence, "reader", extras, review=review)


def _applied(state: dict[int, Annotation], changes: Sequence[Change]) -> dict[int, Annotation]:
    after = dict(state)
    for change in changes:
        if change.after is None:
            del after[change.id]
        else:
            after[change.id] = change.after
    return after
