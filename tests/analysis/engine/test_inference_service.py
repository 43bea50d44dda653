"""Every family served in any way gives the same numbers, what is looked at first, and ends when it should."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from analysis.engine.detectors import load_detector
from analysis.engine.predict import predict_seizures
from analysis.engine.serving import Serving
from analysis.engine.session import SAME
from analysis.errors import AnalysisError, RecordingError
from analysis.progress import Cancelled, Progress
from analysis.readers import open_recording
from analysis.recording import Recording, Window

WINDOWED = ("random:axon:tiny:4", "random:prise-eeg:tiny:4")
TRAINED = (*WINDOWED, "random:mvpformer:tiny:4", "random:neurduo:tiny-chbmit:4")
ALL = (*TRAINED, "brainmaze")
LENGTH = 45.0
LOOKED_AT = 37.0


@pytest.fixture(scope="module")
def path(shared: Path) -> Path:
    return shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"


def probabilities(path: Path, checkpoint: str, serving: Serving) -> tuple[np.ndarray, Any, float]:
    """In the order of time, with the run, and how much farther the first is from the page than the nearest."""
    detector = load_detector(checkpoint, device="cpu")
    with open_recording(path) as recording:
        run = detector.begin(recording, Window(0, LENGTH), serving=serving)
        chunks = list(run.chunks(Progress(), LOOKED_AT))
    times = np.concatenate([chunk.times for chunk in chunks])
    assert len(set(times.tolist())) == len(times)
    away = [np.maximum(c.times - LOOKED_AT, LOOKED_AT - c.times - c.durations).clip(0).min() for c in chunks]
    return np.concatenate([chunk.probability for chunk in chunks])[np.argsort(times)], run, float(away[0] - min(away))


@pytest.mark.parametrize("checkpoint", ALL)
def test_neither_batches_nor_reading_ahead_change_a_number(path: Path, checkpoint: str) -> None:
    expected, run, away = probabilities(path, checkpoint, Serving(batch_size=1, overlap=False))
    if checkpoint != "brainmaze":  # of which one window speaks for all of this
        assert away == 0, "the page, or what is nearest to it, comes first"
    assert run.served() == {"batch_size": 1, "precision": {"format": "float32"}}
    for serving in (Serving(batch_size=3), Serving(), Serving(overlap=True)):
        found, _, other = probabilities(path, checkpoint, serving)
        np.testing.assert_allclose(found, expected, rtol=0, atol=SAME)
        assert other == away
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("made ahead")]


@pytest.mark.parametrize("checkpoint", TRAINED[:3])
def test_bfloat16_is_compared_and_told(path: Path, checkpoint: str) -> None:
    exact = predict_seizures(path, checkpoint, device="cpu")
    found = predict_seizures(path, checkpoint, device="cpu", precision="bfloat16")
    assert exact.provenance["precision"] == {"format": "float32"}
    assert "precision" not in exact.request.options
    told = found.provenance["precision"]
    assert told["tolerance"] == 0.01
    assert 0 < told["compared"] <= 8
    apart = np.abs(found.probability - exact.probability).max()
    if told["format"] == "bfloat16":
        assert 0 < told["largest_difference"] <= 0.01
        assert apart > SAME
    assert apart < 0.02
    assert found.request.options["precision"] == "bfloat16"
    assert found.request.key() != exact.request.key()


@pytest.mark.parametrize("checkpoint", WINDOWED)
def test_memory_that_runs_out_halves_the_batch(path: Path, checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = probabilities(path, checkpoint, Serving(batch_size=1))[0]
    detector: Any = load_detector(checkpoint, device="cpu")
    sizes: list[int] = []
    logits = detector._model.network.logits

    def small(**arguments: Any) -> torch.Tensor:
        sizes.append(len(arguments["signal"]))
        if sizes[-1] > 2:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return logits(**arguments)

    monkeypatch.setattr(detector._model.network, "logits", small)
    found, run, _ = probabilities(path, checkpoint, Serving(batch_size=4))
    np.testing.assert_allclose(found, expected, rtol=0, atol=SAME)
    assert sizes[:3] == [4, 2, 2]
    assert max(sizes[1:]) <= 2
    assert run.served()["batch_size"] == 2


class Broken(Progress):
    """A recording that fails, or that is not wanted, once some of it was read."""

    def __init__(self, recording: Recording, error: BaseException | None) -> None:
        self.reads, self.error = 0, error
        read = recording.read

        def counting(*arguments: Any) -> np.ndarray:
            self.reads += 1
            if self.error is not None and threading.current_thread() is not threading.main_thread():
                raise self.error
            return read(*arguments)

        recording.read = counting  # type: ignore[method-assign]

    def report(self, done: float, total: float, message: str = "") -> None:
        if self.error is None and self.reads:
            raise Cancelled


@pytest.mark.parametrize("checkpoint", [ALL[0], *ALL[3:]])
@pytest.mark.parametrize("error", [RecordingError("the disk is gone"), MemoryError(), None])
def test_what_goes_wrong_beside_the_model_ends_it(path: Path, checkpoint: str, error: BaseException | None) -> None:
    expected = {RecordingError: RecordingError, MemoryError: AnalysisError, type(None): Cancelled}[type(error)]
    detector = load_detector(checkpoint, device="cpu")
    with open_recording(path) as recording:
        run = detector.begin(recording, Window(0, LENGTH), serving=Serving(overlap=True))
        broken = Broken(recording, error)
        if isinstance(error, MemoryError) and checkpoint == "brainmaze":
            expected = MemoryError  # a window of its is read whole
        with pytest.raises(expected):
            list(run.chunks(broken, LOOKED_AT))
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("made ahead")]


def test_the_pace_is_told_on_the_way_and_at_the_end(path: Path) -> None:
    found = predict_seizures(path, WINDOWED[0], device="cpu")
    facts = found.provenance
    hours = float(found.durations.sum()) / 3600
    assert facts["hours_per_minute"] == pytest.approx(hours / (facts["scoring_time"] / 60), rel=0.05)
    assert 0 < facts["scoring_time"] <= facts["wall_time"]
    assert facts["batch_size"] >= 1


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="NOT TESTED: no CUDA device")
@pytest.mark.parametrize("checkpoint", TRAINED)
def test_a_gpu_in_either_format_gives_what_the_processor_gives(path: Path, checkpoint: str) -> None:
    exact = predict_seizures(path, checkpoint, device="cpu")
    same = predict_seizures(path, checkpoint, device="cuda", precision="float32")
    rough = predict_seizures(path, checkpoint, device="cuda")
    np.testing.assert_allclose(same.probability, exact.probability, rtol=0, atol=1e-3)
    np.testing.assert_allclose(rough.probability, exact.probability, rtol=0, atol=0.02)
    assert "largest_difference" in rough.provenance["precision"]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="NOT TESTED: no CUDA device")
def test_the_batch_of_a_gpu_stays_within_its_share(path: Path) -> None:
    detector: Any = load_detector(WINDOWED[0], device="cuda")
    with open_recording(path) as recording:
        run: Any = detector.begin(recording, Window(0, LENGTH), serving=Serving(memory_share=1e-6, precision="float32"))
        list(run.chunks(Progress(), None))
    assert run.served()["batch_size"] == 1
