"""Reports of a recording: facts, events with their review, a page for each that matters. Knows no Qt."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.errors import AnalysisError
from analysis.progress import Progress
from app.figure_runs import RANDOM_WORDS, predict_chosen
from app.headless import Outcome
from app.report_request import ReportRequest, Shown
from models.whole_files import whole_file

if TYPE_CHECKING:
    from analysis.annotation import Annotation
    from analysis.recording import Recording
    from analysis.reports.content import Pairs, Report
    from analysis.reports.gather import Look
    from analysis.results import SeizurePrediction

FORMS = ("pdf", "html")


def make_report(request: ReportRequest, progress: Progress | None = None, shown: Shown | None = None) -> Outcome:
    """Write a report as PDF or as one HTML file, of what a window shows where that is given.

    Else marks are those of `events`, such as the table that the window saves, or the recording's own.
    AnalysisError, RecordingError and CheckpointError say in one sentence what is wrong; OSError that `out` cannot be
    written. Nothing half-written is left.
    """
    from analysis.readers import open_recording
    from analysis.reports.html import write_html
    from analysis.reports.sheets import write_pdf
    from analysis.survey import leave_out

    progress = progress or Progress()
    out = Path(request.out)
    form = out.suffix.lower().lstrip(".")
    if form not in FORMS:
        raise AnalysisError(f"reports are written as {' or '.join(FORMS)} ({out}): choose a name that ends so")
    with open_recording(request.recording) as recording:
        leave_out(recording, request.bad_channels)
        warnings: tuple[str, ...] = ()
        if shown is None:
            shown, warnings = _shown(request, recording, progress)
        report, left = _gather(request, recording, shown, progress)
        content = write_pdf(report, progress) if form == "pdf" else write_html(report, progress).encode()
    with whole_file(out) as file:
        file.write(content)
    said = [*recording.warnings, *warnings]
    if left:
        said.append(f"{left} further events have no page of their own: raise --pages for them")
    facts = {"out": str(out), "events": len(report.events), "pages": len(report.pages)}
    pages = f"{len(report.pages)} page{'' if len(report.pages) == 1 else 's'} of events"
    return Outcome(facts, f"written: {out} ({len(report.events)} events, {pages})", tuple(said))


def _shown(request: ReportRequest, recording: Recording, progress: Progress) -> tuple[Shown, tuple[str, ...]]:
    """What the request asks for, and what had to be put right."""
    from analysis.filtering import DisplayFilter
    from analysis.montage import build_montage, default_montage
    from analysis.reports.gather import Look

    montage = build_montage(request.montage or default_montage(recording), recording, request.bad_channels)
    filters = DisplayFilter(request.highpass or None, request.lowpass or None, request.notch or None)
    look = Look(montage, filters, request.uv_per_mm, request.bad_channels)
    marks, warnings = _marks(request, recording)
    chosen = request.checkpoint
    prediction = (
        predict_chosen(chosen, request.recording, request.device, request.bad_channels, progress) if chosen else None
    )
    live = tuple(prediction.events) if prediction is not None else ()
    return Shown(marks, live, prediction, look), warnings


def _marks(request: ReportRequest, recording: Recording) -> tuple[tuple[Annotation, ...], tuple[str, ...]]:
    """The marks to report, what was rejected among them, and what had to be put right."""
    from analysis.event_tables import read_marks

    if request.events is None:
        return tuple(recording.annotations), ()
    table = read_marks(request.events, recording.duration, [recording.path.name])
    return table.events, table.warnings


def _gather(request: ReportRequest, recording: Recording, shown: Shown, progress: Progress) -> tuple[Report, int]:
    """The report, and how many events have no page."""
    from analysis.figures.page import probability_lane
    from analysis.reports.content import Report
    from analysis.reports.gather import Pages, event_rows, events_with_pages

    prediction, look = shown.prediction, shown.look
    events = tuple(sorted([*shown.marks, *shown.live], key=lambda event: (event.onset, event.stop)))
    wanted = events_with_pages(events)
    chosen = wanted[: request.pages]
    lane = probability_lane(prediction) if prediction is not None else None
    pages = Pages(recording, look, events, lane, _foot(prediction))
    made = []
    for number, event in enumerate(chosen):
        progress.report(number, len(chosen), "reading events")
        made.append(pages.make(event, progress))
    report = Report(
        f"{recording.path.name}",
        _recording_facts(recording),
        _notes(prediction, len(wanted) - len(chosen)),
        event_rows(events, recording),
        tuple(made),
        _agreement(shown.marks, prediction, recording),
        _settings(request.events or request.marks_from, look, prediction),
        _versions(),
    )
    return report, len(wanted) - len(chosen)


def _foot(prediction: SeizurePrediction | None) -> list[str]:
    """Whose the lane and the violet spans of the pages are."""
    if prediction is None:
        return []
    lines = [f"Lane and violet spans: {prediction.model_title}, threshold {prediction.threshold:g}"]
    return [*lines, RANDOM_WORDS] if prediction.random_weights else lines


def _recording_facts(recording: Recording) -> Pairs:
    """What is told of the recording; who was recorded is not."""
    from analysis.time_words import duration_words

    kinds: dict[str, int] = {}
    for channel in recording.channels:
        kinds[channel.type] = kinds.get(channel.type, 0) + 1
    gaps = sum(1 for start, stop in recording.gaps if stop > start)
    start = recording.start_datetime
    pairs = [
        ("format", recording.format),
        ("length", duration_words(recording.duration, exact=True)),
        ("start", start.isoformat(" ", "seconds") if start else "unknown"),
        ("channels", ", ".join(f"{count} {kind}" for kind, count in kinds.items())),
        ("sampling rate", f"{recording.sfreq:g} Hz"),
        ("gaps", f"{gaps}" if gaps else "none"),
        ("fingerprint", recording.id),
    ]
    return (*pairs, *(("warning", warning) for warning in recording.warnings))


def _notes(prediction: SeizurePrediction | None, left: int) -> tuple[str, ...]:
    from analysis.provenance import RESEARCH_ONLY

    notes = [RESEARCH_ONLY]
    if prediction is not None:
        notes.append(f"{prediction.model_title}: {prediction.caveat}")
        if prediction.random_weights:
            notes.append(RANDOM_WORDS)
    if left:
        notes.append(f"{left} further events stand in the table and have no page of their own.")
    return tuple(notes)


def _agreement(
    marks: Sequence[Annotation], prediction: SeizurePrediction | None, recording: Recording
) -> tuple[str, ...]:
    """The model against the marked seizures; empty where either is missing."""
    from analysis.scoring import compare_events
    from analysis.seizure_marks import find_seizures
    from app.report_text import score_text

    truth = find_seizures([mark for mark in marks if not mark.is_model and mark.state != "rejected"])
    if prediction is None or not truth.spans:
        return ()
    result = compare_events(truth.spans, [(e.onset, e.stop) for e in prediction.events], recording.duration)
    paths = (Path("marked by people"), Path(prediction.model_title))
    return tuple(score_text(result, paths, "the recording's").splitlines())


def _settings(marks_from: str, look: Look, prediction: SeizurePrediction | None) -> Pairs:
    pairs = [
        ("montage", look.montage.name),
        ("sensitivity", f"{look.uv_per_mm:g} µV/mm of the paper, negative up"),
        ("filters", look.filters.describe()),
        ("bad channels", ", ".join(look.left_out) or "none"),
        ("marks from", marks_from),
    ]
    if prediction is not None:
        facts = prediction.provenance
        pairs += [
            ("model", prediction.model_title),
            ("threshold", f"p ≥ {prediction.threshold:g}"),
            ("rule", str(facts["rule"]["name"])),
            ("scored channels", ", ".join(facts["scored_channels"])),
        ]
    return tuple(pairs)


def _versions() -> Pairs:
    from analysis.provenance import library_versions, now, software_version

    names = ("numpy", "scipy", "matplotlib", "torch")
    return (("Cerebroscope", software_version()), *library_versions(names).items(), ("made", now()))
