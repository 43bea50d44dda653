"""What a trained checkpoint says of itself, filled by the run: data, recipe, results, limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from analysis.engine.calibration import Calibration
from analysis.engine.training.evaluation import RULE, Judgement
from analysis.engine.training.recipe import DataRecipe, Recipe
from analysis.engine.training.state import recipe_digest
from analysis.engine.training.stretches import Source
from analysis.provenance import RESEARCH_ONLY, library_versions, now, software_version
from analysis.simulation.simulator import SIMULATOR

_SIMULATED = "trained on simulated EEG, not for patients"


def make_card(
    recipe: Recipe,
    recipe_name: str,
    sources: Mapping[str, Source],
    run: Mapping[str, Any],
    results: Mapping[str, Any],
    calibration: Calibration | None = None,
    threshold: float | None = None,
) -> dict[str, Any]:
    """The card as JSON; `run` are the facts of the run, `results` what was measured by split.

    Threshold, calibration and rule for events are those that the detector of this program uses.
    """
    splits = {"train": recipe.data.train, "validation": recipe.data.validation, "test": recipe.data.test}
    simulated = any(split is not None and split.kind == "simulated" for split in splits.values())
    limits = recipe.card.limits
    if simulated and _SIMULATED not in limits:
        limits = f"{_SIMULATED}; {limits}".removesuffix("; ")
    card: dict[str, Any] = {
        "name": recipe.card.name,
        "trained": True,
        "trained_on": {
            "summary": recipe.card.trained_on or _summary(recipe.data.train),
            **{name: _describe(split, sources[name]) for name, split in splits.items() if split is not None},
        },
        "how": {
            "recipe": recipe_name,
            "recipe_sha256": recipe_digest(recipe),
            "objective": recipe.objective.kind,
            "tuning": recipe.model.tuning,
            "start_from": Path(recipe.model.start_from).name,
            **run,
            "settings": asdict(recipe),
        },
        "results": dict(results),
        "licence": recipe.card.licence,
        "intended_use": f"{recipe.card.intended_use} {RESEARCH_ONLY}",
        "limits": limits,
        "software": software_version(),
        "libraries": library_versions(("torch", "numpy", "scipy")),
        "created": now(),
    }
    if calibration is not None and threshold is not None:
        card |= {
            "threshold": round(threshold, 6),
            "calibration": asdict(calibration),
            "event_rule": asdict(RULE),
            "chosen_on": "threshold, temperature and bias from validation data only",
        }
    return card


def result_of(judgement: Judgement) -> dict[str, Any]:
    """A judgement for the card, with the rule it was made by."""
    told = judgement.to_dict()
    return told if judgement.events is None else {**told, "rule": judgement.events.rule.describe().split("; kappa")[0]}


def _summary(data: DataRecipe) -> str:
    if data.kind == "simulated":
        return f"simulated EEG: {data.recordings} recordings of {data.minutes:g} min, simulator {SIMULATOR}"
    return "recordings with event files"


def _describe(data: DataRecipe, source: Source) -> dict[str, Any]:
    if data.kind == "simulated":
        hours = round(data.recordings * data.minutes / 60, 2)
        last = data.first_seed + data.recordings - 1
        made = {"simulator": SIMULATOR, "seeds": [data.first_seed, last], "hours": hours}
        return {"kind": data.kind, **made, "settings": dict(data.settings)}
    return {"kind": data.kind, "n_subjects": len(source.subjects), "n_stretches": len(source)}
