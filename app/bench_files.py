"""The recordings of the benchmark: synthetic, of the sizes the targets speak of, made on the spot and thrown away."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from app.synthetic_edf import Mark, SyntheticHeader, to_digital, write_synthetic_file

_SCALP = (
    "Fp1 Fp2 F7 F3 Fz F4 F8 T7 C3 Cz C4 T8 P7 P3 Pz P4 P8 O1 O2 F9 F10 T9 T10"  # 23 channels
).split()
_PERIOD = 64  # seconds after which the signal repeats; its ends meet


@dataclass(frozen=True)
class BenchFile:
    """One recording: how many channels, at which rate in hertz, how many seconds, how many annotations."""

    name: str
    channels: int
    sfreq: int
    seconds: int
    marks: int = 30

    @property
    def labels(self) -> tuple[str, ...]:
        """Scalp sites where they suffice, else contacts of depth electrodes with eight contacts each."""
        if self.channels <= len(_SCALP):
            return tuple(_SCALP[: self.channels])
        return tuple(f"{'LR'[i // 8 % 2]}{chr(ord('A') + i // 16)}{i % 8 + 1}" for i in range(self.channels))

    @property
    def bytes(self) -> int:
        """About how large the file is."""
        return 2 * self.channels * self.sfreq * self.seconds


DAY = BenchFile("day", 23, 256, 24 * 3600, 300)
HOUR = BenchFile("hour", 23, 256, 3600)
HOUR64 = BenchFile("hour64", 64, 512, 3600)
WIDE = BenchFile("wide", 128, 1024, 600)
MARKS_FEW = BenchFile("marks3000", 23, 256, 3600, 3_000)
MARKS_MANY = BenchFile("marks100000", 23, 256, 3600, 100_000)
FILES = {file.name: file for file in (DAY, HOUR, HOUR64, WIDE, MARKS_FEW, MARKS_MANY)}


def shortened(file: BenchFile, share: float) -> BenchFile:
    """The same kind of recording, a share as long, but never below two minutes."""
    return replace(file, seconds=min(file.seconds, max(120, int(file.seconds * share))))


def make_file(file: BenchFile, folder: Path) -> Path:
    """Write one of them; the same content each time."""
    header = SyntheticHeader(file.labels, file.sfreq, file.seconds, "SYNTHETIC_benchmark")
    path = folder / f"{file.name}.edf"
    return write_synthetic_file(path, header, _blocks(file), _marks(file))


def _blocks(file: BenchFile) -> Iterator[np.ndarray]:
    """The signal in pieces of int16 (seconds, channels, samples of a second)."""
    rng = np.random.default_rng(1)
    count = _PERIOD * file.sfreq
    frequency = np.fft.rfftfreq(count, 1 / file.sfreq)
    amplitude = (frequency**2 + 1) ** -0.45 + 0.6 * np.exp(-(((frequency - 10) / 0.7) ** 2) / 2)
    amplitude[0] = 0
    shape = (file.channels, len(frequency))
    spectrum = amplitude * np.exp(2j * np.pi * rng.random(shape))
    signal = np.fft.irfft(spectrum, count)
    signal *= 25 / signal.std(axis=1, keepdims=True)
    block = to_digital(signal).reshape(file.channels, _PERIOD, file.sfreq).transpose(1, 0, 2)
    block = np.ascontiguousarray(block)
    for _ in range(-(-file.seconds // _PERIOD)):
        yield block


def _marks(file: BenchFile) -> list[Mark]:
    rng = np.random.default_rng(2)
    onsets = np.sort(rng.uniform(0, file.seconds - 2, file.marks)).round(3)
    return [(float(onset), float(i % 3), f"mark {i % 7}") for i, onset in enumerate(onsets)]


def forget(path: Path) -> bool:
    """Ask the system to drop a file from its memory, so that the next read is cold; False where it cannot be asked."""
    if not hasattr(os, "posix_fadvise"):
        return False
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fdatasync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(handle)
    return True
