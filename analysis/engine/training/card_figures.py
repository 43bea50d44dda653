"""Adds to the card of a trained checkpoint what was measured after its training; no weight and no threshold changes.

`python -m analysis.engine.training.card_figures CHECKPOINT… [--real RECORDING…] [--by-kind]`: detectors without a model
on the card's own test data, real recordings with marked seizures by the detector as the program runs it, and with
--by-kind the test figures by region, contrast and artefact, for which the model is run over all test data again.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from analysis.electrodes import site_of
from analysis.engine.calibration import Calibration
from analysis.engine.predict import predict_seizures
from analysis.engine.training.feeding import FEEDERS, Feeder
from analysis.engine.training.recipe import Recipe, build
from analysis.engine.training.recorded import events_of
from analysis.engine.training.simulated import SimulatedSource
from analysis.engine.training.stretches import choose_channels, prepare
from analysis.engine.training.trials import Trial, by_kind, measured, threshold_figures, try_source
from analysis.errors import AnalysisError
from analysis.event_tables import find_seizures
from analysis.preprocessing import Preprocessing
from analysis.progress import Progress
from analysis.readers import open_recording
from analysis.recording import Recording
from analysis.survey import ScorableSpan
from analysis.threshold_detectors import DETECTORS, Measured, ThresholdDetector, grid_truth, measure
from models.checkpoint import rewrite_card
from models.families import Checkpoint
from models.registry import load_model

PROCESSES = 2
REAL_NOTE = (
    "real recordings with marked seizures, scored as they are; nothing was tuned on them. The range of the simulator's "
    "last frequencies was widened after an earlier model had been looked at on two public scalp recordings, so that "
    "for this choice they are not unseen"
)
_PLACES = 4


def add_figures(
    checkpoints: Sequence[str | Path],
    real: Sequence[str | Path] = (),
    kinds: bool = False,
    processes: int = PROCESSES,
    progress: Progress | None = None,
) -> dict[Path, dict[str, Any]]:
    """Measure and write into the cards; the cards by checkpoint. AnalysisError for a card without simulated test data.

    Threshold detectors are measured once for all checkpoints that share their test data and band.
    """
    progress = progress or Progress()
    cards = {Path(path): dict(_facts(path).card) for path in checkpoints}
    recipes = {path: recipe_of(card, path) for path, card in cards.items()}
    with _pool(processes) as pool:
        known: dict[Any, dict[str, Any] | None] = {}
        for number, (path, recipe) in enumerate(recipes.items()):
            progress.report(number, len(recipes), f"{path.name}: test data")
            key = (repr(recipe.data.test), repr(recipe.signal))
            if key not in known:
                feeder = _feeder(path, recipe)
                known[key] = _thresholds(recipe, feeder.settings(), pool)
            test = {**cards[path]["results"].get("test", {}), "threshold_detectors": known[key]}
            if kinds:
                test["by_kind"] = _kinds(path, recipe, cards[path], pool)
            cards[path]["results"] = {**cards[path]["results"], "test": test}
            if real:
                way = _ways(known[key])
                told = [real_figures(path, recording, recipe, way) for recording in real]
                cards[path]["real_recordings"] = {"what": REAL_NOTE, "figures": told}
            rewrite_card(path, cards[path])
    return cards


def _facts(path: str | Path) -> Checkpoint:
    facts = load_model(path).checkpoint
    assert isinstance(facts, Checkpoint)
    return facts


def recipe_of(card: Mapping[str, Any], path: str | Path) -> Recipe:
    """The recipe that a card tells of; AnalysisError where it has no simulated test data."""
    try:
        recipe = build(Recipe, _without_nothing(card["how"]["settings"]), "")
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise _no_test_data(path) from error
    if recipe.data.test is None or recipe.data.test.kind != "simulated":
        raise _no_test_data(path)
    return recipe


def _no_test_data(path: str | Path) -> AnalysisError:
    return AnalysisError(
        f"this checkpoint's card does not tell of simulated test data ({path}): train it with such a recipe"
    )


def _without_nothing(table: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _without_nothing(value) if isinstance(value, Mapping) else value
        for name, value in table.items()
        if value is not None
    }


def _feeder(path: Path, recipe: Recipe) -> Feeder:
    return FEEDERS[recipe.model.family](recipe, _facts(path).config)


def _pool(processes: int) -> ProcessPoolExecutor:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # the processes share the cores
    return ProcessPoolExecutor(processes, mp_context=get_context("spawn"))


# Detectors without a model


def _thresholds(recipe: Recipe, settings: Preprocessing, pool: Executor) -> dict[str, Any] | None:
    test = recipe.data.test
    assert test is not None
    work = partial(_measure_one, recipe, settings)
    found = threshold_figures(list(pool.map(work, range(test.recordings))))
    return None if found is None else {**found, "sampling_rate": settings.sfreq}


def _measure_one(recipe: Recipe, settings: Preprocessing, number: int) -> Measured:
    assert recipe.data.test is not None
    return measured(SimulatedSource(recipe.data.test, settings, recipe.signal.channels).load(number))


def _ways(figures: Mapping[str, Any] | None) -> tuple[ThresholdDetector, ...]:
    """The ways that were best on the test data, of each measure."""
    told = [one["way"] for one in figures["detectors"]] if figures else []
    return tuple(detector for detector in DETECTORS if detector.name in told)


# By kind


def _kinds(path: Path, recipe: Recipe, card: Mapping[str, Any], pool: Executor) -> dict[str, Any]:
    assert recipe.data.test is not None
    work = partial(_try_one, path, recipe)
    trials = list(pool.map(work, range(recipe.data.test.recordings)))
    return by_kind(trials, Calibration.from_card(card), float(card["threshold"]))


def _try_one(path: Path, recipe: Recipe, number: int) -> Trial:
    test = recipe.data.test
    assert test is not None
    model = load_model(path)
    feeder = FEEDERS[recipe.model.family](recipe, model.config)
    one = replace(test, first_seed=test.first_seed + number, recordings=1)
    source = SimulatedSource(one, feeder.settings(), recipe.signal.channels)
    return try_source(source, feeder, model, Progress())[0]


# Real recordings


def real_figures(
    checkpoint: str | Path, recording: str | Path, recipe: Recipe, ways: Sequence[ThresholdDetector] = ()
) -> dict[str, Any]:
    """AUROC by seconds, mean probability in and outside the marked seizures, and the alarms at the card's threshold.

    The detector runs as the program runs it, on the recipe's channels. AnalysisError where no seizure is marked.
    """
    with open_recording(recording) as opened:
        seizures = find_seizures(events_of(opened)).spans
        if not seizures:
            raise AnalysisError(f"no seizure is marked ({recording}): give a recording with marked seizures")
        others = _other_channels(opened, recipe.signal.channels)
        plain = _plain_measures(opened, recipe, seizures)
        facts = {"recording": opened.path.name, "seconds": round(opened.duration, 1), "channels": len(opened.channels)}
    made = predict_seizures(recording, checkpoint, device="cpu", bad_channels=others)
    middle = np.arange(int(facts["seconds"])) + 0.5  # type: ignore[call-overload]
    place = np.clip(np.searchsorted(made.times, middle, side="right") - 1, 0, None)
    scored = (made.times[place] <= middle) & (middle < (made.times + made.durations)[place])
    inside = np.array([any(a <= at < z for a, z in seizures) for at in middle])
    values = made.probability[place]
    events = [[round(event.onset, 1), round(event.stop, 1)] for event in made.events]
    return {
        **facts,
        "seizures": [[round(a, 2), round(z, 2)] for a, z in seizures],
        "seconds_scored": int(scored.sum()),
        "auroc": _auroc(inside[scored], values[scored]),
        "mean_inside": _mean(values[scored & inside]),
        "mean_outside": _mean(values[scored & ~inside]),
        "most_inside": _most(values[scored & inside]),
        "most_outside": _most(values[scored & ~inside]),
        "threshold": made.threshold,
        "alarms": events,
        "threshold_detectors": [
            {"way": way.name, "auroc": _auroc(grid_truth(plain), way.scores(plain.values[way.measure]))} for way in ways
        ],
    }


def _other_channels(recording: Recording, sites: Sequence[str]) -> list[str]:
    """The names of all channels but the first at each of the sites."""
    wanted = {site_of(site) or site for site in sites}
    taken = set()
    for channel in recording.channels:
        if channel.is_brain and channel.pair is None and channel.site in wanted:
            wanted.discard(channel.site)
            taken.add(channel.name)
    return [name for name in recording.ch_names if name not in taken]


def _plain_measures(recording: Recording, recipe: Recipe, seizures: Sequence[tuple[float, float]]) -> Measured:
    """What detectors without a model are given of a recording, in the recipe's band and reference."""
    picks, rows, sites = choose_channels(recording, recipe.signal.channels)
    signal = recipe.signal
    to = Preprocessing(
        200.0, signal.highpass or None, signal.lowpass or None, 4, signal.reference, "polyphase", signal.notch
    )
    span = ScorableSpan(0.0, recording.duration, 0.0)
    data, missing = prepare(recording, span, picks, len(sites), rows, to)
    return measure(data[~missing], to.sfreq, seizures)


def _auroc(truth: np.ndarray, values: np.ndarray) -> float | None:
    from sklearn.metrics import roc_auc_score

    n = min(len(truth), len(values))
    truth, values = truth[:n], values[:n]
    return round(float(roc_auc_score(truth, values)), _PLACES) if truth.any() and not truth.all() else None


def _mean(values: np.ndarray) -> float | None:
    return round(float(values.mean()), _PLACES) if len(values) else None


def _most(values: np.ndarray) -> float | None:
    return round(float(values.max()), _PLACES) if len(values) else None


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m analysis.engine.training.card_figures", description=__doc__)
    parser.add_argument("checkpoints", nargs="+", type=Path)
    parser.add_argument("--real", nargs="*", default=[], type=Path, help="real recordings with marked seizures")
    parser.add_argument("--by-kind", action="store_true", help="run the models over their test data again (minutes)")
    parser.add_argument("--processes", type=int, default=PROCESSES)
    given = parser.parse_args(arguments)
    cards = add_figures(given.checkpoints, given.real, given.by_kind, given.processes, _Lines())
    for path, card in cards.items():
        print(f"{path}: {card['name']}")
        for one in (card["results"]["test"]["threshold_detectors"] or {}).get("detectors", ()):
            print(f"  {one['way']}: AUC-PR {one['sample_auc_pr']}, F1 {one['event_f1']}, "
                  f"{one['false_alarms_per_hour']} false alarms an hour")  # fmt: skip
        for one in card.get("real_recordings", {}).get("figures", ()):
            print(f"  {one['recording']}: AUROC {one['auroc']}, mean {one['mean_inside']} inside and "
                  f"{one['mean_outside']} outside, alarms {one['alarms']} at {one['threshold']:.3f}")  # fmt: skip
    return 0


class _Lines(Progress):
    """Says what is being done."""

    def report(self, done: float, total: float, message: str = "") -> None:
        print(f"{int(done)} of {int(total)}: {message}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
