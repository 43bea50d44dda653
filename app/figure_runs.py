"""Figures of a page without a window: traces and overlays as vectors, beside what rebuilds them. Knows no Qt."""

from __future__ import annotations

import io
import json
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.errors import AnalysisError
from analysis.kinds import KINDS
from analysis.progress import Progress
from app.figure_layers import KINDS_DRAWN, heat_of, lanes_of
from app.headless import Outcome
from models.whole_files import whole_file

if TYPE_CHECKING:
    from analysis.analyses import Analysis
    from analysis.recording import Recording
    from analysis.results import SeizurePrediction

FORMS = ("svg", "pdf", "png")
RANDOM_WORDS = "Random weights: what the model says means nothing."
OVERLAYS = ("annotations", "seizure", *KINDS_DRAWN)
_FEW_WINDOWS = 60


@dataclass(frozen=True)
class FigureRequest:
    """What a figure shows; times in seconds, sizes in millimetres, frequencies in hertz (0 is off)."""

    recording: str
    out: str
    start: float
    duration: float
    checkpoints: tuple[Mapping[str, Any], ...] = ()
    overlays: tuple[str, ...] = ()
    montage: str | None = None
    uv_per_mm: float = 7.0
    size_mm: tuple[float, float] = (180.0, 120.0)
    dpi: int = 300
    highpass: float = 0.5
    lowpass: float = 70.0
    notch: float = 0.0
    device: str = "auto"
    bad_channels: tuple[str, ...] = ()


def make_figure(request: FigureRequest, progress: Progress | None = None) -> Outcome:
    """Draw a page and write it with its numbers (.npz), its facts (.json) and the command that redoes it.

    AnalysisError, RecordingError and CheckpointError say in one sentence what is wrong; OSError that `out` cannot be
    written. Nothing half-written is left of any file.
    """
    progress = progress or Progress()
    out = Path(request.out)
    form = out.suffix.lower().lstrip(".")
    if form not in FORMS:
        raise AnalysisError(f"figures are written as {', '.join(FORMS)} ({out}): choose a name that ends so")
    unknown = [name for name in request.overlays if name not in OVERLAYS]
    if unknown:
        raise AnalysisError(f"no overlay of a figure is called {unknown[0]!r}: choose from {', '.join(OVERLAYS)}")
    wanted = [name for name in request.overlays if name in KINDS_DRAWN]
    if len(wanted) > 1:
        raise AnalysisError(f"a page shows one analysis of a model, not {' and '.join(wanted)}: choose one")
    if not request.checkpoints and set(request.overlays) - {"annotations"}:
        raise AnalysisError("an overlay of a model needs a checkpoint: give one with --checkpoint")
    return _make(request, out, form, wanted[0] if wanted else None, progress)


def _make(request: FigureRequest, out: Path, form: str, kind: str | None, progress: Progress) -> Outcome:
    from analysis.engine.predict import check_window
    from analysis.figures.page import PageFigure, draw_page, page_scales, probability_lane
    from analysis.figures.row_scales import described
    from analysis.figures.style import styled
    from analysis.filtering import DisplayFilter
    from analysis.montage import build_montage, default_montage
    from analysis.readers import open_recording
    from analysis.survey import leave_out

    with open_recording(request.recording) as recording:
        window = check_window(recording, request.start, request.start + request.duration)
        leave_out(recording, request.bad_channels)
        montage = build_montage(request.montage or default_montage(recording), recording, request.bad_channels)
        filters = DisplayFilter(request.highpass or None, request.lowpass or None, request.notch or None)
        analysis = _analyse(request, kind, progress) if kind is not None else None
        prediction = None
        if "seizure" in request.overlays:
            model, bad = request.checkpoints[-1], request.bad_channels
            prediction = predict_chosen(model, request.recording, request.device, bad, progress, request.start)
        page = PageFigure(
            recording,
            montage,
            window,
            filters,
            request.uv_per_mm,
            request.size_mm,
            _marks(request, recording, prediction),
            heat_of(analysis) if analysis is not None else None,
            [
                *([probability_lane(prediction)] if prediction is not None else []),
                *(lanes_of(analysis) if analysis is not None else []),
            ],
            _foot(request, analysis, prediction),
        )
        progress.report(0, 1, "drawing")
        with styled():
            buffer = io.BytesIO()
            stamp: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form, {})
            draw_page(page).savefig(buffer, format=form, dpi=request.dpi, metadata=stamp)
        facts = _facts(request, recording, montage.name, analysis, prediction)
        facts["row_scales"] = dict(described(page_scales(page)))
    files = {out: buffer.getvalue(), out.with_suffix(".json"): json.dumps(facts, indent=1, ensure_ascii=False).encode()}
    if analysis is not None:
        numbers = io.BytesIO()
        np.savez(numbers, allow_pickle=False, **{name: a.values for name, a in analysis.arrays.items()})
        files[out.with_suffix(".npz")] = numbers.getvalue()
    for path, content in files.items():
        with whole_file(path) as file:
            file.write(content)
    written = ", ".join(map(str, files))
    return Outcome(facts, f"written: {written}\nredo: {facts['command']}", tuple(facts["warnings"]))


def _analyse(request: FigureRequest, kind: str, progress: Progress) -> Analysis:
    from analysis.engine.analyze import analyze

    options = {"windows": _FEW_WINDOWS} if any(o.name == "windows" for o in KINDS[kind].options) else {}
    return analyze(
        kind,
        request.recording,
        list(request.checkpoints[:1]),
        request.start,
        request.duration,
        options,
        request.device,
        progress,
        request.bad_channels,
    )


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
    marks = list(recording.annotations) if "annotations" in request.overlays else []
    return [*marks, *(prediction.events if prediction is not None else ())]


def _foot(request: FigureRequest, analysis: Analysis | None, prediction: SeizurePrediction | None) -> list[str]:
    lines = []
    if analysis is not None:
        heat, until = heat_of(analysis), ""
        if heat is not None:
            stop = float(heat.onsets[-1]) + heat.step
            short = stop < request.start + request.duration - heat.step / 2
            until = f", up to {stop:.1f} s in whole windows" if short and analysis.kind != "memory" else ""
        place = "Heat" if heat is not None else "Lanes" if len(lanes_of(analysis)) > 1 else "Lane"
        lines.append(f"{place}: {analysis.title}, {' and '.join(analysis.models)}{until}")
    if prediction is not None:
        lines.append(f"Lane and violet spans: {prediction.model_title}, threshold {prediction.threshold:g}")
    if (analysis is not None and analysis.random_weights) or (prediction is not None and prediction.random_weights):
        lines.append(RANDOM_WORDS)
    if request.bad_channels:
        lines.append(f"Marked bad, and left out of averages and models: {', '.join(request.bad_channels)}")
    return lines


def _facts(
    request: FigureRequest,
    recording: Recording,
    montage: str,
    analysis: Analysis | None,
    prediction: SeizurePrediction | None,
) -> dict[str, Any]:
    from analysis.analysis_files import describe_analysis
    from analysis.provenance import RESEARCH_ONLY, library_versions, now, software_version

    return {
        "intended_use": RESEARCH_ONLY,
        "command": command_of(request),
        "recording": {"path": str(recording.path), "id": recording.id},
        "span": [request.start, request.start + request.duration],
        "montage": montage,
        "bad_channels": list(request.bad_channels),
        "uv_per_mm": request.uv_per_mm,
        "filters": {"highpass": request.highpass, "lowpass": request.lowpass, "notch": request.notch},
        "size_mm": list(request.size_mm),
        "analysis": describe_analysis(analysis) if analysis is not None else None,
        "prediction": dict(prediction.provenance) if prediction is not None else None,
        "warnings": list(recording.warnings),
        "software_version": software_version(),
        "versions": library_versions(("numpy", "matplotlib", "torch")),
        "created": now(),
    }


def command_of(request: FigureRequest) -> str:
    """The command line that makes the same figure."""
    words = ["python", "main.py", "figure", request.recording, "--start", f"{request.start:g}"]
    words += ["--duration", f"{request.duration:g}"]
    for table in request.checkpoints:
        words += ["--checkpoint", str(table["checkpoint"])]
    for name in ("head", "config"):
        given = next((table[name] for table in request.checkpoints if table.get(name)), None)
        words += [f"--{name}", str(given)] if given else []
    for overlay in request.overlays:
        words += ["--overlay", overlay]
    words += ["--montage", request.montage] if request.montage else []
    for name in request.bad_channels:
        words += ["--bad", name]
    words += ["--sensitivity", f"{request.uv_per_mm:g}", "--size", "x".join(f"{v:g}" for v in request.size_mm)]
    words += ["--low", f"{request.highpass:g}", "--high", f"{request.lowpass:g}", "--notch", f"{request.notch:g}"]
    words += ["--out", request.out]
    return shlex.join(words) if sys.platform != "win32" else " ".join(words)
