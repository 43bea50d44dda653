"""Garbage is looked for by the thread of the windows, and by no other."""

import gc
import threading
import weakref
from collections.abc import Iterator

import pytest
from PyQt6.QtCore import QObject

from app.garbage import GarbageRounds, garbage_here


class Knot:
    """Holds itself, so that only a search finds that nobody else does; notes the thread that found it."""

    def __init__(self, found_by: list[int]) -> None:
        self.itself = self
        weakref.finalize(self, lambda: found_by.append(threading.get_ident()))


@pytest.fixture(autouse=True)
def collector_as_it_was() -> Iterator[None]:
    was = gc.isenabled()
    yield
    (gc.enable if was else gc.disable)()


def _make_objects(count: int) -> None:
    kept = [[number] for number in range(count)]
    assert len(kept) == count


def test_another_thread_that_makes_many_objects_finds_no_garbage(qapp: QObject) -> None:
    found_by: list[int] = []
    with garbage_here():
        Knot(found_by)
        worker = threading.Thread(target=_make_objects, args=(200_000,))
        worker.start()
        worker.join()
        assert found_by == []


def test_a_round_finds_the_garbage_on_this_thread(qapp: QObject) -> None:
    found_by: list[int] = []
    with garbage_here() as rounds:
        Knot(found_by)
        kept = [[number] for number in range(20_000)]
        rounds.look()
        assert found_by == [threading.get_ident()]
        assert len(kept) == 20_000


def test_old_garbage_is_found_when_everything_is_due(qapp: QObject) -> None:
    found_by: list[int] = []
    gc.disable()
    knot = Knot(found_by)
    gc.collect()  # twice survived: old
    gc.collect()
    del knot
    gc.collect(1)
    assert found_by == []
    GarbageRounds(pause=0.0).look()
    assert found_by == [threading.get_ident()]


def test_the_timer_makes_the_rounds(qapp: QObject, qtbot) -> None:
    found_by: list[int] = []
    with garbage_here():
        Knot(found_by)
        kept = [[number] for number in range(20_000)]
        qtbot.waitUntil(lambda: found_by == [threading.get_ident()], timeout=20_000)
        assert len(kept) == 20_000


def test_afterwards_python_looks_by_itself_again(qapp: QObject) -> None:
    gc.enable()
    with garbage_here():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0
