"""Batches that shrink when memory runs out, and a model that can be stopped inside a batch."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
import torch

from analysis.engine.memory import Meter
from analysis.engine.session import BatchSize, ModelSession, choose_device, is_out_of_memory
from analysis.errors import AnalysisError
from analysis.progress import Cancelled


def failing_above(limit: int, error: BaseException, sizes: list[int]) -> object:
    def work(size: int) -> int:
        sizes.append(size)
        if size > limit:
            raise error
        return size

    return work


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.50 GiB."),
        MemoryError(),
        RuntimeError("[enforce fail] DefaultCPUAllocator: not enough memory: you tried to allocate 8000000 bytes."),
    ],
)
def test_out_of_memory_halves_the_batch_and_keeps_it_small(error: BaseException) -> None:
    sizes: list[int] = []
    batch = BatchSize(16, 64, "one window", "cpu", fixed=True)
    assert batch.run(100, failing_above(5, error, sizes)) == (4, 4)
    assert batch.run(96, failing_above(5, error, sizes)) == (4, 4)
    assert sizes == [16, 8, 4, 4]


def test_at_one_item_the_message_says_how_much_was_needed() -> None:
    error = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has")
    with pytest.raises(AnalysisError, match=r"for one window \(cuda, 2\.50 GiB more were needed\): choose fewer"):
        BatchSize(4, 64, "one window", "cuda").run(10, failing_above(0, error, []))


def test_other_errors_are_not_taken_for_memory() -> None:
    assert not is_out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    with pytest.raises(RuntimeError, match="shapes"):
        BatchSize(4, 8, "x", "cpu").run(4, failing_above(0, RuntimeError("shapes"), []))


class FakeMeter(Meter):
    """A clock and a memory that a fake model moves: a batch of n takes `seconds(n)` and `peaks(n)` bytes."""

    def __init__(self, seconds: Callable[[int], float], peaks: Callable[[int], int] = lambda n: n) -> None:
        super().__init__()
        self._seconds, self._peaks = seconds, peaks
        self._time, self._peak = 0.0, 0
        self.sizes: list[int] = []

    def now(self) -> float:
        return self._time

    def begin(self) -> None:
        self._peak = 0

    def peak(self) -> int:
        return self._peak

    def work(self, size: int) -> int:
        self.sizes.append(size)
        self._time += self._seconds(size)
        self._peak = max(self._peak, self._peaks(size))
        return size


def probe(meter: FakeMeter, most: int = 64, budget: int | None = None, least: int = 1, batches: int = 12) -> list[int]:
    batch = BatchSize(least, most, "x", "cpu", budget=budget, meter=meter)
    for _ in range(batches):
        batch.run(10**6, meter.work)
    return meter.sizes


@pytest.mark.parametrize(
    ("seconds", "more", "sizes"),
    [
        # Calls cost and items hardly do: up to the most. The first batch warms up, and the first size counts twice.
        (lambda n: 0.01 + 1e-5 * n, {"most": 10}, [1, 1, 1, 2, 4, 8, 10, 10]),
        # The same, within the memory: what the next size would take is twice what this one took.
        (lambda n: 0.01 + 1e-5 * n, {"budget": 9}, [1, 1, 1, 2, 4, 8, 8, 8]),
        (lambda n: 0.01 + 1e-5 * n, {"budget": 1}, [1, 1, 1, 1, 1]),
        # Items cost, calls do not: neither two nor four do more.
        (lambda n: 0.01 * n, {}, [1, 1, 1, 2, 4, 1, 1, 1]),
        # From four on nothing is gained.
        (lambda n: 0.01 * max(n, 4), {}, [1, 1, 1, 2, 4, 8, 16, 4, 4]),
        # Four do more, though two do not.
        (lambda n: 0.01 * {1: 1, 2: 2, 4: 2, 8: 8, 16: 16}[n], {}, [1, 1, 1, 2, 4, 8, 16, 4, 4]),
        # The second that does no more would take too long twice over, or too much.
        (lambda n: 0.2 * n, {}, [1, 1, 1, 2, 1, 1]),
        (lambda n: 0.01 * n, {"budget": 3}, [1, 1, 1, 2, 1, 1]),
        # Results would come too seldom.
        (lambda n: 0.2 + 1e-5 * n, {}, [1, 1, 1, 2, 4, 8, 16, 32, 64, 64]),
        (lambda n: 0.2 + 0.02 * n, {}, [1, 1, 1, 2, 4, 4, 4]),
    ],
)
def test_a_probe_doubles_the_batch_while_it_pays(
    seconds: Callable[[int], float], more: dict[str, Any], sizes: list[int]
) -> None:
    assert probe(FakeMeter(seconds), **more)[: len(sizes)] == sizes


def test_one_slow_batch_does_not_end_the_probe() -> None:
    times = iter([9.0, 0.01, 0.01, 5.0, 0.01, 0.01, 0.01])
    assert probe(FakeMeter(lambda n: next(times)), batches=7) == [1, 1, 1, 2, 4, 8, 16]


@pytest.mark.parametrize("slow", [1, 2])
def test_a_slow_moment_of_the_first_size_makes_no_larger_one_look_fast(slow: int) -> None:
    """Items take as long alone as in two, where they take a tenth more; one of the first batches met something else."""
    meter = FakeMeter(lambda n: 0.01 * {1: 1, 2: 2.2, 4: 5}[n] * (3 if len(meter.sizes) == slow + 1 else 1))
    assert probe(meter)[-1] == 1


def test_what_is_left_over_tells_nothing() -> None:
    meter = FakeMeter(lambda n: 0.01)
    batch = BatchSize(4, 64, "x", "cpu", meter=meter)
    assert [batch.run(3, meter.work)[0] for _ in range(4)] == [3, 3, 3, 3]
    assert batch.size == 4


def test_a_probe_that_runs_out_of_memory_stays_below() -> None:
    meter = FakeMeter(lambda n: 0.01)

    def work(size: int) -> int:
        if size > 5:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return meter.work(size)

    batch = BatchSize(1, 64, "x", "cuda", meter=meter)
    assert [batch.run(100, work)[0] for _ in range(8)] == [1, 1, 1, 2, 4, 4, 4, 4]


def test_the_size_asked_for_is_kept() -> None:
    meter = FakeMeter(lambda n: 9.0 * n)
    batch = BatchSize(3, 64, "x", "cpu", fixed=True, meter=meter)
    assert [batch.run(100, meter.work)[0] for _ in range(4)] == [3] * 4


class Slow(torch.nn.Module):
    """Many small layers that take far longer together than a person waits."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Identity() for _ in range(100))

    def embed(self, signal: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            time.sleep(0.03)
            signal = layer(signal)
        return signal


def test_work_stops_inside_a_batch_and_leaves_no_hooks() -> None:
    model = Slow()
    session = ModelSession(model, torch.device("cpu"), 1)
    ticks = 0

    def tick() -> None:
        nonlocal ticks
        ticks += 1
        if ticks == 3:
            raise Cancelled

    with pytest.raises(Cancelled), session.ticking(tick):
        session.embed(torch.zeros(1, 2, 4).numpy())
    assert ticks == 3
    assert not any(module._forward_pre_hooks for module in model.modules())


def test_devices() -> None:
    assert choose_device("cpu").type == "cpu"
    assert choose_device("auto").type in {"cpu", "cuda"}
    with pytest.raises(AnalysisError, match="no device is called 'tpu'"):
        choose_device("tpu")
    if not torch.cuda.is_available():
        with pytest.raises(AnalysisError, match="no CUDA device can be used"):
            choose_device("cuda")
