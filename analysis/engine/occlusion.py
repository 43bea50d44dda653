"""What a classifier's score loses where a part of the signal is replaced, and what one channel alone brings.

Nothing is asked of the model but its score, so this is what other explanations are held against.

Letters: B signals at a time, C channels, N samples, S seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from analysis.analyses import Findings, NamedArray
from analysis.engine.explained import (
    Explained,
    baseline_signal,
    carried_notes,
    carried_of,
    explained_input,
    explained_windows,
    target_class,
)
from analysis.engine.inputs import Inputs
from analysis.engine.recorded_attribution import channel_labels
from analysis.progress import PartProgress, Progress

# Samples of the signals that are scored at a time; few on a processor, so that progress is told often.
_ON_PROCESSOR, _ON_DEVICE = 100_000, 2_000_000

Part = tuple[slice | int, slice]  # channels, samples


@dataclass(frozen=True)
class _Way:
    """One of the ways to cut a window: the array's name, its axes and what it means."""

    name: str
    axes: tuple[str, ...]
    meaning: str


_WAYS = {
    "both": _Way("by_second", ("channel", "second"), "fall of the score without a second of a channel"),
    "channel": _Way("by_channel", ("channel",), "fall of the score without a channel"),
    "second": _Way("whole_second", ("second",), "fall of the score without a second of all channels"),
}


def parts_by(window: Explained, by: str) -> list[Part]:
    """The parts of a window: its channels, its seconds, or each second of each channel, channel by channel."""
    n_channels, n_samples = window.signal.shape[1:]
    step = round(window.sfreq)
    whole = slice(0, n_samples)
    seconds = [slice(at, min(at + step, n_samples)) for at in range(0, n_samples, step)]
    if by == "channel":
        return [(channel, whole) for channel in range(n_channels)]
    if by == "second":
        return [(slice(0, n_channels), second) for second in seconds]
    return [(channel, second) for channel in range(n_channels) for second in seconds]


def occlude_parts(
    window: Explained, baseline: Tensor, target: int, parts: list[Part], progress: Progress | None = None
) -> Tensor:
    """How much the score falls when a part of the window is replaced by that of the baseline (parts,)."""
    with torch.no_grad():
        full = window.score(window.signal)[0, target]
    return full - _scores(window.score, (window.signal, baseline), target, parts, progress)


def occlude(window: Explained, baseline: Tensor, target: int, progress: Progress | None = None) -> Tensor:
    """How much the score falls when a channel is replaced by its baseline (C,)."""
    return occlude_parts(window, baseline, target, parts_by(window, "channel"), progress)


def occlude_seconds(window: Explained, baseline: Tensor, target: int, progress: Progress | None = None) -> Tensor:
    """How much the score falls when a second of all channels is replaced by the baseline (S,)."""
    return occlude_parts(window, baseline, target, parts_by(window, "second"), progress)


def keep_one(window: Explained, baseline: Tensor, target: int, progress: Progress | None = None) -> Tensor:
    """How much the score rises above the baseline's when one channel alone is as recorded (C,)."""
    with torch.no_grad():
        floor = window.score(baseline)[0, target]
    parts = parts_by(window, "channel")
    return _scores(window.score, (baseline, window.signal), target, parts, progress) - floor


def _scores(
    score: Callable[[Tensor], Tensor],
    signals: tuple[Tensor, Tensor],
    target: int,
    parts: list[Part],
    progress: Progress | None,
) -> Tensor:
    """The score of the first signal with each part taken from the second, some of them at a time."""
    (signal, other), progress = signals, progress or Progress()
    most = _ON_PROCESSOR if signal.device.type == "cpu" else _ON_DEVICE
    size = max(1, most // signal.numel())
    values = []
    with torch.no_grad():
        for at in range(0, len(parts), size):
            progress.report(at, len(parts), "replacing parts")
            batch = signal.repeat(min(size, len(parts) - at), 1, 1)
            for row, (channels, samples) in enumerate(parts[at : at + size]):
                batch[row, channels, samples] = other[0, channels, samples]
            values.append(score(batch)[:, target])
    return torch.cat(values)


def explain_by_occlusion(inputs: Inputs, progress: Progress) -> Findings:
    """The fall of a class score by channel, second, or both, window by window; with `keep` also keep-one."""
    target = target_class(inputs.model, inputs.options["target"])
    source = explained_input(inputs, progress)
    by, n_windows = inputs.options["by"], len(source.plan.onsets)
    ways = list(_WAYS) if by == "both" else [by]
    found: dict[str, list[np.ndarray]] = {}
    told = []
    for number, window in enumerate(explained_windows(source, progress, carried_of(inputs))):
        baseline, text = baseline_signal(inputs, source, window, inputs.options["baseline"], inputs.options["seed"])
        told.append(text)
        part = PartProgress(progress, number, n_windows)
        stages = [PartProgress(part, i, len(ways) + 1) for i in range(len(ways) + 1)]
        for way, stage in zip(ways, stages, strict=False):
            values = occlude_parts(window, baseline, target, parts_by(window, way), stage).cpu().numpy()
            n_channels = window.signal.shape[1]
            found.setdefault(way, []).append(values.reshape(n_channels, -1) if way == "both" else values)
        if inputs.options["keep"]:
            found.setdefault("keep", []).append(keep_one(window, baseline, target, stages[-1]).cpu().numpy())
    arrays = {
        _WAYS[way].name: NamedArray(np.stack(found[way]), ("window", *_WAYS[way].axes), "score", _WAYS[way].meaning)
        for way in ways
    }
    if "keep" in found:
        meaning = "rise of the score by a channel alone"
        arrays["keep_one"] = NamedArray(np.stack(found["keep"]), ("window", "channel"), "score", meaning)
    arrays["window_onset"] = NamedArray(source.window_onsets(), ("window",), "s", "onset after the first window's")
    facts = {
        "method": "Occlusion",
        "target": inputs.model.facts.labels[target],
        "by": by,
        "first_window": float(source.plan.onsets[0]),
        "window_seconds": source.plan.seconds,
        "baselines": told,
    }
    notes = (*source.plan.notes, *carried_notes(inputs), f"Replaced by: {'; '.join(dict.fromkeys(told))}.")
    return Findings(arrays, facts, channel_labels(source.plan), notes, source.describe())
