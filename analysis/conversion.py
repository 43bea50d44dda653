"""Copies of recordings as EDF+ or BDF+: lossless from EDF and BDF, with a stated rounding from other formats."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from analysis.annotation import Annotation
from analysis.edf_writing import Target
from analysis.errors import RecordingError
from analysis.progress import Progress
from analysis.readers import open_recording
from analysis.recording import Recording
from models.whole_files import whole_file

_SAMPLE_BYTES = {".edf": 2, ".bdf": 3}


@dataclass(frozen=True)
class Conversion:
    """What was written: the file, its format, and sentences that a reader of the copy must know."""

    path: Path
    format: str
    notes: tuple[str, ...]


def convert(
    path: Path | str,
    out: Path | str,
    anonymize: bool = False,
    progress: Progress | None = None,
    annotations: Sequence[Annotation] | None = None,
) -> Conversion:
    """Write a recording as EDF+ (`out` ends in .edf) or BDF+ (.bdf), whole or not at all.

    `annotations` take the place of the recording's own; EDF+ holds their times, texts and channels. `anonymize` blanks
    the patient and recording fields, the date and the time of day; texts of annotations are kept.
    RecordingError says why nothing was written: 16 bits would lose something, the disk is full, the output is the
    source itself.
    """
    out = Path(out)
    sample_bytes = _SAMPLE_BYTES.get(out.suffix.lower())
    if sample_bytes is None:
        raise RecordingError(f"the name of the output must end in .edf or .bdf ({out}): give it one of these endings")
    target = Target(out, sample_bytes, anonymize)
    with open_recording(path) as recording:
        _refuse_source(recording, out)
        with _written(out) as file:
            notes = _copy(recording, file, target, progress or Progress(), annotations)
        notes += list(recording.warnings)
        if anonymize and (recording.annotations if annotations is None else annotations):
            notes.append("the texts of annotations are kept as they are: look through them for names and dates")
    with open_recording(out) as written:
        return Conversion(out, written.format, tuple(notes))


def _copy(
    recording: Recording,
    file: BinaryIO,
    target: Target,
    progress: Progress,
    annotations: Sequence[Annotation] | None,
) -> list[str]:
    from analysis.readers.edf import EdfRecording

    if isinstance(recording, EdfRecording):
        from analysis.record_copy import copy_records

        copy_records(recording, file, target, progress, annotations)
        return []
    from analysis.sample_copy import write_samples

    return write_samples(recording, file, target, progress, annotations)


def _refuse_source(recording: Recording, out: Path) -> None:
    files: tuple[Path, ...] = getattr(recording, "files", (recording.path,))
    if out.exists() and any(os.path.samefile(file, out) for file in files if file.exists()):
        raise RecordingError(
            f"the output is the recording itself ({out}): choose another name, a source is not touched"
        )


@contextmanager
def _written(out: Path) -> Iterator[BinaryIO]:
    """The file to write, with the system's refusals in words."""
    try:
        with whole_file(out) as file:
            yield file
    except OSError as error:
        raise RecordingError(f"the copy cannot be written: {_cause(error)} ({out}): {_remedy(error)}") from error


def _cause(error: OSError) -> str:
    words = {
        errno.ENOSPC: "the disk is full",
        errno.EACCES: "no permission to write there",
        errno.ENOENT: "the folder does not exist",
        errno.EROFS: "the disk can only be read",
    }
    return words.get(error.errno or 0, error.strerror or str(error))


def _remedy(error: OSError) -> str:
    return "free some space or choose another disk" if error.errno == errno.ENOSPC else "choose another folder"
