"""Every explanation of every family's classifier on a clinical recording, by the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.cli import main

SECONDS = {"random:axon": 3, "random:prise-eeg": 10, "random:mvpformer": 5, "random:neurduo:tiny-chbmit": 3}
CHANNELS = {"random:neurduo:tiny-chbmit": 15}  # that its head reads; 20 channels of the 46 are electrodes of the scalp


@pytest.fixture
def run(shared: Path, tmp_path: Path) -> Any:
    recording = shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"

    def analyze(kind: str, checkpoint: str, *options: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        seconds = SECONDS[checkpoint]
        given = [part for option in (f"window={seconds}", "windows=1", *options) for part in ("--option", option)]
        span = ["--start", "20", "--duration", str(seconds), "--out", str(tmp_path)]
        assert main(["analyze", kind, str(recording), "--checkpoint", checkpoint, *span, *given]) == 0
        with np.load(tmp_path / f"{kind}.npz") as arrays:
            return json.loads((tmp_path / f"{kind}.json").read_text()), dict(arrays)

    return analyze


@pytest.mark.parametrize("checkpoint", SECONDS)
def test_integrated_gradients(run: Any, checkpoint: str) -> None:
    told, arrays = run("integrated-gradients", checkpoint)
    values = arrays["attribution"].astype(np.float64)
    assert values.shape[:2] == (1, CHANNELS.get(checkpoint, 20))
    (facts,) = told["facts"]["windows"]
    assert facts["gap"] < 0.01
    assert values.sum() == pytest.approx(facts["change"], rel=0.02, abs=1e-5)
    np.testing.assert_allclose(arrays["by_channel"], values.sum(-1), atol=1e-5)
    np.testing.assert_allclose(arrays["by_second"].sum(-1), values.sum(-1), atol=1e-5)
    assert arrays["by_second"].shape[2] == SECONDS[checkpoint]
    assert "no seizure is marked" in facts["baseline"]


@pytest.mark.parametrize("checkpoint", SECONDS)
def test_grad_cam(run: Any, checkpoint: str) -> None:
    told, arrays = run("grad-cam", checkpoint, "layer=1")
    evidence = arrays["evidence"]
    assert evidence.shape == (1, CHANNELS.get(checkpoint, 20), arrays["patch_onset"].shape[1])
    assert (evidence >= 0).all()
    assert np.isfinite(evidence).all()
    assert told["facts"]["layer"] == 1
    assert told["facts"]["layer_name"] in ("block 1", "tokenizer 2", "fast 1")


@pytest.mark.parametrize("checkpoint", SECONDS)
def test_occlusion(run: Any, checkpoint: str) -> None:
    _, arrays = run("occlusion", checkpoint, "by=second", "keep=yes", "baseline=mean")
    assert arrays["whole_second"].shape == (1, SECONDS[checkpoint])
    assert arrays["keep_one"].shape == (1, CHANNELS.get(checkpoint, 20))
    assert all(np.abs(arrays[name]).max() > 0 for name in ("whole_second", "keep_one"))


@pytest.mark.parametrize("checkpoint", ["random:axon", "random:neurduo:tiny-chbmit"])
def test_occlusion_of_seconds_of_channels(run: Any, checkpoint: str) -> None:
    _, arrays = run("occlusion", checkpoint, "baseline=mean")
    assert arrays["by_second"].shape == (1, CHANNELS.get(checkpoint, 20), 3)
    assert np.abs(arrays["by_second"]).max() > 0
    told, alone = run("occlusion", checkpoint, "by=channel", "baseline=mean")
    np.testing.assert_allclose(alone["by_channel"], arrays["by_channel"], atol=1e-5)
    assert "by_second" not in alone
    assert told["facts"]["by"] == "channel"
