"""Collecting inner values; that they are right is in test_parity and test_attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from models.mvpformer.introspection import attention_parts, layer_outputs


def test_parts_come_from_the_layers_asked_for_and_may_be_reduced(small_model: Callable[..., Any]) -> None:
    model = small_model()
    embeddings = torch.randn(2, 5, 3, 16, dtype=torch.float64)
    everything = attention_parts(model, embeddings)
    assert list(everything) == [0, 1]
    assert everything[1].probabilities.shape == (2, 4, 15, 15)
    torch.testing.assert_close(everything[1].probabilities.sum(-1), torch.ones(2, 4, 15, dtype=torch.float64))
    reduced = attention_parts(model, embeddings, layers=[1], keep=lambda parts: parts.probabilities.mean())
    torch.testing.assert_close(reduced, {1: everything[1].probabilities.mean()})


def test_context_moves_the_time_term(small_model: Callable[..., Any]) -> None:
    model = small_model()
    embeddings = torch.randn(1, 4, 2, 16, dtype=torch.float64)
    parts = [attention_parts(model, embeddings, context=context, layers=[0])[0] for context in (None, 4, 9)]
    assert torch.equal(parts[0].time, parts[1].time)
    assert not torch.allclose(parts[0].time, parts[2].time)
    assert torch.equal(parts[0].channel, parts[2].channel)


def test_stages_end_in_the_tokens_and_leave_no_hook(small_model: Callable[..., Any]) -> None:
    model = small_model()
    embeddings = torch.randn(1, 4, 2, 16, dtype=torch.float64)
    outputs = layer_outputs(model, embeddings)
    assert list(outputs) == ["block 0", "block 1", "final norm"]
    assert torch.equal(outputs["final norm"], model.tokens_from_embeddings(embeddings))
    torch.testing.assert_close(model.final_norm(outputs["block 1"]), outputs["final norm"])
    attention_parts(model, embeddings)
    assert not any(module._forward_hooks for module in model.modules())


def test_a_layer_that_is_not_there_is_refused(small_model: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="layers 0 to 1"):
        attention_parts(small_model(), torch.zeros(1, 2, 2, 16, dtype=torch.float64), layers=[2])
