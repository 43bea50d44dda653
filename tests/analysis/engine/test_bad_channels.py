"""What a reader has marked as bad goes into no analysis, whatever family it is of, and the answer says so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from analysis.engine.analyze import analyze
from analysis.errors import AnalysisError


@pytest.fixture(scope="module")
def scalp(shared: Path) -> Path:
    return shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"


@pytest.mark.parametrize(
    ("kind", "model"),
    [
        ("gates", "random:axon"),
        ("streams", "random:neurduo"),
        ("channel-map", "random:mvpformer"),
        ("grad-cam", "random:prise-eeg"),
    ],
)
def test_an_analysis_does_without_a_bad_channel_and_says_so(scalp: Path, kind: str, model: str) -> None:
    options = {"windows": 1} if kind != "streams" else {}
    whole = analyze(kind, scalp, [model], 10.0, 15.0, options, "cpu")
    less = analyze(kind, scalp, [model], 10.0, 15.0, options, "cpu", bad_channels=["C3", "ECG"])
    again = analyze(kind, scalp, [model], 10.0, 15.0, options, "cpu")
    names, fewer = whole.labels["channel"], less.labels["channel"]
    assert [name for name in names if name not in fewer] == ["C3"]
    assert any("C3 (marked bad)" in note for note in less.notes)
    assert not any("marked bad" in note for note in (*whole.notes, *again.notes))
    assert (whole.provenance["bad_channels"], less.provenance["bad_channels"]) == ([], ["C3"])
    assert whole.request.key() == again.request.key() != less.request.key()
    for name, array in whole.arrays.items():
        np.testing.assert_array_equal(array.values, again.arrays[name].values)


def test_every_channel_that_is_left_out_is_in_the_provenance_and_only_brain_channels_in_the_notes(scalp: Path) -> None:
    result = analyze("gates", scalp, ["random:axon"], 10.0, 10.0, {"windows": 1}, "cpu", bad_channels=["Fpz"])
    left_out = dict(result.provenance["preprocessing"]["channels_left_out"])
    assert left_out["Fpz"] == "marked bad"
    assert left_out["A1"] == "at the ear, a place for references"
    assert left_out["ECG"] == "not a brain signal (ecg)"
    assert len(left_out) + len(result.labels["channel"]) == 46
    assert [note for note in result.notes if "left out" in note] == ["Channels left out: Fpz (marked bad)."]


def test_a_name_that_no_channel_has_is_refused(scalp: Path) -> None:
    with pytest.raises(AnalysisError, match="no channel is called 'Q9'"):
        analyze("gates", scalp, ["random:axon"], 10.0, 10.0, {}, "cpu", bad_channels=["Q9"])
