"""Sample-wise similarity, and the shared experts that follow from it (spec section 7)."""

from __future__ import annotations

import math

import pytest
import torch

from models.prise.allocation import ALLOCATIONS, allocation, average, compare_samples, sample_cka, shared_experts
from models.prise.config import PRISE_B


def test_similarity_is_one_for_itself_and_for_a_turn_and_a_scale() -> None:
    x = torch.randn(40, 12, generator=torch.Generator().manual_seed(0))
    turn = torch.linalg.qr(torch.randn(12, 12, generator=torch.Generator().manual_seed(1)))[0]
    assert sample_cka(x, x) == pytest.approx(1.0, abs=1e-9)
    assert sample_cka(x, 3.0 * x @ turn + 5.0) == pytest.approx(1.0, abs=1e-6)
    y = torch.randn(40, 12, generator=torch.Generator().manual_seed(2))
    assert 0.0 < sample_cka(x, y) < 0.6
    assert sample_cka(x, y) == pytest.approx(sample_cka(y, x), abs=1e-9)


def test_pairs_that_tell_nothing_are_skipped() -> None:
    assert math.isnan(sample_cka(torch.randn(7, 4), torch.randn(7, 4)))
    assert math.isnan(sample_cka(torch.ones(20, 4), torch.randn(20, 4)))
    with pytest.raises(ValueError, match="same places"):
        sample_cka(torch.randn(9, 4), torch.randn(8, 4))


@pytest.mark.parametrize(("ratio", "count"), [(1.0, 4), (0.9, 2), (0.8, 1), (0.7, 0), (5.0, 7), (math.nan, 0)])
def test_shared_experts_by_ratio(ratio: float, count: int) -> None:
    assert shared_experts(ratio) == count


def test_labels_decide_what_is_within_and_between() -> None:
    base = [torch.randn(30, 6, generator=torch.Generator().manual_seed(i)) for i in range(2)]
    samples = [base[0], base[0] * 2, base[1], base[1] * 3]
    found = compare_samples(samples, ["a", "a", "b", "b"])
    assert (found.n_within, found.n_between) == (2, 4)
    assert found.within == pytest.approx(1.0, abs=1e-6)
    assert found.between == pytest.approx(sample_cka(base[0], base[1]), abs=1e-6)
    assert found.ratio == pytest.approx(found.between, rel=1e-6)
    assert found.shared_ratio == pytest.approx(1 / (1 + math.exp(-10 * (found.ratio - 1))))
    assert average([found, found]).between == pytest.approx(found.between)


def test_allocations() -> None:
    profile = allocation("reference", PRISE_B)
    assert profile == (2, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0)
    assert allocation("reversed", PRISE_B) == profile[::-1]
    assert allocation("fixed", PRISE_B) == (2,) * 12
    assert allocation("none", PRISE_B) == (0,) * 12
    assert all(len(allocation(name, PRISE_B)) == 12 for name in ALLOCATIONS)
