"""NeurDuo-EEG: channel tokens, fast stream, memory writes, slow stream, retrieval, output (paper section 3.2).

Letters: B items, S steps of 0.5 s, C channels, L samples of a chunk, R = B C rows (row = item * C + channel), D fast
width, E slow width, W writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from models.common.pooling import smooth_maximum
from models.errors import CheckpointError
from models.neurduo.config import HeadConfig, NeurDuoConfig
from models.neurduo.encoder import FastSignalEncoder, MetadataEncoder, SignalPatchEncoder
from models.neurduo.heads import ContextHead, PredictionHead, Readout, unit_tokens
from models.neurduo.memory import MemoryRetrieval, MemoryWriter, Retrieved, WritePlan
from models.neurduo.stacks import MambaStack, hidden_channels
from models.neurduo.state import StreamState

_TRAINED_CHUNKS = 256
BLOCK_STEPS = 128  # steps that are computed side by side; longer sequences carry the state from block to block


@dataclass(frozen=True)
class Montage:
    """What is constant over time: the metadata token (B, C, D) and the attention bias of missing channels."""

    n_items: int
    n_channels: int
    token: Tensor | None
    bias: Tensor | None


@dataclass(frozen=True)
class Block:
    """What some consecutive steps give: output z (R, S, D + E) and the values it is made of.

    `h` (R, S, D) fast states, `written` (R, W, E) memory tokens and `slow` (R, W, E) slow states of the writes of
    this block at its steps `plan.due`, `slow_states` (R, S, E) the slow state that holds at each step, `offered` the
    number of the first token that `retrieved.weights` speak of.
    """

    z: Tensor
    h: Tensor
    written: Tensor
    slow: Tensor
    slow_states: Tensor
    retrieved: Retrieved
    offered: int
    plan: WritePlan
    state: StreamState


class NeurDuo(nn.Module):
    """The whole network; `checkpoint` says where its weights come from, None before any were loaded."""

    family = "neurduo"

    def __init__(self, config: NeurDuoConfig) -> None:
        super().__init__()
        self.config = config
        self.checkpoint: Any = None  # a models.families.Checkpoint once weights were loaded
        token, fast, slow = config.token_dim, config.fast_dim, config.slow_dim
        self.signal_encoder = SignalPatchEncoder(config.patch_hidden_dim, config.patch_kernel_sizes, token)
        self.metadata_encoder = MetadataEncoder(
            config.coord_dim, config.metadata_hidden_dim, config.max_reference_types, token
        )
        self.input_norm = nn.LayerNorm(token)
        self.fast = MambaStack(
            fast,
            config.fast_num_layers,
            config.fast_d_state,
            config.fast_conv_kernel_size,
            config.fast_expand_factor,
            config.channel_attn_every,
            config.channel_attn_heads,
            input_width=token,
        )
        self.writer = MemoryWriter(fast, slow)
        self.slow = MambaStack(
            slow, config.slow_num_layers, config.slow_d_state, config.slow_conv_kernel_size, config.slow_expand_factor
        )
        self.retrieval = MemoryRetrieval(fast, slow)
        self.predictor = (
            PredictionHead(config.z_dim, config.predictor_hidden_dim, config.codebook_size)
            if config.has_predictor
            else None
        )
        self.readout, self.context = _heads(config)

    def forward(
        self,
        chunks: Tensor,
        positions: Tensor | None = None,
        reference_ids: Tensor | None = None,
        missing: Tensor | None = None,
    ) -> Tensor:
        """What `tokens` gives."""
        return self.tokens(chunks, positions, reference_ids, missing)

    @property
    def has_classifier(self) -> bool:
        """Whether there is a fine-tuned head."""
        return self.readout is not None

    def tokens(
        self,
        chunks: Tensor,
        positions: Tensor | None = None,
        reference_ids: Tensor | None = None,
        missing: Tensor | None = None,
    ) -> Tensor:
        """Normalised chunks (B, S, C, L) -> z (B, C, S, D + E), from a state of zero.

        `positions` (B, C, 3) or (C, 3) unit vectors, `reference_ids` (B, C) or (C,), `missing` the same, non-zero
        where a channel is absent; each may be left out.
        """
        montage = self.montage(chunks, positions, reference_ids, missing)
        z = torch.cat([block.z for block in self.blocks(chunks, montage)], dim=1)
        return z.view(*chunks.shape[0:3:2], *z.shape[1:])

    def logits(
        self,
        chunks: Tensor,
        positions: Tensor | None = None,
        reference_ids: Tensor | None = None,
        missing: Tensor | None = None,
        valid: Tensor | None = None,
    ) -> Tensor:
        """What the head says of chunks as `tokens` takes them.

        A fine-tuned head gives (B, units, outputs) for units of `config.head.unit_steps` steps that follow each
        other, of which only those `valid` (B, units) are read by the ones after them; without one, the prediction
        head gives the scores of each next code (B, C, S, codes).
        """
        z = self.tokens(chunks, positions, reference_ids, missing)
        if not self.has_classifier:
            return self.code_logits(z)
        absent = None if missing is None else missing.expand(z.shape[:2])
        return self.unit_logits(z, valid, absent)

    def code_logits(self, z: Tensor) -> Tensor:
        """z (.., D + E) -> scores of the code of the chunk after it (.., codes)."""
        if self.predictor is None:
            raise CheckpointError(
                f"this NeurDuo-EEG has neither a prediction head nor a classification head ({self._source()}): "
                "give the head file trained for it with --head"
            )
        return self.predictor(z)

    def unit_embeddings(self, z: Tensor) -> Tensor:
        """z (B, C, units * unit_steps, D + E) -> (B, units, hidden), what the readout makes of each unit."""
        readout, head = self.readout, self.config.head
        if readout is None or head is None:
            raise CheckpointError(
                f"this NeurDuo-EEG has no classification head ({self._source()}): "
                "give the head file trained for it with --head"
            )
        if z.shape[1] != len(head.channels):
            raise ValueError(f"this head reads {len(head.channels)} channels, not {z.shape[1]}")
        if head.pool == "channel":
            return self._channel_embeddings(z, readout, head).mean(2)
        return readout.embed(unit_tokens(z, head.unit_steps)).view(z.shape[0], -1, head.d_hidden)

    def channel_logits(self, z: Tensor) -> Tensor:
        """z (B, C, units * unit_steps, D + E) -> (B, C, units, outputs): what each channel alone says."""
        readout, head = self.readout, self.config.head
        if readout is None or head is None or head.pool != "channel":
            raise ValueError("this head does not score single channels")
        return readout.mlp[3:](self._channel_embeddings(z, readout, head)).transpose(1, 2)

    @staticmethod
    def _channel_embeddings(z: Tensor, readout: Readout, head: HeadConfig) -> Tensor:
        """(B, units, C, hidden) of z (B, C, units * unit_steps, D + E)."""
        n_items, n_channels, n_steps, width = z.shape
        units = z.view(n_items, n_channels, n_steps // head.unit_steps, head.unit_steps, width).transpose(1, 2)
        return readout.embed(units.flatten(0, 2)).view(n_items, -1, n_channels, head.d_hidden)

    def unit_logits(self, z: Tensor, valid: Tensor | None = None, missing: Tensor | None = None) -> Tensor:
        """z (B, C, units * unit_steps, D + E) -> (B, units, outputs), see `logits`.

        A head that reads channels alone leaves out those `missing` (B, C).
        """
        head = self.config.head
        if head is not None and head.pool == "channel":
            return smooth_maximum(self.channel_logits(z), head.pool_sharpness, missing)
        return self.classify_units(self.unit_embeddings(z), valid)

    def classify_units(self, units: Tensor, valid: Tensor | None = None) -> Tensor:
        """Embeddings (B, units, hidden) of units that follow each other -> (B, units, outputs), see `logits`."""
        if self.context is not None:
            return self.context(units, valid)
        assert self.readout is not None  # without one there are no embeddings
        return self.readout.mlp[3:](units)

    def montage(
        self,
        chunks: Tensor,
        positions: Tensor | None = None,
        reference_ids: Tensor | None = None,
        missing: Tensor | None = None,
    ) -> Montage:
        """Check the input's shape and work out what is constant over time."""
        length = self.config.chunk_samples
        if chunks.ndim != 4 or chunks.shape[-1] != length or 0 in chunks.shape:
            raise ValueError(
                f"chunks must have the shape (batch, steps, channels, {length}), not {tuple(chunks.shape)}"
            )
        return self.montage_of(chunks.shape[0], chunks.shape[2], positions, reference_ids, missing)

    def montage_of(
        self,
        n_items: int,
        n_channels: int,
        positions: Tensor | None,
        reference_ids: Tensor | None,
        missing: Tensor | None,
    ) -> Montage:
        """As `montage`, for a number of items and channels."""
        weight = self.input_norm.weight
        shape = (n_items, n_channels)
        if positions is not None:
            positions = _per_item(positions, (*shape, self.config.coord_dim), "positions").to(weight)
        if reference_ids is not None:
            reference_ids = _per_item(reference_ids, shape, "reference_ids").to(weight.device, torch.int64)
        if missing is not None:
            missing = _per_item(missing, shape, "missing").to(weight.device)
        token = self.metadata_encoder(positions, reference_ids)
        return Montage(n_items, n_channels, token, hidden_channels(missing, weight.dtype))

    def zero_state(self, n_rows: int) -> StreamState:
        """The state before anything was read."""
        config, weight = self.config, self.input_norm.weight
        return StreamState(
            self.fast.zero_states(n_rows),
            self.slow.zero_states(n_rows),
            weight.new_zeros(n_rows, config.queue_size, config.fast_dim),
            weight.new_zeros(n_rows, config.memory_bank_size, config.slow_dim),
            weight.new_zeros(n_rows, config.fast_dim),
            weight.new_zeros(n_rows, config.slow_dim),
        )

    def blocks(
        self,
        chunks: Tensor,
        montage: Montage,
        state: StreamState | None = None,
        front_end: torch.dtype | None = None,
    ) -> Iterator[Block]:
        """Work through (B, S, C, L) in blocks of steps, from `state` (zero unless given), which is left alone.

        `front_end` as in `signal_tokens`.
        """
        state = state or self.zero_state(montage.n_items * montage.n_channels)
        for part in chunks.split(BLOCK_STEPS, dim=1):
            block = self.advance(self.channel_tokens(part, montage, front_end), montage, state)
            state = block.state
            yield block

    def signal_tokens(self, chunks: Tensor, front_end: torch.dtype | None = None) -> Tensor:
        """(B, S, C, L) -> (B, S, C, D) before the metadata.

        `front_end` is the number format of the encoder's products where no gradients are kept, None that of its
        weights.
        """
        flat = chunks.reshape(-1, chunks.shape[-1])
        weight = self.input_norm.weight
        keeps_gradients = torch.is_grad_enabled() and (flat.requires_grad or weight.requires_grad)
        direct = keeps_gradients or (flat.is_cuda and front_end is None)
        if direct and not flat.is_cuda:
            # Parts that fit into the processor's cache take a third of the time of all at once.
            made = torch.cat([self.signal_encoder(part) for part in flat.split(_TRAINED_CHUNKS)])
        else:
            made = (self.signal_encoder if direct else FastSignalEncoder(self.signal_encoder, front_end))(flat)
        return made.view(*chunks.shape[:3], -1)

    def channel_tokens(self, chunks: Tensor, montage: Montage, front_end: torch.dtype | None = None) -> Tensor:
        """(B, S, C, L) -> u (B, S, C, D): signal and metadata, normalised (eq. 4); `front_end` as above."""
        tokens = self.signal_tokens(chunks, front_end)
        if montage.token is not None:
            tokens = tokens + montage.token[:, None]
        return self.input_norm(tokens)

    def advance(self, tokens: Tensor, montage: Montage, state: StreamState) -> Block:
        """Channel tokens (B, S, C, D) of the steps after `state` -> their output and the state after them."""
        n_items, n_steps, n_channels, width = tokens.shape
        rows = tokens.transpose(1, 2).reshape(n_items * n_channels, n_steps, width)
        h, fast = self.fast(rows, state.fast, n_channels, montage.bias)
        plan = WritePlan.of(state.t, n_steps, self.config.write_every_n_steps, h.device)
        written = self._write(h, state, plan)
        slow, slow_states_after = self.slow(written, state.slow) if len(plan.due) else (written, state.slow)
        held = torch.cat([state.slow_out[:, None], slow], dim=1)[:, plan.visible - plan.made]  # (R, S, E)
        retrieved = self._retrieve(h, written, state, plan)
        after = StreamState(
            fast,
            list(slow_states_after),
            torch.cat([state.queue, h], dim=1)[:, -self.config.queue_size :],
            torch.cat([state.bank, written], dim=1)[:, -self.config.memory_bank_size :],
            h[:, -1],
            held[:, -1],
            state.t + n_steps,
        )
        z = torch.cat([h, held + retrieved.context], dim=-1)
        offered = plan.made - self.config.memory_bank_size
        return Block(z, h, written, slow, held, retrieved, offered, plan, after)

    def _write(self, h: Tensor, state: StreamState, plan: WritePlan) -> Tensor:
        """The memory tokens (R, W, E) of the writes that are due (eq. 7); the first ones pool fewer states."""
        pooled = self.config.pooled_steps
        history = torch.cat([state.queue[:, state.queue.shape[1] - (pooled - 1) :], h], dim=1)
        windows = history.unfold(1, pooled, 1)[:, plan.due].transpose(2, 3)  # (R, W, Q, D)
        return self.writer(windows, (state.t + plan.due + 1).clamp(max=pooled))

    def _retrieve(self, h: Tensor, written: Tensor, state: StreamState, plan: WritePlan) -> Retrieved:
        """Recall from the tokens that were in the bank before, and those of this block (eqs. 9 and 10)."""
        size = self.config.memory_bank_size
        tokens = torch.cat([state.bank, written], dim=1)
        number = torch.arange(plan.made - size, plan.made + written.shape[1], device=h.device)
        newest = plan.visible[:, None] - 1  # (S, 1)
        seen = (number >= 0) & (number <= newest) & (number > newest - size)
        return self.retrieval(h, tokens, seen)

    def _source(self) -> str:
        """The file the weights come from, for messages."""
        return str(self.checkpoint.path) if self.checkpoint and self.checkpoint.path else "no checkpoint"


def _heads(config: NeurDuoConfig) -> tuple[Readout | None, ContextHead | None]:
    head = config.head
    if head is None:
        return None, None
    readout = Readout(config.z_dim, head.n_tokens, head.d_token, head.d_hidden, head.n_outputs)
    return readout, None if head.context is None else ContextHead(head.d_hidden, head.n_outputs, head.context)


def _per_item(values: Tensor, shape: tuple[int, ...], name: str) -> Tensor:
    """Values of each item, where one set may stand for all."""
    if tuple(values.shape) == shape[1:]:
        return values.expand(shape)
    if tuple(values.shape) != shape:
        raise ValueError(f"{name} must have the shape {shape} or {shape[1:]}, not {tuple(values.shape)}")
    return values
