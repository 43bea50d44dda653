"""How long a whole recording takes with each family: read in turn or ahead in batches, and one window at a time.

`python -m analysis.engine.inference_speed RECORDING ROUNDS THREADS CHECKPOINT…` prints seconds as JSON, every round
beginning with another form after a run that warms up; `main.py bench inference` makes the table of them. `usual` is the
form that is taken where nobody chooses. The model's own time is what the run that reads in turn spends in it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from analysis.engine.detector import Detector, DetectorRun
from analysis.engine.detectors import load_detector
from analysis.engine.serving import Serving
from analysis.engine.session import SAME, BatchSize
from analysis.progress import Progress
from analysis.readers import open_recording
from analysis.recording import Recording, Window

FORMS = {"in turn": Serving(overlap=False), "ahead": Serving(overlap=True), "one": Serving(batch_size=1)}


def measure(recording: Recording, checkpoint: str, rounds: int) -> dict[str, Any]:
    """Seconds of each form in every round, and of the model alone; the batch size, and how far the forms are apart."""
    detector = load_detector(checkpoint, device="cpu")
    expected, run = _run(detector, recording, Serving())[2:]
    found: dict[str, Any] = {name: [] for name in (*FORMS, "model")}
    found |= {"title": detector.title, "usual": "ahead" if vars(run)["overlap"] else "in turn", "apart": 0.0}
    for number in range(rounds):
        for name in np.roll([*FORMS], number).tolist():
            seconds, model, values, run = _run(detector, recording, FORMS[name])
            found[name].append(seconds)
            found["apart"] = max(found["apart"], float(np.abs(values - expected).max()))
            if name == "in turn":
                found["model"].append(model)
            if name == found["usual"]:
                found["batch"] = run.served()["batch_size"]
    return found | {"same": SAME}


def _run(detector: Detector, recording: Recording, serving: Serving) -> tuple[float, float, np.ndarray, DetectorRun]:
    """Seconds of a run and of the model in it, the probabilities in the order of time, and the run."""
    run = detector.begin(recording, Window(0.0, recording.duration), serving=serving)
    spent = [0.0]
    for batch in vars(run).values():
        if isinstance(batch, BatchSize):
            batch.run = _timed(batch.run, spent)  # type: ignore[method-assign]
    began = time.perf_counter()
    chunks = list(run.chunks(Progress(), None))
    seconds = time.perf_counter() - began
    order = np.argsort(np.concatenate([chunk.times for chunk in chunks]), kind="stable")
    return seconds, spent[0], np.concatenate([chunk.probability for chunk in chunks])[order], run


def _timed(work: Callable[..., Any], spent: list[float]) -> Callable[..., Any]:
    def timed(*arguments: Any) -> Any:
        began = time.perf_counter()
        try:
            return work(*arguments)
        finally:
            spent[0] += time.perf_counter() - began

    return timed


def main(arguments: list[str]) -> None:
    """Print what was measured as JSON."""
    path, rounds, threads, *checkpoints = arguments
    torch.set_num_threads(int(threads))
    with open_recording(Path(path)) as recording:
        made = {checkpoint: measure(recording, checkpoint, int(rounds)) for checkpoint in checkpoints}
        print(json.dumps({"recorded": recording.duration, "channels": len(recording.channels), "models": made}))


if __name__ == "__main__":
    main(sys.argv[1:])
