"""Windows within and between groups: fair shares of pairs, recordings on common electrodes, marks that are named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from analysis.engine.analyze import analyze
from analysis.engine.sharedness import balanced
from analysis.engine.window_labels import WindowLabels
from analysis.errors import AnalysisError


@pytest.mark.parametrize(
    ("counts", "most", "sizes"),
    [((100, 100), 40, (20, 20)), ((3, 100), 40, (3, 37)), ((5, 4), 40, (5, 4)), ((2, 50, 50), 30, (2, 14, 14))],
)
def test_groups_are_as_equal_as_they_can_be(counts: tuple[int, ...], most: int, sizes: tuple[int, ...]) -> None:
    index = np.repeat(np.arange(len(counts)), counts)
    chosen = balanced(WindowLabels(index, tuple("abc"[: len(counts)])), most)
    assert tuple(sum(index[i] == g for i in chosen) for g in range(len(counts))) == sizes


def test_windows_without_a_label_take_no_part() -> None:
    assert balanced(WindowLabels(np.array([0, -1, 1, -1]), ("a", "b")), 40) == {0, 2}


@pytest.mark.parametrize("family", ["axon", "prise-eeg"])
def test_recordings_are_compared_on_what_they_share(shared: Path, family: str) -> None:
    recordings = shared / "recordings"
    scalp = recordings / "scalp-seizure-46ch" / "demo_edf.edf"
    other = recordings / "eegmmidb" / "eegmmidb_overlapping_annotations.edf"
    options = {"groups": "recordings", "other": str(other), "window": 5}
    found = analyze("cka", scalp, [f"random:{family}"], 0, 20, options)
    assert found.facts["n_of_group"] == {"demo_edf.edf": 4, "eegmmidb_overlapping_annotations.edf": 4}
    assert found.facts["n_within"] == 12
    assert found.facts["n_between"] == 16
    for name in ("within", "between"):
        assert ((found.values(name) > 0) & (found.values(name) <= 1)).all()


def test_marks_are_groups_and_what_lacks_is_told(shared: Path) -> None:
    motor = shared / "recordings" / "eegmmidb" / "eegmmidb_overlapping_annotations.edf"
    options = {"groups": "marks", "marks": "T1,T2", "window": 2}
    found = analyze("cka", motor, ["random:prise-eeg"], 0, 60, options)
    assert set(found.facts["n_of_group"]) == {"T1", "T2"}
    with pytest.raises(AnalysisError, match="give marks=T1,T2"):
        analyze("cka", motor, ["random:prise-eeg"], 0, 60, {"groups": "marks"})
    with pytest.raises(AnalysisError, match="give other=FILE"):
        analyze("cka", motor, ["random:prise-eeg"], 0, 60, {"groups": "recordings"})
    with pytest.raises(AnalysisError, match="no window has a label"):
        analyze("cka", motor, ["random:prise-eeg"], 0, 60, {"groups": "stages"})
