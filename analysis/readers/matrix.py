"""Recordings that are plain matrices in one file or in several parts, as HDF5 and .mat files hold them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from analysis.annotation import Annotation
from analysis.channels import MICROVOLTS, RawChannel, build_channels
from analysis.readers.notes import split_by_time
from analysis.readers.rates import first_at_or_after
from analysis.readers.record_file import fingerprint
from analysis.readers.units import standard_unit
from analysis.recording import Recording

_CHECKED_SECONDS = 10.0
# A median standard deviation outside these bounds cannot be microvolts of a brain.
_PLAUSIBLE_MICROVOLTS = (0.1, 5000.0)


@dataclass(frozen=True)
class Part:
    """A stretch of the time axis and how its samples are loaded: load(start, stop) -> (channels, samples)."""

    start: int
    n_times: int
    load: Callable[[int, int], np.ndarray]

    @property
    def stop(self) -> int:
        """Sample after the last."""
        return self.start + self.n_times


@dataclass(frozen=True)
class MatrixFacts:
    """What is known of a matrix recording besides its samples; without labels the channels are numbered."""

    path: Path
    format: str
    files: tuple[Path, ...]
    sfreq: float
    n_channels: int
    labels: tuple[str, ...] = ()
    kind: str | None = None
    unit: str = ""
    seizures: tuple[tuple[float, float], ...] = ()


class MatrixRecording(Recording):
    """Parts of one matrix on a time axis; what lies between them is a gap."""

    def __init__(self, facts: MatrixFacts, parts: Sequence[Part]) -> None:
        super().__init__()
        self.path, self.format, self.sfreq = facts.path, facts.format, facts.sfreq
        self.files = facts.files
        self.id = fingerprint(facts.files)
        self.start_datetime = None
        self._parts = tuple(parts)
        self._facts = facts
        self.n_times = self._parts[-1].stop
        self.gaps = tuple(
            (a.stop / self.sfreq, b.start / self.sfreq) for a, b in pairwise(self._parts) if b.start > a.stop
        )
        unit, self._factor = standard_unit(facts.unit) if facts.unit else (MICROVOLTS, 1.0)
        self.channels = build_channels([RawChannel(label, unit, facts.sfreq, facts.kind) for label in self._labels()])
        self._check_amplitude()

    def _labels(self) -> tuple[str, ...]:
        if self._facts.labels:
            return self._facts.labels
        self.warnings.append("the file names no channels: they are numbered in its order")
        return tuple(f"Ch {i + 1}" for i in range(self._facts.n_channels))

    def _check_amplitude(self) -> None:
        """Say that no unit was stated, and whether microvolts are believable; never change the numbers."""
        if self._facts.unit:
            return
        first = self._parts[0]
        data = self.read(first.start, first.start + min(first.n_times, round(_CHECKED_SECONDS * self.sfreq)))
        deviations = np.nanstd(data, axis=1, dtype=np.float64) if np.isfinite(data).any() else np.zeros(1)
        typical = float(np.nanmedian(deviations))
        low, high = _PLAUSIBLE_MICROVOLTS
        self.warnings.append("the file states no unit: values are taken as microvolts")
        if typical > high or 0 < typical < low:
            self.warnings.append(
                f"a typical deviation of {typical:.2g} is not believable for microvolts: amplitudes are probably wrong "
                "by a power of ten"
            )

    def _load_annotations(self) -> tuple[Annotation, ...]:
        found = [Annotation(onset, offset - onset, "sz") for onset, offset in self._facts.seizures]
        return split_by_time(found, self.duration, self.warnings)[0]

    def read(self, start: int, stop: int, picks: Sequence[int] | None = None) -> np.ndarray:
        """See Recording.read."""
        rows = list(range(len(self.channels)) if picks is None else picks)
        out = np.full((len(rows), max(0, stop - start)), np.nan, np.float32)
        for part in self._parts:
            first, last = max(start, part.start), min(stop, part.stop)
            if first < last:
                data = part.load(first - part.start, last - part.start)[rows]
                out[:, first - start : last - start] = data * self._factor if self._factor != 1 else data
        return out

    def read_native(self, pick: int, start: float, stop: float) -> np.ndarray:
        """See Recording.read_native."""
        return self.read(first_at_or_after(start * self.sfreq), first_at_or_after(stop * self.sfreq), [pick])[0]


def consecutive(lengths: Sequence[int], loads: Sequence[Callable[[int, int], np.ndarray]]) -> list[Part]:
    """Parts that follow each other without gaps."""
    starts = np.cumsum([0, *lengths[:-1]]).tolist()
    return [Part(start, n, load) for start, n, load in zip(starts, lengths, loads, strict=True)]
