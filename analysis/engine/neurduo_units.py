"""Units of a recording and what a fine-tuned NeurDuo says of them: sequences of units, the state carried in between."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from analysis.engine.ahead import Check, made_ahead
from analysis.engine.calibration import Calibration
from analysis.engine.detector import seizure_class
from analysis.engine.neurduo_input import Electrodes, input_settings, resolve_channel
from analysis.engine.serving import USUAL, Precision, Staged, Staging
from analysis.engine.session import BatchSize
from analysis.errors import AnalysisError
from analysis.montages.sources import MARKED_BAD
from analysis.preprocessing import FILTER_PAD_SECONDS, Preprocessing, SpanSignal
from analysis.progress import Progress
from analysis.recording import Recording, Window
from analysis.service import FLOAT32
from analysis.survey import Survey, survey_recording
from analysis.windowing import SegmentRun, plan_runs, uncovered
from models.neurduo.config import HeadConfig
from models.neurduo.electrodes import unit_positions
from models.neurduo.encoder import computes_in_bfloat16
from models.neurduo.model import Montage, NeurDuo
from models.neurduo.normalisation import normalise_window

_FLAT = "flat or without samples: hidden from the other channels, read as zeros"
MOST_SEQUENCES = 8


@dataclass(frozen=True)
class Sequence:
    """Consecutive units [start, stop) of a run that go through the model as one; at most as many as it was tuned on."""

    run: SegmentRun
    start: int
    stop: int


class UnitClassifier:
    """A NeurDuo with a fine-tuned head: class probabilities of units of a recording's signal."""

    def __init__(self, model: NeurDuo, device: torch.device) -> None:
        head = model.config.head
        if head is None:
            raise AnalysisError(
                f"a NeurDuo-EEG without a fine-tuned head tells no classes ({model.checkpoint.asked_for}): "
                "give the head file trained for it with --head"
            )
        self.model, self.head, self.device = model, head, device
        self.unit_samples = head.unit_steps * model.config.chunk_samples
        self.unit_seconds = self.unit_samples / model.config.sampling_rate_hz
        positions = [unit_positions().get(site) for site in head.channels]
        if None in positions:
            site = head.channels[positions.index(None)]
            raise AnalysisError(
                f"this head reads {site}, which is no electrode of the 10-05 system ({model.checkpoint.asked_for}): "
                "correct the channels in its configuration"
            )
        self._positions = torch.tensor(positions, dtype=torch.float32)
        self._ids = torch.zeros(len(positions), dtype=torch.int64)  # as in fine-tuning, whatever the reference
        self._calibration = Calibration.from_card(model.checkpoint.card if model.checkpoint else {})
        self._seizure = seizure_class(model.checkpoint.labels, None) if head.n_outputs == 2 else None
        self._front_end: torch.dtype | None = None

    @contextmanager
    def rounded(self) -> Iterator[None]:
        """Within it products are in bfloat16: on a processor those of the signal encoder alone, where most time goes.

        RuntimeError where the processor is not made for them.
        """
        if self.device.type != "cpu":
            with torch.autocast(self.device.type, torch.bfloat16):
                yield
            return
        if not computes_in_bfloat16(self.device):
            raise RuntimeError("this processor is not made for products in bfloat16")
        self._front_end = torch.bfloat16
        try:
            yield
        finally:
            self._front_end = None

    def montage(self, n_items: int, missing: Tensor) -> Montage:
        """What is constant over time for a number of items without the `missing` (C,) channels."""
        absent = missing if missing.any() else None
        return self.model.montage_of(n_items, len(missing), self._positions, self._ids, absent)

    def probabilities(
        self, units: np.ndarray, missing: np.ndarray, tick: Callable[[], None] = lambda: None
    ) -> np.ndarray:
        """Sequences (B, units, C, samples) in microvolts -> class probabilities (B, units, classes) float32.

        `missing` (C,) marks channels that are not there. Every sequence begins with a state of zero. `tick` is called
        several times a sequence.
        """
        return self.of_chunks(self.chunks_of(units, missing).to(self.device), missing, tick)

    @torch.no_grad()
    def chunks_of(self, units: np.ndarray, missing: np.ndarray) -> Tensor:
        """Sequences as `probabilities` takes them -> normalised chunks (B, steps, C, L) on the processor."""
        chunks = normalise_units(torch.from_numpy(units), self.head, self.model.config.chunk_samples)
        return chunks.masked_fill(torch.from_numpy(missing)[None, None, :, None], 0.0)

    @torch.inference_mode()
    def of_chunks(self, chunks: Tensor, missing: np.ndarray, tick: Callable[[], None] = lambda: None) -> np.ndarray:
        """Class probabilities as `probabilities` gives them, of normalised chunks on the device."""
        absent = torch.from_numpy(missing)
        montage = self.montage(len(chunks), absent)
        parts = []
        for block in self.model.blocks(chunks, montage, front_end=self._front_end):
            parts.append(block.z)
            tick()
        z = torch.cat(parts, dim=1).view(len(chunks), len(missing), chunks.shape[1], -1)
        absences = absent.expand(len(chunks), -1).to(self.device) if missing.any() else None
        scores = self.model.unit_logits(z, missing=absences).float()
        values: np.ndarray = self._calibration.adjusted(scores, self._seizure).softmax(-1).cpu().numpy()
        return values


def normalise_units(units: Tensor, head: HeadConfig, chunk_samples: int) -> Tensor:
    """(B, units, C, samples) -> normalised chunks (B, steps, C, L), over the sequence or each unit as the head says."""
    n_items, n_units, n_channels, _ = units.shape
    if head.normalisation == "sequence":
        whole = normalise_window(units.transpose(1, 2).reshape(n_items, n_channels, -1))
        return whole.view(n_items, n_channels, -1, chunk_samples).transpose(1, 2)
    made = normalise_window(units).view(n_items, n_units, n_channels, -1, chunk_samples)
    return made.transpose(2, 3).reshape(n_items, -1, n_channels, chunk_samples)


@dataclass(frozen=True)
class UnitPlan:
    """Which units of a recording are scored, and from what; `missing` (C,) marks channels without a signal."""

    electrodes: Electrodes
    missing: np.ndarray
    signals: Mapping[SegmentRun, SpanSignal]
    not_scored: tuple[tuple[float, float, str], ...]
    settings: Preprocessing

    @property
    def n_wanted(self) -> int:
        """How many units are to be scored."""
        return sum(run.n_wanted for run in self.signals)


@dataclass(frozen=True)
class ScoredUnits:
    """Consecutive units [first, first + n) of a run and their class probabilities (n, classes) float32."""

    run: SegmentRun
    first: int
    probabilities: np.ndarray

    @property
    def onsets(self) -> np.ndarray:
        """When the units begin, float64 seconds (n,)."""
        return self.run.onsets(self.first, self.first + len(self.probabilities))


def plan_units(
    recording: Recording,
    classifier: UnitClassifier,
    stated: Mapping[str, Any],
    window: Window,
    progress: Progress | None = None,
) -> UnitPlan:
    """Find the head's channels and lay its units over a window; AnalysisError where that cannot be done."""
    head, length = classifier.head, classifier.unit_seconds
    history = length * head.context_units + FILTER_PAD_SECONDS
    region = Window(max(0.0, window.start - history), min(recording.duration, window.stop + history))
    survey = survey_recording(recording, region, progress=progress)
    electrodes, missing = find_channels(recording, survey, head)
    runs = plan_runs(survey.spans, window, length)
    if not runs:
        raise AnalysisError(
            f"no whole unit of {length:g} s can be scored between {window.start:g} and {window.stop:g} s "
            f"({recording.path}): choose a longer span without gaps"
        )
    rest = [(w.start, w.stop, f"less than a unit of {length:g} s") for w in uncovered(runs, survey.spans, window)]
    settings = input_settings(recording, stated)
    signals = {run: SpanSignal(recording, run.span, electrodes.picks, settings) for run in runs}
    return UnitPlan(electrodes, missing, signals, tuple(sorted([*survey.not_scored, *rest])), settings)


def score_units(
    plan: UnitPlan,
    classifier: UnitClassifier,
    batch: BatchSize,
    progress: Progress,
    first_time: float | None,
    precision: Precision | None = None,
    overlap: bool | None = None,
) -> Generator[ScoredUnits, None, None]:
    """Work through the sequences of a plan, nearest to `first_time` first; every unit comes once.

    With `overlap` the next sequences are read while the model works; None: where that is usual.
    """
    overlap = USUAL.reads_ahead(classifier.device) if overlap is None else overlap
    sequences = plan_sequences(list(plan.signals), classifier.head.context_units, first_time)
    precision = precision or Precision(FLOAT32, classifier.device)
    done = 0

    def tick() -> None:
        progress.report(done, plan.n_wanted, "scoring units")

    def work(staged: Staged, at: int, size: int) -> np.ndarray:
        chunks = staged.take(at, at + size)
        return precision.run(lambda: classifier.of_chunks(chunks, plan.missing, tick))

    tick()
    with made_ahead(partial(_batches, plan, classifier, batch, sequences), tick, overlap) as batches:
        for some, staged in batches:
            at = 0
            while at < len(some):
                count, values = batch.run(len(some) - at, partial(work, staged, at))
                for sequence, probabilities in zip(some[at : at + count], values, strict=True):
                    run = sequence.run
                    first, stop = max(sequence.start, run.wanted_first), min(sequence.stop, run.wanted_stop)
                    done += stop - first
                    yield ScoredUnits(run, first, probabilities[first - sequence.start : stop - sequence.start])
                at += count
                tick()


def _batches(
    plan: UnitPlan, classifier: UnitClassifier, batch: BatchSize, sequences: list[Sequence], check: Check
) -> Iterator[tuple[list[Sequence], Staged]]:
    """Batches of sequences and their chunks, as large as they should be at that moment."""
    staging = Staging(classifier.device)

    def read(waiting: list[Sequence], size: int) -> Tensor:
        units = []
        for sequence in waiting[:size]:
            check()
            units.append(_read(plan, classifier, sequence))
        return classifier.chunks_of(np.stack(units), plan.missing)

    while sequences:
        count, chunks = batch.fit(len(sequences), partial(read, sequences))
        yield sequences[:count], staging.stage(chunks)
        sequences = sequences[count:]


def _read(plan: UnitPlan, classifier: UnitClassifier, sequence: Sequence) -> np.ndarray:
    """One sequence (units, C, samples); the units beyond its end are zero, as in the published evaluation."""
    length = classifier.unit_samples
    signal = plan.signals[sequence.run].read(sequence.start * length, sequence.stop * length)
    signal[plan.missing] = 0.0
    units = np.zeros((classifier.head.context_units, len(signal), length), np.float32)
    count = sequence.stop - sequence.start
    units[:count] = signal.reshape(len(signal), count, length).transpose(1, 0, 2)
    return units


def find_channels(recording: Recording, survey: Survey, head: HeadConfig) -> tuple[Electrodes, np.ndarray]:
    """The recording's channels in the order of a head, and which of them (C,) hold no signal.

    Sites count by place, so a T3 is taken for a T7. A channel that is there but flat counts as missing; AnalysisError
    where one is not there at all, or none is left.
    """
    by_place: dict[tuple[float, ...], int] = {}
    for pick, channel in enumerate(recording.channels):
        electrode = resolve_channel(channel)
        if electrode is None:
            continue
        place = unit_positions()[electrode.site]
        usable = by_place.get(place) in survey.picks
        if place not in by_place or (pick in survey.picks and not usable):
            by_place[place] = pick
    places = [unit_positions()[site] for site in head.channels]
    if absent := [site for site, place in zip(head.channels, places, strict=True) if place not in by_place]:
        raise AnalysisError(
            f"this head reads {', '.join(head.channels)}, and the recording has no {', '.join(absent)} "
            f"({recording.path}): use a recording with these electrodes, or a head for the ones it has"
        )
    picks = tuple(by_place[place] for place in places)
    missing = np.array([pick not in survey.picks for pick in picks])
    if missing.all():
        raise AnalysisError(
            f"none of the channels this head reads has a signal ({recording.path}): all of "
            f"{', '.join(recording.channels[pick].name for pick in picks)} are marked bad, flat or without samples"
        )
    names = tuple(recording.channels[pick].name for pick in picks)
    unread = [(recording.channels[pick].name, "not among the channels this head reads") for pick in survey.picks]
    left_out = [pair for pair in survey.left_out if pair[0] not in names]
    left_out += [pair for pair in unread if pair[0] not in names]
    hidden = (name for name, absent in zip(names, missing, strict=True) if absent)
    left_out += [(name, MARKED_BAD if name in recording.bad_channels else _FLAT) for name in hidden]
    positions = np.array(places, np.float32)
    return Electrodes(picks, names, head.channels, positions, np.zeros(len(picks), np.int64), tuple(left_out)), missing


def plan_sequences(runs: list[SegmentRun], n_units: int, first_time: float | None) -> list[Sequence]:
    """Cut runs into sequences of `n_units` units on the grid of their stretch; those nearest to `first_time` first.

    The grid does not depend on what is asked for, so a unit has the same probability in every selection.
    """
    sequences = []
    for run in runs:
        for start in range(run.wanted_first // n_units * n_units, run.wanted_stop, n_units):
            sequences.append(Sequence(run, max(start, run.first), min(start + n_units, run.stop)))
    if first_time is None:
        return sequences
    return sorted(sequences, key=lambda s: _distance(s, first_time))


def _distance(sequence: Sequence, time: float) -> float:
    start, stop = sequence.run.onset(sequence.start), sequence.run.onset(sequence.stop)
    return -1.0 if start <= time < stop else max(start - time, time - stop)
