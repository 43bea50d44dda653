"""Saving marks into a table that exists: its columns, their order and the rows that did not change stay as they are."""

from __future__ import annotations

import codecs
import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from analysis.annotation import Annotation
from analysis.event_columns import (
    BACKGROUND,
    EXACT,
    NOT_AVAILABLE,
    OUR_COLUMNS,
    ParsedTable,
    parse_table,
    split_cells,
)
from analysis.event_readers import SEIZURE_TYPE, Complaints, EventRow
from analysis.review.mark_tables import (
    column_order,
    date_cell,
    exact_number,
    has_column,
    join_cells,
    keyed_extras,
    mark_cells,
    slowly,
)
from analysis.review.raters import said_by_file

_LABEL_KEY = ("eventType", 0)


@dataclass(frozen=True)
class TableContents:
    """What a table has to do with marks: how many of its rows are among them as they are (`kept`), were among them
    before they were changed or removed (`outdated`), and are not known here (`strangers`)."""

    kept: int
    outdated: int
    strangers: int


class TableUpdate:
    """What becomes of a table when marks are saved into it.

    `known` are marks as they once stood here: a row that says one of them, and no mark any more, has been changed or
    removed. A row that is neither is a stranger, which only the reader can decide about. A mark that was read from the
    table, as the word of a file of its name, is the mark of its row. Lines that tell of no event, of background, or of
    what lies past the end stay. RecordingError where the file is no table of events.
    """

    def __init__(self, path: Path, marks: Iterable[Annotation], known: Collection[Annotation], duration: float) -> None:
        self._table = parse_table(path, Complaints(path))
        self._name = path.name
        self._raw = path.read_bytes()
        self._duration = duration
        self._fates: dict[int, str] = {}  # of lines that tell of events, by their number
        self._new = self._compare(list(marks), {mark_content(mark) for mark in known})
        counts = Counter(self._fates.values())
        self.contents = TableContents(counts["kept"], counts["outdated"], counts["stranger"])

    def _compare(self, marks: list[Annotation], known: Collection[Annotation]) -> list[Annotation]:
        """Decide about each row; returns the marks that no row says."""
        waiting: dict[Annotation, list[Annotation]] = {}
        for mark in reversed(marks):
            waiting.setdefault(mark_content(mark), []).append(mark)
        for row in slowly(self._table.rows):
            said, as_file = self._forms(row)
            # A row is the word of whoever it names, and of the file for whoever has opened that: both may be there.
            found = [next((form for form in forms if waiting.get(form)), None) for forms in (said, as_file)]
            for form in found:
                if form is not None:
                    waiting[form].pop()
            if any(form is not None for form in found):
                self._fates[row.line] = "kept"
            elif any(form in known for form in (*said, *as_file)):
                self._fates[row.line] = "outdated"
            elif not _is_background(row) and row.onset <= self._duration:
                self._fates[row.line] = "stranger"
        left = [mark for others in waiting.values() for mark in others]
        return sorted(left, key=lambda mark: (mark.onset, mark.stop))

    def _forms(self, row: EventRow) -> tuple[list[Annotation], list[Annotation]]:
        """What a mark that was read from a row says: as it stands or cut at the end; and this as the file's word."""
        said = mark_content(row.annotation)
        ends = (self._duration, self._table.duration or self._duration)
        cut = {replace(said, duration=max(0.0, end - said.onset)): None for end in sorted(ends) if said.stop > end}
        forms = [said, *cut]
        return forms, [form for form in said_by_file(forms, self._name) if form not in forms]

    def text(self, keep_strangers: bool, start: datetime | None) -> bytes:
        """The table with the marks in it; `start` is the recording's, for rows that are new."""
        table = self._table
        further = _further_columns(table, self._new)
        dropped = {"outdated"} if keep_strangers else {"outdated", "stranger"}
        if self._new and len(table.rows) == 1 and _is_background(table.rows[0]):
            self._fates[table.rows[0].line or 0] = "outdated"  # it said that there was nothing
        rows = {row.line: row for row in table.rows}
        width, sorted_by_time = len(table.names), _is_sorted(table.rows)
        lines = list(table.lines[: table.header])
        lines.append(_widened(table.lines[table.header], width, [name for name, _ in further], table.delimiter))
        # Without a column for it every row was read as a seizure, which it goes on saying.
        nothing = [SEIZURE_TYPE if key == _LABEL_KEY else NOT_AVAILABLE for key in further]
        new = [self._line(mark, further, start) for mark in self._new]
        onsets = [mark.onset for mark in self._new]
        done = 0
        for number, line in enumerate(table.lines[table.header + 1 :], table.header + 2):
            row = rows.get(number)
            if row is None:
                lines.append(line)
                continue
            while sorted_by_time and done < len(new) and onsets[done] < row.onset:
                lines.append(new[done])
                done += 1
            if self._fates.get(number) not in dropped:
                lines.append(_widened(line, width, nothing, table.delimiter))
        tail = len(lines)
        while tail and not lines[tail - 1].strip():
            tail -= 1
        lines[tail:tail] = new[done:]
        return self._encoded(lines)

    def _line(self, mark: Annotation, further: Sequence[tuple[str, int]], start: datetime | None) -> str:
        """A row for a mark, in the columns that the table has and the `further` ones."""
        table = self._table
        said = _cells(table, mark)
        by_place = {
            "onset": said["onset"],
            "duration": said["duration"],
            "stop": exact_number(mark.stop),
            "label": said["eventType"],
            "confidence": said["confidence"],
            "channels": said["channels"],
            "comment": said["comment"],
            "tag": said["HED"],
            "when": date_cell(start),
            "total": exact_number(self._duration),
        }
        cells: list[str] = []
        met: Counter[str] = Counter()
        keys = {place: key for key, place in table.columns.items()}
        for place, name in enumerate(table.names):
            key = keys.get(place)
            cells.append(by_place.get(key or "", said.get(name, said.get((name, met[name]), NOT_AVAILABLE))))
            met[name] += key is None
        cells += [said.get(name, said.get((name, which), NOT_AVAILABLE)) for name, which in further]
        return join_cells(cells, table.delimiter)

    def _encoded(self, lines: Sequence[str]) -> bytes:
        end = "\r\n" if b"\r\n" in self._raw else "\n"
        text = end.join(lines)
        mark = codecs.BOM_UTF8 if self._raw.startswith(codecs.BOM_UTF8) else b""
        return mark + (text if text.endswith(end) else text + end).encode()


def mark_content(mark: Annotation) -> Annotation:
    """A mark as tables tell it: a cell without anything says the same as no cell."""
    told = tuple(extra for extra in mark.extras if extra[1] not in ("", NOT_AVAILABLE))
    return mark if len(told) == len(mark.extras) else replace(mark, extras=told)


def _is_background(row: EventRow) -> bool:
    return not row.is_ours and row.label.strip().lower() == BACKGROUND


def _is_sorted(rows: Sequence[EventRow]) -> bool:
    return all(a.onset <= b.onset for a, b in pairwise(rows))


def _further_columns(table: ParsedTable, marks: Sequence[Annotation]) -> list[tuple[str, int]]:
    """The columns, as (name, which of that name), that the table lacks for what new rows have to say."""
    if not marks:
        return []
    cells = [_cells(table, mark) for mark in marks]
    wanted: list[tuple[str, int]] = []
    if "duration" not in table.columns:
        wanted.append(("duration", 0))
    if "label" not in table.columns:
        wanted.append(_LABEL_KEY)
    if "confidence" not in table.columns and any(mark.confidence is not None for mark in marks):
        wanted.append(("confidence", 0))
    if "channels" not in table.columns and any(mark.ch_names for mark in marks):
        wanted.append(("channels", 0))
    wanted += [(name, 0) for name in OUR_COLUMNS]
    wanted += [(EXACT, 0)] if any(EXACT in row for row in cells) else []
    there = {key for key, _ in keyed_extras(Annotation(0, 0, "", extras=tuple((name, "") for name in table.names)))}
    wanted += [key for key in column_order(marks) if has_column(key[0])]
    return [key for key in wanted if key not in there]


def _cells(table: ParsedTable, mark: Annotation) -> dict[Any, str]:
    """The cells of a mark; where the comments of a table say what is marked, a mark's own goes elsewhere."""
    cells = mark_cells(mark)
    if mark.review.comment and "label" in table.columns and table.names[table.columns["label"]] == "comment":
        exact = json.loads(cells.get(EXACT, "{}"))
        exact["review"] = {**exact.get("review", {}), "comment": mark.review.comment}
        cells[EXACT] = json.dumps(exact, separators=(",", ":"))
    return cells


def _widened(line: str, width: int, cells: Sequence[str], delimiter: str) -> str:
    """A line with further cells behind all columns of its table."""
    if not cells:
        return line
    missing = [NOT_AVAILABLE] * (width - len(split_cells(line, delimiter)))
    return delimiter.join([line, join_cells([*missing, *cells], delimiter)])
