"""A classifier of any family as a smooth function of the signal it is given, and signals to compare that one with.

A window's signal is scaled as the model scales it, and the scale stays where it is: attributions in scaled values and
in microvolts are then the same numbers. Letters: B windows, C channels, N samples, K classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, Literal

import torch
from torch import Tensor

from analysis.engine.inputs import Inputs, LoadedModel
from analysis.engine.model_inputs import CLIP, ModelInput, model_input
from analysis.engine.model_windows import WindowPlan
from analysis.engine.neurduo_span import Carried, SpanScores
from analysis.errors import AnalysisError
from analysis.progress import Progress
from analysis.recording import Window
from analysis.seizure_marks import join_spans
from models.axon.interventions import differentiable_gates
from models.axon.model import Axon
from models.mvpformer.model import MVPFormer
from models.prise.interventions import with_pinned_routing
from models.prise.model import Prise

Baseline = Literal["interictal", "zero", "mean", "surrogate"]  # as in analysis.kinds.BASELINES
MARGINS = (10.0, 5.0, 2.0)  # seconds around a marked seizure that are not taken for interictal, as far as possible
UNENDED_SECONDS = 300.0  # how long a seizure may last whose end nobody marked
_LEAST_SCALE = 1e-12
_REACH = (300.0, float("inf"))  # seconds to either side in which an interictal stretch is looked for

Score = Callable[[Tensor], Tensor]
Smooth = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True)
class Explained:
    """One window: `score` maps scaled signals (B, C, N) to class scores (B, K).

    `signal` is the window itself (1, C, N); signal * scale + offset are microvolts, `scale` and `offset` (C, 1) or
    (C, N). Within the context that `smooth` gives, `score` has no jumps and its gradient no gaps; signals must then
    come one at a time.
    """

    signal: Tensor
    scale: Tensor
    offset: Tensor
    score: Score
    smooth: Smooth
    sfreq: float
    onset: float

    def scaled(self, microvolts: Tensor) -> Tensor:
        """Another signal (…, C, N) in microvolts, as the model would see it at this window's scale."""
        return (microvolts - self.offset) / self.scale


def explained_input(inputs: Inputs, progress: Progress) -> ModelInput:
    """The windows that an analysis asks for, with the channels that the model's head reads."""
    seconds, most = inputs.options["window"], inputs.options["windows"]
    check_classifier(inputs.model)
    return model_input(inputs, inputs.model, seconds, most, progress, for_head=True)


def explained_windows(source: ModelInput, progress: Progress, carried: Carried | None = None) -> Iterator[Explained]:
    """The windows of an analysis, one by one, ready to be explained; AnalysisError where they cannot be.

    `carried` is of NeurDuo: what its state has read before each, and which units' score is explained.
    """
    check_classifier(source.model)
    make = _maker(source, progress, carried or Carried())
    batches = source.plan.batches(1, progress, "explaining")
    for onset, batch in zip(source.plan.onsets.tolist(), batches, strict=True):
        yield make(torch.from_numpy(batch).to(source.device), onset)


def carried_of(inputs: Inputs) -> Carried:
    """What the options of an analysis say of the state."""
    return Carried(inputs.options["history"], inputs.options["units"])


def carried_notes(inputs: Inputs) -> tuple[str, ...]:
    """Which units are explained and what they have read, or that the model has no state the options could speak of."""
    carried, model = carried_of(inputs), inputs.model
    if model.family != "neurduo":
        unused = f"{model.title} carries no state from window to window: history and units change nothing."
        return () if carried == Carried() else (unused,)
    units = "the last unit" if carried.units == "last" else "the mean of all units"
    begun = (
        f"{carried.history:g} s before the window" if carried.history else "with the unit's sequence, as in its curve"
    )
    return (f"The score is that of {units} that a window reaches into; the state begins at zero {begun}.",)


def check_classifier(model: LoadedModel) -> None:
    """AnalysisError for a model that gives no class scores, or of a family that cannot be explained yet."""
    if model.family not in (*_FAMILIES, "neurduo"):
        raise AnalysisError(f"{model.title} cannot be explained yet: choose another model")
    if not model.facts.has_classifier:
        raise AnalysisError(
            f"this {model.title} has no classification head ({model.facts.path or 'made here'}): "
            "choose a fine-tuned checkpoint"
        )


def target_class(model: LoadedModel, name: str) -> int:
    """Which class: by its name, or the last one; AnalysisError lists the names."""
    labels = model.facts.labels
    if name == "last":
        return len(labels) - 1
    if name not in labels:
        raise AnalysisError(f"this model has no class {name!r}: choose one of {', '.join(labels)}, or last")
    return labels.index(name)


def baseline_signal(
    inputs: Inputs, source: ModelInput, window: Explained, kind: Baseline, seed: int
) -> tuple[Tensor, str]:
    """What a window is compared with (1, C, N), at its scale, and a sentence that says what it is.

    "interictal" is the nearest stretch of the recording without a marked seizure; "zero" the value 0 of the scaled
    signal; "mean" each channel's mean; "surrogate" the window with its phases drawn anew, its spectrum kept.
    """
    if kind == "zero":
        return torch.zeros_like(window.signal), "zero of the scaled signal"
    if kind == "mean":
        return window.signal.mean(-1, keepdim=True).expand_as(window.signal).clone(), "each channel's mean"
    if kind == "surrogate":
        return phase_surrogate(window.signal, seed), f"the window with random phases, seed {seed}"
    onset, microvolts = _interictal(inputs, source, window)
    told = f"the {source.plan.seconds:g} s from {onset:.2f} s on, in which no seizure is marked"
    return window.scaled(torch.from_numpy(microvolts).to(window.signal.device)), told


def phase_surrogate(signal: Tensor, seed: int) -> Tensor:
    """A signal (…, C, N) of the same amplitude spectrum, all channels turned by the same random phases."""
    spectrum = torch.fft.rfft(signal)
    generator = torch.Generator().manual_seed(seed)
    phase = 2 * torch.pi * torch.rand(spectrum.shape[-1], generator=generator)
    phase[0] = 0.0
    if signal.shape[-1] % 2 == 0:
        phase[-1] = 0.0
    return torch.fft.irfft(spectrum * torch.exp(1j * phase).to(spectrum.device), n=signal.shape[-1])


def _interictal(inputs: Inputs, source: ModelInput, window: Explained) -> tuple[float, Any]:
    """Onset and microvolts (1, C, N) of the nearest window that no marked seizure comes near."""
    seconds = source.plan.seconds
    marks = inputs.marked
    marked = [*marks.spans, *((at, at + UNENDED_SECONDS) for at in marks.unended)]
    for reach, margin in product(_REACH, MARGINS):
        widened = [(a - margin, z + margin) for a, z in marked]
        taken = join_spans([*widened, (window.onset, window.onset + seconds)])
        region = Window(max(0.0, window.onset - reach), min(inputs.recording.duration, window.onset + seconds + reach))
        plan = model_input(replace(inputs, window=region), source.model, seconds, for_head=source.for_head).plan
        if plan.ch_names == source.plan.ch_names and (found := _nearest(plan, taken, window.onset)) is not None:
            span, at = found
            return at, plan.read_at(span, at)[None]
    raise AnalysisError(
        f"no {seconds:g} s without a marked seizure are left to compare with ({inputs.recording.path}): "
        "choose another baseline, such as zero, or shorter windows"
    )


def _nearest(plan: WindowPlan, taken: list[tuple[float, float]], onset: float) -> tuple[int, float] | None:
    """Span and onset of the free window nearest to a time."""
    best: tuple[float, int, float] | None = None
    for i, signal in enumerate(plan.signals):
        for free in _free(Window(signal.start_seconds, signal.stop_seconds), taken):
            if free.duration < plan.seconds - 1e-9:
                continue
            at = min(max(onset, free.start), free.stop - plan.seconds)
            if best is None or abs(at - onset) < best[0]:
                best = (abs(at - onset), i, at)
    return None if best is None else best[1:]


def _free(span: Window, taken: list[tuple[float, float]]) -> Iterator[Window]:
    """What is left of a span between sorted, disjoint spans that are taken."""
    start = span.start
    for a, z in taken:
        if a > start:
            yield Window(start, min(a, span.stop))
        start = max(start, z)
    if start < span.stop:
        yield Window(start, span.stop)


def _axon(source: ModelInput, batch: Tensor, onset: float) -> Explained:
    model: Axon = source.model.network
    positions = torch.from_numpy(source.plan.positions).to(source.device)
    offset = batch.mean(-1, keepdim=True)
    scale = batch.std(-1, keepdim=True).clamp_min(_LEAST_SCALE)
    signal = ((batch - offset) / scale).clamp(-CLIP, CLIP)

    def score(scaled: Tensor) -> Tensor:
        places = positions.expand(len(scaled), -1, -1)
        tokens = model.encoder.contextualise(model.encoder.embed_standardised(scaled, places), places)
        return model.scores(tokens)

    sfreq = model.config.sampling_rate_hz
    return Explained(signal, scale[0], offset[0], score, lambda: differentiable_gates(model), sfreq, onset)


def _prise(source: ModelInput, batch: Tensor, onset: float) -> Explained:
    model: Prise = source.model.network
    arguments = source.arguments(batch)
    index = model.index(arguments["channels"])
    offset = batch.mean(-1, keepdim=True)
    scale = batch.std(-1, keepdim=True, correction=0) + 1e-5
    signal: Tensor = arguments["signal"]
    needed = model.config.n_patches
    if source.plan.seconds != needed:
        raise AnalysisError(
            f"this head was made for {needed} s, not for {source.plan.seconds:g} s: "
            f"choose a span of at least {needed} s, and windows of {needed} s"
        )

    def score(scaled: Tensor) -> Tensor:
        x = model.features(scaled, index)
        tokens = model.encode(model.tokenize(x, model.bias(scaled, index)), model.kept_groups(x))
        return model.classify(tokens, index)

    def run() -> None:
        with torch.no_grad():
            score(signal)

    def smooth() -> AbstractContextManager[None]:
        return with_pinned_routing(model, run)

    return Explained(signal, scale[0], offset[0], score, smooth, model.config.sampling_rate_hz, onset)


def _mvpformer(source: ModelInput, batch: Tensor, onset: float) -> Explained:
    model: MVPFormer = source.model.network
    size = model.config.size_input
    one = torch.ones(batch.shape[1], 1, device=batch.device)

    def score(signal: Tensor) -> Tensor:
        return model.logits(signal.unflatten(-1, (-1, size)).transpose(1, 2))

    return Explained(batch, one, torch.zeros_like(one), score, nullcontext, model.config.sampling_rate_hz, onset)


def _neurduo(source: ModelInput, progress: Progress, carried: Carried) -> Callable[[Tensor, float], Explained]:
    """Channels of the plan that the head does not read are carried along, and change nothing."""
    spans = SpanScores(source, carried, progress)
    heads, plans = spans.in_head, spans.in_plan

    def make(batch: Tensor, onset: float) -> Explained:
        span, _ = spans.at(onset, progress)
        offset, scale = torch.zeros_like(batch[0]), torch.ones_like(batch[0])
        offset[plans], scale[plans] = span.offset[heads], span.scale[heads]
        signal = batch.clone()
        signal[:, plans] = span.signal[:, heads]

        def score(scaled: Tensor) -> Tensor:
            read = span.signal.expand(len(scaled), -1, -1).clone()
            read[:, heads] = scaled[:, plans]
            return span(read)

        sfreq = source.plan.settings.sfreq
        return Explained(signal, scale, offset, score, nullcontext, sfreq, onset)

    return make


def _maker(source: ModelInput, progress: Progress, carried: Carried) -> Callable[[Tensor, float], Explained]:
    if source.model.family == "neurduo":
        return _neurduo(source, progress, carried)
    return partial(_FAMILIES[source.model.family], source)


_FAMILIES: Mapping[str, Callable[[ModelInput, Tensor, float], Explained]] = {
    "axon": _axon,
    "prise-eeg": _prise,
    "mvpformer": _mvpformer,
}
