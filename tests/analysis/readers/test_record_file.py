"""Positioned reads with and without the system call for them, and fingerprints."""

from __future__ import annotations

import gc
import os
import warnings
from pathlib import Path

import numpy as np
import pytest

from analysis.errors import RecordingError
from analysis.readers.record_file import RecordFile, fingerprint

CONTENT = bytes(range(256)) * 40


@pytest.mark.parametrize("positioned", [True, False])
def test_any_place_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, positioned: bool) -> None:
    if not positioned:
        monkeypatch.delattr(os, "preadv")  # as on Windows
    (tmp_path / "a").write_bytes(CONTENT)
    file = RecordFile(tmp_path / "a")
    assert file.size == len(CONTENT)
    assert file.read_bytes(300, 500) == CONTENT[300:800]
    assert file.read_bytes(0, len(CONTENT)) == CONTENT
    buffer = np.zeros(20, np.uint8)
    file.read_into(buffer[5:15], 7)
    assert buffer.tobytes() == b"\0" * 5 + CONTENT[7:17] + b"\0" * 5
    with pytest.raises(RecordingError, match="became shorter"):
        file.read_bytes(len(CONTENT) - 10, 11)
    file.close()
    with pytest.raises(ValueError, match="closed"):
        file.read_bytes(0, 1)


def test_fingerprints_see_size_beginning_middle_and_end(tmp_path: Path) -> None:
    base = bytearray(200_000)
    prints = set()
    for at in (None, 0, 99_990, 199_999):
        changed = base.copy()
        if at is not None:
            changed[at] = 1
        (tmp_path / "a").write_bytes(changed)
        prints.add(fingerprint([tmp_path / "a"]))
    (tmp_path / "a").write_bytes(base + b"\0")
    prints.add(fingerprint([tmp_path / "a"]))
    assert len(prints) == 5


@pytest.mark.filterwarnings("error")
def test_a_file_nobody_reads_any_more_is_closed_without_a_word(tmp_path: Path) -> None:
    with warnings.catch_warnings(action="ignore"):
        gc.collect()  # what other tests left, such as a font that a library never closes, has its say before
    (tmp_path / "a").write_bytes(CONTENT)
    file = RecordFile(tmp_path / "a")
    held = file._file
    del file
    gc.collect()
    assert held.closed
