"""Maps and masses of MVPFormer's attention against its own scores, and the next state it expects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from analysis.engine.analyze import analyze
from analysis.engine.mvpa_maps import (
    asymmetry,
    channel_maps,
    lag_mass,
    prior_map,
    row_entropy,
    term_shares,
)
from analysis.errors import AnalysisError
from models.mvpformer.introspection import attention_parts
from models.random_checkpoints import random_model

C, T = 3, 5


@pytest.fixture(scope="module")
def model() -> Any:
    return random_model("random:mvpformer:base")


@pytest.fixture(scope="module")
def parts(model: Any) -> Any:
    signal = 50 * torch.randn(2, T, C, 2560, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        return attention_parts(model, model.embed(signal))[1]


def test_maps_are_sums_over_the_tokens_of_a_channel(model: Any, parts: Any) -> None:
    maps = channel_maps(parts, C, model.config.head_dim)
    p = parts.probabilities.numpy()
    for c in range(C):
        for e in range(C):
            queries, keys = [t * C + c for t in range(T)], [t * C + e for t in range(T)]
            expected = p[:, :, queries][..., keys].sum(-1).mean((0, 2))
            np.testing.assert_allclose(maps.realised[:, c, e], expected, rtol=0, atol=1e-6)
    torch.testing.assert_close(maps.realised.sum(-1), torch.ones(4, C), rtol=0, atol=1e-5)
    torch.testing.assert_close(maps.term.sum(-1), torch.ones(4, C), rtol=0, atol=1e-5)


def test_the_mass_of_a_lag_is_that_of_its_segment(parts: Any) -> None:
    mass = lag_mass(parts, C)
    p = parts.probabilities.numpy()
    for lag in range(T):
        values = []
        for t in range(lag, T):
            keys = slice((t - lag) * C, (t - lag + 1) * C)
            values.append(p[:, :, t * C : (t + 1) * C, keys].sum(-1).mean((0, 2)))
        np.testing.assert_allclose(mass[:, lag], np.mean(values, 0), rtol=0, atol=1e-6)


def test_shares_of_the_terms_sum_to_one(parts: Any) -> None:
    shares = term_shares(parts, C)
    torch.testing.assert_close(shares.sum(-1), torch.ones(4))
    only_time = parts._replace(content=torch.zeros_like(parts.content), channel=torch.zeros_like(parts.channel))
    torch.testing.assert_close(term_shares(only_time, C)[:, 1], torch.ones(4))


def test_the_prior_map_depends_on_the_distance_alone() -> None:
    model: Any = random_model("random:mvpformer:base")
    with torch.no_grad():
        for block in model.blocks:
            block.attention.bias.normal_(generator=torch.Generator().manual_seed(1))
    prior = prior_map(model, 6)
    assert prior.shape == (3, 4, 6, 6)
    torch.testing.assert_close(prior, prior.transpose(-1, -2))
    for shift in range(6):
        diagonal = prior.diagonal(shift, -2, -1)
        torch.testing.assert_close(diagonal, diagonal[..., :1].expand_as(diagonal))
    assert not torch.allclose(prior[..., 0, 0], prior[..., 0, 1])


def test_summaries_have_their_closed_forms() -> None:
    even = torch.full((2, 4, 4), 0.25)
    torch.testing.assert_close(row_entropy(even), torch.ones(2))
    torch.testing.assert_close(row_entropy(torch.eye(4)[None]), torch.zeros(1))
    torch.testing.assert_close(asymmetry(even), torch.zeros(2))
    one = torch.zeros(1, 3, 3)
    one[0, 0, 1] = 1.0
    torch.testing.assert_close(asymmetry(one), torch.tensor([2.0**0.5]))


@pytest.fixture(scope="module")
def scalp(shared: Path) -> Path:
    return shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"


def test_channel_map_and_attention_on_a_recording(scalp: Path) -> None:
    found = analyze("channel-map", scalp, ["random:mvpformer"], 0, 30)
    n = len(found.labels["channel"])
    assert found.values("flow").shape == (3, 4, n, n)
    np.testing.assert_allclose(found.values("flow").sum(-1), 1.0, atol=1e-4)
    # The model and the random weights it is compared with are the same here.
    np.testing.assert_allclose(found.values("from_random"), 0.0, atol=1e-6)
    assert found.facts["segments"] == 6
    lags = analyze("attention", scalp, ["random:mvpformer"], 0, 30)
    assert lags.values("by_lag").shape == (3, 4, 6)
    np.testing.assert_allclose(lags.values("share").sum(-1), 1.0, atol=1e-5)
    assert (lags.values("by_lag_without_content") > 0).all()


def test_the_next_state_is_compared_with_what_came(scalp: Path) -> None:
    found = analyze("prediction", scalp, ["random:mvpformer:base"], 0, 45)
    true = found.values("true")
    assert (np.abs(true) <= 1 + 1e-5).all()
    assert found.values("two_step").shape[1] == true.shape[1] - 1
    assert found.values("seizure").sum() > 0
    np.testing.assert_allclose(np.diff(found.values("time")[0]), 5.0, atol=1e-5)
    again = analyze("prediction", scalp, ["random:mvpformer:base"], 0, 45)
    np.testing.assert_array_equal(again.values("random"), found.values("random"))
    with pytest.raises(AnalysisError, match="classification head in place of its predictions"):
        analyze("prediction", scalp, ["random:mvpformer"], 0, 45)
    with pytest.raises(AnalysisError, match="hold too few segments"):
        analyze("prediction", scalp, ["random:mvpformer:base"], 0, 12)
