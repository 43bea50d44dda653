"""The numbers of the authors' public port (parity data): gates to 1e-5, tokens and logits to 5e-5."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from models.recorder import record
from models.registry import load_model


@pytest.fixture(scope="module")
def golden(shared: Path) -> dict[str, np.ndarray]:
    return dict(np.load(shared / "parity" / "axon" / "golden.npz"))


@pytest.fixture(scope="module")
def tiny(shared: Path) -> Any:
    return load_model(shared / "parity" / "axon" / "tiny.safetensors")


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("window", ["w4s", "w10s", "w30s"])
def test_gates_blocks_tokens_and_logits(tiny: Any, golden: dict[str, np.ndarray], window: str, plain: bool) -> None:
    x = torch.from_numpy(golden[f"{window}.x"])
    positions = torch.from_numpy(golden["channel_positions_cm"]).float() / 100
    stages = {}
    for i, block in enumerate(tiny.encoder.blocks):
        stages |= {
            f"axis_gate.{i}": block.attn.axis_gate,
            f"scale_gate.{i}": block.attn.scale_gate,
            f"block.{i}": block,
        }
    with torch.no_grad(), record(stages) as records:
        tokens = tiny.tokens(x, positions, plain=plain)
        logits = tiny.logits(x, positions)
    for name, values in records.items():
        tolerance = 5e-5 if name.startswith("block") else 1e-5
        np.testing.assert_allclose(values[0].numpy(), golden[f"{window}.{name}"], rtol=0, atol=tolerance, err_msg=name)
    np.testing.assert_allclose(tokens.numpy(), golden[f"{window}.tokens"], rtol=0, atol=5e-5)
    np.testing.assert_allclose(logits.numpy(), golden[f"{window}.logits"], rtol=0, atol=5e-5)


def test_positions_of_each_window_may_be_given(tiny: Any, golden: dict[str, np.ndarray]) -> None:
    x = torch.from_numpy(golden["w4s.x"])
    positions = torch.from_numpy(golden["channel_positions_cm"]).float() / 100
    with torch.no_grad():
        one, each = tiny.tokens(x, positions), tiny.tokens(x, positions.expand(2, -1, -1))
    assert torch.equal(one, each)
