"""Python's garbage, looked for by the thread of the windows only: a window that goes on another ends the program."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from PyQt6.QtCore import QObject, QTimer

ROUND_MS = 2_000
_NEW_OBJECTS = 5_000  # since the last round, without which there is none
_LEAST_PAUSE = 60.0  # seconds between two rounds through everything
_SHARE = 1_000  # a round through everything is at most this part of the time


class GarbageRounds(QObject):
    """Takes over from Python's own collector, which starts on whatever thread makes the next object.

    What is young is looked at every two seconds, everything at most once a minute, and less often the longer it takes.
    """

    def __init__(self, parent: QObject | None = None, pause: float = _LEAST_PAUSE) -> None:
        super().__init__(parent)
        self._pause = pause
        self._next_whole = perf_counter() + pause
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.look)
        self._timer.start(ROUND_MS)

    def look(self) -> None:
        """One round."""
        if perf_counter() >= self._next_whole:
            self._look_at_all()
        elif gc.get_count()[0] >= _NEW_OBJECTS:
            gc.collect(1)

    def _look_at_all(self) -> None:
        began = perf_counter()
        gc.collect()
        ended = perf_counter()
        self._next_whole = ended + max(self._pause, _SHARE * (ended - began))


@contextmanager
def garbage_here() -> Iterator[GarbageRounds]:
    """Meanwhile this thread alone looks for garbage, while its event loop runs; what lives already is passed over."""
    was_enabled = gc.isenabled()
    gc.disable()
    gc.freeze()  # modules and classes, which never go
    rounds = GarbageRounds()
    try:
        yield rounds
    finally:
        rounds.deleteLater()
        gc.unfreeze()
        if was_enabled:
            gc.enable()
