"""Writing EDF+ and BDF+ files record by record, with nothing of the recording held in memory.

edfio, the library for such files elsewhere, writes no discontinuous files, may change digital values of a source, and
holds a 24-bit file four times over in memory; so records are written here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO

import numpy as np

from analysis.annotation import Annotation
from analysis.errors import RecordingError

_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_BOUNDS_TRIED = 4096
CHANNEL_MARK = "@@"  # between a text and the channel it speaks of
# Onset as the file counts it and duration in seconds, and the texts of one list.
FileAnnotation = tuple[float, float, tuple[str, ...]]
_WIDTHS = (16, 80, 8, 8, 8, 8, 8, 80, 8, 32)
UNKNOWN_DATE = b"01.01.85"
UNKNOWN_TIME = b"00.00.00"
UNKNOWN_PATIENT = b"X X X X"
DIGITAL_RANGE = {2: (-32768, 32767), 3: (-8388608, 8388607)}


@dataclass(frozen=True)
class Target:
    """What is to be written: the name the file will have, its bytes per sample, and whether persons are left out."""

    path: Path
    sample_bytes: int
    anonymize: bool


@dataclass(frozen=True)
class FileLayout:
    """All that a header says besides its signals; `patient` and `recording` are the 80-byte fields as they are written.

    `onsets` is the time of every record in seconds from `start`, whose fraction of a second the first one carries.
    `clock` is the time field of a file that tells no day.
    """

    sample_bytes: int
    patient: bytes
    recording: bytes
    start: datetime | None
    record_duration: bytes
    onsets: Sequence[float]
    discontinuous: bool = False
    clock: bytes = UNKNOWN_TIME

    @property
    def family(self) -> str:
        """EDF or BDF."""
        return "BDF" if self.sample_bytes == 3 else "EDF"


@dataclass(frozen=True)
class SignalFields:
    """The ten header fields of a signal, as bytes without padding, and how many samples a record holds of it."""

    fields: tuple[bytes, ...]
    n_samples: int


def signal_fields(
    label: str, unit: str, physical: tuple[float, float], digital: tuple[int, int], prefilter: str, n_samples: int
) -> SignalFields:
    """Header fields of a signal that no file has described before."""
    texts = (label, "", unit, eight(physical[0]), eight(physical[1]), *map(str, digital), prefilter, str(n_samples), "")
    return SignalFields(tuple(ascii_bytes(text) for text in texts), n_samples)


def ascii_bytes(text: str) -> bytes:
    """Text in the printable US-ASCII of an EDF+ header, other characters as question marks."""
    return "".join(c if " " <= c <= "~" else "?" for c in text).encode()


def eight(value: float) -> str:
    """A number in the eight characters of a header field, as exactly as they allow and without an exponent."""
    for decimals in range(7, -1, -1):
        text = f"{value:.{decimals}f}"
        if "." in text:
            text = text.rstrip("0").rstrip(".")
        if len(text) <= 8:
            return text
    raise _too_large(value)


def exact_range(
    used: tuple[int, int], allowed: tuple[int, int], gain: float, offset: float
) -> tuple[tuple[int, int], tuple[float, float]]:
    """Digital bounds around the used ones, and their physical values, that eight characters hold most exactly.

    The lowest used value must be greater than the lowest allowed one.
    """
    first, last = used if used[1] > used[0] else (used[0] - 1, used[0])
    low = np.arange(first, max(allowed[0], first - _BOUNDS_TRIED) - 1, -1)
    high = np.arange(last, min(allowed[1], last + _BOUNDS_TRIED) + 1)
    ends = [int(values[np.argmin(_rounding(values * gain + offset))]) for values in (low, high)]
    return (ends[0], ends[1]), (ends[0] * gain + offset, ends[1] * gain + offset)


def _rounding(values: np.ndarray) -> np.ndarray:
    """What eight characters change in each value; infinite where they cannot hold it at all."""
    digits = np.floor(np.log10(np.maximum(np.abs(values), 1))) + 1 + (values < 0)
    scale = 10.0 ** np.clip(7 - digits, 0, 6)
    return np.where(digits > 8, np.inf, np.abs(np.rint(values * scale) / scale - values))


def enclosing(low: float, high: float) -> tuple[float, float]:
    """The narrowest range of two eight-character numbers that holds [low, high]."""
    return _outward(low, math.floor), _outward(high, math.ceil)


def _outward(value: float, rounding: Callable[[float], int]) -> float:
    for decimals in range(6, -1, -1):
        rounded = rounding(value * 10**decimals) / 10**decimals
        if len(f"{rounded:.{decimals}f}") <= 8:
            return rounded
    raise _too_large(value)


def _too_large(value: float) -> RecordingError:
    return RecordingError(
        f"the value {value:g} does not fit into the eight characters of an EDF header: the recording cannot be written"
    )


def recording_field(start: datetime | None, rest: str = "X X X") -> bytes:
    """EDF+'s recording field: the day of the start, or X where it is not known or not to be told."""
    day = f"{start.day:02d}-{_MONTHS[start.month - 1]}-{start.year:04d}" if start else "X"
    return ascii_bytes(f"Startdate {day} {rest}")[:80]


class EdfWriter:
    """Writes the header at once and then records in order, each followed by its share of the annotations."""

    def __init__(
        self,
        file: BinaryIO,
        layout: FileLayout,
        signals: Sequence[SignalFields],
        annotations: Sequence[FileAnnotation],
    ) -> None:
        self._file = file
        self._texts = _annotation_records(layout.onsets, annotations, layout.sample_bytes)
        self._next = 0
        file.write(_header(layout, [*signals, self._annotation_signal(layout)]))

    def _annotation_signal(self, layout: FileLayout) -> SignalFields:
        low, high = DIGITAL_RANGE[layout.sample_bytes]
        n_samples = self._texts.shape[1] // layout.sample_bytes
        return signal_fields(f"{layout.family} Annotations", "", (-1, 1), (low, high), "", n_samples)

    def write(self, records: np.ndarray) -> None:
        """Write the signals of the next records, raw bytes (records, bytes)."""
        texts = self._texts[self._next : self._next + len(records)]
        self._next += len(records)
        self._file.write(np.concatenate([records, texts], axis=1).tobytes())


def stored(values: np.ndarray, sample_bytes: int) -> np.ndarray:
    """Digital values (records, samples) as the bytes of a file (records, bytes)."""
    if sample_bytes == 2:
        return np.ascontiguousarray(values, "<i2").view(np.uint8)
    four = np.ascontiguousarray(values, "<i4").view(np.uint8).reshape(*values.shape, 4)
    return np.ascontiguousarray(four[..., :3]).reshape(len(values), -1)


def file_annotations(
    annotations: Sequence[Annotation], origin: float, labels: Mapping[str, str]
) -> list[FileAnnotation]:
    """Annotations in the order of time as EDF+ has them; `labels` are the file's names of channels.

    Those of single channels become "text@@label", one text a channel in one list. What a model said names it, as
    "text [model:name]", since nothing may take it for a human's marking.
    """
    known = {*labels, *labels.values()}
    listed: list[FileAnnotation] = []
    for note in sorted(annotations, key=attrgetter("onset")):
        text = note.signed_text
        if note.ch_names:
            texts = tuple(f"{text}{CHANNEL_MARK}{labels.get(name, name)}" for name in note.ch_names)
        elif text.rpartition(CHANNEL_MARK)[2].strip() in known and CHANNEL_MARK in text:
            texts = (text + CHANNEL_MARK,)  # it only looks like a text of one channel
        else:
            texts = (text or " ",)  # a list without any text would be none
        listed.append((note.onset + origin, note.duration, texts))
    return listed


def _annotation_records(
    onsets: Sequence[float], annotations: Sequence[FileAnnotation], sample_bytes: int
) -> np.ndarray:
    """Annotation bytes of every record (records, bytes): its own time, and an even share of all annotations."""
    lists = [[_tal(onset, 0.0, ("",))] for onset in onsets]
    for k, (onset, duration, texts) in enumerate(annotations):
        lists[k * len(onsets) // len(annotations)].append(_tal(onset, duration, texts))
    records = [b"".join(parts) for parts in lists]
    width = -(-max(map(len, records)) // sample_bytes) * sample_bytes
    joined = b"".join(record.ljust(width, b"\0") for record in records)
    return np.frombuffer(joined, np.uint8).reshape(len(records), width)


def _tal(onset: float, duration: float, texts: Sequence[str]) -> bytes:
    span = f"\x15{_decimals(duration)}" if duration > 0 else ""
    plain = "\x14".join("".join(" " if c in "\0\x14\x15" else c for c in text) for text in texts)
    sign = "-" if onset < 0 else "+"
    return f"{sign}{_decimals(abs(onset))}{span}\x14{plain}\x14\0".encode(errors="replace")


def _decimals(seconds: float) -> str:
    text = f"{seconds:.7f}".rstrip("0").rstrip(".")
    return text or "0"


def _header(layout: FileLayout, signals: Sequence[SignalFields]) -> bytes:
    start = layout.start
    date = f"{start:%d.%m.%y}".encode() if start else UNKNOWN_DATE
    time = f"{start:%H.%M.%S}".encode() if start else layout.clock
    continuity = "D" if layout.discontinuous else "C"
    fixed = (
        (b"\xffBIOSEMI" if layout.sample_bytes == 3 else b"0", 8),
        (layout.patient, 80),
        (layout.recording, 80),
        (date, 8),
        (time, 8),
        (str(256 * (len(signals) + 1)).encode(), 8),
        (f"{layout.family}+{continuity}".encode(), 44),
        (str(len(layout.onsets)).encode(), 8),
        (layout.record_duration, 8),
        (str(len(signals)).encode(), 4),
    )
    parts = [text[:width].ljust(width) for text, width in fixed]
    for i, width in enumerate(_WIDTHS):
        parts += [signal.fields[i][:width].ljust(width) for signal in signals]
    return b"".join(parts)
