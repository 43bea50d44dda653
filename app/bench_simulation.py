"""The simulator's speed, and what detectors make of its recordings that only compare a number with a threshold.

A model's score on simulated EEG is worth what it is above theirs.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from analysis.simulation.settings import Settings
from analysis.simulation.simulator import simulate_blocks
from analysis.threshold_detectors import DetectorScore, best_detector, measure_simulated
from app.bench_cases import Case, Measured
from app.bench_machine import draw_rate
from app.benches import Found, Plan

_SETS = (
    ("10-20", "19 channels, 256 Hz", 19, 256),
    ("64", "64 channels, 256 Hz", 64, 256),
    ("ieeg", "ieeg, 512 Hz", 46, 512),
)
_FLOOR = "a normal random number for each sample"
SECONDS_OF_AN_HOUR = 36.0  # 100 times real time


def bench_simulator(plan: Plan) -> Found:
    """Measure the simulator's speed."""
    found = measure_simulator(plan.pick(2, 3, 5), plan.pick(300, 300, 600))
    return Found(simulator_rows(found, draw_rate()), [explain_simulator(found)])


def bench_thresholds(plan: Plan) -> Found:
    """Measure what detectors without a model find in simulated recordings."""
    scores = measure_thresholds(range(plan.pick(8, 16, 36)))
    return Found(threshold_rows(scores), [explain_thresholds(scores)])


def measure_simulator(repeats: int, duration: int = 600) -> dict[str, list[float]]:
    """Seconds of work for an hour of signal, by the set of electrodes, a sample for each seed."""
    found: dict[str, list[float]] = {name: [] for name, *_ in _SETS}
    for name, _, _, sfreq in _SETS:  # what is made once for all recordings of a set of electrodes
        next(simulate_blocks(Settings(duration=10, sfreq=sfreq, electrodes=name, seizures=0), 0)[1])
    for seed in range(repeats):
        for name, _, _, sfreq in _SETS:  # in turn, so that a busy moment meets all of them
            began = time.perf_counter()
            _truth, blocks = simulate_blocks(Settings(duration=duration, sfreq=sfreq, electrodes=name), seed)
            for _block in blocks:
                pass
            found[name].append((time.perf_counter() - began) / duration * 3600)
    return found


def simulator_rows(found: dict[str, list[float]], rate: float) -> list[tuple[Case, Measured]]:
    """The rows of the table; the target is that of 19 channels. `rate`: millions of random numbers drawn a second."""
    return [
        (
            Case(
                f"simulate {name}",
                f"simulated hour, {text}",
                SECONDS_OF_AN_HOUR if name == "10-20" else None,
                unit="s",
            ),
            Measured(tuple(found[name]), floor=3600e-6 * channels * sfreq / rate, floor_of=_FLOOR),
        )
        for name, text, channels, sfreq in _SETS
    ]


def explain_simulator(found: dict[str, list[float]]) -> str:
    """The same as multiples of real time."""
    rates = [f"{text} {3600 / sorted(found[name])[len(found[name]) // 2]:,.0f}" for name, text, *_ in _SETS]
    return f"times real time (median): {'; '.join(rates)}"


def measure_thresholds(seeds: Iterable[int], duration: int = 600) -> list[DetectorScore]:
    """The best way of each measure on simulated recordings of 19 channels, best first."""
    return best_detector(list(measure_simulated(seeds, duration)))


def threshold_rows(scores: Sequence[DetectorScore]) -> list[tuple[Case, Measured]]:
    """The rows of the table: four figures of each measure."""
    rows = []
    for score in scores:
        measure = score.detector.measure
        figures = {
            "area": ("area under precision and recall", score.auc_pr),
            "f1": ("F1 of events", score.event.f1),
            "sensitivity": ("sensitivity of events", score.event.sensitivity),
            "false": ("false alarms an hour", score.false_alarms_per_hour),
        }
        rows += [
            (Case(f"thresholds {measure} {name}", f"{measure}: {text}", None, unit=""), Measured((figure,)))
            for name, (text, figure) in figures.items()
            if figure is not None
        ]
    return rows


def explain_thresholds(scores: Sequence[DetectorScore]) -> str:
    """Which way of each measure that is, and what chance would give."""
    ways = [f"{score.detector.name}, threshold {score.threshold:.3g}" for score in scores]
    hours = scores[0].event.hours
    return (
        f"threshold detectors on {hours:.2g} h of simulated EEG, seizures in it: {scores[0].event.n_reference}; way "
        f"and threshold are those best on these very recordings, so they are bounds; chance has an area of "
        f"{scores[0].prevalence:.3f}\n" + "\n".join(ways)
    )
