"""A small PRiSE-EEG with random weights, and seconds of signal for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from models.prise.config import PriseConfig
from models.registry import untrained_model

SMALL = PriseConfig(
    embed_dim=64, expert_dim=32, n_tokenizer=1, n_group=1, n_temporal=1, n_decoder=1, frequency_dim=32,
    n_shared=(1, 0, 2, 0), conv_dim=8, dense_dim=96, n_outputs=3, n_patches=4,
)  # fmt: skip


def build(**changes: Any) -> Any:
    """A model of the small size."""
    model: Any = untrained_model("prise-eeg", replace(SMALL, **changes), seed=1)
    return model


@pytest.fixture
def make() -> Any:
    """Builds small models of any configuration."""
    return build


@pytest.fixture
def model() -> Any:
    """The small model."""
    return build()


@pytest.fixture
def channels() -> list[str]:
    """Six electrodes, with an old name and capitals among them."""
    return ["FP1", "Fp2", "C3", "T4", "O1", "Pz"]


@pytest.fixture
def signal() -> Tensor:
    """Two windows of 4 s of 6 channels: (2, 6, 1024)."""
    return torch.randn(2, 6, 1024, generator=torch.Generator().manual_seed(0))
