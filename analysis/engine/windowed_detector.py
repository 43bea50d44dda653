"""AXON and PRiSE-EEG as seizure detectors: windows slide over a recording, each speaks for the middle of its span."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch

from analysis.engine.ahead import Check, made_ahead
from analysis.engine.calibration import Calibration
from analysis.engine.detector import Chunk, Detector, DetectorRun, seizure_class
from analysis.engine.inputs import Inputs, LoadedModel
from analysis.engine.model_inputs import ModelInput, model_input
from analysis.engine.serving import USUAL, Precision, Serving, Staged, Staging
from analysis.engine.session import BatchSize, describe_device
from analysis.engine.window_reader import WindowReader
from analysis.errors import AnalysisError
from analysis.postprocessing import stated_rule
from analysis.progress import Progress
from analysis.recording import Recording, Window
from models.families import Checkpoint

FAMILIES = ("axon", "prise-eeg")
MOST_WINDOWS, MOST_ON_DEVICE = 64, 512
_LIMITS = "see the checkpoint's card for what it was trained and tested on"
_RANDOM = "random weights: the curve shows how the program works and says nothing about the recording"


@dataclass(frozen=True)
class Slot:
    """One window: where it begins, in which span, and the part of the time axis it speaks for, in seconds."""

    span: int
    onset: float
    start: float
    stop: float


def lay_windows(start: float, stop: float, window: float, stride: float, span: int = 0) -> list[Slot]:
    """Windows every `stride` seconds within a span; each speaks for its middle, the outer ones up to the ends.

    What the last whole stride leaves at the end is told by one more window, which ends there.
    """
    count = int((stop - start - window) / stride + 1e-6) + 1 if stop - start >= window - 1e-6 else 0
    margin = (window - stride) / 2
    slots = []
    for i in range(count):
        onset = start + i * stride
        begin = onset if i == 0 else onset + margin
        end = onset + window if i == count - 1 else onset + margin + stride
        slots.append(Slot(span, onset, begin, end))
    if slots and stop - slots[-1].stop > 1e-6:  # one more that ends with the span, for what is left
        slots.append(Slot(span, stop - window, slots[-1].stop, stop))
    return slots


class WindowedDetector(Detector):
    """A classifier of windows with a seizure class; length and stride of the windows are the checkpoint's."""

    libraries = ("torch", "numpy", "scipy", "mne")

    def __init__(self, model: Any, device: torch.device) -> None:
        facts: Checkpoint = model.checkpoint
        self._model = LoadedModel(model, facts)
        if not facts.has_classifier:
            raise AnalysisError(
                f"this {self._model.title} has no classification head ({facts.path}): choose a fine-tuned checkpoint"
            )
        self._class = seizure_class(facts.labels, facts.path)
        self._device = device
        self.family = facts.model_name
        self.title = self._model.title
        self.window = float(facts.preprocessing["window_seconds"])
        self.stride = float(facts.preprocessing.get("stride_seconds", self.window))
        self.digests = facts.digests
        self.configuration = {
            "config": asdict(facts.config),
            "labels": list(facts.labels),
            "preprocessing": dict(facts.preprocessing),
        }
        self.random_weights = facts.random_weights
        self._calibration = Calibration.from_card(facts.card)
        self.default_threshold = float(facts.card.get("threshold", 0.5))
        self.event_rule = stated_rule(facts.card)
        self.caveat = _RANDOM if facts.random_weights else str(facts.card.get("limits") or _LIMITS)
        self.notes = tuple(facts.notes)
        self.device = describe_device(device)
        self.checkpoint = {
            "path": str(facts.path),
            "sha256": facts.sha256,
            "family": self.family,
            "size": facts.size,
            "n_params": facts.n_params,
        }
        rate = facts.preprocessing["sampling_rate"]
        self.input_description = f"windows of {self.window:g} s every {self.stride:g} s at {rate:g} Hz"

    def begin(
        self,
        recording: Recording,
        window: Window,
        batch_size: int | None = None,
        progress: Progress | None = None,
        serving: Serving = USUAL,
    ) -> DetectorRun:
        """Choose channels and lay windows over the span; AnalysisError when none fits."""
        serving = serving.chosen(batch_size)
        if window.duration < self.window - 1e-6:
            raise AnalysisError(
                f"no window of {self.window:g} s fits between {window.start:g} and {window.stop:g} s "
                f"({recording.path}): choose a longer span"
            )
        inputs = Inputs(recording, window, (self._model,), {}, self._device)
        source = model_input(inputs, self._model, self.window, progress=progress)
        slots, rest = self._lay(source, window)
        what = f"one window of {self.window:g} s and {len(source.plan.ch_names)} channels"
        most = MOST_ON_DEVICE if self._device.type == "cuda" else MOST_WINDOWS
        precision = serving.number_format(self._device)
        return _Run(
            left_out=source.plan.left_out,
            not_scored=rest,
            scored=source.plan.ch_names,
            preprocessing=source.settings(),
            options={"window_seconds": self.window, "stride_seconds": self.stride, **precision.options},
            caveat=self.caveat,
            facts={"windows_scored": 0},
            source=source,
            slots=slots,
            class_index=self._class,
            calibration=self._calibration,
            batch=serving.batch(self._device, self.device, what, most),
            precision=precision,
            overlap=serving.reads_ahead(self._device),
        )

    def _lay(self, source: ModelInput, window: Window) -> tuple[list[Slot], list[tuple[float, float, str]]]:
        slots: list[Slot] = []
        rest: list[tuple[float, float, str]] = []
        reached = window.start
        for i, signal in enumerate(source.plan.signals):
            start, stop = max(window.start, signal.start_seconds), min(window.stop, signal.stop_seconds)
            made = lay_windows(start, stop, self.window, self.stride, i)
            slots += made
            if start > reached + 1e-6:
                rest.append((reached, start, "samples missing"))
            end = made[-1].stop if made else start
            if stop > end + 1e-6:
                rest.append((end, stop, f"less than a window of {self.window:g} s"))
            reached = max(reached, stop)
        if window.stop > reached + 1e-3:
            rest.append((reached, window.stop, "samples missing"))
        return slots, rest


@dataclass
class _Run(DetectorRun):
    """Scores window after window, those nearest to what is looked at first."""

    source: ModelInput = field(kw_only=True)
    slots: list[Slot] = field(kw_only=True)
    class_index: int = field(kw_only=True)
    calibration: Calibration = field(kw_only=True)
    batch: BatchSize = field(kw_only=True)
    precision: Precision = field(kw_only=True)
    overlap: bool = field(kw_only=True)

    def keep(self, part: Window) -> None:
        self.slots = [slot for slot in self.slots if part.start <= slot.start < part.stop]

    def served(self) -> dict[str, Any]:
        return {"batch_size": self.batch.size, **self.precision.facts}

    def chunks(self, progress: Progress, first_time: float | None) -> Generator[Chunk, None, None]:
        waiting = self.slots
        if first_time is not None:
            waiting = sorted(waiting, key=lambda slot: abs((slot.start + slot.stop) / 2 - first_time))
        done = 0

        def tick() -> None:
            progress.report(done, len(waiting), "scoring windows")

        tick()
        with made_ahead(partial(self._batches, waiting), tick, self.overlap) as batches:
            for slots, batch in batches:
                at = 0
                while at < len(slots):
                    size, values = self.batch.run(len(slots) - at, partial(self._score, batch, at))
                    part = slots[at : at + size]
                    at, done = at + size, done + size
                    self.facts["windows_scored"] = done
                    tick()
                    times = np.array([slot.start for slot in part])
                    yield Chunk(times, np.array([slot.stop for slot in part]) - times, values)

    def _batches(self, waiting: Sequence[Slot], check: Check) -> Iterator[tuple[Sequence[Slot], Staged]]:
        """Batches of slots and their windows, as large as they should be at that moment."""
        reader = WindowReader(self.source.plan)
        staging = Staging(self.source.device)
        while waiting:
            size, batch = self.batch.fit(len(waiting), partial(_read, reader, waiting, check))
            yield waiting[:size], staging.stage(batch)
            waiting = waiting[size:]

    @torch.inference_mode()
    def _score(self, batch: Staged, at: int, size: int) -> np.ndarray:
        arguments = self.source.arguments(batch.take(at, at + size))

        def work() -> np.ndarray:
            logits = self.source.model.network.logits(**arguments)
            values: np.ndarray = self.calibration.probability(logits, self.class_index).cpu().numpy()
            return values

        return self.precision.run(work)


def _read(reader: WindowReader, slots: Sequence[Slot], check: Check, size: int) -> torch.Tensor:
    windows = []
    for slot in slots[:size]:
        check()
        windows.append(reader.read(slot.span, slot.onset))
    return torch.from_numpy(np.stack(windows))
