"""Whole recordings through each family of models: in batches or one window at a time, and read in turn or ahead.

The measuring is done by `analysis.engine.inference_speed` in a process of its own.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from app.bench_apart import measure_apart
from app.bench_cases import Case, Measured
from app.bench_files import HOUR, make_file
from app.benches import Found, Plan

CHECKPOINTS = (
    "random:axon:tiny",
    "random:prise-eeg:tiny",
    "random:mvpformer:tiny",
    "random:neurduo:tiny-chbmit",
    "brainmaze",
)
_HOUR = 3600.0


def bench(plan: Plan) -> Found:
    """Measure every family with all cores on a recording of our own making."""
    from app.engine_process import core_count

    with tempfile.TemporaryDirectory(prefix="cerebroscope-bench-") as folder:
        path = make_file(replace(HOUR, seconds=plan.pick(120, 480, 1800)), Path(folder))
        found = plan.say(
            "measuring inference", lambda: measure_inference(path, plan.pick(1, 3, 5), core_count(), CHECKPOINTS)
        )
    if isinstance(found, str):
        return Found([(Case("inference", "whole recordings", None, unit="s"), found)])
    return Found(inference_rows(found), [explain(found)])


def measure_inference(path: Path, rounds: int, threads: int, checkpoints: Sequence[str]) -> dict[str, Any] | str:
    """The samples of one process, or what it complained of."""
    module = "analysis.engine.inference_speed"
    return measure_apart(module, str(path), rounds, threads, *checkpoints, threads=threads)


def inference_rows(found: Mapping[str, Any]) -> list[tuple[Case, Measured]]:
    """A row for each model, in seconds for an hour of recording, above what the model alone takes."""
    rows: list[tuple[Case, Measured]] = []
    for name, model in found["models"].items():
        served, one, own = (_of_an_hour(found, model[form]) for form in (model["usual"], "one", "model"))
        text = f"{model['title']}: 1 h of {found['channels']} channels, batches up to {model['batch']}"
        case = Case(f"inference {name}", text, None, unit="s", rival="one at a time")
        rows.append((case, Measured(served, rival=one, floor=float(np.median(own)), floor_of="the model's own time")))
    return rows


def explain(found: Mapping[str, Any]) -> str:
    """Hours of recording in a minute, what reading ahead takes or gives, and that all forms give the same."""
    lines = []
    for model in found["models"].values():
        in_turn, ahead = np.array(model["in turn"]), np.array(model["ahead"])
        own = float(np.median(model["model"])) / float(np.median(in_turn))
        lines.append(
            f"{model['title']}: {found['recorded'] / 60 / float(np.median(model[model['usual']])):.3g} hours of "
            f"recording per minute, read {model['usual']}; reading ahead is {float(np.median(in_turn / ahead)):.2f} x "
            f"as fast as in turn, where {own:.0%} of the time is the model's own; probabilities agree within "
            f"{model['apart']:.0e}"
        )
    lines.append(
        "windows are read ahead where the model leaves a core idle, or computes on a GPU; where it computes with all "
        "cores, a thread that reads holds up one of those that wait for each other at the end of every operation"
    )
    return "\n".join(lines)


def _of_an_hour(found: Mapping[str, Any], seconds: Sequence[float]) -> tuple[float, ...]:
    return tuple(_HOUR / found["recorded"] * sample for sample in seconds)
