"""What all readers of event files share: rows and what has to be put right in them; and TUH's .tse."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from analysis.annotation import UNREVIEWED, Annotation, Review
from analysis.errors import RecordingError

SEIZURE_TYPE = "sz"
SIDECAR = "sidecar"  # the author of what an event file says without naming one
MAX_WARNINGS = 25
MAX_TEXT_BYTES = 256 * 2**20

_CLOCK = re.compile(r"^(?:d(\d+)\s+)?(\d{1,3})[:.](\d{1,2})[:.](\d{1,2}(?:\.\d+)?)$")


@dataclass(frozen=True)
class EventTable:
    """The events of one recording, its length in seconds where the file tells it, and what had to be put right.

    Events are sorted by onset; `warnings` are sentences that name the file and the line. `is_ours` tells that the
    table has the columns in which this program says all of a mark.
    """

    events: tuple[Annotation, ...]
    duration: float | None = None
    warnings: tuple[str, ...] = ()
    start_datetime: datetime | None = None
    is_ours: bool = False


@dataclass(frozen=True)
class EventRow:
    """One line as it stands in the file; `is_interval` when it gives an end, which must then lie after the onset.

    `length` is the duration where the line gives one, from which the end was worked out. `is_ours` tells that this
    program wrote the line, in which nothing has to be put right then.
    """

    line: int | None
    onset: float
    stop: float
    label: str
    is_interval: bool
    confidence: float | None = None
    ch_names: tuple[str, ...] = ()
    extras: tuple[tuple[str, str], ...] = ()
    length: float | None = None
    author: str = SIDECAR
    review: Review = UNREVIEWED
    is_ours: bool = False

    @property
    def annotation(self) -> Annotation:
        """The line as an annotation."""
        duration = self.stop - self.onset if self.length is None else self.length
        return Annotation(
            self.onset,
            duration,
            self.label,
            self.ch_names,
            self.confidence,
            self.author,
            self.extras,
            review=self.review,
        )


class Complaints:
    """Collects warnings about one file and stops repeating itself after `MAX_WARNINGS`."""

    def __init__(self, path: Path) -> None:
        self._name = path.name
        self._sentences: list[str] = []
        self._unsaid = 0

    def add(self, line: int | None, text: str) -> None:
        """Note what was wrong in a line (counted from 1), or in the file as a whole."""
        if len(self._sentences) >= MAX_WARNINGS:
            self._unsaid += 1
            return
        place = f"{self._name}, line {line}" if line is not None else self._name
        self._sentences.append(f"{place}: {text}")

    def sentences(self) -> tuple[str, ...]:
        """All that was noted, with the number of further lines that had faults."""
        more = (f"{self._name}: {self._unsaid} more lines with faults",) if self._unsaid else ()
        return (*self._sentences, *more)


def read_text(path: Path) -> str:
    """The text of a small file in UTF-8, UTF-16 with a mark, or Latin-1; RecordingError when it is not text."""
    raw = path.read_bytes() if path.stat().st_size <= MAX_TEXT_BYTES else None
    if raw is None:
        raise RecordingError(f"too large for an event table ({path}): give a table of events, not of samples")
    if not raw.strip():
        raise RecordingError(f"the event file is empty ({path}): give a file with at least a header line")
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", errors="replace")
    if b"\0" in raw[:4096]:
        raise RecordingError(f"not a text file ({path}): give a table of events or a recording")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def read_tse(path: Path, duration: float | None) -> EventTable:
    """Read TUH's .tse: a version line, then `start stop label probability` in seconds."""
    complaints = Complaints(path)
    rows: list[EventRow] = []
    for i, line in enumerate(read_text(path).splitlines(), 1):
        cells = line.split()
        if not cells or line.lstrip().startswith("#") or cells[0].lower().startswith("version"):
            continue
        onset, stop = (parse_number(cell) for cell in (*cells, "", "")[:2])
        if onset is None or stop is None or len(cells) < 3:
            complaints.add(i, f"not `start stop label` ({line.strip()[:40]!r}) and left out")
            continue
        confidence = parse_share(cells[3]) if len(cells) > 3 else None
        rows.append(EventRow(i, onset, stop, cells[2], True, confidence))
    known = first_known(duration, max((row.stop for row in rows), default=None))
    return EventTable(tidy(rows, duration, complaints), known, complaints.sentences())


def tidy(rows: Iterable[EventRow], duration: float | None, complaints: Complaints) -> tuple[Annotation, ...]:
    """Turn rows into annotations, leaving out or cutting what cannot be right and saying so for each line."""
    kept: list[EventRow] = []
    last_stop: dict[tuple[str, tuple[str, ...]], float] = {}
    for row in sorted(rows, key=lambda r: (r.onset, r.stop)):
        stop = row.stop
        span = f"{row.onset:g}-{stop:g} s"
        if stop < row.onset:
            complaints.add(row.line, f"the event ends before it begins ({span}) and is left out")
            continue
        if stop == row.onset and row.is_interval:
            complaints.add(row.line, f"the event has no length ({span}) and is left out")
            continue
        if duration is not None and row.onset > duration:
            complaints.add(row.line, f"the event begins after the end at {duration:g} s ({span}) and is left out")
            continue
        if duration is not None and stop > duration + 1e-6:
            complaints.add(row.line, f"the event goes past the end at {duration:g} s ({span}) and is cut there")
            stop = duration
        key = (row.label.strip().lower(), row.ch_names)
        if row.onset < last_stop.get(key, -math.inf) and stop > row.onset:
            complaints.add(row.line, f"the event overlaps the one before it ({span}); both are kept")
        last_stop[key] = max(stop, last_stop.get(key, -math.inf))
        kept.append(row if stop == row.stop else replace(row, stop=stop, length=None))
    return tuple(row.annotation for row in kept)


def clock_seconds(text: str) -> float | None:
    """Seconds of `hh:mm:ss` or `hh.mm.ss` since midnight; hours may pass 24, Persyst puts `d1` for a day before."""
    match = _CLOCK.match(text.strip().lower())
    if match is None:
        return None
    day, hours, minutes, seconds = match.groups()
    return (int(day or 0) * 24 + int(hours)) * 3600.0 + int(minutes) * 60 + float(seconds)


def parse_number(text: str, decimal: str = ".") -> float | None:
    """A finite number; None for anything else. With a `decimal` comma both spellings are read."""
    try:
        value = float(text.replace(",", ".") if decimal == "," else text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def parse_share(text: str) -> float | None:
    """A number from 0 to 1; None for anything else."""
    value = parse_number(text)
    return value if value is not None and 0.0 <= value <= 1.0 else None


def first_known(*values: float | None) -> float | None:
    """The first value that is not None."""
    return next((value for value in values if value is not None), None)
