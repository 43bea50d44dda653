"""Windows as points: placed by the seed, labelled, and of several recordings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from analysis.engine.analyze import analyze
from analysis.errors import AnalysisError


@pytest.fixture(scope="module")
def seizure(shared: Path) -> Path:
    return next((shared / "recordings" / "scalp-seizure-42ch").glob("*.edf"))


@pytest.mark.parametrize("method", ["pca", "tsne"])
def test_windows_become_points_and_the_seed_decides(seizure: Path, method: str) -> None:
    options = {"method": method, "windows": 20, "window": 5, "seed": 3}
    found = analyze("embedding", seizure, ["random:axon"], None, None, options)
    points = found.values("points")
    assert points.shape == (len(found.values("window_onset")), 2)
    assert np.isfinite(points).all()
    assert 0 < found.values("seizure").sum() < len(points)
    again = analyze("embedding", seizure, ["random:axon"], None, None, options)
    np.testing.assert_array_equal(again.values("points"), points)
    with pytest.raises(AnalysisError, match="at least 50 s"):
        analyze("embedding", seizure, ["random:axon"], 0, 30)


def test_labels_and_other_recordings_are_told(shared: Path, seizure: Path) -> None:
    motor = shared / "recordings" / "eegmmidb" / "eegmmidb_overlapping_annotations.edf"
    options = {"window": 4, "labels": "T0,T1,T2", "other": str(seizure), "windows": 10}
    found = analyze("embedding", motor, ["random:prise-eeg"], 0, 60, options)
    recording, label = found.values("recording"), found.values("label")
    assert recording.tolist() == [0] * 10 + [1] * 10
    assert found.labels["of_recording"] == (motor.name, seizure.name)
    assert set(label[recording == 0]) <= {-1, 0, 1, 2}
    assert len(set(label[recording == 0])) > 1
    assert set(label[recording == 1]) == {-1}  # which has no such marks
    assert found.values("seizure")[recording == 0].sum() == 0
    assert found.values("seizure")[recording == 1].sum() > 0
