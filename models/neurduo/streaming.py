"""The streaming form of NeurDuo: one chunk of 0.5 s at a time from a state of constant size (paper appendix F.1).

Letters: B items, C channels, L samples of a chunk, R = B C rows, D fast width, E slow width, K slots of the bank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from models.neurduo.encoder import FastSignalEncoder
from models.neurduo.mamba import MambaState, MambaStep
from models.neurduo.model import Block, Montage, NeurDuo
from models.neurduo.stacks import MambaStack
from models.neurduo.state import StreamState, from_dict, lengths, to_dict


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
    """

    def __init__(
        self,
        model: NeurDuo,
        positions: Tensor | None,
        reference_ids: Tensor | None,
        missing: Tensor | None = None,
        batch: int = 1,
        n_channels: int | None = None,
    ) -> None:
        known = [len(values) for values in (reference_ids, missing) if values is not None and values.ndim == 1]
        known += [values.shape[1] for values in (reference_ids, missing) if values is not None and values.ndim == 2]
        known += [] if positions is None else [positions.shape[-2]]
        n_channels = n_channels or (known[0] if known else None)
        if n_channels is None:
            raise ValueError("without positions, reference ids and missing flags the number of channels must be given")
        self.model = model
        self._keys: Tensor
        self._values: Tensor
        with torch.inference_mode():
            self.montage: Montage = model.montage_of(batch, n_channels, positions, reference_ids, missing)
        self._prepare()
        self.last: Step | None = None
        self.reset()

    @torch.inference_mode()
    def _prepare(self) -> None:
        """Work out what is the same at every step."""
        model, token = self.model, self.montage.token
        self._encode = FastSignalEncoder(model.signal_encoder)
        self._token = None if token is None else token.reshape(-1, token.shape[-1])
        self._fast = [MambaStep(block) for block in model.fast.blocks]  # type: ignore[arg-type]
        self._slow = [MambaStep(block) for block in model.slow.blocks]  # type: ignore[arg-type]
        self._scaled_query = (
            (model.retrieval.query.weight * model.retrieval.scale).T,
            model.retrieval.query.bias * model.retrieval.scale,
        )
        gate: Any = model.retrieval.gate[0]
        self._gate: tuple[Tensor, Tensor] = gate.weight.T, gate.bias

    @property
    def t(self) -> int:
        """Steps read since the last reset."""
        return self._state.t

    @property
    def state_bytes(self) -> int:
        """Size of the state, in the layout of the published runner, without the step counter."""
        return self._state.n_bytes

    @torch.inference_mode()
    def reset(self) -> None:
        """Forget everything, as at the beginning of a recording."""
        self._state: StreamState = self.model.zero_state(self.montage.n_items * self.montage.n_channels)
        self._refresh()

    @torch.inference_mode()
    def step(self, chunk: Tensor) -> Tensor:
        """A normalised chunk (B, C, L) -> z (B, C, D + E); what it is made of is then in `last`."""
        n_items, n_channels = self.montage.n_items, self.montage.n_channels
        length = self.model.config.chunk_samples
        if tuple(chunk.shape) != (n_items, n_channels, length):
            raise ValueError(f"a chunk must have the shape {(n_items, n_channels, length)}, not {tuple(chunk.shape)}")
        model, state = self.model, self._state
        x = self.encode_signal(chunk)
        x = model.input_norm(x if self._token is None else x.add_(self._token))
        h = self._advance(model.fast, self._fast, x, state.fast)
        state.queue = torch.cat([state.queue[:, 1:], h[:, None]], dim=1)
        state.fast_out = h
        state.t += 1
        wrote = state.t % model.config.write_every_n_steps == 0
        if wrote:
            self._write()
        context, weights, gate = self._retrieve(h)
        self.last = Step(h, state.slow_out, weights, gate, wrote)
        slow = state.slow_out if context is None else state.slow_out + context
        return torch.cat([h, slow], dim=1).view(n_items, n_channels, -1)

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
            parts = self.model.blocks(chunks.to(self.model.input_norm.weight), self.montage, self._state)
        while True:
            with torch.inference_mode():  # not around the yield: what others do in between is theirs
                block = next(parts, None)
                if block is None:
                    return
                self._state = block.state.clone()
                self._refresh()
            self.last = None
            yield block

    @torch.inference_mode()
    def encode_signal(self, chunk: Tensor) -> Tensor:
        """A normalised chunk (B, C, L) -> what the signal encoder makes of it, (R, width); changes nothing."""
        return self._encode(chunk.to(self.model.input_norm.weight).reshape(-1, chunk.shape[-1]))

    def state_dict(self) -> dict[str, Tensor]:
        """A copy of the state under the names of the published runner, with its counters; always of the same size."""
        return to_dict(self._state, self.model.config)

    @torch.inference_mode()
    def load_state_dict(self, saved: Mapping[str, Tensor]) -> None:
        """Go on from a state that `state_dict` gave, of the same model and number of rows; else a ValueError."""
        from_dict(self._state, saved)
        self._refresh()

    def branch(self) -> Stream:
        """Another stream that goes on from here; neither changes the other."""
        other = copy(self)
        other._state = self._state.clone()
        return other

    def _advance(self, stack: MambaStack, steps: list[MambaStep], x: Tensor, states: list[MambaState]) -> Tensor:
        """One step of a stack on (R, D)."""
        if stack.input_proj is not None:
            x = stack.input_proj(x)
        for i, (norm, step) in enumerate(zip(stack.norms, steps, strict=True)):
            x = step(x, norm(x), states[i])
            if stack.attention_every and (i + 1) % stack.attention_every == 0:
                items = x.view(self.montage.n_items, self.montage.n_channels, -1)
                x = stack.channel_attn[i // stack.attention_every](items, self.montage.bias).view(x.shape)
        return stack.final_norm(x)

    def _write(self) -> None:
        """Pool the queue, move the slow stream, put the token into the bank."""
        model, state = self.model, self._state
        pooled = min(state.t, model.config.pooled_steps)
        token = model.writer(state.queue[:, None, -pooled:])[:, 0]
        state.slow_out = self._advance(model.slow, self._slow, token, state.slow)
        state.bank = torch.cat([state.bank[:, 1:], token[:, None]], dim=1)
        key, value = model.retrieval.key(token), model.retrieval.value(token)
        self._keys = torch.cat([self._keys[:, 1:], key[:, None]], dim=1)
        self._values = torch.cat([self._values[:, 1:], value[:, None]], dim=1)

    def _retrieve(self, h: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        """Context (R, E), weights and gate; None before the first write."""
        filled = lengths(self.model.config, self._state.t)[1]
        if not filled:
            return None, None, None
        query = torch.addmm(self._scaled_query[1], h, self._scaled_query[0])
        weights = torch.bmm(self._keys[:, -filled:], query[:, :, None])[:, :, 0].softmax(dim=1)
        mixture = torch.bmm(weights[:, None], self._values[:, -filled:])[:, 0]
        gate = torch.addmm(self._gate[1], torch.cat([h, mixture], dim=1), self._gate[0]).sigmoid_()
        return gate * mixture, weights, gate

    def _refresh(self) -> None:
        """Keys and values of the bank, which steps keep beside it."""
        retrieval, bank = self.model.retrieval, self._state.bank
        self._keys, self._values = retrieval.key(bank), retrieval.value(bank)
