"""What a linear probe loses with gates replaced or electrodes covered, on labelled windows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from analysis.engine.analyze import analyze
from analysis.engine.axon_probe import probe
from analysis.errors import AnalysisError


def test_a_probe_is_trained_on_one_half_and_tested_on_the_other() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 40)
    features = rng.normal(size=(80, 5))
    features[:, 0] += 6 * labels - 3
    assert probe(features, features, labels, 0).balanced_accuracy > 0.95
    # What says the opposite at the test is wrong about everything.
    assert probe(features, -features, labels, 0).balanced_accuracy < 0.1
    noise = rng.normal(size=(80, 5))
    assert 0.2 < np.mean([probe(noise, noise, labels, seed).balanced_accuracy for seed in range(5)]) < 0.8
    blind = features.copy()
    blind[labels == 1] = features[labels == 0]
    recall = probe(features, blind, labels, 1).by_class
    assert recall[0] > 0.9
    assert recall[1] < 0.1


@pytest.fixture(scope="module")
def seizure(shared: Path) -> Path:
    return shared / "recordings" / "scalp-seizure-42ch" / "scalp_seizure.edf"


def test_covered_electrodes_are_named_and_none_covered_is_as_learned(seizure: Path) -> None:
    found = analyze("lesion", seizure, ["random:axon"], None, None, {"window": 4, "cover": "O1,O2"})
    assert found.labels["cover"] == ("none", "left", "right", "chosen")
    covered = found.values("covered")
    channels = np.array(found.labels["channel"])
    assert set(channels[covered[3] > 0]) == {"O1", "O2"}
    assert set(channels[covered[1] > 0]) <= {"C3", "C5", "C1", "FC1", "FC3", "FC5", "CP3"}
    recall = found.values("recall")
    np.testing.assert_allclose(found.values("deletion")[0], recall[0].mean(-1), atol=1e-6)
    np.testing.assert_allclose(found.values("recall_change"), (recall - recall[:1]).mean(1), atol=1e-6)
    assert found.labels["share"] == ("0%", "10%", "25%", "50%", "75%", "90%")


def test_windows_are_labelled_by_marks_of_named_texts(shared: Path) -> None:
    path = shared / "recordings" / "eegmmidb" / "eegmmidb_overlapping_annotations.edf"
    found = analyze("lesion", path, ["random:axon"], None, None, {"window": 4, "labels": "T0,T1"})
    assert found.labels["class"] == ("T0", "T1")
    assert sum(found.facts["n_of_class"].values()) == found.facts["n_windows"]


def test_further_recordings_and_tables_of_events_give_more_windows(seizure: Path, shared: Path, tmp_path: Path) -> None:
    other = shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"
    one = analyze("lesion", seizure, ["random:axon"], None, None, {"window": 8})
    both = analyze("lesion", seizure, ["random:axon"], None, None, {"window": 8, "recordings": str(other)})
    assert both.facts["n_windows"] == one.facts["n_windows"] + 5
    assert [Path(path).name for path in both.facts["probe_recordings"]] == ["scalp_seizure.edf", "demo_edf.edf"]
    table = tmp_path / "events.tsv"
    table.write_text("onset\tduration\teventType\n200\t36\tsz\n")
    told = analyze("lesion", seizure, ["random:axon"], None, None, {"window": 8, "events": str(table)})
    assert told.facts["n_of_class"] == {"no seizure": 25, "seizure": 4}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"window": 100}, "too few windows for a probe"),
        ({"window": 4, "labels": "spike"}, "0 of spike.*marked are "),
        ({"window": 4, "cover": "Q9"}, "no channel is called 'Q9'"),
    ],
)
def test_what_cannot_be_probed_is_said(seizure: Path, options: dict[str, object], words: str) -> None:
    with pytest.raises(AnalysisError, match=words):
        analyze("lesion", seizure, ["random:axon"], None, None, options)
