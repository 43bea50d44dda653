"""What a thread of its own makes while the one before is worked on: items in a line, or what is expected next."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Generic, TypeVar

from analysis.progress import Cancelled

K = TypeVar("K", bound=Hashable)
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


class Foreseen(Generic[K, T]):
    """What `make` gives for a key, made by a thread for the key that was expected; a context that ends the thread.

    A key that nobody expected is made where it is asked for, and so is every key without `ahead`. `check` is called
    while something is waited for, and may raise.
    """

    def __init__(self, make: Callable[[K], T], check: Check, ahead: bool = True) -> None:
        self._make, self._check = make, check
        self._pool = ThreadPoolExecutor(1, "made ahead") if ahead else None
        self._waiting: tuple[K, Future[T]] | None = None

    def get(self, key: K, expected: K | None) -> T:
        """What belongs to a key; `expected` is the one that will be asked for next, as far as it is known."""
        waiting, self._waiting = self._waiting, None
        made = self._make(key) if waiting is None or waiting[0] != key else self._wait_for(waiting[1])
        if self._pool is not None and expected is not None:
            self._waiting = (expected, self._pool.submit(self._make, expected))
        return made

    def _wait_for(self, future: Future[T]) -> T:
        while not wait([future], _LOOK_SECONDS).done:
            self._check()
        return future.result()

    def __enter__(self) -> Foreseen[K, T]:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
