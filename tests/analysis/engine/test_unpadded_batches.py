"""AXON and PRiSE-EEG over a whole recording: batches hold whole windows of one length, each once, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from analysis.engine.windowed_detector import WindowedDetector
from analysis.progress import Progress
from analysis.readers import open_recording
from analysis.recording import Window
from analysis.survey import leave_out
from models.random_checkpoints import random_model

FEWER = ("Fp1", "Fp2", "O1")  # marked bad, so that the montage is smaller


@pytest.mark.parametrize("family", ["axon", "prise-eeg"])
@pytest.mark.parametrize(
    ("gaps", "bad", "onsets"),
    [
        # 45 s in windows of 10 s: the rest is covered by a window that ends there, not by one that is filled up.
        ((), (), [0, 10, 20, 30, 35]),
        # Two stretches of one recording share batches, each with such a window of its own.
        (((21.0, 23.0),), (), [0, 10, 11, 23, 33, 35]),
        # A montage of fewer channels is not brought to the size of another.
        (((24.0, 40.0),), FEWER, [0, 10, 14]),
    ],
)
def test_batches_have_no_padding_and_change_no_probability(
    shared: Path, monkeypatch: pytest.MonkeyPatch, family: str, gaps: Any, bad: tuple[str, ...], onsets: list[float]
) -> None:
    model: Any = random_model(f"random:{family}:tiny:4")
    seen: list[torch.Tensor] = []
    work = model.logits

    def listen(**arguments: Any) -> torch.Tensor:
        seen.append(arguments["signal"])
        out: torch.Tensor = work(**arguments)
        return out

    monkeypatch.setattr(model, "logits", listen)
    found = {}
    with open_recording(shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf") as recording:
        detector = WindowedDetector(model, torch.device("cpu"))
        whole = detector.begin(recording, Window(0, 45)).scored
        recording.gaps = gaps
        leave_out(recording, bad)
        for size in (1, 4):
            seen.clear()
            run: Any = detector.begin(recording, Window(0, 45), batch_size=size)
            assert [slot.onset for slot in run.slots] == pytest.approx(onsets)
            assert len(run.scored) == len(whole) - len(bad)
            chunks = list(run.chunks(Progress(), None))
            found[size] = np.concatenate([chunk.probability for chunk in chunks])
            rest = len(onsets) % size
            assert [len(batch) for batch in seen] == [size] * (len(onsets) // size) + [rest] * (rest > 0)
            rate = run.source.plan.settings.sfreq
            for batch in seen:
                assert batch.shape[1:] == (len(run.scored), round(detector.window * rate))
                assert batch.std(-1).min() > 0, "no channel and no window is filled up"
    np.testing.assert_allclose(found[4], found[1], rtol=0, atol=1e-5)
