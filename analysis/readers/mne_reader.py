"""Every format that MNE reads and we do not: FIF, BrainVision, EEGLAB, GDF, Persyst, CNT, Nihon Kohden and others."""

from __future__ import annotations

import io
import re
import threading
import warnings
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from analysis.annotation import Annotation
from analysis.channels import RawChannel, build_channels
from analysis.errors import RecordingError
from analysis.readers.completeness import COPY_AGAIN, check_data_file, readable_samples
from analysis.readers.formats import LIBRARY_ERRORS, TITLES
from analysis.readers.notes import split_by_time
from analysis.readers.rates import first_at_or_after
from analysis.readers.record_file import fingerprint
from analysis.readers.text_headers import (
    Cut,
    brainvision_channels,
    brainvision_cuts,
    brainvision_data,
    persyst_data,
    persyst_labels,
    require_brainvision_files,
    require_persyst_file,
)
from analysis.readers.units import standard_unit
from analysis.recording import Recording

_FUNCTIONS = {
    "fif": "read_raw_fif",
    "brainvision": "read_raw_brainvision",
    "eeglab": "read_raw_eeglab",
    "gdf": "read_raw_gdf",
    "persyst": "read_raw_persyst",
    "cnt": "read_raw_cnt",
    "ant": "read_raw_ant",
    "nihon": "read_raw_nihon",
    "egi": "read_raw_egi",
    "nicolet": "read_raw_nicolet",
    "eximia": "read_raw_eximia",
}
_QUIET = "CRITICAL"
# At this level MNE tells its warnings, which are caught, and logs nothing.
_WARNINGS = "WARNING"
# Samples of all channels that are brought into memory at once, as float64.
_CHUNK_VALUES = 1 << 21
_SAME_TYPE = ("eeg", "ecog", "seeg", "ecg", "eog", "emg", "resp", "stim")
# Units of the FIF standard that occur on channels of a recording of the brain, by their number there.
_VOLT = 107
_UNITS = {_VOLT: "V", 112: "T", 114: "°C", 201: "T/m"}

# What MNE's warnings mean for a reader; an empty sentence is of no consequence here.
_MEANINGS: tuple[tuple[str, str], ...] = (
    (r"(Omitted|Limited) (\d+) annotation", r"annotations outside the recorded time were cut or left out: \2"),
    (
        r"tag directory missing|Invalid tag",
        "the file was cut short or never closed: its length was worked out from what is there",
    ),
    (r"DataPoints|software filter", ""),
    (r"naming conventions|coordinate information|positions? of|not unique|unit for channel|highpass|lowpass", ""),
    (r"[Nn]o coordinate|not assigned|head transform|montage", ""),
)


class MneRecording(Recording):
    """A recording read through MNE without loading it; samples come under a lock, since MNE's readers share state."""

    def __init__(self, path: Path, fmt: str) -> None:
        super().__init__()
        self.path = path
        self.format = TITLES[fmt]
        self._lock = threading.Lock()
        if fmt == "brainvision":
            require_brainvision_files(path)
        if fmt == "persyst":
            require_persyst_file(path)
        self._raw, said = _open_quietly(path, fmt)
        self.warnings += dict.fromkeys(sentence for text in said if (sentence := _in_our_words(text)))
        self.sfreq = float(self._raw.info["sfreq"])
        self.n_times = self._count_samples(fmt)
        raw_channels, self._scale = self._describe_channels(fmt)
        self.channels = build_channels(raw_channels)
        files = [Path(name) for name in self._raw.filenames if name is not None]
        self.files = tuple(file for file in dict.fromkeys([path, *files]) if file.is_file())
        self.id = fingerprint(self.files)
        began = self._raw.info["meas_date"]
        lead = timedelta(seconds=float(self._raw.first_time))
        self.start_datetime = began.replace(tzinfo=None) + lead if began is not None else None
        self._skipped = self._skipped_spans()
        self.gaps = self._find_gaps(brainvision_cuts(path, self.sfreq) if fmt == "brainvision" else [])

    def _count_samples(self, fmt: str) -> int:
        """How many samples the files hold, which a copy that broke off has fewer of than its header tells."""
        layouts = {"brainvision": brainvision_data, "persyst": persyst_data}
        data = layouts[fmt](self.path) if fmt in layouts else None
        if data is not None:
            self.warnings += check_data_file(data, self.sfreq)
        told = int(self._raw.n_times)
        found = readable_samples(told, self._can_read)
        if found == 0:
            raise RecordingError(f"no sample of the recording can be read ({self.path}): {COPY_AGAIN}")
        if found < told:
            self.warnings.append(
                f"the data end early: {found / self.sfreq:.3f} s can be read, not the {told / self.sfreq:.3f} s that "
                "were expected"
            )
        return found

    def _can_read(self, sample: int) -> bool:
        try:
            self._load(None, sample, sample + 1)
        except RecordingError:
            return False
        return True

    def _describe_channels(self, fmt: str) -> tuple[list[RawChannel], np.ndarray]:
        """Channels in the file's words, and the factor from MNE's SI values to the units that are delivered."""
        info, types = self._raw.info, self._raw.get_channel_types()
        labels, references, units = self._own_words(fmt)
        channels: list[RawChannel] = []
        scale = np.ones(len(types))
        for i, (ch, kind) in enumerate(zip(info["chs"], types, strict=True)):
            unit, scale[i] = _unit_of(ch, kind, units[i])
            channels.append(
                RawChannel(
                    label=labels[i],
                    unit=unit,
                    sfreq=self.sfreq,
                    kind=kind if kind in _SAME_TYPE else {"dbs": "seeg"}.get(kind, "misc"),
                    position=_position(ch, kind),
                    reference=references[i] or None,
                    prefilter=_prefilter(info),
                )
            )
        return channels, scale

    def _own_words(self, fmt: str) -> tuple[list[str], list[str], list[str]]:
        """Labels, references and units as the file spells them, where MNE has changed them."""
        names = list(self._raw.ch_names)
        nothing = [""] * len(names)
        if fmt == "brainvision":
            told = brainvision_channels(self.path)
            if len(told) == len(names):
                return [c.label for c in told], [c.reference for c in told], [c.unit for c in told]
        if fmt == "persyst":
            labels = persyst_labels(self.path)
            if len(labels) == len(names):
                return labels, nothing, nothing
        return names, nothing, nothing

    def _skipped_spans(self) -> list[tuple[int, int]]:
        """Samples that the recorder did not record and MNE fills with zeros."""
        skips = [note for note in self._notes() if note.description.upper().startswith("BAD_ACQ_SKIP")]
        return sorted({(round(note.onset * self.sfreq), round(note.stop * self.sfreq)) for note in skips})

    def _find_gaps(self, cuts: Sequence[Cut]) -> tuple[tuple[float, float], ...]:
        """Spans without data, and cuts as gaps of no length, at which nothing may be filtered or scored across."""
        gaps = [(start / self.sfreq, stop / self.sfreq) for start, stop in self._skipped]
        joints = [Cut(round(note.onset * self.sfreq), None) for note in self._notes() if _is_joint(note.description)]
        for cut in sorted({cut.sample: cut for cut in [*joints, *cuts]}.values(), key=lambda cut: cut.sample):
            if not 0 < cut.sample < self.n_times:
                continue
            at = cut.sample / self.sfreq
            gaps.append((at, at))
            pause = f" for {cut.pause:.3f} s" if cut.pause is not None else ""
            self.warnings.append(f"the recording was paused{pause} at {at:.3f} s; what follows is shown right after it")
        return tuple(sorted(gaps))

    def _notes(self) -> list[Annotation]:
        raw = self._raw
        first = float(raw.first_time)
        index = {name: i for i, name in enumerate(raw.ch_names)}
        notes: list[Annotation] = []
        for note in raw.annotations:
            text = str(note["description"]).removeprefix("Comment/").removesuffix("/")
            names = tuple(self.channels[index[n]].name for n in note.get("ch_names", ()) if n in index)
            duration = float(note["duration"])
            notes.append(Annotation(float(note["onset"]) - first, duration if duration > 0 else 0.0, text, names))
        return notes

    def _load_annotations(self) -> tuple[Annotation, ...]:
        return split_by_time(self._notes(), self.duration, self.warnings)[0]

    def read(self, start: int, stop: int, picks: Sequence[int] | None = None) -> np.ndarray:
        """See Recording.read."""
        picks = list(range(len(self.channels)) if picks is None else picks)
        out = np.full((len(picks), max(0, stop - start)), np.nan, np.float32)
        first, last = max(start, 0), min(stop, self.n_times)
        step = max(1, _CHUNK_VALUES // max(1, len(picks)))
        for begin in range(first, last if picks else first, step):
            end = min(begin + step, last)
            out[:, begin - start : end - start] = self._load(picks, begin, end) * self._scale[picks, None]
        for begin, end in self._skipped:
            out[:, max(begin - start, 0) : max(end - start, 0)] = np.nan
        return out

    def _load(self, picks: list[int] | None, start: int, stop: int) -> np.ndarray:
        with self._lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                data: np.ndarray = self._raw.get_data(picks=picks, start=start, stop=stop, verbose=_QUIET)
            except LIBRARY_ERRORS as error:
                raise RecordingError(
                    f"the samples from {start / self.sfreq:.0f} s on cannot be read ({self.path}): check the disk it "
                    "lies on, or copy or export the recording again"
                ) from error
        return data

    def read_native(self, pick: int, start: float, stop: float) -> np.ndarray:
        """See Recording.read_native."""
        return self.read(first_at_or_after(start * self.sfreq), first_at_or_after(stop * self.sfreq), [pick])[0]

    def close(self) -> None:
        """Release the file."""
        self._raw.close()


def _open_quietly(path: Path, fmt: str) -> tuple[Any, list[str]]:
    """MNE's raw object and the warnings it gave, with nothing written to the terminal."""
    import mne.io

    reader: Callable[..., Any] = getattr(mne.io, _FUNCTIONS[fmt])
    try:
        # Some readers print; nothing but our own answer belongs on the terminal.
        with warnings.catch_warnings(record=True) as caught, redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")  # what Python says of memory or of old names is not about the file
            for told in (UserWarning, RuntimeWarning):
                warnings.simplefilter("always", told)
            raw = reader(path, preload=False, verbose=_WARNINGS)
    except FileNotFoundError as error:
        missing = Path(error.filename).name if error.filename else "its data"
        raise RecordingError(
            f"a file that belongs to the recording is missing, {missing} ({path}): put it beside this one"
        ) from error
    except PermissionError as error:
        raise RecordingError(f"no permission to read the recording ({path}): ask its owner for access") from error
    except ImportError as error:
        raise RecordingError(
            f"the reader of {TITLES[fmt]} needs a package: {_first_line(error)} ({path}): install it"
        ) from error
    except LIBRARY_ERRORS as error:
        raise RecordingError(_refusal(error, path, fmt)) from error
    return raw, [str(warning.message) for warning in caught]


def _refusal(error: BaseException, path: Path, fmt: str) -> str:
    """What a library's error means; its own words speak of its insides and go to the details."""
    if "number of trials" in str(error).lower():
        return f"the file holds epochs and not one continuous recording ({path}): export the continuous data"
    return (
        f"this {TITLES[fmt]} recording cannot be read, it is damaged, cut short or of an unknown kind ({path}): "
        "copy it again, or export it as EDF+"
    )


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def _in_our_words(text: str) -> str:
    for pattern, meaning in _MEANINGS:
        match = re.search(pattern, text)
        if match:
            return match.expand(meaning)
    return f"while it was opened: {' '.join(text.split()).rstrip('.')}"


def _unit_of(ch: Any, kind: str, unit: str) -> tuple[str, float]:
    """The unit in which a channel is delivered and the factor from MNE's value to it."""
    if kind == "stim":
        return "", 1.0
    if int(ch["unit"]) == _VOLT:
        return standard_unit("V")
    if unit:
        # MNE has multiplied by the prefix of the unit that the file names; undo it to keep the file's own unit.
        return unit, 1.0 / float(ch["range"])
    return _UNITS.get(int(ch["unit"]), ""), 1.0


def _position(ch: Any, kind: str) -> tuple[float, float, float] | None:
    x, y, z = (float(value) for value in ch["loc"][:3])
    given = (
        kind in ("eeg", "ecog", "seeg", "dbs") and bool(np.isfinite([x, y, z]).all()) and (x, y, z) != (0.0, 0.0, 0.0)
    )
    return (x, y, z) if given else None


def _prefilter(info: Any) -> str:
    parts = []
    if info["highpass"]:
        parts.append(f"HP:{info['highpass']:g}Hz")
    if info["lowpass"] and info["lowpass"] < info["sfreq"] / 2:
        parts.append(f"LP:{info['lowpass']:g}Hz")
    return " ".join(parts)


def _is_joint(description: str) -> bool:
    """Whether an annotation marks where two pieces were put together (EEGLAB, and MNE's own concatenation)."""
    return description.lower() in ("boundary", "edge boundary", "edge")
