"""Reads seizure lists that are not tables: CHB-MIT summaries and .seizures files, and Siena's lists."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from analysis.errors import RecordingError
from analysis.event_readers import SEIZURE_TYPE, Complaints, EventRow, EventTable, clock_seconds, read_text, tidy

_FILE = re.compile(r"^\s*file\s*name\s*:\s*(\S.*?)\s*$", re.IGNORECASE)
_FIELD = re.compile(r"^\s*(.*?)\s*:\s*(.*?)\s*$")
_SECONDS = re.compile(r"^(\d+(?:\.\d+)?)\s*(?:s|secs?|seconds?)?\.?$", re.IGNORECASE)

# Codes of WFDB annotation files (annot(5) of the WFDB manual).
_WFDB_SKIP, _WFDB_AUX, _WFDB_ON, _WFDB_OFF = 59, 63, 32, 33
_WFDB_MODIFIERS = frozenset({60, 61, 62})
_WFDB_RATE = 256.0  # CHB-MIT's; a file may state its own


@dataclass
class ListedRecording:
    """What a list says of one recording: times are in seconds from its start."""

    name: str
    start: float | None = None
    stop: float | None = None
    stated: int | None = None
    rows: list[EventRow] = field(default_factory=list)

    @property
    def duration(self) -> float | None:
        """Length from the clock times, over midnight where the end is earlier than the start."""
        if self.start is None or self.stop is None:
            return None
        length = self.stop - self.start
        return length if length > 0 else length + 86400.0


def read_list(
    path: Path, recording_name: str | None, hints: Sequence[str], duration: float | None
) -> EventTable | None:
    """Read a CHB-MIT summary or a Siena list, for one recording of it; None when the text is neither.

    `recording_name` must be in the list; a hint is used only if it is. RecordingError lists the names otherwise.
    """
    text = read_text(path)
    complaints = Complaints(path)
    lowered = text.lower()
    if "registration start time" in lowered or re.search(r"^\s*seizure n ", lowered, re.MULTILINE):
        listed = _read_siena(text, complaints)
    elif "number of seizures in file" in lowered:
        listed = _read_chbmit(text, complaints)
    else:
        return None
    chosen = _choose(path, listed, recording_name, hints)
    if chosen.stated is not None and chosen.stated != len(chosen.rows):
        complaints.add(None, f"{chosen.name} is said to have {chosen.stated} seizures, {len(chosen.rows)} are listed")
    known = chosen.duration if chosen.duration is not None else duration
    return EventTable(tidy(chosen.rows, known, complaints), known, complaints.sentences())


def read_wfdb_seizures(path: Path, duration: float | None) -> EventTable:
    """Read CHB-MIT's .seizures, a WFDB annotation file: `[` begins and `]` ends a seizure, times in samples."""
    complaints = Complaints(path)
    rows: list[EventRow] = []
    began: float | None = None
    for code, seconds in _wfdb_marks(path):
        if code == _WFDB_ON:
            began = seconds
        elif code == _WFDB_OFF and began is not None:
            rows.append(EventRow(None, began, seconds, SEIZURE_TYPE, True))
            began = None
    if began is not None:
        complaints.add(None, f"the seizure at {began:g} s has no end and is left out")
    return EventTable(tidy(rows, duration, complaints), duration, complaints.sentences())


def _read_chbmit(text: str, complaints: Complaints) -> list[ListedRecording]:
    listed: list[ListedRecording] = []
    onset: float | None = None
    for i, line in enumerate(text.splitlines(), 1):
        name = _FILE.match(line)
        if name:
            listed.append(ListedRecording(name.group(1)))
            onset = None
            continue
        found = _FIELD.match(line)
        if not found or not listed:
            continue
        key, value = found.group(1).lower(), found.group(2)
        entry = listed[-1]
        if key == "file start time":
            entry.start = clock_seconds(value)
        elif key == "file end time":
            entry.stop = clock_seconds(value)
        elif key == "number of seizures in file":
            entry.stated = int(value) if value.isdigit() else None
        elif re.fullmatch(r"seizure\s*\d*\s*start\s*time", key):
            onset = _listed_seconds(value, i, complaints)
        elif re.fullmatch(r"seizure\s*\d*\s*end\s*time", key):
            stop = _listed_seconds(value, i, complaints)
            if onset is not None and stop is not None:
                entry.rows.append(EventRow(i, onset, stop, SEIZURE_TYPE, True))
            onset = None
    return listed


def _listed_seconds(value: str, line: int, complaints: Complaints) -> float | None:
    match = _SECONDS.match(value)
    if match is None:
        complaints.add(line, f"{value[:20]!r} is not a number of seconds; the seizure is left out")
        return None
    return float(match.group(1))


def _read_siena(text: str, complaints: Complaints) -> list[ListedRecording]:
    listed: dict[str, ListedRecording] = {}
    entry: ListedRecording | None = None
    onset: float | None = None
    for i, line in enumerate(text.splitlines(), 1):
        name = _FILE.match(line)
        if name:
            entry = listed.setdefault(_stem(name.group(1)), ListedRecording(name.group(1)))
            continue
        found = _FIELD.match(line)
        if not found or entry is None:
            continue
        key, clock = found.group(1).lower(), clock_seconds(found.group(2))
        if key == "registration start time":
            entry.start = clock
        elif key == "registration end time":
            entry.stop = clock
        elif key in {"seizure start time", "start time"}:
            onset = _after(clock, entry.start)
        elif key in {"seizure end time", "end time"}:
            stop = _after(clock, entry.start)
            if onset is not None and stop is not None:
                entry.rows.append(EventRow(i, onset, stop, SEIZURE_TYPE, True))
            else:
                complaints.add(i, "the seizure of this line has no readable clock times and is left out")
            onset = None
    return list(listed.values())


def _after(clock: float | None, start: float | None) -> float | None:
    if clock is None or start is None:
        return None
    return clock - start if clock >= start else clock - start + 86400.0


def _stem(name: str) -> str:
    return Path(name.replace("\\", "/")).stem.casefold()


def _choose(
    path: Path, listed: Sequence[ListedRecording], recording_name: str | None, hints: Sequence[str]
) -> ListedRecording:
    if not listed:
        raise RecordingError(f"the seizure list names no recording ({path}): check that it is whole")
    by_stem = {_stem(entry.name): entry for entry in listed}
    names = ", ".join(entry.name for entry in listed[:12]) + (", …" if len(listed) > 12 else "")
    if recording_name is not None:
        if _stem(recording_name) not in by_stem:
            raise RecordingError(f"the seizure list does not tell of {recording_name} ({path}): it has {names}")
        return by_stem[_stem(recording_name)]
    for hint in hints:
        if _stem(hint) in by_stem:
            return by_stem[_stem(hint)]
    if len(by_stem) > 1:
        raise RecordingError(
            f"the seizure list tells of {len(by_stem)} recordings ({path}): name one with --recording ({names})"
        )
    return listed[0]


def _wfdb_marks(path: Path) -> Iterator[tuple[int, float]]:
    """Yield (code, seconds) of each annotation; 16-bit words hold a code in 6 bits and a time step in 10."""
    raw = path.read_bytes()
    at, time, rate = 0, 0, _WFDB_RATE
    pending_skip = 0
    while at + 2 <= len(raw):
        word = int.from_bytes(raw[at : at + 2], "little")
        at += 2
        code, step = word >> 10, word & 0x3FF
        if code == 0 and step == 0:
            return
        if code == _WFDB_SKIP:
            high, low = (int.from_bytes(raw[at + k : at + k + 2], "little") for k in (0, 2))
            skip = (high << 16) | low
            pending_skip = skip - (1 << 32) if skip >= 1 << 31 else skip
            at += 4
        elif code == _WFDB_AUX:
            note = raw[at : at + step].decode("latin-1")
            stated = re.match(r"## time resolution:\s*([\d.]+)", note)
            rate = float(stated.group(1)) if stated else rate
            at += step + step % 2
        elif code not in _WFDB_MODIFIERS:
            time += pending_skip + step
            pending_skip = 0
            yield code, time / rate
    raise RecordingError(f"the seizure file ends in the middle ({path}): get a whole copy of it")
