"""Which benches there are, and how much of each is run; light, since the command line lists them in its help.

A new bench joins with a line of BENCHES: a function in a module of its own that takes a `Plan` and gives a `Found`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from app.bench_cases import Case, Measured

T = TypeVar("T")
SIZES = ("quick", "middle", "full")
BENCHES = {
    "start": ("app.bench_start:bench", "start-up, beside a bare window"),
    "viewer": ("app.bench_pages:bench", "the window, page by page, beside mne-qt-browser"),
    "memory": ("app.bench_memory:bench", "memory over a day's work, beside a bare window"),
    "engine": ("app.bench_engine:bench", "the engine process beside a pool of the standard library"),
    "neurduo": ("app.bench_neurduo:bench", "NeurDuo's step and scan beside a straightforward step"),
    "flashmvpa": ("app.bench_flashmvpa:bench", "FlashMVPA beside plain MVPA and compiled flex attention, on a GPU"),
    "mvpformer": ("app.bench_mvpformer:bench", "MVPFormer on the CPU beside the eager textbook form"),
    "axon": ("app.bench_axes:bench", "AXON's attention by axis beside attention over all tokens"),
    "prise": ("app.bench_experts:bench", "PRiSE-EEG's experts with sorted tokens beside token after token"),
    "inference": ("app.bench_inference:bench", "whole recordings in batches, beside one window at a time"),
    "simulate": ("app.bench_simulation:bench_simulator", "the simulator"),
    "thresholds": ("app.bench_simulation:bench_thresholds", "detectors without a model on simulated recordings"),
    "attribution": ("app.bench_attribution:bench", "the known focus by attribution, beside randomised weights"),
}


@dataclass(frozen=True)
class Plan:
    """How much is to be measured: the size, and whether pages are turned during a run and beside mne-qt-browser.

    `seizures` is how many foci are looked for, where it does not follow the size.
    """

    size: str = "full"
    busy: bool = False
    peer: bool = False
    seizures: int | None = None

    def pick(self, quick: T, middle: T, full: T) -> T:
        """What belongs to the size."""
        return (quick, middle, full)[SIZES.index(self.size)]

    def say(self, text: str, work: Callable[[], T]) -> T:
        """Tell on a terminal what is being done, since a bench takes minutes."""
        if not sys.stderr.isatty():
            return work()
        print(f"\r\033[K{text}…", end="", file=sys.stderr, flush=True)
        try:
            return work()
        finally:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Found:
    """The rows of a bench, a sentence in place of what could not be measured, and remarks for below the table."""

    rows: Sequence[tuple[Case, Measured | str]]
    remarks: Sequence[str] = ()


@dataclass(frozen=True)
class Part:
    """What one bench found, and in how many seconds."""

    name: str
    found: Found
    seconds: float
