"""AXON and PRiSE-EEG as seizure detectors: windows cover the recording, nearest first, gaps and ends told."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.engine.predict import predict_seizures
from analysis.engine.windowed_detector import WindowedDetector, lay_windows
from analysis.errors import AnalysisError
from analysis.progress import Progress
from analysis.readers import open_recording
from analysis.recording import Window
from models.random_checkpoints import random_model


@given(st.floats(0, 50), st.floats(0, 200), st.floats(2, 20), st.floats(0.5, 20))
def test_windows_speak_for_all_of_a_span_once(start: float, length: float, window: float, stride: float) -> None:
    stride = min(stride, window)
    slots = lay_windows(start, start + length, window, stride)
    if length < window - 1e-6:
        assert not slots
        return
    assert slots[0].start == start
    assert slots[-1].stop == pytest.approx(start + length, abs=1e-5)
    for slot in slots:
        assert start - 1e-6 <= slot.onset <= start + length - window + 1e-5
        assert slot.onset - 1e-6 <= slot.start < slot.stop <= slot.onset + window + 1e-5
    for before, after in pairwise(slots):
        assert after.start == pytest.approx(before.stop, abs=1e-9)


@pytest.fixture(scope="module")
def scalp(shared: Path) -> Path:
    return shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"


@pytest.mark.parametrize("family", ["axon", "prise-eeg"])
def test_probabilities_are_those_of_the_model(scalp: Path, family: str) -> None:
    found = predict_seizures(scalp, f"random:{family}:tiny:4")
    assert found.random_weights
    assert found.times.tolist() == [0.0, 10.0, 20.0, 30.0, 40.0]
    assert found.durations.tolist() == [10.0] * 4 + [5.0]
    assert ((found.probability > 0) & (found.probability < 1)).all()
    model: Any = random_model(f"random:{family}:tiny:4")
    detector = WindowedDetector(model, torch.device("cpu"))
    with open_recording(scalp) as recording:
        run: Any = detector.begin(recording, Window(0, 45))
        batch = torch.from_numpy(run.source.plan.read_at(0, 20.0)[None])
        with torch.no_grad():
            expected = model.logits(**run.source.arguments(batch)).softmax(-1)[0, 1].item()
    assert found.probability[2] == pytest.approx(expected, abs=1e-5)


def test_what_is_looked_at_comes_first(scalp: Path) -> None:
    detector = WindowedDetector(random_model("random:axon"), torch.device("cpu"))
    with open_recording(scalp) as recording:
        run = detector.begin(recording, Window(0, 45), batch_size=1)
        order = [float(chunk.times[0]) for chunk in run.chunks(Progress(), 38.0)]
    assert order[:2] == [30.0, 40.0]
    assert sorted(order) == [0.0, 10.0, 20.0, 30.0, 40.0]


def test_seeds_are_kept_apart_and_kept_results_come_back(scalp: Path, tmp_path: Path) -> None:
    first = predict_seizures(scalp, "random:axon:tiny:1", cache=tmp_path)
    other = predict_seizures(scalp, "random:axon:tiny:2", cache=tmp_path)
    again = predict_seizures(scalp, "random:axon:tiny:1", cache=tmp_path)
    assert not np.allclose(first.probability, other.probability)
    np.testing.assert_array_equal(first.probability, again.probability)
    assert again.created == first.created


@pytest.mark.parametrize(
    ("checkpoint", "arguments", "words"),
    [
        ("random:axon", {"stop": 5.0}, "no window of 10 s fits"),
        ("random:axon", {"segments": 3}, "no number of segments"),
        ("random:prise-eeg", {"batch_size": 0}, "at least 1"),
    ],
)
def test_what_cannot_be_scored_is_said(scalp: Path, checkpoint: str, arguments: Any, words: str) -> None:
    with pytest.raises(AnalysisError, match=words):
        predict_seizures(scalp, checkpoint, **arguments)


def test_an_intracranial_recording_is_refused(shared: Path) -> None:
    ecog = next((shared / "recordings" / "ecog-seizure-mat").rglob("*.mat"))
    with pytest.raises(AnalysisError, match="no window of 10 s fits"):
        predict_seizures(ecog, "random:axon")
