"""The book of a recording's marks: what files say of it, and every edit of the reader, each of which can be undone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from analysis.annotation import Annotation, number_annotations
from analysis.marks import Marks
from analysis.review.history import FIRST_OWN_ID, Change, Edit, History, Step

__all__ = ["FIRST_OWN_ID", "Change", "Edit", "MarkBook", "Step", "now"]


class MarkBook:
    """The marks as they stand, and what was done to them since the recording was first read; nothing is ever merged.

    `on_step(step, edit)` is called after each edit, undo and redo, such as to write it down. Not for several threads.
    """

    def __init__(self, on_step: Callable[[Step, Edit], None] | None = None) -> None:
        self.marks = Marks()
        self.has_base = False
        self._base = Marks()
        self.history = History()
        self._on_step = on_step
        self._next_id = FIRST_OWN_ID

    # What stands

    @property
    def done(self) -> tuple[Edit, ...]:
        """The edits that are in force, oldest first."""
        return tuple(self.history.done)

    @property
    def undone(self) -> tuple[Edit, ...]:
        """The edits that can be redone, the next one last."""
        return tuple(self.history.undone)

    @property
    def undo_label(self) -> str:
        """What an undo would take back; empty when there is nothing."""
        return self.history.done[-1].label if self.history.done else ""

    @property
    def redo_label(self) -> str:
        """What a redo would bring back; empty when there is nothing."""
        return self.history.undone[-1].label if self.history.undone else ""

    def set_base(self, marks: Marks, merge: bool = True) -> str:
        """Take the marks of the recording's file, numbered from 1 in its order; edits of them that exist are kept.

        Edits of marks that the file does not have are kept as edits of own marks; returns a sentence about them.
        Without `merge` the marks are those of before until `show` gives those of `merged`.
        """
        self.has_base = True
        self._base = marks
        sentence = self._match_base(marks)
        if merge:
            self.show(self.merged()())
        return sentence

    def restore(self, done: Iterable[Edit], undone: Iterable[Edit]) -> None:
        """Take over the edits of an earlier session; only for a book without edits. Nothing is told on."""
        self.adopt(History.of(done, undone))

    def adopt(self, history: History, merge: bool = True) -> str:
        """Take over what a journal tells of earlier sessions, as `restore`; otherwise as `set_base`."""
        assert not self.history.done
        assert not self.history.undone
        self.history = history
        self._next_id = max(self._next_id, history.highest_id() + 1)
        sentence = self._match_base(self._base)
        if merge:
            self.show(self.merged()())
        return sentence

    def merged(self) -> Callable[[], Marks]:
        """What works the marks out of the file's and of the history, on any thread: very many take a while."""
        base, states = self._base, dict(self.history.states)

        def merge() -> Marks:
            if not states:
                return base
            replaced = [mark for mark in base.items if mark.id in states]
            return base.changed(replaced, [mark for mark in states.values() if mark is not None])

        return merge

    def show(self, marks: Marks) -> None:
        """Take what `merged` has worked out, before anything else was done."""
        self.marks = marks

    def _match_base(self, marks: Marks) -> str:
        """Let the history speak of the file's marks as they are numbered now; what it lacks becomes the reader's."""
        if not self.has_base:
            return ""
        touched = {n: mark for n, mark in self.history.origins.items() if 0 < n < FIRST_OWN_ID and mark is not None}
        there = {mark.id: mark for mark in marks.items if mark.id in touched}
        lost = {n: mark for n, mark in touched.items() if there.get(n) != mark}
        if not lost:
            return ""
        free: dict[Annotation, list[int]] = {}
        wanted = set(lost.values())
        for mark in reversed(marks.items):
            if mark in wanted and (mark.id in lost or mark.id not in touched):
                free.setdefault(mark, []).append(mark.id)
        new_ids = {n: free[mark].pop() if free.get(mark) else -n for n, mark in lost.items()}
        strangers = [n for n, new in new_ids.items() if new < 0]
        self.history = self.history.with_ids(new_ids, strangers)
        if not strangers:
            return ""
        were = "1 mark that was changed here is" if len(strangers) == 1 else f"{len(strangers)} marks changed here are"
        return f"{were} no longer in the recording's file: kept as marks of your own"

    # Edits

    def number(self, annotations: Sequence[Annotation]) -> None:
        """Give new marks, which nobody else holds, ids that are used nowhere else."""
        number_annotations(annotations, self.reserve(len(annotations)))

    def reserve(self, count: int) -> int:
        """The first of `count` ids that are given to nobody else."""
        first = self._next_id
        self._next_id += count
        return first

    def do(self, edit: Edit) -> Edit:
        """Apply an edit and forget what could have been redone; KeyError when a mark it changes is not there.

        Returns the edit with its time.
        """
        edit = edit if edit.at else replace(edit, at=now())
        if any(self.history.current(change) != change.before for change in edit.changes):
            raise KeyError(f"a mark has changed meanwhile: {edit.label}")
        self.marks = self._stepping(edit.changes)()
        self.history.do(edit)
        self._tell("do", edit)
        return edit

    def do_new(self, edit: Edit, before: Marks, after: Marks) -> None:
        """Apply an edit that only adds very many marks, which was worked out elsewhere.

        `before` and `after` are the marks without and with them; they count only when nothing happened meanwhile.
        """
        if not self.history.states.keys().isdisjoint(edit.new):
            raise KeyError(edit.label)
        if before is self.marks:
            self.marks = after
        else:
            self.marks = self._stepping(edit.changes)()
        self.history.do(edit)
        self._tell("do", edit)

    def without_last(self) -> Callable[[], Marks]:
        """What works the marks out that an undo will leave, on any thread: very many take a while."""
        return self._stepping(self.history.done[-1].changes, back=True)

    def with_next(self) -> Callable[[], Marks]:
        """The same for a redo."""
        return self._stepping(self.history.undone[-1].changes)

    def undo(self, marks: Marks | None = None) -> Edit | None:
        """Take the last edit back; None when there is none. `marks` are what it leaves, where that is known."""
        if not self.history.done:
            return None
        self.marks = marks if marks is not None else self.without_last()()
        edit = self.history.undo()
        self._tell("undo", edit)
        return edit

    def redo(self, marks: Marks | None = None) -> Edit | None:
        """Bring back what was undone last; None when there is nothing. `marks` as in `undo`."""
        if not self.history.undone:
            return None
        self.marks = marks if marks is not None else self.with_next()()
        edit = self.history.redo()
        self._tell("redo", edit)
        return edit

    def _stepping(self, changes: Sequence[Change], back: bool = False) -> Callable[[], Marks]:
        """What works out the marks after changes, or after those are taken back."""
        marks, states, has_base = self.marks, self.history.states, self.has_base

        def work() -> Marks:
            standing = [states.get(c.id, c.after if back else c.before) for c in changes]
            removed = [mark for mark in standing if mark is not None]
            added = [mark for c in changes if (mark := c.before if back else c.after) is not None]
            if not has_base:  # edits of file marks wait for them
                there = {mark.id for mark in marks.items}
                removed = [mark for mark in removed if mark.id in there]
            return marks.changed(removed, added)

        return work

    def _tell(self, step: Step, edit: Edit) -> None:
        if self._on_step is not None:
            self._on_step(step, edit)


def now() -> str:
    """The time as it is kept with marks: ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
