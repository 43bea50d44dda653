"""What an analysis adds to a page for print: heat behind the traces, and lanes under them. Knows no Qt."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from analysis.stream_spans import step_times, write_times

if TYPE_CHECKING:
    from analysis.analyses import Analysis
    from analysis.figures.page import Heat, Lane

# Kinds that are heat behind the traces: which array, where its patches begin and how long they are, and the centre.
_PATCHES = {
    "gates": ("temporal", "patch_onset", "patch_seconds", 0.5, "temporal weight"),
    "grad-cam": ("evidence", "patch_onset", "patch_seconds", None, "Grad-CAM"),
    "integrated-gradients": ("by_second", None, None, 0.0, "Integrated Gradients"),
}
KINDS_DRAWN = (*_PATCHES, "streams", "memory", "stages")


def heat_of(analysis: Analysis) -> Heat | None:
    """The heat of a page; None for a kind that is of no one channel, or that has nothing to show."""
    if analysis.kind in _PATCHES:
        return _patches(analysis)
    return _recall(analysis) if analysis.kind == "memory" else None


def lanes_of(analysis: Analysis) -> list[Lane]:
    """The lanes under a page."""
    make = {"streams": _rates, "memory": _gate, "stages": _classes}.get(analysis.kind)
    return make(analysis) if make is not None else []


def _patches(analysis: Analysis) -> Heat:
    """Patches of all windows one after the other, mean over the layers where there are some."""
    from analysis.figures.page import Heat

    name, onset_name, step_name, centre, title = _PATCHES[analysis.kind]
    values = analysis.values(name)
    if values.ndim == 4:  # (layer, window, channel, patch)
        values = values.mean(0)
        title += ", mean over layers"
    title += _mark(analysis, name)
    first = float(analysis.facts["first_window"])
    if onset_name is None:
        onsets = analysis.values("window_onset")[:, None] + np.arange(values.shape[-1])
        step = 1.0
    else:
        onsets, step = analysis.values(onset_name), float(analysis.facts[str(step_name)])
    joined = np.concatenate(list(values), -1)  # (channels, windows * patches)
    at = first + onsets.astype(np.float64).ravel()
    # Patches that overlap give way to the one that follows.
    step = min(step, float(np.diff(at).min())) if len(at) > 1 else step
    unit = analysis.arrays[name].unit
    return Heat(analysis.labels["channel"], at, step, joined, title, unit, centre)


def _recall(analysis: Analysis) -> Heat | None:
    """What the last step of the page recalls, each write over the time since the write before it."""
    from analysis.figures.page import Heat

    written = analysis.values("slot_time")[-1].astype(np.float64) + float(analysis.facts["first_time"])
    there = np.isfinite(written)
    if not there.any():
        return None
    length, step = float(analysis.facts["write_seconds"]), float(analysis.facts["step_seconds"])
    weights = analysis.values("weights")[-1][:, there]
    title = f"share of the recall at {step_times(analysis)[-1]:.1f} s{_mark(analysis, 'weights')}"
    return Heat(analysis.labels["channel"], written[there] + step - length, length, weights, title)


def _rates(analysis: Analysis) -> list[Lane]:
    """The rate of each stream, mean over channels, each on its own scale."""
    step, write = float(analysis.facts["step_seconds"]), float(analysis.facts["write_seconds"])
    spans = {"fast": (step_times(analysis), step), "slow": (write_times(analysis) + step - write, write)}
    return [_steps(f"{name} (/s)", starts, length, analysis.values(name)) for name, (starts, length) in spans.items()]


def _gate(analysis: Analysis) -> list[Lane]:
    """How far the gate of the recall opens, mean over channels; nothing passes before the first write."""
    gate = np.where(analysis.values("weights").any(axis=(1, 2)), analysis.values("gate").mean(1), np.nan)
    return [_steps("recall gate", step_times(analysis), float(analysis.facts["step_seconds"]), gate, high=1.0)]


def _classes(analysis: Analysis) -> list[Lane]:
    """The likeliest class of each unit."""
    names = analysis.labels["class"]
    starts = analysis.values("time").astype(np.float64) + float(analysis.facts["first_time"])
    choice = analysis.values("choice").astype(np.float64)
    lane = _steps("class", starts, float(analysis.facts["unit_seconds"]), choice, -0.5, len(names) - 0.5)
    return [replace(lane, names=tuple(names))]


def _steps(
    title: str, starts: np.ndarray, length: float, values: np.ndarray, low: float = 0.0, high: float | None = None
) -> Lane:
    """A lane of steps, each as long as the others but for holes, where there is none."""
    from analysis.figures.page import Lane

    values = np.asarray(values, np.float64)
    ends = starts + length
    hole = np.append(starts[1:] - ends[:-1] > length / 10, True)  # after the last there is nothing either
    times = np.insert(starts, np.flatnonzero(hole) + 1, ends[hole])
    filled = np.insert(values, np.flatnonzero(hole) + 1, np.nan, axis=-1)
    filled[..., -1] = values[..., -1] if len(starts) else np.nan  # so that the last step is drawn to its end
    finite = values[np.isfinite(values)]
    top = high if high is not None else max(1e-9, 1.1 * float(finite.max(initial=0.0)))
    return Lane(title, times, filled, low, top)


def _mark(analysis: Analysis, name: str) -> str:
    """Where an array's definition comes from, as it stands behind a title."""
    source = analysis.arrays[name].source
    return f" [{source}]" if source else ""
