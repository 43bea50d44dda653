"""Where the marks of one recording are kept: its journal, a lock, and a table that other programs read.

A change is in the journal before it is seen and proof against a loss of power within a second; the table of all marks,
written whole, follows within two seconds of the last change. Very many marks are not waited for when a recording is
closed: their table is then written the next time that it is opened.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from PyQt6.QtCore import QLockFile, QObject, QTimer, pyqtSignal

from analysis.annotation import Annotation
from analysis.errors import RecordingError
from analysis.progress import Progress
from analysis.review.history import Change, Edit, History, Step
from analysis.review.journal import Journal, open_journal
from analysis.review.journal_reading import Account, find_same_place, read_journal
from analysis.review.mark_tables import MarkTable
from app.errors import log_error
from app.heap import no_collections
from app.jobs import Job, JobRunner
from models.whole_files import whole_file

_SYNC_MS = 700  # at most this much is lost when the power fails
_REST_MS = 1000  # after the last change; the table is there within two seconds
_FEW_MARKS = 5000  # whose table is written while the reader waits


@dataclass(frozen=True)
class Facts:
    """What is kept with the marks of a recording: its id, where it lies, when it began and its length in seconds."""

    id: str
    place: str = ""
    start: datetime | None = None
    duration: float = 0.0


@dataclass
class Found:
    """What earlier sessions left behind.

    `recovered` is what the last one changed, where it ended without being closed, in how many `steps`, and
    `recovered_at` when. `apart` is
    true where another program holds the journal, so that this one writes its own. `branches` are journals that others
    wrote apart; `saved` is the last record of a save; `notes` are sentences for the reader.
    """

    history: History = field(default_factory=History)
    recovered: tuple[Change, ...] = ()
    steps: int = 0
    recovered_at: str = ""
    apart: bool = False
    branches: list[tuple[Path, Account, QLockFile]] = field(default_factory=list)
    saved: dict[str, Any] | None = None
    notes: list[str] = field(default_factory=list)


class MarkDisk(QObject):
    """Writes what happens to the marks of one recording; `open` first. `changed` tells that `fault` may have."""

    changed = pyqtSignal()

    def __init__(self, folder: Path, facts: Facts, runner: JobRunner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = folder
        self._facts = facts
        self._runner = runner
        self._opening = threading.Lock()
        self._found: Found | None = None
        self._lock: QLockFile | None = None
        self._journal = Journal(self._path(1), facts.id, facts.place)
        self._table = _Table(self._journal.path, facts)
        self._marks: Sequence[Annotation] = ()
        self._is_behind = False  # whether the table is older than what earlier sessions did
        self._sync_timer = self._timer(_SYNC_MS, self._sync)
        self._rest_timer = self._timer(_REST_MS, self._write_table)

    @property
    def fault(self) -> str:
        """Why the marks cannot be kept on disk at present; empty where they are."""
        return self._journal.fault

    def open(self) -> Found:
        """Read what earlier sessions left; on any thread, and only the first call does the work."""
        with self._opening:
            if self._found is None:
                with no_collections():
                    self._found = self._open()
            return self._found

    def step(self, step: Step, edit: Edit, marks: Sequence[Annotation], parts: Sequence[int], merged: str) -> None:
        """Write a step down, and soon the table of all `marks`; `parts` and `merged` as in `Journal.step`."""
        self._journal.step(step, edit, parts, merged)
        self._marks = marks
        self._rest_timer.start()
        self._sync_soon()
        self.changed.emit()

    def catch_up(self, marks: Sequence[Annotation]) -> None:
        """Write the table of all `marks` soon where that of an earlier session was not written to its end."""
        if self._is_behind:
            self._is_behind = False
            self._marks = marks
            self._rest_timer.start()

    def write_parts(self, changes: Sequence[Change]) -> tuple[int, ...]:
        """Write the changes of a large edit down in advance, on any thread."""
        return self._journal.write_parts(changes)

    def saved(self, record: dict[str, Any], left: Collection[int]) -> None:
        """Write down that marks were saved, as `Journal.saved`."""
        self._journal.saved(record, left)
        self._sync_soon()

    def begin(self) -> None:
        """Say that what the last session left is kept."""
        self._journal.begin()

    def in_background(self, title: str, work: Callable[[], Any], then: Callable[[Any], None]) -> None:
        """Do some work on the thread of the disk and call `then` with its result here."""

        def undisturbed(_progress: Progress) -> Any:
            with no_collections():
                return work()

        job = Job(title, undisturbed, lane="io")
        job.succeeded.connect(then)
        job.failed.connect(log_error)
        self._runner.submit(job)

    def forget_branch(self, path: Path, lock: QLockFile) -> None:
        """Put a journal aside whose marks have been taken over."""
        with suppress(OSError):
            path.replace(path.with_name(f"{path.name}.taken-over"))
        lock.unlock()

    def close(self) -> None:
        """Write everything there is to write and let go; the table of very many marks later, if there is time."""
        self._sync_timer.stop()
        if self._rest_timer.isActive():
            self._rest_timer.stop()
            if len(self._marks) > _FEW_MARKS:
                self._write_table()
            else:
                with suppress(OSError):
                    self._table.write(self._table.next_version(), self._marks)
        self._journal.close(self._is_behind or self._table.is_behind)
        for _path, _account, lock in self._found.branches if self._found is not None else ():
            lock.unlock()
        if self._lock is not None:
            self._lock.unlock()

    # Opening

    def _path(self, number: int) -> Path:
        return self._folder / f"{self._facts.id}{'' if number == 1 else f'-{number}'}.journal"

    def _open(self) -> Found:
        with suppress(OSError):  # the journal says so as soon as there is something to write
            self._folder.mkdir(parents=True, exist_ok=True)
        self._lock, holder = _try_lock(self._path(1))
        if self._lock is None:
            return self._open_apart(f"another program (process {holder}) has the marks of this recording open")
        try:
            account, notes = open_journal(self._path(1))
        except (OSError, RecordingError) as error:
            why = str(error) if isinstance(error, RecordingError) else f"the marks cannot be read: {error}"
            self._lock.unlock()
            return self._open_apart(why)
        self._journal = Journal(self._path(1), self._facts.id, self._facts.place, account)
        self._is_behind = account.is_table_behind
        found = Found(account.history, account.unfinished, account.steps, account.last_step)
        found.saved, found.notes = account.saved, notes
        found.branches = self._branches(account.merged)
        if not account.uid and self._facts.place:
            found.notes += self._notes_of_earlier_contents()
        return found

    def _notes_of_earlier_contents(self) -> list[str]:
        """Where the marks are that were made before the file was changed, if there are any."""
        journal = find_same_place(self._folder, self._facts.place, self._facts.id)
        table = _table_beside(journal) if journal is not None else None
        if table is None or not table.exists():
            return []
        return [
            f"this file had other contents when marks were made in it: they are in {table}, "
            "to be added with File, Open events of another file"
        ]

    def _open_apart(self, why: str) -> Found:
        """Go on from what another program has written so far, in a journal of our own."""
        found = Found(apart=True)
        with suppress(OSError, RecordingError):
            account = read_journal(self._path(1))
            found.history, found.saved = account.history, account.saved
            found.history.forget_steps()
        number = 2
        while True:
            path = self._path(number)
            if not path.exists():
                self._lock, _ = _try_lock(path)
                if self._lock is not None:
                    break
            number += 1
        self._journal = Journal(path, self._facts.id, self._facts.place)
        self._table = _Table(path, self._facts)
        found.notes = [f"{why}: what is marked here is kept apart, and joins the others when it is next opened alone"]
        return found

    def _branches(self, merged: Collection[str]) -> list[tuple[Path, Account, QLockFile]]:
        """Journals of programs that have ended, whose marks were not taken over yet."""
        branches: list[tuple[Path, Account, QLockFile]] = []
        for path in sorted(self._folder.glob(f"{self._facts.id}-*.journal")):
            lock, _ = _try_lock(path)
            if lock is None:
                continue
            try:
                account = read_journal(path)
            except (OSError, RecordingError) as error:
                log_error(error)
                lock.unlock()
                continue
            if account.uid in merged:
                self.forget_branch(path, lock)
            else:
                branches.append((path, account, lock))
        return branches

    # What is written a little later

    def _timer(self, milliseconds: int, slot: Any) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(milliseconds)
        timer.timeout.connect(slot)
        return timer

    def _sync_soon(self) -> None:
        if not self._sync_timer.isActive():
            self._sync_timer.start()

    def _sync(self) -> None:
        job = Job("Keep the marks", lambda _progress: self._journal.sync(), lane="io")
        job.failed.connect(log_error)
        job.finished.connect(self.changed)
        self._runner.submit(job)
        if self.fault:
            self._sync_soon()

    def _write_table(self) -> None:
        marks, version, table = self._marks, self._table.next_version(), self._table
        job = Job("Keep a table of the marks", lambda progress: table.write(version, marks, progress.check), lane="io")
        job.failed.connect(log_error)
        self._runner.submit(job)


class _Table:
    """The table, beside a journal, of all marks as they stand; what is older never replaces what is newer."""

    def __init__(self, journal: Path, facts: Facts) -> None:
        self._path = _table_beside(journal)
        self._table = MarkTable(facts.start, facts.duration)
        self._lock = threading.Lock()
        self._last = self._written = 0

    @property
    def is_behind(self) -> bool:
        """Whether what was to be written is not there yet."""
        return self._written < self._last

    def next_version(self) -> int:
        self._last += 1
        return self._last

    def write(self, version: int, marks: Sequence[Annotation], check: Callable[[], None] | None = None) -> None:
        """Write the table, unless a newer one is there; `check` is called now and then, and may raise."""
        with self._lock:
            if version <= self._written:
                return
            text = self._table.format(marks, check)
            with whole_file(self._path) as file:
                file.write(text)
            self._written = version


def _table_beside(journal: Path) -> Path:
    return journal.with_name(f"{journal.stem}_events.tsv")


def _try_lock(path: Path) -> tuple[QLockFile | None, int]:
    """A lock on a journal, or None and the process that holds it; where no lock can be made nobody holds one."""
    lock = QLockFile(f"{path}.lock")
    lock.setStaleLockTime(0)  # only the end of its process makes it stale, however long that works
    if lock.tryLock(0) or lock.error() != QLockFile.LockError.LockFailedError:
        return lock, 0
    _known, process, _host, _name = lock.getLockInfo()
    return None, process
