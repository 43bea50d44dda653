"""Files that readers save marks to: tables, also over those that exist, and copies of recordings as EDF+ or BDF+."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from analysis.annotation import Annotation
from analysis.errors import RecordingError
from analysis.progress import Progress
from analysis.provenance import RESEARCH_ONLY
from analysis.review.mark_tables import describe_columns, format_marks
from analysis.review.table_update import TableContents, TableUpdate
from models.whole_files import whole_file

Category = Literal["own", "file", "accepted", "changed", "undecided", "rejected"]
CATEGORIES: dict[Category, str] = {
    "own": "Your own marks",
    "file": "Marks of the recording and of other files",
    "accepted": "Model events that were accepted",
    "changed": "Model events that you changed but did not decide on",
    "undecided": "Model events that nobody has decided on",
    "rejected": "What was rejected",
}
TABLES = {".tsv": "\t", ".csv": ","}
COPIES = (".edf", ".bdf")


@dataclass(frozen=True)
class SaveRequest:
    """Marks to be saved in a file, whose name says in which format; `start` and `duration` are the recording's.

    `known` are all marks as they once stood here, by which rows of a table that exists are recognised; rows of others
    in it are kept if `keep_strangers`. `written` is the digest of what was saved there last, of which no backup is
    made. `source` is the recording, which is copied for EDF+ and BDF+, without names and dates if `anonymize`.
    """

    path: Path
    marks: tuple[Annotation, ...]
    source: Path
    start: datetime | None = None
    duration: float = 0.0
    known: Collection[Annotation] = field(default=(), repr=False)
    keep_strangers: bool = True
    written: str = ""
    anonymize: bool = False


@dataclass(frozen=True)
class Saved:
    """What was written, its digest (empty for a copy), where the file that was there before is, and sentences."""

    path: Path
    count: int
    digest: str = ""
    backup: Path | None = None
    notes: tuple[str, ...] = ()


def category_of(mark: Annotation) -> Category:
    """Which of the kinds that a reader may save, or leave out, a mark is of."""
    if mark.review.decision == "rejected":
        return "rejected"
    if mark.is_model:
        if mark.review.decision:
            return "accepted"
        return "changed" if mark.review.changed else "undecided"
    return "own" if mark.author == "reader" else "file"


def select(marks: Iterable[Annotation], categories: Collection[Category]) -> tuple[Annotation, ...]:
    """The marks of some categories."""
    return tuple(mark for mark in marks if category_of(mark) in categories)


def fits_copy(mark: Annotation) -> bool:
    """Whether a copy of the recording holds all that a mark says, but for when it was made and changed."""
    review = mark.review
    return not (review.decision or review.comment or review.tag or mark.extras) and mark.confidence is None


def examine_table(request: SaveRequest) -> TableContents | None:
    """What a table that exists has to do with the marks; None where there is no file or it is no table of events."""
    update = _update(request)
    return update.contents if update is not None else None


def save_marks(request: SaveRequest, progress: Progress | None = None) -> Saved:
    """Write marks to a file, whole or not at all; a file that was there is kept as a backup beside it.

    RecordingError where the file would be the recording itself, or its name says no format; OSError where the place
    cannot be written.
    """
    _refuse(request)
    if request.path.suffix.lower() in TABLES:
        return _save_table(request)
    return _save_copy(request, progress)


def _refuse(request: SaveRequest) -> None:
    suffix = request.path.suffix.lower()
    if suffix not in TABLES and suffix not in COPIES:
        raise RecordingError(
            f"the name says no format ({request.path}): let it end in .tsv or .csv for a table, "
            "or in .edf or .bdf for a copy of the recording"
        )
    if is_same_file(request.path, request.source):
        raise RecordingError(
            f"this is the recording itself ({request.path}): choose another name, a recording is never written"
        )


def is_same_file(path: Path, other: Path) -> bool:
    """Whether two names, perhaps through links, mean one file that exists."""
    return path.exists() and other.exists() and os.path.samefile(path, other)


def _update(request: SaveRequest) -> TableUpdate | None:
    if request.path.suffix.lower() not in TABLES or not request.path.exists():
        return None
    try:
        return TableUpdate(request.path, request.marks, request.known, request.duration)
    except RecordingError:
        return None


def _save_table(request: SaveRequest) -> Saved:
    update = _update(request)
    if update is not None:
        data = update.text(request.keep_strangers, request.start)
    else:
        data = format_marks(request.marks, request.start, request.duration, TABLES[request.path.suffix.lower()])
    backup = None
    if not request.path.exists() or request.path.read_bytes() != data:
        backup = _back_up(request.path, request.written)
        with whole_file(request.path) as file:
            file.write(data)
    notes = _describe(request.path.with_suffix(".json"), data) if request.path.suffix.lower() == ".tsv" else ()
    return Saved(request.path, len(request.marks), _digest(data), backup, notes)


def _save_copy(request: SaveRequest, progress: Progress | None) -> Saved:
    from analysis.conversion import convert

    kept = tuple(mark for mark in request.marks if mark.review.decision != "rejected")
    notes = []
    if left := len(request.marks) - len(kept):
        words = "a rejected mark is" if left == 1 else f"{left} rejected marks are"
        notes.append(f"{words} not in the copy, which could not say so")
    if not all(map(fits_copy, kept)):
        notes.append("the copy holds times, texts and channels of marks: save a table as well for all they say")
    backup = _back_up(request.path, "")
    done = convert(request.source, request.path, request.anonymize, progress, kept)
    return Saved(request.path, len(kept), "", backup, (*notes, *done.notes))


def _back_up(path: Path, written: str) -> Path | None:
    """Keep what is in a file under another name, unless it is what was written there last; never over a backup."""
    if not path.is_file() or (written and _digest(path.read_bytes()) == written):
        return None
    backup, number = path.with_name(f"{path.name}.bak"), 1
    while backup.exists():
        number += 1
        backup = path.with_name(f"{path.name}.bak{number}")
    try:
        os.link(path, backup)  # the file that takes its place is a new one
    except OSError:
        shutil.copy2(path, backup)
    return backup


def _describe(path: Path, table: bytes) -> tuple[str, ...]:
    """Describe the columns of a table in a file beside it, as BIDS wants it; what that says already stays."""
    names = table.decode("utf-8-sig").splitlines()[0].split("\t")
    known: object = {}
    if path.exists():
        try:
            known = json.loads(path.read_bytes())
        except ValueError:
            known = None
    if not isinstance(known, dict) or (known and not set(names) & set(known)):
        return (f"the columns are not described, since {path.name} is about something else",)
    described = describe_columns(names, known)
    described.setdefault("IntendedUse", RESEARCH_ONLY)
    if described != known:
        with whole_file(path) as file:
            file.write((json.dumps(described, indent=1, ensure_ascii=False) + "\n").encode())
    return ()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
