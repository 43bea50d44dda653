"""Reading a whole recording: the same numbers from wherever one comes, resets where asked, states kept on the way."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from analysis.channels import RawChannel, build_channels
from analysis.engine import neurduo_stream
from analysis.engine.neurduo_stream import RecordingStream, StreamSettings, recording_stream
from analysis.errors import AnalysisError
from analysis.progress import Cancelled, Progress
from models.neurduo.config import SMALL, NeurDuoConfig
from models.neurduo.normalisation import TrailingNormaliser, normalise_window
from models.registry import untrained_model

SIZES = {"token_dim": 16, "patch_hidden_dim": 8, "fast_dim": 16, "slow_dim": 8, "fast_num_layers": 2}
SIZES |= {"slow_num_layers": 1, "fast_d_state": 4, "slow_d_state": 4, "codebook_size": 8, "predictor_hidden_dim": 8}


@pytest.fixture(scope="module")
def model() -> Any:
    return untrained_model("neurduo", NeurDuoConfig.from_dict(asdict(SMALL) | SIZES), seed=1)


@pytest.fixture
def recording(make_recording: Any) -> Any:
    return build(make_recording)


def build(make_recording: Any, gaps: Any = ((40.0, 42.0), (90.0, 160.0)), seconds: int = 200) -> Any:
    rng = np.random.default_rng(1)
    data = rng.normal(size=(3, seconds * 256)).cumsum(1) * 3 + rng.normal(size=(3, seconds * 256)) * 5
    channels = build_channels([RawChannel(name, "uV", 256.0) for name in ("C3", "C4", "Cz")])
    return make_recording(data.astype(np.float32), 256.0, channels, gaps=gaps)


def outputs(stream: RecordingStream, start: int, stop: int) -> Tensor:
    parts = list(stream.run(start, stop))
    at = start
    for part in parts:
        assert part.first == at
        at += part.n_steps
    assert at == stop
    return torch.cat([part.block.z for part in parts], dim=1)


def test_what_the_model_is_given_is_the_causal_rule(recording: Any, model: Any) -> None:
    stream = RecordingStream(recording, model)
    (raw,) = stream.plan.read(recording, 0, 80)
    expected = TrailingNormaliser(3, 128).run(torch.from_numpy(raw.copy()))
    positions, ids = stream.plan.electrodes.positions, stream.plan.electrodes.reference_ids
    with torch.inference_mode():
        z = model.tokens(expected[None], torch.from_numpy(positions), torch.from_numpy(ids))[0]
    torch.testing.assert_close(outputs(stream, 0, 80), z, rtol=0, atol=2e-5)


def test_the_window_rule_is_that_of_each_32_seconds(recording: Any, model: Any) -> None:
    stream = RecordingStream(recording, model, StreamSettings(normalisation="window"))
    (raw,) = stream.plan.read(recording, 0, 80)
    made = torch.cat(list(stream.chunks(0, 80)))
    for low, high in ((0, 64), (64, 80)):
        window = torch.from_numpy(raw[low:high].transpose(1, 0, 2).reshape(3, -1).copy())
        expected = normalise_window(window).view(3, high - low, 128).transpose(0, 1)
        torch.testing.assert_close(made[low:high], expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(torch.cat(list(stream.chunks(30, 70))), made[30:70], rtol=0, atol=0)


@pytest.mark.parametrize("rule", ["causal", "window"])
def test_any_part_is_the_same_from_wherever_one_comes(rule: Any, recording: Any, model: Any) -> None:
    settings = StreamSettings(normalisation=rule)
    whole = outputs(RecordingStream(recording, model, settings), 0, 256)
    stream = RecordingStream(recording, model, settings, trail_seconds=20.0)
    assert stream.n_steps == len(stream.onsets) == 80 + 96 + 80
    for start, stop in ((100, 110), (20, 30), (90, 256), (0, 5), (5, 9), (200, 201), (79, 82), (175, 177)):
        torch.testing.assert_close(outputs(stream, start, stop), whole[:, start:stop], rtol=0, atol=2e-5)


def test_a_front_end_in_bfloat16_is_another_stream_and_little_else(
    recording: Any, model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neurduo_stream, "computes_in_bfloat16", lambda _: True)
    rough, exact = StreamSettings(precision="bfloat16"), StreamSettings()
    apart = outputs(RecordingStream(recording, model, rough), 0, 40) - outputs(
        RecordingStream(recording, model, exact), 0, 40
    )
    assert 1e-4 < apart.abs().max() < 0.1
    monkeypatch.setattr(neurduo_stream, "computes_in_bfloat16", lambda _: False)
    with pytest.raises(AnalysisError, match=r"not made for products in bfloat16 \(cpu\): choose the precision float32"):
        RecordingStream(recording, model, rough)


def test_going_back_starts_from_a_state_that_was_kept(recording: Any, model: Any) -> None:
    stream = RecordingStream(recording, model, trail_seconds=20.0)
    outputs(stream, 0, 170)
    assert len(stream.trail) == 5  # at 0, 40, 80, 120 and 160
    assert stream.seek(139) == 120
    assert stream.seek(45) == 40
    assert stream.seek(199) == 176, "what lies before a reset does not matter"
    again = RecordingStream(recording, model, trail_seconds=20.0)
    assert again.seek(150) == 0


def test_after_a_long_gap_the_state_starts_from_zero(make_recording: Any, model: Any) -> None:
    recording = build(make_recording)
    assert RecordingStream(recording, model).resets == (0, 176)
    assert RecordingStream(recording, model, StreamSettings(reset_gap=0.0)).resets == (0, 80, 176)
    assert RecordingStream(recording, model, StreamSettings(reset_gap=1e9)).resets == (0,)
    stream = RecordingStream(recording, model)
    first = next(iter(stream.run(176, 180)))
    assert first.h_before is None
    assert first.s_before is None
    carried = next(iter(stream.run(80, 84)))
    assert carried.h_before is not None
    alone = RecordingStream(recording, model, StreamSettings(reset_gap=0.0))
    assert not torch.allclose(outputs(alone, 80, 90), outputs(stream, 80, 90), atol=1e-3)
    torch.testing.assert_close(outputs(alone, 176, 190), outputs(stream, 176, 190), rtol=0, atol=2e-5)


def test_the_vectors_before_a_part_are_those_of_the_step_before(recording: Any, model: Any) -> None:
    stream = RecordingStream(recording, model, trail_seconds=10.0)
    parts = list(stream.run(0, 60))
    for before, part in pairwise(parts):
        torch.testing.assert_close(part.h_before, before.block.h[:, -1], rtol=0, atol=0)
        torch.testing.assert_close(part.s_before, before.block.slow_states[:, -1], rtol=0, atol=0)


def test_work_that_is_stopped_in_between_leaves_no_wrong_state(recording: Any, model: Any) -> None:
    class Impatient(Progress):
        def report(self, done: float, total: float, message: str = "") -> None:
            if done > 130:
                raise Cancelled

    whole = outputs(RecordingStream(recording, model), 0, 256)
    stream = RecordingStream(recording, model)
    with pytest.raises(Cancelled):
        for _ in stream.run(0, 256, Impatient()):
            pass
    torch.testing.assert_close(outputs(stream, 130, 140), whole[:, 130:140], rtol=0, atol=2e-5)
    for _ in stream.run(90, 200):
        break  # and by a reader who has enough
    torch.testing.assert_close(outputs(stream, 95, 140), whole[:, 95:140], rtol=0, atol=2e-5)


def test_a_single_channel_is_read_on_its_own(make_recording: Any, model: Any) -> None:
    three = build(make_recording)
    alone = make_recording(three.data[:1].copy(), 256.0, three.channels[:1], gaps=three.gaps)
    stream = RecordingStream(alone, model)
    z = outputs(stream, 0, 90)
    assert z.shape[0] == 1
    assert torch.isfinite(z).all()
    assert stream.state_bytes * 3 == RecordingStream(three, model).state_bytes


@pytest.mark.parametrize(
    ("time", "step"), [(0.0, 0), (0.49, 0), (0.5, 1), (39.9, 79), (41.0, 80), (42.0, 80), (199.9, 255), (500.0, 256)]
)
def test_the_step_of_a_time(time: float, step: int, recording: Any, model: Any) -> None:
    assert RecordingStream(recording, model).step_at(time) == step


def test_the_stream_used_last_is_kept(recording: Any, model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neurduo_stream, "_last", None)
    first = recording_stream(recording, model, StreamSettings())
    assert recording_stream(recording, model, StreamSettings()) is first
    assert recording_stream(recording, model, StreamSettings(reset_gap=5.0)) is not first
