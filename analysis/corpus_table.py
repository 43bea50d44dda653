"""The table of a corpus: one row for each recording, with what became of it, what was found and how well it fits."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from analysis.errors import RecordingError
from analysis.plain_numbers import number
from analysis.scoring import Rates
from models.whole_files import whole_file

TABLE = "recordings.tsv"
DONE, FAILED = "done", "failed"
_NOTHING = "n/a"


@dataclass(frozen=True)
class Row:
    """What became of one recording; `folder` of its results is relative to the table, times are in seconds.

    `found`, `false_alarms` and `seizures` are counts of events against the reference, after SzCORE's merging and
    splitting; None where nobody has marked the recording. `reason` says why it failed, or what is to be known of it.
    """

    recording: str
    folder: str
    state: str
    reason: str = ""
    duration: float | None = None
    events: int | None = None
    seizures: int | None = None
    found: int | None = None
    false_alarms: int | None = None
    seconds: float | None = None  # that the work took

    @property
    def rates(self) -> Rates | None:
        """Its scores by events; None where it has none."""
        if self.duration is None or self.seizures is None or self.found is None or self.false_alarms is None:
            return None
        return Rates(self.found, self.false_alarms, self.seizures, self.duration / 3600)


_COUNTS = frozenset({"events", "seizures", "found", "false_alarms"})
_NUMBERS = frozenset({"duration", "seconds"})
COLUMNS = tuple(field.name for field in fields(Row))


def pooled(rows: Iterable[Row]) -> Rates | None:
    """The scores of all recordings that have any, as if they were one; None where none has."""
    known = [rates for row in rows if (rates := row.rates) is not None]
    if not known:
        return None
    sums = [sum(getattr(rates, name) for rates in known) for name in ("tp", "fp", "n_reference", "hours")]
    return Rates(*sums)


def write_table(rows: Sequence[Row], path: Path) -> None:
    """Write the rows, tab separated, whole or not at all."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([_cell(value) for value in asdict(row).values()])
    with whole_file(path) as file:
        file.write(text.getvalue().encode())


def read_table(path: Path) -> list[Row]:
    """Read what `write_table` wrote; RecordingError where it is no such table."""
    try:
        lines = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig")), delimiter="\t"))
    except (OSError, UnicodeDecodeError) as error:
        raise RecordingError(f"the table cannot be read ({path}): check the path and that it is a table") from error
    if not lines or tuple(lines[0]) != COLUMNS:
        raise RecordingError(f"not a table of recordings ({path}): choose the {TABLE} that predict wrote")
    try:
        return [
            Row(**{name: _value(name, cell) for name, cell in zip(COLUMNS, line, strict=True)}) for line in lines[1:]
        ]
    except ValueError as error:
        raise RecordingError(f"a row of the table is damaged ({path}): make it again with predict") from error


def _cell(value: object) -> str:
    if value is None:
        return _NOTHING
    return number(value) if isinstance(value, float) else " ".join(str(value).split())


def _value(name: str, cell: str) -> Any:
    if name in _COUNTS:
        return None if cell == _NOTHING else int(cell)
    if name in _NUMBERS:
        return None if cell == _NOTHING else float(cell)
    return cell
