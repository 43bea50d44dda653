"""Gates at the start, their temperature and their stopped gradient; the codes; the z-score."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from models.axon.config import AxonConfig
from models.axon.layers import RMSNorm, gate_temperature, standardised, time_code
from models.axon.model import mean_over_tokens
from models.registry import untrained_model


def test_a_fresh_gate_is_the_same_for_every_token(signal: Tensor) -> None:
    model: Any = untrained_model("axon", AxonConfig(embed_dim=32, depth=1, num_heads=4))
    attn = model.encoder.blocks[0].attn
    with torch.no_grad():
        y = torch.randn(2, 3, 8, 32)
        axis, scale = attn.axis_gate(y), attn.scale_gate(y)
    np.testing.assert_allclose(axis[..., 0], 1 / (1 + math.exp(-0.5)), rtol=0, atol=1e-6)  # 0.6225
    np.testing.assert_allclose(scale[..., 0], 1 / (1 + math.exp(1.0)), rtol=0, atol=1e-6)  # 0.2689


@pytest.mark.parametrize(("step", "value"), [(-5, 2.0), (0, 2.0), (750, 1.5), (1500, 1.0), (9999, 1.0)])
def test_gates_cool_in_a_straight_line(step: int, value: float) -> None:
    assert gate_temperature(step) == pytest.approx(value)


def test_a_warm_gate_is_nearer_to_equal_weights(model: Any) -> None:
    y = torch.randn(1, 3, 8, 32)
    gate = model.encoder.blocks[0].attn.axis_gate
    with torch.no_grad():
        cold = gate(y)
        model.set_temperature(2.0)
        warm = gate(y)
    torch.testing.assert_close(warm.log().diff(dim=-1), cold.log().diff(dim=-1) / 2, rtol=1e-4, atol=1e-5)


def test_no_gradient_reaches_tokens_through_the_gates(model: Any) -> None:
    attn = model.encoder.blocks[0].attn
    y = torch.randn(1, 3, 8, 32, requires_grad=True)
    for gate in (attn.axis_gate, attn.scale_gate):
        weights = gate(y)[..., 0].sum()
        assert torch.autograd.grad(weights, y, allow_unused=True, retain_graph=True)[0] is None
        assert torch.autograd.grad(weights, gate.mlp[0].weight)[0].abs().sum() > 0


def test_frozen_gates_stay_while_the_rest_learns(model: Any) -> None:
    model.freeze_gates()
    frozen = {name for name, parameter in model.named_parameters() if not parameter.requires_grad}
    assert frozen == {name for name, _ in model.named_parameters() if "_gate." in name}


def test_gain_and_offset_of_a_channel_change_nothing(model: Any, signal: Tensor, positions: Tensor) -> None:
    with torch.no_grad():
        a = model.tokens(signal, positions)
        b = model.tokens(signal * torch.tensor([1e-6, 2.0, 30.0, 1.0, 0.5])[:, None], positions)
        c = model.tokens(signal + torch.tensor([4.0, -2.0, 0.0, 1.0, 10.0])[:, None], positions)
    torch.testing.assert_close(a, b, rtol=0, atol=1e-4)
    torch.testing.assert_close(a, c, rtol=0, atol=1e-3)  # an offset costs digits of float32


def test_the_z_score_is_of_the_sample_and_flat_channels_are_zeros() -> None:
    x = torch.randn(1, 2, 500)
    x[0, 1] = 7.0
    z = standardised(x)
    expected = (x[0, 0].double() - x[0, 0].double().mean()) / x[0, 0].double().std()
    np.testing.assert_allclose(z[0, 0], expected, rtol=0, atol=2e-6)
    assert (z[0, 1] == 0).all()


def test_the_time_code_is_sine_and_cosine() -> None:
    code = time_code(20, 8)
    for t in (0, 3, 19):
        for i in range(4):
            angle = t / 10_000 ** (2 * i / 8)
            assert code[t, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert code[t, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_the_norm_divides_by_the_root_mean_square() -> None:
    x = torch.randn(4, 16)
    norm = RMSNorm(16)
    with torch.no_grad():
        norm.weight.copy_(torch.arange(16.0))
        expected = x / (x.pow(2).mean(-1, keepdim=True) + 1e-8).sqrt() * torch.arange(16.0)
        torch.testing.assert_close(norm(x), expected)


def test_the_mean_leaves_missing_channels_out() -> None:
    tokens = torch.randn(2, 3, 4, 5)
    missing = torch.tensor([[False, True, False], [False, False, False]])
    tokens[0, 1] = 0.0
    mean = mean_over_tokens(tokens, missing)
    torch.testing.assert_close(mean[0], tokens[0, [0, 2]].mean((0, 1)))
    torch.testing.assert_close(mean[1], tokens[1].mean((0, 1)))


def test_the_spatial_code_of_the_paper_is_one_linear_map_on_millimetres(make: Any, positions: Tensor) -> None:
    model = make(spatial_encoder="paper", position_unit="mm")
    layer = model.encoder.spatial_pos_embed
    signal = torch.randn(1, 5, 400)
    with torch.no_grad():
        moved = model.encoder.embed(signal, positions[None]) - model.encoder.embed(signal, torch.zeros(1, 5, 3))
        expected = (1000 * positions) @ layer.weight.T
    torch.testing.assert_close(moved[0, :, 0], expected, rtol=1e-4, atol=1e-4)
