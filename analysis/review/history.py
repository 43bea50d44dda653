"""What was done to the marks of a recording: every edit in order, and the state of each mark that was ever touched."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from analysis.annotation import Annotation

# The marks of a recording's own file are counted from 1; those that are added later from here.
FIRST_OWN_ID = 1_000_000_000

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


class History:
    """The edits that are in force and those that were undone, and what became of each mark.

    `states` is every mark that was ever touched as it stands (None: it is gone), `origins` the same before it was first
    touched (None: it was not there). `unsaved` holds the ids of those that stand otherwise than in the files that the
    reader saved, or than in the recording where nothing was saved.
    """

    def __init__(self) -> None:
        self.done: list[Edit] = []
        self.undone: list[Edit] = []  # the next one to redo last
        self.origins: dict[int, Annotation | None] = {}
        self.states: dict[int, Annotation | None] = {}
        self.unsaved: set[int] = set()
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
        self._apply(edit.changes)
        self.done.append(edit)
        self.undone.clear()

    def do_new(self, edit: Edit, new: Mapping[int, Annotation]) -> None:
        """As `do` for an edit that only adds marks, `new` by their ids, but quick; KeyError for ids that are known."""
        if not self.states.keys().isdisjoint(new):
            raise KeyError(edit.label)
        self.origins.update(dict.fromkeys(new))
        self.states.update(new)
        self.unsaved.update(new)
        self.done.append(edit)
        self.undone.clear()

    def undo(self) -> Edit:
        """Take the last edit back; IndexError without one."""
        edit = self.done.pop()
        self._apply(edit.changes, back=True)
        self.undone.append(edit)
        return edit

    def redo(self) -> Edit:
        """Bring back what was undone last; IndexError without it."""
        edit = self.undone.pop()
        self._apply(edit.changes)
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

    def unsaved_changes(self) -> tuple[Change, ...]:
        """What differs from the files that the reader saved, one change a mark."""
        return tuple(Change(self._saved_state(number), self.states[number]) for number in sorted(self.unsaved))

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
        return history

    def _apply(self, changes: Sequence[Change], back: bool = False) -> None:
        origins, states, saved, unsaved = self.origins, self.states, self._saved, self.unsaved
        for change in changes:
            before, after = change.before, change.after
            number = (before or after).id  # type: ignore[union-attr]
            if number not in states:
                origins[number] = after if back else before
            state = states[number] = before if back else after
            if (saved[number] if number in saved else origins[number]) == state:
                unsaved.discard(number)
            else:
                unsaved.add(number)

    def _saved_state(self, number: int) -> Annotation | None:
        return self._saved[number] if number in self._saved else self.origins[number]


def _with_id(mark: Annotation | None, number: int) -> Annotation | None:
    return mark if mark is None or mark.id == number else replace(mark, id=number)
