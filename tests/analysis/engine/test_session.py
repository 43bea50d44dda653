"""Batches that shrink when memory runs out, and a model that can be stopped inside a batch."""

from __future__ import annotations

import time

import pytest
import torch

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


def test_batches_grow_while_they_are_quick_up_to_the_limit() -> None:
    batch = BatchSize(2, 10, "x", "cpu")
    assert [batch.run(100, lambda n: n)[0] for _ in range(5)] == [2, 4, 8, 10, 10]
    assert BatchSize(2, 10, "x", "cpu").run(1, lambda n: n) == (1, 1)


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
