"""Reading a journal: the history it tells of, however the program that wrote it came to its end."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from analysis.annotation import Annotation
from analysis.errors import RecordingError
from analysis.review.history import Change, Edit, History
from analysis.review.journal_lines import Record, decode_changes, parse_line

VERSION = 1
_LINE_START = re.compile(rb'[0-9a-f]{8} \{"n":')
_LONGEST_HEAD = 20_000
_LONG_LINE = 10_000  # after one of these the thread that draws gets its turn


@dataclass
class Account:
    """What a journal tells.

    `done` and `undone` are the numbers of the lines of the history's edits. `session` is how marks stood when the last
    session began, None where it was closed properly, and `steps` how often something was done, undone or done again in
    it; `last_step` is when something was last done. `uid` tells journals of
    one recording apart, `merged` names those whose edits this one has taken over. `whole_bytes` is where the last whole
    line ends, `damaged` the lines that are not as they were written. `saved` is the last record of a save.
    `is_table_behind` tells that the table beside the journal may be older than it.
    """

    history: History = field(default_factory=History)
    done: list[int] = field(default_factory=list)
    undone: list[int] = field(default_factory=list)
    last_number: int = 0
    session: dict[int, Annotation | None] | None = None
    steps: int = 0
    last_step: str = ""
    uid: str = ""
    merged: set[str] = field(default_factory=set)
    saved: Record | None = None
    whole_bytes: int = 0
    size: int = 0
    damaged: list[bytes] = field(default_factory=list)
    is_table_behind: bool = False

    @property
    def unfinished(self) -> tuple[Change, ...]:
        """What the last session changed, where it ended without being closed; empty where all is well."""
        return self.history.changes_since(self.session) if self.session is not None else ()


def read_journal(path: Path) -> Account:
    """Read a journal as far as it can be read; empty where there is no file.

    OSError when it cannot be read at all, RecordingError when a newer version of the program wrote it.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Account()
    account = Account(whole_bytes=data.rfind(b"\n") + 1, size=len(data))
    parts: dict[int, tuple[Change, ...]] = {}
    for line in _lines(data, account.whole_bytes):
        record = parse_line(line)
        if record is not None and _take(account, record, parts, path):
            continue
        account.damaged.append(line)
        rest = parse_line(sound_end(line))
        if rest is not None:
            _take(account, rest, parts, path)
    return account


def sound_end(line: bytes) -> bytes:
    """The line that follows a damaged one which has lost its end, or empty."""
    starts = (match.start() for match in _LINE_START.finditer(line, 1))
    return next((line[start:] for start in starts if parse_line(line[start:]) is not None), b"")


def find_same_place(folder: Path, place: str, recording_id: str) -> Path | None:
    """The newest journal of other contents of the file at `place`; None where there is none."""
    found: list[tuple[float, Path]] = []
    for path in folder.glob("*.journal"):
        try:
            with path.open("rb") as file:
                head = parse_line(file.readline(_LONGEST_HEAD).rstrip(b"\n"))
            if head is not None and head.get("place") == place and head.get("recording") != recording_id:
                found.append((path.stat().st_mtime, path))
        except OSError:
            continue
    return max(found)[1] if found else None


def _lines(data: bytes, stop: int) -> Iterator[bytes]:
    start = 0
    while start < stop:
        end = data.index(b"\n", start)
        if end > start:
            yield data[start:end]
        if end - start > _LONG_LINE:
            time.sleep(0)
        start = end + 1


def _take(account: Account, record: Record, parts: dict[int, tuple[Change, ...]], path: Path) -> bool:
    """Take one record into account; False where its contents make no sense."""
    account.last_number = max(account.last_number, record["n"])
    try:
        if "journal" in record:
            _check_version(record["journal"], path)
            account.uid = str(record["uid"])
        elif "opened" in record:
            account.session = dict(account.history.states)
            account.steps = 0
        elif "closed" in record:
            account.session = None
            account.is_table_behind = bool(record.get("behind"))
        elif "saved" in record:
            account.history.settle(set(record["left"]))
            account.saved = record
        elif "part" in record:
            parts[record["n"]] = decode_changes(record["part"])
        else:
            _take_step(account, record, parts)
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    return True


def _check_version(version: int, path: Path) -> None:
    if version > VERSION:
        raise RecordingError(
            f"the marks of this recording were kept by a newer version of the program ({path}): open it with that one"
        )


def _take_step(account: Account, record: Record, parts: dict[int, tuple[Change, ...]]) -> None:
    step = record["step"]
    if step == "do":
        changes = list(decode_changes(record.get("changes", ())))
        for number in record.get("parts", ()):
            changes += parts.pop(number, ())
        edit = Edit(str(record["label"]), tuple(changes), str(record["at"]))
        if record["after"] != (account.done[-1] if account.done else 0):
            _go_to(account, record["after"])
        account.history.do(edit)
        account.done.append(record["n"])
        account.undone.clear()
        if "merged" in record:
            account.merged.add(str(record["merged"]))
    elif step == "undo":
        if record["of"] in account.done:
            _undo_through(account, record["of"])
    elif step == "redo":
        if record["of"] in account.undone:
            _redo_through(account, record["of"])
    else:
        raise ValueError(step)
    account.steps += 1
    account.last_step = str(record["at"])
    account.is_table_behind = True


def _go_to(account: Account, number: int) -> None:
    """Undo and redo until the edit of line `number` is the last one in force (0: none).

    Needed only where the lines of some steps were lost. Where that of the edit itself was, all stays as it is.
    """
    if number in account.undone:
        _redo_through(account, number)
    while account.done and account.done[-1] != number and (number in account.done or number == 0):
        _undo_through(account, account.done[-1])


def _undo_through(account: Account, number: int) -> None:
    while number in account.done:
        account.history.undo()
        account.undone.append(account.done.pop())


def _redo_through(account: Account, number: int) -> None:
    while number in account.undone:
        account.history.redo()
        account.done.append(account.undone.pop())
