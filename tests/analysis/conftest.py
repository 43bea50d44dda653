"""A recording held in memory, for tests of what is computed from recordings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.recording import Channel, Recording


class ArrayRecording(Recording):
    """Channels x samples in microvolts; keeps count of what was read at once."""

    def __init__(
        self,
        data: np.ndarray,
        sfreq: float,
        channels: Sequence[Channel] | None = None,
        gaps: tuple[tuple[float, float], ...] = (),
        format: str = "EDF",
        path: str = "made.edf",
    ) -> None:
        super().__init__()
        self.data = np.asarray(data, np.float32)
        self.sfreq = sfreq
        self.n_times = self.data.shape[1]
        self.channels = tuple(channels or (channel(f"C{i}", sfreq=sfreq) for i in range(len(self.data))))
        self.gaps = gaps
        self.format = format
        self.path = Path(path)
        self.id = "made"
        self.start_datetime = None
        self.most_read = 0
        for a, b in gaps:
            self.data[:, round(a * sfreq) : round(b * sfreq)] = np.nan

    def read(self, start: int, stop: int, picks: Sequence[int] | None = None) -> np.ndarray:
        self.most_read = max(self.most_read, stop - start)
        rows = list(range(len(self.data))) if picks is None else list(picks)
        out = np.full((len(rows), stop - start), np.nan, np.float32)
        a, b = max(start, 0), min(stop, self.n_times)
        out[:, a - start : b - start] = self.data[rows, a:b]
        return out

    def read_native(self, pick: int, start: float, stop: float) -> np.ndarray:
        return self.data[pick, round(start * self.sfreq) : round(stop * self.sfreq)]


def channel(name: str, type: str = "eeg", sfreq: float = 256.0, **more: Any) -> Channel:
    """A channel with the fields that matter to the test."""
    return Channel(name, more.pop("original_name", name), type, "uV", sfreq, **more)


@pytest.fixture(scope="session")
def make_recording() -> Callable[..., ArrayRecording]:
    """Builds a recording from an array; see ArrayRecording."""
    return ArrayRecording


@pytest.fixture(scope="session")
def make_channel() -> Callable[..., Channel]:
    """Builds a channel; see `channel`."""
    return channel
