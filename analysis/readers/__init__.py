"""Opening a recording of any format: the reader is chosen by content and loaded only when it is needed."""

from __future__ import annotations

from pathlib import Path

from analysis.readers.formats import detect_format, header_beside, needs_engine
from analysis.recording import Recording

__all__ = ["detect_format", "needs_engine", "open_recording"]


def open_recording(path: Path | str) -> Recording:
    """Open a recording; RecordingError says in one sentence why it cannot be opened and what to do."""
    fmt = detect_format(path)
    path = header_beside(Path(path)) if needs_engine(fmt) else Path(path)
    if not needs_engine(fmt):
        from analysis.readers.edf import EdfRecording

        return EdfRecording(path)
    if fmt == "hdf5":
        from analysis.readers.hdf5 import open_hdf5

        return open_hdf5(path)
    if fmt == "mat":
        from analysis.readers.mat import open_mat

        return open_mat(path)
    from analysis.readers.mne_reader import MneRecording

    return MneRecording(path, fmt)
