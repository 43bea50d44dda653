"""What is added to a card: detectors without a model, figures by kind, real recordings; and no weight changes."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from analysis.engine.calibration import Calibration
from analysis.engine.training import card_figures
from analysis.engine.training.evaluation import Scored
from analysis.engine.training.run import train
from analysis.engine.training.trials import NO_ARTEFACT, Trial, by_kind, lobe_of
from analysis.errors import AnalysisError
from analysis.simulation.files import write_simulation
from analysis.simulation.sensors import REGIONS
from analysis.simulation.settings import Settings
from analysis.simulation.simulator import simulate_blocks
from analysis.simulation.truth import Artefact
from analysis.threshold_detectors import Measured
from models.checkpoint import rewrite_card
from models.errors import CheckpointError
from models.registry import load_model

TEST = """
[data.test]
kind = "simulated"
minutes = 1.5
settings = { seizures = 1, length = [20.0, 25.0], contrast = [5.0, 6.0] }
recordings = 2
first_seed = 300
[optimiser]"""


@pytest.fixture
def made(write_recipe, tmp_path):
    changes = {"\n[optimiser]": TEST, "steps = 8": "steps = 2", "every = 4": "every = 0"}
    return train(write_recipe("axon", changes=changes), tmp_path / "out")


def after_header(path):
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def test_a_run_tells_of_its_test_data_in_full(made):
    test = made.card["results"]["test"]
    measures = {one["measure"] for one in test["threshold_detectors"]["detectors"]}
    assert measures == {"line length", "2-12 Hz power", "2-12 Hz share"}
    assert all(0 <= one["sample_auc_pr"] <= 1 for one in test["threshold_detectors"]["detectors"])
    assert sum(row["seizures"] for row in test["by_kind"]["region"]) == 2
    assert [row["group"] for row in test["by_kind"]["contrast"]] == ["4 and more"]
    assert "threshold_detectors" not in made.card["results"]["validation"]


def test_figures_are_added_and_no_weight_changes(made, tmp_path, monkeypatch):
    """What a run writes by itself comes out again, and the real recordings with it; all other bytes stay."""
    monkeypatch.setattr(card_figures, "_pool", lambda processes: ThreadPoolExecutor(1))
    before, weights = after_header(made.checkpoint)
    bare = {**made.card, "results": {"test": {"event_f1": 0.5}}}
    rewrite_card(made.checkpoint, bare)
    assert load_model(made.checkpoint).checkpoint.card == json.loads(json.dumps(bare))
    recording = tmp_path / "real.edf"
    write_simulation(Settings(duration=90, sfreq=128, seizures=1, length=(20.0, 25.0)), 3, recording)
    cards = card_figures.add_figures([made.checkpoint], [recording], kinds=True)
    after, same = after_header(made.checkpoint)
    assert same == weights
    assert {k: v for k, v in after.items() if k != "__metadata__"} == {
        k: v for k, v in before.items() if k != "__metadata__"
    }
    for name in ("config", "preprocessing", "labels", "family", "format"):
        assert after["__metadata__"][name] == before["__metadata__"][name]
    card = load_model(made.checkpoint).checkpoint.card
    assert card == json.loads(json.dumps(cards[made.checkpoint]))
    test, own = card["results"]["test"], made.card["results"]["test"]
    assert test["event_f1"] == 0.5
    assert test["by_kind"] == own["by_kind"]
    assert test["threshold_detectors"]["detectors"] == own["threshold_detectors"]["detectors"]
    (told,) = card["real_recordings"]["figures"]
    assert told["recording"] == "real.edf"
    assert 0 <= told["auroc"] <= 1
    assert told["seconds_scored"] == 90
    assert {one["way"] for one in told["threshold_detectors"]} == {
        one["way"] for one in test["threshold_detectors"]["detectors"]
    }
    assert "nothing was tuned on them" in card["real_recordings"]["what"]


def test_what_has_no_card_or_no_seizure_is_refused(made, tmp_path, monkeypatch):
    monkeypatch.setattr(card_figures, "_pool", lambda processes: ThreadPoolExecutor(1))
    content = made.checkpoint.read_bytes()
    with pytest.raises(AnalysisError, match="does not tell of simulated test data"):
        card_figures.recipe_of({"how": {}}, "here.safetensors")
    quiet = tmp_path / "quiet.edf"
    write_simulation(Settings(duration=60, sfreq=128, seizures=0), 3, quiet)
    with pytest.raises(AnalysisError, match="no seizure is marked"):
        card_figures.add_figures([made.checkpoint], [quiet])
    assert made.checkpoint.read_bytes() == content
    other = tmp_path / "other.safetensors"
    other.write_bytes(content.replace(b"cerebroscope/1", b"somethingels/1"))
    with pytest.raises(CheckpointError, match="only a checkpoint of this program has a card"):
        rewrite_card(other, {})


def test_seizures_and_false_alarms_are_counted_by_kind():
    """Two seizures, the second not found; two false alarms, one on a rhythmic movement and one on nothing."""
    truth, _ = simulate_blocks(Settings(duration=600, sfreq=128, seizures=2, length=(30.0, 35.0)), 4)
    first, second = (
        replace(one, onset=at, duration=30.0, region=region, contrast=contrast)
        for one, (at, region, contrast) in zip(
            truth.events, ((100.0, "mid-temporal-left", 2.0), (300.0, "midline-central", 4.0)), strict=True
        )
    )
    artefacts = (Artefact("rhythmic", 450.0, 20.0, ("C3",), 40.0), Artefact("blink", 548.0, 0.4, ("Fp1",), 80.0))
    truth = replace(truth, events=(first, second), artefacts=artefacts)
    times = np.arange(600.0)
    logits = np.full(600, -9.0)
    for start, stop in ((112, 125), (455, 466), (545, 555)):
        logits[start:stop] = 9.0
    spans = ((100.0, 130.0), (300.0, 330.0))
    trial = Trial(Scored("one", 600.0, times, np.ones(600), logits, spans), Measured({}, spans, 600), truth)
    found = by_kind([trial], Calibration(), 0.5)
    assert found["region"] == [
        {"group": "temporal", "seizures": 1, "found": 1, "median_delay_s": 12.0},
        {"group": "midline", "seizures": 1, "found": 0, "median_delay_s": None},
    ]
    assert [(row["group"], row["found"]) for row in found["contrast"]] == [("below 2.5", 1), ("4 and more", 0)]
    assert found["artefact"] == [
        {"kind": "rhythmic", "count": 1, "minutes": 0.3, "false_alarms": 1},
        {"kind": NO_ARTEFACT, "count": 0, "minutes": 0.0, "false_alarms": 1},
    ]
    assert {lobe_of(region) for region in REGIONS} == {
        *("temporal", "frontal", "central", "parietal", "occipital", "midline")
    }
    assert lobe_of("LH") == "LH"
