"""How a model is served: batches within a share of the memory, carried to it ahead, in a number format that is checked.

None of it changes a probability by more than a stated tolerance.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from analysis.engine.memory import meter_of
from analysis.engine.session import BatchSize, is_out_of_memory
from analysis.errors import AnalysisError
from analysis.service import BFLOAT16, FLOAT32, MEMORY_SHARE, PRECISIONS

BFLOAT16_TOLERANCE = 0.01  # of a probability; above it float32 is used after all
CHECKED = 8  # so many probabilities are compared, from the first on
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Serving:
    """What a person may choose of it.

    `batch_size` is found by a probe where it is None, within `memory_share` of the memory that is free when the run
    begins. `precision` "auto" is bfloat16 on GPUs that compute in it, and float32 elsewhere. With `overlap` the next
    batch is read, filtered and carried to the device while the model works; None leaves that to `reads_ahead`.
    """

    batch_size: int | None = None
    memory_share: float = MEMORY_SHARE
    precision: str = "auto"
    overlap: bool | None = None

    def chosen(self, batch_size: int | None = None) -> Serving:
        """The same with another batch size, where one is given; AnalysisError for what cannot be chosen."""
        made = self if batch_size is None else replace(self, batch_size=batch_size)
        made._check()
        return made

    def _check(self) -> None:
        if self.batch_size is not None and self.batch_size < 1:
            raise AnalysisError(f"the batch size must be at least 1, not {self.batch_size}")
        if not 0.0 < self.memory_share <= 1.0:
            raise AnalysisError(
                f"the share of the free memory must be above 0 and at most 1, not {self.memory_share:g}"
            )
        if self.precision not in PRECISIONS:
            raise AnalysisError(f"no precision is called {self.precision!r}: choose {', '.join(PRECISIONS)}")

    def batch(self, device: torch.device, described: str, what: str, most: int, least: int = 1) -> BatchSize:
        """Batches of `what` on a device: as many as were asked for, or up to `most`, tried from `least` on."""
        if self.batch_size is not None:
            return BatchSize(self.batch_size, most, what, described, fixed=True)
        meter = meter_of(device)
        free = meter.free()
        budget = None if free is None else int(free * self.memory_share)
        return BatchSize(least, most, what, described, budget=budget, meter=meter)

    def reads_ahead(self, device: torch.device, threads: int | None = None) -> bool:
        """Whether the next batch is made beside the model: as chosen, else where the model leaves a core for it.

        `threads` is how many the model computes with, where they are not torch's.
        """
        if self.overlap is not None:
            return self.overlap
        # The threads of an operation wait for the last of them. One whose core is taken by the reading holds up all,
        # and they spend the time turning: on two cores that made AXON 1.3 x slower, and misled the probe of batches.
        # With one of the two left free, as in the engine of the window, reading ahead gains up to 1.3 x.
        return device.type != "cpu" or (threads or torch.get_num_threads()) < _cores()

    def number_format(
        self, device: torch.device, lowering: Callable[[], AbstractContextManager[None]] | None = None
    ) -> Precision:
        """The number format on a device; `lowering` as in `Precision`."""
        name = self.precision
        if name == "auto":
            name = BFLOAT16 if device.type == "cuda" and torch.cuda.is_bf16_supported() else FLOAT32
        return Precision(name, device, lowering)


USUAL = Serving()


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Precision:
    """The number format a model computes in: bfloat16 only where the first windows show that it does no harm.

    Products of matrices are then in bfloat16, sums and what must not be rounded in float32 (torch.autocast), unless a
    `lowering` of its own says what a model computes in it.
    """

    def __init__(
        self, name: str, device: torch.device, lowering: Callable[[], AbstractContextManager[None]] | None = None
    ) -> None:
        self.asked = self.name = name
        self._lowering = lowering or partial(torch.autocast, device.type, torch.bfloat16)
        self.settled = name == FLOAT32
        self._compared, self._apart, self._reason = 0, 0.0, ""

    @property
    def options(self) -> dict[str, Any]:
        """What decides numbers: float32 is not told of, so that results of before keep their names."""
        return {} if self.asked == FLOAT32 else {"precision": self.asked}

    @property
    def facts(self) -> dict[str, Any]:
        """For the provenance: the format, and how far what was compared in bfloat16 was from float32 at most."""
        facts: dict[str, Any] = {"format": self.name}
        if self._compared:
            apart = self._apart if np.isfinite(self._apart) else None
            facts |= {"largest_difference": apart, "tolerance": BFLOAT16_TOLERANCE, "compared": self._compared}
        return {"precision": facts | ({"reason": self._reason} if self._reason else {})}

    def run(self, work: Callable[[], np.ndarray]) -> np.ndarray:
        """Probabilities that `work` computes, in the format; the first CHECKED in both, and compared."""
        return self.lowered(work) if self.settled else self.settle(work)

    def settle(self, work: Callable[[], np.ndarray]) -> np.ndarray:
        """Compare the probabilities that `work` gives in both formats; those of the one chosen by them come back."""
        if self.settled:
            return self.lowered(work)
        exact = work()
        try:
            rough = self.lowered(work)
        except (RuntimeError, TypeError) as error:
            if is_out_of_memory(error):
                raise
            self._give_up(f"bfloat16 failed: {str(error).splitlines()[0]}")
            return exact
        self._compared += exact.size
        apart = float(np.abs(exact - rough).max(initial=0.0)) if np.isfinite(rough).all() else float("inf")
        self._apart = max(self._apart, apart)
        if apart > BFLOAT16_TOLERANCE:
            self._give_up("bfloat16 differs too much")
            return exact
        self.settled = self._compared >= CHECKED
        return rough

    def _give_up(self, reason: str) -> None:
        self.name, self.settled, self._reason = FLOAT32, True, reason
        _log.info("computing in float32: %s", reason)

    def lowered(self, work: Callable[[], Any]) -> Any:
        """What `work` gives in the format."""
        if self.name == FLOAT32:
            return work()
        with self._lowering():
            return work()


class Staged:
    """A batch on its way to a device."""

    def __init__(self, batch: Tensor, device: torch.device, arrived: Any = None) -> None:
        self._batch, self._device, self._arrived = batch, device, arrived

    def __len__(self) -> int:
        return len(self._batch)

    def take(self, start: int, stop: int) -> Tensor:
        """Items [start, stop) on the device, once they are there."""
        if self._arrived is not None:
            stream = torch.cuda.current_stream(self._device)
            stream.wait_event(self._arrived)
            self._batch.record_stream(stream)
        return self._batch[start:stop].to(self._device)


class Staging:
    """Carries batches to a device: to a GPU from pinned memory, on a stream of its own beside what it computes."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = torch.cuda.Stream(device) if device.type == "cuda" else None

    def stage(self, host: Tensor) -> Staged:
        """Send a batch (n, …) off; where the device has no room it stays here and goes piece by piece."""
        if self._stream is None:
            return Staged(host, self._device)
        try:
            return self._send(host)
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            return Staged(host, self._device)

    def _send(self, host: Tensor) -> Staged:
        pinned = host.pin_memory()
        with torch.cuda.stream(self._stream):
            there = pinned.to(self._device, non_blocking=True)
            arrived = torch.cuda.Event()
            arrived.record()
        return Staged(there, self._device, arrived)
