"""From a recipe to what trains: the model, its objective, and the sources of its data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from analysis.engine.training.feeding import FEEDERS, Feeder
from analysis.engine.training.objectives import (
    MaskedPatches,
    NextCode,
    NextSegment,
    Objective,
    Reconstruction,
    SeizureDetection,
    SpectralCodes,
)
from analysis.engine.training.recipe import DataRecipe, Recipe
from analysis.engine.training.recorded import RecordedSource
from analysis.engine.training.simulated import SimulatedSource
from analysis.engine.training.stretches import Source, refuse_shared_subjects
from analysis.engine.training.tuning import HEADS, begin_tuning
from analysis.errors import AnalysisError
from models.registry import MODELS, load_model, untrained_model

SEIZURE, CLASSES = "seizure", 2
_OBJECTIVES: Mapping[tuple[str, str], type[Objective]] = {
    ("mvpformer", "contrastive"): NextSegment,
    ("axon", "masked"): MaskedPatches,
    ("prise-eeg", "reconstruction"): Reconstruction,
    ("neurduo-tokenizer", "tokenizer"): SpectralCodes,
    ("neurduo", "next-code"): NextCode,
    **{(family, SEIZURE): SeizureDetection for family in ("mvpformer", "axon", "prise-eeg", "neurduo")},
}


def make_config(recipe: Recipe) -> Any:
    """The configuration of the recipe's model, with the head that its objective needs; AnalysisError for another."""
    family, objective = recipe.model.family, recipe.objective.kind
    if (family, objective) not in _OBJECTIVES:
        known = ", ".join(f"{f} {o}" for f, o in _OBJECTIVES)
        raise AnalysisError(f"there is no training of {family} by {objective} (the recipe): choose one of {known}")
    given = {**_parent_config(recipe), **recipe.model.config}
    given |= _head_fields(recipe, given)
    try:
        return MODELS[family].config.from_dict(given)
    except (ValueError, TypeError) as error:
        raise AnalysisError(f"the recipe describes no {family}, {error} (model.config): correct it") from error


def _parent_config(recipe: Recipe) -> dict[str, Any]:
    """The fields of the configuration of the checkpoint that training starts from."""
    if not recipe.model.start_from:
        return {}
    return asdict(load_model(recipe.model.start_from).config)  # type: ignore[call-overload]


def _head_fields(recipe: Recipe, given: Mapping[str, Any]) -> dict[str, Any]:
    """What of a configuration follows from the objective."""
    family, tells = recipe.model.family, recipe.objective.kind == SEIZURE
    if family in ("axon", "prise-eeg"):
        return {"n_outputs": CLASSES if tells else 0}
    if family == "mvpformer":
        return {"task": "classification" if tells else "generation", "n_classes": CLASSES}
    if family == "neurduo" and not tells:
        return {"head": None, "has_predictor": True}
    if family == "neurduo":
        head = dict(recipe.model.config.get("head") or {})
        unit = head.get("unit_steps", 2) * given.get("chunk_samples", 128) / 256.0
        own = {
            "channels": [site.upper() for site in recipe.signal.channels],
            "unit_steps": 2,
            "n_outputs": CLASSES,
            "context_units": round(recipe.draw.window_seconds / unit),
            "normalisation": "sequence",
        }
        return {"head": {**own, **head}, "has_predictor": False}
    return {}


def make_objective(recipe: Recipe, device: torch.device) -> Objective:
    """The model with seeded or inherited weights, and the objective that trains it, on the device."""
    config = make_config(recipe)
    feeder: Feeder = FEEDERS[recipe.model.family](recipe, config)
    model = untrained_model(recipe.model.family, config, seed=recipe.seed)
    if recipe.model.start_from:
        _inherit(model, recipe.model.start_from)
    begin_tuning(model, recipe.model)
    kind = _OBJECTIVES[recipe.model.family, recipe.objective.kind]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        if kind is NextCode:
            made: Objective = NextCode(recipe, feeder, model, load_model(recipe.objective.tokenizer))
            made.tokenizer.to(device)  # type: ignore[attr-defined]
        else:
            made = kind(recipe, feeder, model)
    made.module.to(device)
    return made


def _inherit(model: Any, path: str) -> None:
    """Take every weight of a checkpoint but the head's; CheckpointError where the two do not fit."""
    parent = load_model(path)
    heads = ("predictor.", *HEADS[model.family])
    own = model.state_dict()
    taken = {name: value for name, value in parent.state_dict().items() if not name.startswith(heads)}
    if wrong := [n for n, v in taken.items() if n not in own or own[n].shape != v.shape]:
        raise AnalysisError(
            f"the weights to start from do not fit, first {wrong[0]} ({path}): give a checkpoint of the recipe's sizes"
        )
    model.load_state_dict({**own, **taken})


def make_sources(recipe: Recipe, feeder: Feeder, folder: Path) -> dict[str, Source]:
    """The data of each split that the recipe has; AnalysisError where two share a subject."""
    splits: dict[str, DataRecipe | None] = {
        "train": recipe.data.train,
        "validation": recipe.data.validation,
        "test": recipe.data.test,
    }
    made = {name: _source(split, recipe, feeder, folder) for name, split in splits.items() if split is not None}
    refuse_shared_subjects(made)
    return made


def _source(data: DataRecipe, recipe: Recipe, feeder: Feeder, folder: Path) -> Source:
    if data.kind == "simulated":
        return SimulatedSource(data, feeder.settings(), recipe.signal.channels)
    return RecordedSource(data, feeder.settings(), recipe.signal.channels, folder)


def resolved(recipe: Recipe, folder: Path) -> Recipe:
    """The recipe with the paths of other checkpoints made whole: they are looked for beside the recipe."""

    def whole(name: str) -> str:
        return str(folder / name) if name and (folder / name).exists() else name

    model = replace(recipe.model, start_from=whole(recipe.model.start_from))
    return replace(
        recipe, model=model, objective=replace(recipe.objective, tokenizer=whole(recipe.objective.tokenizer))
    )
