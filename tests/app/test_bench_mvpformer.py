"""The bench of MVPFormer on a CPU: its rows hold both forms' samples, the floor and the memory of each."""

from __future__ import annotations

import pytest

from app import bench, bench_mvpformer
from app.bench_cases import gains, verdict
from app.bench_mvpformer import LARGE, SMALL
from app.benches import Plan

FOUND = {
    "ours": [500.0, 520.0, 510.0],
    "next": [450.0, 460.0, 455.0],
    "textbook": [1250.0, 1300.0, 1020.0],
    "products": [310.0, 300.0, 340.0],
    "difference": 2e-6,
    "gflop": 60.0,
    "gflops": 200.0,
    "ours memory": 700.0,
    "textbook memory": 3500.0,
}


@pytest.fixture
def asked(monkeypatch):
    """What processes are asked to measure; each answers with its part of FOUND."""
    calls = []

    def measure(module, *numbers, threads):
        calls.append((module, *numbers[:3], numbers[4]))
        which = numbers[4]
        if which:
            return {"memory": FOUND["ours memory" if which == 1 else "textbook memory"]}
        return {name: value for name, value in FOUND.items() if not name.endswith("memory")}

    monkeypatch.setattr(bench_mvpformer, "measure_apart", measure)
    return calls


def test_rows_compare_both_forms_pair_by_pair():
    rows = {case.name: (case, measured) for case, measured in bench_mvpformer.mvpformer_rows(LARGE, FOUND)}
    case, measured = rows["mvpformer 100 x 50"]
    assert gains(case, measured)[1] == 2.5
    assert verdict(case, measured) == "over"  # 8 x is wanted
    assert measured.floor == pytest.approx(300.0)
    assert "60 GFLOP" in measured.floor_of
    case, measured = rows["mvpformer 100 x 50 next"]
    assert measured.samples == tuple(FOUND["next"])
    assert "take 310 of the 455 ms, attention and all else 145; " in case.missed
    assert case.missed.endswith("the gain would be 4.0 x")
    case, measured = rows["mvpformer 100 x 50 memory"]
    assert (measured.samples, measured.rival) == ((700.0,), (3500.0,))
    assert verdict(case, measured) == "pass"  # a fifth, where a quarter is wanted
    small = {case.name: (case, measured) for case, measured in bench_mvpformer.mvpformer_rows(SMALL, FOUND)}
    assert verdict(*small["mvpformer 25 x 19"]) == "pass"  # 2 x is wanted
    assert verdict(*small["mvpformer 25 x 19 memory"]) == ""


@pytest.mark.parametrize(("size", "places"), [("quick", [(25, 19, 3)]), ("full", [(25, 19, 15), (100, 50, 2)])])
def test_each_memory_is_that_of_a_process_of_its_own(asked, size, places):
    found = bench_mvpformer.bench(Plan(size))
    module = "analysis.engine.mvpformer_speed"
    assert asked == [(module, *place, which) for place in places for which in range(3)]
    assert len(found.remarks) == len(places)
    assert "agree within 2e-06" in found.remarks[0]
    skipped = [case.name for case, measured in found.rows if isinstance(measured, str)]
    assert skipped == ([] if size == "full" else ["mvpformer 100 x 50"])


def test_a_process_that_fails_says_so_in_its_row(monkeypatch, capsys):
    monkeypatch.setattr(bench_mvpformer, "measure_apart", lambda *_, **__: "failed: no torch")
    assert bench.run_benches(["mvpformer"], Plan("quick")) == 0
    assert "failed: no torch" in capsys.readouterr().out
