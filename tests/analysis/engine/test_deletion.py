"""Deletion and insertion against closed forms of a linear model."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
import torch
from torch import Tensor

from analysis.engine.deletion import area, curves_of, order_of, random_orders
from analysis.engine.explained import Explained
from analysis.progress import Cancelled, Progress

GAINS = torch.tensor([4.0, 1.0, 3.0, 2.0])


def _sum(x: Tensor) -> Tensor:
    return (x.mean(-1) * GAINS).sum(-1)[:, None]


@pytest.fixture
def window() -> Explained:
    signal = torch.ones(1, 4, 30)
    one = torch.ones(4, 1)
    return Explained(signal, one, torch.zeros_like(one), _sum, nullcontext, 10.0, 0.0)


def test_channels_of_a_linear_model_take_their_parts_with_them(window: Explained) -> None:
    orders = [order_of(GAINS.numpy()), np.array([1, 3, 2, 0])]
    found = curves_of(window, torch.zeros(1, 4, 30), 0, orders, False, Progress())
    np.testing.assert_allclose(found.fractions, [0, 0.25, 0.5, 0.75, 1])
    np.testing.assert_allclose(found.deletion, [[10, 6, 3, 1, 0], [10, 9, 7, 4, 0]], atol=1e-6)
    np.testing.assert_allclose(found.insertion, [[0, 4, 7, 9, 10], [0, 1, 3, 6, 10]], atol=1e-6)
    np.testing.assert_allclose(area(found.deletion, found.fractions), [3.75, 6.25], atol=1e-6)


def test_seconds_of_channels_are_taken_one_by_one(window: Explained) -> None:
    x = window.signal.clone()
    x[:, 0, 10:20] = 4.0  # a second of the first channel
    worth = (x[0].view(4, 3, 10).sum(-1) * GAINS[:, None] / 30).numpy()
    changed = Explained(x, window.scale, window.offset, _sum, nullcontext, 10.0, 0.0)
    order = order_of(worth)
    found = curves_of(changed, torch.zeros_like(x), 0, [order], True, Progress())
    counts = (found.fractions * 12).round().astype(int)
    sums = np.concatenate([[0], np.cumsum(np.sort(worth.ravel())[::-1])])
    np.testing.assert_allclose(found.insertion[0], sums[counts], atol=1e-5)
    np.testing.assert_allclose(found.deletion[0], sums[-1] - sums[counts], atol=1e-5)


def test_a_short_last_second_is_a_part_as_well(window: Explained) -> None:
    x = torch.ones(1, 4, 25)
    short = Explained(x, window.scale, window.offset, lambda s: s.sum((1, 2))[:, None], nullcontext, 10.0, 0.0)
    found = curves_of(short, torch.zeros_like(x), 0, [np.arange(12)], True, Progress())
    assert found.insertion[0, -1] == pytest.approx(100)
    assert found.deletion[0, -1] == pytest.approx(0)


def test_random_orders_follow_their_seed() -> None:
    first, again, other = (random_orders(3, 50, seed) for seed in (1, 1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0], other[0])
    assert all(sorted(order) == list(range(50)) for order in first)


def test_it_stops_between_two_scores(window: Explained) -> None:
    class Tired(Progress):
        told = 0

        def report(self, done: float, total: float, message: str = "") -> None:
            self.told += 1
            if self.told == 3:
                raise Cancelled

    with pytest.raises(Cancelled):
        curves_of(window, torch.zeros(1, 4, 30), 0, [np.arange(4)], False, Tired())
