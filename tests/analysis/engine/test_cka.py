"""CKA and effective rank against closed forms, against numpy written straight from the papers, and batch by batch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from analysis.engine.cka import CkaSum, RankSum, gram, plain_hsic, unbiased_hsic


def _normal(n: int, d: int, seed: int) -> Tensor:
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def _cka(first: Tensor, second: Tensor) -> tuple[float, float]:
    total = CkaSum()
    total.add([first], [second])
    plain, unbiased = total.values()
    return float(plain[0, 0]), float(unbiased[0, 0])


def _numpy_plain(x: np.ndarray, y: np.ndarray) -> float:
    """Kornblith et al., equation for linear CKA in feature space."""
    x, y = x - x.mean(0), y - y.mean(0)
    cross = np.linalg.norm(y.T @ x, "fro") ** 2
    return cross / (np.linalg.norm(x.T @ x, "fro") * np.linalg.norm(y.T @ y, "fro"))


def _numpy_unbiased(x: np.ndarray, y: np.ndarray) -> float:
    """Song et al., the U-statistic written as its four sums over rows."""

    def hsic(a: np.ndarray, b: np.ndarray) -> float:
        n = len(a)
        k, m = a @ a.T, b @ b.T
        np.fill_diagonal(k, 0)
        np.fill_diagonal(m, 0)
        one = np.ones(n)
        value = (
            np.trace(k @ m) + (one @ k @ one) * (one @ m @ one) / ((n - 1) * (n - 2)) - 2 / (n - 2) * one @ k @ m @ one
        )
        return value / (n * (n - 3))

    return hsic(x, y) / np.sqrt(hsic(x, x) * hsic(y, y))


def test_a_layer_is_like_itself_turned_scaled_and_moved() -> None:
    x = _normal(60, 20, 0)
    turn = torch.linalg.qr(_normal(20, 20, 1))[0]
    for other in (x, 3.0 * x @ turn + 7.0):
        assert _cka(x, other) == pytest.approx((1.0, 1.0), abs=1e-9)


def test_both_estimators_are_those_of_the_papers() -> None:
    x, y = _normal(30, 12, 2), _normal(30, 8, 3)
    y = y + x[:, :8]
    plain, unbiased = _cka(x, y)
    assert plain == pytest.approx(_numpy_plain(x.numpy(), y.numpy()), abs=1e-10)
    assert unbiased == pytest.approx(_numpy_unbiased(x.numpy(), y.numpy()), abs=1e-10)


def test_independent_features_are_alike_to_the_plain_estimator_only() -> None:
    plain, unbiased = _cka(_normal(512, 512, 4), _normal(512, 512, 5))
    assert plain == pytest.approx(0.50, abs=0.01)
    assert unbiased == pytest.approx(0.0, abs=0.01)


def test_batches_add_up_to_the_quotient_of_their_sums() -> None:
    x, y = _normal(90, 6, 6), _normal(90, 5, 7)
    y[:, :3] += x[:, :3]
    total = CkaSum()
    sums = np.zeros(6)
    for at in range(0, 90, 30):
        a, b = x[at : at + 30], y[at : at + 30]
        total.add([a], [b])
        k, m = gram(a), gram(b)
        for i, hsic in enumerate((plain_hsic, unbiased_hsic)):
            sums[3 * i : 3 * i + 3] += [float(hsic(p, q)) for p, q in ((k, m), (k, k), (m, m))]
    plain, unbiased = total.values()
    assert plain[0, 0] == pytest.approx(sums[0] / np.sqrt(sums[1] * sums[2]), abs=1e-12)
    assert unbiased[0, 0] == pytest.approx(sums[3] / np.sqrt(sums[4] * sums[5]), abs=1e-12)
    assert (total.n_rows, total.n_batches) == (90, 3)


@pytest.mark.parametrize("rest", [1, 2, 3])
def test_a_rest_too_small_for_the_unbiased_estimator_does_not_spoil_it(rest: int) -> None:
    x, y = _normal(40 + rest, 6, 6), _normal(40 + rest, 5, 7)
    total = CkaSum()
    for part in (slice(0, 40), slice(40, None)):
        total.add([x[part]], [y[part]])
    assert float(total.values()[1][0, 0]) == pytest.approx(_cka(x[:40], y[:40])[1], abs=1e-12)
    assert total.n_rows == 40 + rest


def test_every_pair_of_layers_is_compared_and_order_does_not_matter() -> None:
    layers = [_normal(40, d, d) for d in (3, 7, 11)]
    total = CkaSum()
    total.add(layers, layers)
    for table in total.values():
        assert table.shape == (3, 3)
        np.testing.assert_allclose(table, table.T, atol=1e-12)
        np.testing.assert_allclose(np.diag(table), 1.0, atol=1e-9)


def test_a_layer_without_variance_has_no_similarity() -> None:
    plain, unbiased = _cka(torch.ones(20, 3), _normal(20, 3, 8))
    assert np.isnan(plain)
    assert np.isnan(unbiased)


@pytest.mark.parametrize("k", [1, 3, 10])
def test_effective_rank_of_equal_directions_is_their_number(k: int) -> None:
    basis = torch.linalg.qr(_normal(200, 2 * k, 9) - _normal(200, 2 * k, 9).mean(0))[0][:, :k]
    basis = torch.linalg.qr(basis - basis.mean(0))[0]
    rows = basis @ torch.linalg.qr(_normal(20, k, 10))[0].T * 5.0
    total = RankSum()
    for part in rows.split(37):
        total.add(part + 3.0)
    assert total.value() == pytest.approx(k, rel=1e-6)


def test_effective_rank_is_that_of_the_singular_values() -> None:
    rows = _normal(300, 12, 11) * torch.linspace(0.1, 3.0, 12)
    total = RankSum()
    for part in rows.split(64):
        total.add(part)
    s = np.linalg.svd((rows - rows.mean(0)).numpy(), compute_uv=False)
    share = s / s.sum()
    assert total.value() == pytest.approx(np.exp(-(share * np.log(share)).sum()), rel=1e-9)
    constant = RankSum()
    constant.add(torch.ones(5, 4))
    assert np.isnan(constant.value())
