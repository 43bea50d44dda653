"""HDF5 recordings: the SWEC iEEG layout (parts, a total file over them, seizures) and plain `data` with `sfreq`."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from analysis.errors import RecordingError
from analysis.readers.matrix import MatrixFacts, MatrixRecording, consecutive
from analysis.recording import Recording

_SWEC_DATA = "data/ieeg"
_SWEC_SEIZURES = "data/seizures"
_RATE_NAMES = ("sampling_rate", "sfreq", "fs", "srate", "sampling_frequency")
# Chunks of released files hold minutes of all channels (24 to 94 MB); a smaller cache would unpack one at each read.
_CACHED_CHUNKS, _MIN_CACHE, _MAX_CACHE = 3, 16 << 20, 1 << 30
_CACHE_SLOTS = 50_000
_OPEN_FILES = 2


def open_hdf5(path: Path) -> Recording:
    """Open an HDF5 recording; RecordingError says what was looked for where the layout is another."""
    h5py = _library(path)
    try:
        with h5py.File(path, "r") as file:
            if _SWEC_DATA in file:
                return _open_swec(path, file)
            if isinstance(file.get("data"), h5py.Dataset) and file["data"].ndim == 2:
                return _open_plain(path, file)
            held = ", ".join(list(file)[:8]) or "nothing"
    except OSError as error:
        raise RecordingError(f"this HDF5 file cannot be read: {error} ({path}): copy or download it again") from error
    raise RecordingError(
        f"this HDF5 file holds {held}, but neither data/ieeg nor a matrix called data ({path}): "
        "save the samples as data (channels x samples) with the attribute sfreq"
    )


def _library(path: Path) -> Any:
    try:
        import h5py
    except ImportError as error:
        raise RecordingError(f"HDF5 files need the package h5py ({path}): pip install h5py") from error
    with suppress(ImportError):
        import hdf5plugin  # noqa: F401  (registers the decompressors of SWEC files)
    return h5py


class _Sources:
    """Datasets of several files by number, of which the last few used stay open with their chunk caches."""

    def __init__(self, places: Sequence[tuple[Path, str]]) -> None:
        self._places = places
        self._open: OrderedDict[int, Any] = OrderedDict()
        self._lock = threading.Lock()

    def load(self, number: int, start: int, stop: int) -> np.ndarray:
        """Samples [start, stop) of all channels of one source."""
        path, name = self._places[number]
        with self._lock:
            try:
                data: np.ndarray = self._file(number)[name][:, start:stop]
            except (OSError, KeyError) as error:
                raise RecordingError(
                    f"samples cannot be read: {error} ({path}): check that the file is complete"
                ) from error
        return data

    def _file(self, number: int) -> Any:
        import h5py

        if number not in self._open:
            while len(self._open) >= _OPEN_FILES:
                self._open.popitem(last=False)[1].close()
            path, name = self._places[number]
            with h5py.File(path, "r") as file:
                cache = _cache_bytes(file[name])
            self._open[number] = h5py.File(path, "r", rdcc_nbytes=cache, rdcc_nslots=_CACHE_SLOTS)
        self._open.move_to_end(number)
        return self._open[number]

    def close(self) -> None:
        """Close what is open."""
        with self._lock:
            while self._open:
                self._open.popitem()[1].close()


class _Hdf5Recording(MatrixRecording):
    """A matrix recording that holds HDF5 files open."""

    def __init__(self, facts: MatrixFacts, sources: _Sources, lengths: Sequence[int]) -> None:
        self._sources = sources
        super().__init__(facts, consecutive(lengths, [_loader(sources, i) for i in range(len(lengths))]))

    def close(self) -> None:
        """Release the files."""
        self._sources.close()


def _loader(sources: _Sources, number: int) -> Callable[[int, int], np.ndarray]:
    return lambda start, stop: sources.load(number, start, stop)


def _cache_bytes(dataset: Any) -> int:
    if dataset.chunks is None:
        return _MIN_CACHE
    chunk = int(np.prod(dataset.chunks)) * dataset.dtype.itemsize
    return min(_MAX_CACHE, max(_MIN_CACHE, _CACHED_CHUNKS * chunk))


def _open_plain(path: Path, file: Any) -> Recording:
    data = file["data"]
    _require_filters(data, path)
    labels = _texts(file["channels"]) if "channels" in file else ()
    facts = MatrixFacts(
        path=path,
        format="HDF5",
        files=(path,),
        sfreq=_rate(path, data.attrs, file.attrs),
        n_channels=data.shape[0],
        labels=labels if len(labels) == data.shape[0] else (),
        unit=_text(data.attrs.get("unit", data.attrs.get("units", ""))),
    )
    return _Hdf5Recording(facts, _Sources([(path, "data")]), [data.shape[1]])


def _open_swec(path: Path, file: Any) -> Recording:
    data = file[_SWEC_DATA]
    places, note = _swec_sources(path, data)
    lengths = [_length(place, data.shape[0]) for place in places]
    total = None if _RATE_NAMES[0] in file.attrs or "_part_" not in path.name else _total_beside(path)
    facts = MatrixFacts(
        path=path,
        format="SWEC HDF5",
        files=tuple(dict.fromkeys([path, *(place[0] for place in places)])),
        sfreq=_rate_of_file(total) if total else _rate(path, file.attrs, data.attrs),
        n_channels=data.shape[0],
        kind="seeg",
        seizures=_seizures(file[_SWEC_SEIZURES]) if _SWEC_SEIZURES in file else (),
    )
    recording = _Hdf5Recording(facts, _Sources(places), lengths)
    recording.warnings += [note] if note else []
    if "_part_" in path.name:
        recording.warnings.append("this is one part of a recording: its total file has the whole and the seizures")
    return recording


def _swec_sources(path: Path, data: Any) -> tuple[list[tuple[Path, str]], str]:
    """The files that hold the samples, in order of time, and what has to be said about them.

    A virtual dataset whose sources are missing reads as zeros without an error, and the released total files from ID19
    on name the parts of another patient; so names are checked, and the parts beside the file are used instead.
    """
    if not data.is_virtual:
        _require_filters(data, path)
        return [(path, _SWEC_DATA)], ""
    named = [(path.parent / source.file_name, source.dset_name) for source in data.virtual_sources()]
    missing = [place[0].name for place in named if not place[0].is_file()]
    own = sorted(path.parent.glob(f"{path.stem.split('_')[0]}_part_*.h5"), key=_part_number)
    if not missing:
        return sorted(named, key=lambda place: _part_number(place[0])), ""
    if not own:
        raise RecordingError(
            f"the samples are in {missing[0]}, which is not there, and no parts lie beside the file ({path}): "
            f"download the {path.stem.split('_')[0]}_part files into the same folder"
        )
    note = f"the file names {missing[0]}, which is not there: its own parts beside it are read instead"
    return [(part, _SWEC_DATA) for part in own], note


def _part_number(path: Path) -> int:
    match = re.search(r"_part_(\d+)", path.name)
    return int(match[1]) if match else 0


def _length(place: tuple[Path, str], n_channels: int) -> int:
    import h5py

    path, name = place
    with h5py.File(path, "r") as file:
        if name not in file or file[name].ndim != 2 or file[name].shape[0] != n_channels:
            raise RecordingError(f"this part does not hold {n_channels} channels of {name} ({path}): download it again")
        _require_filters(file[name], path)
        return int(file[name].shape[1])


def _require_filters(data: Any, path: Path) -> None:
    """Refuse a dataset that is compressed by a method that is not installed; HDF5's own error would not name it."""
    import h5py

    settings = data.id.get_create_plist()
    for i in range(settings.get_nfilters()):
        if not h5py.h5z.filter_avail(settings.get_filter(i)[0]):
            raise RecordingError(
                f"the samples are compressed by a method that is not installed ({path}): "
                'pip install hdf5plugin (or, in the folder of this program, pip install -e ".[swec]")'
            )


def _total_beside(path: Path) -> Path | None:
    total = path.with_name(f"{path.stem.split('_')[0]}_total.h5")
    return total if total.is_file() else None


def _rate_of_file(path: Path) -> float:
    import h5py

    with h5py.File(path, "r") as file:
        return _rate(path, file.attrs)


def _rate(path: Path, *attributes: Any) -> float:
    for name in _RATE_NAMES:
        for attrs in attributes:
            if name in attrs and float(np.ravel(attrs[name])[0]) > 0:
                return float(np.ravel(attrs[name])[0])
    raise RecordingError(
        f"the file states no sampling rate ({path}): add the attribute sampling_rate, in Hz, or open the total file"
    )


def _seizures(table: Any) -> tuple[tuple[float, float], ...]:
    """Onsets and offsets in seconds, from a table of shape (n,) or (n, 1)."""
    rows = table[()].ravel()
    return tuple((float(row["onsets"]), float(row["offsets"])) for row in rows)


def _texts(dataset: Any) -> tuple[str, ...]:
    return tuple(_text(value) for value in np.ravel(dataset[()]))


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
