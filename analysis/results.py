"""What an analysis gives: results that carry the request they answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from analysis.annotation import Annotation
from analysis.recording import Window


@dataclass(frozen=True)
class AnalysisRequest:
    """What was asked: everything that decides the numbers of a result."""

    kind: str
    recording_id: str
    checkpoints: tuple[str, ...]
    montage: str = "as recorded"
    window: Window | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def key(self) -> str:
        """A digest that is equal for equal requests, whatever the order of their options."""
        text = json.dumps(asdict(self), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class AnalysisResult:
    """Base of all results: the request, when it was answered (ISO 8601), by which version, and the provenance."""

    request: AnalysisRequest
    created: str
    software_version: str
    provenance: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SeizurePrediction(AnalysisResult):
    """Seizure probability per scored segment and the events derived from it.

    `times` (n,) are segment onsets and `durations` (n,) lengths, both float64 seconds; `probability` (n,) float32 in
    0..1; segments that could not be scored are absent, and their spans are in `not_scored` with the reason.
    `complete` is False for what has arrived so far of a running job. `model_title` is what a person reads;
    `random_weights` must be said wherever the result is drawn; `caveat` are the model's stated limits.
    """

    times: np.ndarray = field(default_factory=lambda: np.empty(0))
    durations: np.ndarray = field(default_factory=lambda: np.empty(0))
    probability: np.ndarray = field(default_factory=lambda: np.empty(0, np.float32))
    threshold: float = 0.5
    events: tuple[Annotation, ...] = ()
    not_scored: tuple[tuple[float, float, str], ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    model_title: str = ""
    caveat: str = ""
    random_weights: bool = False
    complete: bool = True
