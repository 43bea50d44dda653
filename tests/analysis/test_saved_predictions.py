"""Predictions in folders: what was written is what is read, and a folder that is not whole is told in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from analysis.errors import RecordingError
from analysis.saved_predictions import PROBABILITIES, RUN, read_prediction
from app.headless import write_prediction


@pytest.fixture
def folder(shared: Path, tmp_path: Path) -> Path:
    from analysis.engine.predict import predict_seizures

    recording = shared / "recordings/scalp-seizure-46ch/demo_edf.edf"
    result = predict_seizures(
        recording, "random:axon:tiny", stop=30.0, device="cpu", threshold=0.4, bad_channels=["Fpz"]
    )
    write_prediction(result, tmp_path / "out")
    np.save(tmp_path / "p.npy", result.probability)
    return tmp_path / "out"


def test_a_prediction_comes_back_as_it_was_made(folder: Path) -> None:
    found = read_prediction(folder)
    run = json.loads((folder / RUN).read_text())
    np.testing.assert_allclose(found.probability, np.load(folder.parent / "p.npy"), atol=1e-6)
    assert found.times.tolist() == [0.0, 10.0, 20.0]
    assert found.durations.tolist() == [10.0] * 3
    assert (found.threshold, found.random_weights, found.model_title) == (0.4, True, run["model"])
    assert found.request.key() == run["key"]
    assert found.request.window is not None
    assert found.request.window.stop == 30.0
    assert ("Fpz", "marked bad") in found.left_out
    assert found.complete
    assert found.events == ()


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        (RUN, None, "no results are there"),
        (PROBABILITIES, None, "no results are there"),
        (RUN, "{", "the results are damaged"),
        (RUN, "[]", "the results are damaged"),
        (RUN, "{}", "the results are damaged"),
        (PROBABILITIES, "onset\tduration\tprobability\n0\t5\n", "the results are damaged"),
        (PROBABILITIES, "onset\tduration\tprobability\n0\t5\thigh\n", "the results are damaged"),
    ],
)
def test_a_folder_that_is_not_whole_is_a_sentence(folder: Path, name: str, text: str | None, words: str) -> None:
    (folder / name).unlink() if text is None else (folder / name).write_text(text)
    with pytest.raises(RecordingError, match=words):
        read_prediction(folder)
