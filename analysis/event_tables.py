"""Reading any event file that people of the field use, and writing ours (BIDS with the SzCORE columns)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

from analysis.annotation import Annotation
from analysis.errors import RecordingError
from analysis.event_lists import read_list, read_wfdb_seizures
from analysis.event_readers import EventTable, read_table, read_tse
from analysis.seizure_marks import find_seizures, seizures
from models.whole_files import whole_file

__all__ = ["EventTable", "find_seizures", "format_events", "read_events", "seizures", "write_events"]

COLUMNS = ("onset", "duration", "eventType", "confidence", "channels", "dateTime", "recordingDuration")
BACKGROUND = "bckg"
NOT_AVAILABLE = "n/a"

_TEXT_SUFFIXES = frozenset({".tsv", ".csv", ".csv_bi", ".txt", ".tse", ".tse_bi"})
_EDF_MARK, _BDF_MARK = b"0       ", b"\xffBIOSEMI"


def read_events(
    path: str | Path, recording_name: str | None = None, duration: float | None = None, hints: Sequence[str] = ()
) -> EventTable:
    """Read the events of one recording from an event table, a seizure list, or the recording's own annotations.

    A list that tells of several recordings needs `recording_name` (a name or path; RecordingError lists those it has)
    or a fitting name among `hints`. `duration` in seconds is used where the file does not tell the length, to cut
    what goes past the end. RecordingError when the file cannot be read or holds no events' table.
    """
    path = Path(path)
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


def number(value: float) -> str:
    """A number as text, to a millionth and without needless zeros."""
    text = f"{value:.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


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
    except RecordingError:
        if not head.startswith((_EDF_MARK, _BDF_MARK)):
            raise
        from analysis.readers.edf import read_edf_annotations

        events = read_edf_annotations(path)  # a file of annotations without a signal, as hypnograms are
        if not events:
            raise
        return EventTable(events)


def _clean(text: str) -> str:
    return " ".join(text.split())
