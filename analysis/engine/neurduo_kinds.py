"""NeurDuo's analyses of a recording: how fast its streams move, how long they could remember, what the bank recalls."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from analysis.analyses import Findings
from analysis.engine.inputs import Inputs
from analysis.engine.neurduo_heard import Rates, Recall, array, median_of, rate_findings, recall_findings
from analysis.engine.neurduo_stream import RecordingStream, Rule, StreamSettings, recording_stream
from analysis.engine.neurduo_units import MOST_SEQUENCES, UnitClassifier, plan_units, score_units
from analysis.engine.session import BatchSize, describe_device
from analysis.errors import AnalysisError
from analysis.progress import Progress
from models.neurduo.introspection import time_constants
from models.neurduo.model import NeurDuo
from models.registry import untrained_model

PARTIAL_SECONDS = 1.0
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
    rates = Rates(stream)
    told = time.monotonic()
    for part in stream.run(start, stop, progress):
        rates.take(part)
        if time.monotonic() - told >= PARTIAL_SECONDS:
            progress.partial(rate_findings(inputs, stream, rates, start))
            told = time.monotonic()
    return rate_findings(inputs, stream, rates, start, _difference(inputs, stream, start))


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
            arrays[f"{prefix}{name}"] = array(
                values, (f"{name}_layer", f"{name}_channel", f"{name}_state"), "s",
                f"nominal time constant of the {name} stream, {whose}", "paper",
            )  # fmt: skip
            arrays[f"{prefix}{name}_median"] = array(
                np.median(values, axis=(1, 2)), (f"{name}_layer",), "s", f"median of each block, {whose}"
            )
            facts[f"{prefix}{name}_median"] = float(np.median(values))
            facts[f"{prefix}{name}_longest"] = float(values.max())
    facts |= {"step_seconds": model.config.step_seconds, "write_seconds": model.config.write_seconds}
    return Findings(arrays, facts, notes=(UNTRAINED_NOTE,))


def memory(inputs: Inputs, progress: Progress) -> Findings:
    """What the bank recalls at each step: the weight of each write it holds, by channel, and how far the gate opens."""
    stream, start, stop = _stream(inputs, progress)
    recall = Recall(stream)
    for part in stream.run(start, stop, progress):
        recall.take(part)
    return recall_findings(inputs, stream, recall, start)


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
        "time": array(onsets - first, ("unit",), "s", "begin of a unit, after first_time"),
        "probability": array(probabilities, ("unit", "class"), "1", "probability of each class", "paper"),
        "choice": array(probabilities.argmax(1), ("unit",), "1", "number of the likeliest class, from 0"),
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
    settings = StreamSettings.chosen(options)
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
        settings = replace(stream.settings, normalisation=rule)
        window = type(inputs.window)(float(stream.onsets[low]), float(stream.onsets[high - 1]) + plan.chunk_seconds)
        other = RecordingStream(inputs.recording, stream.model, settings, window)
        outputs.append(torch.cat([part.block.z for part in other.run(0, other.n_steps)], dim=1))
        other.trail.close()
    causal, windowed = outputs
    apart = ((causal - windowed).norm(dim=-1) / windowed.norm(dim=-1)).cpu().numpy()  # (C, steps)
    settled = apart[:, round(_SETTLED_SECONDS / plan.chunk_seconds) :]
    return {
        "seconds": (high - low) * plan.chunk_seconds,
        "median": median_of(apart),
        "median_settled": median_of(settled),
    }
