"""The benches of AXON and PRiSE-EEG: what their rows are made of, and that both ways of computing are the same."""

import numpy as np
import pytest
import torch

from analysis.engine import axon_speed, prise_speed
from app import bench, bench_axes, bench_experts
from app.bench_cases import value, verdict
from app.benches import Plan
from models.prise.experts import Mixture


@pytest.fixture
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_rows_of_axon_hold_the_samples_of_both_forms_and_their_ratio(monkeypatch, one_thread):
    monkeypatch.setattr(axon_speed, "GRID", ((3, 2), (5, 4)))
    found = axon_speed.measure(3) | {"pairs": {f"{c} x {t}": axon_speed.interactions(c, t) for c, t in axon_speed.GRID}}
    found |= {"gflop": {"3 x 2": 0.5, "5 x 4": 1.0}, "gflops": 100.0}
    rows = {case.name: measured for case, measured in bench_axes.axon_rows(found)}
    for place in ("3 x 2", "5 x 4"):
        assert rows[f"axon {place} axis"].samples == tuple(found[f"axis {place}"])
        assert rows[f"axon {place} axis"].rival == tuple(found[f"unfused {place}"])
        ratio = np.divide(found[f"axis {place}"], found[f"dense {place}"])
        np.testing.assert_allclose(rows[f"axon {place} share"].samples, ratio, rtol=1e-12)
    assert rows["axon 3 x 2 axis"].floor == pytest.approx(5.0)
    assert "3 x 2: 30 pairs of tokens by axis, 36 altogether, 0.833" in bench_axes.explain(found)


def test_memory_is_compared_where_the_system_tells_it():
    found = {"axis 2 x 2": [1.0], "dense 2 x 2": [4.0], "axis 2 x 2 memory": [10.0], "dense 2 x 2 memory": [40.0]}
    found |= {"unfused 2 x 2": [2.0], "gflop": {"2 x 2": 1.0}, "gflops": 100.0}
    found |= {"axis 2 x 2 alone": [1.0], "dense 2 x 2 alone": [2.0], "pairs": {"2 x 2": [16, 16]}}
    rows = {case.name: measured for case, measured in bench_axes.axon_rows(found)}
    assert rows["axon 2 x 2 MB"].samples == (10.0,)
    assert rows["axon 2 x 2 MB dense"].samples == (40.0,)
    assert rows["axon 2 x 2 share"].samples == (0.25,)
    assert rows["axon 2 x 2 alone"].samples == (0.5,)


def test_rows_of_prise_judge_the_sorted_form_by_the_other_one(monkeypatch, one_thread):
    monkeypatch.setattr(prise_speed, "TOKENS", (4, 9))
    monkeypatch.setattr(prise_speed, "GROUPS", (2, 3))
    monkeypatch.setattr(prise_speed, "product_rate", lambda: 100.0)
    found = prise_speed.measure(2)
    rows = {case.name: (case, measured) for case, measured in bench_experts.prise_rows(found)}
    names = {f"prise {n} {what}" for n in (4, 9) for what in ("by token", "grouped", "share")}
    assert set(rows) == names | {"prise attention"}
    assert rows["prise attention"][1].rival == tuple(found["unfused"])
    assert rows["prise 9 grouped"][1].floor == pytest.approx(10 * found["gflop 9"][0])
    case, measured = rows["prise 9 share"]
    assert value(case, measured) == pytest.approx(np.median(np.divide(found["grouped 9"], found["by token 9"])))
    assert verdict(case, measured) == ("pass" if value(case, measured) < 1 else "over")
    assert max(found["difference 4"] + found["difference 9"] + found["difference fused"]) < 1e-5
    assert "agree within" in bench_experts.explain(found)


def test_floors_count_the_products_by_hand():
    width = axon_speed.AXON.embed_dim
    # One token: projections to query, key, value and out of both axes; a pair for each window over time, and in space.
    pairs = len(axon_speed.AXON.scales) + 1
    assert axon_speed.operations(1, 1) == 2 * (8 * width**2 + pairs * 2 * width)
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
