"""Biases of static and dynamic groups and the choice among them (spec section 4)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from models.prise.electrodes import ELECTRODES, LAGS, NETWORKS, REGIONS, WINDOWS, dynamic_group_names
from models.prise.groups import (
    DynamicGroups,
    Selector,
    StaticGroups,
    lag_correlation,
    membership,
    selection_temperature,
)


def test_static_biases_are_zero_inside_and_minus_beta_outside() -> None:
    groups = StaticGroups(2.0)
    index = torch.arange(90)
    bias = groups(index).detach()
    for row, members in zip(bias, (*REGIONS.values(), *NETWORKS.values()), strict=True):
        inside = torch.tensor([name in members for name in ELECTRODES])
        assert (row[inside] == 0).all()
        assert (row[~inside] == -2).all()
    assert membership().any(0).all(), "every electrode belongs somewhere"
    assert torch.equal(groups(torch.tensor([3, 1])).detach(), bias[:, [3, 1]])


def _naive_bias(patch: np.ndarray, gamma: float) -> np.ndarray:
    """M_d of one patch (C, 256), straight from the formula, in float64."""
    channels = len(patch)
    rows = []
    for window in range(WINDOWS):
        for lag in LAGS:
            part = patch[:, 64 * window : 64 * window + 64].astype(float)
            strength = np.zeros(channels)
            rho = np.zeros((channels, channels))
            for c in range(channels):
                for e in range(channels):
                    rho[c, e] = np.corrcoef(part[c, : 64 - lag], part[e, lag:])[0, 1]
            a = (np.abs(rho) + np.abs(rho).T) / 2
            for c in range(channels):
                strength[c] = sum(a[c, e] for e in range(channels) if e != c) / (channels - 1)
            z = (strength - strength.mean()) / (strength.std() + 1e-6)
            rows.append(gamma * np.clip(z, -3, 3))
    return np.array(rows)


def test_dynamic_biases_are_those_of_the_formula() -> None:
    patches = torch.randn(1, 2, 5, 256, generator=torch.Generator().manual_seed(1))
    found = DynamicGroups(2.0)(patches).detach()
    assert found.shape == (1, 2, 24, 5)
    for t in range(2):
        np.testing.assert_allclose(found[0, t], _naive_bias(patches[0, t].numpy(), 1.0), rtol=0, atol=2e-5)


def test_dynamic_biases_follow_channels_ignore_gain_and_vanish_where_all_are_alike() -> None:
    groups = DynamicGroups(2.0)
    patches = torch.randn(1, 3, 6, 256, generator=torch.Generator().manual_seed(2))
    bias = groups(patches).detach()
    order = torch.tensor([4, 2, 0, 5, 1, 3])
    torch.testing.assert_close(groups(patches[:, :, order]).detach(), bias[..., order], rtol=0, atol=1e-5)
    torch.testing.assert_close(groups(7.5 * patches).detach(), bias, rtol=0, atol=1e-4)
    alike = torch.randn(1, 1, 1, 256).expand(1, 1, 4, 256)
    assert groups(alike).abs().max() < 0.1
    assert (groups(patches[:, :, :1]) == 0).all()
    assert torch.isfinite(groups(torch.zeros(1, 1, 4, 256))).all()


def test_a_delay_is_found_at_its_lag() -> None:
    x = torch.randn(400, generator=torch.Generator().manual_seed(3))
    noise = torch.randn(2, 256, generator=torch.Generator().manual_seed(4))
    patch = torch.stack([x[16 : 16 + 256], x[:256], *noise])[None, None]  # channel 1 is channel 0, 16 samples later
    rho = lag_correlation(patch)[0, 0]  # (windows, lags, 4, 4)
    for window in range(WINDOWS):
        strongest = rho[window, :, 0, 1].argmax()
        assert LAGS[strongest] == 16
        assert rho[window, strongest, 0, 1] == pytest.approx(1.0, abs=1e-5)
        off_diagonal = rho[window].abs() * (1 - torch.eye(4))
        assert off_diagonal.flatten().argmax() == (LAGS.index(16) * 16 + 1)


def test_hidden_channels_are_left_out_of_the_statistics() -> None:
    groups = DynamicGroups(2.0)
    patches = torch.randn(1, 2, 6, 256, generator=torch.Generator().manual_seed(5))
    hidden = torch.zeros(1, 2, 6, dtype=torch.bool)
    hidden[..., 4:] = True
    bias = groups(patches, hidden).detach()
    torch.testing.assert_close(bias[..., :4], groups(patches[:, :, :4]).detach(), rtol=0, atol=1e-5)
    assert (bias[..., 4:] == 0).all()


def test_gradients_reach_the_strengths() -> None:
    groups = DynamicGroups(2.0)
    groups(torch.randn(1, 1, 4, 256)).square().sum().backward()
    assert (groups.gamma.grad != 0).all()
    assert groups.gamma.detach().unique().tolist() == [1.0]


def test_selection_keeps_exactly_twelve_and_is_soft_in_training() -> None:
    torch.manual_seed(0)
    selector = Selector(16, 12)
    features = torch.randn(3, 4, 5, 16, requires_grad=True)
    selector.train()
    z = selector(features)
    assert (z.detach().round(decimals=4).sum(-1) == 12).all()
    z[:, :3].sum().backward()
    assert features.grad is not None
    assert features.grad.abs().sum() > 0
    assert not torch.equal(selector(features), selector(features)), "noise chooses in training"
    selector.eval()
    kept = selector(features)
    assert set(kept.unique().tolist()) == {0.0, 1.0}
    assert (kept.sum(-1) == 12).all()
    score = selector.score(features.mean((1, 2)))
    assert all(score[b][kept[b] == 1].min() >= score[b][kept[b] == 0].max() for b in range(3))


@pytest.mark.parametrize(("share", "value"), [(0, 1.0), (0.5, 0.1**0.5), (1, 0.1), (2, 0.1)])
def test_the_temperature_falls_exponentially(share: float, value: float) -> None:
    assert selection_temperature(share) == pytest.approx(value)


def test_groups_that_are_not_selected_influence_nothing(make: Any, signal: Tensor, channels: list[str]) -> None:
    model = make(has_selector=True)
    index = model.index(channels)
    with torch.no_grad():
        x = model.features(signal, index)
        keep, h = model.kept_groups(x), model.tokenize(x, model.bias(signal, index))
        out = model.encode(h, keep)
        other = torch.where(keep[:, None, :, None] > 0.5, h, torch.randn_like(h))
        again = model.encode(other, keep)
    torch.testing.assert_close(out, again, rtol=0, atol=1e-5)
    assert (out[:, :, 18:].abs().sum((1, 3)) > 0).sum(-1).tolist() == [12, 12]


def test_dynamic_groups_are_named_by_when_and_lag() -> None:
    names = dynamic_group_names()
    assert len(names) == 24
    assert names[0] == "0-250 ms, lag 0 ms"
    assert names[-1] == "750-1000 ms, lag 94 ms"
