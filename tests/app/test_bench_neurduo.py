"""NeurDuo's bench: its reference computes the same, its rows say what was measured."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
import torch

from analysis.engine import neurduo_speed
from app import bench, bench_apart, bench_neurduo
from app.bench_cases import gains, value, verdict
from app.bench_neurduo import explain, measure_neurduo, neurduo_rows
from app.benches import Plan
from models.neurduo.config import SMALL, NeurDuoConfig
from models.neurduo.model import NeurDuo

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
    cycles = {name: np.reshape(values, (-1, 4)).mean(1) for name, values in found.items() if name.startswith("stream")}
    for n, gain in ((2, 1.5), (15, 2.0)):
        name = f"neurduo {n} ch 1 threads"
        plain = np.reshape(found[f"reference {n}"], (-1, 4)).mean(1)
        case, measured = rows[f"{name} step"]
        np.testing.assert_allclose(measured.samples, cycles[f"stream {n}"])
        np.testing.assert_allclose(measured.rival, plain)
        assert (case.gain, case.rival) == (gain, "straightforward step")
        assert gains(case, measured)[1] == pytest.approx(np.median(plain / cycles[f"stream {n}"]))
        work = n * (found["encoder_gflop"] + found["rest_gflop"])
        assert measured.floor == pytest.approx(1e3 * work / found["gflops"])
        case, measured = rows[f"{name} state"]
        assert (value(case, measured), verdict(case, measured)) == (0, "pass")
        case, measured = rows[f"{name} scan"]
        assert (case.gain, measured.rival) == (5.0, tuple(found[f"scan reference {n}"]))
        assert len(measured.rival) == len(measured.samples) == 3, "taken in turn"
        rest = rows[f"{name} scan rest"][1]
        assert (rest.samples, rest.rival) == tuple(
            tuple(found[f"scan {w} {n}"]) for w in ("recurrent", "reference rest")
        )
        assert "where the target leaves" in case.missed
    text = explain(found)
    assert "2 ch, 1 thread:" in text
    assert "limits: the encoder" in text


def test_the_encoder_in_bfloat16_has_rows_of_its_own_and_of_what_it_does(found: dict[str, Any]) -> None:
    # As on a processor that is made for it, whatever this one is.
    more = {"bfloat16 gflops": 1000.0, "z moved 15": [0.001, 0.002, 0.009], "p moved 15": [0.0, 0.0001, 0.0002]}
    more |= {f"{what} bfloat16 {n}": [1.0] * 12 for what in ("stream", "encoder") for n in (2, 15)}
    rows = {case.name: (case, measured) for case, measured in neurduo_rows(found | more)}
    case, measured = rows["neurduo 15 ch 1 threads step bfloat16"]
    assert case.gain == pytest.approx(1 / 0.35)
    assert measured.samples == (1.0, 1.0, 1.0)
    work = found["encoder_gflop"] / 1000 + found["rest_gflop"] / found["gflops"]
    assert measured.floor == pytest.approx(15 * 1e3 * work)
    name = "neurduo 15 ch 1 threads bfloat16"
    assert [value(*rows[f"{name} z {how}"]) for how in ("typical", "largest")] == [2.0, 9.0]
    assert [value(*rows[f"{name} p {how}"]) for how in ("typical", "largest")] == pytest.approx([0.1, 0.2])


def test_the_reason_of_a_missed_step_is_made_of_what_was_measured() -> None:
    made = {"reference 15": [14.0] * 4, "stream 15": [9.5] * 4, "encoder 15": [4.4], "encoder_gflop": 0.05}
    made |= {"stream 2": [2.9] * 4, "encoder 2": [0.9], "gflops": 187.5}
    assert bench_neurduo._reason(made, 15, "") == (
        "4.4 ms are the encoder, whose products alone take 4.0 at the rate of a large one, and 5.1 ms the rest, where "
        "the target leaves 2.6; with 2 channels that rest, mostly calls and the reading of all weights, takes 2.0, and "
        "each further channel adds its products and passes over its state"
    )


def test_a_processor_without_bfloat16_says_so(found: dict[str, Any]) -> None:
    without = {name: values for name, values in found.items() if "bfloat16" not in name and "moved" not in name}
    rows = {case.name: measured for case, measured in neurduo_rows(without)}
    missing = "not measured: this processor is not made for products in bfloat16"
    assert rows["neurduo 15 ch 1 threads step bfloat16"] == missing
    assert "bfloat16" not in explain(without)


def test_what_bfloat16_does_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neurduo_speed, "SMALL", NeurDuoConfig.from_dict(asdict(SMALL) | SIZES))
    torch.manual_seed(0)
    positions, ids = torch.randn(3, 3), torch.zeros(3, dtype=torch.int64)
    moved = neurduo_speed._effect(positions, ids, [torch.float32, torch.bfloat16])
    units = neurduo_speed._UNITS
    assert len(moved["z moved 3"]) == 3 * units * neurduo_speed._UNIT_STEPS
    assert len(moved["p moved 3"]) == units
    assert 1e-3 < np.median(moved["z moved 3"]) < 0.3, "a tiny encoder as drawn magnifies what rounding changes"
    assert neurduo_speed._effect(positions, ids, [torch.float32]) == {}


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


def test_the_other_operations_are_counted() -> None:
    """Twice the values of each matrix; those of a write a quarter."""
    mamba = 512 * 256 * 2 + 512 * 48 + 512 * 16 + 512 * 256
    fast = 6 * mamba + 3 * (768 * 256 + 256 * 256) + 192 * 256 + 192 * 448
    slow_mamba = 384 * 192 * 2 + 384 * 44 + 384 * 12 + 384 * 192
    slow = 3 * slow_mamba + 256 + 192 * 256 + 2 * 192 * 192
    assert neurduo_speed._rest_work(NeurDuo(SMALL)) * 1e9 == pytest.approx(2 * (fast + slow / 4))


def test_a_process_that_fails_is_told_in_its_row(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(bench_apart.sys, "executable", "/bin/false")
    assert measure_neurduo(1, 1, 0) == "failed: exit code 1"
    monkeypatch.setattr(bench_neurduo, "measure_neurduo", lambda *_: "failed: no torch")
    assert bench.run_benches(["neurduo"], Plan("quick")) == 0
    assert "failed: no torch" in capsys.readouterr().out
