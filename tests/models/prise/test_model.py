"""Stages of the model against their definitions, and what may influence what."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from models.checkpoint import save_container
from models.errors import CheckpointError
from models.prise import front_end
from models.prise.blocks import rotate
from models.prise.front_end import FrontEnd, split_patches, znorm
from models.prise.interventions import (
    with_allocation,
    with_beta,
    with_expert,
    without_correction,
    without_dynamic,
    without_groups,
    without_static,
)
from models.prise.introspection import (
    block_of,
    block_outputs,
    dynamic_correlation,
    prior_preservation,
    routings,
    tokenizer_attention,
)
from models.registry import load_model


def test_shapes_of_tokens_and_scores(model: Any, signal: Tensor, channels: list[str]) -> None:
    with torch.no_grad():
        assert model.tokens(signal=signal, channels=channels).shape == (2, 4, 42, 64)
        assert model.logits(signal=signal, channels=channels).shape == (2, 3)


@pytest.mark.parametrize("changes", [{}, {"has_selector": True}, {"ffn": "dense"}, {"n_kv_head": 4}])
def test_the_fused_form_gives_the_plain_form(make: Any, signal: Tensor, channels: list[str], changes: Any) -> None:
    model = make(**changes)
    with torch.no_grad():
        torch.testing.assert_close(
            model.tokens(signal, channels), model.tokens(signal, channels, plain=True), rtol=0, atol=2e-5
        )


@pytest.mark.parametrize("dropped", [[], [3], [20], [3, 20, 25, 41]])
def test_groups_that_are_left_out_are_not_computed_and_change_nothing(
    make: Any, signal: Tensor, channels: list[str], dropped: list[int]
) -> None:
    """Each of two windows keeps 12 dynamic groups of its own, less what is taken out of them."""
    model = make(has_selector=True)
    index = model.index(channels)
    asked: list[int] = []

    def listen(_module: Any, given: tuple[Tensor]) -> None:
        asked.append(given[0].numel())

    hooks = [block.norm_ffn.register_forward_pre_hook(listen) for block in model.blocks()]
    with torch.no_grad(), without_groups(model, dropped):
        x, bias = model.features(signal, index), model.bias(signal, index)
        keep = model.kept_groups(x)
        assert not torch.equal(keep[0], keep[1])
        whole = model.encode(model.tokenize(x, bias), keep)
        assert asked == [2 * 4 * 42 * 64] * 3
        asked.clear()
        found = model.tokens(signal, channels)
        assert asked == [2 * 4 * int(keep.sum(1).max()) * 64] * 3
        scores = model.logits(signal, channels)
    for hook in hooks:
        hook.remove()
    torch.testing.assert_close(found, whole, rtol=0, atol=1e-5)
    assert torch.equal((found != 0).any(-1).any(1), keep > 0)
    with torch.no_grad():
        torch.testing.assert_close(scores, model.classify(whole, index), rtol=0, atol=1e-5)


def test_a_choice_that_is_trained_learns_from_the_groups_it_leaves_out(
    make: Any, signal: Tensor, channels: list[str]
) -> None:
    model = make(has_selector=True, dropout=0.0, drop_path=0.0).train()
    model.logits(signal, channels).sum().backward()
    assert (model.selector.score.weight.grad.abs().sum(-1) > 0).all(), "all 24, of which 12 are kept"


def test_channels_in_another_order_give_the_same_tokens(model: Any, signal: Tensor, channels: list[str]) -> None:
    order = [3, 0, 5, 1, 4, 2]
    with torch.no_grad():
        permuted = model.tokens(signal[:, order], [channels[i] for i in order])
        torch.testing.assert_close(permuted, model.tokens(signal, channels), rtol=0, atol=2e-5)


def test_leaving_a_channel_out_is_not_the_same_as_zeros(model: Any, signal: Tensor, channels: list[str]) -> None:
    silent = signal.clone()
    silent[:, 5] = 0.0
    with torch.no_grad():
        difference = model.tokens(silent, channels) - model.tokens(signal[:, :5], channels[:5])
    assert difference.abs().max() > 1e-3


def test_the_spectrum_is_that_of_a_hann_window(model: Any) -> None:
    front: FrontEnd = model.front_end
    patches = torch.randn(1, 2, 3, 256, generator=torch.Generator().manual_seed(0))
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(256) / 256)
    power = np.abs(np.fft.rfft(patches.double().numpy() * window)) ** 2 / (window**2).sum()
    np.testing.assert_allclose(front.spectrum(patches).detach(), np.log10(power + 1e-10), rtol=0, atol=1e-4)
    z = znorm(torch.randn(4, 50))
    torch.testing.assert_close(z.std(-1, correction=0), torch.ones(4), rtol=1e-3, atol=0)


def test_the_front_end_gives_the_same_a_part_at_a_time(
    model: Any, signal: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    patches = front_end.split_patches(signal, 256)
    whole = model.front_end(patches)
    assert whole.requires_grad
    monkeypatch.setattr(front_end, "_PART", 7)
    with torch.no_grad():
        torch.testing.assert_close(model.front_end(patches), whole.detach(), rtol=1e-4, atol=1e-5)


def test_patches_are_seconds_and_a_rest_is_not_used(signal: Tensor) -> None:
    patches = split_patches(signal[..., :1000], 256)
    assert patches.shape == (2, 3, 6, 256)
    assert torch.equal(patches[1, 2, 4], signal[1, 4, 512:768])


def test_rotation_depends_on_the_distance_alone() -> None:
    q, k = torch.randn(2, 16, generator=torch.Generator().manual_seed(0))
    rows_q, rows_k = rotate(q.expand(12, 16), 1e5), rotate(k.expand(12, 16), 1e5)
    scores = rows_q @ rows_k.T
    for shift in (0, 3, -5):
        diagonal = scores.diagonal(shift)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal), rtol=0, atol=1e-4)
    torch.testing.assert_close(rows_q.norm(dim=-1), q.norm().expand(12), rtol=1e-5, atol=0)


def test_a_forecast_sees_nothing_of_the_future(model: Any, signal: Tensor, channels: list[str]) -> None:
    index = model.index(channels)
    other = signal.clone()
    other[..., 512:] = torch.randn(2, 6, 512)

    def run(x: Tensor) -> Tensor:
        features = model.features(x, index)
        return model.encode(model.tokenize(features, model.bias(x, index)), torch.ones(2, 42), causal=True)

    with torch.no_grad():
        a, b = run(signal), run(other)
    torch.testing.assert_close(a[:, :2], b[:, :2], rtol=0, atol=1e-5)
    assert not torch.allclose(a[:, 2:], b[:, 2:], atol=1e-3)


def test_another_length_than_the_heads_is_refused(model: Any, signal: Tensor, channels: list[str]) -> None:
    with pytest.raises(ValueError, match="made for 4 s, not for 3 s"):
        model.logits(signal[..., :768], channels)
    with pytest.raises(ValueError, match="100 samples fill no patch"):
        model.tokens(signal[..., :100], channels)
    with pytest.raises(ValueError, match="no electrode A9"):
        model.tokens(signal, [*channels[:5], "A9"])


def test_a_container_gives_the_same_model_and_counts_what_is_active(
    model: Any, signal: Tensor, channels: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "prise.safetensors"
    save_container(model, path)
    again: Any = load_model(path)
    assert again.config == model.config
    with torch.no_grad():
        assert torch.equal(again.logits(signal, channels), model.logits(signal, channels))
    from models.checkpoint import describe

    facts = describe(path)
    assert facts["n_params_activated"] == facts["n_params"] - model.config.n_activated_savings
    assert facts["keys"]["unused"] == []


def test_a_model_without_a_head_has_no_scores(make: Any, signal: Tensor, channels: list[str]) -> None:
    with pytest.raises(CheckpointError, match="no classification head"):
        make(n_outputs=0).logits(signal, channels)


def test_low_rank_updates_begin_as_nothing_and_train_alone(make: Any, signal: Tensor, channels: list[str]) -> None:
    plain, updated = make(), make(lora_rank=4)
    with torch.no_grad():
        for name, parameter in updated.named_parameters():
            source = name.replace("parametrizations.", "").replace(".original", "")
            if not name.endswith((".a", ".b")):
                parameter.copy_(dict(plain.named_parameters())[source])
        torch.testing.assert_close(updated.tokens(signal, channels), plain.tokens(signal, channels))
    learning = {name for name, parameter in updated.named_parameters() if parameter.requires_grad and ".ffn" in name}
    assert learning
    assert all(name.endswith((".0.a", ".0.b")) for name in learning)
    assert not any("affinity" in name for name in learning)


@pytest.mark.parametrize(
    "intervention",
    [
        without_static,
        without_dynamic,
        lambda m: with_beta(m, 1e6),
        lambda m: without_groups(m, [0, 20]),
        lambda m: with_expert(m, 1, 5),
        lambda m: with_allocation(m, (0, 3, 0, 1)),
    ],
)
def test_interventions_change_the_answer_and_put_everything_back(
    model: Any, signal: Tensor, channels: list[str], intervention: Any
) -> None:
    with torch.no_grad():
        before = model.logits(signal, channels)
        with intervention(model):
            assert not torch.equal(model.logits(signal, channels), before)
        assert torch.equal(model.logits(signal, channels), before)


def test_without_its_correction_a_model_has_the_prior_it_was_given(model: Any, channels: list[str]) -> None:
    untouched = prior_preservation(model, channels)
    assert (untouched.ratio, untouched.inside, untouched.outside, untouched.gap) == (0.0, 0.0, -2.0, 2.0)
    with torch.no_grad():
        model.static_groups.delta.fill_(0.5)
    moved = prior_preservation(model, channels)
    assert (moved.inside, moved.outside, moved.gap) == pytest.approx((0.5, -1.5, 2.0))
    assert moved.ratio > 0
    with without_correction(model):
        assert prior_preservation(model, channels) == untouched
    assert prior_preservation(model, channels) == moved


def test_interventions_that_make_no_sense_are_refused(model: Any) -> None:
    with pytest.raises(ValueError, match="numbered 0 to 41"), without_groups(model, [42]):
        pass
    with pytest.raises(ValueError, match="2 to 8"), with_expert(model, 0, 1):
        pass
    with pytest.raises(ValueError, match="3 numbers for 4 blocks"), with_allocation(model, (0, 0, 0)):
        pass


def test_routing_attention_and_outputs_of_every_block(model: Any, signal: Tensor, channels: list[str]) -> None:
    found = routings(model, signal, channels)
    assert list(found) == ["tokenizer 1", "time 1", "group 1", "decoder 1"]
    assert [shape for _, shape in found.values()] == [(8, 42), (84, 4), (8, 42), (8, 6)]
    assert all(len(routing.experts) == shape[0] * shape[1] for routing, shape in found.values())
    attention = tokenizer_attention(model, signal, channels)
    assert attention.shape == (2, 4, 42, 6)
    torch.testing.assert_close(attention.sum(-1), torch.ones(2, 4, 42), rtol=0, atol=1e-5)
    outputs = block_outputs(model, signal, channels)
    assert list(outputs) == ["tokenizer 1", "time 1", "group 1", "final norm"]
    assert {tuple(value.shape) for value in outputs.values()} == {(2, 4, 42, 64)}
    with torch.no_grad():
        assert torch.equal(outputs["final norm"], model.tokens(signal, channels))
        index = model.index(channels)
        h = model.tokenize(model.features(signal, index), model.bias(signal, index))
        torch.testing.assert_close(outputs["tokenizer 1"], h)
    assert dynamic_correlation(model, signal).shape == (2, 4, 4, 6, 6, 6)
    assert block_of(model, "time 1") is model.encoder[0]
    with pytest.raises(ValueError, match="there are: tokenizer 1"):
        block_of(model, "time 9")


def test_a_bias_for_each_head_may_be_given(model: Any, signal: Tensor, channels: list[str]) -> None:
    index = model.index(channels)
    with torch.no_grad():
        x, bias = model.features(signal, index), model.bias(signal, index)
        each = bias[:, :, None].expand(-1, -1, 8, -1, -1)
        torch.testing.assert_close(model.tokenize(x, each), model.tokenize(x, bias), rtol=0, atol=1e-6)


def test_a_dense_pilot_has_no_experts(make: Any, signal: Tensor, channels: list[str]) -> None:
    pilot = make(ffn="dense")
    with pytest.raises(ValueError, match="no experts"):
        routings(pilot, signal, channels)
    with pytest.raises(ValueError, match="no experts"):
        pilot.set_allocation((0, 0, 0, 0))
    assert pilot.config == replace(make().config, ffn="dense")
