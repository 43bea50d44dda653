"""Hooks collect outputs and are always removed."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from models.recorder import record


def test_outputs_are_listed_in_the_order_of_the_calls() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    inputs = [torch.randn(4, 2), torch.randn(5, 2)]
    with record({"linear": model[0], "unused": nn.Linear(1, 1)}) as records:
        for x in inputs:
            model(x)
    assert all(torch.equal(out, model[0](x)) for out, x in zip(records["linear"], inputs, strict=True))
    assert records["unused"] == []


def test_keep_decides_what_is_stored() -> None:
    linear = nn.Linear(2, 3)
    with record({"linear": linear}, keep=lambda out: tuple(out.shape)) as records:
        linear(torch.zeros(4, 2))
    assert records == {"linear": [(4, 3)]}


def test_hooks_are_gone_afterwards_and_after_an_error() -> None:
    linear = nn.Linear(2, 3)
    with record({"linear": linear}) as records:
        assert len(linear._forward_hooks) == 1
    linear(torch.zeros(1, 2))
    assert records["linear"] == []
    with pytest.raises(RuntimeError), record({"linear": linear}):
        linear(torch.zeros(1, 7))
    assert not linear._forward_hooks
