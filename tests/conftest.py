"""Fixtures that tests of several rooms share."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from analysis.recording import Channel, Recording

# Set before Qt is imported anywhere, so that tests never need a screen.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Before torch is, whose threads wait for each other for minutes where another program has the processor.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Before triton is, whose kernels no test runs on a GPU.
os.environ.setdefault("TRITON_INTERPRET", "1")
# Garbage is looked for between tests only, by the thread of the windows: a window that goes on another thread, where
# the search happens to start, takes the program with it.
gc.disable()
_TESTS_BETWEEN = 40

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real recordings and golden numbers that lies beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip(f"NOT TESTED: the folder of real recordings and golden numbers is missing ({SHARED})")
    return SHARED


_tests = {"since": 0}


@pytest.fixture(autouse=True)
def no_window_left() -> Iterator[None]:
    """Hides what a test left open, which would lie over the next window and take its mouse; looks for garbage."""
    before = set(_windows())
    yield
    _tests["since"] += 1
    if _tests["since"] >= _TESTS_BETWEEN:
        _tests["since"] = 0
        gc.collect()
    for window in _windows():
        if window not in before:
            window.hide()


def _windows() -> list:
    widgets = sys.modules.get("PyQt6.QtWidgets")  # most tests never need them
    running = widgets is not None and widgets.QApplication.instance() is not None
    return [w for w in widgets.QApplication.topLevelWidgets() if w.isVisible()] if running else []


class ArrayRecording(Recording):
    """A recording held in memory, for tests that need no file: `data` is (channels, samples)."""

    def __init__(self, channels: Sequence[Channel], data: np.ndarray, sfreq: float) -> None:
        super().__init__()
        self.path = Path("memory.edf")
        self.format = "memory"
        self.id = f"memory-{len(channels)}-{data.shape[1]}"
        self.channels = tuple(channels)
        self.sfreq = sfreq
        self.n_times = data.shape[1]
        self.start_datetime = None
        self._data = data.astype(np.float32)

    def read(self, start: int, stop: int, picks: Sequence[int] | None = None) -> np.ndarray:
        rows = list(range(len(self.channels))) if picks is None else list(picks)
        out = np.full((len(rows), stop - start), np.nan, np.float32)
        first, last = max(start, 0), min(stop, self.n_times)
        if last > first:
            out[:, first - start : last - start] = self._data[rows, first:last]
        return out

    def read_native(self, pick: int, start: float, stop: float) -> np.ndarray:
        return self.read(round(start * self.sfreq), round(stop * self.sfreq), [pick])[0]


@pytest.fixture(scope="session")
def array_recording() -> Callable[[Sequence[Channel], np.ndarray, float], Recording]:
    """Makes a recording of channels and samples held in memory."""
    return ArrayRecording
