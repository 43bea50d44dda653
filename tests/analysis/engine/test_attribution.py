"""Attributions against the axioms and closed forms, and on every family's classifier."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from captum.attr import IntegratedGradients, NoiseTunnel
from scipy.stats import spearmanr
from torch import Tensor

from analysis.engine.analyze import analyze, prepared
from analysis.engine.attribution import Noise, curve, integrated_gradients, rank_correlation, smoothed
from analysis.engine.explained import Explained, baseline_signal, explained_input, explained_windows, phase_surrogate
from analysis.engine.grad_cam import weighted_map
from analysis.engine.occlusion import keep_one, occlude, occlude_seconds
from analysis.errors import AnalysisError
from analysis.progress import PartProgress, Progress


def _window(score: Callable[[Tensor], Tensor], signal: Tensor) -> Explained:
    one = torch.ones(signal.shape[1], 1)
    return Explained(signal, one, torch.zeros_like(one), score, nullcontext, 10.0, 0.0)


@pytest.fixture
def signal() -> Tensor:
    return torch.randn(1, 4, 30, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def weights() -> Tensor:
    return torch.randn(4, 30, generator=torch.Generator().manual_seed(1))


def test_a_linear_model_is_explained_exactly(signal: Tensor, weights: Tensor) -> None:
    def score(x: Tensor) -> Tensor:
        value = (x * weights).sum((1, 2))
        return torch.stack([-value, value], 1)

    window, baseline = _window(score, signal), torch.full_like(signal, 0.3)
    found = integrated_gradients(window, baseline, 1)
    torch.testing.assert_close(found.values, ((signal - baseline) * weights)[0], rtol=0, atol=1e-6)
    assert found.gap < 1e-5
    expected = ((signal - baseline) * weights)[0]
    torch.testing.assert_close(occlude(window, baseline, 1), expected.sum(1), rtol=0, atol=1e-5)
    torch.testing.assert_close(keep_one(window, baseline, 1), expected.sum(1), rtol=0, atol=1e-5)
    by_second = expected.sum(0).view(3, 10).sum(1)
    torch.testing.assert_close(occlude_seconds(window, baseline, 1), by_second, rtol=0, atol=1e-5)


def test_attributions_add_up_and_leave_out_what_is_not_looked_at(signal: Tensor) -> None:
    def score(x: Tensor) -> Tensor:
        value = torch.tanh(x[:, 0].square().sum(-1) / 10) * torch.sigmoid(x[:, 1].sum(-1)) + x[:, 3].sin().sum(-1)
        return value[:, None]

    found = integrated_gradients(_window(score, signal), torch.zeros_like(signal), 0)
    assert found.gap < 0.01
    assert found.values.sum().item() == pytest.approx(found.change, rel=0.01)
    assert (found.values[2] == 0).all()


def test_channels_that_play_the_same_part_get_the_same(signal: Tensor) -> None:
    x = signal.clone()
    x[:, 1] = x[:, 0]

    def score(s: Tensor) -> Tensor:
        return (s[:, 0] * s[:, 1]).sum(-1).exp().log1p()[:, None]

    found = integrated_gradients(_window(score, x), torch.zeros_like(x), 0)
    torch.testing.assert_close(found.values[0], found.values[1])


def test_a_path_with_a_sharp_bend_gets_more_nodes(signal: Tensor) -> None:
    def score(x: Tensor) -> Tensor:
        return torch.sigmoid(300 * (x[:, 0].mean(-1) - 0.2))[:, None]

    x = signal.clone()
    x[:, 0] = 1.0
    found = integrated_gradients(_window(score, x), torch.zeros_like(x), 0)
    assert found.nodes > 32
    assert found.gap < 0.01


def test_putting_in_the_channels_that_count_first_raises_the_score_first(signal: Tensor) -> None:
    def score(x: Tensor) -> Tensor:
        return (x.mean(-1) * torch.tensor([4.0, 3.0, 2.0, 1.0])).sum(-1)[:, None]

    window, baseline = _window(score, torch.ones_like(signal)), torch.zeros_like(signal)
    order = torch.arange(4)
    np.testing.assert_allclose(curve(window, baseline, 0, order, True), [0, 4, 7, 9, 10], atol=1e-6)
    np.testing.assert_allclose(curve(window, baseline, 0, order, False), [10, 6, 3, 1, 0], atol=1e-6)


def test_surrogates_keep_the_spectrum_and_follow_their_seed(signal: Tensor) -> None:
    made = phase_surrogate(signal, 3)
    torch.testing.assert_close(torch.fft.rfft(made).abs(), torch.fft.rfft(signal).abs(), rtol=1e-4, atol=1e-4)
    assert not torch.allclose(made, signal, atol=0.1)
    assert torch.equal(made, phase_surrogate(signal, 3))
    assert not torch.equal(made, phase_surrogate(signal, 4))


def test_rank_correlation_is_spearmans() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=30), rng.normal(size=30)
    assert rank_correlation(a, b) == pytest.approx(spearmanr(a, b).statistic, abs=1e-12)
    assert np.isnan(rank_correlation(a, np.ones(30)))


def test_grad_cam_of_a_known_map() -> None:
    tokens, gradient = torch.zeros(1, 2, 3, 2), torch.zeros(1, 2, 3, 2)
    tokens[..., 0] = torch.tensor([[1.0, 2, 3], [4, 5, 6]])
    tokens[..., 1] = 10.0
    gradient[..., 0] = torch.tensor([[1.0, 1, 1], [3, 3, 3]])  # mean 2
    gradient[..., 1] = torch.tensor([[-1.0, -1, -1], [0, 0, 0]])  # mean -0.5
    expected = torch.relu(2.0 * tokens[..., 0] - 0.5 * tokens[..., 1])
    torch.testing.assert_close(weighted_map(tokens, gradient, (1, 2)), expected)


@pytest.fixture(scope="module")
def scalp(shared: Path) -> Path:
    return shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"


FAMILIES = {"random:axon": 3, "random:prise-eeg": 10, "random:mvpformer": 5, "random:neurduo:tiny-chbmit": 3}


@contextmanager
def _explained(scalp: Path, checkpoint: str) -> Iterator[tuple[Explained, Tensor]]:
    """One short window of a family, its channels 0 and 1 at the same place, and a quiet one."""
    seconds = FAMILIES[checkpoint]
    options = {"window": seconds, "windows": 1}
    with prepared("occlusion", scalp, [checkpoint], 20, seconds, options, "cpu", Progress(), ()) as (_, inputs):
        source = explained_input(inputs, Progress())
        places = source.plan.positions.copy()
        places[1] = places[0]
        source = replace(source, plan=replace(source.plan, positions=places))
        (window,) = explained_windows(source, Progress())
        yield window, baseline_signal(inputs, source, window, "interictal", 0)[0]


@pytest.mark.parametrize("checkpoint", FAMILIES)
def test_a_channel_that_is_the_baselines_gets_nothing_and_the_rest_adds_up(scalp: Path, checkpoint: str) -> None:
    with _explained(scalp, checkpoint) as (window, baseline):
        baseline[:, 2] = window.signal[:, 2]
        found = integrated_gradients(window, baseline, 1)
        assert found.gap < 0.01
        assert float(found.values.sum()) == pytest.approx(found.change, rel=0.01)
        assert (found.values[2] == 0).all()
        assert found.values.abs().sum(1).gt(0).sum() == len(found.values) - 1
        assert abs(occlude(window, baseline, 1)[2]) < 1e-6


def test_what_follows_a_seizure_without_an_end_is_not_taken_for_interictal(
    scalp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"window": 3.0, "windows": 1}
    with prepared("occlusion", scalp, ["random:axon"], 40, 3.0, options, "cpu", Progress(), ()) as (_, inputs):
        begun = tuple(mark for mark in inputs.recording.annotations if "STARTS" in mark.description)
        assert [mark.onset for mark in begun] == [pytest.approx(15.15, abs=0.01)]
        monkeypatch.setattr(type(inputs.recording), "annotations", property(lambda _self: begun))
        source = explained_input(inputs, Progress())
        (window,) = explained_windows(source, Progress())
        words = baseline_signal(inputs, source, window, "interictal", 0)[1]
        onset = float(re.search(r"from ([\d.]+) s on", words)[1])
        assert onset + 3.0 <= 15.15


@pytest.mark.parametrize("checkpoint", ["random:axon", "random:mvpformer"])
def test_channels_at_one_place_with_one_signal_share_alike(scalp: Path, checkpoint: str) -> None:
    """The other families tell channels apart by more than place and signal."""
    with _explained(scalp, checkpoint) as (window, baseline):
        signal = window.signal.clone()
        signal[:, 1], baseline[:, 1] = signal[:, 0], baseline[:, 0]
        found = integrated_gradients(replace(window, signal=signal), baseline, 1).values
        scale = float(found.abs().max())
        torch.testing.assert_close(found[0], found[1], rtol=0, atol=1e-3 * scale)
        assert not torch.allclose(found[0], found[2], rtol=0, atol=1e-2 * scale)


def _bent(x: Tensor) -> Tensor:
    value = torch.tanh(x[:, 0] * x[:, 1]).sum(-1) + x[:, 2].cumsum(-1).sin().mean(-1) * x[:, 3].square().mean(-1)
    return torch.stack([-value, value], 1)


def test_many_even_steps_by_captum_lead_to_the_same(signal: Tensor) -> None:
    baseline = 0.2 * phase_surrogate(signal, 4)
    found = integrated_gradients(_window(_bent, signal), baseline, 1)
    theirs = IntegratedGradients(_bent).attribute(
        signal, baseline, target=1, n_steps=4000, method="riemann_trapezoid", internal_batch_size=500
    )[0]
    torch.testing.assert_close(found.values, theirs, rtol=0, atol=1e-3 * float(theirs.abs().max()))


def test_smoothing_is_captums_noise_tunnel(signal: Tensor) -> None:
    """Where all channels have one spread, its one width of noise is the share of each channel's."""
    even = 5 * (signal - signal.mean(-1, keepdim=True)) / signal.std(-1, keepdim=True)
    baseline = torch.zeros_like(even)
    found = smoothed(_window(_bent, even), baseline, 1, 32, Noise(5, 0.2, seed=11))
    torch.manual_seed(11)
    theirs = NoiseTunnel(IntegratedGradients(_bent)).attribute(
        even,
        nt_type="smoothgrad",
        nt_samples=5,
        nt_samples_batch_size=1,
        stdevs=1.0,
        baselines=baseline,
        target=1,
        n_steps=32,
        method="gausslegendre",
    )[0]
    torch.testing.assert_close(found.values, theirs, rtol=1e-3, atol=1e-4)
    assert found.gap == pytest.approx(abs(found.change - float(found.values.sum())) / abs(found.change))


def test_noise_is_a_share_of_each_channels_spread(weights: Tensor) -> None:
    spread = torch.tensor([0.0, 1.0, 10.0, 100.0])[:, None]
    signal = spread * torch.randn(1, 4, 30, generator=torch.Generator().manual_seed(0))
    window = _window(lambda x: (x * weights).sum((1, 2))[:, None], signal)
    copies = 40
    found = smoothed(window, torch.zeros_like(signal), 0, 2, Noise(copies, 0.5, seed=1))
    noise = found.values / weights - signal[0]  # the mean of the copies' noise, since the model is linear
    expected = 0.5 * signal[0].std(-1) / copies**0.5
    np.testing.assert_allclose(noise.std(-1)[1:], expected[1:], rtol=0.4)
    assert noise[0].abs().max() < 1e-5
    again = smoothed(window, torch.zeros_like(signal), 0, 2, Noise(copies, 0.5, seed=1))
    assert torch.equal(found.values, again.values)
    other = smoothed(window, torch.zeros_like(signal), 0, 2, Noise(copies, 0.5, seed=2))
    assert not torch.allclose(found.values, other.values)
    still = smoothed(window, torch.zeros_like(signal), 0, 2, Noise(3, 0.0, seed=1))
    torch.testing.assert_close(still.values, signal[0] * weights, rtol=1e-4, atol=1e-4)


def test_smoothing_leaves_the_callers_chance_alone(signal: Tensor) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    smoothed(_window(_bent, signal), torch.zeros_like(signal), 1, 4, Noise(2, 0.1, seed=1))
    assert torch.equal(torch.rand(3), expected)


def test_a_smoothed_map_says_so_and_how_far_it_adds_up(scalp: Path) -> None:
    options = {"windows": 1, "window": 5, "smooth": 2, "noise": 0.3, "baseline": "surrogate"}
    found = analyze("integrated-gradients", scalp, ["random:mvpformer"], 20, 5, options)
    told = found.facts["windows"][0]
    values = found.values("attribution")
    assert found.facts["smoothed_over"] == 2
    assert told["gap_before_smoothing"] < 0.01 < told["gap"]
    assert told["gap"] == pytest.approx(abs(told["change"] - values.sum()) / abs(told["change"]), rel=0.01)
    (note,) = [note for note in found.notes if note.startswith("Smoothed")]
    assert "2 copies with noise of 30% of" in note
    assert f"{told['gap']:.1%}" in note


def test_a_state_is_spoken_of_only_where_there_is_one(scalp: Path) -> None:
    found = analyze("grad-cam", scalp, ["random:axon"], 20, 3, {"windows": 1, "window": 3, "history": 5})
    assert "AXON-tiny carries no state from window to window: history and units change nothing." in found.notes


def test_checks_stand_beside_the_map(scalp: Path) -> None:
    options = {"windows": 2, "window": 5, "checks": True, "baseline": "surrogate", "seed": 5}
    found = analyze("integrated-gradients", scalp, ["random:mvpformer"], 20, 10, options)
    assert found.values("occlusion").shape == found.values("keep_one").shape == found.values("by_channel").shape
    assert len(found.values("occlusion")) == 2
    whole, whole_again = found.values("deletion_by_map")[:, 0], found.values("insertion_by_map")[:, -1]
    assert whole == pytest.approx(whole_again, abs=1e-5)
    assert abs(whole[0] - whole[1]) > 1e-4  # each window is checked by itself
    assert -1 <= found.facts["windows"][0]["agreement_with_occlusion"] <= 1


@pytest.mark.parametrize(
    ("kind", "checkpoint", "options", "words"),
    [
        ("integrated-gradients", "random:axon", {"target": "spike"}, "choose one of background, seizure, or last"),
        ("integrated-gradients", "random:axon", {"baseline": "grey"}, "one of interictal, zero, mean, surrogate"),
        ("integrated-gradients", "random:prise-eeg", {"window": 5}, "windows of 10 s"),
        ("grad-cam", "random:axon", {"layer": 99}, "there is no layer 99"),
        ("grad-cam", "random:prise-eeg", {"layer": 99}, r"choose 0 \(tokenizer 1\), .* or -1 for the last"),
        ("occlusion", "random:neurduo:tiny", {}, "has no classification head"),
        ("integrated-gradients", "random:axon", {"window": 40}, "no 40 s without a marked seizure"),
    ],
)
def test_what_cannot_be_explained_is_said(
    scalp: Path, kind: str, checkpoint: str, options: dict[str, object], words: str
) -> None:
    with pytest.raises(AnalysisError, match=words):
        analyze(kind, scalp, [checkpoint], 0, 45, {"windows": 1, **options})


def test_ranks_of_equal_values_are_shared() -> None:
    a, b = np.array([0.0, 0.0, 1.0, 2.0, 2.0, 2.0]), np.array([3.0, 1.0, 1.0, 5.0, 4.0, 4.0])
    assert rank_correlation(a, b) == pytest.approx(spearmanr(a, b).statistic, abs=1e-12)
    assert np.isnan(rank_correlation(a, np.ones(6)))


def test_each_point_of_the_path_is_reported(signal: Tensor) -> None:
    told: list[tuple[float, float]] = []

    class Listening(Progress):
        def report(self, done: float, total: float, message: str = "") -> None:
            told.append((done, total))

    window = _window(lambda x: x.sum((1, 2))[:, None], signal)
    integrated_gradients(window, torch.zeros_like(signal), 0, PartProgress(Listening(), 1, 4))
    assert [total for _, total in told] == [4] * 32
    assert told[0][0] == pytest.approx(1 + 1 / 32)
    assert told[-1][0] == pytest.approx(2)
