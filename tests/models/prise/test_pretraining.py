"""The three tasks hide what they should, and training on them lowers their loss."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from models.prise.experts import Mixture
from models.prise.pretraining import Task, balanced_step, draw_hidden, pretraining_loss

TASKS: tuple[Task, ...] = ("forecast", "time", "channel")


@pytest.mark.parametrize("task", TASKS)
def test_half_of_the_times_or_channels_are_hidden(task: Task) -> None:
    hidden = draw_hidden(task, (5, 8, 6), torch.Generator().manual_seed(0))
    if task == "forecast":
        assert not hidden.any()
    elif task == "time":
        assert (hidden.all(2).sum(1) == 4).all()
        assert (hidden.any(2) == hidden.all(2)).all()
    else:
        assert (hidden.all(1).sum(1) == 3).all()
        assert (hidden.any(1) == hidden.all(1)).all()


@pytest.mark.parametrize("task", ["time", "channel"])
def test_hidden_patches_are_not_seen(model: Any, signal: Tensor, channels: list[str], task: Task) -> None:
    index = model.index(channels)
    hidden = draw_hidden(task, (2, 4, 6), torch.Generator().manual_seed(1))
    patches = signal.unflatten(-1, (4, 256)).transpose(1, 2)
    other = torch.where(hidden[..., None], torch.randn_like(patches), patches).transpose(1, 2).flatten(2)
    with torch.no_grad():
        a, b = model.features(signal, index, hidden), model.features(other, index, hidden)
        assert torch.equal(a, b)
        if task == "channel":
            torch.testing.assert_close(model.bias(signal, index, hidden), model.bias(other, index, hidden))


def test_training_lowers_every_loss_and_settles_the_experts(make: Any, channels: list[str]) -> None:
    torch.manual_seed(0)
    model = make(dropout=0.0, drop_path=0.0).train()
    index = model.index(channels)
    t = torch.arange(1024) / 256
    signal = torch.stack([torch.sin(2 * torch.pi * f * t) for f in (4.0, 6.0, 8.0, 10.0, 12.0, 14.0)])[None]
    hidden = {task: draw_hidden(task, (1, 4, 6), torch.Generator().manual_seed(2)) for task in TASKS}
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-3)
    first: dict[str, float] = {}
    last: dict[str, float] = {}
    for step in range(45):
        task = TASKS[step % 3]
        with balanced_step(model):
            loss = pretraining_loss(model, signal, index, task, hidden[task])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        first.setdefault(task, loss.item())
        last[task] = loss.item()
    assert all(last[task] < 0.85 * first[task] for task in TASKS), (first, last)
    mixtures = [block.ffn for block in model.blocks()]
    assert all(isinstance(mixture, Mixture) and mixture.expert_bias.abs().sum() > 0 for mixture in mixtures)
    assert all(not m._forward_pre_hooks and not m.routing._forward_hooks for m in mixtures)
    assert model.mask_vector.grad is not None
