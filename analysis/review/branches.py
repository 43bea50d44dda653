"""Taking over marks that a second program kept apart, since it had the recording open at the same time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from analysis.review.history import Change, Edit, History


def edit_of_branch(branch: History, history: History, reserve: Callable[[int], int]) -> Edit | None:
    """What a branch changed, as one edit of `history`; None where that is nothing.

    A mark that both changed is kept as both left it: the branch's becomes a mark of its own. A mark that the branch
    took away and that was changed here meanwhile stays. `reserve` gives the first of so many new ids.
    """
    changes: list[Change] = []
    for change in branch.changes_since({}):
        before, after = change.before, change.after
        standing = history.current(change)
        if before is not None and standing == before:
            changes.append(change)
        elif after is not None and (before is None or standing != after):
            changes.append(Change(None, replace(after, id=reserve(1))))
    count = len(changes)
    words = "a change" if count == 1 else f"{count:,} changes"
    return Edit(f"Take over {words} of a second window", tuple(changes)) if changes else None
