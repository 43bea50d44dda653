"""The lines of a journal: JSON with a number and a checksum, so that a torn or damaged one is known as such."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any

from analysis.annotation import UNREVIEWED, Annotation, Review
from analysis.review.history import Change

Record = dict[str, Any]

_FILE = "file"  # the author of a mark that names none

# What a line holds of a mark; fields that hold what they hold by default are left out.
MARK_FIELDS = ("onset", "duration", "description", "id", "ch_names", "confidence", "author", "extras", "review")
REVIEW_FIELDS = tuple(f.name for f in fields(Review))


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
    return tuple([Change(_decode(before), _decode(after)) for before, after in pairs])


def _encode(mark: Annotation | None) -> Record | None:
    if mark is None:
        return None
    record: Record = {
        "onset": mark.onset,
        "duration": mark.duration,
        "description": mark.description,
        "id": mark.id,
    }
    if mark.ch_names:
        record["ch_names"] = mark.ch_names
    if mark.confidence is not None:
        record["confidence"] = mark.confidence
    if mark.author != _FILE:
        record["author"] = mark.author
    if mark.extras:
        record["extras"] = mark.extras
    if mark.review is not UNREVIEWED:
        review = _encode_review(mark.review)
        if review:
            record["review"] = review
    return record


def _decode(record: Record | None) -> Annotation | None:
    if record is None:
        return None
    return Annotation(
        record["onset"],
        record["duration"],
        record["description"],
        tuple(record["ch_names"]) if "ch_names" in record else (),
        record.get("confidence"),
        record.get("author", _FILE),
        tuple((str(name), str(value)) for name, value in record["extras"]) if "extras" in record else (),
        record["id"],
        _decode_review(tuple(record["review"].items())) if "review" in record else UNREVIEWED,
    )


# Marks by the hundred thousand share their reviews.
@lru_cache(maxsize=1024)
def _encode_review(review: Review) -> dict[str, str]:
    return {name: value for name in REVIEW_FIELDS if (value := getattr(review, name))}


@lru_cache(maxsize=1024)
def _decode_review(told: tuple[tuple[str, Any], ...]) -> Review:
    return Review(**{name: value for name, value in told if name in REVIEW_FIELDS})
