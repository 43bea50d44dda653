"""What a fine-tuned NeurDuo says of a unit, as a function of the signal of a span that its state was carried through.

The units are those of the seizure curve: on the grid of the recording, in the sequences that the head was tuned on, the
state starting from zero with each. Only the samples of the span vary; what was read before has led to one constant
state, what follows within the unit is constant too, and the scale of the input stays as it is.

Letters: B signals, C channels of the head, N samples of the span, S steps, L samples of a chunk, D width of a token.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from analysis.engine.model_inputs import ModelInput
from analysis.engine.neurduo_units import UnitClassifier, find_channels
from analysis.errors import AnalysisError
from analysis.preprocessing import SpanSignal
from analysis.progress import Progress
from analysis.recording import Window
from analysis.survey import ScorableSpan, survey_recording
from models.neurduo.mamba import MambaState
from models.neurduo.model import BLOCK_STEPS, Block, Montage
from models.neurduo.normalisation import common_scale
from models.neurduo.state import StreamState

Which = Literal["last", "mean"]  # as in analysis.kinds.UNITS
_KEPT_VALUES = 100_000_000  # of what a gradient needs at once; beyond it steps are worked out again on the way back


@dataclass(frozen=True)
class Carried:
    """How a span lies in the stream: what is read before it, and which units' score is asked for.

    `history` is in seconds before the span; 0 stands for the sequence of units that the seizure curve reads. `units` is
    the "last" unit that the span reaches into, or the "mean" over all of them.
    """

    history: float = 0.0
    units: Which = "last"


@dataclass(frozen=True)
class Place:
    """Samples, all counted from the grid's origin: what is read, and which units are told.

    The state starts from zero at `start`; the first unit whose embedding is read begins at `first_unit`, the last one
    at `unit`; `stop` is the end of what is read for the scale, `padded` the zeros behind it that count too. The span is
    [begin, end), and `asked` units at the end are reached by it.
    """

    start: int
    first_unit: int
    unit: int
    stop: int
    padded: int
    begin: int
    end: int
    asked: int


def place_span(
    span: tuple[int, int], stretch: tuple[int, int], unit: int, chunk: int, context: int, history: int
) -> Place | None:
    """Where to begin and to end for samples [begin, end) of a stretch [first, stop); None where no unit is whole.

    A last unit that the stretch cuts off is moved until it is whole.
    """
    (begin, end), (first, stop) = span, stretch
    if stop - first < unit:
        return None
    last = min(max((end - 1) // unit * unit, first), stop - unit)
    possible = (last - first) // unit
    wanted = -(-max(0, last - begin) // unit)
    before = max(-(-(history + last - begin) // unit), wanted) if history else max(last // unit % context, wanted)
    before = min(before, possible)
    first_unit = last - before * unit
    lead = -(-max(0, first_unit - begin) // chunk) * chunk
    start = first_unit - min(lead, (first_unit - first) // chunk * chunk)
    after = min(max(context - before - 1, 0), (stop - last - unit) // unit)
    padded = max(context - before - 1 - after, 0) * unit
    asked = 1 + min(before, wanted)
    return Place(start, first_unit, last, last + (1 + after) * unit, padded, begin, end, asked)


def scale_of(signal: Tensor, place: Place, unit: int, over: str) -> tuple[Tensor, Tensor]:
    """What is subtracted and divided by, (C, S L) each, of what is read (C, S L) in microvolts, by the head's rule."""
    pieces = [signal]
    if over == "window":
        lead = place.first_unit - place.start
        pieces = [*([signal[:, :lead]] if lead else []), *signal[:, lead:].split(unit, dim=1)]
    offsets, scales = [], []
    for piece in pieces:
        zeros = piece.new_zeros(len(piece), place.padded if over == "sequence" else 0)
        whole = torch.cat([piece, zeros], dim=1)
        offsets.append(whole.mean(-1, keepdim=True).expand_as(piece))
        scales.append(common_scale(whole.std(-1)).expand_as(piece))
    return torch.cat(offsets, 1), torch.cat(scales, 1)


class SpanScore:
    """Scores (B, K) of the units that a span reaches into, of its signals (B, C, N) scaled as `signal` (1, C, N).

    signal * scale + offset are microvolts, `scale` and `offset` (C, N).
    """

    def __init__(
        self,
        classifier: UnitClassifier,
        microvolts: Tensor,
        missing: Tensor,
        place: Place,
        which: Which,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        model, head = classifier.model, classifier.head
        self._classifier, self._place, self._missing = classifier, place, missing
        self._asked = place.asked if which == "mean" else 1
        length = model.config.chunk_samples
        offset, scale = scale_of(microvolts, place, classifier.unit_samples, head.normalisation)
        inside = slice(place.begin - place.start, place.end - place.start)
        self._cut = max(0, -inside.start)  # samples of the span that no unit reads
        inside = slice(max(0, inside.start), inside.stop)
        device = classifier.device
        whole = ((microvolts - offset) / scale).masked_fill(missing[:, None], 0.0).to(device)
        ends = nn.functional.pad
        self.offset = ends(offset[:, inside], (self._cut, 0), mode="replicate").to(device)
        self.scale = ends(scale[:, inside], (self._cut, 0), mode="replicate").to(device)
        self.signal = ends(whole[:, inside], (self._cut, 0))[None]
        steps = (place.unit + classifier.unit_samples - place.start) // length
        chunks = whole[:, : steps * length].unflatten(1, (steps, length)).transpose(0, 1)  # (S, C, L)
        self._first, self._last = inside.start // length, -(-inside.stop // length)
        self._inside = slice(inside.start - self._first * length, inside.stop - self._first * length)
        self._varying = chunks[self._first : self._last].transpose(0, 1).flatten(1)  # (C, samples)
        self._montages: dict[int, Montage] = {}
        self.output = nn.Identity()  # tapped by those who look at the tokens that the head reads
        with torch.no_grad():
            self._read_before(chunks[: self._first], tick)
            later = chunks[self._last :][None]
            self._later = model.channel_tokens(later, self._montage(1)) if later.shape[1] else None

    def steps_inside(self) -> tuple[slice, int]:
        """The steps whose middle lies in the span, among those that vary, and the sample where the first begins."""
        length = self._classifier.model.config.chunk_samples
        half = length // 2
        first = -(-(self._inside.start - half) // length)
        stop = -(-(self._inside.stop - half) // length)
        return slice(first, stop), self._place.start + (self._first + first) * length

    def __call__(self, signals: Tensor, again: bool = True) -> Tensor:
        """(B, C, N) -> (B, K); `again` allows to work steps out twice, where their gradient would not fit in memory."""
        model, count = self._classifier.model, len(signals)
        varying = self._varying.expand(count, -1, -1).clone()
        there = signals[..., self._cut :].masked_fill(self._missing.to(signals.device)[:, None], 0.0)
        varying[..., self._inside] = there
        chunks = varying.unflatten(2, (-1, model.config.chunk_samples)).transpose(1, 2)
        z = self._advance(chunks, again)
        n_channels = len(self._missing)
        z = torch.cat([self._begun.repeat(count, 1, 1), z], dim=1).view(count, n_channels, -1, z.shape[-1])
        if model.context is None:
            logits = model.unit_logits(z, None, self._missing.expand(count, -1).to(z.device))
        else:
            logits = model.classify_units(torch.cat([self._units.expand(count, -1, -1), model.unit_embeddings(z)], 1))
        return logits[:, -self._asked :].mean(1)

    def _read_before(self, chunks: Tensor, tick: Callable[[], None]) -> None:
        """The constant past: state, embeddings of whole units, and tokens of the unit that the span begins in.

        `tick` is called after each block of steps.
        """
        model, head = self._classifier.model, self._classifier.head
        lead = (self._place.first_unit - self._place.start) // model.config.chunk_samples
        n_channels = len(self._missing)
        state = model.zero_state(n_channels)
        parts = [state.fast_out.new_zeros(n_channels, 0, model.config.z_dim)]
        if len(chunks):
            for block in model.blocks(chunks[None], self._montage(1), state):
                parts.append(block.z)
                state = block.state
                tick()
        z = torch.cat(parts, dim=1)[:, lead:]
        whole = z.shape[1] // head.unit_steps * head.unit_steps
        self._state = state
        self._begun = z[:, whole:]
        self._units = z.new_zeros(1, 0, head.d_hidden)
        if whole and model.context is not None:
            self._units = model.unit_embeddings(z[:, :whole].view(1, n_channels, whole, -1))
        # Steps of a lead that the span reaches into lead the state, and no unit reads them.
        self._unread = max(0, lead - len(chunks))

    def _advance(self, chunks: Tensor, again: bool) -> Tensor:
        """z (B C, S, D) of the steps from the first that varies on, as many of them at a time as memory allows."""
        count, n_varying = chunks.shape[:2]
        state, montage = _repeated(self._state, count), self._montage(count)
        parts: list[Tensor] = []
        at = 0
        size = self._step_size(count) if again and torch.is_grad_enabled() else BLOCK_STEPS
        again = size < BLOCK_STEPS
        n_steps = self._n_steps()
        while at < n_steps:
            stop = min(at + size, n_steps if at >= n_varying else n_varying)
            work = self._worker(chunks[:, at:stop] if at < n_varying else None, (at, stop), montage, state)
            z, state = checkpoint(work, use_reentrant=False) if again else work()
            parts.append(z)
            at = stop
        whole: Tensor = self.output(torch.cat(parts, dim=1))
        return whole[:, self._unread :]

    def _worker(
        self, chunks: Tensor | None, steps: tuple[int, int], montage: Montage, state: StreamState
    ) -> Callable[[], tuple[Tensor, StreamState]]:
        model = self._classifier.model

        def work() -> tuple[Tensor, StreamState]:
            if chunks is not None:
                with torch.set_grad_enabled(torch.is_grad_enabled() and chunks.requires_grad):
                    tokens = model.channel_tokens(chunks, montage)
            else:
                assert self._later is not None  # steps beyond those that vary
                first = self._last - self._first
                tokens = self._later[:, steps[0] - first : steps[1] - first].expand(montage.n_items, -1, -1, -1)
            block: Block = model.advance(tokens, montage, state)
            return block.z, block.state

        return work

    def _step_size(self, count: int) -> int:
        """How many steps a gradient can go through at a time; all of a block where the whole of it fits."""
        fits = _KEPT_VALUES // max(1, count * self._values_per_step())
        return BLOCK_STEPS if fits >= self._n_steps() else max(1, min(fits, BLOCK_STEPS - 1))

    def _n_steps(self) -> int:
        later = 0 if self._later is None else self._later.shape[1]
        return self._last - self._first + later

    def _values_per_step(self) -> int:
        """About how many values a gradient keeps of one step of all channels."""
        config = self._classifier.model.config
        encoder = config.chunk_samples * config.patch_hidden_dim * (5 * len(config.patch_kernel_sizes) + 3)
        states = 3 * config.fast_d_state * config.fast_expand_factor * config.fast_dim * config.fast_num_layers
        return len(self._missing) * (encoder + states)

    def _montage(self, count: int) -> Montage:
        if count not in self._montages:
            with torch.no_grad():
                self._montages[count] = self._classifier.montage(count, self._missing)
        return self._montages[count]


def _repeated(state: StreamState, count: int) -> StreamState:
    """The same state for each of some signals."""

    def many(tensor: Tensor) -> Tensor:
        return tensor.repeat(count, *[1] * (tensor.ndim - 1))

    def blocks(states: list[MambaState]) -> list[MambaState]:
        return [MambaState(many(one.conv), many(one.ssm)) for one in states]

    return StreamState(
        blocks(state.fast),
        blocks(state.slow),
        many(state.queue),
        many(state.bank),
        many(state.fast_out),
        many(state.slow_out),
        state.t,
    )


class SpanScores:
    """The spans of one recording, each as a function; `ch_names` are those of the head's channels, in its order.

    Channels `in_head` are channels `in_plan` of the plan.
    """

    def __init__(self, source: ModelInput, carried: Carried, progress: Progress) -> None:
        self._classifier = UnitClassifier(source.model.network, source.device)
        self._carried, self._source = carried, source
        unit = self._classifier.unit_seconds
        reach = max(carried.history, unit * self._classifier.head.context_units) + 2 * unit
        first, last = float(source.plan.onsets.min()), float(source.plan.onsets.max()) + source.plan.seconds
        recording = source.recording
        region = Window(max(0.0, first - reach), min(recording.duration, last + reach))
        survey = survey_recording(recording, region, progress=progress)
        electrodes, missing = find_channels(recording, survey, self._classifier.head)
        self.ch_names, self._missing = electrodes.ch_names, torch.from_numpy(missing)
        found = [(i, source.plan.ch_names.index(n)) for i, n in enumerate(self.ch_names) if n in source.plan.ch_names]
        self.in_head, self.in_plan = [i for i, _ in found], [i for _, i in found]
        settings = source.plan.settings
        self._signals: list[tuple[ScorableSpan, SpanSignal]] = [
            (span, SpanSignal(recording, span, electrodes.picks, settings)) for span in survey.spans
        ]

    def at(self, onset: float, progress: Progress | None = None) -> tuple[SpanScore, float]:
        """The span of the plan's length from a time on, as a function, and when the first of its steps begins."""
        onsets, progress = self._source.plan.onsets, progress or Progress()
        number = int(np.searchsorted(onsets, onset))

        def tick() -> None:
            progress.report(number, len(onsets), "reading what came before")

        seconds, sfreq = self._source.plan.seconds, self._source.plan.settings.sfreq
        signal = next(signal for span, signal in self._signals if span.start - 1e-6 <= onset < span.stop)
        length, unit = round(seconds * sfreq), self._classifier.unit_samples
        begin = min(max(round((onset - signal.origin) * sfreq), signal.first), signal.stop - length)
        model, head = self._classifier.model, self._classifier.head
        history, chunk = round(self._carried.history * sfreq), model.config.chunk_samples
        stretch = (signal.first, signal.stop)
        place = place_span((begin, begin + length), stretch, unit, chunk, head.context_units, history)
        if place is None:
            raise AnalysisError(
                f"no whole unit of {self._classifier.unit_seconds:g} s lies around {onset:g} s "
                f"({self._source.recording.path}): choose a span in a longer stretch without gaps"
            )
        microvolts = torch.from_numpy(signal.read(place.start, place.stop))
        score = SpanScore(self._classifier, microvolts, self._missing, place, self._carried.units, tick)
        return score, signal.origin + score.steps_inside()[1] / sfreq
