"""Stretches of labelled signal that windows are drawn from, wherever they come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.electrodes import site_of
from analysis.errors import AnalysisError
from analysis.preprocessing import Preprocessing, SpanSignal
from analysis.recording import Recording, Window
from analysis.simulation.truth import Truth
from analysis.survey import ScorableSpan, survey_recording

Span = tuple[float, float]
MOST_CHANNELS = 128  # of a recording whose channels are not named: the rows of MVPFormer's table


@dataclass(frozen=True)
class Stretch:
    """A piece of one subject's recording as a model is given it, before its normalisation.

    `data` float32 (channels, samples) in microvolts at `sfreq`, zeros where a channel is `missing` (channels,); times
    of `seizures` and `artefacts` are seconds from its beginning. `recording` tells pieces of one recording, `truth` is
    all that is known of one that was simulated as a whole.
    """

    subject: str
    recording: str
    data: np.ndarray
    missing: np.ndarray
    sfreq: float
    sites: tuple[str, ...]
    seizures: tuple[Span, ...]
    artefacts: tuple[Span, ...]
    truth: Truth | None = None

    @property
    def seconds(self) -> float:
        """Length."""
        return self.data.shape[1] / self.sfreq


class Source(ABC):
    """Stretches by number; each is made when it is asked for, and none is kept here.

    `subjects` are the people, or seeds, that the stretches come from; `ictal` the numbers of stretches that are known
    to hold a seizure, None where that is not known before they are made.
    """

    subjects: frozenset[str]
    ictal: tuple[int, ...] | None = None

    @abstractmethod
    def __len__(self) -> int:
        """How many stretches there are."""

    @abstractmethod
    def load(self, number: int) -> Stretch:
        """Make one; RecordingError or AnalysisError where that cannot be done."""


def prepare(
    recording: Recording, span: ScorableSpan, picks: Sequence[int], n_rows: int, rows: Sequence[int], to: Preprocessing
) -> tuple[np.ndarray, np.ndarray]:
    """Signal float32 (n_rows, samples) of a span, the picked channels in these rows, and which rows are missing."""
    signal = SpanSignal(recording, span, picks, to)
    made = signal.read(signal.first, signal.stop)
    data = np.zeros((n_rows, made.shape[1]), np.float32)
    data[list(rows)] = np.nan_to_num(made)
    missing = np.ones(n_rows, bool)
    missing[[row for row, values in zip(rows, made, strict=True) if np.isfinite(values).all()]] = False
    data[missing] = 0.0
    return data, missing


def choose_channels(recording: Recording, sites: Sequence[str]) -> tuple[list[int], list[int], tuple[str, ...]]:
    """Channels to read, their rows, and the sites of all rows; without `sites` all usable channels of the brain.

    AnalysisError where none of the sites is there.
    """
    if not sites:
        picks = list(survey_recording(recording, Window(0.0, recording.duration), MOST_CHANNELS).picks)
        return picks, list(range(len(picks))), tuple(recording.channels[pick].name for pick in picks)
    wanted = {site_of(site) or site: row for row, site in enumerate(sites)}
    found: dict[int, int] = {}
    for pick, channel in enumerate(recording.channels):
        row = wanted.get(channel.site or channel.name)
        if channel.is_brain and channel.pair is None and row is not None:
            found.setdefault(row, pick)
    if not found:
        raise AnalysisError(
            f"none of the recipe's channels is there ({recording.path}): "
            f"use recordings with {', '.join(list(sites)[:6])} …, or name others in signal.channels"
        )
    rows = sorted(found)
    return [found[row] for row in rows], rows, tuple(sites)


def refuse_shared_subjects(splits: dict[str, Source]) -> None:
    """AnalysisError names a subject that two splits share: what is learned of a person must not be tested on them."""
    names = list(splits)
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            if shared := sorted(splits[first].subjects & splits[second].subjects):
                more = f" and {len(shared) - 1} more" if len(shared) > 1 else ""
                raise AnalysisError(
                    f"the subject {shared[0]}{more} is in the data of both {first} and {second} (the recipe): "
                    "give each subject to one of them alone"
                )
