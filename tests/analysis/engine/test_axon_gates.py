"""Gates, interventions and relation masses of an AXON on a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from analysis.electrodes import position_of
from analysis.engine.analyze import analyze
from analysis.engine.axon_gates import axon_windows
from analysis.engine.inputs import Inputs, LoadedModel
from analysis.errors import AnalysisError
from analysis.progress import Progress
from analysis.recording import Window
from models.errors import CheckpointError
from models.random_checkpoints import random_model


@pytest.fixture(scope="module")
def scalp(shared: Path) -> Path:
    return shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"


def test_gates_of_a_span_are_told_by_layer_window_channel_and_patch(scalp: Path) -> None:
    found = analyze("gates", scalp, ["random:axon:tiny:3"], 0, 20)
    temporal = found.values("temporal")
    channels = found.labels["channel"]
    assert temporal.shape == (6, 2, len(channels), 11)
    assert {"Fp1", "O2"} <= set(channels)
    assert not set(channels) & {"A1", "A2", "ECG"}
    np.testing.assert_allclose(found.values("mean"), temporal.mean((1, 2, 3)), atol=1e-6)
    squares = found.values("d_token") ** 2 - found.values("d_position") ** 2
    np.testing.assert_allclose(squares, found.values("d_content") ** 2 / 2, atol=1e-6)  # two windows: N / (N - 1) = 2
    np.testing.assert_allclose(found.values("patch_onset")[1, :2], [10.0, 10.9], atol=1e-5)
    assert found.random_weights
    np.testing.assert_allclose(found.values("short_mean"), found.values("short").mean((1, 2, 3)), atol=1e-6)
    weights = np.stack([temporal, 1 - temporal], -1).astype(float)
    entropy = -(weights * np.log(weights)).sum(-1).mean((1, 2, 3)) / np.log(2)
    np.testing.assert_allclose(found.values("entropy_ratio"), entropy, atol=1e-5)
    front, right = found.values("place")[channels.index("Fp2")], found.values("place")[channels.index("T4")]
    assert front[0] > 0.1
    assert front[1] > 0.5
    assert right[0] > 0.5
    assert abs(right[1]) < 0.3
    assert found.provenance["preprocessing"]["notch"] == [50.0, 60.0]
    again = analyze("gates", scalp, ["random:axon:tiny:3"], 0, 20)
    np.testing.assert_array_equal(again.values("temporal"), temporal)
    assert again.request.key() == found.request.key()


def test_a_short_window_has_one_scale_and_one_window_no_content(scalp: Path) -> None:
    found = analyze("gates", scalp, ["random:axon"], 0, 5, {"window": 5})
    assert "short" not in found.arrays
    assert any("only one scale" in note for note in found.notes)
    assert np.isnan(found.values("d_content")).all()


def test_relation_masses_sum_to_one(scalp: Path) -> None:
    found = analyze("relation-mass", scalp, ["random:axon:dense-tiny"], 0, 10)
    np.testing.assert_allclose(found.values("mass").sum(-1), 1.0, atol=1e-5)
    np.testing.assert_allclose(found.values("uniform").sum(), 1.0, atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "checkpoint", "span", "error", "words"),
    [
        ("gates", "random:axon:dense-tiny", (0, 10), AnalysisError, "dense has no axis gate.*ask it for relation-mass"),
        (
            "relation-mass",
            "random:axon",
            (0, 10),
            AnalysisError,
            r"variant axon \(random:axon:tiny:0\): ask it for gates",
        ),
        ("gates", "random:axon", (0, 0.5), AnalysisError, "windows of 0.5 s hold no patch"),
        ("gates", "random:axon:huge", (0, 10), CheckpointError, "choose one of tiny"),
        ("gates", "random:axon:tiny:x", (0, 10), CheckpointError, "whole number"),
        ("gates", "random:aksen", (0, 10), CheckpointError, "choose one of mvpformer"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    scalp: Path, kind: str, checkpoint: str, span: tuple[float, float], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        analyze(kind, scalp, [checkpoint], span[0], span[1])


def test_recordings_without_positions_or_of_derivations_are_refused_with_the_reason(shared: Path) -> None:
    ecog = next((shared / "recordings" / "ecog-seizure-mat").rglob("*.mat"))
    with pytest.raises(AnalysisError, match="position"):
        analyze("gates", ecog, ["random:axon"], 0, 10)
    bipolar = shared / "recordings" / "chbmit-headers" / "chb05_06.edf"
    with pytest.raises(AnalysisError, match=r"recorded bipolar, such as \w+-\w+, and this model needs the potential"):
        analyze("gates", bipolar, ["random:axon"], 0, 2)


@pytest.fixture
def planned(make_recording: Any, make_channel: Any) -> Any:
    """Plans AXON's windows of a made recording of 5 s and the channels that are given."""

    def plan(*channels: Any) -> Any:
        data = np.random.default_rng(0).normal(0, 20, (len(channels), 1000))
        recording = make_recording(data, 200.0, [make_channel(sfreq=200.0, **channel) for channel in channels])
        network = random_model("random:axon")
        model = LoadedModel(network, network.checkpoint)
        inputs = Inputs(recording, Window(0.0, 5.0), (model,), {"window": 4.0}, torch.device("cpu"))
        return axon_windows(inputs, Progress())

    return plan


def test_positions_are_the_files_or_standard_and_bipolar_channels_stay_away(planned: Any) -> None:
    standard = {name: position_of(name) for name in ("C3", "C4")}
    both = [{"name": name, "site": name, "position": place} for name, place in standard.items()]
    assert planned(*both).positions_from == "standard positions"
    own = {"name": "P1", "position": (0.05, -0.04, 0.06)}
    pair = {"name": "T7-P7", "pair": ("T7", "P7"), "position": (0.0, 0.0, 0.1)}
    windows = planned(*both, own, pair)
    assert windows.positions_from.startswith("positions of the file, standard where")
    assert windows.plan.ch_names == ("C3", "C4", "P1")
    assert ("T7-P7", "recorded bipolar: the potential at a single electrode is not known") in windows.plan.left_out
    np.testing.assert_allclose(windows.positions[2], own["position"], rtol=1e-6)


def test_contacts_with_real_coordinates_are_taken_with_a_warning(planned: Any) -> None:
    inside = [{"name": f"LA{i}", "type": "seeg", "position": (0.01 * i, 0.0, 0.03)} for i in range(3)]
    windows = planned(*inside)
    assert windows.plan.ch_names == ("LA0", "LA1", "LA2")
    assert any("AXON was trained on scalp EEG" in note for note in windows.notes)
    # 800 samples hold 4 patches, the last of which ends at 740.
    assert any("last 0.3 s of each window fill no patch" in note for note in windows.notes)
