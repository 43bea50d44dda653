"""NeurDuo reading a whole recording: from its first second, carrying its state, ready to go back to any moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from analysis.engine.neurduo_input import ChunkPlan, plan_chunks
from analysis.engine.serving import FLOAT32
from analysis.engine.state_trail import StateTrail
from analysis.errors import AnalysisError
from analysis.progress import Progress
from analysis.recording import Recording, Window
from models.neurduo.encoder import computes_in_bfloat16
from models.neurduo.model import Block, NeurDuo
from models.neurduo.normalisation import TRAILING_CHUNKS, TrailingNormaliser, normalise_window
from models.neurduo.streaming import Stream

Rule = Literal["causal", "window"]
RESET_GAP_SECONDS = 60.0
TRAIL_SECONDS = 300.0


@dataclass(frozen=True)
class StreamSettings:
    """How a recording is streamed.

    The state starts from zero at the recording's beginning and after gaps longer than `reset_gap` seconds; it is
    carried over shorter ones. `normalisation` is "causal" (what was read in the last 32 s, as live) or "window" (each
    32 s on the grid of the stretch by themselves, as in pre-training, which looks up to 32 s ahead). `precision` is the
    number format of the signal encoder's products, "float32" or "bfloat16"; all else is computed in float32.
    """

    reset_gap: float = RESET_GAP_SECONDS
    normalisation: Rule = "causal"
    precision: str = FLOAT32

    @classmethod
    def chosen(cls, options: Mapping[str, Any]) -> StreamSettings:
        """From the options of a kind of analysis."""
        return cls(options["reset_gap"], options["normalisation"], options["precision"])


@dataclass(frozen=True)
class StreamPart:
    """Steps [first, first + n) of the recording that follow each other, and what the model made of them.

    `h_before` and `s_before` (C, width) are the fast and slow states before the first step, None after a reset and,
    for the slow one, before the first write.
    """

    first: int
    block: Block
    h_before: Tensor | None
    s_before: Tensor | None

    @property
    def n_steps(self) -> int:
        """How many steps these are."""
        return self.block.z.shape[1]


class RecordingStream:
    """One recording, one model: steps in any order, computed from the nearest state that is kept.

    Steps count through the whole recording, gaps left out; `onsets` (steps,) float64 tells when each begins in
    seconds, `resets` the steps before which the state starts from zero.
    """

    def __init__(
        self,
        recording: Recording,
        model: NeurDuo,
        settings: StreamSettings | None = None,
        window: Window | None = None,
        progress: Progress | None = None,
        trail_seconds: float = TRAIL_SECONDS,
    ) -> None:
        self.recording, self.model = recording, model
        self.settings = settings or StreamSettings()
        facts = model.checkpoint.preprocessing
        length = model.config.chunk_samples
        self.plan: ChunkPlan = plan_chunks(recording, facts, length, not model.has_classifier, window, progress)
        self.onsets = self.plan.onsets()
        self.resets = tuple(
            first for first, gap in zip(self.plan.first, self.plan.gap, strict=True) if gap > self.settings.reset_gap
        )
        electrodes = self.plan.electrodes
        positions, ids = torch.from_numpy(electrodes.positions), torch.from_numpy(electrodes.reference_ids)
        self._stream = Stream(model, positions, ids, front_end=self._front_end())
        self._normaliser = TrailingNormaliser(len(electrodes.picks), length)
        self._at, self._whole = 0, True
        self.trail = StateTrail(max(1, round(trail_seconds / self.plan.chunk_seconds)))

    @property
    def n_steps(self) -> int:
        """How many chunks the recording has."""
        return self.plan.n_chunks

    @property
    def state_bytes(self) -> int:
        """Bytes of the model's state, which never grows."""
        return self._stream.state_bytes

    def step_at(self, time: float) -> int:
        """The step that holds a time in seconds, or the next one that begins after it; `n_steps` beyond the end."""
        later = self.first_from(time + 2e-9)
        if later and time < self.onsets[later - 1] + self.plan.chunk_seconds - 1e-9:
            return later - 1
        return later

    def first_from(self, time: float) -> int:
        """The first step that begins at a time in seconds or later; `n_steps` beyond the end."""
        return int(np.searchsorted(self.onsets, time - 1e-9, side="left"))

    def run(self, start: int, stop: int, progress: Progress | None = None) -> Iterator[StreamPart]:
        """What the model makes of steps [start, stop), part by part; the way to `start` is made up where needed.

        `progress` hears of every part, the way included; Cancelled comes out of it.
        """
        progress = progress or Progress()
        begin = self.seek(start)
        for low, high in ((begin, start), (start, stop)):
            for part in self._advance(low, high):
                progress.report(part.first + part.n_steps - begin, stop - begin, "reading the recording")
                if part.first >= start:
                    yield part

    def seek(self, step: int) -> int:
        """Take up the nearest state at or before a step; returns the step it belongs to."""
        reset = max((r for r in self.resets if r <= step), default=0)
        found = self.trail.before(step, least=reset)
        usable = self._whole and reset <= self._at <= step
        if usable and (found is None or found[0] <= self._at):
            return self._at
        return self._restore(*found) if found else self._start(reset)

    def chunks(self, start: int, stop: int) -> Iterator[Tensor]:
        """Normalised chunks (n, C, L) of steps [start, stop) of one run; the causal rule goes on from its memory."""
        if self.settings.normalisation == "window":
            yield from self._windows(start, stop)
            return
        for raw in self.plan.read(self.recording, start, stop):
            yield self._normaliser.run(torch.from_numpy(np.ascontiguousarray(raw)))

    def _windows(self, start: int, stop: int) -> Iterator[Tensor]:
        """By the window rule: whole windows are read, whatever part of them is asked for."""
        index = self.plan.run_of(start)
        first = self.plan.first[index]
        last = first + self.plan.runs[index].n_wanted
        at = start
        while at < stop:
            low = first + (at - first) // TRAILING_CHUNKS * TRAILING_CHUNKS
            high = min(low + TRAILING_CHUNKS, last)
            (raw,) = self.plan.read(self.recording, low, high)
            signal = torch.from_numpy(np.ascontiguousarray(raw.transpose(1, 0, 2))).flatten(1)  # (C, samples)
            made = normalise_window(signal).view(raw.shape[1], high - low, -1).transpose(0, 1)
            end = min(high, stop)
            yield made[at - low : end - low]
            at = end

    def _front_end(self) -> torch.dtype | None:
        """The number format that is asked for; AnalysisError where the device is not made for it."""
        if self.settings.precision == FLOAT32:
            return None
        device = self.model.input_norm.weight.device
        if not computes_in_bfloat16(device):
            raise AnalysisError(
                f"this device is not made for products in bfloat16 ({device.type}): choose the precision {FLOAT32}"
            )
        return torch.bfloat16

    def _advance(self, start: int, stop: int) -> Iterator[StreamPart]:
        """Steps from where the state is, cut at runs and at states to keep."""
        at = start
        while at < stop:
            run = self.plan.run_of(at)
            if at in self.resets:
                self._start(at)
            if self.trail.wants(at):
                self.trail.put(at, self._saved())
            end = min(stop, self.plan.first[run] + self.plan.runs[run].n_wanted)
            end = min(end, (at // self.trail.interval + 1) * self.trail.interval)
            for chunks in self.chunks(at, end):
                self._whole = False  # the normaliser is ahead of the model until all blocks are through
                for part in self._blocks(chunks):
                    self._at = part.first + part.n_steps
                    yield part
                self._whole = True
            at = end

    def _blocks(self, chunks: Tensor) -> Iterator[StreamPart]:
        first, config = self._at, self.model.config
        before = self._stream.state_dict()
        h, s = before["fast.last_output"], before["slow.last_output"]
        t = int(before["t"])
        for block in self._stream.blocks(chunks[None].to(self.model.input_norm.weight)):
            has_written = t >= config.write_every_n_steps
            yield StreamPart(first, block, h if t else None, s if has_written else None)
            first, t = first + block.z.shape[1], t + block.z.shape[1]
            h, s = block.h[:, -1], block.slow_states[:, -1]

    def _start(self, step: int) -> int:
        self._stream.reset()
        self._normaliser.reset()
        self._at, self._whole = step, True
        return step

    def _saved(self) -> dict[str, Tensor]:
        ours = {f"normaliser.{name}": tensor for name, tensor in self._normaliser.state_dict().items()}
        return {**self._stream.state_dict(), **ours}

    def _restore(self, step: int, saved: dict[str, Tensor]) -> int:
        self._stream.load_state_dict(saved)
        prefix = "normaliser."
        mine = {name.removeprefix(prefix): tensor for name, tensor in saved.items() if name.startswith(prefix)}
        self._normaliser.load_state_dict(mine)
        self._at, self._whole = step, True
        return step


_last: tuple[tuple[Any, ...], RecordingStream] | None = None


def recording_stream(
    recording: Recording, model: NeurDuo, settings: StreamSettings, progress: Progress | None = None
) -> RecordingStream:
    """The stream of a recording; the one used last is kept with its states, so that seeking stays short."""
    global _last
    key = (recording.id, recording.duration, recording.bad_channels, id(model), settings)
    if _last is None or _last[0] != key:
        if _last is not None:
            _last[1].trail.close()
        _last = None  # so that two are never held at once
        _last = (key, RecordingStream(recording, model, settings, progress=progress))
    stream = _last[1]
    stream.recording = recording  # the file may have been opened anew
    return stream
