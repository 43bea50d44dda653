"""Undo goes back through bad channels and marks in the order in which they were done."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.bad_steps import BadSteps

CHANNELS = ("F7", "F8", "T3", "T4")


@given(st.lists(st.sampled_from(["edit", *CHANNELS]), max_size=12), st.integers(0, 12))
def test_undo_is_the_reverse_of_all_that_was_done_and_redo_its_reverse(gestures: list[str], back: int) -> None:
    steps, bad, edits = BadSteps(), frozenset[str](), 0
    states = [(bad, edits)]
    for gesture in gestures:
        if gesture == "edit":
            edits += 1
            steps.forget_undone()
        else:
            after = bad ^ {gesture}
            steps.add(bad, after, edits)
            bad = after
        states.append((bad, edits))
    for state in states[-2 : -2 - min(back, len(gestures)) : -1]:
        step = steps.to_undo(edits)
        if step is None:
            edits -= 1
        else:
            bad = step.undone(bad)
            steps.undo()
        assert (bad, edits) == state
    for state in states[len(states) - min(back, len(gestures)) :]:
        step = steps.to_redo(edits)
        if step is None:
            edits += 1
        else:
            bad = step.done(bad)
            steps.redo()
        assert (bad, edits) == state


def test_a_new_edit_forgets_what_could_be_redone_and_steps_say_what_they_did() -> None:
    steps = BadSteps()
    step = steps.add(frozenset({"T3"}), frozenset({"F8", "T4"}), 0)
    assert step.label == "Mark F8, T4 as bad and T3 as good again"
    assert steps.add(frozenset(), frozenset({"a", "b", "c", "d"}), 0).what == "4 channels as bad"
    steps.undo()
    assert steps.to_redo(0) is not None
    steps.forget_undone()
    assert steps.to_redo(0) is None
