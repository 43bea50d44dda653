"""MATLAB files that hold a matrix of samples and its rate, and the hour files of the older SWEC release."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from analysis.errors import RecordingError
from analysis.readers.formats import LIBRARY_ERRORS
from analysis.readers.matrix import MatrixFacts, MatrixRecording, Part
from analysis.recording import Recording

_DATA_NAMES = ("EEG", "data", "eeg", "ieeg", "iEEG", "ecog", "signal", "signals", "X", "x", "val")
_RATE_NAMES = ("fs", "Fs", "FS", "sfreq", "srate", "sampling_rate", "samplingrate", "SamplingRate", "fsample")
_LABEL_NAMES = ("channels", "ch_names", "labels", "label", "channel_names", "chan_names")
_UNIT_NAMES = ("unit", "units")
_HOUR = re.compile(r"^(ID\d+)_(\d+)h$", re.IGNORECASE)
_INFO = re.compile(r"^(ID\d+)_info$", re.IGNORECASE)
_HOUR_SECONDS = 3600


@dataclass(frozen=True)
class _Contents:
    """Names, shapes and kinds of the variables of one file."""

    path: Path
    shapes: dict[str, tuple[int, ...]]
    numeric: frozenset[str]

    def first_of(self, names: Sequence[str]) -> str | None:
        return next((name for name in names if name in self.shapes), None)


def open_mat(path: Path) -> Recording:
    """Open a matrix with its rate, one hour of a SWEC recording, or all its hours through the info file."""
    if _INFO.match(path.stem):
        return _open_hours(path)
    contents = _look(path)
    name = _data_name(contents)
    shape = contents.shapes[name]
    labels = _labels(contents)
    samples_first = _samples_first(shape, len(labels))
    hour = _HOUR.match(path.stem)
    info = path.with_name(f"{hour[1]}_info.mat") if hour else None
    n_times, n_channels = shape if samples_first else shape[::-1]
    facts = MatrixFacts(
        path=path,
        format="MATLAB",
        files=(path,),
        sfreq=_rate(contents, info),
        n_channels=n_channels,
        labels=labels,
        kind="seeg" if hour else None,
        unit=_unit(contents),
        seizures=_seizures_of_hour(info, int(hour[2]), n_times / _rate(contents, info)) if hour and info else (),
    )
    loaded = _Loaded()
    return MatrixRecording(facts, [Part(0, n_times, _loader(loaded, path, name, samples_first))])


def _open_hours(path: Path) -> Recording:
    """All hour files beside an info file, each at its own hour, so that a missing one is a gap."""
    patient = path.stem.split("_")[0]
    hours = {int(m[2]): file for file in path.parent.glob("*.mat") if (m := _HOUR.match(file.stem)) and m[1] == patient}
    if not hours:
        raise RecordingError(f"no hour files lie beside this file ({path}): put {patient}_1h.mat and so on next to it")
    info = _look(path)
    rate = _rate(info, None)
    loaded = _Loaded()
    parts: list[Part] = []
    channels: set[int] = set()
    for hour in sorted(hours):
        contents = _look(hours[hour])
        name = _data_name(contents)
        samples_first = _samples_first(contents.shapes[name], 0)
        n_times, n_channels = contents.shapes[name] if samples_first else contents.shapes[name][::-1]
        channels.add(n_channels)
        start = round((hour - min(hours)) * _HOUR_SECONDS * rate)
        parts.append(Part(start, n_times, _loader(loaded, hours[hour], name, samples_first)))
    if len(channels) > 1:
        raise RecordingError(f"the hour files have {sorted(channels)} channels ({path}): they are not of one recording")
    lead = (min(hours) - 1) * _HOUR_SECONDS
    seizures = tuple((a - lead, b - lead) for a, b in _seizures(info))
    files = (path, *(hours[hour] for hour in sorted(hours)))
    facts = MatrixFacts(path, "MATLAB", files, rate, channels.pop(), kind="seeg", seizures=seizures)
    return MatrixRecording(facts, parts)


class _Loaded:
    """The matrix that was used last; a .mat variable can only be loaded whole."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: tuple[Path, str] | None = None
        self._matrix = np.empty((0, 0))

    def matrix(self, path: Path, name: str) -> np.ndarray:
        """The variable of a file."""
        with self._lock:
            if self._key != (path, name):
                self._matrix = np.asarray(_variable(path, name))
                self._key = (path, name)
            return self._matrix


def _loader(loaded: _Loaded, path: Path, name: str, samples_first: bool) -> Callable[[int, int], np.ndarray]:
    def load(start: int, stop: int) -> np.ndarray:
        matrix = loaded.matrix(path, name)
        return matrix[start:stop].T if samples_first else matrix[:, start:stop]

    return load


def _samples_first(shape: tuple[int, ...], n_labels: int) -> bool:
    """Whether time runs along the first axis: the one that is not the number of labels, else the longer one."""
    if n_labels and n_labels in shape and shape[0] != shape[1]:
        return shape[1] == n_labels
    return shape[0] > shape[1]


def _data_name(contents: _Contents) -> str:
    matrices = {
        name: shape
        for name, shape in contents.shapes.items()
        if name in contents.numeric and min((*shape, 0, 0)[:2]) > 1
    }
    named = next((name for name in _DATA_NAMES if name in matrices), None)
    if named:
        return named
    large = [name for name in matrices if name not in (*_RATE_NAMES, *_LABEL_NAMES)]
    if len(large) == 1:
        return large[0]
    held = ", ".join(contents.shapes) or "nothing"
    raise RecordingError(
        f"no matrix of samples was found, the file holds {held} ({contents.path}): "
        "save the samples as EEG or data, with fs beside it"
    )


def _rate(contents: _Contents, info: Path | None) -> float:
    name = contents.first_of(_RATE_NAMES)
    if name:
        rate = float(np.ravel(_variable(contents.path, name))[0])
        if rate > 0:
            return rate
    if info and info.is_file():
        return _rate(_look(info), None)
    raise RecordingError(
        f"the file states no sampling rate, it holds only {', '.join(contents.shapes)} ({contents.path}): "
        "save the rate in Hz as fs in the same file"
    )


def _labels(contents: _Contents) -> tuple[str, ...]:
    name = contents.first_of(_LABEL_NAMES)
    return _texts(contents.path, name) if name else ()


def _unit(contents: _Contents) -> str:
    name = contents.first_of(_UNIT_NAMES)
    texts = _texts(contents.path, name) if name else ()
    return texts[0] if texts else ""


def _seizures(info: _Contents) -> tuple[tuple[float, float], ...]:
    if not {"seizure_begin", "seizure_end"} <= info.shapes.keys():
        return ()
    begins, ends = (np.ravel(_variable(info.path, name)) for name in ("seizure_begin", "seizure_end"))
    return tuple((float(a), float(b)) for a, b in zip(begins, ends, strict=False))


def _seizures_of_hour(info: Path, hour: int, duration: float) -> tuple[tuple[float, float], ...]:
    """Seizures that touch one hour, in seconds from its beginning and cut to it."""
    if not info.is_file():
        return ()
    lead = (hour - 1) * _HOUR_SECONDS
    shifted = ((a - lead, b - lead) for a, b in _seizures(_look(info)))
    return tuple((max(a, 0.0), min(b, duration)) for a, b in shifted if a < duration and b > 0)


# -- the two kinds of .mat file ---------------------------------------------------------------------------------------


def _is_hdf5(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(520)
    return b"\x89HDF" in (head[:4], head[512:516])


def _look(path: Path) -> _Contents:
    try:
        return _look_hdf5(path) if _is_hdf5(path) else _look_classic(path)
    except LIBRARY_ERRORS as error:
        raise RecordingError(f"this MATLAB file cannot be read: {error} ({path}): save or copy it again") from error


def _look_classic(path: Path) -> _Contents:
    import scipy.io

    found = scipy.io.whosmat(path)
    numbers = {"double", "single", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
    return _Contents(path, {n: s for n, s, _ in found}, frozenset(n for n, _, kind in found if kind in numbers))


def _look_hdf5(path: Path) -> _Contents:
    import h5py

    with h5py.File(path, "r") as file:
        sets = {name: item for name, item in file.items() if isinstance(item, h5py.Dataset)}
        # MATLAB stores columns first, so HDF5 sees every matrix transposed.
        shapes = {name: item.shape[::-1] for name, item in sets.items()}
        texts = {name for name, item in sets.items() if item.attrs.get("MATLAB_class", b"") == b"char"}
        numeric = frozenset(name for name, item in sets.items() if item.dtype.kind in "fiu" and name not in texts)
    return _Contents(path, shapes, numeric)


def _variable(path: Path, name: str) -> Any:
    if not _is_hdf5(path):
        import scipy.io

        return scipy.io.loadmat(path, variable_names=[name])[name]
    import h5py

    with h5py.File(path, "r") as file:
        return file[name][()].T


def _texts(path: Path, name: str) -> tuple[str, ...]:
    """Texts of a cell array or character matrix."""
    value = _variable(path, name)
    if not _is_hdf5(path):
        return tuple(str(np.ravel(item)[0] if np.size(item) else "").strip() for item in np.ravel(value))
    import h5py

    with h5py.File(path, "r") as file:
        if value.dtype.kind == "O":
            return tuple("".join(map(chr, np.ravel(file[reference][()]))) for reference in np.ravel(value))
        return ("".join(map(chr, np.ravel(value))),)
