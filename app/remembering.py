"""Writing down how things are looked at while the program runs, so that whatever ends it, it comes back as it was."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from PyQt6.QtCore import QObject, QTimer

from app.errors import log_error
from app.jobs import Job, JobRunner
from app.session import Session

_REST_MS = 1500  # after the last move: nobody waits for it, and a turned page costs no write of its own

Write = Callable[[], None]


class InOrder:
    """Writes states to one place from any thread: what is older never replaces what is newer."""

    def __init__(self, write: Callable[[Any], None]) -> None:
        self._write = write
        self._lock = threading.Lock()
        self._last = self._written = 0

    def writer(self, state: Any) -> Write:
        """What writes this state, newer than all before it, whenever it is called."""
        self._last += 1
        number = self._last

        def write() -> None:
            with self._lock:
                if number > self._written:
                    self._write(state)
                    self._written = number

        return write


class Remembering(QObject):
    """Has states written on a thread of its own, a while after the last change of page, view or montage."""

    def __init__(self, session: Session, writers: Callable[[], Iterable[Write]], parent: QObject | None = None) -> None:
        """`writers` looks at the present states and returns what writes them."""
        super().__init__(parent)
        self._writers = writers
        self._runner = JobRunner({"io": 1}, parent=self)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._on_rest)
        for changed in (session.window_changed, session.view_changed, session.montage_changed):
            changed.connect(self._on_changed)

    def close(self) -> None:
        """Leave it to whoever closes to write the last states."""
        self._rest.stop()
        self._runner.shutdown(2.0)

    def _on_changed(self, *_what: object) -> None:
        self._rest.start()

    def _on_rest(self) -> None:
        for write in self._writers():
            job = Job("Keep how it is looked at", lambda _progress, write=write: write(), lane="io")
            job.failed.connect(log_error)
            self._runner.submit(job)
