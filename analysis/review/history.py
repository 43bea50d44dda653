"""What was done to the marks of a recording: every edit in order, and the state of each mark that was ever touched."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from analysis.annotation import Annotation

# The marks of a recording's own file are counted from 1; those that are added later from here.
FIRST_OWN_ID = 1_000_000_000

_FEW = 64  # changes that are looked at one by one
Step = Literal["do", "undo", "redo"]
States = Mapping[int, Annotation | None]


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
    """What one gesture of a reader does to the marks, all of it or nothing: at most one change of each mark.

    `label` is what a menu calls it, `at` when it was made.
    """

    label: str
    changes: tuple[Change, ...]
    at: str = ""

    @cached_property
    def new(self) -> dict[int, Annotation]:
        """The marks by their ids where all that the edit does is to add some; else empty."""
        marks = [change.after for change in self.changes if change.before is None]
        return {m.id: m for m in marks if m is not None} if len(marks) == len(self.changes) else {}


class History:
    """The edits that are in force and those that were undone, and what became of each mark.

    `states` is every mark that was ever touched as it stands (None: it is gone), `origins` the same before it was first
    touched (None: it was not there). `unsaved` holds the ids of those that stand otherwise than in the files that the
    reader saved, or than in the recording where nothing was saved; `in_no_file` holds those of
    them that do not stand as they were read from another file.
    """

    def __init__(self) -> None:
        self.done: list[Edit] = []
        self.undone: list[Edit] = []  # the next one to redo last
        self.origins: dict[int, Annotation | None] = {}
        self.states: dict[int, Annotation | None] = {}
        self.unsaved: set[int] = set()
        self.in_no_file: set[int] = set()
        self._read: dict[int, Annotation] = {}  # marks of other files as they were first added
        self._saved: dict[int, Annotation | None] = {}

    @classmethod
    def of(cls, done: Iterable[Edit], undone: Iterable[Edit] = ()) -> History:
        """The history of edits in the order in which they were made, and of those that can be redone, next one last."""
        history = cls()
        for edit in done:
            history.do(edit)
        history.undone = list(undone)
        return history

    def do(self, edit: Edit) -> None:
        """Take an edit as made; what could have been redone is forgotten."""
        self._apply(edit)
        self.done.append(edit)
        self.undone.clear()

    def undo(self) -> Edit:
        """Take the last edit back; IndexError without one."""
        edit = self.done.pop()
        self._apply(edit, back=True)
        self.undone.append(edit)
        return edit

    def redo(self) -> Edit:
        """Bring back what was undone last; IndexError without it."""
        edit = self.undone.pop()
        self._apply(edit)
        self.done.append(edit)
        return edit

    def current(self, change: Change) -> Annotation | None:
        """The mark of a change as it stands; None where it is gone or was never there."""
        return self.states.get(change.id, change.before)

    def settle(self, left: Collection[int] = ()) -> None:
        """Take all marks as saved the way they stand, but for the ids in `left`."""
        for number in self.unsaved.difference(left):
            self._saved[number] = self.states[number]
        self.unsaved.intersection_update(left)
        self.in_no_file.intersection_update(left)

    def unsaved_changes(self) -> tuple[Change, ...]:
        """What differs from the files that the reader saved, one change a mark."""
        return self.changes_of(self.unsaved)

    def changes_of(self, numbers: Iterable[int]) -> tuple[Change, ...]:
        """What differs from the files that the reader saved of some marks, by their ids."""
        return tuple(Change(self._saved_state(number), self.states[number]) for number in sorted(numbers))

    def changes_since(self, states: States) -> tuple[Change, ...]:
        """What differs from earlier `states` of this history, one change a mark."""
        pairs = ((states.get(n, self.origins[n]), state) for n, state in self.states.items())
        return tuple(Change(before, after) for before, after in pairs if before != after)

    def copy(self) -> History:
        """The history as it is now, to be looked at by another thread."""
        other = History()
        other.done, other.undone = list(self.done), list(self.undone)
        other.origins, other.states = dict(self.origins), dict(self.states)
        other.unsaved, other._saved = set(self.unsaved), dict(self._saved)
        other.in_no_file, other._read = set(self.in_no_file), dict(self._read)
        return other

    def all_states(self) -> set[Annotation]:
        """Every state that a mark ever had, as far as steps can still be taken back or brought back."""
        edits = (*self.done, *self.undone)
        stepped = (mark for edit in edits for change in edit.changes for mark in (change.before, change.after))
        return {mark for mark in (*self.origins.values(), *self.states.values(), *stepped) if mark is not None}

    def forget_steps(self) -> None:
        """Keep the marks as they stand, but nothing to undo or redo."""
        self.done.clear()
        self.undone.clear()

    def highest_id(self) -> int:
        """The highest id that was ever given; 0 where there is none."""
        edits = (*self.done, *self.undone)
        return max([*self.states, *(change.id for edit in edits for change in edit.changes)], default=0)

    def with_ids(self, new_ids: Mapping[int, int], strangers: Collection[int]) -> History:
        """The same history with other ids; a mark among `strangers` (old ids) was not there before its first change.

        Changes to nothing from nothing are left out; edits stay, even without changes.
        """
        met: set[int] = set()

        def renewed(change: Change) -> Change | None:
            number = change.id
            if number not in new_ids and number not in strangers:
                return change
            first = number in strangers and number not in met
            met.add(number)
            before = None if first else _with_id(change.before, new_ids.get(number, number))
            after = _with_id(change.after, new_ids.get(number, number))
            return Change(before, after) if (before or after) is not None else None

        def edited(edit: Edit) -> Edit:
            return replace(edit, changes=tuple(c for c in map(renewed, edit.changes) if c is not None))

        history = History.of(map(edited, self.done))
        history.undone = [edited(edit) for edit in reversed(self.undone)][::-1]
        for number, state in self._saved.items():
            renamed = new_ids.get(number, number)
            history._saved[renamed] = _with_id(state, renamed)
        history.unsaved = {n for n in history.states if history.states[n] != history._saved_state(n)}
        read = history._read
        history.in_no_file = {n for n in history.unsaved if n not in read or read[n] != history.states[n]}
        return history

    def _apply(self, edit: Edit, back: bool = False) -> None:
        if len(edit.new) > _FEW and self._apply_new(edit.new, back):
            return
        for change in edit.changes:
            before, after = change.before, change.after
            number = change.id
            if number not in self.states:
                self.origins[number] = after if back else before
                if number in edit.new and not back:
                    self._read.update(_of_files({number: edit.new[number]}))
            self.states[number] = before if back else after
            self._judge(number)

    def _apply_new(self, new: Mapping[int, Annotation], back: bool) -> bool:
        """Apply an edit that adds very many marks all at once; False where each has to be looked at."""
        numbers = new.keys()
        if not back and numbers.isdisjoint(self.states):
            self.origins.update(dict.fromkeys(new))
            self._read.update(_of_files(new))
        elif not numbers <= self.states.keys() or any(map(self.origins.get, new)):
            return False
        self.states.update(dict.fromkeys(new) if back else new)
        if back:
            self.unsaved -= numbers
            self.in_no_file -= numbers
        else:
            self.unsaved |= numbers
            self.in_no_file |= numbers - self._read.keys()
        for number in numbers & self._saved.keys():
            self._judge(number)
        return True

    def _judge(self, number: int) -> None:
        """Tell whether a mark is unsaved as it stands."""
        state = self.states[number]
        if _is_same(self._saved_state(number), state):
            self.unsaved.discard(number)
            self.in_no_file.discard(number)
            return
        self.unsaved.add(number)
        if number in self._read and _is_same(self._read[number], state):
            self.in_no_file.discard(number)
        else:
            self.in_no_file.add(number)

    def _saved_state(self, number: int) -> Annotation | None:
        return self._saved[number] if number in self._saved else self.origins[number]


def _is_same(one: Annotation | None, other: Annotation | None) -> bool:
    return one is other or (one is not None and other is not None and one == other)


def _of_files(new: Mapping[int, Annotation]) -> Mapping[int, Annotation]:
    """Those of new marks that neither a reader nor a model made."""
    authors = {mark.author for mark in new.values()}
    kept = {author for author in authors if author != "reader" and not author.startswith("model:")}
    return new if kept == authors else {n: mark for n, mark in new.items() if mark.author in kept}


def _with_id(mark: Annotation | None, number: int) -> Annotation | None:
    return mark if mark is None or mark.id == number else replace(mark, id=number)
