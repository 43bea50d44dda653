"""A NeurDuo's units as functions of a span: the scores of the seizure curve, whatever the span, and their gradient."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from analysis.channels import RawChannel, build_channels
from analysis.engine import neurduo_span
from analysis.engine.attribution import integrated_gradients
from analysis.engine.explained import Carried, Explained, baseline_signal, explained_windows
from analysis.engine.grad_cam import chosen_layer, explain_tokens, layer_names, span_evidence
from analysis.engine.inputs import Inputs, LoadedModel
from analysis.engine.model_inputs import ModelInput, model_input
from analysis.engine.neurduo_detector import NeurDuoDetector
from analysis.engine.neurduo_span import SpanScores, place_span
from analysis.errors import AnalysisError
from analysis.progress import Progress
from analysis.recording import Window
from models.neurduo.config import HeadConfig
from models.registry import load_model, untrained_model

HEAD = ("FP1", "F7", "T7", "O2", "CZ")  # units of 5 s in sequences of 4
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def model(shared: Path) -> Any:
    parity = shared / "parity" / "neurduo"
    return load_model(parity / "tiny/tiny_checkpoint.pt", head=parity / "heads/tiny_heads.safetensors")


@pytest.fixture
def inputs(model: Any, make_recording: Any) -> Inputs:
    rng = np.random.default_rng(2)
    names = (*HEAD[:2], "PZ", *HEAD[2:])  # one that the head does not read
    data = rng.normal(size=(6, 47 * 256)).cumsum(1) + rng.normal(size=(6, 1)) * 100
    data[4] *= 3
    channels = build_channels([RawChannel(name, "uV", 256.0) for name in names])
    recording = make_recording(data.astype(np.float32), 256.0, channels)
    options = {"target": "last", "window": 5.0, "windows": 9, "layer": -1, "history": 0.0, "units": "last"}
    return Inputs(recording, Window(0, recording.duration), (LoadedModel(model, model.checkpoint),), options, CPU)


def source_of(inputs: Inputs, start: float, seconds: float, for_head: bool = True) -> ModelInput:
    return model_input(replace(inputs, window=Window(start, start + seconds)), inputs.model, seconds, for_head=for_head)


def window_of(inputs: Inputs, start: float, seconds: float, for_head: bool = True, **carried: Any) -> Explained:
    (window,) = explained_windows(source_of(inputs, start, seconds, for_head), Progress(), Carried(**carried))
    return window


def curve(inputs: Inputs) -> dict[float, float]:
    """The probabilities of the seizure curve by the unit's begin."""
    run = NeurDuoDetector(inputs.model.network, CPU).begin(inputs.recording, inputs.window)
    chunks = list(run.chunks(Progress(), None))
    times = np.concatenate([chunk.times for chunk in chunks]).round(6).tolist()
    return dict(zip(times, np.concatenate([chunk.probability for chunk in chunks]).tolist(), strict=True))


@pytest.mark.parametrize(
    ("start", "seconds", "unit"),
    [(0, 5, 0), (21, 1, 20), (23.3, 1.5, 20), (33, 4, 35), (31, 9, 35), (10, 10, 15), (24.5, 0.5, 20), (40, 5, 40)],
)
def test_a_span_is_told_what_the_seizure_curve_says(inputs: Inputs, start: float, seconds: float, unit: float) -> None:
    window = window_of(inputs, start, seconds)
    with torch.no_grad():
        scores = window.score(window.signal)
        again = window.score(window.signal.repeat(3, 1, 1))
    assert float(scores.softmax(-1)[0, 1]) == pytest.approx(curve(inputs)[unit], abs=1e-5)
    torch.testing.assert_close(again, scores.repeat(3, 1), rtol=1e-4, atol=1e-5)
    microvolts = (window.signal[0] * window.scale + window.offset).numpy()
    begin = round(start * 256)
    places = [inputs.recording.ch_names.index(name) for name in source_of(inputs, start, seconds).plan.ch_names]
    expected = inputs.recording.read(begin, begin + round(seconds * 256), places)
    # The checkpoint states no filter, so these are the recorded samples.
    np.testing.assert_allclose(microvolts, expected, atol=1e-2)


def test_the_mean_is_over_the_units_that_a_span_reaches_into(inputs: Inputs) -> None:
    with torch.no_grad():
        window = window_of(inputs, 21, 13, units="mean")
        mean = window.score(window.signal)
        each = []
        for start in (21.0, 26.0, 31.0):
            one = window_of(inputs, start, 2)
            each.append(one.score(one.signal))
    torch.testing.assert_close(mean, torch.cat(each).mean(0, keepdim=True), rtol=1e-4, atol=1e-5)


def test_history_is_read_and_no_more_than_that(inputs: Inputs) -> None:
    def score(**carried: Any) -> torch.Tensor:
        window = window_of(inputs, 35, 5, **carried)
        with torch.no_grad():
            return window.score(window.signal)

    usual, short, long = score(), score(history=5.0), score(history=15.0)
    torch.testing.assert_close(usual, long, rtol=1e-4, atol=1e-5)  # the sequence of this unit began 15 s before
    assert not torch.allclose(usual, short, atol=1e-3)
    inputs.recording.data[:, : 30 * 256] = inputs.recording.data[:, : 30 * 256][:, ::-1]
    torch.testing.assert_close(short, score(history=5.0), rtol=1e-4, atol=1e-5)
    assert not torch.allclose(usual, score(), atol=1e-3)


@pytest.mark.parametrize(
    ("span", "stretch", "history", "expected"),
    [
        # (start, first_unit, unit, stop, padded, begin, end, asked) of units of 100, chunks of 10, sequences of 4
        ((0, 50), (0, 1000), 0, (0, 0, 0, 400, 0, 0, 50, 1)),
        ((520, 560), (0, 1000), 0, (400, 400, 500, 800, 0, 520, 560, 1)),
        ((520, 640), (0, 1000), 0, (400, 400, 600, 800, 0, 520, 640, 2)),
        ((380, 440), (0, 1000), 0, (300, 300, 400, 700, 0, 380, 440, 2)),  # over the border of two sequences
        ((520, 560), (0, 1000), 30, (400, 400, 500, 800, 0, 520, 560, 1)),
        ((520, 560), (0, 1000), 10, (500, 500, 500, 900, 0, 520, 560, 1)),
        ((900, 950), (0, 950), 0, (850, 850, 850, 950, 300, 900, 950, 1)),  # moved until it is whole
        ((60, 130), (35, 200), 0, (60, 100, 100, 200, 300, 60, 130, 1)),  # led into by steps of no unit
        ((0, 30), (0, 90), 0, None),
    ],
)
def test_where_a_span_begins_to_be_read(span: Any, stretch: Any, history: int, expected: Any) -> None:
    place = place_span(span, stretch, 100, 10, 4, history)
    found = place and tuple(getattr(place, name) for name in place.__dataclass_fields__)
    assert found == expected


def test_steps_worked_out_twice_give_the_same_gradient(inputs: Inputs, monkeypatch: pytest.MonkeyPatch) -> None:
    def gradient() -> torch.Tensor:
        window = window_of(inputs, 21, 8)
        signal = window.signal.clone().requires_grad_()
        return torch.autograd.grad(window.score(signal)[0, 1], signal)[0]

    whole = gradient()
    assert whole.abs().max() > 0
    monkeypatch.setattr(neurduo_span, "_KEPT_VALUES", 1)
    torch.testing.assert_close(gradient(), whole, rtol=1e-3, atol=1e-8)


def test_the_gradient_is_that_of_differences(inputs: Inputs) -> None:
    window = window_of(inputs, 22, 6)
    signal = window.signal.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(window.score(signal)[0, 1], signal)
    way = gradient / gradient.norm()
    with torch.no_grad():
        step = 0.02
        there, back = window.score(window.signal + step * way), window.score(window.signal - step * way)
    assert float(there[0, 1] - back[0, 1]) / (2 * step) == pytest.approx(float(gradient.norm()), rel=0.02)


def test_what_the_head_does_not_read_gets_nothing_and_the_rest_adds_up(inputs: Inputs) -> None:
    source = source_of(inputs, 21, 3, for_head=False)
    (window,) = explained_windows(source, Progress())
    assert source.plan.ch_names == ("Fp1", "F7", "Pz", "T7", "O2", "Cz")
    baseline, _ = baseline_signal(inputs, source, window, "surrogate", 3)
    found = integrated_gradients(window, baseline, 1)
    assert found.gap < 0.01
    assert (found.values[2] == 0).all()
    assert found.values[[0, 1, 3, 4, 5]].abs().sum(1).min() > 0
    left_out = dict(source_of(inputs, 21, 3).plan.left_out)
    assert left_out == {"Pz": "not among the channels this head reads"}


@pytest.mark.parametrize("over", ["sequence", "window"])
def test_scales_are_those_of_the_head(inputs: Inputs, over: Any) -> None:
    network = inputs.model.network
    usual = network.config
    network.config = replace(usual, head=replace(usual.head, normalisation=over))
    try:
        window = window_of(inputs, 21, 7)
        with torch.no_grad():
            found = window.score(window.signal).softmax(-1)[0, 1]
        assert float(found) == pytest.approx(curve(inputs)[25.0], abs=1e-5)
    finally:
        network.config = usual


def test_grad_cam_lies_on_channels_and_steps(inputs: Inputs) -> None:
    asked = replace(inputs, window=Window(20.2, 31.2), options={**inputs.options, "window": 5.5})
    found = explain_tokens(asked, Progress())
    evidence, onsets = found.arrays["evidence"].values, found.arrays["patch_onset"].values
    assert evidence.shape == (2, 5, 11)
    np.testing.assert_allclose(onsets[0] + 20.2, 20 + 0.5 * np.arange(11), atol=1e-4)  # the grid's steps
    assert found.facts["layer_name"] == "output"
    # By hand: the gradient of the score to the output of each step, from one tap.
    source = model_input(asked, asked.model, 5.5, None, None, for_head=True)
    span, _ = SpanScores(source, Carried(), Progress()).at(20.2)
    kept: list[torch.Tensor] = []
    span.output.register_forward_hook(lambda _m, _i, out: kept.append(out) or out.retain_grad())
    span(span.signal, again=False)[0, 1].backward()
    tokens, gradient = kept[0].detach()[:, :11], kept[0].grad[:, :11]  # type: ignore[index]
    expected = torch.relu((gradient.mean((0, 1)) * tokens).sum(-1))
    np.testing.assert_allclose(evidence[0], expected.numpy(), rtol=1e-4, atol=1e-9)


def test_layers_are_chosen_by_number(inputs: Inputs) -> None:
    names = layer_names(inputs.model)
    assert names == [*(f"fast {i}" for i in range(inputs.model.network.config.fast_num_layers)), "output"]
    source = source_of(inputs, 22, 6)
    span, _ = SpanScores(source, Carried(), Progress()).at(22)
    maps = [span_evidence(inputs.model.network, span, 1, name) for name in names]
    assert all(one.shape == (5, 12) and torch.isfinite(one).all() for one in maps)
    assert not torch.allclose(maps[0], maps[-1])
    assert chosen_layer(inputs.model, -1) == "output"
    with pytest.raises(AnalysisError, match=r"there is no layer 9 in this .*: choose 0 \(fast 0\), .* or -1 for the"):
        chosen_layer(inputs.model, 9)


def test_a_stretch_without_a_whole_unit_is_refused(inputs: Inputs) -> None:
    inputs.recording.gaps = ((4.0, 44.0),)
    with pytest.raises(AnalysisError, match="no whole unit of 5 s lies around 1 s"):
        window_of(inputs, 1, 2)


@pytest.mark.parametrize("pool", ["all", "channel"])
def test_a_head_of_single_units_without_one_of_its_channels(inputs: Inputs, pool: Any) -> None:
    head = HeadConfig(HEAD, unit_steps=10, n_outputs=2, d_token=4, d_hidden=8, context_units=2, pool=pool)
    network: Any = untrained_model("neurduo", replace(inputs.model.network.config, has_predictor=False, head=head))
    inputs.recording.data[3] = 7.0  # T7 is flat
    asked = replace(inputs, models=(LoadedModel(network, network.checkpoint),))
    window = window_of(asked, 21, 3)
    signal = window.signal.clone().requires_grad_()
    scores = window.score(signal)
    assert float(scores.detach().softmax(-1)[0, 1]) == pytest.approx(curve(asked)[20.0], abs=1e-5)
    (gradient,) = torch.autograd.grad(scores[0, 1], signal)
    assert gradient.shape == (1, 4, 3 * 256)
    assert gradient.abs().sum(-1).min() > 0
    assert explain_tokens(asked, Progress()).arrays["evidence"].values.shape == (9, 4, 10)
