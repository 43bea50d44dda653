"""The book does what a plain list of marks would do, and every step of it can be taken back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.annotation import Annotation, number_annotations
from analysis.marks import Marks
from analysis.review.mark_book import FIRST_OWN_ID, Change, Edit, MarkBook

STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "remove", "move", "two", "undo", "redo"]), st.integers(0, 10**6)), max_size=40
)


def _base() -> Marks:
    marks = [Annotation(float(i), 1.0, ["sz", "spike"][i % 2]) for i in range(6)]
    number_annotations(marks)
    return Marks.of(marks)


def _take(book: MarkBook, what: str, seed: int) -> None:
    """One step of a reader, chosen by a number."""
    if what == "undo":
        book.undo()
    elif what == "redo":
        book.redo()
    elif what == "add" or not len(book.marks):
        mark = Annotation(seed % 97 / 3, 0.5, "mine", author="reader")
        book.number([mark])
        book.do(Edit("add", (Change(None, mark),)))
    else:
        chosen = book.marks.items[seed % len(book.marks)]
        if what == "remove":
            book.do(Edit("remove", (Change(chosen, None),)))
        else:
            changes = [Change(chosen, _moved(chosen, seed))]
            other = book.marks.items[(seed + 1) % len(book.marks)]
            if what == "two" and other is not chosen:
                changes.append(Change(other, None))
            book.do(Edit("move", tuple(changes)))


def _moved(mark: Annotation, seed: int) -> Annotation:
    return Annotation(mark.onset + seed % 7, mark.duration, f"moved {seed % 3}", author=mark.author, id=mark.id)


def _facts(book: MarkBook) -> list[tuple[int, float, str]]:
    return sorted((mark.id, mark.onset, mark.description) for mark in book.marks.items)


@given(STEPS)
def test_undoing_everything_gives_back_the_file_and_redoing_it_the_end(steps) -> None:
    book = MarkBook()
    book.set_base(_base())
    for what, seed in steps:
        _take(book, what, seed)
    end, seizures = _facts(book), book.marks.seizures
    assert book.marks.seizures == Marks.of(book.marks.items).seizures
    n_done = len(book.done)
    states = [end]
    while book.undo():
        states.append(_facts(book))
    assert [(i, o, d) for i, o, d in states[-1]] == [(m.id, m.onset, m.description) for m in _base().items]
    for expected in reversed(states[:-1]):
        book.redo()
        assert _facts(book) == expected
    assert len(states) == n_done + 1
    while len(book.done) < n_done:
        book.redo()
    assert (_facts(book), book.marks.seizures) == (end, seizures)


@given(STEPS, st.booleans())
def test_a_book_restored_from_its_steps_is_the_same_whenever_the_file_is_read(steps, before) -> None:
    book = MarkBook()
    book.set_base(_base())
    for what, seed in steps:
        _take(book, what, seed)
    again = MarkBook()
    if before:
        again.set_base(_base())
    again.restore(book.done, book.undone)
    if not before:
        again.set_base(_base())
    assert _facts(again) == _facts(book)
    while book.undo():
        again.undo()
        assert _facts(again) == _facts(book)
    mark = Annotation(0.0, 0.0, "new")
    again.number([mark])
    assert mark.id not in {change.id for edit in (*book.done, *book.undone) for change in edit.changes}


def test_ids_of_own_marks_are_never_those_of_the_file() -> None:
    book = MarkBook()
    marks = [Annotation(0.0, 0.0, "a"), Annotation(0.0, 0.0, "b")]
    book.number(marks)
    assert [mark.id for mark in marks] == [FIRST_OWN_ID, FIRST_OWN_ID + 1]


def test_an_edit_of_a_mark_that_is_gone_changes_nothing() -> None:
    book = MarkBook()
    book.set_base(_base())
    gone = book.marks.items[2]
    book.do(Edit("remove", (Change(gone, None),)))
    with pytest.raises(KeyError):
        book.do(Edit("again", (Change(gone, None),)))
    assert len(book.marks) == 5
    assert len(book.done) == 1


def test_a_new_edit_forgets_what_could_be_redone_and_labels_say_what_is_next() -> None:
    told = []
    book = MarkBook(lambda step, edit: told.append((step, edit.label)))
    book.set_base(_base())
    book.do(Edit("first", (Change(book.marks.items[0], None),)))
    book.do(Edit("second", (Change(book.marks.items[0], None),)))
    book.undo()
    assert (book.undo_label, book.redo_label) == ("first", "second")
    book.do(Edit("third", (Change(book.marks.items[0], None),)))
    assert (book.undo_label, book.redo_label) == ("third", "")
    assert book.redo() is None
    assert told == [("do", "first"), ("do", "second"), ("undo", "second"), ("do", "third")]
