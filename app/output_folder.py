"""Folders of results that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from analysis.errors import AnalysisError
from models.whole_files import PART, whole_file


def check_folder(out: Path) -> None:
    """Refuse a place that cannot become a folder of results, before any work is done."""
    if out.exists() and not out.is_dir():
        raise AnalysisError(f"this is a file ({out}): name a folder for the results")
    with _Naming(out), tempfile.TemporaryDirectory(dir=_existing_ancestor(out), prefix=PART):
        pass


def write_folder(out: Path, texts: Mapping[str, str | bytes]) -> None:
    """Put files into a folder, which is made where it is missing; on failure no new file or folder remains."""
    with _Naming(out):
        missing = [folder for folder in (out, *out.parents) if not folder.exists()]
        part: Path | None = None
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            part = Path(tempfile.mkdtemp(dir=out if out.is_dir() else out.parent, prefix=PART))
            for name, text in texts.items():
                with whole_file(part / name) as file:
                    file.write(text.encode() if isinstance(text, str) else text)
            out.mkdir(exist_ok=True)
            for name in texts:
                os.replace(part / name, out / name)
        except BaseException:
            if missing:
                shutil.rmtree(missing[-1], ignore_errors=True)
            raise
        finally:
            if part is not None:
                shutil.rmtree(part, ignore_errors=True)


class _Naming:
    """Makes an OSError name the folder the user gave instead of a temporary file in it."""

    def __init__(self, out: Path) -> None:
        self._out = out

    def __enter__(self) -> None:
        return

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror or str(error), str(self._out)) from error


def _existing_ancestor(path: Path) -> Path:
    return next(folder for folder in (path, *path.absolute().parents) if folder.exists())
