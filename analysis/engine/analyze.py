"""One analysis of a model on a recording: the one function behind the window's panels and the command line."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from analysis.analyses import Analysis, Findings
from analysis.engine.inputs import Inputs, LoadedModel
from analysis.engine.predict import check_window
from analysis.engine.session import choose_device, describe_device
from analysis.errors import AnalysisError
from analysis.kinds import Kind, check_families, find_kind
from analysis.numbers import ANALYSES
from analysis.progress import Progress
from analysis.provenance import library_versions, now, software_version
from analysis.readers import open_recording
from analysis.results import AnalysisRequest
from analysis.seizure_marks import SeizureMarks
from analysis.survey import bad_brain_channels, leave_out
from models.families import Checkpoint
from models.random_checkpoints import load_any

LIBRARIES = ("torch", "numpy", "scipy", "scikit-learn", "mne")


_last: dict[tuple[Any, ...], LoadedModel] = {}
_KEPT = 2


def analyze(
    kind: str,
    path: str | Path,
    checkpoints: Sequence[str | Path | Mapping[str, Any]],
    start: float | None = None,
    duration: float | None = None,
    options: Mapping[str, Any] | None = None,
    device: str = "auto",
    progress: Progress | None = None,
    bad_channels: Sequence[str] = (),
    seizures: SeizureMarks | None = None,
) -> Analysis:
    """Do one kind of analysis (see `analysis.kinds`) on `duration` seconds of a recording from `start` on.

    A checkpoint is a file, a name such as "random:axon:tiny:7", or a table with `checkpoint`, `head` and `config`.
    `bad_channels` of the recording are left out by name; `seizures` count in place of those that its annotations tell.
    RecordingError, CheckpointError or AnalysisError say in one sentence what is wrong; Cancelled comes from `progress`.
    """
    progress = progress or Progress()
    began = time.monotonic()
    given = kind, path, checkpoints, start, duration, options, device, progress, bad_channels
    with prepared(*given, seizures) as (what, inputs):
        findings = _function(what, inputs.model.family)(inputs, progress)
        return as_analysis(what, inputs, findings, time.monotonic() - began)


@contextmanager
def prepared(
    kind: str,
    path: str | Path,
    checkpoints: Sequence[str | Path | Mapping[str, Any]],
    start: float | None,
    duration: float | None,
    options: Mapping[str, Any] | None,
    device: str,
    progress: Progress,
    bad_channels: Sequence[str],
    seizures: SeizureMarks | None = None,
) -> Iterator[tuple[Kind, Inputs]]:
    """What `analyze` is called with, checked and loaded; the recording is open as long as the context."""
    chosen = find_kind(kind)
    values = chosen.parse_options(options or {})
    target = choose_device(device)
    with open_recording(path) as recording:
        leave_out(recording, bad_channels)
        stop = None if duration is None else (start or 0.0) + duration
        window = check_window(recording, start, stop)
        progress.report(0, 1, "loading the model")
        models = tuple(_load(given, target) for given in checkpoints)
        check_families(chosen, [m.family for m in models], [_name(given) for given in checkpoints])
        yield chosen, Inputs(recording, window, models, values, target, seizures)


def _function(kind: Kind, family: str) -> Callable[[Inputs, Progress], Findings]:
    name = kind.function_for(family)
    assert name is not None  # checked before
    module, _, function = name.partition(":")
    found: Callable[[Inputs, Progress], Findings] = getattr(importlib.import_module(module), function)
    return found


def _load(given: str | Path | Mapping[str, Any], device: torch.device) -> LoadedModel:
    """A model, kept for the next analysis until one of its files changes."""
    table = given if isinstance(given, Mapping) else {"checkpoint": given}
    files = [table.get(name) for name in ("checkpoint", "head", "config")]
    key = (*(_stamp(file) for file in files), str(device))
    if key not in _last:
        while len(_last) >= _KEPT:
            _last.pop(next(iter(_last)))
        network = load_any(str(files[0]), head=files[1], device=device, config=files[2])
        facts = network.checkpoint
        assert isinstance(facts, Checkpoint)
        _last[key] = LoadedModel(network, facts)
    _last[key] = _last.pop(key)  # the one used last goes last
    return _last[key]


def _name(given: str | Path | Mapping[str, Any]) -> str:
    return str(given["checkpoint"] if isinstance(given, Mapping) else given)


def _stamp(file: str | Path | None) -> tuple[Any, ...]:
    if file is None:
        return (None,)
    try:
        status = Path(file).stat()
    except OSError:
        return (str(file),)
    return (str(Path(file).resolve()), status.st_size, status.st_mtime_ns)


def as_analysis(kind: Kind, inputs: Inputs, findings: Findings, seconds: float) -> Analysis:
    """Findings with all that decided them; `seconds` is how long they took."""
    digests = tuple(digest for model in inputs.models for digest in model.facts.digests)
    options = {**inputs.options, "code": [software_version(), ANALYSES]}
    if bad := bad_brain_channels(inputs.recording):
        options["bad_channels"] = bad
    request = AnalysisRequest(kind.name, inputs.recording.id, digests, window=inputs.window, options=options)
    return Analysis(
        request=request,
        created=now(),
        software_version=software_version(),
        provenance=_provenance(kind, inputs, findings, seconds),
        title=kind.title,
        models=tuple(model.title for model in inputs.models),
        arrays=findings.arrays,
        facts=findings.facts,
        labels=findings.labels,
        notes=(*findings.notes, *(note for model in inputs.models for note in model.facts.notes)),
        random_weights=any(model.facts.random_weights for model in inputs.models),
    )


def _provenance(kind: Kind, inputs: Inputs, findings: Findings, seconds: float) -> dict[str, Any]:
    recording = inputs.recording
    return {
        "kind": kind.name,
        "recording": {"path": str(recording.path), "id": recording.id, "duration": recording.duration},
        "span": [inputs.window.start, inputs.window.stop],
        "checkpoints": [
            {
                "path": str(model.facts.path) if model.facts.path else model.facts.card.get("name"),
                "sha256": model.facts.sha256,
                "family": model.family,
                "size": model.facts.size,
                "n_params": model.facts.n_params,
                "random_weights": model.facts.random_weights,
            }
            for model in inputs.models
        ],
        "preprocessing": dict(findings.preprocessing),
        "options": dict(inputs.options),
        "bad_channels": bad_brain_channels(recording),
        "seed": inputs.options.get("seed"),
        "software_version": software_version(),
        "versions": library_versions(LIBRARIES),
        "device": describe_device(inputs.device),
        "warnings": list(recording.warnings),
        "wall_time": round(seconds, 3),
    }


def refuse_short(inputs: Inputs, least: float) -> None:
    """AnalysisError where the span is shorter than an analysis needs, in seconds."""
    if inputs.window.duration < least - 1e-9:
        raise AnalysisError(
            f"{inputs.window.duration:g} s are too short ({inputs.recording.path}): give at least {least:g} s"
        )
