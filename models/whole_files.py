"""Files that are written whole or not at all; used by every room, and here because all of them may import this one."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

PART = ".cerebroscope-"  # how the names of files and folders begin that are not finished


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A new file that takes the place of `path` when the block ends well; whatever goes wrong leaves the old one.

    A link keeps pointing where it did, and a device such as /dev/stdout is written to. OSError names `path`.
    """
    target = path.resolve()
    part = target.with_name(f"{PART}{secrets.token_hex(6)}.part")
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if target.exists() and not target.is_file():
            with target.open("wb") as file:
                yield file
            return
        file = part.open("xb")
        with _removed_on_failure(part):
            with file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, target)
    except OSError as error:
        if error.filename in (None, str(part)):
            error.filename, error.filename2 = str(path), None
        raise


@contextmanager
def _removed_on_failure(part: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        part.unlink(missing_ok=True)
        raise
