"""The bundled detectors with something taken from them: NeurDuo's state, AXON's gates, PRiSE-EEG's split of experts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from analysis.engine.calibration import Calibration
from analysis.engine.quality.recipes import TEST_SEED, VALIDATION_SEED, Budget, simulated
from analysis.engine.training.card_figures import recipe_of
from analysis.engine.training.drawing import cut_windows
from analysis.engine.training.evaluation import judge, score_stretch
from analysis.engine.training.feeding import FEEDERS, Feeder
from analysis.engine.training.simulated import SimulatedSource
from analysis.progress import Progress
from models.axon.interventions import CALIBRATION_WINDOWS, INTERVENTIONS, calibrate, intervene
from models.families import Checkpoint
from models.prise.allocation import ALLOCATIONS, allocation
from models.prise.interventions import with_allocation
from models.registry import load_model

Row = dict[str, Any]
Way = Callable[[], AbstractContextManager[None]]
RESETS = (1, 10)  # units after which the state begins anew
_STRIDE = {"axon": 4.0}  # of windows; the others as in their recipes
# What AXON's gates weigh: time is the first of their two paths.
_GATES = {"temporal_only": "gates at 1: time alone", "spatial_only": "gates at 0: space alone"}


def reset_state(checkpoint: Path, budget: Budget, progress: Progress) -> list[Row]:
    """NeurDuo's figures with its state carried through each window, and begun anew after some units."""
    found = _Bundled(checkpoint, budget)
    unit = found.feeder.unit  # type: ignore[attr-defined]
    ways: dict[str, Way] = {f"state carried through {found.feeder.seconds:g} s": nullcontext}
    for units in (count for count in RESETS if found.model.config.head.context_units % count == 0):
        length = f"{units * unit:g} s" if units > 1 else "each unit"
        ways[f"state begun anew after {length}"] = partial(_resetting, found.feeder, units)
    return found.rows(ways, progress)


@contextmanager
def _resetting(feeder: Feeder, units: int) -> Iterator[None]:
    """Within the block the model reads so many units at a time, each time from a state of zero."""
    feeder.scores = partial(_scores_by_parts, units)  # type: ignore[method-assign]
    try:
        yield
    finally:
        del feeder.scores


def _scores_by_parts(units: int, model: Any, arguments: Mapping[str, Any]) -> Tensor:
    """Class scores (B, units of the window, K); the input and its scale are those of the whole window."""
    chunks, missing = arguments["chunks"], arguments["missing"]
    steps = units * model.config.head.unit_steps
    parts = chunks.unflatten(1, (-1, steps))
    count = parts.shape[1]
    if missing is not None:
        missing = missing.repeat_interleave(count, 0)
    scores: Tensor = model.logits(**{**arguments, "chunks": parts.flatten(0, 1), "missing": missing})
    return scores.unflatten(0, (-1, count)).flatten(1, 2)


def force_gates(checkpoint: Path, budget: Budget, progress: Progress) -> list[Row]:
    """AXON's figures with its gates as learned, at either end, and by the paper's other interventions."""
    found = _Bundled(checkpoint, budget)
    means = calibrate(found.model, found.windows(CALIBRATION_WINDOWS))
    ways: dict[str, Way] = {"gates free, as learned": nullcontext}
    for kind in INTERVENTIONS:
        ways[_GATES.get(kind, kind.replace("_", " "))] = partial(intervene, found.model, kind, means, 0)
    return found.rows(ways, progress)


def change_allocation(checkpoint: Path, budget: Budget, progress: Progress) -> list[Row]:
    """PRiSE-EEG's figures with other experts shared, on the weights that were trained with its own split."""
    found = _Bundled(checkpoint, budget)
    config = found.model.config
    ways: dict[str, Way] = {f"as trained ({_listed(config.n_shared)})": nullcontext}
    for kind in ALLOCATIONS:
        split = allocation(kind, config)
        if split != tuple(config.n_shared):
            ways[f"{kind} ({_listed(split)})"] = partial(with_allocation, found.model, split)
    return found.rows(ways, progress)


def _listed(numbers: tuple[int, ...]) -> str:
    return " ".join(map(str, numbers))


class _Bundled:
    """A bundled detector, with the threshold and calibration of its card, and the page's test data."""

    def __init__(self, checkpoint: Path, budget: Budget) -> None:
        self.model: Any = load_model(checkpoint)
        facts = self.model.checkpoint
        assert isinstance(facts, Checkpoint)
        self._card = facts.card
        recipe = recipe_of(facts.card, checkpoint)
        stride = _STRIDE.get(recipe.model.family, recipe.validation.stride_seconds)
        recipe = replace(recipe, validation=replace(recipe.validation, stride_seconds=stride))
        self.feeder: Feeder = FEEDERS[recipe.model.family](recipe, self.model.config)
        self._sites, self._budget = recipe.signal.channels, budget

    def _source(self, first_seed: int, count: int) -> SimulatedSource:
        return SimulatedSource(simulated(first_seed, count, self._budget), self.feeder.settings(), self._sites)

    def windows(self, count: int) -> list[dict[str, Any]]:
        """So many windows side by side from validation data, as the model takes them."""
        source, seconds = self._source(VALIDATION_SEED, self._budget.validation), self.feeder.seconds
        found: list[dict[str, Any]] = []
        for number in range(len(source)):
            stretch = source.load(number)
            for i in range(int(stretch.seconds / seconds)):
                if len(found) == count:
                    return found
                batch = cut_windows([(stretch, i * seconds)], seconds, self.feeder.spans)
                given = self.feeder.arguments(
                    torch.from_numpy(batch.signal), torch.from_numpy(batch.missing), batch.sites
                )
                found.append({name: value for name, value in given.items() if value is not None})
        return found

    def rows(self, ways: Mapping[str, Way], progress: Progress) -> list[Row]:
        """The figures of each way on the same recordings, each of which is made once."""
        source = self._source(TEST_SEED, self._budget.test)
        scored: dict[str, list[Any]] = {name: [] for name in ways}
        for number in range(len(source)):
            progress.report(number, len(source), "scoring")
            stretch = source.load(number)
            for name, way in ways.items():
                with way():
                    scored[name].append(score_stretch(stretch, self.feeder, self.model, progress.check))
        calibration, threshold = Calibration.from_card(self._card), float(self._card["threshold"])
        return [{"row": name, **judge(found, calibration, threshold).to_dict()} for name, found in scored.items()]
