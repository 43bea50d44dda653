"""How well MVPFormer foresees the next segment: its prediction against what came, what came later, and chance."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from analysis.analyses import Findings, NamedArray
from analysis.engine.inputs import Inputs
from analysis.engine.mvpa_maps import embeddings_of, model_windows, window_facts
from analysis.errors import AnalysisError
from analysis.event_tables import read_events
from analysis.group_difference import compare_groups
from analysis.progress import Progress
from analysis.seizure_marks import seizures
from models.mvpformer.model import MVPFormer
from models.mvpformer.objective import draw_random_segments, similarity

_MEANINGS = {
    "true": "cosine with the next segment",
    "two_step": "cosine with the segment after the next",
    "random": "cosine with a random segment of the window",
}
_STEPS = {"true": "step", "two_step": "step_but_one", "random": "step"}


def prediction(inputs: Inputs, progress: Progress) -> Findings:
    """Cosine of the predicted with the actual next segment, the one after it, and a random one (paper appendix C.2).

    The difference between segments in and outside marked seizures, mean over channels, is our definition.
    """
    model: MVPFormer = inputs.model.network
    _require_predictions(inputs)
    source = model_windows(inputs, progress)
    generator = torch.Generator().manual_seed(inputs.options["seed"])
    values: dict[str, list[np.ndarray]] = {name: [] for name in _MEANINGS}
    for embeddings in embeddings_of(model, source, progress, "predicting"):
        with torch.no_grad():
            made = model.predictions_from_embeddings(embeddings)
        found = similarity(made, embeddings, draw_random_segments(embeddings.shape[1], generator))
        for name, value in found._asdict().items():
            values[name].append(value[0].cpu().numpy())
    arrays = {
        name: NamedArray(np.stack(values[name]), ("window", _STEPS[name], "channel"), "1", text, "paper")
        for name, text in _MEANINGS.items()
    }
    seconds = model.config.segment_seconds
    times = source.window_onsets()[:, None] + seconds * np.arange(1, arrays["true"].values.shape[1] + 1)
    ictal = _in_seizure(inputs, float(source.plan.onsets[0]) + times, seconds)
    arrays["time"] = NamedArray(times, ("window", "step"), "s", "begin of what is predicted, after the first window")
    arrays["seizure"] = NamedArray(ictal.astype(float), ("window", "step"), "1", "1 in a marked seizure")
    facts = {
        **window_facts(inputs, source),
        "means": {name: float(np.mean(v)) for name, v in values.items()},
        "medians": {name: float(np.median(v)) for name, v in values.items()},
        "ictal": _compare(arrays, ictal),
    }
    return Findings(arrays, facts, {"channel": source.plan.ch_names}, source.plan.notes, source.describe())


def _require_predictions(inputs: Inputs) -> None:
    if inputs.model.network.has_classifier:
        where = inputs.model.facts.path or "made here"
        raise AnalysisError(
            f"this MVPFormer has a classification head in place of its predictions ({where}): "
            "give the base file without a head"
        )


def _in_seizure(inputs: Inputs, times: np.ndarray, seconds: float) -> np.ndarray:
    """Whether a segment that begins at a time overlaps a marked seizure, bool of the same shape."""
    table = inputs.options["events"]
    recording = inputs.recording
    marked = seizures(read_events(table, duration=recording.duration).events) if table else inputs.marked.spans
    overlaps = [(times + seconds > a) & (times < z) for a, z in marked]
    return np.asarray(np.any(overlaps, axis=0)) if overlaps else np.zeros(times.shape, bool)


def _compare(arrays: dict[str, NamedArray], ictal: np.ndarray) -> dict[str, Any]:
    """Segments in seizures against the others, by what they are compared with; those of two steps begin one later."""
    compared = {}
    for name in _MEANINGS:
        means = arrays[name].values.mean(-1).astype(np.float64)  # (windows, steps)
        marked = ictal[:, 1:] if name == "two_step" else ictal
        compared[name] = compare_groups(means[marked], means[~marked]).describe()
    return compared
