"""How small the trainings of the quality page are, and their recipes: those of the bundled detectors, cut short.

Seeds are of no recipe, no bench and not the demo's, so that nothing here was ever trained, chosen or looked at before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from analysis.engine.training.recipe import (
    AugmentRecipe,
    DataRecipe,
    DrawRecipe,
    ModelRecipe,
    ObjectiveRecipe,
    Recipe,
    SplitRecipe,
    ValidationRecipe,
    read_recipe,
)

FAMILIES = ("axon", "mvpformer", "neurduo", "prise-eeg")
RECIPES = Path(str(files("assets"))) / "recipes"
CHECKPOINTS = Path(str(files("assets"))) / "checkpoints"
TRAIN_SEED, VALIDATION_SEED, TEST_SEED = 6_000_000, 6_500_000, 7_000_000
# Seizures come oftener than elsewhere, so that an hour of test data holds about ten.
PER_HOUR = 10.0
# Parts of the brain where no seizure of the training begins, on both sides, since windows are mirrored.
LEFT_OUT = ("mid-temporal-left", "mid-temporal-right", "occipital-left", "occipital-right")

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Budget:
    """How much is trained and tested: steps of pre-training and of training by family, recordings of five minutes.

    A model that is pre-trained first and one that begins from random weights learn classes for equally many steps.
    """

    pretraining: Mapping[str, int] = field(
        default_factory=lambda: {"axon": 200, "mvpformer": 300, "neurduo": 80, "prise-eeg": 120}
    )
    steps: Mapping[str, int] = field(
        default_factory=lambda: {"axon": 200, "mvpformer": 300, "neurduo": 80, "prise-eeg": 120}
    )
    batch: Mapping[str, int] = field(
        default_factory=lambda: {"axon": 16, "mvpformer": 16, "neurduo": 4, "prise-eeg": 16}
    )
    tokenizer: int = 60
    region_steps: int = 300
    allocation_steps: int = 100
    train: int = 80
    pool: int = 12
    validation: int = 8
    test: int = 12
    minutes: float = 5.0

    def scaled(self, factor: float) -> Budget:
        """The same with so many times the steps; the data stay."""

        def more(steps: Mapping[str, int]) -> dict[str, int]:
            return {name: _times(count, factor) for name, count in steps.items()}

        return replace(
            self,
            pretraining=more(self.pretraining),
            steps=more(self.steps),
            tokenizer=_times(self.tokenizer, factor),
            region_steps=_times(self.region_steps, factor),
            allocation_steps=_times(self.allocation_steps, factor),
        )


def _times(count: int, factor: float) -> int:
    return max(1, round(count * factor))


# NeurDuo's tokenizer beside its tiny detector.
_TOKENIZER = {"chunk_samples": 128, "code_dim": 16, "enc_dim": 48, "enc_layers": 1, "dec_hidden_dim": 48}
_PRETRAINING_SECONDS = {"neurduo": 30.0, "neurduo-tokenizer": 30.0}
_OBJECTIVES = {"axon": "masked", "mvpformer": "contrastive", "neurduo": "next-code", "prise-eeg": "reconstruction"}
_NO_CHANGE = AugmentRecipe(mirror=0.0, sign=0.0, gain=0.0, silence=0.0)


def tiny_recipe(family: str) -> Recipe:
    """The recipe of the bundled detector."""
    return read_recipe(RECIPES / f"{family}-tiny.toml")


def detection(
    family: str, budget: Budget, steps: int, start_from: str = "", settings: Settings | None = None
) -> Recipe:
    """The detector's recipe with so many steps, from a checkpoint's weights where one is given.

    `settings` are the simulator's for the training data.
    """
    recipe = tiny_recipe(family)
    model = recipe.model if not start_from else replace(recipe.model, start_from=start_from, whiten=False)
    draw = replace(recipe.draw, pool=budget.pool, windows_per_stretch=_windows_per_stretch(family))
    return _shortened(replace(recipe, model=model, draw=draw), budget, family, steps, settings)


def pretraining(family: str, budget: Budget, steps: int, tokenizer: str = "") -> Recipe:
    """The paper's objective on the model of the detector's recipe; windows anywhere and unchanged, as in its recipe."""
    recipe = tiny_recipe(family)
    objective = ObjectiveRecipe(_OBJECTIVES[family], tokenizer)  # type: ignore[arg-type]
    return _pretrained(replace(recipe, objective=objective), budget, family, steps)


def tokenizer_recipe(budget: Budget) -> Recipe:
    """NeurDuo's first stage, with as many codes as its detector's configuration has."""
    recipe = tiny_recipe("neurduo")
    config = {**_TOKENIZER, "codebook_size": recipe.model.config["codebook_size"]}
    model, objective = ModelRecipe("neurduo-tokenizer", config), ObjectiveRecipe("tokenizer")
    recipe = replace(recipe, model=model, objective=objective)
    return _pretrained(recipe, budget, "neurduo", budget.tokenizer)


def _pretrained(recipe: Recipe, budget: Budget, family: str, steps: int) -> Recipe:
    seconds = _PRETRAINING_SECONDS.get(recipe.model.family, recipe.draw.window_seconds)
    draw = DrawRecipe(seconds, 0.0, 0.0, budget.pool, _windows_per_stretch(family))
    made = _shortened(replace(recipe, draw=draw, augment=_NO_CHANGE), budget, family, steps, None)
    return replace(made, data=replace(made.data, test=None))


def _windows_per_stretch(family: str) -> int:
    return 20 if family == "neurduo" else 200


def _shortened(recipe: Recipe, budget: Budget, family: str, steps: int, settings: Settings | None) -> Recipe:
    """With the page's own data, so many steps on one thread, and no look at the validation data before the end."""
    length = replace(recipe.length, batch=budget.batch[family], steps=steps, minutes=0.0, threads=1)
    stride = 4.0 if family == "axon" else recipe.validation.stride_seconds
    validation = ValidationRecipe(every=0, recordings=4, stride_seconds=stride)
    data = SplitRecipe(
        simulated(TRAIN_SEED, budget.train, budget, settings),
        simulated(VALIDATION_SEED, budget.validation, budget),
        simulated(TEST_SEED, budget.test, budget),
    )
    return replace(recipe, length=length, validation=validation, data=data)


def simulated(first_seed: int, recordings: int, budget: Budget, settings: Settings | None = None) -> DataRecipe:
    """Simulated data of the page; `settings` add to the simulator's."""
    own = {"per_hour": PER_HOUR, **(settings or {})}
    return DataRecipe("simulated", recordings=recordings, minutes=budget.minutes, first_seed=first_seed, settings=own)
