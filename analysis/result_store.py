"""Results kept on disk by what was asked, within a limit; always safe to delete."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

from analysis.errors import AnalysisError
from analysis.result_files import ARRAYS, FACTS, load_result, save_result
from analysis.results import AnalysisResult

logger = logging.getLogger(__name__)

DEFAULT_LIMIT = 2 * 2**30


class ResultStore:
    """A folder of results named by keys; what was not used for longest is removed beyond `limit_bytes`."""

    def __init__(self, folder: Path, limit_bytes: int = DEFAULT_LIMIT) -> None:
        self._folder = folder
        self._limit = limit_bytes

    def get(self, key: str) -> AnalysisResult | None:
        """The result stored under a key, or None; a damaged one is removed."""
        stem = self._folder / key
        if not stem.with_name(key + FACTS).exists():
            return None
        try:
            result = load_result(stem)
            os.utime(stem.with_name(key + FACTS))
        except AnalysisError:
            logger.warning("a stored result was damaged and is removed: %s", key)
            self._remove(key)
            return None
        except OSError:  # the folder cannot be written; reading is all that was asked
            return result
        return result

    def put(self, result: AnalysisResult, key: str = "") -> bool:
        """Store a result under a key, else its request's; False when it is larger than the limit or the folder is full.

        A part of a result, that of a job that still runs, is refused with a ValueError.
        """
        if not getattr(result, "complete", True):
            raise ValueError("only complete results are stored")
        key = key or result.request.key()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            save_result(result, self._folder / key)
            self._shrink(key)
        except (OSError, TypeError) as error:  # no room, or something that JSON does not know
            logger.warning("a result could not be stored: %s", error)
            self._remove(key)
            return False
        return self._folder.joinpath(key + FACTS).exists()

    def _shrink(self, newest: str) -> None:
        sizes = {key: self._size(key) for key in self._keys()}
        oldest = sorted((key for key in sizes if key != newest), key=self._used)
        while sum(sizes.values()) > self._limit and sizes:
            key = oldest.pop(0) if oldest else newest
            del sizes[key]
            self._remove(key)

    def _keys(self) -> Iterator[str]:
        return (path.stem for path in self._folder.glob(f"*{FACTS}") if not path.name.startswith("."))

    def _size(self, key: str) -> int:
        files = (self._folder / (key + suffix) for suffix in (ARRAYS, FACTS))
        return sum(file.stat().st_size for file in files if file.exists())

    def _used(self, key: str) -> float:
        return self._folder.joinpath(key + FACTS).stat().st_mtime

    def _remove(self, key: str) -> None:
        for suffix in (FACTS, ARRAYS):
            self._folder.joinpath(key + suffix).unlink(missing_ok=True)
