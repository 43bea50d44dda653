"""Items that a thread of their own makes while the one before is worked on."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from analysis.progress import Cancelled

T = TypeVar("T")

_LOOK_SECONDS = 0.1  # between two looks at whether the work is still wanted
Check = Callable[[], None]


@contextmanager
def made_ahead(make: Callable[[Check], Iterator[T]], check: Check, ahead: bool = True) -> Iterator[Iterator[T]]:
    """The items of `make`, each made by a thread while the one before is used: at most one waits.

    `make` is given a function to call now and then, which raises Cancelled once the block is left; `check` is called
    while an item is waited for, and may raise. What `make` raises comes out in its place among the items. When the
    block is left the thread has ended. Without `ahead` items are made where they are asked for.
    """
    if not ahead:
        yield make(check)
        return
    line: _Line[T] = _Line(make, check)
    try:
        yield line
    finally:
        line.close()


class _Line(Generic[T]):
    """What lies between the thread that makes and the one that uses."""

    def __init__(self, make: Callable[[Check], Iterator[T]], check: Check) -> None:
        self._make, self._check = make, check
        self._made: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()
        self._room = threading.Semaphore(1)
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._work, name="made ahead", daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        while True:
            try:
                item, error = self._made.get(timeout=_LOOK_SECONDS)
            except queue.Empty:
                self._check()
                continue
            if error is not None:
                self._made.put((None, StopIteration()))  # nothing comes after an error, or after the end
                raise error
            self._room.release()
            return item  # type: ignore[return-value]

    def close(self) -> None:
        """End the thread, which hears of it between items and wherever the maker looks."""
        self._left.set()
        self._room.release()
        self._thread.join()

    def _stop_if_left(self) -> None:
        if self._left.is_set():
            raise Cancelled

    def _work(self) -> None:
        try:
            items = self._make(self._stop_if_left)
            while True:
                self._room.acquire()
                self._stop_if_left()
                self._made.put((next(items), None))
        except BaseException as error:  # raised where the items are used
            self._made.put((None, error))
