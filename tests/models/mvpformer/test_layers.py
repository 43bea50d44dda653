"""Encoder, MLP and block against their formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from models.mvpformer import layers, wavelet
from models.recorder import record


def rms(x: Tensor, weight: Tensor) -> Tensor:
    return x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt() * weight


def test_encoder_is_wavelet_norm_and_projection(small_model: Callable[..., Any]) -> None:
    encoder = small_model().encoder
    signal = torch.randn(2, 3, 4, 64, dtype=torch.float64)
    expected = rms(wavelet.decompose(signal), encoder.norm.weight) @ encoder.projection.weight.T
    torch.testing.assert_close(encoder(signal), expected, rtol=0, atol=1e-12)


def test_encoder_ignores_gain_of_microvolts_and_keeps_silence(small_model: Callable[..., Any]) -> None:
    encoder = small_model().encoder
    signal = 50 * torch.randn(1, 1, 2, 64, dtype=torch.float64)
    torch.testing.assert_close(encoder(signal), encoder(3 * signal), rtol=0, atol=1e-6)
    assert (encoder(torch.zeros_like(signal)) == 0).all()


def test_encoder_takes_the_transform_in_float32_at_least(small_model: Callable[..., Any]) -> None:
    encoder = small_model().encoder.to(torch.bfloat16)
    signal = 50 * torch.randn(1, 1, 2, 64)
    exact = wavelet.decompose(signal.to(torch.bfloat16).float()).to(torch.bfloat16)
    torch.testing.assert_close(
        encoder(signal.to(torch.bfloat16)), encoder.projection(encoder.norm(exact)), rtol=0, atol=0
    )


def test_block_adds_attention_and_gated_mlp_to_its_input(small_model: Callable[..., Any]) -> None:
    model = small_model()
    block = model.blocks[0]
    x = torch.randn(2, 5, 3, 16, dtype=torch.float64)
    rows = model.time_table[:5], model.channel_table[:3]
    normed = rms(x, block.norm.weight)
    gate = normed @ block.mlp.gate.weight.T
    inner = gate * torch.sigmoid(gate) * (normed @ block.mlp.up.weight.T)
    expected = x + block.attention(normed, *rows) + inner @ block.mlp.down.weight.T
    torch.testing.assert_close(block(x, *rows), expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(block(x, *rows, last_only=True), expected[:, -1:], rtol=0, atol=1e-12)


def test_rows_in_parts_give_what_all_rows_at_once_give(
    monkeypatch: pytest.MonkeyPatch, small_model: Callable[..., Any]
) -> None:
    model = small_model()
    for module, shape in ((model.encoder, (2, 5, 3, 64)), (model.blocks[0].mlp, (2, 5, 3, 16))):
        found = []
        for rows in (1000, 7, 1):  # 30 rows: at once, in parts with a rest, one by one
            monkeypatch.setattr(layers, "ENCODED_ROWS", rows)
            monkeypatch.setattr(layers, "MLP_ROWS", rows)
            x = torch.randn(shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64, requires_grad=True)
            out = module(x)
            out.square().sum().backward()
            found.append((out.detach(), x.grad))
        assert found[0][0].shape == (2, 5, 3, 16)
        for parts in found[1:]:
            for one, other in zip(parts, found[0], strict=True):
                torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


@pytest.mark.parametrize("training", [False, True])
def test_dropout_acts_in_training_only(small_model: Callable[..., Any], training: bool) -> None:
    model = small_model().train(training)
    embeddings = torch.randn(1, 5, 3, 16, dtype=torch.float64)
    torch.manual_seed(1)
    first = model.tokens_from_embeddings(embeddings)
    assert torch.equal(first, model.tokens_from_embeddings(embeddings)) is not training


def test_training_drops_embeddings_and_attended_values_but_nothing_of_the_mlp(small_model: Callable[..., Any]) -> None:
    model = small_model().train()
    modules = {"embeddings": model.encoder_dropout, "attended": model.blocks[0].dropout, "mlp": model.blocks[0].mlp}
    with record(modules) as records:
        model.tokens_from_embeddings(torch.randn(2, 9, 10, 16, dtype=torch.float64))
    dropped = {name: (outputs[0] == 0).double().mean().item() for name, outputs in records.items()}
    # 2880 values at rate 0.5: four standard errors are 0.037.
    assert dropped == {"embeddings": pytest.approx(0.5, abs=0.037), "attended": pytest.approx(0.5, abs=0.037), "mlp": 0}
