"""Maps and masses of MVPFormer's attention against its own scores, and the next state it expects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from analysis.attention_maps import even_flow
from analysis.engine.analyze import analyze
from analysis.engine.mvpa_maps import channel_maps, codes_by_separation, prior_map
from analysis.engine.mvpa_times import between_segments, lag_mass, relations, term_shares, without_content
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
    mass = lag_mass(between_segments(parts, C))
    p = parts.probabilities.numpy()
    for lag in range(T):
        total = np.zeros(4)
        for t in range(lag, T):
            keys = slice((t - lag) * C, (t - lag + 1) * C)
            total += p[:, :, t * C : (t + 1) * C, keys].sum(-1).mean((0, 2))
        np.testing.assert_allclose(mass[:, lag], total / T, rtol=0, atol=1e-6)
    torch.testing.assert_close(mass.sum(-1), torch.ones(4), rtol=0, atol=1e-5)


def even(parts: Any) -> Any:
    """The same with even attention over all that each token may see."""
    segment = torch.arange(T * C) // C
    seen = (segment[:, None] >= segment[None]).float()
    return parts._replace(probabilities=(seen / seen.sum(-1, keepdim=True)).expand_as(parts.probabilities))


def test_even_attention_has_the_masses_of_its_closed_form(parts: Any) -> None:
    flat = even(parts)
    mass = lag_mass(between_segments(flat, C))
    expected = [sum(1 / (t + 1) for t in range(lag, T)) / T for lag in range(T)]
    torch.testing.assert_close(mass, torch.tensor(expected).expand(4, T))
    np.testing.assert_allclose(relations(flat, C), np.tile(even_flow(T, C), (4, 1)), atol=1e-6)


def test_relations_are_sums_over_channel_and_time(parts: Any) -> None:
    found = relations(parts, C).numpy()
    p = parts.probabilities.numpy().mean(0)
    token = np.arange(T * C)
    same_channel = token[:, None] % C == token[None] % C
    same_segment = token[:, None] // C == token[None] // C
    masks = (
        same_channel & same_segment,
        same_channel & ~same_segment,
        ~same_channel & same_segment,
        ~same_channel & ~same_segment,
    )
    for i, mask in enumerate(masks):
        np.testing.assert_allclose(found[:, i], (p * mask).sum((1, 2)) / (T * C), rtol=0, atol=1e-6)


def test_without_content_only_the_other_terms_decide(parts: Any) -> None:
    nothing = parts._replace(time=torch.zeros_like(parts.time), channel=torch.zeros_like(parts.channel))
    torch.testing.assert_close(without_content(nothing, C, 16).probabilities, even(parts).probabilities)


def test_codes_are_the_rows_of_the_table_that_separations_use() -> None:
    model: Any = random_model("random:mvpformer:base")
    codes = codes_by_separation(model, 6)
    for separation in range(6):
        np.testing.assert_allclose(codes[separation], model.channel_table[6 - 1 - separation].detach())


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


@pytest.fixture(scope="module")
def scalp(shared: Path) -> Path:
    return shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"


def test_channel_map_on_a_recording(scalp: Path) -> None:
    found = analyze("channel-map", scalp, ["random:mvpformer"], 0, 30)
    n = len(found.labels["channel"])
    assert found.values("flow").shape == (3, 4, n, n)
    np.testing.assert_allclose(found.values("flow").sum(-1), 1.0, atol=1e-4)
    np.testing.assert_allclose(found.values("strength_in").mean(-1), found.values("strength_out").mean(-1), atol=1e-4)
    # The model and the random weights it is compared with are the same here.
    np.testing.assert_allclose(found.values("from_random"), 0.0, atol=1e-6)
    assert found.facts["segments"] == 6
    # The channel bias starts at zero: there is no prior yet, its softmax is even, and it has no asymmetry to speak of.
    np.testing.assert_array_equal(found.values("prior"), 0.0)
    np.testing.assert_allclose(found.values("entropy")[0], 1.0, atol=1e-6)
    assert np.isnan(found.values("asymmetry")[0]).all()
    implied, between = found.values("implied"), found.values("code_distance")
    np.testing.assert_array_equal(implied, implied.T)
    np.testing.assert_array_equal(implied[3], between[0][np.abs(np.arange(n) - 3)])
    physical = found.values("physical")
    names = list(found.labels["channel"])
    assert found.facts["n_located"] == int(np.isfinite(np.diagonal(physical)).sum()) >= 19
    assert 50 < physical[names.index("C3"), names.index("C4")] < 180  # millimetres on a head


def test_another_seed_is_another_initialisation(scalp: Path) -> None:
    found = analyze("channel-map", scalp, ["random:mvpformer"], 0, 15, {"seed": 3})
    assert (found.values("from_random")[1:] > 0).all()
    assert found.facts["initial_seed"] == 3


def test_attention_on_a_recording(scalp: Path) -> None:
    found = analyze("attention", scalp, ["random:mvpformer"], 0, 30)
    assert found.values("by_lag").shape == (3, 4, 6)
    for name in ("by_lag", "by_lag_without_content", "share", "relation", "between_times"):
        np.testing.assert_allclose(found.values(name).sum(-1), 1.0, atol=1e-5)
    assert "by_lag_whole_context" not in found.arrays  # six segments lie within the window as it is


def test_a_wider_window_is_looked_at_where_there_is_one(shared: Path) -> None:
    path = shared / "recordings" / "scalp-seizure-42ch" / "scalp_seizure.edf"
    found = analyze("attention", path, ["random:mvpformer"], 0, 70, {"windows": 1})
    wide, usual = found.values("by_lag_whole_context"), found.values("by_lag")
    assert found.facts["segments"] == 14
    np.testing.assert_allclose(wide.sum(-1), 1.0, atol=1e-5)
    assert np.abs(wide - usual).max() > 1e-6


def test_the_next_state_is_compared_with_what_came(scalp: Path) -> None:
    found = analyze("prediction", scalp, ["random:mvpformer:base"], 0, 45)
    true = found.values("true")
    assert (np.abs(true) <= 1 + 1e-5).all()
    assert found.values("two_step").shape[1] == true.shape[1] - 1
    assert found.values("seizure").sum() > 0
    np.testing.assert_allclose(np.diff(found.values("time")[0]), 5.0, atol=1e-5)
    again = analyze("prediction", scalp, ["random:mvpformer:base"], 0, 45)
    np.testing.assert_array_equal(again.values("random"), found.values("random"))
    ictal = found.facts["ictal"]["true"]
    marked = found.values("seizure").astype(bool)
    means = true.mean(-1)
    assert (ictal["n_first"], ictal["n_second"]) == (int(marked.sum()), int((~marked).sum()))
    assert ictal["difference"] == pytest.approx(float(means[marked].mean() - means[~marked].mean()), abs=1e-6)
    with pytest.raises(AnalysisError, match="classification head in place of its predictions"):
        analyze("prediction", scalp, ["random:mvpformer"], 0, 45)
    with pytest.raises(AnalysisError, match="hold too few segments"):
        analyze("prediction", scalp, ["random:mvpformer:base"], 0, 12)


def test_seizures_may_come_from_a_table(scalp: Path, tmp_path: Path) -> None:
    table = tmp_path / "events.tsv"
    table.write_text("onset\tduration\ttrial_type\n5.5\t3\tsz\n")
    found = analyze("prediction", scalp, ["random:mvpformer:base"], 0, 30, {"events": str(table)})
    begins = found.values("time")[found.values("seizure") > 0]
    np.testing.assert_allclose(begins, [5.0])
    ictal = found.facts["ictal"]["true"]
    assert (ictal["n_first"], ictal["low"]) == (1, None)
