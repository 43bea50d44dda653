"""The overlap of a map with a known focus: ranks, AUROC and rank correlation, and where there is nothing to overlap."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from analysis.engine.truth_overlap import auroc, focus_of, overlap
from analysis.simulation.truth import Seizure, Truth

NAMES = ("Fp1", "F7", "T7", "P7", "O1")
TOPOGRAPHY = dict(zip(NAMES, (0.1, 0.7, 1.0, 0.2, -0.1), strict=True))
SEIZURE = Seizure(
    20.0, 30.0, "left temporal", (-0.07, 0.0, 0.0), "T7", ("T7", "F7", "P7"), TOPOGRAPHY, 80.0, 3.0, 2.0, 18.0, 2.0,
    (), 20.0,
)  # fmt: skip
TRUTH = Truth(1, 256.0, 60.0, "none", "10-20", NAMES, {}, (), (SEIZURE,), (), (), {}, "1.0")


@pytest.fixture
def channels(make_channel) -> list[Any]:
    return [make_channel(name) for name in NAMES]


def test_the_seizure_that_a_window_shares_most_with_is_taken(channels) -> None:
    later = replace(SEIZURE, onset=55.0, duration=4.0, focus_channel="O1")
    truth = replace(TRUTH, events=(SEIZURE, later))
    assert focus_of(truth, channels, 45.0, 60.0).seizure is SEIZURE
    assert focus_of(truth, channels, 49.5, 60.0).seizure is later
    assert focus_of(truth, channels, 0.0, 20.0) is None
    assert focus_of(replace(TRUTH, events=()), channels, 20.0, 30.0) is None


def test_channels_are_known_by_any_of_their_names_and_the_focus_must_be_among_them(make_channel) -> None:
    named = [
        make_channel("EEG FP1", original_name="FP1"),
        make_channel("X9"),
        *(make_channel(n) for n in ("t7", "F7", "O1")),
    ]
    found = focus_of(TRUTH, named, 20.0, 30.0)
    assert found.picks.tolist() == [0, 2, 3, 4]
    assert found.focus == 1
    mean = np.mean(list(TOPOGRAPHY.values()))
    np.testing.assert_allclose(found.field, np.abs(np.array([0.1, 1.0, 0.7, -0.1]) - mean))
    assert focus_of(TRUTH, [channel for channel in named if channel.name != "t7"], 20.0, 30.0) is None


def test_a_map_like_the_field_overlaps_wholly_and_its_opposite_not(channels) -> None:
    focus = focus_of(TRUTH, channels, 20.0, 30.0)
    assert overlap(focus.field, focus) == pytest.approx({"rank": 1, "top3": 1, "auroc": 1, "correlation": 1})
    opposite = overlap(-focus.field, focus)
    assert opposite == pytest.approx({"rank": 5, "top3": 0, "auroc": 0, "correlation": -1})
    same = overlap(np.ones(5), focus)
    assert (same["rank"], same["auroc"]) == (3.0, 0.5)
    assert np.isnan(overlap(np.full(5, np.nan), focus)["rank"])


def test_auroc_is_that_of_an_independent_library() -> None:
    rng = np.random.default_rng(0)
    values, positive = rng.integers(0, 6, 40).astype(float), rng.random(40) < 0.3
    assert auroc(values, positive) == pytest.approx(roc_auc_score(positive, values), abs=1e-12)
    assert np.isnan(auroc(values, np.zeros(40, bool)))
