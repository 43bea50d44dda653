"""How an AXON's answer moves when its gates are replaced, and what a linear probe then loses."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from analysis.engine import axon_interventions
from analysis.engine.analyze import analyze
from analysis.errors import AnalysisError, RecordingError
from models.axon.interventions import INTERVENTIONS

AXON = ["random:axon"]


@pytest.fixture(scope="module")
def scalp(shared: Path) -> Path:
    return shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"


@pytest.fixture(scope="module")
def moving(shared: Path) -> Path:
    return shared / "recordings" / "eegmmidb" / "eegmmidb_overlapping_annotations.edf"


def test_interventions_move_the_answer_and_leave_no_trace(scalp: Path) -> None:
    found = analyze("gate-interventions", scalp, AXON, 0, 30)
    assert found.labels["intervention"] == INTERVENTIONS
    assert found.values("probability_change").shape == (7, 3, 2)
    np.testing.assert_allclose(found.values("probability").sum(-1), 1.0, atol=1e-6)
    np.testing.assert_allclose(found.values("probability_change").sum(-1), 0.0, atol=1e-6)
    assert (found.values("cosine") < 1).any(1).all()
    other = analyze("gate-interventions", scalp, AXON, 0, 30, {"seed": 1})
    shuffled = found.labels["intervention"].index("shuffled")
    assert not np.array_equal(other.values("cosine")[shuffled], found.values("cosine")[shuffled])
    np.testing.assert_array_equal(
        np.delete(other.values("cosine"), shuffled, 0), np.delete(found.values("cosine"), shuffled, 0)
    )


def test_means_are_taken_over_the_whole_recording_or_those_named_and_kept(
    scalp: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(axon_interventions, "_kept", type(axon_interventions._kept)())
    calls = []
    calibrate = axon_interventions.calibrate
    monkeypatch.setattr(
        axon_interventions, "calibrate", lambda *given: calls.append(len(given[1])) or calibrate(*given)
    )
    own = analyze("gate-interventions", scalp, AXON, 0, 10)
    assert own.facts["calibration_windows"] == 4  # of 10 s in 45 s
    next_page = analyze("gate-interventions", scalp, AXON, 20, 10)
    assert (len(calls), next_page.facts["calibration_windows"]) == (1, 4)
    other = tmp_path / "other.edf"
    shutil.copy(scalp, other)
    elsewhere = analyze("gate-interventions", scalp, AXON, 0, 10, {"recordings": f"{other}, {scalp}"})
    assert elsewhere.facts["calibration_windows"] == 8
    assert elsewhere.facts["calibration_recordings"] == [str(other), str(scalp)]
    assert len(calls) == 2
    np.testing.assert_allclose(elsewhere.values("cosine"), own.values("cosine"), atol=1e-6)
    few = analyze("gate-interventions", scalp, AXON, 0, 10, {"calibration": 1})
    assert few.values("cosine")[INTERVENTIONS.index("position_mean"), 0] == pytest.approx(1, abs=1e-6)


def test_a_probe_tells_what_is_lost_by_seed(moving: Path) -> None:
    options = {"window": 4, "labels": "T0,T1", "set": "0.9", "layers": "0-1"}
    found = analyze("gate-interventions", moving, AXON, 0, 4, options)
    accuracy = found.values("balanced_accuracy").astype(float)
    assert accuracy.shape == (9, 3)
    assert found.labels["gates"] == ("learned", *INTERVENTIONS, "by_hand")
    np.testing.assert_allclose(
        found.values("accuracy_change"), 100 * (accuracy / accuracy[0] - 1)[1:], rtol=1e-4, atol=1e-4
    )
    mean = accuracy.mean(1)
    np.testing.assert_allclose(found.values("mean_change"), 100 * (mean / mean[0] - 1)[1:], rtol=1e-4, atol=1e-4)
    published = found.values("published_change")
    assert published[0] == -17.5
    assert np.isnan(published[-1])
    assert found.arrays["published_change"].source == "paper"
    # The span is one window, the probe is of the whole recording.
    assert (found.facts["n_windows"], found.facts["probe"]["n_windows"] > 10) == (1, True)


def test_a_part_of_the_gates_can_be_set_by_hand(scalp: Path) -> None:
    """All gates by hand are what the intervention of that name does; one layer of one channel moves less."""
    whole = analyze("gate-interventions", scalp, AXON, 0, 10, {"set": "1"})
    np.testing.assert_array_equal(whole.values("cosine")[-1], whole.values("cosine")[0])
    part = {"set": "1", "layers": "2", "channels": "Fp1,O2", "patches": "0-3"}
    found = analyze("gate-interventions", scalp, AXON, 0, 10, part)
    assert whole.values("cosine")[-1] < found.values("cosine")[-1] < 1


@pytest.mark.parametrize("gate", ["axis", "scale"])
def test_either_gate_is_replaced_and_only_one_has_published_numbers(scalp: Path, gate: str) -> None:
    found = analyze("gate-interventions", scalp, AXON, 0, 10, {"gate": gate, "window": 2, "labels": "seizure"})
    assert ("published_change" in found.arrays) == (gate == "axis")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"gate": "both"}, "give one of axis, scale"),
        ({"set": "2"}, "give a weight from 0 to 1"),
        ({"set": "0.5", "layers": "7"}, "give a number, or a range, of 0-5"),
        ({"set": "0.5", "patches": "a-b"}, "give a number, or a range, of 0-10"),
        ({"set": "0.5", "channels": "Q9"}, "no channel is called 'Q9': choose from Fp1"),
        ({"labels": "spike"}, "too few windows for a probe .*0 of spike"),
        ({"volume": 11}, "gate-interventions takes window"),
    ],
)
def test_wrong_options_are_said_with_what_is_allowed(scalp: Path, options: dict[str, object], words: str) -> None:
    with pytest.raises(AnalysisError, match=words):
        analyze("gate-interventions", scalp, AXON, 0, 10, options)


def test_recordings_without_the_same_grid_are_refused(scalp: Path, moving: Path, tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match=r"another grid \(.*demo_edf.edf\): it lacks FC5"):
        analyze("gate-interventions", moving, AXON, 0, 10, {"recordings": str(scalp)})
    with pytest.raises(RecordingError, match="nowhere"):
        analyze("gate-interventions", moving, AXON, 0, 10, {"recordings": str(tmp_path / "nowhere.edf")})
    with pytest.raises(AnalysisError, match="dense has no axis gate"):
        analyze("gate-interventions", moving, ["random:axon:dense-tiny"], 0, 10)
