"""The command that trains a model. Knows no Qt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from analysis.progress import Progress
from app.headless import Outcome

_WORDS = {
    "sample_auc_pr": "area under precision-recall by seconds",
    "event_f1": "event F1",
    "event_sensitivity": "sensitivity",
    "false_alarms_per_hour": "false alarms an hour",
    "loss": "loss",
}


def train(
    recipe: str | Path,
    out: str | Path | None = None,
    resume: bool = False,
    device: str = "auto",
    progress: Progress | None = None,
) -> Outcome:
    """Train by a recipe into a folder (default: named as the recipe, in the working folder).

    AnalysisError, RecordingError and CheckpointError say what is wrong, OSError what cannot be written; Cancelled and
    KeyboardInterrupt leave a state that `resume` goes on from.
    """
    from analysis.engine.training.run import train as run_training

    made = run_training(recipe, out, resume, device, progress)
    return Outcome(
        {"checkpoint": str(made.checkpoint), "card": made.card}, _text(made.checkpoint, made.step, made.card)
    )


def _text(checkpoint: Path, step: int, card: dict[str, Any]) -> str:
    lines = [f"{checkpoint}: {card['name']}, {step} steps, {card['how']['seconds']:.0f} s"]
    for split, figures in card["results"].items():
        told = [f"{text} {figures[name]:.3g}" for name, text in _WORDS.items() if figures.get(name) is not None]
        lines.append(f"  {split}: {', '.join(told)}")
        for plain in (figures.get("threshold_detectors") or {}).get("detectors", ()):
            told = [f"{text} {plain[name]:.3g}" for name, text in _WORDS.items() if plain.get(name) is not None]
            lines.append(f"    beside it, without a model, {plain['way']}: {', '.join(told)}")
    return "\n".join(lines)
