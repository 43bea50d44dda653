"""The journal of a recording's marks: every step is on disk before anybody sees it, and stays there.

Lines are only ever added, so there is nothing to lose when the program or the machine stops at any moment: a line that
was not finished is not read. A gesture is some 300 bytes and 65,000 of them are read in a second, so a journal is never
rewritten to be shorter, which would cost the reader what can be undone.
"""

from __future__ import annotations

import os
import secrets
import shutil
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from analysis.review.history import Change, Edit, Step
from analysis.review.journal_lines import encode_changes, format_line
from analysis.review.journal_reading import VERSION, Account, read_journal, sound_end
from analysis.review.mark_book import now
from models.whole_files import whole_file

PART_CHANGES = 500  # in a line: what a damaged one costs, and how long others wait while it is made
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class Journal:
    """Writes the steps of one recording's marks behind those of earlier sessions; for one process at a time.

    The file is made with the first step. `step` is for one thread; `write_parts` and `sync` may run on any other.
    `fault` says why steps cannot be written, and is empty otherwise; they are tried again with each step and `sync`.
    """

    def __init__(self, path: Path, recording_id: str, place: str, account: Account | None = None) -> None:
        """`account` is what `open_journal` read in `path`; `place` is where the recording lies."""
        account = account or Account()
        self.path = path
        self.fault = ""
        self.uid = account.uid or secrets.token_hex(8)
        self._head = {"journal": VERSION, "uid": self.uid, "recording": recording_id, "place": place}
        self._is_new = not account.uid
        self._unfinished = account.session is not None
        self._was_table_behind = account.is_table_behind
        self._number = account.last_number
        self._done, self._undone = list(account.done), list(account.undone)
        self._begun = False
        self._unsynced = False
        self._file: int | None = None
        self._good_size = account.whole_bytes
        self._unwritten: list[bytes] = []
        self._lock = threading.Lock()
        self._sync_lock = threading.Lock()

    def step(self, step: Step, edit: Edit, parts: Sequence[int] = (), merged: str = "") -> None:
        """Write a step down; `parts` are the lines that hold its changes already.

        `merged` is the uid of another journal of the recording whose edits this edit takes over.
        """
        if step == "do":
            record: dict[str, Any] = {"label": edit.label, "after": self._done[-1] if self._done else 0}
            record |= {"merged": merged} if merged else {}
            parts = parts or (self.write_parts(edit.changes) if len(edit.changes) > PART_CHANGES else ())
            record |= {"parts": list(parts)} if parts else {"changes": encode_changes(edit.changes)}
            self._undone.clear()
            self._done.append(self._write({"step": step, "at": edit.at, **record}))
        else:
            source, target = (self._done, self._undone) if step == "undo" else (self._undone, self._done)
            target.append(source.pop())
            self._write({"step": step, "at": now(), "of": target[-1]})

    def write_parts(self, changes: Iterable[Change]) -> tuple[int, ...]:
        """Write the changes of a very large edit down in advance; they count once `step` names what is returned."""
        return tuple(self._write({"part": encode_changes(piece)}) for piece in _pieces(changes))

    def saved(self, record: dict[str, Any], left: Collection[int]) -> None:
        """Write down that all marks but those with the ids in `left` are in a file; `record` describes it."""
        self._write({"saved": now(), **record, "left": sorted(left)})

    def begin(self) -> None:
        """Say that a session is open that may change marks; done by itself before the first step."""
        with self._lock:
            self._say_opened()
            self._flush()

    def forget_steps(self) -> None:
        """Let what earlier sessions did stay as it is: it can neither be undone nor redone."""
        self._done.clear()
        self._undone.clear()

    def sync(self) -> None:
        """Have the disk keep what was written, also when the power fails; tries again what could not be written."""
        with self._lock:
            self._flush()
        with self._sync_lock:
            if self._file is not None and self._unsynced:
                self._unsynced = False
                os.fsync(self._file)
                if self._is_new:
                    self._is_new = False
                    _sync_folder(self.path.parent)

    def close(self, is_table_behind: bool = False) -> None:
        """Say that the session ended as it should, and let go of the file.

        `is_table_behind` tells that the table beside the journal does not say yet what was done last.
        """
        if self._begun or self._unfinished or is_table_behind != self._was_table_behind:
            self._write({"closed": now(), **({"behind": True} if is_table_behind else {})})
            self.sync()
        with self._lock, self._sync_lock:
            if self._file is not None:
                os.close(self._file)
                self._file = None

    def _write(self, record: dict[str, Any]) -> int:
        """Write a record, after those that open the session; returns the number of its line."""
        with self._lock:
            self._say_opened()
            number = self._add(record)
            self._flush()
            return number

    def _say_opened(self) -> None:
        if not self._begun:
            self._begun = True
            if self._is_new:
                self._add(self._head)
            self._add({"opened": now(), "pid": os.getpid()})

    def _add(self, record: dict[str, Any]) -> int:
        self._number += 1
        self._unwritten.append(format_line(self._number, record))
        return self._number

    def _flush(self) -> None:
        """Write what is not yet written, whole or not at all."""
        if not self._unwritten:
            return
        data = memoryview(b"".join(self._unwritten))
        try:
            file = self._opened()
            rest = data
            while rest:
                rest = rest[os.write(file, rest) :]
        except OSError as error:
            self._take_back_torn_line()
            why = error.strerror or str(error)
            self.fault = f"marks cannot be kept on disk: {why} ({self.path}): free some space or save them elsewhere"
        else:
            self._good_size += len(data)
            self._unwritten.clear()
            self._unsynced = True
            self.fault = ""

    def _opened(self) -> int:
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, _FLAGS, 0o600)
        return self._file

    def _take_back_torn_line(self) -> None:
        if self._file is None:
            return
        try:
            os.ftruncate(self._file, self._good_size)
        except OSError:  # then a line of its own, which is read as damaged, is all it becomes
            self._unwritten[0] = b"\n" + self._unwritten[0].lstrip(b"\n")


def _sync_folder(folder: Path) -> None:
    """Have the disk keep the name of a new file too, where the system can be asked for it."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_journal(path: Path) -> tuple[Account, list[str]]:
    """Read a journal that this process alone will write, and mend it: what it tells, and sentences about its faults.

    A line that was not finished is cut off; where lines are damaged the file is set aside and what is sound is kept.
    OSError when it cannot be read or mended, RecordingError when a newer version of the program wrote it.
    """
    account = read_journal(path)
    if account.damaged:
        aside = path.with_name(f"{path.stem}.damaged-{datetime.now():%Y%m%d-%H%M%S}{path.suffix}")
        sound = _sound_lines(path.read_bytes(), set(account.damaged))
        shutil.copyfile(path, aside)
        with whole_file(path) as file:
            file.write(sound)
        account.whole_bytes = len(sound)
        count = len(account.damaged)
        lines = "a line was" if count == 1 else f"{count} lines were"
        return account, [
            f"{lines} damaged in the journal of this recording's marks: all others were read, "
            f"and the damaged file is kept as {aside.name} in {aside.parent}"
        ]
    if account.size > account.whole_bytes:
        os.truncate(path, account.whole_bytes)
    return account, []


def _sound_lines(data: bytes, damaged: Collection[bytes]) -> bytes:
    whole = data[: data.rfind(b"\n") + 1]
    lines = (sound_end(line) if line in damaged else line for line in whole.split(b"\n")[:-1])
    return b"".join(line + b"\n" for line in lines if line)


def _pieces(changes: Iterable[Change]) -> Iterator[list[Change]]:
    rest = iter(changes)
    while piece := list(islice(rest, PART_CHANGES)):
        yield piece
