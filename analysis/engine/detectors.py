"""What every seizure detector offers, and how one is chosen by the name or file of its checkpoint."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from analysis.errors import AnalysisError
from analysis.progress import Progress
from analysis.recording import Recording, Window

BRAINMAZE = "brainmaze"
PACKAGED = {BRAINMAZE: "modelA", "brainmaze-a": "modelA", "brainmaze-b": "modelB"}


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
    """

    family: str
    title: str
    digests: tuple[str, ...]
    checkpoint: Mapping[str, Any]
    random_weights: bool = False
    default_threshold: float = 0.5
    input_description: str
    device: str
    libraries: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @abstractmethod
    def begin(
        self, recording: Recording, window: Window, batch_size: int | None = None, progress: Progress | None = None
    ) -> DetectorRun:
        """Look at a recording and plan the work for a window of it; AnalysisError when nothing can be scored."""


_last: tuple[tuple[Any, ...], Detector] | None = None


def load_detector(
    checkpoint: str | Path,
    head: str | Path | None = None,
    config: str | Path | None = None,
    device: str = "auto",
    segments: int | None = None,
) -> Detector:
    """The detector of a checkpoint: "brainmaze" (or "brainmaze-a", "brainmaze-b"), or an MVPFormer classifier's file.

    `segments` overrides the number of segments the checkpoint looks at. The detector used last is kept. CheckpointError
    for files that cannot be loaded, AnalysisError for models that give no seizure probability.
    """
    global _last
    key = (*(_stamp(file) for file in (checkpoint, head, config)), device, segments)
    if _last is not None and _last[0] == key:
        return _last[1]
    _last = None  # so that two models are never held at once
    detector = _load(str(checkpoint), head, config, device, segments)
    _last = (key, detector)
    return detector


def _load(
    checkpoint: str, head: str | Path | None, config: str | Path | None, device: str, segments: int | None
) -> Detector:
    if checkpoint.lower() in PACKAGED:
        from analysis.engine.brainmaze import BrainmazeDetector

        if head is not None or config is not None or segments is not None:
            raise AnalysisError(
                f"{checkpoint} is complete in itself: it takes no head file, no config and no number of segments"
            )
        return BrainmazeDetector(PACKAGED[checkpoint.lower()], device)
    from analysis.engine.mvpformer_detector import MVPFormerDetector
    from analysis.engine.session import choose_device
    from models.registry import load_model

    target = choose_device(device)
    model = load_model(checkpoint, head=head, device=target, config=config)
    if model.family != "mvpformer":
        raise AnalysisError(
            f"{model.family} checkpoints give no seizure probability yet ({checkpoint}): "
            f"use an MVPFormer with a classification head, or {BRAINMAZE}"
        )
    return MVPFormerDetector(model, target, segments)


def _stamp(file: str | Path | None) -> tuple[Any, ...]:
    """A file with its size and time, so that a changed file is loaded again."""
    if file is None:
        return (None,)
    try:
        status = Path(file).stat()
    except OSError:
        return (str(file),)
    return (str(Path(file).resolve()), status.st_size, status.st_mtime_ns)
