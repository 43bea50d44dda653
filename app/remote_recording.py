"""Recordings of formats that need a large library, opened and read in another process so that the window loads none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from analysis.annotation import Annotation
from analysis.errors import RecordingError
from analysis.readers import detect_format, needs_engine, open_recording
from analysis.recording import Recording
from app.engine_process import EngineProcess

_FACTS = ("path", "format", "id", "channels", "sfreq", "n_times", "start_datetime", "gaps", "warnings")


def open_for_window(path: Path | str, reader: EngineProcess) -> Recording:
    """Open a recording without loading a format library here; RecordingError as `open_recording` raises it.

    EDF and BDF are read in this process, everything else in `reader`, which is started when it is needed.
    """
    if needs_engine(detect_format(path)):
        return RemoteRecording(path, reader)
    return open_recording(path)


class RemoteRecording(Recording):
    """A recording that another process holds open; facts and annotations come at once, samples when they are asked for.

    Safe to read from several threads. A reader that died is started again and opens the file again. The file stays
    open until the reader opens another or ends, so that closing never waits for a read.
    """

    def __init__(self, path: Path | str, reader: EngineProcess) -> None:
        super().__init__()
        self._reader = reader
        self._name = str(Path(path).absolute())
        facts: dict[str, Any] = self._ask("facts")
        self._annotations: tuple[Annotation, ...] = facts.pop("annotations")
        for name, value in facts.items():
            setattr(self, name, value)

    def _load_annotations(self) -> tuple[Annotation, ...]:
        return self._annotations

    def read(self, start: int, stop: int, picks: Sequence[int] | None = None) -> np.ndarray:
        chosen = None if picks is None else [int(pick) for pick in picks]
        return self._ask("read", recording_id=self.id, start=int(start), stop=int(stop), picks=chosen)

    def read_native(self, pick: int, start: float, stop: float) -> np.ndarray:
        return self._ask("read_native", recording_id=self.id, pick=int(pick), start=float(start), stop=float(stop))

    def _ask(self, what: str, **arguments: Any) -> Any:
        return self._reader.call(f"app.remote_recording:serve_{what}", {"path": self._name, **arguments})


# What follows runs in the reader process.

_open: dict[str, Recording] = {}


def _recording(path: str, recording_id: str) -> Recording:
    if path not in _open:
        _open[path] = open_recording(path)
    if _open[path].id != recording_id:
        raise RecordingError(f"the file has changed since it was opened ({path}): open it again")
    return _open[path]


def serve_facts(path: str) -> dict[str, Any]:
    """Open a recording and tell what its header and its annotations say; others that were open are closed."""
    while _open:
        _open.popitem()[1].close()
    recording = _open[path] = open_recording(path)
    annotations = recording.annotations  # first, since reading them may add warnings
    return {name: getattr(recording, name) for name in _FACTS} | {"annotations": annotations}


def serve_read(path: str, recording_id: str, start: int, stop: int, picks: list[int] | None) -> np.ndarray:
    """Samples of a recording, as `Recording.read`."""
    return _recording(path, recording_id).read(start, stop, picks)


def serve_read_native(path: str, recording_id: str, pick: int, start: float, stop: float) -> np.ndarray:
    """Samples of one channel, as `Recording.read_native`."""
    return _recording(path, recording_id).read_native(pick, start, stop)
