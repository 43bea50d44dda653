"""A model on a device, and batches that shrink when memory runs out."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
import torch

from analysis.engine.calibration import Calibration
from analysis.engine.memory import Meter
from analysis.errors import AnalysisError

T = TypeVar("T")

BATCH_SECONDS = 0.5  # no batch grows beyond this, so that results keep coming
SAME = 1e-5  # by so much may a probability depend on what else is in its batch (float32)
_GAIN = 1.05  # a larger batch is better where it does so much more in a second
_IN_VAIN = 2
_FIRST_BATCHES = 3  # one that warms up, and two by which the first size counts
TICK_SECONDS = 0.1
_MEMORY_WORDS = re.compile(
    r"out of memory|allocate memory|not enough memory|bad_alloc|failed to allocate", re.IGNORECASE
)
_AMOUNT = re.compile(r"tried to allocate ([\d.]+ ?[KMGT]?i?B|\d+ bytes)", re.IGNORECASE)


class BatchSize:
    """How many items go through a model at once, found by a short probe: the work itself, at one size after another.

    The batch is doubled as long as what it takes at most stays within `budget` bytes and a batch within BATCH_SECONDS,
    until two sizes in a row do no more items in a second than the best before them, which is then kept. The first batch
    warms up and is not counted; the first size counts by the better of two, so that no larger one is kept that is only
    faster than a moment's delay.

    It is halved whenever memory runs out. `fixed` keeps the number the user asked for, unless memory runs out. `what`
    names one item in the message. Probabilities do not depend on the size by more than SAME.
    """

    def __init__(
        self,
        size: int,
        most: int,
        what: str,
        device: str,
        fixed: bool = False,
        budget: int | None = None,
        meter: Meter | None = None,
    ) -> None:
        self.size = max(1, size)
        self._most = max(size, most)
        self._what = what
        self._device = device
        self._budget = budget
        self._meter = meter or Meter()
        self._settled = fixed
        self._learned = 0  # batches
        self._best = (0.0, self.size)  # items per second, and the size that gave them
        self._in_vain = 0  # sizes in a row that were no better
        self.peak: int | None = None  # bytes that the largest batch took which was measured

    def run(self, n: int, work: Callable[[int], T]) -> tuple[int, T]:
        """Do `work(k)` for the first k of n items, as many as fit; returns k and what the work gave.

        AnalysisError, with the amount where it is known, when not even one item fits.
        """
        wished = self.size
        if self._settled or n < wished:  # a batch of what is left over tells nothing
            return self.fit(n, work)
        self._meter.begin()
        began = self._meter.now()
        size, result = self.fit(n, work)
        if size == wished:
            self._learn(size, self._meter.now() - began, self._meter.peak())
        return size, result

    def fit(self, n: int, work: Callable[[int], T]) -> tuple[int, T]:
        """Do `work` as `run` does, without learning from it; for work that goes on beside the model's."""
        while True:
            size = min(self.size, n)
            try:
                return size, work(size)
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                if size == 1:
                    raise AnalysisError(self._too_large(error)) from error
                self.size = self._most = size // 2
                self._settled = True
            _release()

    def _learn(self, size: int, seconds: float, peak: int | None) -> None:
        self._learned += 1
        rate = size / max(seconds, 1e-6)
        if self._learned < _FIRST_BATCHES:
            self._best = (rate if self._learned > 1 else 0.0, size)
            return
        if self._learned == _FIRST_BATCHES or rate > self._best[0] * _GAIN:
            self._best, self._in_vain, self.peak = (max(rate, self._best[0]), size), 0, peak
        else:
            self._in_vain += 1
        if self._in_vain < _IN_VAIN and self._may_double(size, peak):
            self.size = min(2 * size, self._most)
            return
        self.size = self._best[1]
        self._settled = True

    def _may_double(self, size: int, peak: int | None) -> bool:
        roomy = self._budget is None or peak is None or 2 * peak <= self._budget
        return size < self._most and roomy and 2 * size / self._best[0] <= BATCH_SECONDS

    def _too_large(self, error: BaseException) -> str:
        amount = _AMOUNT.search(str(error))
        needed = f", {amount.group(1)} more were needed" if amount else ""
        return (
            f"not enough memory for {self._what} ({self._device}{needed}): "
            "choose fewer segments, a smaller model or another device"
        )


class ModelSession:
    """A model that embeds segments and tells the probability of a class, on one device, without gradients."""

    def __init__(
        self, model: torch.nn.Module, device: torch.device, class_index: int, calibration: Calibration | None = None
    ) -> None:
        self._model = model
        self.device = device
        self._class_index = class_index
        self._calibration = calibration or Calibration()

    @torch.inference_mode()
    def embed(self, segments: np.ndarray | torch.Tensor) -> torch.Tensor:
        """Segments (n, channels, samples) in microvolts -> embeddings (n, channels, width), kept on the device."""
        signal = torch.as_tensor(segments, dtype=torch.float32, device=self.device).contiguous()
        embeddings: torch.Tensor = self._model.embed(signal[None])[0]  # type: ignore[operator]
        return embeddings

    @torch.inference_mode()
    def probability(self, embeddings: torch.Tensor, context: int) -> np.ndarray:
        """Windows of embeddings (batch, segments, channels, width) -> probability of the class (batch,) float32.

        `context` is the number of segments the position rows are counted for.
        """
        logits = self._model.logits_from_embeddings(embeddings, context=context)  # type: ignore[operator]
        values: np.ndarray = self._calibration.probability(logits, self._class_index).cpu().numpy()
        return values

    @contextmanager
    def ticking(self, tick: Callable[[], None]) -> Iterator[None]:
        """Call `tick` again and again while the model works, so that it can be stopped inside a long batch."""
        last = time.monotonic()

        def hook(*_: object) -> None:
            nonlocal last
            if time.monotonic() - last >= TICK_SECONDS:
                tick()
                last = time.monotonic()

        handles = [module.register_forward_pre_hook(hook) for module in self._model.modules()]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()


def choose_device(name: str) -> torch.device:
    """The device called "cpu", "cuda" or "auto" (a GPU when there is one); AnalysisError when it is not there."""
    if name not in {"auto", "cpu", "cuda"}:
        raise AnalysisError(f"no device is called {name!r}: choose auto, cpu or cuda")
    available = torch.cuda.is_available()
    if name == "cuda" and not available:
        raise AnalysisError("no CUDA device can be used here: choose the device cpu or auto")
    return torch.device("cuda" if available and name != "cpu" else "cpu")


def describe_device(device: torch.device) -> str:
    """A device as a person knows it."""
    return f"cuda ({torch.cuda.get_device_name(device)})" if device.type == "cuda" else device.type


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error of torch, onnxruntime or Python says that memory ran out."""
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or bool(_MEMORY_WORDS.search(str(error)))


def _release() -> None:
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
