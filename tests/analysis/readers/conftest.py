"""A bare EDF writer that writes what it is told, faults included; independent of the code under test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

Signal = tuple[str, str, tuple[float, float], tuple[int, int], int]


def write_edf(
    path: Path,
    signals: Sequence[Signal],
    digital: Sequence[np.ndarray],
    texts: Sequence[bytes] = (),
    duration: str = "1",
    reserved: str = "EDF+C",
    bdf: bool = False,
    **fields: str,
) -> Path:
    """Write signals (label, unit, physical range, digital range, samples a record) from integers (records, samples).

    `texts` are the annotation bytes of each record. `fields` replaces header fields.
    """
    n_records = len(digital[0])
    width = 3 if bdf else 2
    parts = [_as_bytes(values, width) for values in digital]
    listed = [(*s[:2], *map(str, s[2]), *map(str, s[3]), s[4]) for s in signals]
    if texts:
        long = -(-max(map(len, texts)) // width)
        parts.append(np.stack([np.frombuffer(t.ljust(long * width, b"\0"), np.uint8) for t in texts]))
        label = ("BDF" if bdf else "EDF") + " Annotations"
        listed.append((label, "", "-1", "1", *(("-8388608", "8388607") if bdf else ("-32768", "32767")), long))
    count = len(listed)
    head = [
        ("\xffBIOSEMI" if bdf else "0", 8),
        (fields.get("patient", "X X X X"), 80),
        (fields.get("recording", "Startdate 02-MAR-2020 X X X"), 80),
        (fields.get("date", "02.03.20"), 8),
        (fields.get("time", "10.11.12"), 8),
        (fields.get("header", str(256 * (count + 1))), 8),
        (reserved, 44),
        (fields.get("records", str(n_records)), 8),
        (duration, 8),
        (str(count), 4),
    ]
    columns = (
        [(row[0], 16) for row in listed]
        + [("", 80)] * count
        + [(row[1], 8) for row in listed]
        + [(row[k], 8) for k in (2, 3, 4, 5) for row in listed]
        + [("", 80)] * count
        + [(str(row[6]), 8) for row in listed]
        + [("", 32)] * count
    )
    header = b"".join(text.encode("latin-1")[:size].ljust(size) for text, size in head + columns)
    path.write_bytes(header + np.concatenate(parts, axis=1).tobytes())
    return path


def _as_bytes(values: np.ndarray, width: int) -> np.ndarray:
    four = np.ascontiguousarray(values, "<i4").view(np.uint8).reshape(*values.shape, 4)
    return four[..., :width].reshape(len(values), -1)


@pytest.fixture(scope="session")
def edf_writer() -> Callable[..., Path]:
    """Writes an EDF or BDF file; see write_edf."""
    return write_edf
