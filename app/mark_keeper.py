"""The marks of each open recording: one book, however many windows show it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal

from PyQt6.QtCore import QObject, pyqtSignal

from analysis.annotation import Annotation
from analysis.marks import Marks
from analysis.review.mark_book import Change, Edit, MarkBook, now

_FEW_CHANGES = 5000

# background(work, then) does work() elsewhere and calls then(result) here.
Background = Callable[[Callable[[], object], Callable[[object], None]], None]


class MarkKeeper(QObject):
    """The book of one recording as windows see it: every edit is told to all of them, and each can be undone."""

    changed = pyqtSignal(object)  # Marks
    stepped = pyqtSignal(str, object)  # "do", "undo" or "redo", and the Edit

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.book = MarkBook(self._on_step)
        self.rater = ""  # who takes decisions

    @property
    def marks(self) -> Marks:
        """All marks as they stand."""
        return self.book.marks

    def set_file_marks(self, marks: Marks) -> None:
        """Take the marks of the recording's file, once; the same file read for another window changes nothing."""
        if not self.book.has_base:
            self.book.set_base(marks)
            self.changed.emit(self.marks)

    def find(self, mark: Annotation) -> Annotation | None:
        """A mark as it stands now, by its id; None when it is gone."""
        if not mark.id:
            return None
        try:
            return self.marks.items[self.marks.index.position(mark)]
        except KeyError:
            return next((other for other in self.marks.items if other.id == mark.id), None)

    # Edits; each is one step to undo

    def add(
        self, annotations: Iterable[Annotation], label: str, background: Background | None = None
    ) -> tuple[Annotation, ...]:
        """Add marks and return them with their ids; very many are sorted in the `background`, if there is one."""
        created = now()
        copies = tuple(replace(a, review=replace(a.review, created=a.review.created or created)) for a in annotations)
        if not copies:
            return ()
        self.book.number(copies)
        edit = Edit(label, tuple(Change(None, mark) for mark in copies))
        if background is None or len(copies) <= _FEW_CHANGES:
            self.do(edit)
        else:
            before = self.marks
            work = lambda: before.changed((), copies)  # noqa: E731
            background(work, lambda after: self._do_prepared(edit, before, after))
        return copies

    def change(self, before: Annotation, after: Annotation, label: str) -> Annotation:
        """Replace a mark that is in the book by another one, which takes over its id; returns it."""
        return self.change_many([(before, after)], label)[0]

    def change_many(self, pairs: Sequence[tuple[Annotation, Annotation]], label: str) -> tuple[Annotation, ...]:
        """Replace several marks in one step."""
        at = now()
        made = []
        for before, after in pairs:
            mark = replace(after, review=replace(after.review, changed=at))
            object.__setattr__(mark, "id", before.id)
            made.append(mark)
        self.do(Edit(label, tuple(Change(b, m) for (b, _), m in zip(pairs, made, strict=True))))
        return tuple(made)

    def remove(self, marks: Sequence[Annotation], label: str) -> None:
        """Take marks away."""
        self.do(Edit(label, tuple(Change(mark, None) for mark in marks)))

    def decide(self, mark: Annotation, decision: Literal["", "accepted", "rejected"]) -> Annotation:
        """Accept or reject a mark, or take the decision back; returns it as it stands then.

        A model's event, which is in no book until someone decides on it, is taken in.
        """
        words = {"": "Take back the decision on", "accepted": "Accept", "rejected": "Reject"}
        label = f"{words[decision]} {mark.title or 'mark'}"
        by, at = (self.rater, now()) if decision else ("", "")
        decided = replace(mark, review=replace(mark.review, decision=decision, by=by, at=at))
        if not mark.id:
            return self.add([decided], label)[0]
        self.do(Edit(label, (Change(mark, decided),)))
        return decided

    def do(self, edit: Edit) -> None:
        """Apply any edit; KeyError when a mark it changes is not there any more."""
        self.book.do(edit)

    def undo(self) -> Edit | None:
        """Take the last step back."""
        return self.book.undo()

    def redo(self) -> Edit | None:
        """Bring back what was undone last."""
        return self.book.redo()

    def _do_prepared(self, edit: Edit, before: Marks, after: object) -> None:
        assert isinstance(after, Marks)
        self.book.do(edit, (before, after))

    def _on_step(self, step: str, edit: Edit) -> None:
        self.changed.emit(self.marks)
        self.stepped.emit(step, edit)


class MarkShelf(QObject):
    """Hands out one keeper per recording."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._keepers: dict[str, tuple[MarkKeeper, int]] = {}

    def take(self, recording_id: str) -> MarkKeeper:
        """The keeper of a recording; give it back when the recording is closed."""
        keeper, users = self._keepers.get(recording_id, (None, 0))
        if keeper is None:
            keeper = MarkKeeper(self)
        self._keepers[recording_id] = (keeper, users + 1)
        return keeper

    def give_back(self, recording_id: str) -> None:
        """Need the keeper of a recording no more; the last one who does closes its book."""
        keeper, users = self._keepers[recording_id]
        if users > 1:
            self._keepers[recording_id] = (keeper, users - 1)
        else:
            del self._keepers[recording_id]
            keeper.deleteLater()
