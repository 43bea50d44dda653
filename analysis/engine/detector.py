"""What every seizure detector offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from analysis.progress import Progress
from analysis.recording import Recording, Window


@dataclass(frozen=True)
class Chunk:
    """Probabilities (n,) of segments that are done: onsets and lengths in float64 seconds, in any order."""

    times: np.ndarray
    durations: np.ndarray
    probability: np.ndarray


@dataclass
class DetectorRun(ABC):
    """One pass of a detector over one recording; `facts` are counts for the provenance, filled as the work goes on.

    `options` decide the numbers, `caveat` are the limits that hold for this recording.
    """

    left_out: tuple[tuple[str, str], ...]
    not_scored: list[tuple[float, float, str]]
    scored: tuple[str, ...]
    preprocessing: Mapping[str, Any]
    options: Mapping[str, Any]
    caveat: str
    facts: dict[str, Any] = field(default_factory=dict)

    @abstractmethod
    def chunks(self, progress: Progress, first_time: float | None) -> Generator[Chunk, None, None]:
        """Do the work, nearest to `first_time` (seconds) first; every segment comes once.

        Progress is reported at least three times a second where the model allows; Cancelled comes out of it.
        """


class Detector(ABC):
    """A model that gives seizure probabilities.

    `title` is what a person reads, `digests` the SHA-256 of the files it came from, `notes` what loading had to say.
    `configuration` is all that decides its numbers beside those files and the options of a run, ready for JSON.
    `caveat` are its stated limits.
    """

    family: str
    title: str
    digests: tuple[str, ...]
    configuration: Mapping[str, Any]
    checkpoint: Mapping[str, Any]
    random_weights: bool = False
    default_threshold: float = 0.5
    caveat: str
    input_description: str
    device: str
    libraries: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @abstractmethod
    def begin(
        self, recording: Recording, window: Window, batch_size: int | None = None, progress: Progress | None = None
    ) -> DetectorRun:
        """Look at a recording and plan the work for a window of it; AnalysisError when nothing can be scored."""
