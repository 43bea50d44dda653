"""The bench of FlashMVPA: its rows with and without a GPU, and that its rivals compute the same."""

from __future__ import annotations

import pytest
import torch

from analysis.engine import flashmvpa_speed as speed
from app import bench_flashmvpa
from app.bench_cases import Measured, gains, value, verdict
from app.benches import Plan

DIFFERENCE = dict.fromkeys(bench_flashmvpa.ALLOWED, 1e-07)


@pytest.fixture
def on_a_gpu() -> dict:
    """What a process with a GPU would tell of two places."""
    cell = {"operations": 4e12, "bytes": 2e9}
    ways = {"flash": {"ms": [8.0, 10.0], "GB": 4.0}, "plain": {"ms": [80.0, 90.0], "GB": 50.0}, "flex": "failed: so"}
    return {
        "difference": DIFFERENCE,
        "reason": None,
        "gpu": "A GPU",
        "ceilings": {"GB/s": 4000.0, "TFLOP/s": 800.0},
        "cells": {"10 x 10": cell | ways, "10 x 50": cell | ways | {"plain": "out of memory"}}
        | {f"50 x {c}": cell | ways for c in (10, 50)},
    }


def test_without_a_gpu_the_rows_say_so_and_the_numbers_are_compared(monkeypatch):
    found = {"difference": DIFFERENCE, "reason": "no GPU"}
    monkeypatch.setattr(bench_flashmvpa, "measure_flashmvpa", lambda *_: found)
    rows = bench_flashmvpa.bench(Plan()).rows
    said = [measured for _, measured in rows if isinstance(measured, str)]
    assert said == ["not measured: no GPU"] * 4
    for case, measured in rows[:4]:
        assert isinstance(measured, Measured)
        assert value(case, measured) == pytest.approx(0.1)
        assert verdict(case, measured) == "pass"
        assert verdict(case, Measured((1e6 * 0.1,))) == "over"


def test_rows_of_a_gpu_hold_times_rates_memory_and_floors(on_a_gpu):
    rows = {case.name: (case, measured) for case, measured in bench_flashmvpa.grid_rows(on_a_gpu)}
    assert len(rows) == 16
    case, measured = rows["flashmvpa 10 x 10"]
    assert gains(case, measured)[1] == pytest.approx(9.5)
    assert (measured.floor, measured.floor_of) == (5.0, "operations at 800 TFLOP/s")
    assert rows["flashmvpa 10 x 10 rate"][1].samples == (500.0, 400.0)
    case, measured = rows["flashmvpa 10 x 10 GB"]
    assert (gains(case, measured)[1], measured.floor) == (12.5, 2.0)
    for name in ("flashmvpa 10 x 10 flex", "flashmvpa 10 x 50", "flashmvpa 10 x 50 GB"):
        assert rows[name][1].rival == ()


def test_the_grids_are_printed_as_the_paper_prints_them(on_a_gpu):
    lines = bench_flashmvpa.explain(on_a_gpu).splitlines()
    plain = lines.index("plain MVPA")
    assert [part.strip() for part in lines[plain + 2].split("  ") if part.strip()] == [
        "10",
        "85 / 47.1 / 50.00",
        "out of memory",
    ]


def test_a_process_that_fails_is_told_of(monkeypatch):
    monkeypatch.setattr(bench_flashmvpa, "measure_flashmvpa", lambda *_: "failed: no torch")
    assert [measured for _, measured in bench_flashmvpa.bench(Plan()).rows] == ["failed: no torch"]


def test_operations_are_those_of_every_pair():
    """Counted one by one: 2 d for a value, 2 d more for a content score, 2 d for each number of a table."""
    n_segments, n_channels, window = 7, 3, 2
    pairs = n_segments * n_channels * (n_segments + n_channels)
    for i in range(n_segments):
        for j in range(i + 1):
            inside = i - j <= window or i == n_segments - 1
            pairs += n_channels * n_channels * (2 if inside else 1)
    assert speed.operations(n_segments, n_channels, window) == pairs * 2 * 64


def test_flex_attention_and_the_plain_form_compute_the_same():
    heads = speed.random_heads((1, 13, 3, 2, 2, 16), torch.float32, "cpu")
    with torch.inference_mode():
        torch.testing.assert_close(speed.by_flex(heads, compiled=False)(heads), speed.plain(heads), rtol=0, atol=2e-6)
