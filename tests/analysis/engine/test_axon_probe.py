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


def test_interventions_are_compared_with_the_learned_gates(seizure: Path) -> None:
    found = analyze("probe-interventions", seizure, ["random:axon"], None, None, {"window": 4})
    accuracy = found.values("balanced_accuracy")
    assert accuracy.shape == (8, 3)
    assert ((accuracy >= 0) & (accuracy <= 1)).all()
    np.testing.assert_allclose(found.values("change"), accuracy[1:].mean(1) - accuracy[0].mean(), atol=1e-6)
    # Fresh gates are the same for every token: what replaces them by a mean, or shuffles them, changes nothing.
    same = [found.labels["intervention"].index(name) for name in ("layer_mean", "position_mean", "shuffled")]
    np.testing.assert_allclose(accuracy[same], np.broadcast_to(accuracy[0], (3, 3)), atol=1e-6)
    assert found.facts["n_of_class"]["seizure"] >= 4


def test_covered_electrodes_are_named_and_none_covered_is_as_learned(seizure: Path) -> None:
    found = analyze("lesion", seizure, ["random:axon"], None, None, {"window": 4, "cover": "O1,O2"})
    assert found.labels["cover"] == ("none", "left", "right", "chosen")
    covered = found.values("covered")
    channels = np.array(found.labels["channel"])
    assert set(channels[covered[3] > 0]) == {"O1", "O2"}
    assert set(channels[covered[1] > 0]) <= {"C3", "C5", "C1", "FC1", "FC3", "FC5", "CP3"}
    np.testing.assert_allclose(found.values("deletion")[0], found.values("recall")[0].mean(-1), atol=1e-6)


def test_windows_are_labelled_by_marks_of_named_texts(shared: Path) -> None:
    path = shared / "recordings" / "eegmmidb" / "eegmmidb_overlapping_annotations.edf"
    found = analyze("lesion", path, ["random:axon"], None, None, {"window": 4, "labels": "T0,T1"})
    assert found.labels["class"] == ("T0", "T1")
    assert sum(found.facts["n_of_class"].values()) == found.facts["n_windows"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"window": 100}, "too few windows for a probe"),
        ({"labels": "spike"}, "at least two marks"),
        ({"window": 4, "cover": "Q9"}, "no channel is called 'Q9'"),
    ],
)
def test_what_cannot_be_probed_is_said(seizure: Path, options: dict[str, object], words: str) -> None:
    with pytest.raises(AnalysisError, match=words):
        analyze("lesion", seizure, ["random:axon"], None, None, options)
