"""Predictions of whole recordings: what streams, what is recorded about them, and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from analysis.engine import detectors
from analysis.engine.predict import predict_seizures
from analysis.errors import AnalysisError, RecordingError
from analysis.postprocessing import EpisodeRule, OnlineRule, derive_events
from analysis.progress import Cancelled, Progress
from analysis.recording import Window
from analysis.results import SeizurePrediction

SCALP_42 = "recordings/scalp-seizure-42ch/scalp_seizure.edf"
SCALP_46 = "recordings/scalp-seizure-46ch/demo_edf.edf"


@dataclass
class Listening(Progress):
    parts: list[SeizurePrediction] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)

    def report(self, done: float, total: float, message: str = "") -> None:
        if message.startswith("scoring"):
            self.shares.append(done / total)

    def partial(self, result: SeizurePrediction) -> None:
        self.parts.append(result)


@pytest.mark.parametrize(
    "checkpoint", ["brainmaze", "random:axon", "random:prise-eeg", "random:neurduo:tiny-chbmit", "tiny"]
)
def test_channels_marked_bad_are_not_scored_and_told(shared: Path, checkpoint: str) -> None:
    folder = shared / "parity/mvpformer"
    files = (folder / "tiny_base.pt", folder / "tiny_head.pt") if checkpoint == "tiny" else (checkpoint,)
    path = shared / SCALP_46
    whole = predict_seizures(path, *files, device="cpu")
    bad = predict_seizures(path, *files, device="cpu", bad_channels=["C3", "ECG"])
    assert "C3" in whole.provenance["scored_channels"]
    assert set(whole.provenance["scored_channels"]) - set(bad.provenance["scored_channels"]) == {"C3"}
    assert ("C3", "marked bad") in bad.left_out
    assert (whole.provenance["bad_channels"], bad.provenance["bad_channels"]) == ([], ["C3"])
    assert np.abs(whole.probability - bad.probability).max() > 0
    assert whole.request.key() != bad.request.key()  # what was kept of the one is not shown for the other


@pytest.fixture(scope="module")
def tiny(shared: Path) -> Callable[..., SeizurePrediction]:
    folder = shared / "parity/mvpformer"

    def predict(recording: str | Path, **more: Any) -> SeizurePrediction:
        path = shared / recording
        return predict_seizures(path, folder / "tiny_base.pt", folder / "tiny_head.pt", device="cpu", **more)

    return predict


def test_a_prediction_says_all_that_made_it(tiny: Callable[..., SeizurePrediction]) -> None:
    result = tiny(SCALP_46, batch_size=4)
    assert result.complete
    assert result.times.tolist() == [5.0 * k for k in range(9)]
    assert set(result.durations.tolist()) == {5.0}
    assert result.probability.dtype == np.float32
    assert 0 <= result.probability.min() <= result.probability.max() <= 1
    assert result.random_weights
    assert not result.times.flags.writeable
    assert result.request.kind == "seizure"
    assert result.request.window == Window(0, 45)
    assert len(result.request.checkpoints) == 2
    facts = json.loads(json.dumps(result.provenance, allow_nan=False))
    assert facts["rule"] == {"name": "E.2", "title": "online", "min_positive": 3.0, "window": 10.0}
    assert facts["recording"]["id"] == result.request.recording_id
    assert facts["preprocessing"]["lowpass"] is None  # 200 Hz: nothing above 100 Hz to take away
    assert facts["segments_with_short_context"] == 9
    assert len(facts["scored_channels"]) == 16
    assert ["ECG", "not a brain signal (ecg)"] in facts["left_out"]
    for key in ("span", "checkpoint", "options", "threshold", "seed", "versions", "device", "wall_time", "not_scored"):
        assert key in facts


def test_the_same_request_has_the_same_key_and_numbers(tiny: Callable[..., SeizurePrediction]) -> None:
    first, again, other = tiny(SCALP_46), tiny(SCALP_46, batch_size=1, first_time=30.0), tiny(SCALP_46, segments=5)
    assert first.request.key() == again.request.key() != other.request.key()
    assert again.probability == pytest.approx(first.probability, abs=1e-5)
    assert np.abs(other.probability - first.probability).max() > 1e-3


def test_results_stream_in_from_the_page_outwards(
    tiny: Callable[..., SeizurePrediction], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analysis.engine.predict.PARTIAL_SECONDS", 0.0)
    listening = Listening()
    result = tiny(SCALP_42, first_time=101.0, batch_size=2, progress=listening)
    sizes = [len(part.times) for part in listening.parts]
    assert sizes == sorted(sizes)
    assert sizes[0] == 2
    assert listening.parts[0].times.tolist() == [100.0, 105.0]
    assert not any(part.complete for part in listening.parts)
    assert all((np.diff(part.times) > 0).all() for part in listening.parts)
    assert listening.parts[-1].probability.tolist() == result.probability.tolist()
    assert listening.shares[-1] == 1.0
    assert listening.shares == sorted(listening.shares)


def test_events_follow_the_chosen_rule_and_threshold(tiny: Callable[..., SeizurePrediction]) -> None:
    result = tiny(SCALP_42, rule="E.1", threshold=0.45)
    assert result.threshold == 0.45
    arrays = (result.times, result.durations, result.probability)
    assert result.events == derive_events(*arrays, 0.45, EpisodeRule(), "model:MVPFormer-tiny (random weights)")
    assert tiny(SCALP_42).events == derive_events(*arrays, 0.5, OnlineRule(), "model:MVPFormer-tiny (random weights)")


def test_part_of_a_recording(tiny: Callable[..., SeizurePrediction]) -> None:
    whole, part = tiny(SCALP_42), tiny(SCALP_42, start=98.0, stop=121.0)
    assert part.times.tolist() == [100.0, 105.0, 110.0, 115.0]
    assert part.probability == pytest.approx(whole.probability[20:24], abs=1e-5)
    assert part.not_scored == (
        (98.0, 100.0, "less than a segment of 5 s"),
        (120.0, 121.0, "less than a segment of 5 s"),
    )


def test_the_same_result_asked_for_twice_is_computed_once(
    tiny: Callable[..., SeizurePrediction], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tiny(SCALP_46, cache=tmp_path)
    monkeypatch.setattr("analysis.engine.session.ModelSession.embed", None)
    again = tiny(SCALP_46, cache=tmp_path, threshold=0.45, rule="E.1")
    assert again.probability.tolist() == first.probability.tolist()
    arrays = (first.times, first.durations, first.probability)
    assert again.events == derive_events(*arrays, 0.45, EpisodeRule(), "model:MVPFormer-tiny (random weights)")
    assert again.provenance["rule"]["name"] == "E.1"
    with pytest.raises(TypeError):
        tiny(SCALP_46, cache=tmp_path, segments=5)


@pytest.mark.parametrize("where", ["beside the checkpoint", "given"])
def test_results_of_another_configuration_of_the_same_files_are_not_reused(
    shared: Path, tmp_path: Path, where: str
) -> None:
    for name in ("tiny_base.pt", "tiny_head.pt", "tiny_config.json"):
        shutil.copy(shared / "parity/mvpformer" / name, tmp_path)
    config = tmp_path / ("tiny_config.json" if where.startswith("beside") else "mine.json")
    given = config if where == "given" else None
    values = json.loads((tmp_path / "tiny_config.json").read_text())

    def predict(window_segments: int) -> SeizurePrediction:
        config.write_text(json.dumps(values | {"window_segments": window_segments}))
        files = (shared / SCALP_46, tmp_path / "tiny_base.pt", tmp_path / "tiny_head.pt")
        return predict_seizures(*files, config=given, device="cpu", cache=tmp_path / "cache")

    usual, other = predict(10), predict(1)
    assert usual.request.checkpoints == other.request.checkpoints
    assert usual.request.key() != other.request.key()
    assert np.abs(usual.probability - other.probability).max() > 1e-4
    assert predict(10).probability.tolist() == usual.probability.tolist()


def test_labels_and_device_are_part_of_what_is_asked(
    tiny: Callable[..., SeizurePrediction], monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = {tiny(SCALP_46).request.key()}
    monkeypatch.setattr("models.mvpformer.loading.LABELS", ("seizure", "background"))
    monkeypatch.setattr(detectors, "_last", None)
    keys.add(tiny(SCALP_46).request.key())
    monkeypatch.setattr("analysis.engine.mvpformer_detector.describe_device", lambda _: "cuda (another)")
    monkeypatch.setattr(detectors, "_last", None)
    keys.add(tiny(SCALP_46).request.key())
    monkeypatch.setattr(detectors, "_last", None)
    assert len(keys) == 3


def test_a_stored_result_names_the_files_it_was_asked_for_with(shared: Path, tmp_path: Path) -> None:
    def predict(folder: Path) -> SeizurePrediction:
        files = (shared / SCALP_46, folder / "tiny_base.pt", folder / "tiny_head.pt")
        return predict_seizures(*files, device="cpu", cache=tmp_path / "cache")

    (moved := tmp_path / "moved").mkdir()
    for name in ("tiny_base.pt", "tiny_head.pt", "tiny_config.json"):
        shutil.copy(shared / "parity/mvpformer" / name, moved)
    first, again = predict(shared / "parity/mvpformer"), predict(moved)
    assert again.request.key() == first.request.key()
    assert again.created == first.created, "taken from the store"
    assert again.provenance["checkpoint"]["path"] == str(moved / "tiny_base.pt")
    assert again.provenance["checkpoint"]["head_path"] == str(moved / "tiny_head.pt")


def test_gaps_and_missing_samples_are_told(tiny: Callable[..., SeizurePrediction]) -> None:
    gap = tiny("recordings/broken/edfplus_d_gap.edf")
    assert gap.times.tolist() == [0.0, 65.0]
    assert gap.not_scored == ((5.0, 65.0, "gap in the recording"),)
    missing = tiny("recordings/broken/brainvision_nan.vhdr")
    assert missing.times.tolist() == [10.0, 15.0]
    assert (4.0, 6.0, "samples are missing") in missing.not_scored


@pytest.mark.parametrize(
    ("file", "left_out"),
    [
        ("duplicate_and_dash_channels.edf", "T8-P8"),
        ("physical_min_equals_max.edf", "Fz"),
        ("mixed_sampling_rates.edf", "SpO2"),
        ("prefixed_names.edf", "PH"),
    ],
)
def test_what_is_no_brain_signal_is_left_out_and_named(
    tiny: Callable[..., SeizurePrediction], file: str, left_out: str
) -> None:
    result = tiny(f"recordings/broken/{file}")
    assert any(name.startswith(left_out) for name, _ in result.left_out), result.left_out
    assert np.isfinite(result.probability).all()


def test_cancelling_ends_it(tiny: Callable[..., SeizurePrediction]) -> None:
    class Impatient(Progress):
        def report(self, done: float, total: float, message: str = "") -> None:
            if message.startswith("scoring") and done > 0:
                raise Cancelled

    with pytest.raises(Cancelled):
        tiny(SCALP_42, batch_size=1, progress=Impatient())


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"start": 300.0}, "nothing between 300 and 236 s"),
        ({"start": 20.0, "stop": 10.0}, "nothing between 20 and 10 s"),
        ({"start": 20.0, "stop": 24.0}, "no whole segment of 5 s"),
        ({"threshold": 1.5}, "threshold must be between 0 and 1"),
        ({"rule": "E.9"}, "no rule for events"),
        ({"segments": 33}, "1 to 32 segments"),
        ({"batch_size": 0}, "batch size must be at least 1"),
    ],
)
def test_what_cannot_be_asked_for(tiny: Callable[..., SeizurePrediction], more: dict[str, Any], message: str) -> None:
    with pytest.raises(AnalysisError, match=message):
        tiny(SCALP_42, **more)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="NOT TESTED: no CUDA device")
def test_a_gpu_gives_what_the_cpu_gives(shared: Path, tiny: Callable[..., SeizurePrediction]) -> None:
    folder = shared / "parity/mvpformer"
    on_gpu = predict_seizures(shared / SCALP_42, folder / "tiny_base.pt", folder / "tiny_head.pt", device="cuda")
    assert on_gpu.provenance["device"].startswith("cuda")
    assert on_gpu.probability == pytest.approx(tiny(SCALP_42).probability, abs=1e-3)


def test_a_recording_that_is_not_there(tiny: Callable[..., SeizurePrediction]) -> None:
    with pytest.raises(RecordingError):
        tiny("recordings/nothing.edf")
