"""What is noted of a NeurDuo's stream while it is heard: rates of change, recall from the bank, and their findings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from analysis.analyses import Findings, NamedArray
from analysis.engine.inputs import Inputs
from analysis.engine.neurduo_stream import RecordingStream, StreamPart
from models.neurduo.introspection import relative_rates, slot_weights

_SHOWN = 6


class Rates:
    """Rates by channel as they come."""

    def __init__(self, stream: RecordingStream) -> None:
        config = stream.model.config
        self._seconds = (config.step_seconds, config.write_seconds)
        self.fast: list[np.ndarray] = []  # (steps, C)
        self.slow: list[np.ndarray] = []  # (writes, C)
        self.written: list[np.ndarray] = []  # steps that wrote

    def take(self, part: StreamPart) -> None:
        """The rates of one part."""
        block = part.block
        self.fast.append(_by_time(relative_rates(block.h, part.h_before, self._seconds[0])))
        if block.slow.shape[1]:
            self.slow.append(_by_time(relative_rates(block.slow, part.s_before, self._seconds[1])))
            self.written.append(part.first + block.plan.due.cpu().numpy())

    def joined(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """fast (steps, C), slow (writes, C), steps that wrote (writes,)."""
        none = np.empty((0, self.fast[0].shape[1] if self.fast else 0), np.float32)
        return (
            np.concatenate(self.fast) if self.fast else none,
            np.concatenate(self.slow) if self.slow else none,
            np.concatenate(self.written) if self.written else np.empty(0, np.int64),
        )


def rate_findings(
    inputs: Inputs,
    stream: RecordingStream,
    rates: Rates,
    start: int,
    difference: Mapping[str, Any] | None = None,
) -> Findings:
    """The rates of steps from `start` on, means and by channel, with what holds of the stream.

    `difference` tells how far the causal normalisation is from the one that looks ahead, where that was measured.
    """
    fast, slow, written = rates.joined()
    onsets = stream.onsets[start : start + len(fast)]
    first = float(stream.onsets[start])
    write_times = stream.onsets[written] if len(written) else np.empty(0)
    mean_fast, mean_slow = fast.mean(1), slow.mean(1)
    at_writes = _mean_before(mean_fast, written - start, stream.model.config.write_every_n_steps)
    arrays = {
        "time": array(onsets - first, ("step",), "s", "begin of a step, after first_time"),
        "fast": array(mean_fast, ("step",), "1/s", "change of the fast state per second, mean over channels", "paper"),
        "fast_by_channel": array(fast, ("step", "channel"), "1/s", "change of the fast state per second"),
        "slow_time": array(write_times - first, ("write",), "s", "begin of a step that writes, after first_time"),
        "slow": array(mean_slow, ("write",), "1/s", "change of the slow state per second, mean over channels", "paper"),
        "slow_by_channel": array(slow, ("write", "channel"), "1/s", "change of the slow state per second"),
        "fast_at_writes": array(
            at_writes, ("write",), "1/s", "mean of the fast rate since the write before", "our definition"
        ),
    }
    both = np.isfinite(at_writes) & np.isfinite(mean_slow)
    facts = {
        **stream_facts(stream, start, len(fast)),
        "fast_median": median_of(mean_fast),
        "slow_median": median_of(mean_slow),
        "fast_above_slow": int((at_writes[both] > mean_slow[both]).sum()),
        "compared_writes": int(both.sum()),
    }
    notes = stream_notes(inputs, stream)
    if difference is not None:
        facts["causal_against_window"] = dict(difference)
        notes += (_told(difference),)
    labels = {"channel": stream.plan.electrodes.ch_names}
    return Findings(arrays, facts, labels, notes, stream_preprocessing(inputs, stream))


class Recall:
    """What the bank recalls, by step and channel, as it comes."""

    def __init__(self, stream: RecordingStream) -> None:
        self._config = stream.model.config
        self.weights: list[np.ndarray] = []  # (steps, C, K)
        self.gates: list[np.ndarray] = []  # (steps, C)
        self.shares: list[np.ndarray] = []  # (steps, C)
        self.visible: list[np.ndarray] = []  # (steps,) writes since the last reset

    def take(self, part: StreamPart) -> None:
        """The recall of one part."""
        block, config = part.block, self._config
        self.weights.append(slot_weights(block, config.memory_bank_size).transpose(0, 1).cpu().numpy())
        self.gates.append(_by_time(block.retrieved.gate.mean(-1)))
        self.shares.append(_by_time(block.retrieved.context.norm(dim=-1) / block.slow_states.norm(dim=-1)))
        t = int(block.state.t) - part.n_steps
        self.visible.append((t + 1 + np.arange(part.n_steps)) // config.write_every_n_steps)


def recall_findings(inputs: Inputs, stream: RecordingStream, recall: Recall, start: int) -> Findings:
    """The recall of steps from `start` on: weight of each slot, when it was written, gate and share."""
    config = stream.model.config
    visible = np.concatenate(recall.visible)
    first, stop = float(stream.onsets[start]), start + len(visible)
    written = _slot_times(stream, start, visible)
    arrays = {
        "time": array(stream.onsets[start:stop] - first, ("step",), "s", "begin of a step, after first_time"),
        "weights": array(
            np.concatenate(recall.weights), ("step", "channel", "slot"), "1", "share of each slot in what is recalled",
            "paper",
        ),
        "slot_time": array(
            written - first, ("step", "slot"), "s", "begin of the step that wrote the slot; NaN where it is empty"
        ),
        "gate": array(
            np.concatenate(recall.gates), ("step", "channel"), "1", "gate of the recall, mean over its width",
            "our definition",
        ),
        "share": array(
            np.concatenate(recall.shares), ("step", "channel"), "1",
            "length of what is recalled over that of the slow state", "our definition",
        ),
    }  # fmt: skip
    facts = {
        **stream_facts(stream, start, stop - start),
        "pooled_seconds": config.pooled_steps * config.step_seconds,
        "bank_seconds": config.memory_bank_size * config.write_seconds,
    }
    ages = range(config.memory_bank_size - 1, -1, -1)
    labels = {
        "channel": stream.plan.electrodes.ch_names,
        "slot": tuple("newest" if age == 0 else f"{age * config.write_seconds:g} s before it" for age in ages),
    }
    return Findings(arrays, facts, labels, stream_notes(inputs, stream), stream_preprocessing(inputs, stream))


def _told(difference: Mapping[str, Any]) -> str:
    text = (
        f"Over the first {difference['seconds']:g} s of this stretch the causal normalisation changes the output by "
        f"{difference['median']:.1%} (median) against the rule that looks ahead"
    )
    settled = difference["median_settled"]
    return f"{text}, by {settled:.1%} after the first 32 s." if settled is not None else f"{text}."


def _slot_times(stream: RecordingStream, start: int, visible: np.ndarray) -> np.ndarray:
    """When each slot of the bank was written, seconds (steps, K), newest last, NaN where it is empty.

    `visible` (steps,) is the number of writes since the last reset.
    """
    config = stream.model.config
    every, size = config.write_every_n_steps, config.memory_bank_size
    steps = start + np.arange(len(visible))
    begun = np.array(stream.resets)[np.searchsorted(stream.resets, steps, side="right") - 1]
    number = visible[:, None] - np.arange(size, 0, -1)  # of the write in each slot since the reset
    wrote = begun[:, None] + (number + 1) * every - 1
    times = stream.onsets[np.clip(wrote, 0, stream.n_steps - 1)].astype(np.float64)
    return np.where(number >= 0, times, np.nan)


def stream_facts(stream: RecordingStream, start: int, n_steps: int) -> dict[str, Any]:
    """What holds of the stream over steps [start, start + n_steps)."""
    last = start + n_steps
    resets = [float(stream.onsets[r]) for r in stream.resets if start <= r < last]
    return {
        "first_time": float(stream.onsets[start]),
        "step_seconds": stream.plan.chunk_seconds,
        "write_seconds": stream.model.config.write_seconds,
        "n_steps": n_steps,
        "resets": resets,
        "state_bytes": stream.state_bytes,
        "sites": list(stream.plan.electrodes.sites),
        "reference_ids": stream.plan.electrodes.reference_ids.tolist(),
        "left_out": [list(pair) for pair in stream.plan.electrodes.left_out],
        "not_scored": [list(span) for span in stream.plan.not_scored],
        "begins_at": float(stream.onsets[0]),
    }


def stream_notes(inputs: Inputs, stream: RecordingStream) -> tuple[str, ...]:
    """Sentences about the channels that are read and the stretches without signal."""
    electrodes, settings = stream.plan.electrodes, stream.settings
    notes = list(electrodes.notes)
    dropped = [pair for pair in electrodes.left_out if not pair[1].startswith("not a brain signal")]
    if dropped:
        listed = ", ".join(f"{name} ({why})" for name, why in dropped[:_SHOWN])
        notes.append(f"Channels left out: {listed}{' and more' if len(dropped) > _SHOWN else ''}.")
    if len(electrodes.picks) == 1:
        notes.append("Only one channel is read, so nothing passes between channels.")
    gaps = stream.plan.gap[1:]
    carried = sum(gap <= settings.reset_gap for gap in gaps)
    if gaps:
        notes.append(
            f"Stretches without signal: {carried} of at most {settings.reset_gap:g} s, over which the state is "
            f"carried, and {len(gaps) - carried} longer, after which it starts from zero."
        )
    if inputs.options["history"]:
        notes.append(f"The state starts from zero at {stream.onsets[0]:g} s, not with the recording.")
    return tuple(notes)


def stream_preprocessing(inputs: Inputs, stream: RecordingStream) -> dict[str, Any]:
    """How the signal was made, for the provenance."""
    described = stream.plan.settings.describe(inputs.recording.sfreq)
    rule = "window rule over the last 32 s" if stream.settings.normalisation == "causal" else "window rule over 32 s"
    return {**described, "normalisation": f"{rule}: mean per channel, one scale for all"}


def array(values: np.ndarray, axes: tuple[str, ...], unit: str, meaning: str, source: Any = "") -> NamedArray:
    """A NamedArray of any numbers."""
    return NamedArray(values, axes, unit, meaning, source)


def _by_time(values: torch.Tensor) -> np.ndarray:
    """(C, T) on any device -> (T, C)."""
    return values.T.cpu().numpy()


def _mean_before(values: np.ndarray, at: np.ndarray, n: int) -> np.ndarray:
    """Mean of the n values up to and including each place; NaN where not all of them are there."""
    means = [values[i - n + 1 : i + 1].mean() if i >= n - 1 else np.nan for i in at]
    return np.array(means, np.float32)


def median_of(values: np.ndarray) -> float | None:
    """The median of what is finite; None where nothing is."""
    known = values[np.isfinite(values)]
    return float(np.median(known)) if known.size else None
