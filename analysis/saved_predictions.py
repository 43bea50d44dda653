"""Predictions that were written into a folder, as they are shown: run.json and probabilities.tsv make one again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from analysis.errors import RecordingError
from analysis.recording import Window
from analysis.results import AnalysisRequest, SeizurePrediction

EVENTS, PROBABILITIES, RUN = "events.tsv", "probabilities.tsv", "run.json"


def read_prediction(folder: str | Path) -> SeizurePrediction:
    """Read what `predict` wrote; events are left out, since the threshold, that comes with it, makes them anew.

    RecordingError where the folder does not hold a whole prediction.
    """
    folder = Path(folder)
    try:
        run = json.loads((folder / RUN).read_text(encoding="utf-8"))
        lines = (folder / PROBABILITIES).read_text(encoding="utf-8").splitlines()[1:]
        return _prediction(run, np.array([line.split("\t") for line in lines], np.float64).reshape(-1, 3))
    except OSError as error:
        raise RecordingError(f"no results are there ({folder}): run the model again") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordingError(f"the results are damaged ({folder}): run the model again") from error


def _prediction(run: dict[str, Any], table: np.ndarray) -> SeizurePrediction:
    asked = run["request"]
    window = asked["window"] and Window(**asked["window"])
    request = AnalysisRequest(
        asked["kind"], asked["recording_id"], tuple(asked["checkpoints"]), asked["montage"], window, asked["options"]
    )
    return SeizurePrediction(
        request,
        run["created"],
        run["software_version"],
        run,
        times=table[:, 0],
        durations=table[:, 1],
        probability=table[:, 2].astype(np.float32),
        threshold=float(run["threshold"]),
        not_scored=tuple((float(start), float(stop), str(why)) for start, stop, why in run["not_scored"]),
        left_out=tuple((str(name), str(why)) for name, why in run["left_out"]),
        model_title=run["model"],
        caveat=run["caveat"],
        random_weights=run["random_weights"],
    )
