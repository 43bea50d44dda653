"""Recipes, draws, augmentation, schedule, updates, calibration and data from files, each against what it should be."""

from __future__ import annotations

import math
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from analysis.engine.calibration import Calibration
from analysis.engine.training.augmentation import augment, mirrored, silenced
from analysis.engine.training.drawing import Batch, Pool, draw_batch, seizure_shares, step_generator
from analysis.engine.training.evaluation import Scored, calibrate, choose_threshold, count_events, judge
from analysis.engine.training.optimisation import MovingAverage, make_optimiser, rate_factor
from analysis.engine.training.recipe import (
    AugmentRecipe,
    DataRecipe,
    DrawRecipe,
    OptimiserRecipe,
    ScheduleRecipe,
    read_recipe,
)
from analysis.engine.training.recorded import RecordedSource, subject_of
from analysis.engine.training.run import Run
from analysis.engine.training.stretches import Source, Stretch
from analysis.engine.training.tuning import add_updates, merged
from analysis.engine.training.whitening import whiten
from analysis.errors import AnalysisError
from analysis.preprocessing import Preprocessing
from analysis.progress import Progress
from analysis.simulation.files import write_simulation
from analysis.simulation.settings import Settings
from models.mvpformer import wavelet
from models.neurduo.config import TokenizerConfig
from models.neurduo.objective import tokenizer_loss
from models.neurduo.tokenizer import SpectralTokenizer

SITES = ("F7", "Fz", "F8")


class MadeSource(Source):
    """Stretches of 60 s whose first channel counts the seconds; seizures from 20 to 30 s in the ictal ones."""

    def __init__(self, count: int, ictal: tuple[int, ...] = ()) -> None:
        self.count, self.ictal = count, ictal or None
        self.subjects = frozenset(map(str, range(count)))
        self.loaded: list[int] = []

    def __len__(self) -> int:
        return self.count

    def load(self, number: int) -> Stretch:
        self.loaded.append(number)
        data = np.zeros((3, 6000), np.float32)
        data[0] = np.arange(6000) / 100
        seizures = ((20.0, 30.0),) if self.ictal and number in self.ictal else ()
        return Stretch(str(number), str(number), data, np.zeros(3, bool), 100.0, SITES, seizures, ((50.0, 55.0),))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed = 5", "seed = 5\nsed = 6", "it has no key sed"),
        ("[draw]", "[draw]\nsiezure = 0.5", "draw has no key siezure"),
        ("batch = 8", 'batch = "8"', "length.batch must be of the kind int"),
        ("steps = 8", "steps = 8\nminutes = 3", "either steps or minutes"),
        ("pool = 2", "pool = 0", "draw.pool must be at least 1"),
        ('kind = "seizure"', 'kind = "seizure"\nreconstruction = 0.1', "for the seizure objective of prise-eeg"),
        ('family = "axon"', 'family = "axon"\nwhiten = true', "whiten is for"),
        ('licence = "GPL-3.0-or-later"\n', "", "card.licence is missing"),
        ('kind = "constant"', 'kind = "step"', "schedule.kind must be one of cosine, constant"),
    ],
)
def test_a_wrong_recipe_is_refused_in_one_sentence(old, new, message, write_recipe):
    with pytest.raises(AnalysisError, match=message) as told:
        read_recipe(write_recipe("axon", changes={old: new}))
    assert "\n" not in str(told.value)


def test_the_programs_own_recipes_are_right():
    from importlib.resources import files

    from analysis.engine.training.assembly import make_config

    found = [path for path in (files("assets") / "recipes").iterdir() if path.name.endswith(".toml")]
    assert len(found) >= 4
    for path in found:
        recipe = read_recipe(str(path))
        if not recipe.model.start_from:
            make_config(recipe)


def test_shares_of_a_seizure():
    spans = np.array([[0.0, 10.0], [15.0, 25.0], [22.0, 24.0], [29.0, 33.0], [30.0, 40.0]])
    np.testing.assert_allclose(seizure_shares(((20.0, 30.0), (32.0, 33.0)), spans), [0, 0.5, 1, 0.5, 0.1])


def test_draws_follow_the_shares_and_repeat_with_their_step():
    source = MadeSource(4, ictal=(1, 3))
    recipe = DrawRecipe(window_seconds=5.0, seizure=0.5, artefact=0.3, pool=4)
    stretches = Pool(source, recipe, 1, 0).at(0)
    batch = draw_batch(stretches, recipe, np.array([[0.0, 5.0]]), 4000, step_generator(0, 3))
    begin = batch.signal[:, 0, 0]
    touching = (begin > 15) & (begin < 30) & np.isin(np.array(batch.subjects).astype(int), (1, 3))
    near_artefact = (begin > 45) & (begin < 55)
    # Windows anywhere touch as well: 15 s of 55 in two stretches of four, and 10 s of 55.
    assert touching.mean() == pytest.approx(0.5 + 0.2 * 15 / 55 / 2, abs=0.03)
    assert near_artefact.mean() == pytest.approx(0.3 + 0.2 * 10 / 55, abs=0.03)
    held = np.clip(np.minimum(begin + 5, 30) - np.maximum(begin, 20), 0, None) / 5 * touching
    np.testing.assert_allclose(batch.labels[:, 0], held, atol=1e-5)
    again = draw_batch(stretches, recipe, np.array([[0.0, 5.0]]), 4000, step_generator(0, 3))
    assert np.array_equal(again.signal, batch.signal)


def test_the_pool_holds_few_stretches_and_is_the_same_whenever_it_is_asked():
    source = MadeSource(10)
    recipe = DrawRecipe(pool=3, windows_per_stretch=20)
    pool = Pool(source, recipe, 10, 7)
    seen = [[s.subject for s in pool.at(step)] for step in range(25)]
    assert all(len(set(names)) == 3 for names in seen)
    assert len(source.loaded) == 3 + 24 // 2  # one more for every 20 windows
    assert sorted(source.loaded[:10]) == list(range(10))  # all in turn
    fresh = Pool(MadeSource(10), recipe, 10, 7)
    assert [s.subject for s in fresh.at(17)] == seen[17]
    rare = Pool(MadeSource(20, ictal=(4, 9)), replace(recipe, pool=4), 10, 7)
    assert sum(bool(s.seizures) for s in rare.at(11)) == 2


def test_mirroring_swaps_sides_and_leaves_the_middle():
    assert mirrored(("F7", "Fz", "F8", "O1", "O2")).tolist() == [2, 1, 0, 4, 3]
    assert mirrored(("F7", "Fz")) is None
    assert mirrored(("A3", "B2", "C1")) is None


def test_augmentation_does_what_the_recipe_says():
    signal = np.random.default_rng(0).normal(size=(300, 3, 50)).astype(np.float32)
    batch = Batch(signal.copy(), np.zeros((300, 3), bool), np.zeros((300, 1), np.float32), SITES, ("a",) * 300)
    recipe = AugmentRecipe(mirror=0.5, sign=0.5, gain=0.0, silence=0.0)
    made = augment(batch, recipe, np.random.default_rng(1))
    assert np.array_equal(batch.signal, signal)
    turned = np.isclose(np.abs(made.signal[:, 0]), np.abs(signal[:, 2])).all(1)
    assert 0.4 < turned.mean() < 0.6
    assert np.allclose(np.abs(made.signal[~turned]), np.abs(signal[~turned]))
    assert 0.4 < (np.sign(made.signal[:, 1, 0]) != np.sign(signal[:, 1, 0])).mean() < 0.6
    silent = silenced(2000, 19, AugmentRecipe(silence=0.6, fewest=1, most=14), np.random.default_rng(2)).sum(1)
    assert silent.max() == 14
    assert (silent > 0).mean() == pytest.approx(0.6, abs=0.04)
    assert silenced(500, 3, AugmentRecipe(silence=1.0, most=14), np.random.default_rng(2)).sum(1).max() == 2
    gained = augment(batch, AugmentRecipe(0.0, 0.0, 0.3, 0.0), np.random.default_rng(3)).signal[:, 1, 0]
    assert np.log(gained / signal[:, 1, 0]).std() == pytest.approx(0.3, rel=0.15)


def test_the_rate_rises_falls_and_waves():
    recipe = ScheduleRecipe(warm_up=0.1, warm_up_from=0.1, floor=0.05)
    assert rate_factor(0, 100, recipe) == pytest.approx(0.1 + 0.9 / 10)
    assert rate_factor(9, 100, recipe) == pytest.approx(1.0)
    assert rate_factor(55, 100, recipe) == pytest.approx(0.05 + 0.95 / 2)
    assert rate_factor(99, 100, recipe) == pytest.approx(0.05, abs=1e-3)
    assert rate_factor(10 + 20, 100, replace(recipe, period=20)) == pytest.approx(1.0)
    assert rate_factor(77, 100, replace(recipe, kind="constant")) == 1.0


def test_what_does_not_decay_and_whose_rate_differs():
    from models.random_checkpoints import random_model

    model = random_model("random:neurduo:tiny-chbmit")
    groups = make_optimiser(model, model, OptimiserRecipe(1e-3, 0.1, head=5.0, front=0.1)).param_groups
    where = {id(p): group for group in groups for p in group["params"]}
    named = dict(model.named_parameters())
    assert where[id(named["fast.blocks.0.A_log"])]["weight_decay"] == 0
    assert where[id(named["fast.blocks.0.in_proj.weight"])]["weight_decay"] == 0.1
    assert where[id(named["readout.mlp.1.weight"])]["lr"] == pytest.approx(5e-3)
    assert where[id(named["signal_encoder.proj.weight"])]["lr"] == pytest.approx(1e-4)
    assert len(where) == len(named)


def test_the_moving_average_follows_and_is_put_in_and_out():
    module = nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        module.weight.fill_(0.0)
    average = MovingAverage(module, 0.999)
    expected = 0.0
    for step in range(20):
        with torch.no_grad():
            module.weight.fill_(1.0)
        average.follow(module, step)
        decay = min(0.999, (1 + step) / (10 + step))
        expected = decay * expected + (1 - decay)
    average.swap(module)
    assert module.weight.item() == pytest.approx(expected, rel=1e-5)
    average.swap(module)
    assert module.weight.item() == 1.0


def test_merged_updates_answer_as_they_did_beside_the_weights():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 5), nn.GELU(), nn.Linear(5, 2))
    x = torch.randn(4, 6)
    before = model(x)
    add_updates(model, ("2.",), rank=2, alpha=4.0)
    torch.testing.assert_close(model(x), before)
    with torch.no_grad():
        model[0].parametrizations.weight[0].b.normal_()
    made = merged(model, nn.Sequential(nn.Linear(6, 5), nn.GELU(), nn.Linear(5, 2)))
    assert set(made.state_dict()) == {"0.weight", "0.bias", "2.weight", "2.bias"}
    torch.testing.assert_close(made(x), model(x))
    assert not torch.allclose(made(x), before)


def curve(logits, seizures, length=1.0) -> Scored:
    times = np.arange(len(logits)) * length
    return Scored("r", len(logits) * length, times, np.full(len(logits), length), np.asarray(logits, float), seizures)


def test_calibration_finds_the_logistic_that_made_the_labels():
    rng = np.random.default_rng(0)
    x = rng.normal(0, 3, 60_000)
    truth = rng.random(60_000) < 1 / (1 + np.exp(-(x / 2.0 - 1.5)))
    edges = np.flatnonzero(np.diff(np.concatenate([[0], truth.astype(int), [0]])))
    spans = tuple((float(a), float(b)) for a, b in edges.reshape(-1, 2))
    found = calibrate([curve(x, spans)])
    assert found.temperature == pytest.approx(2.0, rel=0.04)
    assert found.bias == pytest.approx(-1.5, abs=0.05)
    small = calibrate([curve(x / 100, spans)])
    assert small.temperature == pytest.approx(found.temperature / 100, rel=1e-3)
    assert small.bias == pytest.approx(found.bias, abs=1e-3)
    assert calibrate([curve(x, ())]) == Calibration()


def test_the_threshold_parts_seizures_from_a_rhythm():
    """One seizure at a logit of 3, a movement at 1: thresholds between them are right, and one of these is taken."""
    logits = np.full(1200, -4.0)
    logits[300:340] = 3.0
    logits[700:740] = 1.0
    scored = [curve(logits, ((300.0, 340.0),))]
    level = choose_threshold(scored, Calibration())
    assert 1 / (1 + math.exp(-1)) < level <= 1 / (1 + math.exp(-3))
    f1, score = count_events(scored, Calibration(), level)
    assert f1 == 1.0
    assert count_events(scored, Calibration(), 0.6)[1].event.fp == 1
    judged = judge(scored, Calibration(), level).to_dict()
    assert judged["sample_auc_pr"] == 1.0
    assert judged["false_alarms_per_hour"] == 0.0
    assert judged["hours"] == pytest.approx(1 / 3, abs=1e-3)
    assert score.event.n_reference == 1


def test_recordings_with_event_files_are_cut_and_labelled(tmp_path):
    folder = tmp_path / "sub-07" / "eeg"
    folder.mkdir(parents=True)
    path = folder / "sub-07_task-sleep_eeg.edf"
    settings = Settings(duration=420, sfreq=128, seizures=1, length=(25.0, 30.0))
    truth, _ = write_simulation(settings, 4, path)
    recipe = DataRecipe("recordings", files=("sub-*/eeg/*.edf",))
    source = RecordedSource(recipe, Preprocessing(100.0, 0.5, 40.0, 4, "average"), ("Fz", "T7", "XX"), tmp_path)
    assert source.subjects == {"07"}
    stretches = [source.load(number) for number in range(len(source))]
    assert [s.seconds for s in stretches] == [210.0, 210.0]
    assert stretches[0].missing.tolist() == [False, False, True]
    told = [(a + 210 * i, b + 210 * i) for i, s in enumerate(stretches) for a, b in s.seizures]
    event = truth.events[0]
    assert min(a for a, _ in told) == pytest.approx(event.onset, abs=0.05)
    assert max(b for _, b in told) == pytest.approx(event.stop, abs=0.05)
    assert [i for i, s in enumerate(stretches) if s.seizures] == list(source.ictal)
    np.testing.assert_allclose(stretches[0].data[:2].mean(0), 0.0, atol=1e-3)  # the average of the two that are there
    with pytest.raises(AnalysisError, match="no recording is called"):
        RecordedSource(replace(recipe, files=("none/*.edf",)), Preprocessing(), (), tmp_path)
    shutil.rmtree(folder)


def test_subjects_are_told_from_the_names_of_public_data(tmp_path):
    names = {
        "sub-01_task-x_eeg.edf": "01",
        "chb04_28.edf": "chb04",
        "PN05-2.edf": "PN05",
        "aaaaaaac_s001_t000.edf": "aaaaaaac",
        "whoever.edf": "whoever",
    }
    for name, subject in names.items():
        assert subject_of(tmp_path / "data" / name, "name") == subject
    assert subject_of(tmp_path / "person" / "night.edf", "folder") == "person"


def test_the_codebook_moves_to_what_its_codes_stand_for():
    torch.manual_seed(0)
    model = SpectralTokenizer(TokenizerConfig(128, 8, 4, 16, 1, 16, ema_decay=0.5)).train()
    chunks = torch.randn(2, 4, 3, 128)
    before = tokenizer_loss(model, chunks, None, 0)
    assert bool(model.vq.initted)
    lengths = model.vq.embedding.norm(dim=-1)
    torch.testing.assert_close(lengths, torch.ones(8))
    for _ in range(10):
        after = tokenizer_loss(model, chunks, None, 0)
    assert after["commitment"] < before["commitment"]
    after["total"].backward()
    assert model.input_proj.weight.grad.abs().sum() > 0  # past the choice of the code
    held = model.vq.embedding.clone()
    model.eval()
    tokenizer_loss(model, chunks, None, 0)
    assert torch.equal(model.vq.embedding, held)
    quiet = torch.tensor([[True, False, False], [False, False, False]])
    told = tokenizer_loss(model, chunks, quiet, 0)
    changed = chunks.clone()
    changed[0, :, 0] = 9.0
    assert tokenizer_loss(model, changed, quiet, 0)["total"] == told["total"]


@pytest.mark.parametrize("family", ["mvpformer", "neurduo"])
def test_whitening_lets_each_feature_count_alike(family, write_recipe, tmp_path):
    """Over the chunks of the batch it was done with, what comes out of the first layer has mean 0 and deviation 1."""
    path = write_recipe(family)
    run = Run(read_recipe(path), path, tmp_path, torch.device("cpu"), Progress())
    batch, model = run._draw(0, 1), run.objective.model
    whiten(model, batch, run.feeder)
    given = run.objective.arguments(batch)
    with torch.no_grad():
        if family == "neurduo":
            made = model.signal_tokens(given["chunks"]).flatten(0, -2)
            torch.testing.assert_close(made.mean(0), torch.zeros(made.shape[-1]), atol=1e-3, rtol=0)
        else:
            made = model.encoder.norm(wavelet.decompose(given["signal"])).flatten(0, -2)
    spread = made.square().mean(0).sqrt()
    torch.testing.assert_close(spread, torch.ones_like(spread), atol=2e-2, rtol=0)
