"""The quality page: equal budgets, what is taken from the detectors, what is kept, and the page that tells of it."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch

from analysis.engine.quality import interventions, recipes, run, trainings
from analysis.engine.quality.recipes import LEFT_OUT, Budget, detection
from analysis.engine.training.assembly import make_objective, make_sources
from analysis.engine.training.run import Trained, train
from analysis.errors import AnalysisError
from analysis.progress import Progress
from analysis.quality_page import NOT_THERE, make_page

BUDGET = Budget(
    pretraining=dict.fromkeys(recipes.FAMILIES, 2),
    steps=dict.fromkeys(recipes.FAMILIES, 2),
    batch=dict.fromkeys(recipes.FAMILIES, 4),
    tokenizer=2,
    region_steps=2,
    allocation_steps=2,
    train=2,
    pool=2,
    validation=1,
    test=2,
    minutes=3.0,
)
TEST = """
[data.test]
kind = "simulated"
minutes = 1.5
settings = { seizures = 1, length = [20.0, 25.0], contrast = [5.0, 6.0] }
recordings = 1
first_seed = 300
[optimiser]"""
FIGURES = {"sample_auc_pr": 0.5, "sample_auroc": 0.75, "event_f1": None, "prevalence": 0.1, "hours": 1.0}


@pytest.fixture
def small(write_recipe, monkeypatch, tmp_path):
    """Recipes of models so small that a step takes a moment, with many seizures in their data."""
    for family in recipes.FAMILIES:
        write_recipe(family, name=f"{family}-tiny", changes={"\n[optimiser]": TEST, "every = 4": "every = 0"})
    monkeypatch.setattr(recipes, "RECIPES", tmp_path)
    monkeypatch.setattr(recipes, "PER_HOUR", 100.0)
    return tmp_path


@pytest.fixture
def asked(monkeypatch):
    """The recipes that are trained, in their order; nothing is trained."""
    found = []

    def note(recipe, folder):
        found.append(recipe)
        figures = {**FIGURES, "n_seizures": len(found)}
        return Trained(folder / "made.safetensors", {"results": {"test": figures}, "how": {"final_loss": 0.5}}, 2)

    monkeypatch.setattr(trainings, "_train", note)
    return found


@pytest.mark.parametrize("family", recipes.FAMILIES)
def test_both_ways_have_equal_budgets_and_data(family, small, asked):
    rows = trainings.compare_pretraining(family, BUDGET, Progress())
    scratch, *before, tuned = asked
    assert [row["row"] for row in rows] == ["from random weights", "pre-trained first"]
    assert rows[1]["n_seizures"] == len(asked)
    assert replace(tuned, model=scratch.model) == scratch
    assert (scratch.model.start_from, Path(tuned.model.start_from).parent.name) == ("", "base")
    kinds = {"axon": "masked", "mvpformer": "contrastive", "neurduo": "next-code", "prise-eeg": "reconstruction"}
    expected = ["tokenizer"] * (family == "neurduo") + [kinds[family]]
    assert [recipe.objective.kind for recipe in before] == expected
    for recipe in asked:
        assert recipe.data.train == scratch.data.train
        assert recipe.length.steps == 2
        assert recipe.seed == scratch.seed
        splits = {k: v for k, v in asdict(recipe.data).items() if v}
        seeds = [set(range(s["first_seed"], s["first_seed"] + s["recordings"])) for s in splits.values()]
        assert sum(map(len, seeds)) == len(set().union(*seeds))


def test_the_shipped_recipes_can_be_cut_short():
    """Configurations, objectives and heads of all stages fit each other."""
    for family in recipes.FAMILIES:
        made = make_objective(detection(family, Budget(), 1), torch.device("cpu"))
        assert made.model.family == family
        stage = recipes.pretraining(family, Budget(), 1)
        if family != "neurduo":  # whose next stage needs a tokenizer's file
            assert make_objective(stage, torch.device("cpu")).model.family == family
    tokenizer = make_objective(recipes.tokenizer_recipe(Budget()), torch.device("cpu")).model
    assert tokenizer.config.codebook_size == recipes.tiny_recipe("neurduo").model.config["codebook_size"]


def test_neurduo_goes_through_all_its_stages(small):
    rows = trainings.compare_pretraining("neurduo", replace(BUDGET, train=1, pool=1, test=1, minutes=2.0), Progress())
    assert all(0 <= row["sample_auroc"] <= 1 for row in rows)
    assert rows[0]["sample_auroc"] != rows[1]["sample_auroc"]
    assert rows[1]["pretraining_loss"] > 0


def test_seizures_begin_only_where_they_may(small, asked):
    trainings.leave_regions_out(replace(BUDGET, train=4), Progress())
    everywhere, without = asked
    assert replace(without, data=everywhere.data) == everywhere
    for recipe, allowed in ((everywhere, None), (without, False)):
        feeder = make_objective(recipe, torch.device("cpu")).feeder
        sources = make_sources(recipe, feeder, small)
        regions = {e.region for i in range(4) for e in sources["train"].load(i).truth.events}
        assert len(regions) > 2
        if allowed is False:
            assert not regions & set(LEFT_OUT)
        tested = {e.region for i in range(2) for e in sources["test"].load(i).truth.events}
        assert tested
        assert tested <= set(LEFT_OUT)


def test_each_allocation_is_trained(small, asked):
    trainings.compare_allocations(BUDGET, Progress())
    shared = [tuple(recipe.model.config["n_shared"]) for recipe in asked]
    assert shared == [(2, 1, 1, 1), (2, 2, 2, 2), (1, 1, 1, 2), (0, 0, 0, 0)]  # of the order in ALLOCATIONS


def bundled(small, family):
    made = train(small / f"{family}-tiny.toml", small / f"made-{family}")
    return made.checkpoint


def test_a_state_begun_anew_reads_each_part_alone(small):
    path = bundled(small, "neurduo")
    found = interventions._Bundled(path, BUDGET)
    (given,) = found.windows(1)
    given = {"missing": None, **given}
    with torch.no_grad():
        whole = found.feeder.scores(found.model, given)
        with interventions._resetting(found.feeder, whole.shape[1]):
            torch.testing.assert_close(found.feeder.scores(found.model, given), whole)
        with interventions._resetting(found.feeder, 1):
            anew = found.feeder.scores(found.model, given)
        third = found.model.logits(**{**given, "chunks": given["chunks"][:, 4:6]})
        torch.testing.assert_close(found.feeder.scores(found.model, given), whole)  # put back
    torch.testing.assert_close(anew[:, 2], third[:, 0])
    torch.testing.assert_close(anew[:, 0], whole[:, 0])
    assert not torch.allclose(anew[:, 3], whole[:, 3])
    rows = interventions.reset_state(path, BUDGET, Progress())
    assert [row["row"] for row in rows] == ["state carried through 6 s", "state begun anew after each unit"]
    assert rows[0]["n_seizures"] == rows[1]["n_seizures"] > 0


def test_gates_and_experts_are_put_back(small):
    path = bundled(small, "axon")
    rows = interventions.force_gates(path, replace(BUDGET, test=1), Progress())
    assert [row["row"] for row in rows[:3]] == [
        *("gates free, as learned", "gates at 1: time alone", "gates at 0: space alone")
    ]
    assert len(rows) == 8
    assert len({row["sample_auroc"] for row in rows}) > 1
    path = bundled(small, "prise-eeg")
    rows = interventions.change_allocation(path, replace(BUDGET, test=1), Progress())
    assert rows[0]["row"] == "as trained (1 1 0 0)"
    assert len({row["row"] for row in rows}) == len(rows) > 2


def rows_of(*names):
    return [{"row": name, **FIGURES, "n_seizures": 3, "steps": 2} for name in names]


@pytest.fixture
def parts(monkeypatch, tmp_path):
    """Two parts, of which one needs a checkpoint that is not there, and how often each was run."""
    runs = []

    def work(budget, progress):
        runs.append(budget.region_steps)
        return rows_of("trained on all regions", "trained without them")

    table = {
        "regions": run.Part("axon", work),
        "state": run.Part("neurduo", lambda *_: rows_of("state"), bundled=True),
    }
    monkeypatch.setattr(run, "PARTS", table)
    monkeypatch.setattr(run, "CHECKPOINTS", tmp_path / "nowhere")
    return runs


def test_what_is_done_is_kept_until_its_budget_changes(parts, tmp_path):
    page = run.make_quality(folder=tmp_path, processes=1)
    assert parts == [300]
    kept = json.loads((tmp_path / run.DATA).read_text())
    assert set(kept) == {"regions"}
    assert kept["regions"]["rests_on"]["budget"]["region_steps"] == 300
    text = page.read_text(encoding="utf-8")
    assert "| trained on all regions | 0.500 | 0.750 | - | - | - | 2 |" in text
    assert "Tested on 1 h with 3 seizures; chance gives 0.100." in text
    assert text.count(NOT_THERE) > 3
    run.make_quality(folder=tmp_path, processes=1)
    assert len(parts) == 1
    run.make_quality(folder=tmp_path, processes=1, again=True)
    run.make_quality(["regions"], Budget().scaled(0.5), tmp_path, processes=1)
    assert parts == [300, 300, 150]
    with pytest.raises(AnalysisError, match="no part of the page is called 'everything'"):
        run.make_quality(["everything"], folder=tmp_path)
    (tmp_path / run.DATA).write_text("{")
    with pytest.raises(AnalysisError, match="is damaged"):
        run.make_quality(folder=tmp_path, processes=1)


def test_the_command_takes_parts_and_budgets(parts, tmp_path, capsys):
    assert run.main(["regions", "--scale", "0.1", "--processes", "1", "--folder", str(tmp_path)]) == 0
    assert parts == [30]
    assert capsys.readouterr().out.splitlines()[0].startswith("1 of 1: regions, ")
    assert run.main(["nothing", "--folder", str(tmp_path)]) == 1
    assert "error: no part of the page" in capsys.readouterr().err


def test_cards_are_told_of_as_they_are():
    figures = {
        **FIGURES,
        "event_f1": 0.8485,
        "event_sensitivity": 0.84,
        "false_alarms_per_hour": 0.5833,
        "n_seizures": 51,
    }
    plain = {"way": "2-12 Hz power, raw", "measure": "2-12 Hz power", "sample_auc_pr": 0.6, "event_f1": 0.5}
    kinds = {
        "region": [{"group": "temporal", "seizures": 20, "found": 18, "median_delay_s": 12.0}],
        "contrast": [{"group": "below 2.5", "seizures": 9, "found": 4, "median_delay_s": 15.0}],
        "artefact": [{"kind": "rhythmic", "count": 30, "minutes": 5.0, "false_alarms": 6}],
    }
    real = {
        "recording": "one.edf",
        "seizures": [[0.0, 85.0]],
        "auroc": 0.9,
        "mean_inside": 0.4,
        "mean_outside": 0.1,
        "alarms": [[20.0, 61.5]],
        "threshold_detectors": [{"way": "line length, raw", "auroc": 0.7}],
    }
    card = {
        "results": {
            "test": {**figures, "threshold_detectors": {"chosen": "a bound", "detectors": [plain]}, "by_kind": kinds}
        },
        "real_recordings": {"what": "nothing was tuned on them", "figures": [real]},
        "how": {"recipe": "axon-tiny.toml", "recipe_sha256": "11fdf79ade08c36f", "steps": 1200},
        "trained_on": {"summary": "simulated", "train": {"seeds": [1, 2]}, "test": {"seeds": [3, 4]}},
        "created": "2026-11-30T10:16:35+00:00",
        "libraries": {"torch": "2.13.0"},
    }
    page = make_page({}, {"axon": card})
    for line in (
        "| AXON | 0.500 | 0.750 | 0.849 | 0.840 | 0.583 | 1 h, 51 seizures |",
        "| MVPFormer | - | - | - | - | - |  |",
        "| no model: 2-12 Hz power, raw | 0.600 | - | 0.500 | - | - |  |",
        "| AXON | 18 of 20 |",
        "| AXON | 4 of 9 |",
        "| AXON | 6 |",
        "| AXON | one.edf | 0-85 s | 0.900 | 0.400 / 0.100 | 20-61.5 s |",
        "| no model: line length, raw | one.edf |  | 0.700 |  |  |",
        "- AXON: recipe axon-tiny.toml (11fdf79ade08), 1200 steps, seeds of train 1 to 2; test 3 to 4, made 2026-11-30 "
        "with torch 2.13.0",
    ):
        assert line in page.splitlines(), line
