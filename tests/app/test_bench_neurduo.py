"""NeurDuo's bench: its reference computes the same, its rows say what was measured."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
import torch

from analysis.engine import neurduo_speed
from app import bench, bench_apart, bench_neurduo
from app.bench_cases import value, verdict
from app.bench_neurduo import explain, measure_neurduo, neurduo_rows
from app.benches import Plan
from models.neurduo.config import SMALL, NeurDuoConfig

SIZES = {"token_dim": 16, "patch_hidden_dim": 8, "fast_dim": 16, "slow_dim": 8, "slow_num_layers": 1, "fast_d_state": 4}


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """What a bench of a small model measures."""
    small = NeurDuoConfig.from_dict(asdict(SMALL) | SIZES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neurduo_speed, "SMALL", small)
        patch.setattr(neurduo_speed, "SCAN_STEPS", 64)
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        measured = neurduo_speed.measure(3, 60)
        torch.set_num_threads(threads)
    return measured


def test_the_straightforward_step_computes_what_ours_does(found: dict[str, Any]) -> None:
    for n in neurduo_speed.CHANNELS:
        assert found[f"difference {n}"] < 1e-5
        assert len(found[f"reference {n}"]) == len(found[f"stream {n}"]) == 3 * neurduo_speed.CYCLE
        assert np.shape(found[f"history {n}"]) == (2, 3)
        assert len(set(found[f"state bytes {n}"])) == 1


def test_rows_of_what_was_measured(found: dict[str, Any]) -> None:
    rows = {case.name: (case, measured) for case, measured in neurduo_rows(found)}
    assert len(rows) == 2 * (4 + 5 + 2)
    for n, target in ((2, 1 / 1.5), (15, 0.5)):
        case, measured = rows[f"neurduo {n} ch 1 threads share"]
        cycles = [np.reshape(found[f"{which} {n}"], (-1, 4)).mean(1) for which in ("stream", "reference")]
        np.testing.assert_allclose(measured.samples, cycles[0] / cycles[1])
        assert case.target == target
        case, measured = rows[f"neurduo {n} ch 1 threads state"]
        assert (value(case, measured), verdict(case, measured)) == (0, "pass")
        scan, _ = rows[f"neurduo {n} ch 1 threads scan share"]
        assert scan.target == 0.2
    text = explain(found)
    assert "2 ch, 1 thread:" in text
    assert "limits: the encoder" in text


def test_steps_that_grow_slower_are_over_the_target(found: dict[str, Any]) -> None:
    slower = {**found, "history 2": [[1.0, 2.0, 1.0], [1.2, 2.4, 1.2]], "state bytes 2": [100, 108]}
    rows = {case.name: (case, measured) for case, measured in neurduo_rows(slower)}
    flat, grown = rows["neurduo 2 ch 1 threads flat"], rows["neurduo 2 ch 1 threads state"]
    assert value(*flat) == pytest.approx(100 / 11)
    assert value(*grown) == 8
    assert verdict(*flat) == verdict(*grown) == "over"


def test_the_encoder_s_operations_are_counted() -> None:
    """Twice the multiplications of three convolutions, a wider one after each, and their merge, at 128 places."""
    by_hand = 2 * 128 * (128 * (3 + 7 + 15) + 3 * 128 * 128 * 3 + 3 * 128 * 128)
    assert neurduo_speed._encoder_work() * 1e9 == pytest.approx(by_hand)


def test_a_process_that_fails_is_told_in_its_row(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(bench_apart.sys, "executable", "/bin/false")
    assert measure_neurduo(1, 1, 0) == "failed: exit code 1"
    monkeypatch.setattr(bench_neurduo, "measure_neurduo", lambda *_: "failed: no torch")
    assert bench.run_benches(["neurduo"], Plan("quick")) == 0
    assert "failed: no torch" in capsys.readouterr().out
