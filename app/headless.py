"""Predicting and scoring without a window: plain functions that give back what there is to print. Knows no Qt."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.errors import AnalysisError, RecordingError
from analysis.event_tables import EventTable, cut_events, find_seizures, format_events, read_events
from analysis.plain_numbers import number
from analysis.progress import Progress
from analysis.provenance import RESEARCH_ONLY
from analysis.saved_predictions import EVENTS, PROBABILITIES, RUN
from analysis.seizure_marks import SeizureMarks
from analysis.service import MEMORY_SHARE
from app.output_folder import check_folder, write_folder
from app.report_text import prediction_text, prediction_warnings, score_text

if TYPE_CHECKING:
    from analysis.results import SeizurePrediction


@dataclass(frozen=True)
class Outcome:
    """What a command gives: facts for JSON, text for a person, and warnings as sentences."""

    facts: Any
    text: str
    warnings: tuple[str, ...] = ()


def predict(
    recording: str | Path,
    checkpoint: str | Path,
    out: str | Path,
    head: str | Path | None = None,
    config: str | Path | None = None,
    start: float | None = None,
    stop: float | None = None,
    device: str = "auto",
    batch_size: int | None = None,
    segments: int | None = None,
    rule: str = "auto",
    threshold: float | None = None,
    bad_channels: Sequence[str] = (),
    memory_share: float = MEMORY_SHARE,
    precision: str = "auto",
    progress: Progress | None = None,
) -> Outcome:
    """Run a checkpoint over a recording and write events.tsv, probabilities.tsv and run.json into the folder `out`.

    The folder is made where it is missing. Whatever goes wrong, nothing half-written is left: AnalysisError,
    RecordingError and CheckpointError say what it was, OSError that `out` cannot be written.
    """
    if not str(out):
        raise AnalysisError("no folder is named for the results: give one with --out")
    out = Path(out)
    check_folder(out)
    from analysis.engine.predict import predict_seizures

    result = predict_seizures(
        recording,
        checkpoint,
        head,
        config,
        start,
        stop,
        device=device,
        batch_size=batch_size,
        segments=segments,
        rule=rule,
        threshold=threshold,
        bad_channels=bad_channels,
        memory_share=memory_share,
        precision=precision,
        progress=progress,
    )
    files = write_prediction(result, out)
    return Outcome(dict(result.provenance), prediction_text(result, files), prediction_warnings(result))


def write_prediction(result: SeizurePrediction, out: Path, more: Mapping[str, Any] | None = None) -> tuple[Path, ...]:
    """Write the three files of a prediction into a folder, all or none, with more facts where wanted.

    OSError names the folder.
    """
    facts = result.provenance["recording"]
    begun = datetime.fromisoformat(facts["start"]) if facts["start"] else None
    run = {**_describe_run(result), **(more or {})}
    texts = {
        EVENTS: format_events(result.events, begun, facts["duration"]),
        PROBABILITIES: _format_probabilities(result),
        RUN: json.dumps(run, ensure_ascii=False, allow_nan=False, indent=1) + "\n",
    }
    write_folder(out, texts)
    return tuple(out / name for name in texts)


def _format_probabilities(result: SeizurePrediction) -> str:
    lines = ["onset\tduration\tprobability"]
    for onset, duration, p in zip(
        result.times.tolist(), result.durations.tolist(), result.probability.tolist(), strict=True
    ):
        lines.append(f"{number(onset)}\t{number(duration)}\t{number(p)}")
    return "\n".join(lines) + "\n"


def _describe_run(result: SeizurePrediction) -> dict[str, Any]:
    return {
        "intended_use": RESEARCH_ONLY,
        **result.provenance,
        "request": json.loads(json.dumps(asdict(result.request), default=str)),
        "key": result.request.key(),
        "created": result.created,
        "n_events": len(result.events),
        "files": {
            EVENTS: "events in seconds, SzCORE columns; the confidence is the mean p of the positive responses",
            PROBABILITIES: "onset and duration in seconds and probability of seizure, for each scored segment",
        },
    }


def score(
    reference: str | Path,
    hypothesis: str | Path,
    duration: float | None = None,
    recording: str | None = None,
    seed: int = 0,
) -> Outcome:
    """Compare the seizures of two event files, or of a recording's own annotations and a folder of `predict`.

    `duration` in seconds is taken from the files where it is not given; `recording` chooses from a list that tells of
    several. RecordingError and AnalysisError say what cannot be read or scored.
    """
    from analysis.scoring import compare_events
    from app.unit_report import report_units, units_text

    paths = [_events_file(Path(path)) for path in (reference, hypothesis)]
    names = [_recording_names(path) for path in paths]
    tables = [read_events(path, recording, duration, hints=names[1 - i]) for i, path in enumerate(paths)]
    length, source, doubts = _length(duration, paths, tables)
    tables = [cut_events(table, length, path.name) for table, path in zip(tables, paths, strict=True)]
    truth = find_seizures(tables[0].events)
    said, more = _predicted(paths[1], tables[1])
    warnings = [*tables[0].warnings, *tables[1].warnings, *doubts, *more]
    for path, marks in zip(paths, (truth, said), strict=True):
        warnings += [
            f"{path.name}: the seizure that begins at {at:g} s has no end and is not scored" for at in marks.unended
        ]
    result = compare_events(truth.spans, said.spans, length, seed)
    text, facts = score_text(result, paths, source), result.to_dict()
    if units := report_units(paths[1], truth.spans):
        text, facts = f"{text}\n{units_text(units)}", {**facts, "units": units}
    return Outcome(facts, text, tuple(dict.fromkeys(warnings)))


def score_batch(list_file: str | Path, seed: int = 0) -> Outcome:
    """Score each pair of a table with the columns reference, hypothesis and, where wanted, duration and recording.

    Paths that are not absolute are looked for beside the table, then in the working folder.
    """
    path = Path(list_file)
    rows = _read_batch(path)
    outcomes: list[tuple[dict[str, str], Outcome]] = []
    for line, row in rows:
        try:
            duration = _batch_duration(row.get("duration", ""))
            pair = [_beside(path, row[name]) for name in ("reference", "hypothesis")]
            outcomes.append((row, score(pair[0], pair[1], duration, row.get("recording") or None, seed)))
        except (RecordingError, AnalysisError) as error:
            raise RecordingError(f"line {line} of the list cannot be scored ({path}): {error}") from error
    facts = [{"reference": row["reference"], "hypothesis": row["hypothesis"], **o.facts} for row, o in outcomes]
    text = "\n\n".join(f"{row['reference']} and {row['hypothesis']}\n{o.text}" for row, o in outcomes)
    return Outcome(facts, text, tuple(dict.fromkeys(w for _, o in outcomes for w in o.warnings)))


def _batch_duration(text: str) -> float | None:
    """The length in seconds that a row gives, None where it gives none; AnalysisError when it is no length."""
    if text in {"", "n/a"}:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise AnalysisError(f"its duration {text!r} is not a length: give seconds above 0, or n/a")
    return value


def _read_batch(path: Path) -> list[tuple[int, dict[str, str]]]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RecordingError(f"the list cannot be read ({path}): check the path and that it is a table") from error
    header = [name.strip() for name in lines[0].split("\t")] if lines else []
    if not {"reference", "hypothesis"} <= set(header):
        raise RecordingError(
            f"not a list of pairs ({path}): its first line must name the columns reference and hypothesis, "
            "separated by tabs"
        )
    rows = []
    for i, line in enumerate(lines[1:], 2):
        if line.strip():
            cells = [cell.strip() for cell in line.split("\t")]
            rows.append((i, dict(zip(header, [*cells, *[""] * len(header)], strict=False))))
    if not rows:
        raise RecordingError(f"the list has no pairs ({path}): add one to each line")
    return rows


def _beside(list_file: Path, name: str) -> Path:
    near = list_file.parent / name
    return near if near.exists() else Path(name)


def _events_file(path: Path) -> Path:
    """The file with the events: that of a folder which `predict` wrote."""
    return path / EVENTS if (path / EVENTS).is_file() else path


def _recording_names(path: Path) -> list[str]:
    """Names by which a seizure list may know the recording that an event file speaks of."""
    names = [path.name, path.stem]
    names += [path.stem.removesuffix(ending) for ending in ("_events", "-events", ".edf")]
    run = path.with_name(RUN)
    if path.name == EVENTS and run.is_file():
        try:
            names.append(Path(json.loads(run.read_text(encoding="utf-8"))["recording"]["path"]).name)
        except (ValueError, KeyError, TypeError, OSError):
            return names  # someone else's run.json
    return names


def _length(given: float | None, paths: Sequence[Path], tables: Sequence[EventTable]) -> tuple[float, str, list[str]]:
    """The length to score over in seconds, where it comes from, and what is doubtful about it."""
    if given is not None:
        return given, "as given", []
    known = [(table.duration, path) for table, path in zip(tables, paths, strict=True) if table.duration]
    if known:
        length, path = known[0]
        doubts = [
            f"{paths[0].name} and {paths[1].name} speak of {known[0][0]:g} s and {known[1][0]:g} s; "
            f"{length:g} s are scored"
            for _ in known[1:]
            if abs((known[1][0] or 0) - length) > 1
        ]
        return length, f"from {path.name}", doubts
    last = max((event.stop for table in tables for event in table.events), default=0.0)
    if last <= 0:
        raise AnalysisError(
            f"the length of the recording is not known ({paths[0]}): give it in seconds with --duration"
        )
    doubt = "neither file tells the length of the recording, so it ends with the last event: give it with --duration"
    return last, "to the last event", [doubt]


def _predicted(path: Path, table: EventTable) -> tuple[SeizureMarks, list[str]]:
    """Predicted seizures; the marks of another detector count when there is nothing else."""
    marks = find_seizures(table.events)
    if marks.spans or marks.unended:
        return marks, []
    detected = find_seizures(table.events, detections=True)
    if not detected.spans:
        return marks, []
    return detected, [f"{path.name}: the detections of another program are scored as its predictions"]
