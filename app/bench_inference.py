"""Whole recordings through each family of models: with the next windows read ahead or not, in batches or one by one.

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
        path = make_file(replace(HOUR, seconds=plan.pick(120, 240, 1800)), Path(folder))
        found = plan.say(
            "measuring inference", lambda: measure_inference(path, plan.pick(1, 2, 5), core_count(), CHECKPOINTS)
        )
    if isinstance(found, str):
        return Found([(Case("inference", "whole recordings", None, unit="s"), found)])
    return Found(inference_rows(found), [explain(found)])


def measure_inference(path: Path, rounds: int, threads: int, checkpoints: Sequence[str]) -> dict[str, Any] | str:
    """The samples of one process, or what it complained of."""
    module = "analysis.engine.inference_speed"
    return measure_apart(module, str(path), rounds, threads, *checkpoints, threads=threads)


def inference_rows(found: Mapping[str, Any]) -> list[tuple[Case, Measured]]:
    """Two rows for each model, in seconds for an hour of recording, above what the model alone takes."""
    rows: list[tuple[Case, Measured]] = []
    share = _HOUR / found["recorded"]
    for name, model in found["models"].items():
        served, in_turn, one = (_measured(share, model[form]) for form in ("served", "in turn", "one"))
        floor = share * float(np.median(model["model"]))
        text = f"{model['title']}: 1 h of {found['channels']} channels"
        for what, words, rival, other in (
            ("ahead", text, "without reading ahead", in_turn),
            ("batch", f"{text}, batches up to {model['batch']}", "one at a time", one),
        ):
            case = Case(f"inference {name} {what}", words, None, unit="s", rival=rival)
            rows.append((case, Measured(served, rival=other, floor=floor, floor_of="the model's own time")))
    return rows


def explain(found: Mapping[str, Any]) -> str:
    """Hours of recording in a minute, what limits them, and that all forms give the same."""
    lines = []
    for model in found["models"].values():
        speeds = [found["recorded"] / 60 / float(np.median(model[form])) for form in ("served", "in turn", "one")]
        own = float(np.median(model["model"])) / float(np.median(model["in turn"]))
        lines.append(
            f"{model['title']}: {speeds[0]:.3g} hours of recording per minute, {speeds[1]:.3g} without reading ahead, "
            f"{speeds[2]:.3g} one at a time; {own:.0%} of the time without reading ahead is the model's own; "
            f"probabilities agree within {model['apart']:.0e}"
        )
    lines.append("limit: with all cores at work in the model, reading ahead gains only what the model leaves idle")
    return "\n".join(lines)


def _measured(share: float, samples: Sequence[float]) -> tuple[float, ...]:
    return tuple(share * sample for sample in samples)
