"""Low-rank updates beside the weight, folded in, and recognised when a file has them folded."""

from __future__ import annotations

import pytest
import torch

from models.mvpformer.lora import LoRALinear, is_folded


def updated_linear(rank: int = 3, updated_rows: int | None = None) -> LoRALinear:
    torch.manual_seed(0)
    linear = LoRALinear(6, 10, rank, alpha=12.0, updated_rows=updated_rows).double()
    for parameter in linear.parameters():
        torch.nn.init.normal_(parameter)
    return linear


@pytest.mark.parametrize("updated_rows", [None, 4])
def test_update_beside_the_weight_equals_the_update_inside(updated_rows: int | None) -> None:
    linear = updated_linear(updated_rows=updated_rows)
    x = torch.randn(5, 6, dtype=torch.float64)
    assert linear.lora_A is not None
    assert linear.lora_B is not None
    rows = updated_rows or 10
    expected = linear.weight.detach().clone()
    expected[-rows:] += 12.0 / 3 * linear.lora_B.detach() @ linear.lora_A.detach()
    torch.testing.assert_close(linear.effective_weight(), expected, rtol=0, atol=1e-14)
    torch.testing.assert_close(linear(x), x @ expected.T, rtol=0, atol=1e-13)


def test_folding_twice_changes_nothing_more() -> None:
    linear = updated_linear(updated_rows=4)
    x = torch.randn(5, 6, dtype=torch.float64)
    before = linear(x)
    linear.fold()
    once = linear.weight.detach().clone()
    torch.testing.assert_close(linear(x), before, rtol=0, atol=1e-13)
    linear.fold()
    assert torch.equal(linear.weight, once)
    assert list(linear.state_dict()) == ["weight"]
    assert linear.scale == 0.0


def test_without_rank_it_is_a_plain_linear_map() -> None:
    linear = updated_linear(rank=0)
    x = torch.randn(2, 6, dtype=torch.float64)
    assert torch.equal(linear(x), torch.nn.functional.linear(x, linear.weight))
    assert list(linear.state_dict()) == ["weight"]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_folded_weight_is_told_from_an_unfolded_one(dtype: torch.dtype) -> None:
    linear = updated_linear(updated_rows=4).float()
    base, folded = linear.weight.detach().to(dtype), linear.effective_weight().to(dtype)
    assert linear.lora_A is not None
    assert linear.lora_B is not None
    matrices = linear.lora_A.detach(), linear.lora_B.detach()
    assert is_folded(base, folded, *matrices, linear.scale)
    assert not is_folded(base, base, *matrices, linear.scale)
    fine_tuned = base + torch.randn(base.shape).to(dtype)
    assert not is_folded(base, fine_tuned, *matrices, linear.scale)
