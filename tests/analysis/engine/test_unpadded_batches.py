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
from models.random_checkpoints import random_model


@pytest.mark.parametrize("family", ["axon", "prise-eeg"])
def test_batches_have_no_padding_and_change_no_probability(
    shared: Path, monkeypatch: pytest.MonkeyPatch, family: str
) -> None:
    """45 s in windows of 10 s: the rest is covered by a window that ends there, not by one that is filled up."""
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
        for size in (1, 3):
            seen.clear()
            run: Any = detector.begin(recording, Window(0, 45), batch_size=size)
            chunks = list(run.chunks(Progress(), None))
            found[size] = np.concatenate([chunk.probability for chunk in chunks])
            assert [len(batch) for batch in seen] == ([1] * 5 if size == 1 else [3, 2])
            rate = run.source.plan.settings.sfreq
            for batch in seen:
                assert batch.shape[1:] == (len(run.source.plan.ch_names), round(detector.window * rate))
                assert batch.std(-1).min() > 0, "no channel and no window is filled up"
    np.testing.assert_allclose(found[3], found[1], rtol=0, atol=1e-5)
