"""Every family trained for a few steps: the loss falls, a run is taken up to the same bits, the card is right."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from analysis.engine.calibration import Calibration
from analysis.engine.predict import predict_seizures
from analysis.engine.training import run as training
from analysis.engine.training.evaluation import probability, score_stretch
from analysis.engine.training.feeding import FEEDERS
from analysis.engine.training.recipe import DataRecipe
from analysis.engine.training.recorded import RecordedSource
from analysis.engine.training.run import train
from analysis.engine.training.state import STATE
from analysis.errors import AnalysisError
from analysis.progress import Cancelled, Progress
from analysis.readers import open_recording
from analysis.simulation.files import write_simulation
from analysis.simulation.settings import Settings
from models.registry import load_model

DETECTORS = ("axon", "prise-eeg", "mvpformer", "neurduo")
PRETRAINING = (
    ("axon", "masked"),
    ("prise-eeg", "reconstruction"),
    ("mvpformer", "contrastive"),
    ("neurduo-tokenizer", "tokenizer"),
)


class StopAt(Progress):
    """Asks for an end once so many steps are done."""

    def __init__(self, step: int) -> None:
        self._step = step

    def report(self, done, total, message=""):
        if done >= self._step and "loss" in message:
            raise Cancelled


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A simulated recording as a file."""
    path = tmp_path_factory.mktemp("recording") / "simulated.edf"
    write_simulation(Settings(duration=60, sfreq=128, seizures=0), 3, path)
    return path


def state_of(folder) -> dict:
    return torch.load(folder / STATE, weights_only=True)


def losses_on_one_batch(path, tmp_path, steps):
    """The loss of the same windows again and again, without anything that is drawn anew."""
    recipe = training.resolved(training.read_recipe(path), path.parent)
    run = training.Run(recipe, path, tmp_path, torch.device("cpu"), Progress())
    run.steps = steps
    rng = training.step_generator(1, 0)
    batch = training.draw_batch(run.pool.at(0), recipe.draw, run.feeder.spans, recipe.length.batch, rng)
    found = []
    for _ in range(steps):
        run.objective.begin_step(0, steps)
        run.optimiser.zero_grad()
        with run.objective.around_step():
            made = run.objective.loss(batch, 0, training.step_generator(1, 1))
            made.value.backward()
            run.optimiser.step()
        found.append(float(made.value.detach()))
    return found


@pytest.mark.parametrize(("family", "objective"), [*((f, "seizure") for f in DETECTORS), *PRETRAINING])
def test_the_loss_falls(family, objective, write_recipe, tmp_path):
    losses = losses_on_one_batch(write_recipe(family, objective), tmp_path, 20)
    assert np.isfinite(losses).all()
    assert min(losses[-3:]) < 0.95 * losses[0]


def test_prise_goes_on_reconstructing_beside_its_classes(write_recipe, tmp_path):
    """The loss is that of the classes plus a tenth of the pre-training loss of the task whose turn it is."""
    changes = {'kind = "seizure"': 'kind = "seizure"\nreconstruction = 0.1'}
    losses, weights = {}, None
    for kind, changed in (("seizure", {}), ("seizure", changes), ("reconstruction", {})):
        path = write_recipe("prise-eeg", kind, f"{kind}{len(changed)}", changes=changed)
        recipe = training.resolved(training.read_recipe(path), path.parent)
        run = training.Run(recipe, path, tmp_path, torch.device("cpu"), Progress())
        batch = training.draw_batch(
            run.pool.at(0), recipe.draw, run.feeder.spans, recipe.length.batch, training.step_generator(1, 0)
        )
        weights = weights or run.objective.model.state_dict()
        run.objective.model.load_state_dict(weights, strict=False)  # a model with a head is drawn differently
        run.objective.module.eval()
        made = run.objective.loss(batch, 1, training.step_generator(1, 1))
        losses[kind, len(changed)] = float(made.value.detach())
        assert ("time" in made.facts) is (kind == "reconstruction" or bool(changed))
    assert losses["seizure", 1] == pytest.approx(losses["seizure", 0] + 0.1 * losses["reconstruction", 0], rel=1e-5)


@pytest.mark.parametrize("family", DETECTORS)
def test_a_stopped_run_goes_on_to_the_same_bits_and_predicts(family, write_recipe, tmp_path, recording):
    path = write_recipe(family, changes={"weight_decay = 0.0": "weight_decay = 0.1\nema = 0.9"})
    whole = train(path, tmp_path / "whole")
    with pytest.raises(Cancelled):
        train(path, tmp_path / "parts", progress=StopAt(5))
    assert state_of(tmp_path / "parts")["step"] == 5
    again = train(path, tmp_path / "parts", resume=True)
    first, second = state_of(tmp_path / "whole"), state_of(tmp_path / "parts")
    for name in ("module", "average"):
        assert first[name].keys() == second[name].keys()
        assert all(torch.equal(value, second[name][key]) for key, value in first[name].items())
    assert first["losses"] == second["losses"]
    assert first["best"] == second["best"]
    one, other = (load_model(made.checkpoint).state_dict() for made in (whole, again))
    assert all(torch.equal(value, other[name]) for name, value in one.items())
    assert metrics(tmp_path / "parts") == metrics(tmp_path / "whole")
    check_card(whole.card, family)
    with open_recording(recording) as opened:
        others = set(opened.ch_names) - set(training.read_recipe(path).signal.channels)
    result = predict_seizures(recording, whole.checkpoint, device="cpu", bad_channels=sorted(others))
    assert result.complete
    assert np.isfinite(result.probability).all()
    assert result.threshold == whole.card["threshold"]
    assert result.provenance["rule"]["merge_gap"] == 10.0
    # Temperatures of hardly trained models are far below 1 and magnify the rounding of single precision.
    np.testing.assert_allclose(result.probability, probabilities_in_training(path, whole, recording), atol=2e-4)


def probabilities_in_training(path, made, recording):
    """What the training's own scoring makes of a file: with what it calibrated, `predict` has to say the same."""
    recipe, model = training.read_recipe(path), load_model(made.checkpoint)
    feeder = FEEDERS[recipe.model.family](recipe, model.config)
    files = DataRecipe("recordings", files=(recording.name,))
    source = RecordedSource(files, feeder.settings(), recipe.signal.channels, recording.parent)
    scored = score_stretch(source.load(0), feeder, model)
    return probability(scored, Calibration.from_card(made.card))


def metrics(folder):
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if k != "seconds"} for line in lines]


def check_card(card, family):
    """What a checkpoint has to say of itself."""
    assert card["trained"] is True
    assert card["limits"] == "trained on simulated EEG, not for patients; made in a test"
    assert card["trained_on"]["train"]["seeds"] == [100, 102]
    assert card["trained_on"]["validation"]["seeds"] == [200, 200]
    assert card["how"]["steps"] == 8
    assert card["how"]["windows"] == 64
    assert card["how"]["settings"]["model"]["family"] == family
    assert card["results"]["validation"]["n_seizures"] == 1
    assert 0 < card["threshold"] < 1
    assert card["calibration"]["temperature"] > 0
    assert card["event_rule"] == {"merge_gap": 10.0, "min_duration": 8.0, "min_positive": 1}
    assert "not for diagnosis" in card["intended_use"]
    assert card["licence"] == "GPL-3.0-or-later"


def test_stages_of_neurduo_follow_each_other(write_recipe, tmp_path):
    """Tokenizer, next code, then a detector that begins with those weights, by LoRA and by a probe."""
    short = {"steps = 8": "steps = 2", "every = 4": "every = 0"}
    codes = train(write_recipe("neurduo-tokenizer", "tokenizer", "codes", changes=short), tmp_path / "codes")
    assert bool(load_model(codes.checkpoint).vq.initted)
    kind = {**short, 'kind = "next-code"': f'kind = "next-code"\ntokenizer = "{codes.checkpoint}"'}
    base = train(write_recipe("neurduo", "next-code", "base", changes=kind), tmp_path / "base")
    before = load_model(base.checkpoint).state_dict()
    for tuning in ("lora", "probe"):
        start = {
            **short,
            'family = "neurduo"': f'family = "neurduo"\nstart_from = "{base.checkpoint}"\ntuning = "{tuning}"',
        }
        made = train(write_recipe("neurduo", "seizure", tuning, changes=start), tmp_path / tuning)
        after = load_model(made.checkpoint).state_dict()
        same = {n: torch.equal(v, after[n]) for n, v in before.items() if n in after and not n.startswith("predictor")}
        linear = "fast.blocks.0.in_proj.weight"
        assert same[linear] is (tuning == "probe")
        assert same["fast.blocks.0.A_log"]
        assert made.card["how"]["tuning"] == tuning


def test_a_training_is_not_begun_twice_in_a_folder(write_recipe, tmp_path):
    path = write_recipe("axon", changes={"steps = 8": "steps = 1"})
    with pytest.raises(AnalysisError, match="no training to go on with"):
        train(path, tmp_path / "out", resume=True)
    train(path, tmp_path / "out")
    with pytest.raises(AnalysisError, match="a training is there already"):
        train(path, tmp_path / "out")
    other = write_recipe("axon", changes={"steps = 8": "steps = 2"})
    with pytest.raises(AnalysisError, match="another recipe"):
        train(other, tmp_path / "out", resume=True)


def test_subjects_are_in_one_split_alone(write_recipe, tmp_path):
    path = write_recipe("axon", changes={"first_seed = 200": "first_seed = 102"})
    with pytest.raises(AnalysisError, match="simulated 102 is in the data of both train and validation"):
        train(path, tmp_path / "out")


def test_minutes_become_steps_once(write_recipe, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "SPEED_SECONDS", 0.05)
    path = write_recipe("axon", changes={"steps = 8": "minutes = 0.001", "every = 4": "every = 0"})
    made = train(path, tmp_path / "out")
    assert made.card["how"]["planned_steps"] == made.step >= 1


def test_training_stops_early_and_keeps_the_best(write_recipe, tmp_path, monkeypatch):
    monkeypatch.setattr(training.Run, "_measured", lambda self: ({"figure": -self.step}, -float(self.step)))
    rule = {"every = 4": 'every = 2\npatience = 1\nkeep = "best"'}
    made = train(write_recipe("axon", changes=rule), tmp_path / "out")
    assert made.step == 4
    assert made.card["how"]["kept"] == "best on validation"
