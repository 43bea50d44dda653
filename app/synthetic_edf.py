"""Writes made-up signals as EDF+C, a record at a time, so that a day of EEG never lies in memory.

For files of our own making only (the demo, the benchmark); copies of recordings are made by analysis.conversion.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

import numpy as np

STEP_UV = 0.1  # one digital step
_DIGITAL = 32767
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")


@dataclass(frozen=True)
class SyntheticHeader:
    """What the header says; all signals have one rate, which makes whole samples of a record of one second."""

    labels: tuple[str, ...]
    sfreq: int
    seconds: int
    recording: str
    start: datetime = datetime(1985, 1, 1)  # stands for "not told"


Mark = tuple[float, float, str]  # onset, duration in seconds, text


def to_digital(microvolts: np.ndarray) -> np.ndarray:
    """Nearest digital values, clipped to what the format holds."""
    return np.clip(np.rint(microvolts / STEP_UV), -_DIGITAL, _DIGITAL).astype("<i2")


def write_synthetic_edf(
    file: BinaryIO, header: SyntheticHeader, blocks: Iterable[np.ndarray], marks: Sequence[Mark] = ()
) -> None:
    """Write signals given as blocks of int16 (whole seconds, channels, samples of a second), and annotations."""
    texts = _annotation_bytes(header.seconds, marks)
    file.write(_header_bytes(header, texts.shape[1]))
    signal_bytes = 2 * len(header.labels) * header.sfreq
    record = 0
    for block in blocks:
        count = min(len(block), header.seconds - record)
        out = np.empty((count, signal_bytes + texts.shape[1]), np.uint8)
        out[:, :signal_bytes] = np.ascontiguousarray(block[:count]).reshape(count, -1).view(np.uint8)
        out[:, signal_bytes:] = texts[record : record + count]
        file.write(out.data)
        record += count
    if record != header.seconds:
        raise ValueError(f"{record} records of {header.seconds} were given")


def _annotation_bytes(seconds: int, marks: Sequence[Mark]) -> np.ndarray:
    """The annotation signal, uint8 (records, bytes): each mark in the record its onset lies in."""
    lists = [[b"+%d\x14\x14\x00" % second] for second in range(seconds)]
    for onset, duration, text in sorted(marks):
        lasting = f"\x15{duration:g}" if duration else ""
        lists[min(int(onset), seconds - 1)].append(f"+{onset:.6g}{lasting}\x14{text}\x14\x00".encode())
    joined = [b"".join(one) for one in lists]
    width = max(map(len, joined))
    width += width % 2
    return np.frombuffer(b"".join(one.ljust(width, b"\0") for one in joined), np.uint8).reshape(seconds, width)


def _header_bytes(header: SyntheticHeader, text_bytes: int) -> bytes:
    count = len(header.labels) + 1
    when = header.start
    fixed = [
        ("0", 8),
        ("X X X X", 80),
        (f"Startdate {when:%d}-{_MONTHS[when.month - 1]}-{when:%Y} X X {header.recording}", 80),
        (when.strftime("%d.%m.%y"), 8),
        (when.strftime("%H.%M.%S"), 8),
        (str(256 * (count + 1)), 8),
        ("EDF+C", 44),
        (str(header.seconds), 8),
        ("1", 8),
        (str(count), 4),
    ]
    least, most = f"{-_DIGITAL * STEP_UV:.1f}", f"{_DIGITAL * STEP_UV:.1f}"
    signals = len(header.labels)
    columns = [
        ([*header.labels, "EDF Annotations"], 16),
        (["synthetic"] * signals + [""], 80),
        (["uV"] * signals + [""], 8),
        ([least] * signals + ["-1"], 8),
        ([most] * signals + ["1"], 8),
        ([str(-_DIGITAL)] * signals + ["-32768"], 8),
        ([str(_DIGITAL)] * count, 8),
        ([""] * count, 80),
        ([str(header.sfreq)] * signals + [str(text_bytes // 2)], 8),
        ([""] * count, 32),
    ]
    fields = fixed + [(text, width) for texts, width in columns for text in texts]
    return b"".join(text.encode("ascii").ljust(width)[:width] for text, width in fields)


def write_synthetic_file(
    path: Path, header: SyntheticHeader, blocks: Iterable[np.ndarray], marks: Sequence[Mark] = ()
) -> Path:
    """Write a synthetic EDF under another name and rename it when it is whole; returns the path."""
    part = path.with_name(f".{path.name}.part")
    try:
        with open(part, "wb") as file:
            write_synthetic_edf(file, header, blocks, marks)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return path
