"""NeurDuo's analyses of a recording: how fast its streams move, how long they could remember, what the bank recalls."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from analysis.analyses import Findings, NamedArray
from analysis.engine.inputs import Inputs
from analysis.engine.neurduo_stream import RecordingStream, Rule, StreamPart, StreamSettings, recording_stream
from analysis.engine.neurduo_units import MOST_SEQUENCES, UnitClassifier, plan_units, score_units
from analysis.engine.session import BatchSize, describe_device
from analysis.errors import AnalysisError
from analysis.progress import Progress
from models.neurduo.introspection import relative_rates, slot_weights, time_constants
from models.neurduo.model import NeurDuo
from models.registry import untrained_model

PARTIAL_SECONDS = 1.0
_SHOWN = 6
_COMPARED_SECONDS = 128.0
_SETTLED_SECONDS = 32.0
UNTRAINED_NOTE = (
    "Mamba's initialisation alone gives a median of 14.7 steps (7.4 s fast, 29 s slow) and a longest time of 1000 "
    "steps (8.3 and 33 min), so a model that was never trained looks almost the same: compare with the untrained one."
)


def stream_rates(inputs: Inputs, progress: Progress) -> Findings:
    """Relative change per second of the fast and the slow state (paper appendix E.3), by step, write and channel.

    The state is the one the recording's first second led to, unless `history` seconds before the span are asked for.
    About every second `progress.partial` gets the findings so far.
    """
    stream, start, stop = _stream(inputs, progress)
    rates = _Rates(stream)
    told = time.monotonic()
    for part in stream.run(start, stop, progress):
        rates.take(part)
        if time.monotonic() - told >= PARTIAL_SECONDS:
            progress.partial(_rate_findings(inputs, stream, rates, start, None))
            told = time.monotonic()
    return _rate_findings(inputs, stream, rates, start, _difference(inputs, stream, start))


class _Rates:
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


def _rate_findings(
    inputs: Inputs, stream: RecordingStream, rates: _Rates, start: int, difference: Mapping[str, Any] | None
) -> Findings:
    fast, slow, written = rates.joined()
    onsets = stream.onsets[start : start + len(fast)]
    first = float(stream.onsets[start])
    write_times = stream.onsets[written] if len(written) else np.empty(0)
    mean_fast, mean_slow = fast.mean(1), slow.mean(1)
    at_writes = _mean_before(mean_fast, written - start, stream.model.config.write_every_n_steps)
    arrays = {
        "time": _array(onsets - first, ("step",), "s", "begin of a step, after first_time"),
        "fast": _array(mean_fast, ("step",), "1/s", "change of the fast state per second, mean over channels", "paper"),
        "fast_by_channel": _array(fast, ("step", "channel"), "1/s", "change of the fast state per second"),
        "slow_time": _array(write_times - first, ("write",), "s", "begin of a step that writes, after first_time"),
        "slow": _array(
            mean_slow, ("write",), "1/s", "change of the slow state per second, mean over channels", "paper"
        ),
        "slow_by_channel": _array(slow, ("write", "channel"), "1/s", "change of the slow state per second"),
        "fast_at_writes": _array(
            at_writes, ("write",), "1/s", "mean of the fast rate since the write before", "our definition"
        ),
    }
    both = np.isfinite(at_writes) & np.isfinite(mean_slow)
    facts = {
        **_stream_facts(stream, start, len(fast)),
        "fast_median": _median(mean_fast),
        "slow_median": _median(mean_slow),
        "fast_above_slow": int((at_writes[both] > mean_slow[both]).sum()),
        "compared_writes": int(both.sum()),
    }
    notes = _notes(inputs, stream)
    if difference is not None:
        facts["causal_against_window"] = dict(difference)
        notes += (_told(difference),)
    labels = {"channel": stream.plan.electrodes.ch_names}
    return Findings(arrays, facts, labels, notes, _preprocessing(inputs, stream))


def timescales(inputs: Inputs, progress: Progress) -> Findings:
    """Nominal time constants of every state of both streams (paper appendix E.3), with an untrained model beside.

    Nothing of the signal takes part: these are the times in which states decay where the input leaves delta at its
    bias.
    """
    model: NeurDuo = inputs.model.network
    progress.report(0, 1, "time constants")
    reference = untrained_model("neurduo", replace(model.config, head=None), seed=inputs.options["seed"])
    assert isinstance(reference, NeurDuo)
    arrays, facts = {}, {}
    for prefix, network in (("", model), ("untrained_", reference)):
        for name, constants in time_constants(network).items():
            values = constants.cpu().numpy()
            whose = "this model" if not prefix else "a model that was never trained"
            arrays[f"{prefix}{name}"] = _array(
                values, (f"{name}_layer", f"{name}_channel", f"{name}_state"), "s",
                f"nominal time constant of the {name} stream, {whose}", "paper",
            )  # fmt: skip
            arrays[f"{prefix}{name}_median"] = _array(
                np.median(values, axis=(1, 2)), (f"{name}_layer",), "s", f"median of each block, {whose}"
            )
            facts[f"{prefix}{name}_median"] = float(np.median(values))
            facts[f"{prefix}{name}_longest"] = float(values.max())
    facts |= {"step_seconds": model.config.step_seconds, "write_seconds": model.config.write_seconds}
    return Findings(arrays, facts, notes=(UNTRAINED_NOTE,))


def memory(inputs: Inputs, progress: Progress) -> Findings:
    """What the bank recalls at each step: the weight of each write it holds, by channel, and how far the gate opens."""
    stream, start, stop = _stream(inputs, progress)
    config = stream.model.config
    weights, gates, shares, visible = [], [], [], []
    for part in stream.run(start, stop, progress):
        block = part.block
        weights.append(slot_weights(block, config.memory_bank_size).transpose(0, 1).cpu().numpy())
        gates.append(_by_time(block.retrieved.gate.mean(-1)))
        shares.append(_by_time(block.retrieved.context.norm(dim=-1) / block.slow_states.norm(dim=-1)))
        t = int(block.state.t) - part.n_steps
        visible.append((t + 1 + np.arange(part.n_steps)) // config.write_every_n_steps)
    first = float(stream.onsets[start])
    written = _slot_times(stream, start, np.concatenate(visible))
    arrays = {
        "time": _array(stream.onsets[start:stop] - first, ("step",), "s", "begin of a step, after first_time"),
        "weights": _array(
            np.concatenate(weights), ("step", "channel", "slot"), "1", "share of each slot in what is recalled", "paper"
        ),
        "slot_time": _array(
            written - first, ("step", "slot"), "s", "begin of the step that wrote the slot; NaN where it is empty"
        ),
        "gate": _array(
            np.concatenate(gates), ("step", "channel"), "1", "gate of the recall, mean over its width", "our definition"
        ),
        "share": _array(
            np.concatenate(shares), ("step", "channel"), "1", "length of what is recalled over that of the slow state",
            "our definition",
        ),
    }  # fmt: skip
    facts = {
        **_stream_facts(stream, start, stop - start),
        "pooled_seconds": config.pooled_steps * config.step_seconds,
        "bank_seconds": config.memory_bank_size * config.write_seconds,
    }
    ages = range(config.memory_bank_size - 1, -1, -1)
    labels = {
        "channel": stream.plan.electrodes.ch_names,
        "slot": tuple("newest" if age == 0 else f"{age * config.write_seconds:g} s before it" for age in ages),
    }
    return Findings(arrays, facts, labels, _notes(inputs, stream), _preprocessing(inputs, stream))


def unit_classes(inputs: Inputs, progress: Progress) -> Findings:
    """What a fine-tuned head says of each unit: class probabilities, such as sleep stages in units of 30 s."""
    loaded = inputs.model
    classifier = UnitClassifier(loaded.network, inputs.device)
    plan = plan_units(inputs.recording, classifier, loaded.facts.preprocessing, inputs.window, progress)
    batch = BatchSize(1, MOST_SEQUENCES, "one sequence of units", describe_device(inputs.device))
    parts = sorted(score_units(plan, classifier, batch, progress, None), key=lambda units: float(units.onsets[0]))
    onsets = np.concatenate([units.onsets for units in parts])
    probabilities = np.concatenate([units.probabilities for units in parts])
    first = float(onsets[0])
    arrays = {
        "time": _array(onsets - first, ("unit",), "s", "begin of a unit, after first_time"),
        "probability": _array(probabilities, ("unit", "class"), "1", "probability of each class", "paper"),
        "choice": _array(probabilities.argmax(1), ("unit",), "1", "number of the likeliest class, from 0"),
    }
    head = classifier.head
    facts = {
        "first_time": first,
        "unit_seconds": classifier.unit_seconds,
        "context_units": head.context_units,
        "left_out": [list(pair) for pair in plan.electrodes.left_out],
        "not_scored": [list(span) for span in plan.not_scored],
        "missing_channels": [site for site, absent in zip(head.channels, plan.missing, strict=True) if absent],
    }
    labels = {"class": loaded.facts.labels, "channel": plan.electrodes.ch_names}
    described = {**plan.settings.describe(inputs.recording.sfreq), "normalisation": head.normalisation}
    return Findings(arrays, facts, labels, (), described)


def _stream(inputs: Inputs, progress: Progress) -> tuple[RecordingStream, int, int]:
    """The stream of the recording and the steps of the span that is asked for."""
    options = inputs.options
    settings = StreamSettings(options["reset_gap"], options["normalisation"])
    if options["history"]:
        progress.report(0, 1, "looking at the recording")
        stream = _with_history(inputs, settings, progress)
    else:
        stream = recording_stream(inputs.recording, inputs.model.network, settings, progress)
    window = inputs.window
    start, stop = stream.step_at(window.start), stream.first_from(window.stop)
    if stop <= start:
        raise AnalysisError(
            f"there is no signal between {window.start:g} and {window.stop:g} s ({inputs.recording.path}): "
            "choose another span"
        )
    return stream, start, stop


def _with_history(inputs: Inputs, settings: StreamSettings, progress: Progress) -> RecordingStream:
    """A stream that begins a while before the span instead of with the recording."""
    window = inputs.window
    begin = max(0.0, window.start - inputs.options["history"])
    return RecordingStream(inputs.recording, inputs.model.network, settings, type(window)(begin, window.stop), progress)


def _difference(inputs: Inputs, stream: RecordingStream, start: int) -> dict[str, Any]:
    """How much the output differs between the causal rule and the window rule over the first part of the span.

    Both begin from zero with the stretch that holds `start`. Given are medians of |z causal - z window| / |z window|
    over channels and steps: of all steps, and of those after the 32 s in which the causal rule's memory fills.
    """
    plan = stream.plan
    run = plan.run_of(start)
    low = plan.first[run]
    high = min(low + plan.runs[run].n_wanted, low + round(_COMPARED_SECONDS / plan.chunk_seconds))
    outputs = []
    rules: tuple[Rule, ...] = ("causal", "window")
    for rule in rules:
        settings = StreamSettings(stream.settings.reset_gap, rule)
        window = type(inputs.window)(float(stream.onsets[low]), float(stream.onsets[high - 1]) + plan.chunk_seconds)
        other = RecordingStream(inputs.recording, stream.model, settings, window)
        outputs.append(torch.cat([part.block.z for part in other.run(0, other.n_steps)], dim=1))
        other.trail.close()
    causal, windowed = outputs
    apart = ((causal - windowed).norm(dim=-1) / windowed.norm(dim=-1)).cpu().numpy()  # (C, steps)
    settled = apart[:, round(_SETTLED_SECONDS / plan.chunk_seconds) :]
    return {
        "seconds": (high - low) * plan.chunk_seconds,
        "median": _median(apart),
        "median_settled": _median(settled),
    }


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


def _stream_facts(stream: RecordingStream, start: int, n_steps: int) -> dict[str, Any]:
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


def _notes(inputs: Inputs, stream: RecordingStream) -> tuple[str, ...]:
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


def _preprocessing(inputs: Inputs, stream: RecordingStream) -> dict[str, Any]:
    described = stream.plan.settings.describe(inputs.recording.sfreq)
    rule = "window rule over the last 32 s" if stream.settings.normalisation == "causal" else "window rule over 32 s"
    return {**described, "normalisation": f"{rule}: mean per channel, one scale for all"}


def _array(values: np.ndarray, axes: tuple[str, ...], unit: str, meaning: str, source: Any = "") -> NamedArray:
    return NamedArray(values, axes, unit, meaning, source)


def _by_time(values: torch.Tensor) -> np.ndarray:
    """(C, T) on any device -> (T, C)."""
    return values.T.cpu().numpy()


def _mean_before(values: np.ndarray, at: np.ndarray, n: int) -> np.ndarray:
    """Mean of the n values up to and including each place; NaN where not all of them are there."""
    means = [values[i - n + 1 : i + 1].mean() if i >= n - 1 else np.nan for i in at]
    return np.array(means, np.float32)


def _median(values: np.ndarray) -> float | None:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if known.size else None
