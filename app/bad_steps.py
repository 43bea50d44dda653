"""Which channels were marked as bad or as good again, gesture by gesture, so that undo takes them back in turn."""

from __future__ import annotations

from dataclasses import dataclass

_NAMED = 3


@dataclass(frozen=True)
class BadStep:
    """One gesture: the channels that it marked as `bad` and those that it marked as `good` again.

    `edits` is how many edits of marks were in force when it was made.
    """

    bad: frozenset[str]
    good: frozenset[str]
    edits: int

    @property
    def label(self) -> str:
        """What a menu calls it."""
        return f"Mark {self.what}"

    @property
    def what(self) -> str:
        """What it did, such as `F8 as bad`."""
        parts = [(self.bad, "as bad"), (self.good, "as good again")]
        return " and ".join(f"{names_text(names)} {word}" for names, word in parts if names)

    def undone(self, now: frozenset[str]) -> frozenset[str]:
        """The bad channels without this step."""
        return (now - self.bad) | self.good

    def done(self, now: frozenset[str]) -> frozenset[str]:
        """The bad channels with this step."""
        return (now - self.good) | self.bad


class BadSteps:
    """The steps of one recording, in turn with the edits of its marks, of which `edits` are in force.

    A step is the last thing done where no edit was made after it. As the two do not depend on one another, a new step
    leaves alone what can be redone of the marks, which are worth more than the order.
    """

    def __init__(self) -> None:
        self._done: list[BadStep] = []
        self._undone: list[BadStep] = []

    def add(self, before: frozenset[str], after: frozenset[str], edits: int) -> BadStep:
        """Take note of a gesture, given all bad channels before and after it."""
        step = BadStep(after - before, before - after, edits)
        self._done.append(step)
        self._undone.clear()
        return step

    def forget_undone(self) -> None:
        """An edit was made: the steps undone before it cannot be redone any more."""
        self._undone.clear()

    def to_undo(self, edits: int) -> BadStep | None:
        """The step that an undo takes back; None where it is the turn of the marks."""
        return self._done[-1] if self._done and self._done[-1].edits >= edits else None

    def to_redo(self, edits: int) -> BadStep | None:
        """The step that a redo brings back; None where it is the turn of the marks."""
        return self._undone[-1] if self._undone and self._undone[-1].edits <= edits else None

    def undo(self) -> None:
        """The last step was taken back."""
        self._undone.append(self._done.pop())

    def redo(self) -> None:
        """The step undone last was brought back."""
        self._done.append(self._undone.pop())


def names_text(names: frozenset[str]) -> str:
    """Channels by name, very many of them by their number."""
    return ", ".join(sorted(names)) if len(names) <= _NAMED else f"{len(names)} channels"
