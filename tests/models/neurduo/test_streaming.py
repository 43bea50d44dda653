"""The stream: equal to the whole sequence however it is cut, of constant size, saved, restored and branched."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from models.neurduo import Stream as PublicStream
from models.neurduo import model as model_module
from models.neurduo.config import SMALL
from models.neurduo.model import NeurDuo
from models.neurduo.streaming import Stream

CLOSE: dict[str, Any] = {"rtol": 0, "atol": 1e-10}


def start(model: NeurDuo, inputs: dict[str, Tensor], **changes: Any) -> Stream:
    given = {name: inputs[name] for name in ("positions", "reference_ids", "missing")} | changes
    return Stream(model, **given, batch=len(inputs["chunks"]))


def whole(model: NeurDuo, inputs: dict[str, Tensor]) -> Tensor:
    with torch.no_grad():
        return model.tokens(**inputs)


def steps(stream: Stream, chunks: Tensor) -> Tensor:
    return torch.stack([stream.step(chunks[:, t]) for t in range(chunks.shape[1])], dim=2)


def test_the_stream_is_part_of_the_package() -> None:
    assert PublicStream is Stream


# Whether steps work on buffers that never move, as those do which a GPU replays.
EITHER = pytest.mark.parametrize("is_static", [False, True])


@EITHER
@pytest.mark.parametrize("changes", [{}, {"writer_window": 9}, {"write_every_n_steps": 5}, {"channel_attn_every": 0}])
def test_steps_equal_the_sequence(small: Any, small_inputs: Any, changes: Any, is_static: bool) -> None:
    model = small(**changes)
    stream = start(model, small_inputs, is_static=is_static)
    torch.testing.assert_close(steps(stream, small_inputs["chunks"]), whole(model, small_inputs), **CLOSE)


@pytest.mark.parametrize("name", ["positions", "reference_ids", "missing"])
def test_steps_equal_the_sequence_without_one_of_the_facts(small: Any, small_inputs: Any, name: str) -> None:
    model, given = small(), {**small_inputs, name: None}
    torch.testing.assert_close(steps(start(model, given), given["chunks"]), whole(model, given), **CLOSE)


def test_a_stream_without_any_facts_is_told_its_channels(small: Any, small_inputs: Any) -> None:
    model, chunks = small(), small_inputs["chunks"]
    with pytest.raises(ValueError, match="number of channels must be given"):
        Stream(model, None, None, batch=2)
    stream = Stream(model, None, None, batch=2, n_channels=3)
    torch.testing.assert_close(stream.run(chunks), whole(model, {"chunks": chunks}), **CLOSE)


@EITHER
@pytest.mark.parametrize("cuts", [(31,), (1, 2, 28), (3, 17, 11), (30, 1)])
def test_many_steps_at_once_and_single_ones_may_alternate(
    small: Any, small_inputs: Any, cuts: Any, is_static: bool
) -> None:
    model, chunks = small(), small_inputs["chunks"]
    stream, parts, at = start(model, small_inputs, is_static=is_static), [], 0
    for i, length in enumerate(cuts):
        part = chunks[:, at : at + length]
        parts.append(stream.run(part) if i % 2 == 0 else steps(stream, part))
        at += length
    assert stream.t == at == 31
    torch.testing.assert_close(torch.cat(parts, 2), whole(model, small_inputs), **CLOSE)


def test_blocks_of_any_length_give_the_same(small: Any, small_inputs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = small()
    one = whole(model, small_inputs)
    monkeypatch.setattr(model_module, "BLOCK_STEPS", 4)
    torch.testing.assert_close(whole(model, small_inputs), one, **CLOSE)


@EITHER
def test_a_saved_state_goes_on_as_if_nothing_had_happened(small: Any, small_inputs: Any, is_static: bool) -> None:
    model, chunks = small(), small_inputs["chunks"]
    stream = start(model, small_inputs, is_static=is_static)
    steps(stream, chunks[:, :13])
    saved = stream.state_dict()
    rest = stream.run(chunks[:, 13:])
    other = start(model, small_inputs, is_static=is_static)
    other.load_state_dict(saved)
    assert other.t == 13
    torch.testing.assert_close(steps(other, chunks[:, 13:]), rest, **CLOSE)
    stream.load_state_dict(saved)  # and jumping back in the same stream, twice
    stream.step(chunks[:, 0])
    stream.load_state_dict(saved)
    torch.testing.assert_close(stream.run(chunks[:, 13:]), rest, **CLOSE)


@EITHER
def test_a_branch_and_its_origin_leave_each_other_alone(small: Any, small_inputs: Any, is_static: bool) -> None:
    model, chunks = small(), small_inputs["chunks"]
    stream = start(model, small_inputs, is_static=is_static)
    steps(stream, chunks[:, :9])
    branch = stream.branch()
    steps(branch, chunks[:, :7])
    torch.testing.assert_close(steps(stream, chunks[:, 9:]), whole(model, small_inputs)[:, :, 9:], **CLOSE)
    assert (branch.t, stream.t) == (16, 31)


def test_reset_forgets_everything(small: Any, small_inputs: Any) -> None:
    model, chunks = small(), small_inputs["chunks"]
    stream = start(model, small_inputs)
    steps(stream, chunks[:, :9])
    stream.reset()
    assert stream.t == 0
    torch.testing.assert_close(steps(stream, chunks), whole(model, small_inputs), **CLOSE)


def test_the_state_has_the_published_size_and_never_grows() -> None:
    model = NeurDuo(SMALL).eval()
    stream = Stream(model, torch.randn(2, 3), torch.zeros(2, dtype=torch.int64))
    sizes = set()
    for t in range(40):
        if t in (0, 1, 4, 39):
            saved = stream.state_dict()
            sizes.add((sum(tensor.numel() * tensor.element_size() for tensor in saved.values()), stream.state_bytes))
        stream.step(torch.randn(1, 2, 128))
    assert sizes == {(2 * 357_632 + 24, 2 * 357_632)}, "349.25 KiB a channel, and three counters"


@EITHER
def test_before_the_first_write_the_slow_half_is_zero(small: Any, small_inputs: Any, is_static: bool) -> None:
    stream = start(small(write_every_n_steps=3), small_inputs, is_static=is_static)
    for t in range(4):
        z = stream.step(small_inputs["chunks"][:, t])
        assert (z[..., 16:] == 0).all() == (t < 2)
        assert stream.last is not None
        assert stream.last.wrote == (t == 2)
        assert (stream.last.weights is None) == (t < 2)


@EITHER
def test_what_the_bank_recalls_is_told(small: Any, small_inputs: Any, is_static: bool) -> None:
    model, chunks = small(), small_inputs["chunks"]
    stream, branch = start(model, small_inputs, is_static=is_static), start(model, small_inputs)
    (block,) = branch.blocks(chunks)
    for t in range(31):
        stream.step(chunks[:, t])
        if stream.last.weights is None:
            continue
        count = min((t + 1) // 2, 3)
        newest = (t + 1) // 2 - 1 - block.offered
        expected = block.retrieved.weights[:, t, newest - count + 1 : newest + 1]
        torch.testing.assert_close(stream.last.weights, expected, **CLOSE)
        torch.testing.assert_close(stream.last.gate, block.retrieved.gate[:, t], **CLOSE)
        torch.testing.assert_close(stream.last.slow, block.slow_states[:, t], **CLOSE)


def test_wrong_shapes_and_states_are_refused(small: Any, small_inputs: Any) -> None:
    stream = start(small(), small_inputs)
    with pytest.raises(ValueError, match=r"shape \(2, 3, 128\)"):
        stream.step(torch.zeros(3, 128))
    with pytest.raises(ValueError, match=r"shape \(2, 4, 3, 128\)"):
        stream.run(torch.zeros(2, 4, 2, 128))
    saved = stream.state_dict()
    with pytest.raises(ValueError, match="lacks bank"):
        stream.load_state_dict({name: tensor for name, tensor in saved.items() if name != "bank"})
    with pytest.raises(ValueError, match=r"bank has the shape \(1,\)"):
        stream.load_state_dict(saved | {"bank": torch.zeros(1)})
    with pytest.raises(ValueError, match="lacks t"):
        stream.load_state_dict({name: tensor for name, tensor in saved.items() if name != "t"})
    with pytest.raises(ValueError, match=r"positions must have the shape \(2, 3, 3\) or \(3, 3\)"):
        start(small(), small_inputs, positions=torch.zeros(3, 4))


def test_a_front_end_in_bfloat16_changes_little_in_steps_and_in_blocks_alike() -> None:
    torch.manual_seed(0)
    model, chunks = NeurDuo(SMALL).eval(), torch.randn(1, 9, 2, 128)
    streams = [
        Stream(model, None, None, n_channels=2, front_end=form) for form in (None, torch.bfloat16, torch.bfloat16)
    ]
    exact, stepped, blocked = streams[0].run(chunks), steps(streams[1], chunks), streams[2].run(chunks)
    torch.testing.assert_close(stepped, blocked, rtol=0, atol=1e-4)
    assert 1e-4 < (stepped - exact).abs().max() < 0.2, "rounded, and no more than that"
    assert stepped.dtype == torch.float32
