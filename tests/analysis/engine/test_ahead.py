"""Items made beside the work on those before: order, room for one, errors in their place, an end at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from analysis.engine.ahead import Check, Foreseen, made_ahead
from analysis.progress import Cancelled


def nothing() -> None:
    return


@pytest.mark.parametrize("ahead", [True, False])
def test_items_come_in_their_order_and_errors_in_their_place(ahead: bool) -> None:
    def make(_check: Check) -> Iterator[int]:
        yield from (1, 2, 3)
        raise MemoryError("no room for 4")

    seen: list[int] = []
    with made_ahead(make, nothing, ahead) as items, pytest.raises(MemoryError, match="no room for 4"):
        seen.extend(items)
    assert seen == [1, 2, 3]
    with made_ahead(lambda _check: iter("ab"), nothing, ahead) as letters:
        assert [*letters] == ["a", "b"]
        assert [*letters] == []


def test_one_item_is_made_while_another_is_used_and_no_more() -> None:
    made: list[int] = []
    ready = [threading.Event() for _ in range(6)]

    def make(_check: Check) -> Iterator[int]:
        assert threading.current_thread() is not threading.main_thread()
        for i in range(6):
            made.append(i)
            ready[i].set()
            yield i

    with made_ahead(make, nothing) as items:
        for item in items:
            if item < 5:
                assert ready[item + 1].wait(20), "the next is made while this one is used"
            assert len(made) <= item + 2
    assert made == [0, 1, 2, 3, 4, 5]


def test_without_a_thread_an_item_is_made_when_it_is_asked_for() -> None:
    made: list[int] = []

    def make(_check: Check) -> Iterator[int]:
        for i in range(3):
            made.append(i)
            yield i

    with made_ahead(make, nothing, ahead=False) as items:
        for item in items:
            assert made[-1] == item


def test_leaving_ends_the_thread_in_the_midst_of_an_item() -> None:
    ended = threading.Event()
    begun = threading.Event()

    def make(check: Check) -> Iterator[int]:
        yield 0
        try:
            while True:  # one item that is never done
                begun.set()
                check()
        finally:
            ended.set()

    with made_ahead(make, nothing) as items:
        assert next(items) == 0
        assert begun.wait(20)
    assert ended.is_set()
    assert not [thread for thread in threading.enumerate() if thread.name == "made ahead"]


def test_who_waits_hears_that_the_work_is_not_wanted() -> None:
    looks = 0

    def wanted() -> None:
        nonlocal looks
        looks += 1
        if looks == 2:
            raise Cancelled

    def make(check: Check) -> Iterator[int]:
        while True:
            check()
        yield 0

    with pytest.raises(Cancelled), made_ahead(make, wanted) as items:
        next(items)
    assert looks == 2


def test_a_generator_that_is_closed_leaves_no_thread() -> None:
    def work() -> Iterator[int]:
        with made_ahead(lambda _check: iter(range(9)), nothing) as items:
            yield from items

    with closing(work()) as going:  # type: ignore[type-var]
        assert next(going) == 0
    assert not [thread for thread in threading.enumerate() if thread.name == "made ahead"]


def test_what_was_expected_is_made_by_the_thread_and_the_rest_where_it_is_asked_for() -> None:
    by: dict[int, str] = {}

    def make(key: int) -> int:
        by[key] = threading.current_thread().name
        return -key

    here = threading.current_thread().name
    with Foreseen(make, nothing) as values:
        assert [values.get(1, 2), values.get(2, 3), values.get(7, None), values.get(8, 9)] == [-1, -2, -7, -8]
    assert (by[1], by[7], by[8]) == (here, here, here)
    assert by[2].startswith("made ahead")
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("made ahead")]
    by.clear()
    with Foreseen(make, nothing, ahead=False) as values:
        assert [values.get(1, 2), values.get(2, None)] == [-1, -2]
    assert by == {1: here, 2: here}


def test_what_was_expected_fails_where_it_is_asked_for_and_can_be_waited_for_in_vain() -> None:
    go_on = threading.Event()

    def make(key: int) -> int:
        if key == 2:
            raise MemoryError("no room for 2")
        if key == 3:
            go_on.wait(20)
        return key

    def unwanted() -> None:
        go_on.set()
        raise Cancelled

    with Foreseen(make, unwanted) as values:
        assert values.get(1, 2) == 1
        with pytest.raises(MemoryError, match="no room for 2"):
            values.get(2, None)
        assert values.get(1, 3) == 1
        with pytest.raises(Cancelled):
            values.get(3, None)
