"""A small AXON with random weights and a gate that differs from token to token, and a grid to run it on."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from models.axon.config import AxonConfig
from models.registry import untrained_model

SMALL = AxonConfig(embed_dim=32, depth=2, num_heads=4, n_outputs=3, head_hidden_dim=16)


def build(**changes: Any) -> Any:
    """A model of the small size, whose gates depend on the token."""
    from dataclasses import replace

    model: Any = untrained_model("axon", replace(SMALL, **changes), seed=1)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for gate in model.gates():
            if hasattr(gate, "mlp"):
                gate.mlp[2].weight.copy_(torch.randn(gate.mlp[2].weight.shape, generator=generator))
    return model


@pytest.fixture
def make() -> Any:
    """Builds small models of any variant."""
    return build


@pytest.fixture
def model() -> Any:
    """The small model."""
    return build()


@pytest.fixture
def signal() -> Tensor:
    """Two windows of 30 s of 5 channels: (2, 5, 6000)."""
    return torch.randn(2, 5, 6000, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def positions() -> Tensor:
    """Five electrodes in metres."""
    return 0.08 * torch.randn(5, 3, generator=torch.Generator().manual_seed(3))
