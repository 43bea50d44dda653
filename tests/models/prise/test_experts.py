"""The mixture against its definition token by token, who meets which expert, and the balance (spec section 6)."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from models.prise.config import N_POOL, PriseConfig
from models.prise.experts import BIAS_RATE, Mixture
from models.recorder import record

SIZES = {"embed_dim": 32, "expert_dim": 16, "n_tokenizer": 1, "n_group": 1, "n_temporal": 1, "n_decoder": 1}
CONFIG = PriseConfig(**SIZES, frequency_dim=16, n_shared=(0,) * 4)  # type: ignore[arg-type]


def _naive(mixture: Mixture, x: Tensor) -> Tensor:
    """Token by token, in float64, from the formula."""
    out = torch.zeros_like(x, dtype=torch.float64)
    gate, up, down = (w.detach().double() for w in (mixture.gate, mixture.up, mixture.down))

    def expert(v: Tensor, e: int) -> Tensor:
        return (torch.nn.functional.silu(v @ gate[e]) * (v @ up[e])) @ down[e]

    for n, v in enumerate(x.double()):
        a = torch.sigmoid(mixture.affinity.detach().double() @ v)
        out[n] = sum(expert(v, e) for e in range(1 + mixture.n_shared))
        score = a + mixture.expert_bias.double()
        chosen = sorted(range(mixture.n_shared, N_POOL), key=lambda i: -float(score[i]))[: mixture.top_k]
        total = sum(float(a[i]) for i in chosen) if mixture.top_k > 1 else 1.0
        for i in chosen:
            out[n] += float(a[i]) / total * expert(v, i + 1)
    return out


@pytest.mark.parametrize("n_shared", [0, 2, 7])
@pytest.mark.parametrize("top_k", [1, 2])
def test_working_by_expert_gives_what_working_by_token_gives(n_shared: int, top_k: int) -> None:
    if n_shared + top_k > N_POOL:
        n_shared -= 1
    torch.manual_seed(0)
    mixture = Mixture(replace(CONFIG, top_k=top_k), n_shared)
    mixture.expert_bias.copy_(0.05 * torch.randn(N_POOL))
    x = torch.randn(50, 32)
    with torch.no_grad():
        torch.testing.assert_close(mixture(x).double(), _naive(mixture, x), rtol=0, atol=1e-5)
        assert torch.equal(mixture(x.view(5, 10, 32)).view(50, 32), mixture(x))


def test_shared_experts_see_every_token_and_each_token_meets_k_of_the_rest() -> None:
    torch.manual_seed(0)
    mixture = Mixture(CONFIG, 3)
    x = torch.randn(200, 32)
    with torch.no_grad(), record({"r": mixture.routing}) as records:
        mixture(x)
    routing = records["r"][0]
    assert routing.experts.shape == (200, 1)
    assert (routing.experts > 3).all()
    assert routing.load[:3].tolist() == [-1, -1, -1]
    assert routing.load[3:].sum() == 200
    assert 0 <= routing.entropy <= 1
    for e in range(1, 4):  # every token changes when a shared expert does
        with torch.no_grad():
            before = mixture(x)
            mixture.down[e] += 1.0
            assert ((mixture(x) - before).abs().sum(-1) > 0).all()
            mixture.down[e] -= 1.0


def test_the_router_learns_through_the_gate_of_a_single_expert() -> None:
    torch.manual_seed(0)
    mixture = Mixture(CONFIG, 0)
    mixture(torch.randn(30, 32)).square().mean().backward()
    assert mixture.affinity.grad is not None
    assert mixture.affinity.grad.abs().sum() > 0
    assert not mixture.expert_bias.requires_grad


def test_the_bias_moves_towards_an_even_load() -> None:
    mixture = Mixture(CONFIG, 2)
    load = torch.tensor([-1.0, -1.0, 10.0, 0.0, 5.0, 5.0, 5.0, 5.0])
    mixture.settle_bias(load)
    expected = torch.tensor([0, 0, -1, 1, 0, 0, 0, 0]) * BIAS_RATE
    torch.testing.assert_close(mixture.expert_bias, expected)


def test_the_balance_loss_is_one_for_an_even_and_grows_for_an_uneven_router() -> None:
    torch.manual_seed(0)
    mixture = Mixture(CONFIG, 0)
    x = torch.randn(4, 64, 32)
    with torch.no_grad():
        loss = mixture.balance_loss(x)
        affinity = torch.sigmoid(x @ mixture.affinity.T)
        share = (affinity / affinity.sum(-1, keepdim=True)).mean(1)
        count = torch.stack([torch.bincount(a.argmax(-1), minlength=8) for a in affinity])
        expected = (8 / 64 * (count * share).sum(-1)).mean()
        torch.testing.assert_close(loss, expected)
        mixture.affinity[0] = 3 * x.mean((0, 1)).sign()
        uneven = mixture.balance_loss(x.abs() * x.mean((0, 1)).sign())
    assert uneven > loss


def test_another_split_uses_the_same_weights() -> None:
    torch.manual_seed(0)
    mixture = Mixture(CONFIG, 0)
    x = torch.randn(20, 32)
    with torch.no_grad():
        before = mixture(x)
        mixture.n_shared = 4
        assert not torch.equal(mixture(x), before)
        torch.testing.assert_close(mixture(x).double(), _naive(mixture, x), rtol=0, atol=1e-5)
        mixture.n_shared = 0
        assert torch.equal(mixture(x), before)
