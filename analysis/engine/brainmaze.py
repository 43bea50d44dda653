"""The packaged detector brainmaze-eeg-models: a trained network for single channels, here averaged over channels."""

from __future__ import annotations

import math
import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib import metadata
from typing import Any

import numpy as np
import torch

from analysis.engine.ahead import Check, made_ahead
from analysis.engine.detector import Chunk, Detector, DetectorRun
from analysis.engine.serving import USUAL, Serving
from analysis.engine.session import BatchSize
from analysis.errors import AnalysisError
from analysis.preprocessing import Preprocessing, SpanSignal
from analysis.progress import Progress
from analysis.recording import Recording, Window
from analysis.survey import ScorableSpan, survey_recording

STEP = 0.5  # seconds between two outputs, each of which speaks of the second around it
SEIZURE_CLASS = 3
MIN_SPAN = 10.0
MAX_THREADS = 4
CHANNELS_AT_ONCE = 4
_LOW_RATE, _USUAL_RATE, _HIGH_RATE = 200.0, 256.0, 1024.0

CAVEAT = (
    "trained by others on intracranial EEG, one channel at a time; looks at 300 s at once, so it smears a seizure by "
    "up to a minute; fires on muscle artefact"
)


@dataclass(frozen=True)
class BrainmazeWindows:
    """How windows slide, in seconds; the defaults are the published method's.

    Windows of `length` begin every `step`; `edge` at either end is dropped where another window covers it, and where
    several cover a moment the largest probability counts.
    """

    length: float = 300.0
    step: float = 20.0
    edge: float = 10.0


class BrainmazeDetector(Detector):
    """One of the two packaged networks ("modelA" as published, "modelB" trained on more)."""

    family = "brainmaze"
    caveat = CAVEAT
    libraries = ("brainmaze-eeg-models", "onnxruntime", "numpy", "scipy", "mne", "edfio")
    input_description = "300 s of each channel, spectrogram of 0-99 Hz; mean over channels"

    def __init__(self, name: str, device: str = "auto", windows: BrainmazeWindows | None = None) -> None:
        self._windows = windows or BrainmazeWindows()
        self._model, sha256 = _load(name, device)
        self.title = f"brainmaze {name.removeprefix('model')}"
        self.digests = (sha256,)
        version = metadata.version("brainmaze-eeg-models")  # the package also makes the input and names the outputs
        self.configuration = {"package": version, "network": name}
        self.device = self._model.device
        self.checkpoint = {
            "path": f"brainmaze-eeg-models {version}, {name}",
            "sha256": sha256,
            "family": self.family,
        }

    def begin(
        self,
        recording: Recording,
        window: Window,
        batch_size: int | None = None,
        progress: Progress | None = None,
        serving: Serving = USUAL,
    ) -> DetectorRun:
        """Choose channels and lay windows over every span without gaps that has a part in `window`."""
        serving = serving.chosen(batch_size)
        survey = survey_recording(recording, Window(0.0, recording.duration), None, progress)
        settings = Preprocessing(_rate_for(recording.sfreq), None, None, reference="none")
        plans, not_scored = [], list(survey.not_scored)
        for span in survey.spans:
            plan = plan_span(span, window, self._windows)
            if plan is None:
                not_scored.append((span.start, span.stop, f"shorter than {MIN_SPAN:g} s"))
                continue
            not_scored += _edges(plan, span, window)
            if plan.n_wanted:
                plans.append((plan, SpanSignal(recording, span, survey.picks, settings)))
        if not plans:
            raise AnalysisError(
                f"nothing can be scored between {window.start:g} and {window.stop:g} s ({recording.path}): this "
                f"detector needs at least {MIN_SPAN:g} s without a gap"
            )
        return _Run(
            left_out=survey.left_out,
            not_scored=sorted(not_scored),
            scored=tuple(recording.channels[pick].name for pick in survey.picks),
            preprocessing={
                "sfreq": settings.sfreq,
                "recorded_at": recording.sfreq,
                "resampling": settings.resampling if settings.sfreq != recording.sfreq else "none",
                "normalisation": "each channel and frequency over the window",
            },
            options={**asdict(self._windows), "aggregation": "mean over channels"},
            caveat=_caveat([plan for plan, _ in plans], self._windows),
            facts={"segments_scored": 0, "windows": sum(len(plan.windows) for plan, _ in plans)},
            model=self._model,
            plans=plans,
            rate=int(settings.sfreq),
            batch=_batch(serving, self.device),
            overlap=serving.reads_ahead(_device(self.device), _threads()),
        )


_Laid = tuple[int, int, int]  # first step, first output that is kept, and the one after the last


@dataclass(frozen=True)
class SpanPlan:
    """Windows over one span, in steps of half a second from `start` (seconds, on the grid of the span's origin).

    A window (first, kept_from, kept_to) begins at step `first` and gives outputs [kept_from, kept_to); output k speaks
    of the second around `start + k * STEP`. Outputs [wanted_from, wanted_to) are asked for.
    """

    start: float
    origin_steps: int
    size: int
    windows: tuple[_Laid, ...]
    wanted_from: int
    wanted_to: int

    @property
    def n_wanted(self) -> int:
        """How many outputs are asked for."""
        return max(0, self.wanted_to - self.wanted_from)

    def within(self, part: Window) -> SpanPlan:
        """The same plan for those of the wanted outputs whose second begins within a part of the recording."""
        low, high = (math.ceil((time - self.start) / STEP + 0.5 - 1e-6) for time in (part.start, part.stop))
        low = min(max(low, self.wanted_from), self.wanted_to)
        high = min(max(high, low), self.wanted_to)
        return replace(self, windows=_needed(self.windows, low, high), wanted_from=low, wanted_to=high)


def plan_span(span: ScorableSpan, wanted: Window, windows: BrainmazeWindows) -> SpanPlan | None:
    """Lay windows over a span as the package does: every `step`, one more at the end, all edges of the span kept.

    None when the span is too short. A span shorter than a window is one window.
    """
    origin_steps = math.ceil((span.start - span.origin) / STEP - 1e-6)
    start = span.origin + origin_steps * STEP
    n = math.floor((span.stop - start) / STEP + 1e-6)
    if n * STEP < MIN_SPAN:
        return None
    size, step, edge = (round(value / STEP) for value in (windows.length, windows.step, windows.edge))
    size = min(size, n)
    last = n - size
    firsts = list(range(0, last + 1, step))
    laid = []
    for first in firsts:
        kept_from = first + 1 + (0 if first == 0 else edge)
        kept_to = first + size - (0 if first == last else edge)
        laid.append((first, kept_from, kept_to))
    if firsts[-1] != last:  # the tail is filled by a window that ends with the span, and only where no other reaches
        laid.append((last, laid[-1][2], last + size))
    low = max(1, math.ceil((wanted.start - start) / STEP + 0.5 - 1e-6))
    high = min(n, math.floor((wanted.stop - start) / STEP - 0.5 + 1e-6) + 1)
    return SpanPlan(start, origin_steps, size, _needed(laid, low, high), low, high)


def _needed(windows: Iterable[_Laid], low: int, high: int) -> tuple[_Laid, ...]:
    """The windows that give any of the outputs [low, high)."""
    return tuple(window for window in windows if window[1] < high and window[2] > low)


def _edges(plan: SpanPlan, span: ScorableSpan, wanted: Window) -> list[tuple[float, float, str]]:
    """What was asked for of a span and lies before its first output or after its last."""
    start, stop = max(span.start, wanted.start), min(span.stop, wanted.stop)
    if not plan.n_wanted:
        rest = [(start, stop)]
    else:
        first, last = (plan.start + (k - 0.5) * STEP for k in (plan.wanted_from, plan.wanted_to))
        rest = [(start, first), (last, stop)]
    return [(a, b, "a value needs a second around it") for a, b in rest if b - a > 1e-6]


def _caveat(plans: Sequence[SpanPlan], windows: BrainmazeWindows) -> str:
    shortest = min(plan.size for plan in plans) * STEP
    if shortest >= windows.length:
        return CAVEAT
    return f"{CAVEAT}; here it saw only {shortest:g} s at once, for which it was not made"


def _rate_for(sfreq: float) -> float:
    """The recording's own rate where the detector can take it: whole, even, at least 200 Hz and not needlessly high."""
    if sfreq > _HIGH_RATE:
        return 2 * _USUAL_RATE
    return sfreq if sfreq >= _LOW_RATE and sfreq % 2 == 0 else _USUAL_RATE


def _load(name: str, device: str) -> tuple[Any, str]:
    import onnxruntime
    from brainmaze_eeg_models.seizure import TRAINED_MODELS, load_trained_model

    onnxruntime.disable_telemetry_events()
    try:
        return load_trained_model(name, device=device, threads=_threads()), TRAINED_MODELS[name][1]
    except (RuntimeError, OSError, ValueError) as error:
        if device == "cuda":
            raise AnalysisError(
                "the packaged detector cannot use a GPU here, which takes the package onnxruntime-gpu: "
                "choose the device cpu or auto"
            ) from error
        raise AnalysisError(
            f"the packaged detector cannot be loaded ({str(error).splitlines()[0]}): install brainmaze-eeg-models again"
        ) from error


def _threads() -> int:
    """How many threads onnxruntime computes with."""
    return max(1, min(MAX_THREADS, os.cpu_count() or 1))


def _device(described: str) -> torch.device:
    """What onnxruntime calls its device, as torch calls it."""
    return torch.device("cuda" if "cuda" in described.lower() else "cpu")


def _batch(serving: Serving, device: str) -> BatchSize:
    what, most = "one window of one channel", 8 * CHANNELS_AT_ONCE
    if _device(device).type == "cuda" and serving.batch_size is None:
        return BatchSize(CHANNELS_AT_ONCE, most, what, device)  # torch does not see the memory of onnxruntime
    return serving.batch(torch.device("cpu"), device, what, most, CHANNELS_AT_ONCE)


@dataclass(frozen=True)
class _Input:
    """A window as the network takes it: `spectra` (channels, frequencies, outputs), `valid` (channels, outputs)."""

    plan: int
    window: _Laid
    spectra: np.ndarray
    valid: np.ndarray


@dataclass
class _Run(DetectorRun):
    """Works outwards from the page; of outputs that are not complete, only those under open windows are held."""

    model: Any = field(kw_only=True)
    plans: Sequence[tuple[SpanPlan, SpanSignal]] = field(kw_only=True)
    rate: int = field(kw_only=True)
    batch: BatchSize = field(kw_only=True)
    overlap: bool = field(kw_only=True)

    def keep(self, part: Window) -> None:
        kept = [(plan.within(part), signal) for plan, signal in self.plans]
        self.plans = [(plan, signal) for plan, signal in kept if plan.n_wanted]
        self.facts["windows"] = sum(len(plan.windows) for plan, _ in self.plans)

    def served(self) -> dict[str, Any]:
        return {"batch_size": self.batch.size, "precision": {"format": "float32"}}

    def chunks(self, progress: Progress, first_time: float | None) -> Generator[Chunk, None, None]:
        jobs = [(i, window) for i, (plan, _) in enumerate(self.plans) for window in plan.windows]
        if first_time is not None:
            jobs.sort(key=lambda job: abs(self._middle(*job) - first_time))
        outputs = [_Outputs(plan) for plan, _ in self.plans]
        done = 0.0

        def tick() -> None:
            progress.report(done, len(jobs), "scoring windows")

        tick()
        with made_ahead(partial(self._inputs, jobs), tick, self.overlap) as inputs:
            for number, given in enumerate(inputs):
                parts = []
                for part in self._infer(given):
                    parts.append(part)
                    done = number + sum(map(len, parts)) / len(given.valid)
                    tick()
                values = self._values(given, np.concatenate(parts))
                yield from self._complete(given.plan, outputs[given.plan].add(given.window, values))
        self.not_scored = _join(self.not_scored)

    def _complete(self, i: int, outputs: Iterator[tuple[int, np.ndarray]]) -> Iterator[Chunk]:
        plan, _ = self.plans[i]
        for first, probability in outputs:
            known = np.isfinite(probability)
            self.not_scored += _unknown(plan, first, known)
            self.facts["segments_scored"] += int(known.sum())
            times = plan.start + (first + np.flatnonzero(known)) * STEP - STEP / 2
            if len(times):
                yield Chunk(times, np.full(len(times), STEP), probability[known])

    def _middle(self, i: int, window: tuple[int, int, int]) -> float:
        return self.plans[i][0].start + (window[0] + self.plans[i][0].size / 2) * STEP

    def _inputs(self, jobs: Sequence[tuple[int, _Laid]], check: Check) -> Iterator[_Input]:
        """What the network is given, window after window."""
        hop = self.rate // 2
        for i, window in jobs:
            check()
            plan, signal = self.plans[i]
            first = (plan.origin_steps + window[0]) * hop
            data = signal.read(first, first + plan.size * hop)
            parts: list[np.ndarray] = []
            at = 0
            while at < len(data):
                check()
                size, spectra = self.batch.fit(len(data) - at, partial(self._spectra, data, at))
                parts.append(spectra)
                at += size
            yield _Input(i, window, np.concatenate(parts), _not_flat(data, hop))

    def _spectra(self, data: np.ndarray, at: int, size: int) -> np.ndarray:
        from brainmaze_eeg_models.seizure import preprocess_input

        spectra: np.ndarray = preprocess_input(data[at : at + size], self.rate).astype(np.float32)
        return spectra

    def _infer(self, given: _Input) -> Iterator[np.ndarray]:
        """Probabilities (some channels, outputs) of one window, until all channels are done."""
        at = 0

        def work(size: int) -> np.ndarray:
            probability: np.ndarray = self.model.run({"x": given.spectra[at : at + size]})["probs"]
            return probability[:, :, SEIZURE_CLASS].T

        while at < len(given.spectra):
            size, probability = self.batch.run(len(given.spectra) - at, work)
            yield probability
            at += size

    def _values(self, given: _Input, probability: np.ndarray) -> np.ndarray:
        """Probabilities (channels, outputs) of the outputs a window is kept for, NaN where a channel is flat."""
        values = np.where(given.valid, probability, np.float32(np.nan)).astype(np.float32, copy=False)
        offset = given.window[0] + 1
        return values[:, given.window[1] - offset : given.window[2] - offset]


class _Outputs:
    """The outputs of one span: the largest value of all windows that cover them, then the mean over channels."""

    _GROUP = 40

    def __init__(self, plan: SpanPlan) -> None:
        self._plan = plan
        self._open = np.zeros(plan.wanted_to - plan.wanted_from, np.int16)  # windows still to come, for each output
        for _, kept_from, kept_to in plan.windows:
            low, high = self._clip(kept_from, kept_to)
            self._open[low:high] += 1
        self._held: dict[int, np.ndarray] = {}

    def add(self, window: tuple[int, int, int], values: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Take a window's values (channels, outputs); yields (first output, probabilities) of what is complete."""
        low, high = self._clip(window[1], window[2])
        self._open[low:high] -= 1
        skipped = self._plan.wanted_from + low - window[1]
        for group in range(low // self._GROUP, (high - 1) // self._GROUP + 1):
            start, stop = group * self._GROUP, min((group + 1) * self._GROUP, len(self._open))
            held = self._held.setdefault(group, np.full((len(values), stop - start), np.nan, np.float32))
            a, b = max(start, low), min(stop, high)
            part = values[:, skipped + a - low : skipped + b - low]
            held[:, a - start : b - start] = np.fmax(held[:, a - start : b - start], part)
            if not self._open[start:stop].any():
                yield self._plan.wanted_from + start, _finite_mean(self._held.pop(group))

    def _clip(self, kept_from: int, kept_to: int) -> tuple[int, int]:
        low = max(kept_from, self._plan.wanted_from) - self._plan.wanted_from
        return low, min(kept_to, self._plan.wanted_to) - self._plan.wanted_from


def _not_flat(data: np.ndarray, hop: int) -> np.ndarray:
    """Whether each second (two steps of `hop` samples) has more than one value, bool (channels, steps - 1)."""
    steps = data.reshape(len(data), -1, hop)
    low, high = steps.min(axis=2), steps.max(axis=2)
    varies: np.ndarray = np.maximum(high[:, :-1], high[:, 1:]) > np.minimum(low[:, :-1], low[:, 1:])
    return varies


def _finite_mean(values: np.ndarray) -> np.ndarray:
    """Mean over channels of what is known, NaN where no channel is."""
    known = np.isfinite(values)
    count = known.sum(axis=0)
    total = np.where(known, values, 0).sum(axis=0, dtype=np.float64)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan).astype(np.float32)


def _unknown(plan: SpanPlan, first: int, known: np.ndarray) -> list[tuple[float, float, str]]:
    return [
        (plan.start + (first + k) * STEP - STEP / 2, plan.start + (first + k) * STEP + STEP / 2, "flat in all channels")
        for k in np.flatnonzero(~known).tolist()
    ]


def _join(spans: Sequence[tuple[float, float, str]]) -> list[tuple[float, float, str]]:
    """Sort spans and join those that touch and have the same reason."""
    joined: list[tuple[float, float, str]] = []
    for start, stop, reason in sorted(spans):
        if joined and joined[-1][2] == reason and start <= joined[-1][1] + 1e-6:
            joined[-1] = (joined[-1][0], max(stop, joined[-1][1]), reason)
        else:
            joined.append((start, stop, reason))
    return joined
