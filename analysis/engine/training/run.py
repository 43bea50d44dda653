"""One training from recipe to checkpoint: steps, validation, early stop, state on disk, and the card in the end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from analysis.engine.session import choose_device, describe_device
from analysis.engine.training.assembly import SEIZURE, make_objective, make_sources, resolved
from analysis.engine.training.augmentation import augment
from analysis.engine.training.card import make_card, result_of
from analysis.engine.training.drawing import Batch, Pool, draw_batch, step_generator
from analysis.engine.training.evaluation import calibrate, choose_threshold, judge, score_source
from analysis.engine.training.objectives import Objective, SeizureDetection
from analysis.engine.training.optimisation import MovingAverage, make_optimiser, rate_factor, set_rate
from analysis.engine.training.recipe import Recipe, read_recipe
from analysis.engine.training.state import STATE, Metrics, load_state, save_state
from analysis.engine.training.stretches import Source
from analysis.engine.training.trials import figures_of, try_source
from analysis.engine.training.tuning import frozen_backbone, merged, set_training
from analysis.engine.training.whitening import whiten
from analysis.errors import AnalysisError
from analysis.progress import Cancelled, Progress
from models.checkpoint import save_container
from models.registry import MODELS, untrained_model

SPEED_SECONDS = 20.0  # how long the speed test lasts that makes steps of minutes
SAVE_SECONDS = 120.0
LOG_STEPS = 10
_WARM_STEPS, _WEIGHT_BATCHES = 2, 16
_PROBE_SEED = 2**20  # of the batches that only tell something of the data


@dataclass(frozen=True)
class Trained:
    """What a training gave: the checkpoint, its card, and the step it ended at."""

    checkpoint: Path
    card: dict[str, Any]
    step: int


def train(
    recipe_path: str | Path,
    out: str | Path | None = None,
    resume: bool = False,
    device: str = "auto",
    progress: Progress | None = None,
) -> Trained:
    """Train by a recipe into the folder `out` (default: named as the recipe, where one is).

    Written are NAME.safetensors, metrics.jsonl and state.pt; whatever ends the run, `resume` goes on from the state to
    the same bits. AnalysisError, RecordingError and CheckpointError say what is wrong, Cancelled comes out of
    `progress` after the state was saved.
    """
    path = Path(recipe_path)
    recipe = resolved(read_recipe(path), path.parent)
    folder = Path(out) if out is not None else Path(path.stem)
    if not resume and (folder / STATE).exists():
        raise AnalysisError(
            f"a training is there already ({folder / STATE}): go on with --resume, or choose another folder with --out"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with _threads(recipe.length.threads):
        run = Run(recipe, path, folder, choose_device(device), progress or Progress())
        run.begin(resume)
        run.work()
        return run.finish()


@dataclass
class Run:
    """A training under way; `step` steps are done of `steps`."""

    recipe: Recipe
    path: Path
    folder: Path
    device: torch.device
    progress: Progress
    step: int = 0
    steps: int = 0
    seconds: float = 0.0
    best: float = float("-inf")
    waited: int = 0
    losses: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        torch.manual_seed(self.recipe.seed)
        self.objective: Objective = make_objective(self.recipe, self.device)
        self.feeder = self.objective.feeder
        self.sources: dict[str, Source] = make_sources(self.recipe, self.feeder, self.path.parent)
        self.pool = Pool(self.sources["train"], self.recipe.draw, self.recipe.length.batch, self.recipe.seed)
        self.optimiser = make_optimiser(self.objective.module, self.objective.model, self.recipe.optimiser)
        self.average = MovingAverage(self.objective.module, self.recipe.optimiser.ema)
        self.kept: dict[str, torch.Tensor] = {}

    # Beginning

    def begin(self, resume: bool) -> None:
        """Start anew, with all that the data decide, or go on from the state on disk."""
        if resume:
            self._take(load_state(self.folder, self.recipe))
        else:
            self.steps = self.recipe.length.steps or self._measure()
            if isinstance(self.objective, SeizureDetection):
                self.objective.settle_weight([self._draw(0, _PROBE_SEED + i) for i in range(_WEIGHT_BATCHES)])
            if self.recipe.model.whiten:
                whiten(self.objective.model, self._draw(0, _PROBE_SEED), self.feeder)
                self.average = MovingAverage(self.objective.module, self.recipe.optimiser.ema)
            torch.manual_seed(self.recipe.seed)
        self.metrics = Metrics(self.folder, self.step)

    def _measure(self) -> int:
        """Steps that fit into the recipe's minutes, by what a run of its own does in some seconds."""
        trial = Run(self.recipe, self.path, self.folder, self.device, self.progress)
        trial.steps = 1_000_000
        began = time.monotonic()
        held = len(trial.pool.at(0))
        loading = (time.monotonic() - began) / held * self.recipe.length.batch / self.recipe.draw.windows_per_stretch
        for _ in range(_WARM_STEPS):
            trial.advance()
        began, first = time.monotonic(), trial.step
        while time.monotonic() - began < SPEED_SECONDS:
            trial.progress.report(0, 1, "measuring the speed")
            trial.advance()
        each = (time.monotonic() - began) / (trial.step - first) + loading
        return max(1, round(self.recipe.length.minutes * 60 / each))

    # Steps

    def work(self) -> None:
        """All steps that are left; a state is saved now and then, and whenever the work is ended from outside."""
        every, saved = self.recipe.validation.every, time.monotonic()
        began = time.monotonic() - self.seconds
        try:
            while self.step < self.steps and not self._is_done():
                self.progress.report(self.step, self.steps, self._line())
                loss, facts = self.advance()
                self.seconds = time.monotonic() - began
                if self.step % LOG_STEPS == 0 or self.step == self.steps:
                    self._log(loss, facts)
                if every and self.step % every == 0 and self.step < self.steps:
                    self.validate()
                if time.monotonic() - saved > SAVE_SECONDS:
                    self.save()
                    saved = time.monotonic()
        except (Cancelled, KeyboardInterrupt):
            self.save()
            raise
        self.save()

    def advance(self) -> tuple[float, dict[str, float]]:
        """One step."""
        objective, optimiser, recipe = self.objective, self.optimiser, self.recipe
        set_training(objective.module, objective.model, recipe.model.tuning == "probe")
        objective.begin_step(self.step, self.steps)
        set_rate(optimiser, recipe.optimiser.learning_rate * rate_factor(self.step, self.steps, recipe.schedule))
        rng = step_generator(recipe.seed, self.step)
        batch = augment(
            draw_batch(self.pool.at(self.step), recipe.draw, self.feeder.spans, recipe.length.batch, rng),
            recipe.augment,
            rng,
        )
        with objective.around_step():
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
                made = objective.loss(batch, self.step, rng)
            optimiser.zero_grad(set_to_none=True)
            made.value.backward()
            if self.step < recipe.model.frozen_steps:
                for parameter in frozen_backbone(objective.model):
                    parameter.grad = None
            torch.nn.utils.clip_grad_norm_(objective.module.parameters(), recipe.optimiser.clip)
            optimiser.step()
        self.average.follow(objective.module, self.step)
        self.step += 1
        value = float(made.value.detach())
        if value != value:
            raise AnalysisError(
                f"the loss is no number any more at step {self.step} ({self.path}): lower optimiser.learning_rate"
            )
        self.losses = [*self.losses[-49:], value]
        return value, made.facts

    def _draw(self, step: int, stream: int) -> Batch:
        rng = step_generator(self.recipe.seed, stream)
        return draw_batch(self.pool.at(step), self.recipe.draw, self.feeder.spans, self.recipe.length.batch, rng)

    def _line(self) -> str:
        if not self.losses:
            return "filling the pool"
        speed = self.step / self.seconds if self.seconds else 0.0
        return f"loss {sum(self.losses) / len(self.losses):.3g}, {speed:.2g} steps/s"

    def _log(self, loss: float, facts: dict[str, float]) -> None:
        rate = self.optimiser.param_groups[0]["lr"] / self.optimiser.param_groups[0]["scale"]
        mean = sum(self.losses) / len(self.losses)
        seconds = round(self.seconds, 1)
        self.metrics.add(step=self.step, loss=loss, mean_loss=mean, rate=rate, seconds=seconds, **facts)

    # Validation

    def validate(self) -> None:
        """Look at some of the validation data, keep the weights that did best, and count those that did not."""
        with self._in_use(), torch.random.fork_rng(devices=[]):
            measured, figure = self._measured()
            if figure > self.best:
                self.best, self.waited = figure, 0
                if self.recipe.validation.keep == "best":
                    self.kept = {n: v.detach().cpu().clone() for n, v in self.objective.module.state_dict().items()}
            else:
                self.waited += 1
        self.metrics.add(step=self.step, validation=measured)

    def _measured(self) -> tuple[dict[str, Any], float]:
        """Figures for the metrics, and the one that is to rise."""
        source, count = self.sources["validation"], self.recipe.validation.recordings
        if self.recipe.objective.kind == SEIZURE:
            numbers = range(min(count or len(source), len(source)))
            scored = score_source(source, numbers, self.feeder, self.objective.model, self.progress.check)
            measured = judge(scored, calibrate(scored), None).to_dict()
            return measured, measured["sample_auc_pr"] if measured["sample_auc_pr"] is not None else 0.0
        loss = self._validation_loss(max(1, count))
        return {"loss": loss}, -loss

    @torch.no_grad()
    def _validation_loss(self, count: int) -> float:
        """Mean loss of fixed batches of the validation data, as many as stretches are looked at."""
        recipe = self.recipe
        self.objective.module.eval()
        pool = Pool(self.sources["validation"], recipe.draw, recipe.length.batch, recipe.seed)
        losses = []
        for i in range(count):
            rng = step_generator(recipe.seed, _PROBE_SEED + i)
            batch = draw_batch(pool.at(0), recipe.draw, self.feeder.spans, recipe.length.batch, rng)
            losses.append(float(self.objective.loss(batch, i, rng).value))
        return sum(losses) / len(losses)

    def _is_done(self) -> bool:
        patience = self.recipe.validation.patience
        return patience > 0 and self.waited >= patience

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        """With the weights that would be kept now: their average, where one is kept."""
        self.average.swap(self.objective.module)
        try:
            yield
        finally:
            self.average.swap(self.objective.module)

    # State

    def save(self) -> None:
        """Write all that the next step depends on."""
        state = {
            "step": self.step,
            "steps": self.steps,
            "seconds": self.seconds,
            "best": self.best,
            "waited": self.waited,
            "losses": self.losses,
            "module": self.objective.module.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "average": self.average.values,
            "kept": self.kept,
            "weight": getattr(self.objective, "weight", 1.0),
        }
        save_state(self.folder, self.recipe, state)

    def _take(self, state: dict[str, Any]) -> None:
        self.step, self.steps, self.seconds = state["step"], state["steps"], state["seconds"]
        self.best, self.waited, self.losses = state["best"], state["waited"], list(state["losses"])
        self.objective.module.load_state_dict(state["module"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.average.values = {name: value.to(self.device) for name, value in state["average"].items()}
        self.kept = state["kept"]
        if isinstance(self.objective, SeizureDetection):
            self.objective.weight = state["weight"]

    # End

    def finish(self) -> Trained:
        """Look at all validation data, then once at the test data, and write the checkpoint with its card."""
        model = self._final_model()
        results: dict[str, Any] = {}
        calibration = threshold = None
        if self.recipe.objective.kind == SEIZURE:
            scored = self._score(model)
            calibration = calibrate(scored)
            threshold = choose_threshold(scored, calibration)
            results["validation"] = result_of(judge(scored, calibration, threshold))
            if "test" in self.sources:
                trials = try_source(self.sources["test"], self.feeder, model, self.progress)
                results["test"] = figures_of(trials, calibration, threshold)
        else:
            results["validation"] = {"loss": self._final_loss()}
        self.metrics.add(step=self.step, results=results)
        name = self.path.stem
        card = make_card(self.recipe, self.path.name, self.sources, self._facts(), results, calibration, threshold)
        path = self.folder / f"{name}.safetensors"
        model.cpu()
        stated = {**_stated_by_family(model), **self.feeder.stated()}
        save_container(model, path, card, stated)
        return Trained(path, card, self.step)

    def _final_model(self) -> Any:
        """The weights that are kept, merged, in a model of their own."""
        if self.kept:
            self.objective.module.load_state_dict(self.kept)
            self.average.values = {}
        with self._in_use():
            trained = self.objective.model
            model = merged(trained, untrained_model(trained.family, trained.config))
        return model.to(self.device).eval()

    def _final_loss(self) -> float:
        with self._in_use(), torch.random.fork_rng(devices=[]):
            return self._validation_loss(max(1, self.recipe.validation.recordings))

    def _score(self, model: Any) -> list[Any]:
        source = self.sources["validation"]
        found = []
        for number in range(len(source)):
            self.progress.report(number, len(source), "scoring validation data")
            found += score_source(source, [number], self.feeder, model, self.progress.check)
        return found

    def _facts(self) -> dict[str, Any]:
        """What is known of the run in the end."""
        return {
            "steps": self.step,
            "planned_steps": self.steps,
            "windows": self.step * self.recipe.length.batch,
            "seconds": round(self.seconds, 1),
            "device": describe_device(self.device),
            "threads": torch.get_num_threads(),
            "final_loss": round(sum(self.losses) / max(1, len(self.losses)), 6),
            "kept": "best on validation" if self.kept else "average of weights" if self.average.values else "last",
        }


def _stated_by_family(model: Any) -> dict[str, Any]:
    stated: dict[str, Any] = MODELS[model.family].loading_rules().preprocessing(model.config)
    return stated


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """So many threads in here; 0 leaves the number alone."""
    before = torch.get_num_threads()
    if count:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
