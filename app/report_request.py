"""What is asked of a report: of which recording, of what in it, and how its pages look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.annotation import Annotation
from analysis.reports.gather import Look
from analysis.results import SeizurePrediction

MOST_PAGES = 20


@dataclass(frozen=True)
class ReportRequest:
    """What a report is of and how its pages look; frequencies in hertz (0 is off)."""

    recording: str
    out: str
    events: str | None = None
    checkpoint: Mapping[str, Any] | None = None
    montage: str | None = None
    uv_per_mm: float = 7.0
    highpass: float = 0.5
    lowpass: float = 70.0
    notch: float = 0.0
    device: str = "auto"
    bad_channels: tuple[str, ...] = ()
    pages: int = MOST_PAGES
    marks_from: str = "the recording"


@dataclass(frozen=True)
class Shown:
    """What a window shows: its marks, the model's prediction with the events nobody has decided on, how pages look."""

    marks: tuple[Annotation, ...]
    live: tuple[Annotation, ...]
    prediction: SeizurePrediction | None
    look: Look
