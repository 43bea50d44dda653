"""MVPFormer as a seizure detector: windows slide over a recording by one segment and share their embeddings."""

from __future__ import annotations

from collections.abc import Callable, Container, Generator, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch

from analysis.engine.ahead import Foreseen
from analysis.engine.calibration import Calibration
from analysis.engine.detector import Chunk, Detector, DetectorRun, seizure_class
from analysis.engine.serving import CHECKED, USUAL, Precision, Serving, Staged, Staging
from analysis.engine.session import BatchSize, ModelSession, describe_device
from analysis.errors import AnalysisError
from analysis.postprocessing import stated_rule
from analysis.preprocessing import FILTER_PAD_SECONDS, Preprocessing, SpanSignal
from analysis.progress import Progress
from analysis.recording import Recording, Window
from analysis.survey import survey_recording
from analysis.windowing import SegmentRun, Stretch, plan_runs, plan_stretches, segments_of, uncovered

STRETCH_SEGMENTS = 120
EMBED_SEGMENTS = 48
MOST_WINDOWS = 64

_TRAINED_ON = "the published weights were trained on intracranial EEG of people with epilepsy; scalp EEG is untested"
_RANDOM = "random weights: the curve shows how the program works and says nothing about the recording"


class MVPFormerDetector(Detector):
    """A loaded MVPFormer with a classification head, looking at `segments` segments at once."""

    family = "mvpformer"
    libraries = ("torch", "numpy", "scipy", "mne", "edfio")

    def __init__(self, model: torch.nn.Module, device: torch.device, segments: int | None = None) -> None:
        facts: Any = model.checkpoint
        source = facts.path
        if not facts.has_classifier:
            raise AnalysisError(
                f"a generative MVPFormer without a classification head gives no seizure probability ({source}): "
                "give the head file trained for it with --head"
            )
        config: Any = model.config
        self.segments = config.n_segments if segments is None else segments
        if not 1 <= self.segments <= config.n_positions:
            raise AnalysisError(
                f"this checkpoint can look at 1 to {config.n_positions} segments at once, not at {self.segments} "
                f"({source}): choose another number of segments"
            )
        self._config = config
        calibration = Calibration.from_card(facts.card)
        self._session = ModelSession(model, device, seizure_class(facts.labels, source), calibration)
        self.default_threshold = float(facts.card.get("threshold", 0.5))
        self.event_rule = stated_rule(facts.card)
        self._settings = Preprocessing.from_checkpoint(facts.preprocessing)
        self.title = "MVPFormer" if facts.size == "other" else f"MVPFormer-{facts.size}"
        self.digests = facts.digests
        self.configuration = {
            "config": asdict(config),
            "labels": list(facts.labels),
            "preprocessing": dict(facts.preprocessing),
        }
        self.random_weights = facts.random_weights
        self.caveat = _RANDOM if facts.random_weights else str(facts.card.get("limits") or _TRAINED_ON)
        self.notes = tuple(facts.notes)
        self.device = describe_device(device)
        self.checkpoint = {
            "path": str(source),
            "sha256": facts.sha256,
            "head_path": str(facts.head_path) if facts.head_path else None,
            "head_sha256": facts.head_sha256,
            "family": self.family,
            "size": facts.size,
            "n_params": facts.n_params,
        }
        seconds = self.segments * config.segment_seconds
        self.input_description = (
            f"{self.segments} segments of {config.segment_seconds:g} s ({seconds:g} s) at {self._settings.sfreq:g} Hz, "
            f"{self._settings.reference} reference"
        )

    def begin(
        self,
        recording: Recording,
        window: Window,
        batch_size: int | None = None,
        progress: Progress | None = None,
        serving: Serving = USUAL,
    ) -> DetectorRun:
        """Choose channels and lay segments of the checkpoint's length over the window."""
        serving = serving.chosen(batch_size)
        precision = serving.number_format(self._session.device)
        length = self._config.segment_seconds
        history = self.segments * length + FILTER_PAD_SECONDS
        region = Window(max(0.0, window.start - history), min(recording.duration, window.stop + FILTER_PAD_SECONDS))
        survey = survey_recording(recording, region, self._config.n_channels, progress)
        runs = plan_runs(survey.spans, window, length)
        if not runs:
            raise AnalysisError(
                f"no whole segment of {length:g} s can be scored between {window.start:g} and {window.stop:g} s "
                f"({recording.path}): choose a longer span without gaps"
            )
        rest = [
            (w.start, w.stop, f"less than a segment of {length:g} s") for w in uncovered(runs, survey.spans, window)
        ]
        signals = {run: SpanSignal(recording, run.span, survey.picks, self._settings) for run in runs}
        return _Run(
            left_out=survey.left_out,
            not_scored=sorted([*survey.not_scored, *rest]),
            scored=tuple(recording.channels[pick].name for pick in survey.picks),
            preprocessing=self._settings.describe(recording.sfreq),
            options={
                "segments": self.segments,
                "segment_seconds": length,
                "stride_seconds": length,
                **precision.options,
            },
            caveat=self.caveat,
            facts={
                "segments_scored": 0,
                "segments_with_short_context": sum(run.n_short(self.segments) for run in runs),
            },
            session=self._session,
            signals=signals,
            staging=Staging(self._session.device),
            context=self.segments,
            samples=self._config.size_input,
            windows=self._batch(serving, len(survey.picks)),
            # Short windows are quicker: the probe of the others must not learn from them that one at a time is best.
            short=BatchSize(1, 1, "one short window", self.device, fixed=True),
            embedded=BatchSize(EMBED_SEGMENTS, EMBED_SEGMENTS, "the wavelets of one segment", self.device, fixed=True),
            precision=precision,
            overlap=serving.reads_ahead(self._session.device),
        )

    def _batch(self, serving: Serving, n_channels: int) -> BatchSize:
        what = f"one window of {self.segments} segments and {n_channels} channels"
        return serving.batch(self._session.device, self.device, what, MOST_WINDOWS)


_Group = tuple[SegmentRun, int, int]  # a run, the first of some of its segments, and how many
_Kept = dict[tuple[SegmentRun, int], torch.Tensor]


@dataclass
class _Run(DetectorRun):
    """Works through stretches of segments; each segment is embedded once, and only what windows still need is kept."""

    session: ModelSession = field(kw_only=True)
    signals: Mapping[SegmentRun, SpanSignal] = field(kw_only=True)
    staging: Staging = field(kw_only=True)
    context: int = field(kw_only=True)
    samples: int = field(kw_only=True)
    windows: BatchSize = field(kw_only=True)
    short: BatchSize = field(kw_only=True)
    embedded: BatchSize = field(kw_only=True)
    precision: Precision = field(kw_only=True)
    overlap: bool = field(kw_only=True)

    def keep(self, part: Window) -> None:
        kept = {run.within(part): signal for run, signal in self.signals.items()}
        self.signals = {run: signal for run, signal in kept.items() if run.n_wanted}
        self.facts["segments_with_short_context"] = sum(run.n_short(self.context) for run in self.signals)

    def served(self) -> dict[str, Any]:
        return {"batch_size": self.windows.size, **self.precision.facts}

    def chunks(self, progress: Progress, first_time: float | None) -> Generator[Chunk, None, None]:
        stretches = plan_stretches(list(self.signals), STRETCH_SEGMENTS, first_time)
        total = sum(run.n_wanted for run in self.signals)
        waiting = dict.fromkeys(stretches)
        kept: _Kept = {}

        def tick() -> None:
            progress.report(self.facts["segments_scored"], total, "scoring segments")

        def score(stretch: Stretch, at: int, kept: _Kept) -> np.ndarray:
            return self._score(stretch, at, kept, signals, next(iter(waiting), None))

        tick()
        with self.session.ticking(tick), Foreseen(self._read, tick, self.overlap) as signals:
            if not self.precision.settled and stretches:
                self.precision.settle(partial(self._first_windows, stretches[0], score))
            for stretch in stretches:
                del waiting[stretch]
                at = stretch.start
                while at < stretch.stop:
                    values = self.precision.lowered(partial(score, stretch, at, kept))
                    self.facts["segments_scored"] += len(values)
                    tick()
                    times = stretch.run.onsets(at, at + len(values))
                    yield Chunk(times, np.full(len(times), stretch.run.length), values)
                    at += len(values)
                    self._forget(kept, stretch, at, waiting)

    def _first_windows(self, stretch: Stretch, score: Callable[[Stretch, int, _Kept], np.ndarray]) -> np.ndarray:
        """Probabilities of the first windows of a stretch, as many as a number format is judged by."""
        kept: _Kept = {}
        values = np.empty(0, np.float32)
        stop = min(stretch.stop, stretch.start + CHECKED)
        while stretch.start + len(values) < stop:
            values = np.concatenate([values, score(stretch, stretch.start + len(values), kept)])
        return values[:CHECKED]

    def _read(self, group: _Group) -> Staged:
        """The signals (segments, channels, samples) of a group of segments, on their way to the device."""
        run, first, count = group
        signal = self.signals[run].read(first * self.samples, (first + count) * self.samples)
        return self.staging.stage(torch.from_numpy(np.ascontiguousarray(segments_of(signal, self.samples))))

    def _score(
        self, stretch: Stretch, at: int, kept: _Kept, signals: Foreseen[_Group, Staged], then: Stretch | None
    ) -> np.ndarray:
        """Probabilities of one batch of windows, the first of which ends with segment `at`.

        Windows that begin before the span are as long as its history allows; their position rows are those of a whole
        window whose first segments are missing ([our definition]; the published code never scores them). `then` is the
        stretch that comes next.
        """
        run = stretch.run
        history = min(run.history(at), self.context - 1)
        n = 1 if history < self.context - 1 else min(self.windows.size, stretch.stop - at)
        while (group := _missing(run, at - history, at + n, stretch.stop, kept)) is not None:
            self._embed(group, signals.get(group, self._expected(group, stretch, then, kept)), kept)
        embeddings = torch.stack([kept[run, k] for k in range(at - history, at + n)])
        views = embeddings.unfold(0, history + 1, 1).permute(0, 3, 1, 2)  # (windows, segments, channels, width)

        def work(size: int) -> np.ndarray:
            return self.session.probability(views[:size].contiguous(), self.context)

        return (self.windows if history == self.context - 1 else self.short).run(n, work)[1]

    def _expected(self, group: _Group, stretch: Stretch, then: Stretch | None, kept: _Kept) -> _Group | None:
        """What will be read after a group: the rest of its stretch, or the first that the next one lacks."""
        run, first, count = group
        there = {*kept, *((run, k) for k in range(first, first + count))}
        rest = _missing(run, first + count, stretch.stop, stretch.stop, there)
        if rest is not None or then is None:
            return rest
        begin = then.start - min(then.run.history(then.start), self.context - 1)
        return _missing(then.run, begin, then.stop, then.stop, there)

    def _embed(self, group: _Group, segments: Staged, kept: _Kept) -> None:
        run, first, count = group
        done = 0

        def work(size: int) -> torch.Tensor:
            return self.session.embed(segments.take(done, done + size))

        while done < count:
            size, made = self.embedded.run(count - done, work)
            kept.update({(run, first + done + i): made[i] for i in range(size)})
            done += size

    def _forget(self, kept: _Kept, stretch: Stretch, at: int, waiting: Mapping[Stretch, None]) -> None:
        """Drop what neither the next windows nor a stretch still to come needs: two histories per span remain."""
        run, history = stretch.run, self.context - 1
        ends_here = any(other.run == run and other.stop == stretch.start for other in waiting)
        goes_on = at < stretch.stop or any(other.run == run and other.start == at for other in waiting)
        for key in list(kept):
            of_run, k = key
            next_windows = goes_on and k >= at - history
            earlier_stretch = ends_here and stretch.start - history <= k < stretch.start
            if of_run == run and stretch.start - history <= k < stretch.stop and not (next_windows or earlier_stretch):
                del kept[key]


def _missing(
    run: SegmentRun, first: int, stop: int, last: int, kept: Container[tuple[SegmentRun, int]]
) -> _Group | None:
    """The first segments of [first, stop) that are not kept, with those up to `last` that go with them; None if all."""
    for k in range(first, stop):
        if (run, k) not in kept:
            n = 1
            while n < EMBED_SEGMENTS and k + n < last and (run, k + n) not in kept:
                n += 1
            return run, k, n
    return None
