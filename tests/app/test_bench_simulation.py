"""The benches of the simulator: seconds for an hour, and detectors of numbers above a threshold on what it makes."""

from __future__ import annotations

import json

import pytest

from analysis.simulation.settings import Settings
from analysis.simulation.simulator import simulate_blocks
from analysis.threshold_detectors import MEASURES, best_detector, measure_simulated
from app import bench_machine, bench_simulation
from app.bench_cases import value, verdict
from app.cli import main

SETS = (("10-20", 256), ("64", 256), ("ieeg", 512))


@pytest.fixture(scope="module")
def scores():
    return best_detector(list(measure_simulated(range(3))))


def test_an_hour_is_told_from_the_work_for_what_was_simulated(monkeypatch):
    ticks = iter(range(100))
    monkeypatch.setattr(bench_simulation.time, "perf_counter", lambda: float(next(ticks)))
    found = bench_simulation.measure_simulator(2, 40)
    assert found == {name: [90.0, 90.0] for name in ("10-20", "64", "ieeg")}  # a second for 40 s of signal
    rows = {case.name: (case, measured) for case, measured in bench_simulation.simulator_rows(found, 100.0)}
    assert verdict(*rows["simulate 10-20"]) == "over"  # 40 times real time
    assert verdict(*rows["simulate ieeg"]) == ""
    floors = [measured.floor for _, measured in rows.values()]
    channels = [
        len(simulate_blocks(Settings(duration=10, sfreq=rate, electrodes=name, seizures=0), 0)[0].channels)
        for name, rate in SETS
    ]
    assert floors == pytest.approx([3600 * n * rate / 100e6 for n, (_, rate) in zip(channels, SETS, strict=True)])
    text = bench_simulation.explain_simulator(found)
    assert text == "times real time (median): 19 channels, 256 Hz 40; 64 channels, 256 Hz 40; ieeg, 512 Hz 40"


def test_rows_of_detectors_are_their_scores(scores):
    rows = {case.name: value(case, measured) for case, measured in bench_simulation.threshold_rows(scores)}
    for score in scores:
        assert rows[f"thresholds {score.detector.measure} area"] == score.auc_pr
        assert rows[f"thresholds {score.detector.measure} false"] == score.false_alarms_per_hour
        assert score.detector.name in bench_simulation.explain_thresholds(scores)
    assert {score.detector.measure for score in scores} == set(MEASURES)
    assert "0.5 h of simulated EEG" in bench_simulation.explain_thresholds(scores)


@pytest.mark.parametrize("name", ["simulate", "thresholds"])
def test_the_command_prints_them(name, scores, monkeypatch, capsys):
    monkeypatch.setattr(bench_simulation, "measure_thresholds", lambda _seeds: scores)
    found = {"10-20": [20.0], "64": [30.0], "ieeg": [40.0]}
    monkeypatch.setattr(bench_simulation, "measure_simulator", lambda *_: found)
    monkeypatch.setattr(bench_machine, "yardstick", lambda: 6.0)
    assert main(["bench", name, "--json"]) == 0
    cases = json.loads(capsys.readouterr().out)["cases"]
    assert {case["case"].split()[0] for case in cases} == {name}
    assert main(["bench", name]) == 0
    assert ("times real time" if name == "simulate" else "chance has an area") in capsys.readouterr().out
