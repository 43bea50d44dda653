"""States of a stream kept at regular steps, so that going back to any moment costs seconds instead of the whole way."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

LIMIT_BYTES = 2 * 2**30


class StateTrail:
    """States by step number in a file without a name, which is gone when the program ends.

    All states have the same tensors. Where they would take more than `limit_bytes`, or the disk is full, every second
    one is dropped and from then on half as many are kept.
    """

    def __init__(self, interval: int, limit_bytes: int = LIMIT_BYTES) -> None:
        self.interval = interval
        self._limit = limit_bytes
        self._file = tempfile.TemporaryFile(prefix="cerebroscope-states-")  # noqa: SIM115 - open as long as this
        self._slots: dict[int, int] = {}
        self._free: list[int] = []
        self._layout: list[tuple[str, np.dtype, tuple[int, ...]]] = []

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def state_bytes(self) -> int:
        """Bytes of one state."""
        return sum(dtype.itemsize * int(np.prod(shape)) for _, dtype, shape in self._layout)

    def wants(self, step: int) -> bool:
        """Whether the state before this step should be kept and is not yet."""
        return step % self.interval == 0 and step not in self._slots

    def put(self, step: int, state: Mapping[str, Tensor]) -> None:
        """Keep the state before a step; quietly keeps fewer where there is no room."""
        arrays = {name: tensor.cpu().numpy() for name, tensor in state.items()}
        if not self._layout:
            self._layout = [(name, array.dtype, array.shape) for name, array in arrays.items()]
        while self._slots and (len(self._slots) + 1) * self.state_bytes > self._limit:
            self._thin()
            if step % self.interval:
                return
        content = b"".join(arrays[name].tobytes() for name, _, _ in self._layout)
        slot = self._free.pop() if self._free else len(self._slots)
        try:
            self._file.seek(slot * len(content))
            self._file.write(content)
            self._file.flush()
        except OSError:
            self._free.append(slot)
            self._limit = max(1, len(self._slots)) * len(content)
            return
        self._slots[step] = slot

    def before(self, step: int, least: int = 0) -> tuple[int, dict[str, Tensor]] | None:
        """The latest state kept for a step in [least, step], with its step; None where there is none."""
        known = [kept for kept in self._slots if least <= kept <= step]
        if not known:
            return None
        latest = max(known)
        self._file.seek(self._slots[latest] * self.state_bytes)
        content = self._file.read(self.state_bytes)
        state, at = {}, 0
        for name, dtype, shape in self._layout:
            size = dtype.itemsize * int(np.prod(shape))
            array = np.frombuffer(content[at : at + size], dtype).reshape(shape)
            state[name] = torch.from_numpy(array.copy())
            at += size
        return latest, state

    def close(self) -> None:
        """Give the file back."""
        self._file.close()

    def _thin(self) -> None:
        self.interval *= 2
        for step in [step for step in self._slots if step % self.interval]:
            self._free.append(self._slots.pop(step))
