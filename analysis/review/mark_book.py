"""The book of a recording's marks: what files say of it, and every edit of the reader, each of which can be undone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from analysis.annotation import Annotation, number_annotations
from analysis.marks import Marks

# The marks of a recording's own file are counted from 1; those that are added later from here.
FIRST_OWN_ID = 1_000_000_000

Step = Literal["do", "undo", "redo"]


@dataclass(frozen=True)
class Change:
    """One mark before and after: None before for a new one, None after for one that is taken away."""

    before: Annotation | None
    after: Annotation | None

    @property
    def id(self) -> int:
        """The id of the mark, which a change never changes."""
        mark = self.before or self.after
        assert mark is not None
        return mark.id

    @property
    def reverse(self) -> Change:
        """What takes the change back."""
        return Change(self.after, self.before)


@dataclass(frozen=True)
class Edit:
    """What one gesture of a reader does to the marks: all of it or nothing; `label` is what a menu calls it."""

    label: str
    changes: tuple[Change, ...]
    at: str = ""


class MarkBook:
    """The marks as they stand, and what was done to them since the recording was first read; nothing is ever merged.

    `on_step(step, edit)` is called after each edit, undo and redo, such as to write it down. Not for several threads.
    """

    def __init__(self, on_step: Callable[[Step, Edit], None] | None = None) -> None:
        self.marks = Marks()
        self.has_base = False
        self._on_step = on_step
        self._done: list[Edit] = []
        self._undone: list[Edit] = []
        self._own: dict[int, Annotation | None] = {}  # the last state of each mark that was ever touched
        self._next_id = FIRST_OWN_ID

    # What stands

    @property
    def done(self) -> tuple[Edit, ...]:
        """The edits that are in force, oldest first."""
        return tuple(self._done)

    @property
    def undone(self) -> tuple[Edit, ...]:
        """The edits that can be redone, the next one last."""
        return tuple(self._undone)

    @property
    def undo_label(self) -> str:
        """What an undo would take back; empty when there is nothing."""
        return self._done[-1].label if self._done else ""

    @property
    def redo_label(self) -> str:
        """What a redo would bring back; empty when there is nothing."""
        return self._undone[-1].label if self._undone else ""

    def set_base(self, marks: Marks) -> None:
        """Take the marks of the recording's file, numbered from 1 in its order; edits of them that exist are kept."""
        self.has_base = True
        replaced = [mark for mark in marks.items if mark.id in self._own]
        self.marks = marks.changed(replaced, [mark for mark in self._own.values() if mark is not None])

    def restore(self, done: Iterable[Edit], undone: Iterable[Edit]) -> None:
        """Take over what a journal tells of an earlier session; only for a book without edits. Nothing is told on."""
        assert not (self._done or self._undone)
        self._done, self._undone = list(done), list(undone)
        ids = [change.id for edit in (*self._done, *self._undone) for change in edit.changes]
        self._next_id = max([self._next_id, *(number + 1 for number in ids)])
        for edit in self._done:
            self._remember(edit.changes)
        base = {mark.id: mark for mark in self.marks.items if mark.id in self._own}
        self.marks = self.marks.changed(list(base.values()), [m for m in self._own.values() if m is not None])

    # Edits

    def number(self, annotations: Sequence[Annotation]) -> None:
        """Give new marks, which nobody else holds, ids that are used nowhere else."""
        number_annotations(annotations, self._next_id)
        self._next_id += len(annotations)

    def do(self, edit: Edit, prepared: tuple[Marks, Marks] | None = None) -> Edit:
        """Apply an edit and forget what could have been redone; KeyError when a mark it changes is not there.

        `prepared` is the marks before and after, worked out elsewhere for a very large edit; it counts only when
        nothing happened meanwhile. Returns the edit with its time.
        """
        edit = edit if edit.at else replace(edit, at=now())
        if prepared is not None and prepared[0] is self.marks:
            self.marks = prepared[1]
            self._remember(edit.changes)
        else:
            self._apply(edit.changes)
        self._done.append(edit)
        self._undone.clear()
        self._tell("do", edit)
        return edit

    def undo(self) -> Edit | None:
        """Take the last edit back; None when there is none."""
        if not self._done:
            return None
        edit = self._done[-1]
        self._apply(_reversed(edit))
        self._undone.append(self._done.pop())
        self._tell("undo", edit)
        return edit

    def redo(self) -> Edit | None:
        """Bring back what was undone last; None when there is nothing."""
        if not self._undone:
            return None
        edit = self._undone[-1]
        self._apply(edit.changes)
        self._done.append(self._undone.pop())
        self._tell("redo", edit)
        return edit

    def _apply(self, changes: Sequence[Change]) -> None:
        removed = [change.before for change in changes if change.before is not None]
        added = [change.after for change in changes if change.after is not None]
        if not self.has_base:  # edits of file marks wait for them
            there = {mark.id for mark in self.marks.items}
            removed = [mark for mark in removed if mark.id in there]
        self.marks = self.marks.changed(removed, added)
        self._remember(changes)

    def _remember(self, changes: Sequence[Change]) -> None:
        for change in changes:
            self._own[change.id] = change.after

    def _tell(self, step: Step, edit: Edit) -> None:
        if self._on_step is not None:
            self._on_step(step, edit)


def _reversed(edit: Edit) -> tuple[Change, ...]:
    return tuple(change.reverse for change in reversed(edit.changes))


def now() -> str:
    """The time as it is kept with marks: ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
