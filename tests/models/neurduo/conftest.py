"""Fixtures of the NeurDuo tests: the golden files, and small models with random weights that all matter."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from models.neurduo.config import NeurDuoConfig
from models.neurduo.model import NeurDuo
from models.registry import load_model, untrained_model

SIZES = {
    "token_dim": 12,
    "patch_hidden_dim": 8,
    "patch_kernel_sizes": (3, 5),
    "metadata_hidden_dim": 8,
    "max_reference_types": 16,
    "fast_dim": 16,
    "slow_dim": 12,
    "fast_num_layers": 3,
    "slow_num_layers": 2,
    "fast_d_state": 4,
    "slow_d_state": 3,
    "fast_expand_factor": 2,
    "slow_expand_factor": 2,
    "fast_conv_kernel_size": 4,
    "slow_conv_kernel_size": 3,
    "channel_attn_every": 2,
    "channel_attn_heads": 2,
    "queue_size": 6,
    "writer_window": 5,
    "memory_bank_size": 3,
    "write_every_n_steps": 2,
    "codebook_size": 20,
    "predictor_hidden_dim": 8,
}


@pytest.fixture(scope="session")
def neurduo_parity(shared: Path) -> Path:
    """Weights, inputs and numbers of the published code."""
    return shared / "parity" / "neurduo"


@pytest.fixture(scope="session")
def arrays(neurduo_parity: Path) -> Callable[[str], dict[str, np.ndarray]]:
    """Reads one file of golden arrays."""
    return lambda name: dict(np.load(neurduo_parity / name))


@pytest.fixture(scope="session")
def inputs(arrays: Any) -> dict[str, Tensor]:
    """Golden chunks (2, 40, 5, 128), positions, reference ids and missing flags, as the model takes them."""
    read = arrays("inputs.npz")
    names = {"chunks": "chunks", "positions": "channel_positions", "reference_ids": "reference_ids"}
    names["missing"] = "missing_mask"
    return {name: torch.from_numpy(read[key]) for name, key in names.items()}


@pytest.fixture(scope="session")
def tiny(neurduo_parity: Path) -> Any:
    """The golden model, from the file its trainer wrote."""
    return load_model(neurduo_parity / "tiny" / "tiny_checkpoint.pt")


@pytest.fixture(scope="session")
def odd(neurduo_parity: Path) -> Any:
    """The golden model of an unusual architecture."""
    folder = neurduo_parity / "tiny_odd"
    return load_model(folder / "tiny_odd.safetensors", config=folder / "tiny_odd_config.json")


@pytest.fixture(scope="session")
def fine_tuned(neurduo_parity: Path) -> Any:
    """The golden model with its fine-tuned head."""
    folder = neurduo_parity
    return load_model(folder / "tiny/tiny_checkpoint.pt", folder / "heads/tiny_heads.safetensors")


@pytest.fixture(scope="session")
def unit_positions(neurduo_parity: Path) -> dict[str, list[float]]:
    """Golden directions of electrodes."""
    return json.loads((neurduo_parity / "electrodes" / "unit_positions.json").read_text())["positions"]


@pytest.fixture
def small() -> Callable[..., NeurDuo]:
    """Makes a random model of a few thousand parameters in float64, every weight large enough to matter."""

    def make(**changes: Any) -> NeurDuo:
        model = untrained_model("neurduo", NeurDuoConfig(**(SIZES | changes)), seed=3).double()
        generator = torch.Generator().manual_seed(4)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if not name.endswith(("A_log", "dt_proj.bias")):
                    draw = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
                    parameter.add_(draw * (0.4 if parameter.ndim > 1 else 0.2))
        assert isinstance(model, NeurDuo)
        return model

    return make


@pytest.fixture
def small_inputs() -> dict[str, Tensor]:
    """Input for a small model in float64: 2 items, 31 steps, 3 channels, of which the second item lacks one."""
    generator = torch.Generator().manual_seed(5)
    return {
        "chunks": torch.randn(2, 31, 3, 128, generator=generator, dtype=torch.float64),
        "positions": torch.randn(2, 3, 3, generator=generator, dtype=torch.float64),
        "reference_ids": torch.tensor([[0, 1, 10], [0, 15, 1]]),
        "missing": torch.tensor([[False, False, False], [False, True, False]]),
    }
