"""A streaming step whose input, state and output lie in buffers that never move, so that a GPU replays it as a graph.

A step of NeurDuo is some 250 small operations: on a GPU it takes as long as it takes to ask for them one by one, unless
they are recorded once and replayed. On a processor the same operations are done one by one, for tests.

Letters: R rows, D fast width, E slow width, Q entries of the queue, K slots of the bank.
"""

from __future__ import annotations

import logging

import torch
from torch import Tensor

from models.neurduo.mamba import MambaState, StepState
from models.neurduo.prepared import Prepared
from models.neurduo.state import StreamState

logger = logging.getLogger(__name__)
_WARM_UP = 3  # times before a graph is recorded, so that libraries have chosen their ways and taken their memory


class StaticState(StepState):
    """The state of a block in buffers that stay where they are."""

    def push(self, x: Tensor) -> list[Tensor]:
        """As in the base class, by copying."""
        for older, newer in zip(self.conv[:-1], self.conv[1:], strict=True):
            older.copy_(newer)
        self.conv[-1].copy_(x)
        return self.conv

    def load(self, state: MambaState) -> None:
        """Take over a state."""
        for tap, given in zip(self.conv, state.conv.unbind(1), strict=True):
            tap.copy_(given)
        self.ssm.copy_(state.ssm)


class StaticStep:
    """Steps of the rows that `prepared` is for; `load` a state first. Nothing here depends on values on the device.

    How far queue and bank are filled is worked out on the device from a counter; only whether a step writes makes two
    sequences of operations, and so two graphs. What the last step gave is in `z` (R, D + E), `h` (R, D), `slow` (R, E),
    `weights` (R, K) on all slots, newest last, and `gate` (R, E), until the next one.
    """

    @torch.inference_mode()
    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared
        self._config = config = prepared.model.config
        n_rows = prepared.montage.n_items * prepared.montage.n_channels
        state = prepared.model.zero_state(n_rows)
        self._fast = [StaticState.of(block) for block in state.fast]
        self._slow = [StaticState.of(block) for block in state.slow]
        self._queue, self._bank = state.queue, state.bank
        self._keys, self._values = torch.zeros_like(state.bank), torch.zeros_like(state.bank)
        self._slots = torch.arange(config.memory_bank_size, device=state.queue.device)
        self._counter = torch.zeros((), dtype=torch.int64, device=state.queue.device)
        self.chunk = state.queue.new_zeros(n_rows, config.chunk_samples)
        self.h, self.slow, self.gate = state.fast_out, state.slow_out, torch.zeros_like(state.slow_out)
        self.weights = state.bank.new_zeros(n_rows, config.memory_bank_size)
        self.z = state.queue.new_zeros(n_rows, config.z_dim)
        self.t = 0
        self._graphs: dict[bool, torch.cuda.CUDAGraph] = {}
        if state.queue.is_cuda:
            self._record()

    @torch.inference_mode()
    def load(self, state: StreamState) -> None:
        """Go on from a state, which is copied."""
        for mine, given in zip([*self._fast, *self._slow], [*state.fast, *state.slow], strict=True):
            mine.load(given)
        pairs = [(self._queue, state.queue), (self._bank, state.bank), (self.h, state.fast_out)]
        for buffer, values in [*pairs, (self.slow, state.slow_out)]:
            buffer.copy_(values)
        retrieval = self._prepared.model.retrieval
        self._keys.copy_(retrieval.key(self._bank))
        self._values.copy_(retrieval.value(self._bank))
        self.t = state.t
        self._counter.fill_(state.t)

    @torch.inference_mode()
    def save(self) -> StreamState:
        """A copy of the state."""
        fast, slow = ([block.gather() for block in blocks] for blocks in (self._fast, self._slow))
        queue, bank, h, held = (tensor.clone() for tensor in (self._queue, self._bank, self.h, self.slow))
        return StreamState(fast, slow, queue, bank, h, held, self.t)

    @torch.inference_mode()
    def step(self, chunk: Tensor) -> bool:
        """Normalised samples (R, L) go in; tells whether the step wrote."""
        self.chunk.copy_(chunk)
        self.t += 1
        writes = self.t % self._config.write_every_n_steps == 0
        if self._graphs:
            self._graphs[writes].replay()
        else:
            self._operate(writes)
        return writes

    def _operate(self, writes: bool) -> None:
        """The operations of a step, all of fixed shapes on fixed buffers."""
        prepared = self._prepared
        self._counter.add_(1)
        self.h.copy_(prepared.fast(self.chunk, self._fast))
        _push(self._queue, self.h)
        if writes:
            self._write()
        scores = prepared.scores(self.h, self._keys)
        made = self._counter // self._config.write_every_n_steps
        begun = made > 0
        is_empty = begun & (self._slots < len(self._slots) - made)
        self.weights.copy_(scores.masked_fill(is_empty, float("-inf")).softmax(dim=1) * begun)
        mixture, gate = prepared.recall(self.h, self.weights, self._values)
        self.gate.copy_(gate * begun)
        self.z.copy_(torch.cat([self.h, torch.addcmul(self.slow, self.gate, mixture)], dim=1))

    def _write(self) -> None:
        """Pool the queue, move the slow stream, put the token into the bank."""
        model, pooled = self._prepared.model, self._config.pooled_steps
        token = model.writer(self._queue[:, None, -pooled:], self._counter.clamp(max=pooled)[None])[:, 0]
        self.slow.copy_(self._prepared.slow(token, self._slow))
        _push(self._bank, token)
        _push(self._keys, model.retrieval.key(token))
        _push(self._values, model.retrieval.value(token))

    def _record(self) -> None:
        """Record both kinds of step; what the buffers hold afterwards means nothing."""
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for writes in (False, True):
                for _ in range(_WARM_UP):
                    self._operate(writes)
        torch.cuda.current_stream().wait_stream(stream)
        pool = None
        for writes in (False, True):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=pool):
                self._operate(writes)
            self._graphs[writes], pool = graph, graph.pool()


def record_step(prepared: Prepared) -> StaticStep | None:
    """A static step, or None, with the reason in the log, where its graphs cannot be recorded."""
    try:
        return StaticStep(prepared)
    except (RuntimeError, NotImplementedError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        logger.info(
            "streaming steps are asked for one operation at a time, since no graph of them can be made: %s", reason
        )
        return None


def _push(buffer: Tensor, entry: Tensor) -> None:
    """Put an entry (R, width) at the end of a buffer (R, entries, width), whose first one goes."""
    buffer.copy_(torch.cat([buffer[:, 1:], entry[:, None]], dim=1))
