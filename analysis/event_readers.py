"""Reads event files that are tables: BIDS and SzCORE .tsv, TUH .csv, .csv_bi and .tse, Persyst and plain .csv."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from analysis.annotation import Annotation
from analysis.errors import RecordingError
from analysis.seizure_marks import SEIZURE_CODES

SEIZURE_TYPE = "sz"
MAX_WARNINGS = 25
MAX_TEXT_BYTES = 256 * 2**20
PREAMBLE_LINES = 60

_ONSET = ("onset", "start", "starttime", "begin", "begintime", "eventonset", "time", "offsetseconds")
_STOP = ("stop", "stoptime", "end", "endtime", "offset", "eventoffset")
_DURATION = ("duration", "dur", "length", "durationseconds")
_LABEL = (
    "eventtype",
    "trialtype",
    "label",
    "description",
    "annotation",
    "event",
    "type",
    "text",
    "comment",
    "title",
    "name",
)
_CONFIDENCE = ("confidence", "probability", "prob")
_CHANNELS = ("channels", "channel", "chnames")
_OTHER_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "stop": _STOP,
    "duration": _DURATION,
    "label": _LABEL,
    "confidence": _CONFIDENCE,
    "channels": _CHANNELS,
    "total": ("recordingduration",),
    "when": ("datetime",),
}
_NOTHING = frozenset({"", "-", "n/a", "na"})  # how tables say that a time is not known
_ALL_CHANNELS = frozenset({"", "all", "n/a", "na", "nan", "term"})  # TUH calls a whole-recording row TERM
_UNIT = re.compile(r"(?:[\s_-]+|\()(?:s|sec|secs|seconds)\)?$")
_PROBABILITY_COLUMN = re.compile(r"^(?:p\d+|prob.*|p\(.*)$")
_CLOCK = re.compile(r"^(?:d(\d+)\s+)?(\d{1,3})[:.](\d{1,2})[:.](\d{1,2}(?:\.\d+)?)$")
_START_KEYS = frozenset({"testtime", "teststarttime", "starttime", "recordingstart", "recordingstarttime"})


@dataclass(frozen=True)
class EventTable:
    """The events of one recording, its length in seconds where the file tells it, and what had to be put right.

    Events are sorted by onset; `warnings` are sentences that name the file and the line.
    """

    events: tuple[Annotation, ...]
    duration: float | None = None
    warnings: tuple[str, ...] = ()
    start_datetime: datetime | None = None


@dataclass(frozen=True)
class EventRow:
    """One line as it stands in the file; `is_interval` when it gives an end, which must then lie after the onset."""

    line: int | None
    onset: float
    stop: float
    label: str
    is_interval: bool
    confidence: float | None = None
    ch_names: tuple[str, ...] = ()
    extras: tuple[tuple[str, str], ...] = ()


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


def read_table(path: Path, duration: float | None) -> EventTable:
    """Read a delimited table whose header names onset and duration (or start and stop).

    Lines beginning with # may carry TUH's `duration = N secs`; a Persyst export has lines before its header. Rows that
    cannot be right are left out or cut, each with a warning. RecordingError when no header names a time.
    """
    complaints = Complaints(path)
    numbered = [(i, line) for i, line in enumerate(read_text(path).splitlines(), 1) if line.strip()]
    comments = [line for _, line in numbered if line.lstrip().startswith("#")]
    lines = [(i, line) for i, line in numbered if not line.lstrip().startswith("#")]
    delimiter = _delimiter(path, [line for _, line in lines])
    at, names = _find_header(path, lines, delimiter)
    rows, table_duration, start = _parse_rows(
        lines[at + 1 :], names, delimiter, _preamble_start(lines[:at], delimiter), complaints
    )
    known = _first(_commented_duration(comments), table_duration, duration)
    events = tidy(rows, known, complaints)
    return EventTable(events, known, complaints.sentences(), start)


def read_tse(path: Path, duration: float | None) -> EventTable:
    """Read TUH's .tse: a version line, then `start stop label probability` in seconds."""
    complaints = Complaints(path)
    rows: list[EventRow] = []
    for i, line in enumerate(read_text(path).splitlines(), 1):
        cells = line.split()
        if not cells or line.lstrip().startswith("#") or cells[0].lower().startswith("version"):
            continue
        onset, stop = (_number(cell) for cell in (*cells, "", "")[:2])
        if onset is None or stop is None or len(cells) < 3:
            complaints.add(i, f"not `start stop label` ({line.strip()[:40]!r}) and left out")
            continue
        confidence = _share(cells[3]) if len(cells) > 3 else None
        rows.append(EventRow(i, onset, stop, cells[2], True, confidence))
    known = _first(duration, max((row.stop for row in rows), default=None))
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
        kept.append(replace(row, stop=stop))
    return tuple(
        Annotation(r.onset, r.stop - r.onset, r.label.strip(), r.ch_names, r.confidence, "sidecar", r.extras)
        for r in kept
    )


def clock_seconds(text: str) -> float | None:
    """Seconds of `hh:mm:ss` or `hh.mm.ss` since midnight; hours may pass 24, Persyst puts `d1` for a day before."""
    match = _CLOCK.match(text.strip().lower())
    if match is None:
        return None
    day, hours, minutes, seconds = match.groups()
    return (int(day or 0) * 24 + int(hours)) * 3600.0 + int(minutes) * 60 + float(seconds)


def _delimiter(path: Path, lines: Sequence[str]) -> str:
    head = "\n".join(lines[:PREAMBLE_LINES])
    if path.suffix.lower() == ".tsv" or "\t" in head:
        return "\t"
    return ";" if head.count(";") > head.count(",") else ","


def _cells(line: str, delimiter: str) -> list[str]:
    if delimiter == "\t":
        return line.split("\t")
    return next(csv.reader(io.StringIO(line), delimiter=delimiter, skipinitialspace=True), [])


def _plain(name: str) -> str:
    """A column name without its unit, blanks, underscores and capitals: `Start Time (s)` -> `starttime`."""
    return re.sub(r"[\s_\-]", "", _UNIT.sub("", name.strip().lower()))


def _find_header(path: Path, lines: Sequence[tuple[int, str]], delimiter: str) -> tuple[int, list[str]]:
    for at, (_, line) in enumerate(lines[:PREAMBLE_LINES]):
        names = [name.strip() for name in _cells(line, delimiter)]
        plain = [_plain(name) for name in names]
        has_extent = any(name in plain for name in (*_STOP, *_DURATION, *_LABEL))
        if _column(plain, _ONSET) is not None and (has_extent or at == 0):
            _refuse_probabilities(path, plain)
            return at, names
    raise RecordingError(
        f"no column is called onset ({path}): an event table needs a header that names onset and duration"
    )


def _refuse_probabilities(path: Path, plain: Sequence[str]) -> None:
    if _column(plain, _LABEL) is None and any(_PROBABILITY_COLUMN.match(name) for name in plain):
        raise RecordingError(
            f"a table of probabilities, not of events ({path}): give the events that were derived from it"
        )


def _column(plain: Sequence[str], aliases: Sequence[str]) -> int | None:
    return next((plain.index(alias) for alias in aliases if alias in plain), None)


def _preamble_start(lines: Sequence[tuple[int, str]], delimiter: str) -> float | None:
    """The clock time of the first sample, where the lines before the header tell it, in seconds since midnight."""
    for _, line in lines:
        cells = _cells(line, delimiter)
        if len(cells) > 1 and _plain(cells[0].rstrip(":")) in _START_KEYS:
            return clock_seconds(cells[1])
    return None


def _columns(names: Sequence[str]) -> dict[str, int]:
    """Which column holds what; only what is there."""
    plain = [_plain(name) for name in names]
    found = {"onset": _column(plain, _ONSET)}
    rest = [name if i != found["onset"] else "" for i, name in enumerate(plain)]
    found |= {key: _column(rest, aliases) for key, aliases in _OTHER_COLUMNS.items()}
    return {key: at for key, at in found.items() if at is not None}


def _parse_rows(
    lines: Sequence[tuple[int, str]],
    names: Sequence[str],
    delimiter: str,
    clock_start: float | None,
    complaints: Complaints,
) -> tuple[list[EventRow], float | None, datetime | None]:
    """The rows, the length of the recording and its start, where the table tells them."""
    columns = _columns(names)
    if "label" not in columns:
        complaints.add(None, "no column names the kind of event, so every row is read as a seizure")
    others = [k for k in range(len(names)) if k not in columns.values()]
    rows: list[EventRow] = []
    durations: list[float] = []
    start: datetime | None = None
    for i, line in lines:
        raw = _cells(line, delimiter) + [""] * len(names)
        cells = {key: raw[at].strip() for key, at in columns.items()}
        extras = tuple((names[k], raw[k].strip()) for k in others if raw[k].strip())
        label = raw[columns["label"]] if "label" in columns else None
        row = _read_row(i, cells, label, extras, delimiter, clock_start, complaints)
        if row is None:
            continue
        rows.append(row)
        total = _number(cells.get("total", ""))
        if total is not None and total > 0:
            durations.append(total)
        start = start or _when(cells.get("when", ""))
    if len(set(durations)) > 1:
        complaints.add(None, f"recordingDuration differs between rows; the longest, {max(durations):g} s, is used")
    return rows, max(durations, default=None), start


def _read_row(
    line: int,
    cells: Mapping[str, str],
    label: str | None,
    extras: tuple[tuple[str, str], ...],
    delimiter: str,
    clock_start: float | None,
    complaints: Complaints,
) -> EventRow | None:
    """One event, or None where its onset is no time."""
    onset = _moment(cells["onset"], delimiter, clock_start)
    if onset is None:
        complaints.add(line, f"the onset {cells['onset'][:20]!r} is not a time; the line is left out")
        return None
    duration, end = cells.get("duration", ""), cells.get("stop", "")
    stop, is_interval = _stop_of(onset, duration, end, delimiter, clock_start)
    unread = next((text for text in (duration, end) if text.lower() not in _NOTHING), None)
    if stop is None and unread is not None:
        complaints.add(line, f"the duration or end {unread[:20]!r} is not a time; the event is read without a length")
    confidence, ch_names = _share(cells.get("confidence", "")), _channels(cells.get("channels", ""))
    kind = _label(label, line, complaints)
    return EventRow(line, onset, onset if stop is None else stop, kind, is_interval, confidence, ch_names, extras)


def _label(text: str | None, line: int, complaints: Complaints) -> str:
    if text is None:
        return SEIZURE_TYPE
    label = text.strip()
    code = label.lower()
    if code in SEIZURE_CODES and text != code:
        complaints.add(line, f"the label {text!r} is read as {code}")
        return code
    return label


def _stop_of(
    onset: float, duration: str, stop: str, delimiter: str, clock_start: float | None
) -> tuple[float | None, bool]:
    """Where an event ends, if that can be read, and whether it is an interval, which then must have a length."""
    length = _number(duration, delimiter)
    if length is not None:
        return onset + length, False
    end = _moment(stop, delimiter, clock_start)
    return end, end is not None


def _moment(text: str, delimiter: str, clock_start: float | None) -> float | None:
    seconds = _number(text, delimiter)
    if seconds is not None:
        return seconds
    clock = clock_seconds(text)
    if clock is None or clock_start is None:
        return clock
    return clock - clock_start if clock >= clock_start else clock - clock_start + 86400.0


def _number(text: str, delimiter: str = ",") -> float | None:
    try:
        value = float(text.replace(",", ".") if delimiter != "," else text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _share(text: str) -> float | None:
    value = _number(text)
    return value if value is not None and 0.0 <= value <= 1.0 else None


def _channels(text: str) -> tuple[str, ...]:
    if text.lower() in _ALL_CHANNELS:
        return ()
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _when(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _commented_duration(comments: Sequence[str]) -> float | None:
    for line in comments:
        match = re.match(r"#\s*duration\s*=\s*([\d.]+)", line.strip(), re.IGNORECASE)
        if match:
            return _number(match.group(1))
    return None


def _first(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)
