"""Reading any event file that people of the field use, and writing ours (BIDS with the SzCORE columns)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from analysis.annotation import Annotation
from analysis.errors import RecordingError
from analysis.event_columns import BACKGROUND, COLUMNS, NOT_AVAILABLE, read_table
from analysis.event_lists import read_list, read_wfdb_seizures
from analysis.event_readers import EventTable, read_tse
from analysis.plain_numbers import number
from analysis.seizure_marks import find_seizures, seizures
from models.whole_files import whole_file

__all__ = [
    "EventTable",
    "cut_events",
    "find_seizures",
    "format_events",
    "read_events",
    "read_marks",
    "seizures",
    "write_events",
]

_SLACK = 1e-6  # seconds of rounding past the end that are not worth a word

_TEXT_SUFFIXES = frozenset({".tsv", ".csv", ".csv_bi", ".txt", ".tse", ".tse_bi"})
_ACCEPTED = (
    "give an event table (.tsv, .csv, .csv_bi, .tse), a seizure list (.txt, .seizures) or a recording with annotations"
)
_EDF_MARK, _BDF_MARK = b"0       ", b"\xffBIOSEMI"


def read_events(
    path: str | Path, recording_name: str | None = None, duration: float | None = None, hints: Sequence[str] = ()
) -> EventTable:
    """Read the events of one recording from an event table, a seizure list, or the recording's own annotations.

    A list that tells of several recordings needs `recording_name` (a name or path; RecordingError lists those it has)
    or a fitting name among `hints`. What goes past the `duration` in seconds, where it is given, is cut. Rows of
    background are no events; they only tell the length. What a reader has rejected in a table of ours is left out.
    RecordingError when the file cannot be read or holds no events' table.
    """
    path = Path(path)
    table = _without_background(_read_any(path, recording_name, duration, hints))
    if table.is_ours:
        table = replace(table, events=tuple(e for e in table.events if e.review.decision != "rejected"))
    return table if duration is None else cut_events(table, duration, path.name)


def read_marks(path: str | Path, duration: float | None = None, hints: Sequence[str] = ()) -> EventTable:
    """Read a file as `read_events` does, but a table of ours as it is: with what was rejected, and nothing cut."""
    path = Path(path)
    table = _without_background(_read_any(path, None, duration, hints))
    return table if table.is_ours or duration is None else cut_events(table, duration, path.name)


def cut_events(table: EventTable, duration: float, name: str) -> EventTable:
    """Leave out or cut what lies past `duration` seconds, with a warning that counts it; `name` is the file's."""
    within = [event for event in table.events if event.onset <= duration + _SLACK]
    events = tuple(
        replace(event, duration=max(0.0, duration - event.onset)) if event.stop > duration + _SLACK else event
        for event in within
    )
    n_late = len(table.events) - len(within)
    n_long = sum(new is not old for new, old in zip(events, within, strict=True))
    faults = [
        f"{name}: {_count(n)} past the end at {duration:g} s, {done}"
        for n, done in ((n_late, "left out"), (n_long, "cut there"))
        if n
    ]
    return replace(table, events=events, warnings=(*table.warnings, *faults)) if faults else table


def _count(n: int) -> str:
    return "an event reaches" if n == 1 else f"{n} events reach"


def _without_background(table: EventTable) -> EventTable:
    if table.is_ours:
        return table
    events = tuple(event for event in table.events if event.description.strip().lower() != BACKGROUND)
    if len(events) == len(table.events):
        return table
    covered = max(event.stop for event in table.events)
    return replace(table, events=events, duration=table.duration if table.duration is not None else covered)


def _read_any(path: Path, recording_name: str | None, duration: float | None, hints: Sequence[str]) -> EventTable:
    try:
        head = _head(path)
        suffix = path.suffix.lower()
        if suffix == ".seizures":
            return read_wfdb_seizures(path, duration)
        if suffix not in _TEXT_SUFFIXES or head.startswith((_EDF_MARK, _BDF_MARK)):
            return _read_recording(path, head)
        if suffix in {".tse", ".tse_bi"}:
            return read_tse(path, duration)
        listed = read_list(path, recording_name, hints, duration) if suffix == ".txt" else None
        return listed if listed is not None else read_table(path, duration)
    except OSError as error:
        raise RecordingError(
            f"the event file cannot be read ({path}): {error.strerror or error}; check its place and permissions"
        ) from error


def write_events(
    path: str | Path, events: Iterable[Annotation], start_datetime: datetime | None, duration: float
) -> None:
    """Write events as a SzCORE table; whole or not at all. OSError when the place cannot be written.

    Without events one `bckg` row covers the `duration` in seconds. Further columns that events carry follow ours.
    """
    with whole_file(Path(path)) as file:
        file.write(format_events(events, start_datetime, duration).encode())


def format_events(events: Iterable[Annotation], start_datetime: datetime | None, duration: float) -> str:
    """The text of a SzCORE table, tab-separated with a header line."""
    rows = sorted(events, key=lambda event: (event.onset, event.stop))
    if not rows:
        rows = [Annotation(0.0, duration, BACKGROUND)]
    extra_names = list(dict.fromkeys(name for row in rows for name, _ in row.extras if name not in COLUMNS))
    when = start_datetime.strftime("%Y-%m-%d %H:%M:%S") if start_datetime is not None else NOT_AVAILABLE
    lines = ["\t".join([*COLUMNS, *map(_clean, extra_names)])]
    for row in rows:
        extras = dict(row.extras)
        cells = [
            number(row.onset),
            number(row.duration),
            _clean(row.description) or NOT_AVAILABLE,
            number(row.confidence) if row.confidence is not None else NOT_AVAILABLE,
            ",".join(_clean(name) for name in row.ch_names) or "all",
            when,
            number(duration),
        ]
        lines.append("\t".join(cells + [_clean(extras.get(name, "")) or NOT_AVAILABLE for name in extra_names]))
    return "\n".join(lines) + "\n"


def _head(path: Path) -> bytes:
    if path.is_dir():  # some recordings are folders, and open_recording knows which
        return b""
    if not path.exists():
        raise RecordingError(f"there is no such file ({path}): check the path")
    with path.open("rb") as file:
        head = file.read(8)
    if not head:
        raise RecordingError(f"the event file is empty ({path}): give a file with events")
    return head


def _read_recording(path: Path, head: bytes) -> EventTable:
    from analysis.readers import open_recording

    try:
        with open_recording(path) as recording:
            return EventTable(
                tuple(recording.annotations), recording.duration, tuple(recording.warnings), recording.start_datetime
            )
    except RecordingError as error:
        if path.is_file() and not head.startswith((_EDF_MARK, _BDF_MARK)) and not _is_known_recording(path):
            raise RecordingError(f"this is neither a file of events nor a recording ({path}): {_ACCEPTED}") from error
        if not head.startswith((_EDF_MARK, _BDF_MARK)):
            raise
        from analysis.readers.edf import read_edf_annotations

        events = read_edf_annotations(path)  # a file of annotations without a signal, as hypnograms are
        if not events:
            raise
        return EventTable(events)


def _is_known_recording(path: Path) -> bool:
    """Whether the format is one of a recording, which then is only damaged."""
    from analysis.readers import detect_format

    try:
        detect_format(path)
    except RecordingError:
        return False
    return True


def _clean(text: str) -> str:
    return " ".join(text.split())
