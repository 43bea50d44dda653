"""The streaming form of NeurDuo: one chunk of 0.5 s at a time from a state of constant size (paper appendix F.1).

Letters: B items, C channels, L samples of a chunk, R = B C rows, D fast width, E slow width, K slots of the bank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass

import torch
from torch import Tensor

from models.neurduo.mamba import StepState
from models.neurduo.model import Block, Montage, NeurDuo
from models.neurduo.prepared import Prepared
from models.neurduo.state import StreamState, from_dict, lengths, to_dict
from models.neurduo.static_step import StaticStep, record_step


@dataclass(frozen=True)
class Step:
    """What one step gave beside z: h (R, D), the slow state that holds (R, E), and what the bank recalled.

    `weights` (R, n) lie on the n filled slots, newest last, `gate` (R, E) lets their mixture pass; both are None
    before the first write. `wrote` tells whether this step wrote.
    """

    h: Tensor
    slow: Tensor
    weights: Tensor | None
    gate: Tensor | None
    wrote: bool


class Stream:
    """Reads a recording chunk by chunk, or many chunks at once, and carries its state.

    `positions` (C, 3) or (B, C, 3) unit vectors, `reference_ids` and `missing` (C,) or (B, C); where all of them are
    None, `n_channels` says how many there are. The model's weights must not change while it is in use. Gradients are
    not kept.

    `front_end` is the number format of the signal encoder's products, None that of its weights; all else is computed
    in that of the weights. With `is_static` single steps work on buffers that stay where they are, which a GPU replays
    as graphs; None does so on a GPU.
    """

    def __init__(
        self,
        model: NeurDuo,
        positions: Tensor | None,
        reference_ids: Tensor | None,
        missing: Tensor | None = None,
        batch: int = 1,
        n_channels: int | None = None,
        front_end: torch.dtype | None = None,
        is_static: bool | None = None,
    ) -> None:
        known = [len(values) for values in (reference_ids, missing) if values is not None and values.ndim == 1]
        known += [values.shape[1] for values in (reference_ids, missing) if values is not None and values.ndim == 2]
        known += [] if positions is None else [positions.shape[-2]]
        n_channels = n_channels or (known[0] if known else None)
        if n_channels is None:
            raise ValueError("without positions, reference ids and missing flags the number of channels must be given")
        self.model, self._front_end = model, front_end
        self._is_static = model.input_norm.weight.is_cuda if is_static is None else is_static
        self._keys: Tensor
        self._values: Tensor
        self._steps: tuple[list[StepState], list[StepState]] | None = None
        self._static: StaticStep | None = None
        self._at_static = False  # whether the state is the static step's
        with torch.inference_mode():
            self.montage: Montage = model.montage_of(batch, n_channels, positions, reference_ids, missing)
        self._prepared = Prepared(model, self.montage, front_end)
        self.last: Step | None = None
        self.reset()

    @property
    def t(self) -> int:
        """Steps read since the last reset."""
        return self._state.t

    @property
    def state_bytes(self) -> int:
        """Size of the state, in the layout of the published runner, without the step counter."""
        return self._gathered().n_bytes

    @torch.inference_mode()
    def reset(self) -> None:
        """Forget everything, as at the beginning of a recording."""
        self._take_up(self.model.zero_state(self.montage.n_items * self.montage.n_channels))

    @torch.inference_mode()
    def step(self, chunk: Tensor) -> Tensor:
        """A normalised chunk (B, C, L) -> z (B, C, D + E); what it is made of is then in `last`."""
        n_items, n_channels = self.montage.n_items, self.montage.n_channels
        length = self.model.config.chunk_samples
        if tuple(chunk.shape) != (n_items, n_channels, length):
            raise ValueError(f"a chunk must have the shape {(n_items, n_channels, length)}, not {tuple(chunk.shape)}")
        rows = chunk.to(self.model.input_norm.weight).reshape(-1, length)
        z = self._step_static(rows) if self._has_static() else self._step_plainly(rows)
        return z.view(n_items, n_channels, -1)

    def run(self, chunks: Tensor) -> Tensor:
        """Normalised chunks (B, S, C, L) -> z (B, C, S, D + E): as S steps, by the scan over many steps at once."""
        z = torch.cat([block.z for block in self.blocks(chunks)], dim=1)
        return z.view(self.montage.n_items, self.montage.n_channels, *z.shape[1:])

    def blocks(self, chunks: Tensor) -> Iterator[Block]:
        """As `run`, block by block, with the values that z is made of; the state has moved on by each one given."""
        length = self.model.config.chunk_samples
        shape = (self.montage.n_items, chunks.shape[1], self.montage.n_channels, length)
        if tuple(chunks.shape) != shape or not chunks.shape[1]:
            raise ValueError(f"chunks must have the shape {shape}, not {tuple(chunks.shape)}")
        with torch.inference_mode():
            given = chunks.to(self.model.input_norm.weight)
            parts = self.model.blocks(given, self.montage, self._gathered(), self._front_end)
        while True:
            with torch.inference_mode():  # not around the yield: what others do in between is theirs
                block = next(parts, None)
                if block is None:
                    return
                self._take_up(block.state.clone())
            self.last = None
            yield block

    @torch.inference_mode()
    def encode_signal(self, chunk: Tensor) -> Tensor:
        """A normalised chunk (B, C, L) -> what the signal encoder makes of it, (R, width); changes nothing."""
        return self._prepared.encode(chunk.to(self.model.input_norm.weight).reshape(-1, chunk.shape[-1]))

    def state_dict(self) -> dict[str, Tensor]:
        """A copy of the state under the names of the published runner, with its counters; always of the same size."""
        return to_dict(self._gathered(), self.model.config)

    @torch.inference_mode()
    def load_state_dict(self, saved: Mapping[str, Tensor]) -> None:
        """Go on from a state that `state_dict` gave, of the same model and number of rows; else a ValueError."""
        state = self._gathered()
        from_dict(state, saved)
        self._take_up(state)

    def branch(self) -> Stream:
        """Another stream that goes on from here; neither changes the other."""
        other = copy(self)
        other._state, other._steps = self._gathered().clone(), None
        other._static, other._at_static = None, False
        other._prepared = Prepared(self.model, self.montage, self._front_end)  # a room of its own: both may run at once
        return other

    def _has_static(self) -> bool:
        """Whether steps work on static buffers, which are made, and take up the state, when the first one comes."""
        if not self._is_static:
            return False
        if self._static is None:
            self._static = record_step(self._prepared)
            self._is_static = self._static is not None
        if self._static is not None and not self._at_static:
            self._static.load(self._gathered())
            self._at_static = True
        return self._is_static

    def _step_static(self, rows: Tensor) -> Tensor:
        """A step on the static buffers; what it gave is copied, since the next one overwrites it."""
        static = self._static
        assert static is not None  # `_has_static` made it
        wrote = static.step(rows)
        self._state.t = static.t
        filled = lengths(self.model.config, static.t)[1]
        weights, gate = (static.weights[:, -filled:].clone(), static.gate.clone()) if filled else (None, None)
        self.last = Step(static.h.clone(), static.slow.clone(), weights, gate, wrote)
        return static.z.clone()

    def _step_plainly(self, rows: Tensor) -> Tensor:
        """A step, operation by operation."""
        model, state = self.model, self._state
        if self._steps is None:
            self._steps = [StepState.of(s) for s in state.fast], [StepState.of(s) for s in state.slow]
        h = self._prepared.fast(rows, self._steps[0])
        state.queue = torch.cat([state.queue[:, 1:], h[:, None]], dim=1)
        state.fast_out = h
        state.t += 1
        wrote = state.t % model.config.write_every_n_steps == 0
        if wrote:
            self._write()
        context, weights, gate = self._retrieve(h)
        self.last = Step(h, state.slow_out, weights, gate, wrote)
        slow = state.slow_out if context is None else state.slow_out + context
        return torch.cat([h, slow], dim=1)

    def _write(self) -> None:
        """Pool the queue, move the slow stream, put the token into the bank."""
        model, state = self.model, self._state
        pooled = min(state.t, model.config.pooled_steps)
        token = model.writer(state.queue[:, None, -pooled:])[:, 0]
        assert self._steps is not None  # a step is under way
        state.slow_out = self._prepared.slow(token, self._steps[1])
        state.bank = torch.cat([state.bank[:, 1:], token[:, None]], dim=1)
        key, value = model.retrieval.key(token), model.retrieval.value(token)
        self._keys = torch.cat([self._keys[:, 1:], key[:, None]], dim=1)
        self._values = torch.cat([self._values[:, 1:], value[:, None]], dim=1)

    def _retrieve(self, h: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        """Context (R, E), weights and gate; None before the first write."""
        filled = lengths(self.model.config, self._state.t)[1]
        if not filled:
            return None, None, None
        weights = self._prepared.scores(h, self._keys[:, -filled:]).softmax(dim=1)
        mixture, gate = self._prepared.recall(h, weights, self._values[:, -filled:])
        return gate * mixture, weights, gate

    @torch.inference_mode()
    def _gathered(self) -> StreamState:
        """The state with what single steps have moved on."""
        if self._at_static and self._static is not None:
            self._state = self._static.save()
        if self._steps is not None:
            self._state.fast, self._state.slow = ([step.gather() for step in steps] for steps in self._steps)
        return self._state

    def _take_up(self, state: StreamState) -> None:
        """Go on from a state, whose keys and values of the bank are kept beside it."""
        self._state, self._steps, self._at_static = state, None, False
        retrieval = self.model.retrieval
        self._keys, self._values = retrieval.key(state.bank), retrieval.value(state.bank)
