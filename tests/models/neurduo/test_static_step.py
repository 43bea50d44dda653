"""The step on buffers that never move: what a GPU would record is what is computed, and it falls back with a reason."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from models.neurduo import static_step, streaming
from models.neurduo.static_step import StaticStep
from models.neurduo.streaming import Stream


def start(model: Any, inputs: dict[str, Tensor], **changes: Any) -> Stream:
    given = {name: inputs[name] for name in ("positions", "reference_ids", "missing")}
    return Stream(model, **given, batch=len(inputs["chunks"]), **changes)


def tensors(step: StaticStep) -> list[Tensor]:
    """All buffers of a step."""
    blocks = [tensor for block in (*step._fast, *step._slow) for tensor in (*block.conv, block.ssm)]
    own = [step.chunk, step.z, step.h, step.slow, step.weights, step.gate]
    return [*blocks, *own, step._queue, step._bank, step._keys, step._values, step._counter]


def test_no_buffer_moves(small: Any, small_inputs: Any) -> None:
    stream = start(small(), small_inputs, is_static=True)
    stream.step(small_inputs["chunks"][:, 0])
    static = stream._static
    assert static is not None
    places = [tensor.data_ptr() for tensor in tensors(static)]
    for t in range(1, 9):
        stream.step(small_inputs["chunks"][:, t])
    stream.load_state_dict(stream.state_dict())
    stream.step(small_inputs["chunks"][:, 9])
    assert stream._static is static
    assert [tensor.data_ptr() for tensor in tensors(static)] == places
    assert len(set(places)) == len(places)


def test_what_a_step_gave_is_not_overwritten_by_the_next(small: Any, small_inputs: Any) -> None:
    stream = start(small(), small_inputs, is_static=True)
    z = stream.step(small_inputs["chunks"][:, 0])
    last, kept = stream.last, z.clone()
    assert last is not None
    h = last.h.clone()
    stream.step(small_inputs["chunks"][:, 1])
    assert torch.equal(z, kept)
    assert torch.equal(last.h, h)


def test_the_recorded_operations_are_replayed_by_whether_a_step_writes(
    small: Any, small_inputs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    replayed: list[bool] = []

    class Tape:
        """Stands in for a recorded graph: does on replay what was recorded."""

        def __init__(self, step: StaticStep, writes: bool) -> None:
            self._step, self._writes = step, writes

        def replay(self) -> None:
            replayed.append(self._writes)
            self._step._operate(self._writes)

    class Recorded(StaticStep):
        def __init__(self, prepared: Any) -> None:
            super().__init__(prepared)
            for writes in (False, True):  # as recording does, which leaves its traces in the buffers
                self._operate(writes)
            self._graphs = {writes: Tape(self, writes) for writes in (False, True)}  # type: ignore[misc]

    monkeypatch.setattr(static_step, "StaticStep", Recorded)
    model, chunks = small(write_every_n_steps=3), small_inputs["chunks"]
    stream, plain = (start(model, small_inputs, is_static=is_static) for is_static in (True, False))
    for t in range(7):
        torch.testing.assert_close(stream.step(chunks[:, t]), plain.step(chunks[:, t]), rtol=0, atol=1e-10)
    assert replayed == [False, False, True, False, False, True, False]


def test_where_nothing_can_be_recorded_steps_are_plain_and_the_log_says_why(
    small: Any, small_inputs: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_: Any) -> None:
        raise RuntimeError("operation not permitted when stream is capturing\nand more")

    monkeypatch.setattr(static_step, "StaticStep", refuse)
    model, chunks = small(), small_inputs["chunks"]
    stream, plain = (start(model, small_inputs, is_static=is_static) for is_static in (True, False))
    with caplog.at_level("INFO", static_step.__name__):
        for t in range(3):
            assert torch.equal(stream.step(chunks[:, t]), plain.step(chunks[:, t]))
    (record,) = caplog.records
    assert record.message.endswith("no graph of them can be made: operation not permitted when stream is capturing")


def test_a_processor_does_without_unless_asked(small: Any, small_inputs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "record_step", lambda _: pytest.fail("asked for"))
    start(small(), small_inputs).step(small_inputs["chunks"][:, 0])


@pytest.mark.gpu
def test_a_gpu_replays_what_the_processor_computes(small: Any, small_inputs: Any) -> None:
    if not torch.cuda.is_available():
        pytest.skip("NOT TESTED: no CUDA device")
    model = small().float()
    given = {name: value.float() if value.is_floating_point() else value for name, value in small_inputs.items()}
    plain = start(model, given)
    wanted = [plain.step(given["chunks"][:, t]) for t in range(31)]
    stream = start(model.cuda(), {name: value.cuda() for name, value in given.items()})
    for t in range(31):
        z = stream.step(given["chunks"][:, t].cuda())
        torch.testing.assert_close(z.cpu(), wanted[t], rtol=1e-3, atol=1e-3)
    assert stream._static is not None
    assert set(stream._static._graphs) == {False, True}
