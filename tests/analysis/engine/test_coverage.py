"""Every moment that is asked for has either a probability or a reason why it has none, and never both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from analysis.engine import brainmaze, mvpformer_detector
from analysis.engine.detector import Detector
from analysis.errors import AnalysisError
from analysis.progress import Progress
from analysis.readers import open_recording
from analysis.recording import Recording, Window
from models.mvpformer.config import MVPFormerConfig
from models.registry import untrained_model

RECORDINGS = [
    "scalp-seizure-46ch/demo_edf.edf",
    "scalp-seizure-42ch/scalp_seizure.edf",
    "broken/brainvision_nan.vhdr",
    "broken/first_tal_offset.edf",
    "edf/test.edf",
    "fif/resting_eo_200hz_raw.fif",
    "bdf/openbci_8ch.bdf",
]
SHARES = [(0.0, 1.0), (0.003, 0.72), (0.4137, 0.999)]


@pytest.fixture(scope="module")
def packaged() -> Detector:
    return brainmaze.BrainmazeDetector("modelA", "cpu", brainmaze.BrainmazeWindows(60.0, 20.0, 10.0))


@pytest.fixture(scope="module")
def transformer() -> Detector:
    config = MVPFormerConfig(
        n_embd=16, n_layer=1, n_head=2, n_head_kv=1, n_inner=24, n_positions=12, n_channels=64, n_segments=4,
        task="classification",
    )  # fmt: skip
    return mvpformer_detector.MVPFormerDetector(untrained_model("mvpformer", config, seed=3), torch.device("cpu"))


@pytest.fixture(autouse=True)
def instant(monkeypatch: pytest.MonkeyPatch) -> None:
    """Outputs without the networks, of which a fifth is unknown: what is covered does not depend on their values."""
    rng = np.random.default_rng(0)

    def inputs(_run: Any, jobs: Any, _check: Any) -> Iterator[brainmaze._Input]:
        for i, window in jobs:
            yield brainmaze._Input(i, window, np.empty((2, 0, 0)), np.empty((2, 0)))

    def values(_run: Any, given: brainmaze._Input, _probability: np.ndarray) -> np.ndarray:
        made = rng.random((2, given.window[2] - given.window[1]), np.float32)
        made[:, rng.random(made.shape[1]) < 0.2] = np.nan
        return made

    monkeypatch.setattr(brainmaze._Run, "_inputs", inputs)
    monkeypatch.setattr(brainmaze._Run, "_infer", lambda _run, _given: [np.empty(0)])
    monkeypatch.setattr(brainmaze._Run, "_values", values)
    monkeypatch.setattr(mvpformer_detector._Run, "_score", lambda *_given: np.zeros(1))


def check(detector: Detector, recording: Recording, window: Window) -> None:
    try:
        run = detector.begin(recording, window)
    except AnalysisError as error:
        if "can be scored" in str(error):
            return  # too short for this detector
        raise
    chunks = list(run.chunks(Progress(), None))
    spans = [(t, t + d) for c in chunks for t, d in zip(c.times.tolist(), c.durations.tolist(), strict=True)]
    assert all(window.start - 1e-6 <= a and b <= window.stop + 1e-6 for a, b in spans)
    assert all(reason for *_, reason in run.not_scored)
    clipped = [(max(a, window.start), min(b, window.stop)) for a, b, _ in run.not_scored]
    at = window.start
    for a, b in sorted(spans + [(a, b) for a, b in clipped if b > a]):
        assert a == pytest.approx(at, abs=1e-5), f"{at:g} to {a:g} s is told of twice or not at all"
        at = b
    assert at == pytest.approx(window.stop, abs=1e-5)


@pytest.mark.parametrize("used", ["packaged", "transformer"])
@pytest.mark.parametrize("name", RECORDINGS)
def test_real_recordings(shared: Path, request: pytest.FixtureRequest, used: str, name: str) -> None:
    detector = request.getfixturevalue(used)
    with open_recording(shared / "recordings" / name) as recording:
        for first, last in SHARES:
            check(detector, recording, Window(first * recording.duration, last * recording.duration))


@pytest.mark.parametrize("used", ["packaged", "transformer"])
def test_gaps_anywhere(make_recording: Callable[..., Any], request: pytest.FixtureRequest, used: str) -> None:
    detector = request.getfixturevalue(used)
    rng = np.random.default_rng(5)
    for _ in range(40):
        duration = float(rng.uniform(60, 200))
        sfreq = float(rng.choice([128.0, 200.0, 256.0, 251.0]))
        edges = np.sort(rng.choice(np.arange(1, int(duration * 8) - 1), 2 * int(rng.integers(0, 4)), replace=False)) / 8
        gaps = tuple((float(a), float(b)) for a, b in edges.reshape(-1, 2))
        data = rng.normal(0, 20, (2, round(duration * sfreq)))
        recording = make_recording(data, sfreq, gaps=gaps)
        start = float(rng.uniform(0, 10))
        check(detector, recording, Window(start, min(recording.duration, start + float(rng.uniform(40, 200)))))
