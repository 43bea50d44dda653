"""Random reading of one file by several threads at once, without mapping it into memory."""

from __future__ import annotations

import hashlib
import os
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from analysis.errors import RecordingError

_DIGEST_BLOCK = 16384


class RecordFile:
    """An open file whose bytes are read at given places into the caller's buffer; safe to use from many threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("rb", buffering=0)
        # A recording that is read by several threads is closed when the last of them lets go of it.
        self._finalizer = weakref.finalize(self, self._file.close)
        self._lock = threading.Lock()
        self.size = os.fstat(self._file.fileno()).st_size

    def read_into(self, buffer: np.ndarray, offset: int) -> None:
        """Fill a contiguous uint8 buffer from `offset`; RecordingError where the file ends or fails before that."""
        view = memoryview(buffer.data)
        while len(view):
            try:
                count = self._read_some(view, offset)
            except OSError as error:
                raise RecordingError(
                    f"the recording cannot be read any more: {error.strerror or error} ({self.path}): "
                    "check the disk or network drive it lies on"
                ) from error
            if count == 0:
                raise RecordingError(
                    f"the recording became shorter while it was open ({self.path}): close it and open it again"
                )
            view, offset = view[count:], offset + count

    def _read_some(self, view: memoryview, offset: int) -> int:
        if hasattr(os, "preadv"):
            return os.preadv(self._file.fileno(), [view], offset)
        with self._lock:
            self._file.seek(offset)
            return self._file.readinto(view) or 0

    def read_bytes(self, offset: int, length: int) -> bytes:
        """The bytes of one place of the file."""
        buffer = np.empty(length, np.uint8)
        self.read_into(buffer, offset)
        return buffer.tobytes()

    def close(self) -> None:
        """Release the file; reading afterwards raises ValueError."""
        self._finalizer()


def fingerprint(paths: Sequence[Path]) -> str:
    """A recording's id: a digest of the sizes of its files and of the first, middle and last block of each."""
    digest = hashlib.sha256()
    for path in paths:
        size = path.stat().st_size
        digest.update(f"{size};".encode())
        with path.open("rb") as file:
            for start in sorted({0, max(0, size // 2 - _DIGEST_BLOCK), max(0, size - _DIGEST_BLOCK)}):
                file.seek(start)
                digest.update(file.read(_DIGEST_BLOCK))
    return digest.hexdigest()[:32]
