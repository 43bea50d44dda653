"""Reads tables of events by the names of their columns: BIDS and SzCORE .tsv, TUH .csv, Persyst, plain .csv.

Our own tables hold, beside the columns of SzCORE, all that a mark says: `OUR_COLUMNS`, and in `EXACT` as JSON whatever
a plain cell cannot hold, such as a text with a tab. Tables of others to which we have added marks have these columns
too; their own rows name no author there.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from analysis.annotation import Review
from analysis.errors import RecordingError
from analysis.event_readers import (
    SEIZURE_TYPE,
    SIDECAR,
    Complaints,
    EventRow,
    EventTable,
    clock_seconds,
    first_known,
    parse_number,
    parse_share,
    read_text,
    tidy,
)
from analysis.seizure_marks import SEIZURE_CODES
from analysis.vocabulary import score_vocabulary

PREAMBLE_LINES = 60
BACKGROUND = "bckg"
NOT_AVAILABLE = "n/a"
READER = "reader"  # who uses this program, as the author of a mark
COLUMNS = ("onset", "duration", "eventType", "confidence", "channels", "dateTime", "recordingDuration")
OUR_COLUMNS = ("comment", "HED", "author", "reviewState", "reviewer", "reviewTime", "created", "changed")
EXACT = "exact"

_ONSET = ("onset", "start", "starttime", "begin", "begintime", "eventonset", "time", "offsetseconds")
_LABEL = (
    *("eventtype", "trialtype", "label", "description", "annotation"),
    *("event", "type", "text", "comment", "title", "name"),
)
_OTHER_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "stop": ("stop", "stoptime", "end", "endtime", "offset", "eventoffset"),
    "duration": ("duration", "dur", "length", "durationseconds"),
    "label": _LABEL,
    "confidence": ("confidence", "probability", "prob"),
    "channels": ("channels", "channel", "chnames"),
    "total": ("recordingduration",),
    "when": ("datetime",),
    "comment": ("comment",),
    "tag": ("hed",),
}
# In our own tables names are exact, and everything else is a further column.
_OUR_NAMES = {
    "author": "author",
    "comment": "comment",
    "tag": "HED",
    "decision": "reviewState",
    "by": "reviewer",
    "at": "reviewTime",
    "created": "created",
    "changed": "changed",
    "exact": EXACT,
}
_SZCORE_NAMES = {
    "onset": "onset",
    "duration": "duration",
    "label": "eventType",
    "confidence": "confidence",
    "channels": "channels",
    "when": "dateTime",
    "total": "recordingDuration",
}
_NOTHING = frozenset({"", "-", "n/a", "na"})  # how tables say that a time is not known
_ALL_CHANNELS = frozenset({"", "all", "n/a", "na", "nan", "term"})  # TUH calls a whole-recording row TERM
_UNIT = re.compile(r"(?:[\s_-]+|\()(?:s|sec|secs|seconds)\)?$")
_PROBABILITY_COLUMN = re.compile(r"^(?:p\d+|prob.*|p\(.*)$")
_START_KEYS = frozenset({"testtime", "teststarttime", "starttime", "recordingstart", "recordingstarttime"})
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True)
class ParsedTable:
    """A table as it stands in its file: all `lines`, of which number `header` (from 0) names the columns.

    `columns` maps what we call them to their places in `names`. `rows` are the lines that tell of events, in the order
    of the file; their `line` counts from 1.
    """

    lines: tuple[str, ...]
    header: int
    names: tuple[str, ...]
    delimiter: str
    columns: Mapping[str, int]
    rows: tuple[EventRow, ...]
    duration: float | None
    start: datetime | None
    is_ours: bool


def read_table(path: Path, duration: float | None) -> EventTable:
    """Read a delimited table whose header names onset and duration (or start and stop).

    Lines beginning with # may carry TUH's `duration = N secs`; a Persyst export has lines before its header. Rows that
    cannot be right are left out or cut, each with a warning. RecordingError when no header names a time.
    """
    complaints = Complaints(path)
    table = parse_table(path, complaints)
    ours = [row.annotation for row in table.rows if row.is_ours]
    others = [row for row in table.rows if not row.is_ours]
    if table.is_ours:  # here a mark may be called what others call background
        others = [row for row in others if row.label.strip().lower() != BACKGROUND]
    known = first_known(table.duration, duration)
    events = tidy(others, known, complaints)
    if ours:
        events = tuple(sorted((*events, *ours), key=lambda event: (event.onset, event.stop)))
    return EventTable(events, known, complaints.sentences(), table.start, table.is_ours)


def parse_table(path: Path, complaints: Complaints) -> ParsedTable:
    """Read a table line by line, with nothing left out but lines without an onset; errors as in `read_table`."""
    texts = tuple(_LINE_END.split(read_text(path)))
    numbered = [(i, line) for i, line in enumerate(texts, 1) if line.strip()]
    comments = [line for _, line in numbered if line.lstrip().startswith("#")]
    lines = [(i, line) for i, line in numbered if not line.lstrip().startswith("#")]
    delimiter = _delimiter(path, [line for _, line in lines])
    at, names = _find_header(path, lines, delimiter)
    is_ours = set(OUR_COLUMNS) <= set(names)
    columns = _columns(names, is_ours)
    if "label" not in columns:
        complaints.add(None, "no column names the kind of event, so every row is read as a seizure")
    lines_reader = _LineReader(names, columns, delimiter, _preamble_start(lines[:at], delimiter), complaints)
    rows = tuple(row for i, line in lines[at + 1 :] if (row := lines_reader.read(i, line)) is not None)
    known = first_known(_commented_duration(comments), lines_reader.duration)
    start = lines_reader.start
    return ParsedTable(texts, lines[at][0] - 1, tuple(names), delimiter, columns, rows, known, start, is_ours)


def split_cells(line: str, delimiter: str) -> list[str]:
    """The cells of a line."""
    if delimiter == "\t":
        return line.split("\t")
    return next(csv.reader(io.StringIO(line), delimiter=delimiter, skipinitialspace=True), [])


def parse_channels(text: str) -> tuple[str, ...]:
    """The channels that a cell names; none where it means all."""
    if text.lower() in _ALL_CHANNELS:
        return ()
    return tuple(name.strip() for name in text.split(",") if name.strip())


def said_by_type(cell: str, author: str) -> str:
    """The text of a mark in a table of ours: types of SzCORE stand for the words that a reader marks with."""
    text = _told(cell)
    return (author == READER and score_vocabulary().name_of_code(text)) or text


class _LineReader:
    """Reads the lines of one table; `duration` and `start` are what they tell of the recording."""

    def __init__(
        self,
        names: Sequence[str],
        columns: Mapping[str, int],
        delimiter: str,
        clock_start: float | None,
        complaints: Complaints,
    ) -> None:
        self._names = names
        self._columns = columns
        self._delimiter = delimiter
        self._decimal = "." if delimiter == "," else ","
        self._clock_start = clock_start
        self._complaints = complaints
        self._others = [k for k in range(len(names)) if k not in columns.values()]
        self._durations: set[float] = set()
        self.start: datetime | None = None

    @property
    def duration(self) -> float | None:
        """The length of the recording in seconds."""
        if len(self._durations) > 1:
            self._complaints.add(
                None, f"recordingDuration differs between rows; the longest, {max(self._durations):g} s, is used"
            )
        return max(self._durations, default=None)

    def read(self, number: int, line: str) -> EventRow | None:
        """One event, or None where there is none or its onset is no time."""
        raw = split_cells(line, self._delimiter) + [""] * len(self._names)
        cells = {key: raw[at].strip() for key, at in self._columns.items()}
        row = self._row(number, cells, raw)
        if row is None:
            return None
        total = parse_number(cells.get("total", ""), self._decimal)
        if total is not None and total > 0:
            self._durations.add(total)
        self.start = self.start or _when(cells.get("when", ""))
        return _exactly(row, cells.get("exact", "")) if row.is_ours else row

    def _row(self, number: int, cells: Mapping[str, str], raw: Sequence[str]) -> EventRow | None:
        onset = self._moment(cells["onset"])
        if onset is None:
            self._complaints.add(number, f"the onset {cells['onset'][:20]!r} is not a time; the line is left out")
            return None
        author = _told(cells.get("author", ""))
        is_ours = bool(author or _told(cells.get("exact", "")))
        duration, end = cells.get("duration", ""), cells.get("stop", "")
        length = parse_number(duration, self._decimal)
        stop = onset + length if length is not None else self._moment(end)
        unread = next((text for text in (duration, end) if text.lower() not in _NOTHING), None)
        if stop is None and unread is not None:
            self._complaints.add(
                number, f"the duration or end {unread[:20]!r} is not a time; the event is read without a length"
            )
        return EventRow(
            number,
            onset,
            onset if stop is None else stop,
            self._label(number, raw[self._columns["label"]] if "label" in self._columns else None, is_ours, author),
            is_interval=stop is not None and length is None,
            confidence=parse_share(cells.get("confidence", "")),
            ch_names=parse_channels(cells.get("channels", "")),
            extras=self._extras(raw, is_ours),
            length=length,
            author=author or SIDECAR,
            review=_review(cells),
            is_ours=is_ours,
        )

    def _moment(self, text: str) -> float | None:
        seconds = parse_number(text, self._decimal)
        if seconds is not None:
            return seconds
        clock = clock_seconds(text)
        if clock is None or self._clock_start is None:
            return clock
        return clock - self._clock_start if clock >= self._clock_start else clock - self._clock_start + 86400.0

    def _label(self, number: int, text: str | None, is_ours: bool, author: str) -> str:
        if text is None:
            return SEIZURE_TYPE
        label = text.strip()
        if is_ours:
            return said_by_type(label, author)
        code = label.lower()
        if code in SEIZURE_CODES and text != code:
            self._complaints.add(number, f"the label {text!r} is read as {code}")
            return code
        return label

    def _extras(self, raw: Sequence[str], is_ours: bool) -> tuple[tuple[str, str], ...]:
        if not self._others:
            return ()
        pairs = ((self._names[k], raw[k].strip()) for k in self._others)
        if is_ours:
            return tuple((name, value) for name, value in pairs if _told(value))
        return tuple((name, value) for name, value in pairs if value)


def _review(cells: Mapping[str, str]) -> Review:
    decision = cells.get("decision", "")
    told: dict[str, str] = {
        key: _told(cells.get(key, "")) for key in ("by", "at", "comment", "tag", "created", "changed")
    }
    kept: Literal["", "accepted", "rejected"] = decision if decision in ("accepted", "rejected") else ""  # type: ignore[assignment]
    return Review(kept, **told)


def _told(cell: str) -> str:
    return "" if cell == NOT_AVAILABLE else cell


def _exactly(row: EventRow, text: str) -> EventRow:
    """The row with what its plain cells could not hold."""
    if not _told(text):
        return row
    try:
        exact: dict[str, Any] = json.loads(text)
        changes: dict[str, Any] = {key: exact[key] for key in ("label", "confidence", "author") if key in exact}
        if "ch_names" in exact:
            changes["ch_names"] = tuple(exact["ch_names"])
        if "extras" in exact:
            changes["extras"] = tuple((name, value) for name, value in exact["extras"])
        if "review" in exact:
            changes["review"] = replace(row.review, **exact["review"])
        return replace(row, **changes)
    except (ValueError, TypeError, AttributeError):
        return row  # somebody has changed it by hand: the plain cells say nearly the same


def _delimiter(path: Path, lines: Sequence[str]) -> str:
    head = "\n".join(lines[:PREAMBLE_LINES])
    if path.suffix.lower() == ".tsv" or "\t" in head:
        return "\t"
    if head.startswith("onset,"):
        return ","  # texts may hold any number of semicolons
    return ";" if head.count(";") > head.count(",") else ","


def _plain(name: str) -> str:
    """A column name without its unit, blanks, underscores and capitals: `Start Time (s)` -> `starttime`."""
    return re.sub(r"[\s_\-]", "", _UNIT.sub("", name.strip().lower()))


def _find_header(path: Path, lines: Sequence[tuple[int, str]], delimiter: str) -> tuple[int, list[str]]:
    for at, (_, line) in enumerate(lines[:PREAMBLE_LINES]):
        names = [name.strip() for name in split_cells(line, delimiter)]
        plain = [_plain(name) for name in names]
        has_extent = any(name in plain for key in ("stop", "duration", "label") for name in _OTHER_COLUMNS[key])
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
        cells = split_cells(line, delimiter)
        if len(cells) > 1 and _plain(cells[0].rstrip(":")) in _START_KEYS:
            return clock_seconds(cells[1])
    return None


def _columns(names: Sequence[str], is_ours: bool) -> dict[str, int]:
    """Which column holds what; only what is there, and no column twice."""
    plain = [_plain(name) for name in names]
    found: dict[str, int] = {}
    if is_ours:
        is_whole = set(COLUMNS) <= set(names)
        exact = _OUR_NAMES | (_SZCORE_NAMES if is_whole else {})
        found = {key: names.index(name) for key, name in exact.items() if name in names}
        if _column([name for name in plain if name != "comment"], _LABEL) is None:
            del found["comment"]  # where nothing else says what is marked, the comments do
        for at in found.values():
            plain[at] = ""
        if is_whole:
            return found
    for key, aliases in {"onset": _ONSET, **_OTHER_COLUMNS}.items():
        column = _column(plain, aliases) if key not in found else None
        if column is not None:
            found[key] = column
            plain[column] = ""
    return found


def _when(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _commented_duration(comments: Sequence[str]) -> float | None:
    for line in comments:
        match = re.match(r"#\s*duration\s*=\s*([\d.]+)", line.strip(), re.IGNORECASE)
        if match:
            return parse_number(match.group(1))
    return None
