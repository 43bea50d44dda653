"""What a recording is, whatever file it came from: Recording, Channel, Window and Page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path

import numpy as np

from analysis.annotation import Annotation

SCALP_TYPES = frozenset({"eeg"})
BRAIN_TYPES = frozenset({"eeg", "ecog", "seeg"})


@dataclass(frozen=True)
class Window:
    """A half-open span of time, in seconds from the first sample of the recording."""

    start: float
    stop: float

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return self.stop - self.start


@dataclass(frozen=True)
class Channel:
    """One signal of a recording, with its cleaned name beside the label the file gives it.

    `type` is one of eeg, ecog, seeg, ecg, eog, emg, resp, stim, misc (MNE's words). `unit` is "uV" for every voltage
    (values are delivered in microvolts), else the file's own unit. `position` is in metres in the head frame. `site`
    is the 10-10 name of the electrode ("T7" for a label "T3") and None where there is none; `pair` holds the two
    sites of a channel that was recorded bipolar. `limits` are the least and the greatest value that the file can
    hold, in `unit`, where it tells.
    """

    name: str
    original_name: str
    type: str
    unit: str
    sfreq: float
    position: tuple[float, float, float] | None = None
    site: str | None = None
    pair: tuple[str, str] | None = None
    reference: str | None = None
    prefilter: str = ""
    calibrated: bool = True
    limits: tuple[float, float] | None = None

    @property
    def is_brain(self) -> bool:
        """Whether this is a calibrated signal of the brain, which alone is averaged and scored."""
        return self.type in BRAIN_TYPES and self.calibrated


class Recording(ABC):
    """A recording that is read lazily: the header at once, annotations on first use, samples as they are asked for.

    Sample i lies at i / sfreq seconds from the first sample; the time axis of a discontinuous file includes its gaps.
    `sfreq` is the highest rate among the brain channels (among all, where there is none).
    """

    path: Path
    format: str
    id: str
    channels: tuple[Channel, ...]
    sfreq: float
    n_times: int
    start_datetime: datetime | None
    gaps: tuple[tuple[float, float], ...] = ()
    bad_channels: frozenset[str] = frozenset()  # names of channels that a reader marked as bad: no model is given them

    def __init__(self) -> None:
        self.warnings: list[str] = []

    @property
    def duration(self) -> float:
        """Whole span in seconds, gaps included."""
        return self.n_times / self.sfreq

    @property
    def ch_names(self) -> tuple[str, ...]:
        """Cleaned channel names, unique within the recording."""
        return tuple(channel.name for channel in self.channels)

    @property
    def ch_types(self) -> tuple[str, ...]:
        """Channel types in MNE's words."""
        return tuple(channel.type for channel in self.channels)

    @cached_property
    def annotations(self) -> tuple[Annotation, ...]:
        """Annotations that the file itself carries, sorted by onset; the first use may read the whole file."""
        return self._load_annotations()

    def _load_annotations(self) -> tuple[Annotation, ...]:
        return ()

    @abstractmethod
    def read(self, start: int, stop: int, picks: Sequence[int] | None = None) -> np.ndarray:
        """Samples [start, stop) of the picked channels at `sfreq`, float32 (channels, samples), NaN in gaps.

        Voltages are in microvolts, other channels in their own unit. Channels of another rate are brought to `sfreq`
        by linear interpolation (lower rates) or averaging (higher rates); `read_native` gives their own samples.
        Samples outside the recording are NaN.
        """

    @abstractmethod
    def read_native(self, pick: int, start: float, stop: float) -> np.ndarray:
        """Samples of one channel at its own rate in [start, stop) seconds, float32, units as in `read`."""

    def contiguous_spans(self) -> tuple[Window, ...]:
        """The spans between the gaps, in seconds."""
        edges = [0.0, *(edge for gap in self.gaps for edge in gap), self.duration]
        return tuple(Window(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if b > a)

    def close(self) -> None:
        """Release the file; reading afterwards is an error. Files that are opened at each read need nothing."""
        return

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class Page:
    """What a viewer draws: montaged and filtered samples of one window.

    `data` is float32 (samples, channels), read-only, NaN in gaps, microvolts (or the channel's own unit); sample i lies
    at `first_time + i / sfreq` seconds. `ch_names` are the names of the montage's derivations.
    """

    window: Window
    ch_names: tuple[str, ...]
    sfreq: float
    data: np.ndarray
    first_time: float
