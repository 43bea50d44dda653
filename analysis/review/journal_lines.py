"""The lines of a journal: JSON with a number and a checksum, so that a torn or damaged one is known as such."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Any

from analysis.annotation import UNREVIEWED, Annotation, Review
from analysis.review.history import Change

Record = dict[str, Any]

_REQUIRED = ("onset", "duration", "description", "id")
# Fields that are left out where they hold what they hold by default.
_OPTIONAL = {f.name: f.default for f in fields(Annotation) if f.name not in (*_REQUIRED, "review", "extras")}
_REVIEW = tuple(f.name for f in fields(Review))
assert all(default is not MISSING for default in _OPTIONAL.values())


def format_line(number: int, record: Mapping[str, Any]) -> bytes:
    """A record as one line; `number` counts the lines of a journal from 1."""
    body = json.dumps({"n": number, **record}, separators=(",", ":"), default=float).encode()
    return b"%08x %s\n" % (zlib.crc32(body), body)


def parse_line(line: bytes) -> Record | None:
    """The record of a line without its end, with its number as "n"; None where a byte of it is not as it was written.

    >>> parse_line(format_line(7, {"step": "undo"}).rstrip())
    {'n': 7, 'step': 'undo'}
    """
    checksum, _, body = line.partition(b" ")
    try:
        if len(checksum) != 8 or int(checksum, 16) != zlib.crc32(body):
            return None
        record = json.loads(body)
    except ValueError:
        return None
    return record if isinstance(record, dict) and isinstance(record.get("n"), int) else None


def encode_changes(changes: Iterable[Change]) -> list[list[Record | None]]:
    """Changes as JSON has them."""
    return [[_encode(change.before), _encode(change.after)] for change in changes]


def decode_changes(pairs: Iterable[Any]) -> tuple[Change, ...]:
    """Changes from JSON; TypeError, KeyError or ValueError where it does not describe any."""
    return tuple(Change(_decode(before), _decode(after)) for before, after in pairs)


def _encode(mark: Annotation | None) -> Record | None:
    if mark is None:
        return None
    record: Record = {name: getattr(mark, name) for name in _REQUIRED}
    for name, default in _OPTIONAL.items():
        value = getattr(mark, name)
        if value != default:
            record[name] = value
    if mark.extras:
        record["extras"] = mark.extras
    if mark.review is not UNREVIEWED:
        review = {name: value for name in _REVIEW if (value := getattr(mark.review, name))}
        if review:
            record["review"] = review
    return record


def _decode(record: Record | None) -> Annotation | None:
    if record is None:
        return None
    known = {name: record[name] for name in _REQUIRED}
    known |= {name: record[name] for name in _OPTIONAL if name in record}
    if "ch_names" in known:
        known["ch_names"] = tuple(known["ch_names"])
    if "extras" in record:
        known["extras"] = tuple((str(name), str(value)) for name, value in record["extras"])
    if "review" in record:
        known["review"] = Review(**{name: record["review"][name] for name in _REVIEW if name in record["review"]})
    return Annotation(**known)
