"""How often maps of attribution find the known focus of a simulated seizure within its first 15 s.

`python -m analysis.engine.focus_finding PART OF SEIZURES CHECKPOINT…` prints what one of OF equal parts of the seizures
gives, as JSON. Seizures come from seeds that no recipe trains, chooses or tests with. Letters: C channels.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from analysis.annotation import Annotation
from analysis.engine.calibration import Calibration
from analysis.engine.compared_maps import KEEP_ONE, OCCLUSION, SIGNED, UNSIGNED, path_gradients
from analysis.engine.explained import baseline_signal, carried_of, explained_input, explained_windows, target_class
from analysis.engine.inputs import Inputs, LoadedModel
from analysis.engine.occlusion import keep_one, occlude
from analysis.engine.redrawn_weights import RedrawnCopy
from analysis.engine.training.simulated import SimulatedRecording
from analysis.engine.truth_overlap import Focus, focus_of, overlap
from analysis.progress import Progress
from analysis.recording import Recording, Window
from analysis.simulation.settings import Settings
from analysis.simulation.simulator import Simulated, simulate_blocks
from analysis.simulation.truth import Seizure
from models.families import Checkpoint
from models.random_checkpoints import load_any

FIRST_SEED = 5_000_000  # of no split of a recipe, and not the demo's
FIRST_SECONDS = 15.0  # of a seizure that are looked at, in which the field has not spread far
SETTINGS = Settings(duration=200, sfreq=256, seizures=1)
QUIET_BEFORE = 75.0  # seconds before the onset that a seizure needs: a long window, and one like it to compare with
SEEDS = 5  # of randomised weights; each seizure is also looked at by one of them, in turn
METHODS = (SIGNED, OCCLUSION, KEEP_ONE, UNSIGNED)
RMS_RATIO = "RMS ratio"
# Seconds that windows reach from the onset on: of short windows two, in the middle at 4 and 8 s, whose maps are added.
_MIDDLES = (4.0, 8.0)
_LONG = FIRST_SECONDS
# NeurDuo's state reads what lies before; the score of the last unit is explained by the first seconds of the seizure.
_NEURDUO_HISTORY = 45.0


@dataclass(frozen=True)
class Case:
    """One seizure in a recording of its own, and where it began, on the recording's channels."""

    recording: Recording
    seizure: Seizure
    focus: Focus


class _Marked(SimulatedRecording):
    """A simulated recording whose seizures are marked, as those that were written to a file are."""

    def __init__(self, made: Simulated, seed: int) -> None:
        super().__init__(made, seed)
        self._marks = tuple(Annotation(one.onset, one.duration, "seizure") for one in made.truth.events)

    def _load_annotations(self) -> tuple[Annotation, ...]:
        return self._marks


def held_out_seizures(numbers: Sequence[int], settings: Settings = SETTINGS) -> Iterator[Case]:
    """The seizures with these numbers of the endless row of those that have enough quiet before them."""
    wanted, number, seed = set(numbers), 0, FIRST_SEED
    while wanted:
        truth, blocks = simulate_blocks(settings, seed)
        if truth.events and truth.events[0].onset >= QUIET_BEFORE:
            if number in wanted:
                wanted.discard(number)
                data = np.concatenate(list(blocks), axis=1)
                recording = _Marked(Simulated(data, settings.sfreq, truth.channels, truth), seed)
                seizure = truth.events[0]
                focus = focus_of(truth, recording.channels, seizure.onset, seizure.stop)
                assert focus is not None  # all channels are there
                yield Case(recording, seizure, focus)
            number += 1
        seed += 1


def windows_of(model: LoadedModel, onset: float) -> tuple[float, list[float]]:
    """Length and beginnings in seconds of the windows by which a model looks at a seizure's first 15 s, at most."""
    if model.family == "neurduo":
        return FIRST_SECONDS, [onset]
    length = float(model.facts.preprocessing["window_seconds"])
    if length > _LONG:
        return length, [onset + _LONG - length]
    return length, [onset + middle - length / 2 for middle in _MIDDLES]


@dataclass(frozen=True)
class Sought:
    """The map (C,) of each method on a recording's channels, NaN for one that the model does not read.

    `probability` is the highest that the model gives to the windows which are explained.
    """

    maps: dict[str, np.ndarray]
    probability: float


def find_focus(model: LoadedModel, case: Case) -> Sought:
    """What a model's attributions say of where a seizure began."""
    sums: dict[str, np.ndarray] = {}
    highest = 0.0
    seconds, beginnings = windows_of(model, case.seizure.onset)
    for begin in beginnings:
        found = _explain(model, case.recording, Window(begin, begin + seconds))
        highest = max(highest, found.probability)
        for name, values in found.maps.items():
            sums[name] = sums.get(name, np.zeros(len(values))) + values
    return Sought(sums, highest)


def _explain(model: LoadedModel, recording: Recording, window: Window) -> Sought:
    options = {"window": window.duration, "windows": 1, "baseline": "interictal", "seed": 0, "target": "last"}
    options |= {"history": _NEURDUO_HISTORY if model.family == "neurduo" else 0.0, "units": "last"}
    inputs = Inputs(recording, window, (model,), options, torch.device("cpu"))
    source, target = explained_input(inputs, Progress()), target_class(model, "last")
    (explained,) = explained_windows(source, Progress(), carried_of(inputs))
    baseline, _ = baseline_signal(inputs, source, explained, "interictal", 0)
    path = path_gradients(explained, baseline, target, Progress()).numpy()
    made = {
        SIGNED: path.sum(-1),
        UNSIGNED: np.abs(path).sum(-1),
        OCCLUSION: occlude(explained, baseline, target).numpy(),
        KEEP_ONE: keep_one(explained, baseline, target).numpy(),
    }
    with torch.no_grad():
        scores = explained.score(explained.signal)
    probability = float(Calibration.from_card(model.facts.card).probability(scores, target))
    places = [recording.ch_names.index(name) for name in source.plan.ch_names]
    return Sought(
        {name: _placed(values, places, len(recording.channels)) for name, values in made.items()}, probability
    )


def _placed(values: np.ndarray, places: Sequence[int], count: int) -> np.ndarray:
    whole = np.full(count, np.nan)
    whole[list(places)] = values
    return whole


def rms_ratio(case: Case) -> np.ndarray:
    """RMS of each channel (C,) in the first 15 s over that in the minute before: the map that no model has a part in.

    In the average reference, from 0.5 to 70 Hz (or as far as the rate allows), forwards and backwards.
    """
    from scipy.signal import butter, sosfiltfilt

    recording, onset = case.recording, case.seizure.onset
    data = recording.read(0, recording.n_times)
    band = butter(4, (0.5, min(70.0, 0.45 * recording.sfreq)), "bandpass", fs=recording.sfreq, output="sos")
    filtered = sosfiltfilt(band, data - data.mean(0), axis=1)

    def level(start: float, stop: float) -> np.ndarray:
        part = filtered[:, round(start * recording.sfreq) : round(stop * recording.sfreq)]
        return np.asarray(np.sqrt((part**2).mean(1)))

    return level(onset, onset + FIRST_SECONDS) / level(onset - QUIET_BEFORE + 5.0, onset - 10.0)


def count_part(
    checkpoints: Sequence[str], numbers: Sequence[int], seeds: int = SEEDS, settings: Settings = SETTINGS
) -> dict[str, Any]:
    """Whether each method finds the focus of each seizure among the top three, by model: as trained, and randomised.

    Of the copies with randomised weights each seizure is given to one, `number` modulo `seeds`. "heard" is whether the
    trained model reaches the threshold of its card in a window that is explained.
    """
    models = {name: _load(name) for name in checkpoints}
    drawn: dict[tuple[str, int], LoadedModel] = {}
    found: dict[str, Any] = {"seizures": [], RMS_RATIO: [], "models": {name: [] for name in checkpoints}}
    for number, case in zip(sorted(numbers), held_out_seizures(numbers, settings), strict=True):
        found["seizures"].append({"number": number, "region": case.seizure.region, "contrast": case.seizure.contrast})
        found[RMS_RATIO].append(_hit(rms_ratio(case), case.focus))
        for name, model in models.items():
            seed = number % seeds
            if (name, seed) not in drawn:
                drawn[name, seed] = _randomised(model, seed)
            own, other = find_focus(model, case), find_focus(drawn[name, seed], case)
            trained, random = (
                {method: _hit(values, case.focus) for method, values in each.maps.items()} for each in (own, other)
            )
            heard = own.probability >= float(model.facts.card.get("threshold", 0.5))
            found["models"][name].append({"trained": trained, "random": random, "seed": seed, "heard": heard})
    return found


def _load(name: str) -> LoadedModel:
    network = load_any(name)
    facts = network.checkpoint
    assert isinstance(facts, Checkpoint)
    if "window_seconds" not in facts.preprocessing:
        facts = replace(facts, preprocessing={**facts.preprocessing, "window_seconds": 10.0})
    return LoadedModel(network, facts)


def _randomised(model: LoadedModel, seed: int) -> LoadedModel:
    copied = RedrawnCopy(model, cascade=False)
    for _ in copied.draws(seed):
        pass
    return copied.model


def _hit(values: np.ndarray, focus: Focus) -> bool:
    return overlap(values, focus)["top3"] == 1.0


def main(arguments: Sequence[str]) -> int:
    """The command."""
    part, of, count = (int(text) for text in arguments[:3])
    print(json.dumps(count_part(arguments[3:], range(part, count, of))))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
