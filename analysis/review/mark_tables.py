"""Marks as a table that other programs read and that gives every mark back as it was."""

from __future__ import annotations

import csv
import io
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter
from typing import Any

import numpy as np

from analysis.annotation import Annotation, Review
from analysis.event_columns import (
    BACKGROUND,
    EXACT,
    NOT_AVAILABLE,
    OUR_COLUMNS,
    READER,
    parse_channels,
    said_by_type,
)
from analysis.event_readers import parse_share
from analysis.event_tables import COLUMNS
from analysis.plain_numbers import number
from analysis.vocabulary import score_vocabulary

_REVIEW_COLUMNS = {
    "comment": "comment",
    "HED": "tag",
    "reviewer": "by",
    "reviewTime": "at",
    "created": "created",
    "changed": "changed",
}
_REVIEW_FIELDS = tuple(_REVIEW_COLUMNS.values())
RESERVED = frozenset({*COLUMNS, *OUR_COLUMNS, EXACT})
_NO_MARKS = {"eventType": BACKGROUND, "channels": "all"}
_TIME = attrgetter("onset", "stop")
_ROWS_AT_A_TIME = 500  # then whoever draws gets a turn

# What BIDS wants to be said of each column, in a .json of the same name.
DESCRIPTIONS: Mapping[str, Mapping[str, Any]] = {
    "onset": {"Description": "Onset of the event from the first sample of the recording", "Units": "s"},
    "duration": {"Description": "Length of the event; 0 for a moment", "Units": "s"},
    "eventType": {
        "Description": "What is marked: a type of SzCORE such as sz for a seizure, or a text where SzCORE has no type"
    },
    "confidence": {"Description": "Probability that the mark is right, from 0 to 1, where it is known"},
    "channels": {"Description": "Channels that the mark speaks of, separated by commas, or all"},
    "dateTime": {"Description": "Date and time of the first sample, where it is known"},
    "recordingDuration": {"Description": "Length of the recording, gaps included", "Units": "s"},
    "comment": {"Description": "A reader's comment on the mark"},
    "HED": {"Description": "The mark in terms of HED (Hierarchical Event Descriptors), where it has one"},
    "author": {
        "LongName": "Who made the mark",
        "Description": "reader, file (annotations of the recording), sidecar (an event file), or model: and its name",
    },
    "reviewState": {
        "Description": "What a reader decided on the mark",
        "Levels": {
            "new": "nothing yet",
            "edited": "changed but not decided on",
            "accepted": "it is right",
            "rejected": "it is wrong",
        },
    },
    "reviewer": {"Description": "Name of who decided"},
    "reviewTime": {"Description": "When it was decided (ISO 8601, UTC)"},
    "created": {"Description": "When the mark was made (ISO 8601, UTC)"},
    "changed": {"Description": "When the mark was last changed (ISO 8601, UTC)"},
    "exact": {"Description": "As JSON, what the other cells of the row could not hold, such as a text with a tab"},
}


def format_marks(marks: Iterable[Annotation], start: datetime | None, duration: float, delimiter: str = "\t") -> bytes:
    """A table of all that marks say, in UTF-8, in the order of their onsets; `duration` is the recording's in seconds.

    The columns are those of SzCORE, ours, further ones in the order in which the marks have them, and `exact` where it
    is needed. Without marks one row of background covers the recording.
    """
    return MarkTable(start, duration, delimiter).format(marks)


class MarkTable:
    """Makes the same table again and again, at the price of the marks that are new since the last time."""

    def __init__(self, start: datetime | None, duration: float, delimiter: str = "\t") -> None:
        self._facts = {"dateTime": date_cell(start), "recordingDuration": exact_number(duration)}
        self._delimiter = delimiter
        self._further: list[tuple[str, int]] = []
        self._has_exact = False
        self._lines: dict[int, tuple[Annotation, str]] = {}  # of marks with ids

    def format(self, marks: Iterable[Annotation], check: Callable[[], None] | None = None) -> bytes:
        """The table, as `format_marks` has it; `check` is called now and then, and may raise."""
        rows = list(marks)
        if any(a.onset > b.onset for a, b in pairwise(rows)):
            rows.sort(key=_TIME)
        further = column_order(rows)
        if further != self._further:
            self._further, self._lines = further, {}
        lines = self._lines_of(rows, check)
        if lines is None:
            self._has_exact, self._lines = True, {}
            lines = self._lines_of(rows, check)
            assert lines is not None
        if not rows:
            lines = [self._line({"onset": "0", "duration": self._facts["recordingDuration"], **_NO_MARKS})]
        names = [*COLUMNS, *OUR_COLUMNS, *(name for name, _ in further), *self._exact_column()]
        return "\n".join([join_cells(names, self._delimiter), *lines, ""]).encode()

    def _lines_of(self, rows: Sequence[Annotation], check: Callable[[], None] | None) -> list[str] | None:
        """A line for each mark; None where one needs the column `exact` and there is none."""
        before, self._lines = self._lines, {}
        lines: list[str] = []
        for mark in slowly(rows, check):
            known = before.get(mark.id)
            if known is None or known[0] is not mark:
                cells = mark_cells(mark)
                if EXACT in cells and not self._has_exact:
                    return None
                known = mark, self._line(cells)
            if mark.id:
                self._lines[mark.id] = known
            lines.append(known[1])
        return lines

    def _line(self, cells: dict[Any, str]) -> str:
        cells |= self._facts
        keys = (*COLUMNS, *OUR_COLUMNS, *self._further, *self._exact_column())
        return join_cells([cells.get(key, NOT_AVAILABLE) for key in keys], self._delimiter)

    def _exact_column(self) -> tuple[str, ...]:
        return (EXACT,) if self._has_exact else ()


def describe_columns(names: Iterable[str], known: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What BIDS wants to be said of columns, after what is `known` already."""
    return {**(known or {}), **{n: d for n, d in DESCRIPTIONS.items() if n in set(names) and n not in (known or {})}}


def mark_cells(mark: Annotation) -> dict[Any, str]:
    """The cells of a mark by the names of their columns, those of further columns by (name, which of that name).

    `exact` is among them where the others do not say all.
    """
    review_cells, review_exact = _review_cells(mark.review)
    channels, ch_names_survive = _channels_cell(mark.ch_names)
    cells: dict[Any, str] = {
        "onset": exact_number(mark.onset),
        "duration": exact_number(mark.duration),
        "eventType": event_type(mark),
        "confidence": NOT_AVAILABLE if mark.confidence is None else exact_number(mark.confidence),
        "channels": channels,
        "author": plain_text(mark.author),
        "reviewState": mark.state,
        **review_cells,
    }
    exact: dict[str, Any] = dict(review_exact)
    if mark.description and said_by_type(cells["eventType"], cells["author"]) != mark.description:
        exact["label"] = mark.description
    if not is_plain(mark.author):
        exact["author"] = mark.author
    if mark.confidence is not None and parse_share(cells["confidence"]) != mark.confidence:
        exact["confidence"] = mark.confidence
    if not ch_names_survive:
        exact["ch_names"] = mark.ch_names
    if mark.extras:
        cells |= {key: plain_text(value) for key, value in keyed_extras(mark)}
        if not all(has_column(name) and is_plain(value) for name, value in mark.extras):
            exact["extras"] = mark.extras
    if exact:
        cells[EXACT] = json.dumps(exact, separators=(",", ":"), default=float)
    return cells


def event_type(mark: Annotation) -> str:
    """What the column eventType says of a mark: the type of SzCORE where a reader chose one, else the mark's text."""
    chosen = mark.author == READER or bool(mark.review.tag)
    return (chosen and score_vocabulary().code_of(mark.description)) or plain_text(mark.description)


# Marks by the hundred thousand share their reviews, channels and texts.
@lru_cache(maxsize=4096)
def _review_cells(review: Review) -> tuple[dict[str, str], dict[str, Any]]:
    spoilt = {key: text for key in _REVIEW_FIELDS if (text := getattr(review, key)) and not is_plain(text)}
    cells = {name: plain_text(getattr(review, key)) for name, key in _REVIEW_COLUMNS.items()}
    return cells, {"review": spoilt} if spoilt else {}


@lru_cache(maxsize=4096)
def _channels_cell(ch_names: tuple[str, ...]) -> tuple[str, bool]:
    cell = plain_text(",".join(ch_names)) if ch_names else "all"
    return cell, parse_channels(cell) == ch_names


def keyed_extras(mark: Annotation) -> list[tuple[tuple[str, int], str]]:
    """The further columns of a mark, told apart where several have one name."""
    met: Counter[str] = Counter()
    keyed = []
    for name, value in mark.extras:
        keyed.append(((name, met[name]), value))
        met[name] += 1
    return keyed


def column_order(marks: Iterable[Annotation]) -> list[tuple[str, int]]:
    """The further columns of marks in an order that is the one of each mark, as far as these do not contradict.

    Those whose names a table of ours cannot have are left out; `exact` holds them.
    """
    orders = dict.fromkeys(
        tuple(key for key, _ in keyed_extras(mark) if has_column(key[0])) for mark in marks if mark.extras
    )
    before: dict[tuple[str, int], set[tuple[str, int]]] = {}
    for order in orders:
        for i, key in enumerate(order):
            before.setdefault(key, set()).update(order[:i])
    listed: list[tuple[str, int]] = []
    while before:
        free = next((key for key, others in before.items() if not others & before.keys()), next(iter(before)))
        listed.append(free)
        del before[free]
    return listed


@lru_cache(maxsize=4096)
def is_plain(text: str) -> bool:
    """Whether a cell holds a text so that it is read back as it is."""
    return bool(text) and text != NOT_AVAILABLE and plain_text(text) == text


@lru_cache(maxsize=4096)
def plain_text(text: str) -> str:
    """The text as a cell can hold it: on one line and without tabs, control characters and halves of characters."""
    whole = text.encode(errors="replace").decode()
    return "".join(c if c.isprintable() else " " for c in whole).strip() or NOT_AVAILABLE


def exact_number(value: float) -> str:
    """A number that is read back as it is: to a millionth where that is enough, without an exponent."""
    text = number(value)
    return text if float(text) == value else np.format_float_positional(value, unique=True, trim="-")


def date_cell(start: datetime | None) -> str:
    """Date and time as SzCORE has them."""
    return start.strftime("%Y-%m-%d %H:%M:%S") if start is not None else NOT_AVAILABLE


def join_cells(cells: Sequence[str], delimiter: str) -> str:
    """A line of a table."""
    if delimiter == "\t":
        return "\t".join(cells)
    line = io.StringIO()
    csv.writer(line, delimiter=delimiter, lineterminator="").writerow(cells)
    return line.getvalue()


def slowly(items: Sequence[Any], check: Callable[[], None] | None = None) -> Iterator[Any]:
    """The items, with a pause now and then for whoever else wants to run, and a `check`, which may raise."""
    for i, item in enumerate(items, 1):
        yield item
        if i % _ROWS_AT_A_TIME == 0:
            time.sleep(0)
            if check is not None:
                check()


def has_column(name: str) -> bool:
    """Whether a further column can have that name in a table of ours."""
    return is_plain(name) and name not in RESERVED
