"""Figures of a page without a window: traces and overlays as vectors, beside what rebuilds them. Knows no Qt."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.errors import AnalysisError
from analysis.kinds import KINDS
from analysis.progress import Progress
from app.figure_layers import KINDS_DRAWN, PAGE_OPTIONS, arcs_of, heats_of, lanes_of
from app.figure_request import FORMS, RANDOM_WORDS, FigureRequest, ShownPage, command_of
from app.headless import Outcome
from models.whole_files import whole_file

if TYPE_CHECKING:
    from analysis.analyses import Analysis
    from analysis.recording import Recording, Window
    from analysis.results import SeizurePrediction

__all__ = ["FORMS", "OVERLAYS", "RANDOM_WORDS", "FigureRequest", "make_figure", "predict_chosen"]
OVERLAYS = ("annotations", "seizure", *KINDS_DRAWN)
_FEW_WINDOWS = 60


def make_figure(request: FigureRequest, progress: Progress | None = None, shown: ShownPage | None = None) -> Outcome:
    """Draw a page and write it with its numbers (.npz), its facts (.json) and the command that redoes it.

    `shown` is the page of a window, which needs no model any more. AnalysisError, RecordingError and CheckpointError
    say in one sentence what is wrong; OSError that `out` cannot be written. Nothing half-written is left of any file.
    """
    progress = progress or Progress()
    out = Path(request.out)
    form = out.suffix.lower().lstrip(".")
    if form not in FORMS:
        raise AnalysisError(f"figures are written as {', '.join(FORMS)} ({out}): choose a name that ends so")
    if shown is None and request.like is None:
        _refuse(request)
    return _make(request, out, form, shown, progress)


def _refuse(request: FigureRequest) -> None:
    unknown = [name for name in request.overlays if name not in OVERLAYS]
    if unknown:
        raise AnalysisError(f"no overlay of a figure is called {unknown[0]!r}: choose from {', '.join(OVERLAYS)}")
    unknown = [name for name in request.panels if name not in KINDS]
    if unknown:
        raise AnalysisError(f"no panel is called {unknown[0]!r}: choose from {', '.join(KINDS)}")
    unknown = [name for name in request.parts if name not in request.overlays]
    if unknown:
        raise AnalysisError(f"a part is named of {unknown[0]!r}, which is not drawn: give it with --overlay too")
    if not request.checkpoints and (request.panels or set(request.overlays) - {"annotations"}):
        raise AnalysisError("what a model says needs a checkpoint: give one with --checkpoint")
    if request.duration <= 0:
        raise AnalysisError("a page needs a beginning and a length: give them with --start and --duration")


def _make(request: FigureRequest, out: Path, form: str, shown: ShownPage | None, progress: Progress) -> Outcome:
    from analysis.figures.page import PageFigure, page_scales
    from analysis.figures.row_scales import described
    from analysis.figures.saving import saved
    from analysis.figures.sheet import draw_sheet
    from analysis.readers import open_recording
    from analysis.survey import leave_out
    from app.figure_files import read_page

    is_asked = shown is None and request.like is None
    with open_recording(request.recording) as recording:
        if request.like is not None:
            shown = read_page(Path(request.like))
            _refuse_other(request, recording, shown)
        leave_out(recording, shown.bad_channels if shown is not None else request.bad_channels)
        shown = shown or _answered(request, recording, progress)
        page = PageFigure(
            recording, shown.montage, shown.window, shown.filters, shown.uv_per_mm, request.size_mm, shown.marks, None,
            shown.lanes, shown.foot, shown.heats, shown.arcs, shown.looks, shown.clock,
            _patient(recording) if request.patient else "",
        )  # fmt: skip
        progress.report(0, 1, "drawing")
        content = saved(draw_sheet(page, shown.panels, progress), form, request.dpi)
        progress.report(1, 1, "writing")
        facts_file = out.with_suffix(".json")
        facts = _facts(request, recording, shown, command_of(request, "" if is_asked else str(facts_file)))
        facts["row_scales"] = dict(described(page_scales(page)))
    files = {out: content, **_beside(out, shown, facts)}
    for path, data in files.items():
        with whole_file(path) as file:
            file.write(data)
    written = ", ".join(map(str, files))
    told = {name: value for name, value in facts.items() if name != "page"}
    return Outcome(told, f"written: {written}\nredo: {facts['command']}", tuple(facts["warnings"]))


def _refuse_other(request: FigureRequest, recording: Recording, shown: ShownPage) -> None:
    """A page of another recording would be drawn with its marks and heat behind traces that they are not of."""
    of = shown.facts.get("recording_id", recording.id)
    if of != recording.id:
        raise AnalysisError(f"{request.like} tells of another recording ({request.recording}): name the one it is of")
    missing = {row.anode for row in shown.montage.derivations} - set(recording.ch_names)
    if missing:
        raise AnalysisError(f"there is no channel {min(missing)!r} ({request.recording}): name the figure's recording")


def _patient(recording: Recording) -> str:
    """Who was recorded; AnalysisError where the file does not say."""
    from app.figure_words import patient_words

    words = patient_words(recording)
    if not words:
        raise AnalysisError(f"the file names no patient ({recording.path}): leave --patient out")
    return words


def _beside(out: Path, shown: ShownPage, facts: dict[str, Any]) -> dict[Path, bytes]:
    """The .json and, where there are numbers, the .npz of a figure."""
    from app.figure_files import FORMAT, packed

    page, arrays = packed(shown)
    document = {"format": FORMAT, **facts, "page": page}
    files = {out.with_suffix(".json"): json.dumps(document, indent=1, ensure_ascii=False).encode()}
    if arrays:
        numbers = io.BytesIO()
        np.savez(numbers, allow_pickle=False, **arrays)
        files[out.with_suffix(".npz")] = numbers.getvalue()
    return files


def _answered(request: FigureRequest, recording: Recording, progress: Progress) -> ShownPage:
    """The page that a request asks for, once its models have answered."""
    from analysis.analysis_files import describe_analysis
    from analysis.engine.predict import check_window
    from analysis.figures.layers import probability_lane
    from analysis.filtering import DisplayFilter
    from analysis.montage import build_montage, default_montage

    window = check_window(recording, request.start, request.start + request.duration)
    montage = build_montage(request.montage or default_montage(recording), recording, request.bad_channels)
    drawn = [name for name in request.overlays if name in KINDS_DRAWN]
    spans = {kind: KINDS[kind].widen(window, recording.duration) for kind in dict.fromkeys([*drawn, *request.panels])}
    answers = _analyse(request, spans, progress)
    layers = [(answers[kind], request.parts.get(kind, "")) for kind in drawn]
    heats = [heats_of(*layer) for layer in layers]
    behind = [kind for kind, heat in zip(drawn, heats, strict=True) if heat]
    if len(behind) > 1:
        raise AnalysisError(f"a page shows one analysis of a model behind its traces, not {' and '.join(behind)}")
    prediction = None
    if "seizure" in request.overlays:
        model, bad = request.checkpoints[-1], request.bad_channels
        prediction = predict_chosen(model, request.recording, request.device, bad, progress, request.start)
    return ShownPage(
        window,
        montage,
        DisplayFilter(request.highpass or None, request.lowpass or None, request.notch or None),
        request.uv_per_mm,
        _marks(request, recording, prediction),
        [heat for some in heats for heat in some],
        [
            *([probability_lane(prediction)] if prediction is not None else []),
            *(lane for layer in layers for lane in lanes_of(*layer)),
        ],
        [arcs for layer in layers for arcs in arcs_of(*layer)],
        foot=_foot(request, [answers[kind] for kind in drawn], prediction),
        panels=[answers[kind] for kind in request.panels],
        bad_channels=request.bad_channels,
        facts={
            "recording_id": recording.id,
            "analyses": [describe_analysis(answer) for answer in answers.values()],
            "prediction": dict(prediction.provenance) if prediction is not None else None,
        },
    )


def _analyse(request: FigureRequest, spans: Mapping[str, Window], progress: Progress) -> dict[str, Analysis]:
    """The answers by kind, each over its span; an option goes to every kind that takes it."""
    from analysis.engine.analyze import analyze

    known = {option.name for kind in spans for option in KINDS[kind].options}
    answers = {}
    for kind, span in spans.items():
        names = {option.name for option in KINDS[kind].options}
        options: dict[str, Any] = {"windows": _FEW_WINDOWS} if "windows" in names else {}
        options |= PAGE_OPTIONS.get(kind, {})
        options |= {name: value for name, value in request.options.items() if name in names or name not in known}
        models = list(request.checkpoints[: KINDS[kind].models[1]])
        answers[kind] = analyze(
            kind, request.recording, models, span.start, span.duration, options, request.device, progress,
            request.bad_channels,
        )  # fmt: skip
    return answers


def predict_chosen(
    chosen: Mapping[str, Any],
    recording: str,
    device: str,
    bad_channels: tuple[str, ...],
    progress: Progress,
    first_time: float | None = None,
) -> SeizurePrediction:
    """What a chosen model, a table of its files, says of a recording; what lies near `first_time` (seconds) first."""
    from analysis.engine.predict import predict_seizures

    return predict_seizures(
        recording,
        chosen["checkpoint"],
        chosen.get("head"),
        chosen.get("config"),
        device=device,
        bad_channels=bad_channels,
        first_time=first_time,
        progress=progress,
    )


def _marks(request: FigureRequest, recording: Recording, prediction: SeizurePrediction | None) -> list[Any]:
    """Those that the page shows, so that a file of a page does not tell of the whole night."""
    marks = list(recording.annotations) if "annotations" in request.overlays else []
    every = [*marks, *(prediction.events if prediction is not None else ())]
    stop = request.start + request.duration
    return [replace(mark, extras=()) for mark in every if mark.onset < stop and mark.stop >= request.start]


def _foot(request: FigureRequest, answers: list[Analysis], prediction: SeizurePrediction | None) -> list[str]:
    from app.figure_words import bad_words, layer_words, prediction_words

    stop = request.start + request.duration
    lines = [layer_words(answer, request.parts.get(answer.kind, ""), stop, request.options) for answer in answers]
    if prediction is not None:
        lines.append(prediction_words(prediction))
    if any(a.random_weights for a in answers) or (prediction is not None and prediction.random_weights):
        lines.append(RANDOM_WORDS)
    return [*lines, *bad_words(request.bad_channels)]


def _facts(request: FigureRequest, recording: Recording, shown: ShownPage, command: str) -> dict[str, Any]:
    from analysis.filtering import as_bank
    from analysis.provenance import RESEARCH_ONLY, library_versions, now, software_version

    page = as_bank(shown.filters).page
    analyses = list(shown.facts.get("analyses", ()))
    return {
        "intended_use": RESEARCH_ONLY,
        "command": command,
        "recording": {"path": str(recording.path), "id": recording.id},
        "span": [shown.window.start, shown.window.stop],
        "montage": shown.montage.name,
        "bad_channels": list(shown.bad_channels),
        "uv_per_mm": shown.uv_per_mm,
        "filters": {"highpass": page.highpass or 0.0, "lowpass": page.lowpass or 0.0, "notch": page.notch or 0.0},
        "size_mm": list(request.size_mm),
        "dpi": request.dpi,
        "analysis": analyses[0] if analyses else None,
        "analyses": analyses,
        "prediction": shown.facts.get("prediction"),
        "warnings": list(recording.warnings),
        "software_version": software_version(),
        "versions": library_versions(("numpy", "matplotlib", "torch")),
        "created": now(),
    }
