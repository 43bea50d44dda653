"""Seizure probability of a recording by a model: the one function behind the window's job and the command line."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from analysis.annotation import model_author
from analysis.engine.detector import Chunk, Detector, DetectorRun
from analysis.engine.detectors import load_detector
from analysis.engine.serving import Serving
from analysis.errors import AnalysisError
from analysis.numbers import PREDICTIONS
from analysis.postprocessing import AUTO, Rule, choose_rule, derive_events, describe_rule
from analysis.prediction_parts import PART
from analysis.progress import Progress
from analysis.provenance import library_versions, now, software_version
from analysis.readers import open_recording
from analysis.recording import Recording, Window
from analysis.result_store import ResultStore
from analysis.results import AnalysisRequest, SeizurePrediction
from analysis.service import MEMORY_SHARE, Pace, hours_per_minute
from analysis.survey import bad_brain_channels, leave_out

PARTIAL_SECONDS = 1.0


def predict_seizures(
    path: str | Path,
    checkpoint: str | Path,
    head: str | Path | None = None,
    config: str | Path | None = None,
    start: float | None = None,
    stop: float | None = None,
    device: str = "auto",
    batch_size: int | None = None,
    segments: int | None = None,
    rule: str = AUTO,
    threshold: float | None = None,
    bad_channels: Sequence[str] = (),
    first_time: float | None = None,
    cache: str | Path | None = None,
    part: Window | None = None,
    memory_share: float = MEMORY_SHARE,
    precision: str = "auto",
    overlap: bool | None = None,
    progress: Progress | None = None,
) -> SeizurePrediction:
    """Run a checkpoint over a recording, or over `start` to `stop` seconds of it.

    `checkpoint` is a file or "brainmaze"; `segments` overrides how many segments an MVPFormer looks at; `rule` ("E.1",
    "E.2" or "auto") and `threshold` make the events; `bad_channels` are left out by name. What is nearest to
    `first_time` comes first, and about every second `progress.partial` gets all that is done, with `complete` False. In
    the folder `cache` results are kept, and what was computed before is taken from there. Of the whole, only what
    begins within `part` is computed, for `analysis.prediction_parts.join_parts`. `batch_size`, `memory_share`,
    `precision` and `overlap` are those of `analysis.engine.serving.Serving`. RecordingError, CheckpointError or
    AnalysisError say in one sentence what is wrong; Cancelled comes out of `progress`.
    """
    progress = progress or Progress()
    serving = Serving(batch_size, memory_share, precision, overlap).chosen()
    began = time.monotonic()
    with open_recording(path) as recording:
        leave_out(recording, bad_channels)
        window = check_window(recording, start, stop)
        chosen_rule = choose_rule(rule, recording.duration)
        check_threshold(threshold)
        progress.report(0, 1, "loading the model")
        detector = load_detector(checkpoint, head, config, device, segments)
        if rule == AUTO and detector.event_rule is not None:
            stated = detector.event_rule
            chosen_rule = choose_rule(stated, recording.duration) if isinstance(stated, str) else stated
        run = detector.begin(recording, window, None, progress, serving)
        if part is not None:
            run.keep(part)
        blank = _blank(recording, detector, run, window, chosen_rule, threshold, part)
        store = ResultStore(Path(cache)) if cache is not None else None
        known = store.get(blank.request.key()) if store else None
        if isinstance(known, SeizurePrediction):
            return _renew(known, blank, chosen_rule)
        result = _compute(blank, run, chosen_rule, first_time, progress)
        spent = {"warnings": list(recording.warnings), "wall_time": round(time.monotonic() - began, 3)}
        result = replace(result, created=now(), provenance={**result.provenance, **spent})
        if store:
            store.put(result)
        return result


def _compute(
    blank: SeizurePrediction, run: DetectorRun, rule: Rule, first_time: float | None, progress: Progress
) -> SeizurePrediction:
    """The complete result; what is done by then is told about every `PARTIAL_SECONDS`."""
    parts: list[Chunk] = []
    told = time.monotonic()
    pace = Pace(progress, _asked_seconds(blank))
    with closing(run.chunks(pace, first_time)) as chunks:
        for chunk in chunks:
            parts.append(chunk)
            if time.monotonic() - told >= PARTIAL_SECONDS:
                progress.partial(_fill(blank, parts, rule))
                told = time.monotonic()
    window = blank.request.window
    assert window is not None  # a prediction is always asked for a span
    spent = pace.spent
    whole, not_scored = _fill(blank, parts, rule), tuple(_inside(run.not_scored, window))
    provenance = {
        **blank.provenance,
        "not_scored": [list(span) for span in not_scored],
        **run.facts,
        **run.served(),
        "scoring_time": round(spent, 3),
        "hours_per_minute": hours_per_minute(float(whole.durations.sum()), spent),
    }
    return replace(whole, complete=True, not_scored=not_scored, provenance=provenance)


def _asked_seconds(blank: SeizurePrediction) -> float:
    """How many seconds of the recording are to be scored, gaps included."""
    window, part = blank.request.window, blank.request.options.get(PART)
    start, stop = part if part is not None else (window.start, window.stop) if window is not None else (0.0, 0.0)
    return float(stop - start)


def check_window(recording: Recording, start: float | None, stop: float | None) -> Window:
    """The span that is asked for, to the ends where they are not given; AnalysisError when there is nothing in it."""
    first = 0.0 if start is None else float(start)
    last = recording.duration if stop is None else float(stop)
    if not (np.isfinite(first) and np.isfinite(last)) or first < 0 or last <= first or first >= recording.duration:
        raise AnalysisError(
            f"there is nothing between {first:g} and {last:g} s ({recording.path}): "
            f"choose a start and a stop within 0 to {recording.duration:g} s"
        )
    return Window(first, min(last, recording.duration))


def check_threshold(threshold: float | None) -> None:
    """AnalysisError when a threshold is not a probability."""
    if threshold is not None and not 0.0 <= threshold <= 1.0:
        raise AnalysisError(f"the threshold must be between 0 and 1, not {threshold:g}")


def _blank(
    recording: Recording,
    detector: Detector,
    run: DetectorRun,
    window: Window,
    rule: Rule,
    threshold: float | None,
    part: Window | None,
) -> SeizurePrediction:
    """The result before any segment is scored, with everything about it that is known beforehand."""
    level = detector.default_threshold if threshold is None else threshold
    options = {
        "family": detector.family,
        "model": dict(detector.configuration),
        "device": detector.device,  # a processor of another kind gives slightly other numbers
        **run.options,
        "preprocessing": dict(run.preprocessing),
        "code": [software_version(), PREDICTIONS],
    }
    if bad := bad_brain_channels(recording):
        options["bad_channels"] = bad
    if part is not None:
        options[PART] = [part.start, min(part.stop, window.stop)]
    request = AnalysisRequest("seizure", recording.id, detector.digests, window=window, options=options)
    return SeizurePrediction(
        request=request,
        created=now(),
        software_version=software_version(),
        provenance=_provenance(recording, detector, run, window, rule, level),
        threshold=level,
        not_scored=tuple(_inside(run.not_scored, window)),
        left_out=run.left_out,
        model_title=detector.title,
        caveat=run.caveat,
        random_weights=detector.random_weights,
        complete=False,
    )


def _provenance(
    recording: Recording, detector: Detector, run: DetectorRun, window: Window, rule: Rule, threshold: float
) -> dict[str, Any]:
    """Everything that made a result and is known before the work begins, ready for JSON."""
    return {
        "kind": "seizure",
        "recording": {
            "path": str(recording.path),
            "id": recording.id,
            "duration": recording.duration,
            "start": recording.start_datetime.isoformat() if recording.start_datetime else None,
        },
        "span": [window.start, window.stop],
        "checkpoint": dict(detector.checkpoint),
        "model": detector.title,
        "random_weights": detector.random_weights,
        "caveat": run.caveat,
        "input": detector.input_description,
        "preprocessing": dict(run.preprocessing),
        "options": dict(run.options),
        "rule": dict(describe_rule(rule)),
        "threshold": threshold,
        "seed": None,  # nothing is drawn at random
        "scored_channels": list(run.scored),
        "left_out": [list(pair) for pair in run.left_out],
        "bad_channels": bad_brain_channels(recording),
        "notes": list(detector.notes),
        "software_version": software_version(),
        "versions": library_versions(detector.libraries),
        "device": detector.device,
    }


def _fill(blank: SeizurePrediction, parts: Sequence[Chunk], rule: Rule) -> SeizurePrediction:
    """The result with all segments that are done so far, sorted by time, and their events."""
    if not parts:
        return blank
    times = np.concatenate([part.times for part in parts])
    order = np.argsort(times, kind="stable")
    times = times[order]
    durations = np.concatenate([part.durations for part in parts])[order]
    probability = np.concatenate([part.probability for part in parts]).astype(np.float32, copy=False)[order]
    for array in (times, durations, probability):
        array.setflags(write=False)
    author = model_author(blank.model_title, blank.random_weights)
    events = derive_events(times, durations, probability, blank.threshold, rule, author)
    return replace(blank, times=times, durations=durations, probability=probability, events=events)


def _renew(known: SeizurePrediction, blank: SeizurePrediction, rule: Rule) -> SeizurePrediction:
    """A stored result with the places of files, the rule and the threshold that are asked for now."""
    asked = {key: blank.provenance[key] for key in ("recording", "checkpoint", "notes", "rule", "threshold")}
    arrays = (known.times, known.durations, known.probability)
    return replace(
        known,
        threshold=blank.threshold,
        events=derive_events(*arrays, blank.threshold, rule, model_author(known.model_title, known.random_weights)),
        provenance={**known.provenance, **asked},
    )


def _inside(spans: Sequence[tuple[float, float, str]], window: Window) -> list[tuple[float, float, str]]:
    clipped = ((max(a, window.start), min(b, window.stop), reason) for a, b, reason in spans)
    return [(a, b, reason) for a, b, reason in clipped if b > a]
