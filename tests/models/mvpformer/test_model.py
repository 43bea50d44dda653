"""The assembled MVPFormer: what it gives, the context of a short window, and what it refuses."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from models.errors import CheckpointError
from models.recorder import record


def direct_tokens(model: Any, direct_attention: Callable[..., Tensor], embeddings: Tensor, hidden: int = 0) -> Tensor:
    """The whole decoder with the attention written out; the first `hidden` segments are masked as keys."""
    n_segments, n_channels = embeddings.shape[1:3]
    rows = model.time_table[:n_segments], model.channel_table[:n_channels]
    x = embeddings
    for block in model.blocks:
        normed = block.norm(x)
        attended = direct_attention(block.attention, normed, *rows, model.config.window_segments, hidden)
        x = x + attended + block.mlp(normed)
    return model.final_norm(x)


@pytest.mark.parametrize("n_segments", [1, 3, 6, 11])
def test_tokens_follow_the_direct_form(
    n_segments: int, small_model: Callable[..., Any], direct_attention: Callable[..., Tensor]
) -> None:
    model = small_model(lora_rank=2)
    embeddings = torch.randn(2, n_segments, 3, 16, dtype=torch.float64)
    with torch.no_grad():
        expected = direct_tokens(model, direct_attention, embeddings)
        torch.testing.assert_close(model.tokens_from_embeddings(embeddings), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize(("n_segments", "context"), [(1, 1), (1, 9), (3, 9), (6, 9), (8, 9), (9, 9), (4, 40)])
def test_a_short_window_with_context_is_a_masked_padded_one(
    n_segments: int, context: int, small_model: Callable[..., Any], direct_attention: Callable[..., Tensor]
) -> None:
    """The row of distance D is context - 1 - D, exactly as if hidden segments had come before."""
    model = small_model(task="classification")
    embeddings = torch.randn(2, n_segments, 3, 16, dtype=torch.float64)
    padding = torch.randn(2, context - n_segments, 3, 16, dtype=torch.float64)
    with torch.no_grad():
        padded = torch.cat([padding, embeddings], dim=1)
        expected = direct_tokens(model, direct_attention, padded, hidden=context - n_segments)[:, -n_segments:]
        found = model.tokens_from_embeddings(embeddings, context=context)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-10)
        logits = model.head(expected[:, -1].mean(1))
        torch.testing.assert_close(model.logits_from_embeddings(embeddings, context), logits, rtol=0, atol=1e-10)
        if context > n_segments > 1:  # with one segment all keys have the same time term
            assert not torch.allclose(model.tokens_from_embeddings(embeddings), expected, atol=1e-3)


def test_signal_and_embedding_doors_agree(small_model: Callable[..., Any]) -> None:
    classifier, generator = small_model(task="classification"), small_model()
    signal = 40 * torch.randn(2, 5, 3, 64, dtype=torch.float64)
    with torch.no_grad():
        for model in (classifier, generator):
            embeddings = model.embed(signal)
            assert torch.equal(model.tokens(signal=signal), model.tokens_from_embeddings(embeddings))
        embeddings = classifier.embed(signal)
        assert torch.equal(classifier.logits(signal=signal), classifier.logits_from_embeddings(embeddings))
        assert torch.equal(classifier(signal), classifier.logits(signal=signal))
        predicted = generator.predictions_from_embeddings(generator.embed(signal))
        assert torch.equal(generator(signal), predicted)
        torch.testing.assert_close(predicted, generator.tokens(signal=signal) @ generator.head.weight.T)


def test_logits_leave_out_what_only_earlier_segments_need(small_model: Callable[..., Any]) -> None:
    model = small_model(task="classification")
    with record({str(i): block.mlp for i, block in enumerate(model.blocks)}) as records:
        model.logits_from_embeddings(torch.randn(1, 6, 3, 16, dtype=torch.float64))
    assert [tuple(outputs[0].shape) for outputs in records.values()] == [(1, 6, 3, 16), (1, 1, 3, 16)]


def test_segments_are_embedded_on_their_own(small_model: Callable[..., Any]) -> None:
    model = small_model()
    signal = 40 * torch.randn(2, 5, 3, 64, dtype=torch.float64)
    single = model.embed(signal[1:, 2:3, 1:2])
    torch.testing.assert_close(model.embed(signal)[1:, 2:3, 1:2], single, rtol=0, atol=1e-14)


def test_gradient_reaches_the_signal(small_model: Callable[..., Any]) -> None:
    model = small_model(task="classification")
    signal = 40 * torch.randn(1, 4, 2, 64, dtype=torch.float64)
    signal.requires_grad_()
    model.logits(signal=signal)[0, 1].backward()
    assert signal.grad is not None
    step = torch.randn_like(signal) * 1e-4
    with torch.no_grad():
        change = model.logits(signal=signal + step)[0, 1] - model.logits(signal=signal - step)[0, 1]
    assert (2 * step * signal.grad).sum().item() == pytest.approx(change.item(), rel=1e-5)


def test_fold_lora_keeps_the_output_and_forgets_the_matrices(small_model: Callable[..., Any]) -> None:
    model = small_model(task="classification", lora_rank=2)
    embeddings = torch.randn(1, 5, 3, 16, dtype=torch.float64)
    with torch.no_grad():
        before = model.logits_from_embeddings(embeddings)
        for _ in range(2):
            model.fold_lora()
            torch.testing.assert_close(model.logits_from_embeddings(embeddings), before, rtol=0, atol=1e-10)
    assert model.config.lora_rank == 0
    assert not any("lora" in name for name in model.state_dict())


@pytest.mark.parametrize(
    ("task", "call", "message"),
    [
        ("generation", lambda model, x: model.logits_from_embeddings(x), "no classification head (no checkpoint)"),
        ("classification", lambda model, x: model.predictions_from_embeddings(x), "no generative head"),
        (
            "generation",
            lambda model, x: model.tokens_from_embeddings(x, context=41),
            "at 40 segments at once, not at 41",
        ),
        ("generation", lambda model, x: model.tokens_from_embeddings(x.repeat(1, 1, 5, 1)), "read 12 channels at once"),
    ],
)
def test_uses_the_weights_do_not_allow_are_refused_in_words(
    task: str, call: Callable[..., Any], message: str, small_model: Callable[..., Any]
) -> None:
    with pytest.raises(CheckpointError, match=re.escape(message)):
        call(small_model(task=task), torch.zeros(1, 4, 3, 16, dtype=torch.float64))


@pytest.mark.parametrize("shape", [(1, 2, 3, 63), (2, 3, 64), (1, 0, 3, 64), (0, 2, 3, 64)])
def test_signals_of_another_shape_are_refused(shape: tuple[int, ...], small_model: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match=r"batch, segments, channels, 64"):
        small_model().embed(torch.zeros(shape, dtype=torch.float64))


def test_context_below_the_window_is_refused(small_model: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="context"):
        small_model().tokens_from_embeddings(torch.zeros(1, 4, 3, 16, dtype=torch.float64), context=3)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="NOT TESTED: no CUDA device")
def test_a_gpu_gives_what_the_processor_gives(small_model: Callable[..., Any]) -> None:
    model = small_model(task="classification", lora_rank=2)
    signal = 40 * torch.randn(2, 11, 3, 64, dtype=torch.float64)
    with torch.no_grad():
        tokens, logits = model.tokens(signal=signal), model.logits(signal=signal)
        model.cuda()
        torch.testing.assert_close(model.tokens(signal=signal.cuda()).cpu(), tokens, rtol=0, atol=1e-9)
        torch.testing.assert_close(model.logits(signal=signal.cuda()).cpu(), logits, rtol=0, atol=1e-9)
