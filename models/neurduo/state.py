"""What NeurDuo carries from chunk to chunk, in the layout of the published code and in that of the arithmetic.

Letters: R rows (item * C + channel), D fast width, E slow width, Q queue, K bank slots.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from models.neurduo.config import NeurDuoConfig
from models.neurduo.mamba import MambaState


@dataclass
class StreamState:
    """Everything that decides the future: block states, queue (R, Q, D), bank (R, K, E), last outputs, step count.

    Queue and bank have their newest entry last and zeros where nothing has come yet. The size does not depend on how
    much was read.
    """

    fast: list[MambaState]
    slow: list[MambaState]
    queue: Tensor
    bank: Tensor
    fast_out: Tensor
    slow_out: Tensor
    t: int = 0

    def clone(self) -> StreamState:
        """A copy that shares nothing, for a branch."""
        return StreamState(
            [state.clone() for state in self.fast],
            [state.clone() for state in self.slow],
            self.queue.clone(),
            self.bank.clone(),
            self.fast_out.clone(),
            self.slow_out.clone(),
            self.t,
        )

    def tensors(self) -> dict[str, Tensor]:
        """The state by the names of the published runner, views where the layout is the same."""
        named: dict[str, Tensor] = {}
        for stream, states in (("fast", self.fast), ("slow", self.slow)):
            for i, state in enumerate(states):
                named[f"{stream}.{i}.conv"] = state.conv.transpose(1, 2)  # (R, e, k)
                named[f"{stream}.{i}.ssm"] = state.ssm.transpose(1, 2)  # (R, e, n)
        named |= {"queue": self.queue, "bank": self.bank}
        return named | {"fast.last_output": self.fast_out, "slow.last_output": self.slow_out}

    @property
    def n_bytes(self) -> int:
        """Bytes of all tensors."""
        return sum(tensor.numel() * tensor.element_size() for tensor in self.tensors().values())


def lengths(config: NeurDuoConfig, t: int) -> tuple[int, int]:
    """How many entries of queue and bank are filled after t steps."""
    return min(t, config.queue_size), min(t // config.write_every_n_steps, config.memory_bank_size)


def to_dict(state: StreamState, config: NeurDuoConfig) -> dict[str, Tensor]:
    """A copy of a state as named tensors, counters included, ready to be saved."""
    queue_length, bank_length = lengths(config, state.t)
    counters = {"t": state.t, "queue_length": queue_length, "bank_length": bank_length}
    # The published runner also keeps the slow output under a second name; it is the same numbers.
    copies = {name: tensor.contiguous().clone() for name, tensor in state.tensors().items()}
    return copies | {name: torch.tensor(value, dtype=torch.int64) for name, value in counters.items()}


def from_dict(state: StreamState, saved: Mapping[str, Tensor]) -> None:
    """Overwrite a state of the same model and shape with what `to_dict` gave; ValueError names what does not fit."""
    mine = state.tensors()
    for name, tensor in mine.items():
        if name not in saved:
            raise ValueError(f"the saved state lacks {name}")
        if tuple(saved[name].shape) != tuple(tensor.shape):
            raise ValueError(f"{name} has the shape {tuple(saved[name].shape)}, but {tuple(tensor.shape)} is needed")
    if "t" not in saved:
        raise ValueError("the saved state lacks t")
    for name, tensor in mine.items():
        tensor.copy_(saved[name])
    state.t = int(saved["t"])
