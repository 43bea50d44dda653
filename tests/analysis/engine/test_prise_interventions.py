"""Interventions on a PRiSE-EEG: what changes, what must not, and that everything is put back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from analysis.engine.analyze import analyze
from analysis.errors import AnalysisError


@pytest.fixture(scope="module")
def scalp(shared: Path) -> Path:
    return shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"


def test_priors_change_the_answer_and_what_is_nothing_does_not(scalp: Path) -> None:
    found = analyze("group-interventions", scalp, ["random:prise-eeg"], 0, 20, {"what": "priors"})
    names, change = found.labels["intervention"], found.values("probability_change")
    assert change.shape == (len(names), 2, 2)
    np.testing.assert_allclose(change.sum(-1), 0, atol=1e-6)
    still = [names.index(name) for name in ("no learned correction", "beta 2")]  # untrained, and beta is 2
    assert np.abs(change[still]).max() == 0
    np.testing.assert_allclose(found.values("cosine")[still], 1.0, atol=1e-6)
    moved = [i for i in range(len(names)) if i not in still]
    assert (np.abs(change[moved]).max((1, 2)) > 1e-6).all()
    again = analyze("group-interventions", scalp, ["random:prise-eeg"], 0, 20, {"what": "priors"})
    np.testing.assert_array_equal(again.values("probability"), found.values("probability"))
    # Without the static bias is beta 0.
    assert "no static bias" in names


def test_a_window_that_the_head_was_not_made_for_is_not_passed_over_in_silence(scalp: Path) -> None:
    found = analyze("group-interventions", scalp, ["random:prise-eeg"], 0, 20, {"windows": 1, "window": 5})
    assert found.facts["window_seconds"] == 10
    assert found.notes[0] == "Windows of 10 s, which this head was made for, not of 5 s."


def test_groups_experts_and_allocations_are_counted(scalp: Path) -> None:
    options = {"windows": 1, "what": "all", "block": "time 1"}
    names = analyze("group-interventions", scalp, ["random:prise-eeg"], 0, 10, options).labels["intervention"]
    assert sum(name.startswith("no ") for name in names) == 42 + 3
    assert [name for name in names if "expert" in name] == [f"time 1: expert {i}" for i in range(2, 9)]
    assert [name for name in names if name.endswith("allocation")] == [
        "reference allocation", "fixed allocation", "reversed allocation", "none allocation",
    ]  # fmt: skip


def test_the_reference_allocation_of_a_reference_model_changes_nothing(scalp: Path) -> None:
    options = {"windows": 1, "what": "allocations"}
    found = analyze("group-interventions", scalp, ["random:prise-eeg"], 0, 10, options)
    change = np.abs(found.values("probability_change")).max((1, 2))
    assert change[0] == 0
    assert (change[1:] > 0).all()


def test_what_cannot_be_is_refused(scalp: Path) -> None:
    with pytest.raises(AnalysisError, match="made for 10 s, not for 5 s"):
        analyze("group-interventions", scalp, ["random:prise-eeg"], 0, 5)
    with pytest.raises(AnalysisError, match="no block 'time 9': choose one of tokenizer 1"):
        analyze("group-interventions", scalp, ["random:prise-eeg"], 0, 10, {"block": "time 9"})
