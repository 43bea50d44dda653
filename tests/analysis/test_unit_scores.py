"""Scores of units against the published figures, closed cases and scikit-learn."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import auc, precision_recall_curve, roc_auc_score

from analysis.unit_scores import SENSITIVITIES, count_false_alarms, pool_folds, score_units


@pytest.mark.parametrize("case", ["typical", "handmade", "no_positive", "edge_positive"])
def test_golden_cases(case: str, shared: Path) -> None:
    folder = shared / "parity" / "neurduo" / "evaluation"
    expected = json.loads((folder / "expected.json").read_text())[case]
    units = np.load(folder / "units.npz")
    labels, scores = units[f"{case}_y"], units[f"{case}_score"]
    found, golden = score_units(labels, scores), expected["metrics"]
    assert (found.n_units, found.n_positive) == (golden["n_epochs"], golden["n_positive"])
    assert found.hours == pytest.approx(golden["hours"], abs=1e-9)
    if golden["auroc"] is None:
        assert np.isnan([found.auroc, found.auc_pr]).all()
        assert found.fp_per_hour == {}
        return
    assert (found.auroc, found.auc_pr) == pytest.approx((golden["auroc"], golden["auc_pr"]), abs=1e-9)
    assert found.share_positive == pytest.approx(golden["auc_pr_baseline"], abs=1e-9)
    for target in SENSITIVITIES:
        assert found.fp_per_hour[target] == pytest.approx(golden[f"fp_per_hour_at_sens{target * 100:.0f}"], abs=1e-9)
    assert found.thresholds[0.5] == pytest.approx(golden["threshold_at_sens50"], abs=1e-9)
    positive = scores >= found.thresholds[0.5]
    table = [[int(((labels == a) & (positive == b)).sum()) for b in (0, 1)] for a in (0, 1)]
    assert table == expected["confusion"]


@pytest.mark.parametrize("seed", range(4))
def test_areas_are_those_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels, scores = rng.random(200) < 0.1, rng.integers(0, 20, 200) / 20  # with many ties
    found = score_units(labels, scores)
    precision, recall, _ = precision_recall_curve(labels, scores)
    assert found.auroc == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)
    assert found.auc_pr == pytest.approx(auc(recall, precision), abs=1e-12)


@pytest.mark.parametrize(
    ("truth", "positive", "alarms"),
    [
        ("000000", "000000", 0),
        ("000000", "111111", 1),
        ("000000", "101101", 3),
        ("001000", "011010", 1),  # the run that touches the seizure is none
        ("100001", "110011", 0),
    ],
)
def test_a_run_of_positive_units_is_one_alarm(truth: str, positive: str, alarms: int) -> None:
    as_bools = (np.array([c == "1" for c in text]) for text in (truth, positive))
    assert count_false_alarms(*as_bools) == alarms


def test_folds_are_pooled_over_their_hours() -> None:
    one = score_units(np.array([0, 0, 1, 0]), np.array([0.9, 0.1, 0.8, 0.0]), 3600)
    two = score_units(np.array([1, 0]), np.array([0.7, 0.1]), 3600)
    lacking = score_units(np.zeros(500), np.zeros(500), 3600)
    pooled = pool_folds([one, two, lacking])
    assert pooled["fp_per_hour_at_0.5"] == pytest.approx(1 / 6)
    assert pooled["auroc_mean"] == pytest.approx((one.auroc + two.auroc) / 2)
    assert pooled["auroc_sd"] == pytest.approx(abs(one.auroc - two.auroc) / 2)


def test_lists_of_other_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="two lists of one length"):
        score_units(np.zeros(3), np.zeros(4))
