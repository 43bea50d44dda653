"""What can be seen inside a NeurDuo: every stage in its place, recall by slot, rates."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from models.neurduo import model as model_module
from models.neurduo.introspection import layer_outputs, relative_rates, slot_weights, step_outputs

CLOSE: dict[str, Any] = {"rtol": 0, "atol": 1e-10}


@pytest.mark.parametrize("length", [4, 128])
def test_all_stages_of_a_sequence(length: int, small: Any, small_inputs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_module, "BLOCK_STEPS", length)
    model = small()
    stages, grids = layer_outputs(model, **small_inputs), step_outputs(model, **small_inputs)
    with torch.no_grad():
        z = model.tokens(**small_inputs)
    assert list(stages) == ["channel tokens", "fast 0", "fast 1", "fast 2", "fast", "slow 0", "slow 1", "slow"]
    assert stages["slow"].shape == (6, 15, 12)
    assert list(grids) == ["channel tokens", "fast 0", "fast 1", "fast 2", "fast", "slow", "output"]
    assert {tuple(grid.shape[:3]) for grid in grids.values()} == {(2, 3, 31)}
    torch.testing.assert_close(grids["output"], z, **CLOSE)
    torch.testing.assert_close(grids["fast"], z[..., :16], **CLOSE)
    torch.testing.assert_close(grids["fast"].flatten(0, 1), stages["fast"], **CLOSE)
    torch.testing.assert_close(grids["fast 1"].flatten(0, 1), stages["fast 1"], **CLOSE)
    torch.testing.assert_close(grids["channel tokens"].transpose(1, 2), stages["channel tokens"], **CLOSE)
    norm = model.fast.final_norm
    with torch.no_grad():
        torch.testing.assert_close(norm(stages["fast 2"]), stages["fast"], **CLOSE)
    held = stages["slow"][:, [(t + 1) // 2 - 1 for t in range(1, 31)]]
    torch.testing.assert_close(grids["slow"].flatten(0, 1)[:, 1:], held, **CLOSE)
    assert (grids["slow"][:, :, 0] == 0).all()


def test_keeping_something_else_of_each_stage(small: Any, small_inputs: Any) -> None:
    kept = layer_outputs(small(), **small_inputs, keep=lambda values: values.shape[1])
    assert kept["fast 0"] == [31]
    assert kept["slow"] == [15]


def test_recall_by_slot(small: Any, small_inputs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model, chunks = small(), small_inputs["chunks"]
    montage = model.montage(chunks, small_inputs["positions"], small_inputs["reference_ids"])
    with torch.no_grad():
        (whole,) = model.blocks(chunks, montage)
        monkeypatch.setattr(model_module, "BLOCK_STEPS", 7)
        cut = torch.cat([slot_weights(block, 3) for block in model.blocks(chunks, montage)], dim=1)
    weights = slot_weights(whole, 3)
    torch.testing.assert_close(cut, weights, **CLOSE)
    for t in range(31):
        count = (t + 1) // 2
        expected = torch.zeros(6, 3, dtype=torch.float64)
        for slot in range(3):
            number = count - 3 + slot
            if number >= 0:
                expected[:, slot] = whole.retrieved.weights[:, t, number - whole.offered]
        torch.testing.assert_close(weights[:, t], expected, **CLOSE)


def test_a_rate_is_the_relative_change_per_second() -> None:
    states = torch.tensor([[[3.0, 4.0], [3.0, 4.0], [6.0, 8.0]]])
    rates = relative_rates(states, None, 0.5)
    assert torch.isnan(rates[0, 0])
    assert rates[0, 1:].tolist() == [0.0, 2.0]
    assert relative_rates(states, torch.tensor([[0.0, 5.0]]), 2.0)[0, 0].item() == pytest.approx(10**0.5 / 10)
