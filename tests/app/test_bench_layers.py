"""The benches of AXON and PRiSE-EEG: what their rows are made of, and that both ways of computing are the same."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from analysis.engine import axon_speed, prise_speed
from app import bench, bench_axes, bench_experts
from app.bench_cases import gains, verdict
from app.benches import Plan
from models.prise.experts import Mixture


@pytest.fixture
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_rows_of_axon_stand_beside_attention_over_all_tokens(monkeypatch, one_thread):
    monkeypatch.setattr(axon_speed, "GRID", ((3, 2), (50, 41)))
    found = axon_speed.measure(3) | {"pairs": {f"{c} x {t}": axon_speed.interactions(c, t) for c, t in axon_speed.GRID}}
    found |= {"gflop": {"3 x 2": [0.5, 0.25], "50 x 41": [1.0, 4.0]}, "gflops": 100.0, "even": 1153.0}
    rows = {case.name: (case, measured) for case, measured in bench_axes.axon_rows(found)}
    for place in ("3 x 2", "50 x 41"):
        for name, what in ((f"axon {place}", ""), (f"axon {place} alone", " alone")):
            case, measured = rows[name]
            assert measured.samples == tuple(found[f"axis {place}{what}"])
            assert measured.rival == tuple(found[f"dense {place}{what}"])
            assert case.rival == "attention over all tokens"
    assert rows["axon 3 x 2"][1].floor == pytest.approx(5.0)
    assert (rows["axon 3 x 2 alone"][0].gain, rows["axon 50 x 41 alone"][0].gain) == (None, 1.0)
    text = bench_axes.explain(found)
    assert "3 x 2: 30 pairs by axis, 36 altogether; 0.5 and 0.25 GFLOP, 2.00 x, in " in text
    parts = [np.median(found[f"{what} 3 x 2"]) for what in ("axis", "projections", "gates", "axis", "dense")]
    parts[3] = np.median(found["axis 3 x 2 alone"])
    assert f"of {parts[0]:.3g} ms by axis {parts[1]:.3g} are projections, {parts[2]:.2g} gates" in text
    assert f"and {parts[3]:.2g} attention" in text
    assert "as looking at 1,153 more tokens" in text


def test_memory_is_compared_where_the_system_tells_it():
    found = {"axis 2 x 2": [1.0], "dense 2 x 2": [4.0], "axis 2 x 2 memory": [10.0], "dense 2 x 2 memory": [40.0]}
    found |= {"gflop": {"2 x 2": [1.0, 1.0]}, "gflops": 100.0}
    found |= {"axis 2 x 2 alone": [1.0], "dense 2 x 2 alone": [2.0], "pairs": {"2 x 2": [16, 16]}}
    rows = {case.name: (case, measured) for case, measured in bench_axes.axon_rows(found)}
    assert set(rows) == {"axon 2 x 2", "axon 2 x 2 alone", "axon 2 x 2 MB"}
    assert gains(*rows["axon 2 x 2 MB"])[1] == 4.0
    assert gains(*rows["axon 2 x 2"])[1] == 4.0
    assert gains(*rows["axon 2 x 2 alone"])[1] == 2.0


def test_rows_of_prise_judge_the_sorted_form_by_the_other_one(monkeypatch, one_thread):
    monkeypatch.setattr(prise_speed, "TOKENS", (4, 9))
    monkeypatch.setattr(prise_speed, "GROUPS", (2, 3))
    monkeypatch.setattr(prise_speed, "PRISE_B", replace(prise_speed.PRISE_B, embed_dim=160, expert_dim=32, conv_dim=4))
    monkeypatch.setattr(prise_speed, "product_rate", lambda: 100.0)
    found = prise_speed.measure(2)
    rows = {case.name: (case, measured) for case, measured in bench_experts.prise_rows(found)}
    assert set(rows) == {"prise 4", "prise 9", "prise kept", "prise attention"}
    for name, own, rival in (
        ("prise 9", "grouped 9", "by token 9"),
        ("prise kept", "kept", "all groups"),
        ("prise attention", "fused", "unfused"),
    ):
        assert rows[name][1].samples == tuple(found[own])
        assert rows[name][1].rival == tuple(found[rival])
    assert rows["prise 9"][1].floor == pytest.approx(10 * found["gflop 9"][0])
    case, measured = rows["prise 9"]
    assert verdict(case, measured) == ("pass" if gains(case, measured)[1] >= 1 else "over")
    assert max(found[f"difference {what}"][0] for what in (4, 9, "fused", "kept")) < 1e-5
    text = bench_experts.explain(found)
    assert "agree within" in text
    assert "71 % of groups are kept" in text


def test_floors_count_the_products_by_hand():
    width, gate = axon_speed.AXON.embed_dim, axon_speed.AXON.gate_width
    # One token: projections to query, key, value and out of both axes, two gates to two weights, a pair on either axis.
    by_axis, altogether = axon_speed.operations(1, 1)
    assert by_axis == 2 * (8 * width**2 + 2 * (width * gate + 2 * gate) + 2 * 2 * width)
    assert altogether == 2 * (4 * width**2 + 2 * width)
    for channels, patches in ((19, 11), (64, 11), (64, 20), (64, 21), (64, 33), (128, 33)):
        by_axis, altogether = axon_speed.operations(channels, patches)
        spared = channels * patches - channels - patches  # tokens that a token looks at altogether and not by axis
        assert (by_axis < altogether) is (spared > axon_speed.even_tokens())
    mixture = Mixture(prise_speed.PRISE_B, 2)
    weights = sum(weight[0].numel() for weight in (mixture.gate, mixture.up, mixture.down))
    assert prise_speed.operations(mixture, 3) == 2 * 3 * weights * (3 + prise_speed.PRISE_B.top_k)


@pytest.mark.parametrize("name", ["axon", "prise"])
def test_a_bench_that_fails_says_so_in_its_row(name, monkeypatch, capsys):
    module, attribute = {"axon": (bench_axes, "measure_axon"), "prise": (bench_experts, "measure_prise")}[name]
    monkeypatch.setattr(module, attribute, lambda *_: "failed: no torch")
    assert bench.run_benches([name], Plan("quick")) == 0
    assert "failed: no torch" in capsys.readouterr().out


def test_what_is_timed_alone_is_the_attention_of_the_layers(monkeypatch, one_thread):
    torch.manual_seed(0)
    qkv = torch.randn(1, 4, 5, 3 * axon_speed.AXON.embed_dim)
    q, k, v = (part.unflatten(-1, (axon_speed.AXON.num_heads, -1))[0] for part in qkv.chunk(3, -1))  # (C, T, H, K)
    scale = q.shape[-1] ** -0.5

    def attended(pairs):
        """By definition, over the pairs of tokens (C, T, C, T) that may look at each other."""
        scores = torch.einsum("cthk,dshk->hctds", q, k) * scale
        scores = scores.masked_fill(~pairs, -torch.inf)
        return torch.einsum("hctds,dshk->cthk", scores.flatten(3).softmax(-1).unflatten(-1, (4, 5)), v).flatten(-2)

    same_channel = torch.eye(4, dtype=bool)[:, None, :, None].expand(4, 5, 4, 5)
    same_time = torch.eye(5, dtype=bool)[None, :, None, :].expand(4, 5, 4, 5)
    apart = (torch.arange(5)[:, None] - torch.arange(5)).abs()[None, :, None, :].expand(4, 5, 4, 5)
    windows = [same_channel & (apart <= (5 if radius is None else radius)) for radius in axon_speed.AXON.scales]
    expected = sum(map(attended, windows), attended(same_time))
    torch.testing.assert_close(axon_speed.by_axis(qkv), expected, rtol=1e-5, atol=1e-5)
    everything = torch.ones(4, 5, 4, 5, dtype=bool)
    torch.testing.assert_close(
        axon_speed.altogether(qkv)[0].unflatten(0, (4, 5)), attended(everything), rtol=1e-5, atol=1e-5
    )
