"""What every seizure detector offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from analysis.engine.serving import USUAL, Serving
from analysis.errors import AnalysisError
from analysis.postprocessing import Rule
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
    def keep(self, part: Window) -> None:
        """Do only what begins within a part of the window: of parts that tile it, exactly one gives each segment.

        The numbers are those of the whole run, on the same grid and with the same history.
        """

    def served(self) -> dict[str, Any]:
        """How the work was done, for the provenance, once it is: batches and number format. It decides no number."""
        return {}

    @abstractmethod
    def chunks(self, progress: Progress, first_time: float | None) -> Generator[Chunk, None, None]:
        """Do the work, nearest to `first_time` (seconds) first; every segment comes once.

        Progress is reported at least three times a second where the model allows; Cancelled comes out of it.
        """


class Detector(ABC):
    """A model that gives seizure probabilities.

    `title` is what a person reads, `digests` the SHA-256 of the files it came from, `notes` what loading had to say.
    `configuration` is all that decides its numbers beside those files and the options of a run, ready for JSON.
    `caveat` are its stated limits, `event_rule` the rule that suits its segments, or its name, None where the recording
    decides.
    """

    family: str
    title: str
    digests: tuple[str, ...]
    configuration: Mapping[str, Any]
    checkpoint: Mapping[str, Any]
    random_weights: bool = False
    default_threshold: float = 0.5
    event_rule: str | Rule | None = None
    caveat: str
    input_description: str
    device: str
    libraries: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @abstractmethod
    def begin(
        self,
        recording: Recording,
        window: Window,
        batch_size: int | None = None,
        progress: Progress | None = None,
        serving: Serving = USUAL,
    ) -> DetectorRun:
        """Look at a recording and plan the work for a window of it; AnalysisError when nothing can be scored.

        A `batch_size` goes before that of `serving`.
        """


def seizure_class(labels: Sequence[str], source: Path | None) -> int:
    """Which output is the seizure: the one that is called so, else class 1 of two (published heads)."""
    named = [i for i, label in enumerate(labels) if label.lower() in {"seizure", "sz", "ictal"}]
    if named:
        return named[0]
    if len(labels) == 2:
        return 1
    raise AnalysisError(
        f"none of this head's classes is called seizure ({source}; it has {', '.join(labels)}): "
        "use a head that was trained to tell seizures"
    )
