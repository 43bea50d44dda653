"""Masks cover what they should, the loss looks at hidden patches only, and training lowers it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from models.axon.config import AxonConfig
from models.axon.pretraining import MASK_SHARE, AxonPretraining, draw_mask

SMALL = AxonConfig(embed_dim=32, depth=2, num_heads=4)


def test_masks_hide_the_share_of_the_paper_in_blocks() -> None:
    rng = np.random.default_rng(0)
    masks = [draw_mask(range(19), 11, rng) for _ in range(40)]
    wanted = round(MASK_SHARE * 19 * 11)
    assert all(mask.sum() == wanted for mask in masks)
    neighbours = np.mean([(mask[:, 1:] == mask[:, :-1]).mean() for mask in masks])
    assert neighbours > 0.7, "blocks, not single tokens (independent ones would agree in 0.505)"
    whole = np.mean([mask.all(1).any() for mask in masks])
    assert 0.15 < whole <= 1.0
    assert not np.array_equal(masks[0], masks[1])
    again = [draw_mask(range(19), 11, np.random.default_rng(5)) for _ in range(2)]
    assert np.array_equal(*again)


def test_only_hidden_patches_count_and_hidden_samples_are_not_seen() -> None:
    torch.manual_seed(0)
    model = AxonPretraining(SMALL).eval()
    signal, positions = torch.randn(1, 4, 2000), 0.08 * torch.randn(1, 4, 3)
    hidden = torch.from_numpy(draw_mask(range(4), 11, np.random.default_rng(1)))[None]
    with torch.no_grad():
        made, pooled = model(signal, positions, hidden)
    assert made.shape == pooled.shape == (1, 4, 11, 200)
    tokens = model.axon.encoder.embed(signal, positions)
    noise = torch.where(hidden[..., None], torch.randn_like(tokens), tokens)
    with torch.no_grad():
        a = model.axon.encoder.contextualise(tokens, positions, hidden)
        b = model.axon.encoder.contextualise(noise, positions, hidden)
    torch.testing.assert_close(a, b, rtol=0, atol=1e-5)


def test_training_on_one_window_lowers_the_loss_and_leaves_no_hooks() -> None:
    torch.manual_seed(0)
    model = AxonPretraining(SMALL)
    t = torch.arange(2000) / 200
    signal = torch.stack([torch.sin(2 * torch.pi * f * t) for f in (6.0, 8.0, 10.0, 12.0)])[None]
    positions = 0.08 * torch.randn(1, 4, 3)
    hidden = torch.from_numpy(draw_mask(range(4), 11, np.random.default_rng(1)))[None]
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    losses = []
    for _ in range(40):
        loss = model.loss(signal, positions, hidden)
        assert loss.total.item() == pytest.approx(loss.reconstruction.item() + 0.5 * loss.auxiliary.item(), abs=1e-6)
        optimiser.zero_grad()
        loss.total.backward()
        optimiser.step()
        losses.append(loss.total.item())
    assert losses[-1] < 0.7 * losses[0]
    assert all(not attn._forward_hooks for attn in model.axon.encoder.attentions)
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.auxiliary.parameters())
