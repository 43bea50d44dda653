"""Similarities, contrastive loss and draws; their golden numbers are in test_parity."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from models.mvpformer.objective import (
    contrastive_logits,
    contrastive_loss,
    draw_confounders,
    draw_random_segments,
    similarity,
)


def test_a_perfect_prediction_has_cosine_one_whatever_its_length() -> None:
    embeddings = torch.randn(2, 6, 3, 8)
    predicted = torch.cat([7 * embeddings[:, 1:], embeddings[:, :1]], dim=1)
    cosines = similarity(predicted, embeddings, torch.zeros(5, dtype=torch.long))
    torch.testing.assert_close(cosines.true, torch.ones(2, 5, 3))
    assert cosines.two_step.shape == (2, 4, 3)
    expected = torch.cosine_similarity(embeddings[:, 1:], embeddings[:, :1].expand(2, 5, 3, 8), dim=-1)
    torch.testing.assert_close(cosines.random, expected)


def test_a_confounder_equal_to_the_target_is_left_out() -> None:
    embeddings = torch.randn(1, 3, 2, 8)
    embeddings[0, 0, 1] = embeddings[0, 2, 0] * (1 + 1e-7)  # token 1 is the target at t = 2, channel 0
    confounders = torch.tensor([1, 3]).expand(1, 3, 2, 2)
    logits = contrastive_logits(torch.randn(1, 3, 2, 8), embeddings, confounders, 0.1)
    assert logits.shape == (1, 2, 2, 3)
    assert torch.isinf(logits).nonzero().tolist() == [[0, 0, 1, 2], [0, 1, 0, 1]]
    assert torch.isfinite(contrastive_loss(logits))


def test_confounders_get_no_gradient() -> None:
    embeddings = torch.randn(2, 3, 1, 8, requires_grad=True)
    confounders = torch.full((2, 3, 1, 4), 3)  # the first segment of the second item, never a target
    contrastive_loss(contrastive_logits(torch.randn(2, 3, 1, 8), embeddings, confounders, 0.1)).backward()
    assert embeddings.grad is not None
    assert (embeddings.grad[:, 0] == 0).all()
    assert (embeddings.grad[:, 1:] != 0).any()


def test_loss_is_the_cross_entropy_of_the_first_entry() -> None:
    logits = torch.randn(2, 4, 3, 6)
    expected = torch.nn.functional.cross_entropy(logits.reshape(-1, 6), torch.zeros(24, dtype=torch.long))
    torch.testing.assert_close(contrastive_loss(logits), expected)


def test_confounders_are_any_token_but_the_target() -> None:
    drawn = draw_confounders((2, 3, 2), 3000, torch.Generator().manual_seed(0)).reshape(12, -1).numpy()
    counts = np.stack([np.bincount(row, minlength=12) for row in drawn])
    assert (np.diag(counts) == 0).all()
    # 3000 draws from 11: 273 each with a standard deviation of 15.7; five of them.
    assert np.abs(counts[~np.eye(12, dtype=bool)] - 3000 / 11).max() < 79


def test_random_references_are_neither_the_segment_nor_its_target() -> None:
    generator = torch.Generator().manual_seed(0)
    drawn = torch.stack([draw_random_segments(5, generator) for _ in range(300)]).numpy()
    allowed = [{2, 3, 4}, {0, 3, 4}, {0, 1, 4}, {0, 1, 2}]
    assert [set(column) for column in drawn.T] == allowed


def test_draws_that_cannot_be_made_are_refused() -> None:
    with pytest.raises(ValueError, match="2 tokens"):
        draw_confounders((1, 1, 1), 3)
    with pytest.raises(ValueError, match="3 segments"):
        draw_random_segments(2)
