"""Short trainings side by side: what pre-training brings, what unseen regions cost, how experts are best shared."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from analysis.engine.quality.recipes import (
    LEFT_OUT,
    TEST_SEED,
    Budget,
    detection,
    pretraining,
    simulated,
    tiny_recipe,
    tokenizer_recipe,
)
from analysis.engine.training.assembly import make_config
from analysis.engine.training.recipe import Recipe
from analysis.engine.training.run import Run, Trained
from analysis.progress import Progress
from analysis.simulation.sensors import REGIONS
from models.prise.allocation import ALLOCATIONS, allocation

Row = dict[str, Any]
FIGURES = (
    *("sample_auc_pr", "sample_auroc", "event_f1", "event_sensitivity", "false_alarms_per_hour"),
    *("prevalence", "hours", "n_seizures"),
)


def compare_pretraining(family: str, budget: Budget, progress: Progress) -> list[Row]:
    """The same detector from random weights and from pre-trained ones, with equally many steps and the same seeds."""
    steps, before = budget.steps[family], budget.pretraining[family]
    with _folder() as folder:
        progress.report(0, 3, "from random weights")
        scratch = _train(detection(family, budget, steps), folder / "scratch")
        progress.report(1, 3, "pre-training")
        tokenizer = ""
        if family == "neurduo":
            tokenizer = str(_train(tokenizer_recipe(budget), folder / "tokenizer").checkpoint)
        base = _train(pretraining(family, budget, before, tokenizer), folder / "base")
        progress.report(2, 3, "from pre-trained weights")
        tuned = _train(detection(family, budget, steps, str(base.checkpoint)), folder / "tuned")
    loss = {"pretraining_loss": base.card["how"]["final_loss"]}
    return [
        _row("from random weights", scratch, steps=steps),
        _row("pre-trained first", tuned, steps=steps, pretraining_steps=before, **loss),
    ]


def leave_regions_out(budget: Budget, progress: Progress) -> list[Row]:
    """AXON trained with seizures from everywhere and without those of some regions, both tested on these alone."""
    steps = budget.region_steps
    others = [region for region in REGIONS if region not in LEFT_OUT]
    rows = []
    with _folder() as folder:
        for number, (name, settings) in enumerate((("on all regions", None), ("without them", {"regions": others}))):
            progress.report(number, 2, name)
            recipe = detection("axon", budget, steps, settings=settings)
            test = simulated(TEST_SEED, budget.test, budget, {"regions": list(LEFT_OUT)})
            made = _train(replace(recipe, data=replace(recipe.data, test=test)), folder / str(number))
            rows.append(_row(f"trained {name}", made, steps=steps))
    return rows


def compare_allocations(budget: Budget, progress: Progress) -> list[Row]:
    """PRiSE-EEG from the same random weights with each way to share its experts, trained for equally many steps."""
    steps, rows = budget.allocation_steps, []
    config = make_config(tiny_recipe("prise-eeg"))
    with _folder() as folder:
        for number, kind in enumerate(ALLOCATIONS):
            progress.report(number, len(ALLOCATIONS), kind)
            shared = list(allocation(kind, config))
            recipe = detection("prise-eeg", budget, steps)
            model = replace(recipe.model, config={**recipe.model.config, "n_shared": shared})
            made = _train(replace(recipe, model=model), folder / kind)
            rows.append(_row(f"{kind} ({_listed(shared)})", made, steps=steps))
    return rows


def _listed(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers))


def _row(name: str, made: Trained, **more: Any) -> Row:
    figures = made.card["results"]["test"]
    return {"row": name, **{key: figures[key] for key in FIGURES if key in figures}, **more}


def _train(recipe: Recipe, folder: Path) -> Trained:
    """Train as `main.py train` does, without a recipe file and quietly."""
    folder.mkdir(parents=True)
    run = Run(recipe, Path(f"{folder.name}.toml"), folder, torch.device("cpu"), Progress())
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        run.begin(False)
        run.work()
        return run.finish()
    finally:
        torch.set_num_threads(before)


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="cerebroscope-quality-") as folder:
        yield Path(folder)
