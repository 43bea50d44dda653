"""What a stopped training needs to go on to the same bits, in one file that is written whole or not at all."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from analysis.engine.training.recipe import Recipe
from analysis.errors import AnalysisError
from models.whole_files import whole_file

STATE, METRICS = "state.pt", "metrics.jsonl"
_LAYOUT = 1


def recipe_digest(recipe: Recipe) -> str:
    """SHA-256 of everything a recipe says."""
    return hashlib.sha256(json.dumps(asdict(recipe), sort_keys=True).encode()).hexdigest()


def save_state(folder: Path, recipe: Recipe, state: dict[str, Any]) -> None:
    """Write the state with the generators of random numbers; OSError where the folder cannot be written."""
    content = io.BytesIO()
    generators = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        generators["cuda"] = torch.cuda.get_rng_state()
    torch.save({"layout": _LAYOUT, "recipe": recipe_digest(recipe), "generators": generators, **state}, content)
    with whole_file(folder / STATE) as file:
        file.write(content.getbuffer())


def load_state(folder: Path, recipe: Recipe) -> dict[str, Any]:
    """The saved state; AnalysisError where there is none, or it is of another recipe. Generators are set."""
    path = folder / STATE
    if not path.is_file():
        raise AnalysisError(f"there is no training to go on with ({path}): start it without --resume")
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        fits = state["layout"] == _LAYOUT and state["recipe"] == recipe_digest(recipe)
    except Exception as error:
        raise AnalysisError(
            f"the state of the training cannot be read, {type(error).__name__} ({path}): start it anew"
        ) from error
    if not fits:
        raise AnalysisError(
            f"this training was started with another recipe ({path}): "
            "go on with that one, or choose another folder with --out"
        )
    torch.set_rng_state(state["generators"]["cpu"])
    if torch.cuda.is_available() and "cuda" in state["generators"]:
        torch.cuda.set_rng_state(state["generators"]["cuda"])
    return state


class Metrics:
    """Lines of JSON that are added as the training goes on; a run that is taken up drops those past its step."""

    def __init__(self, folder: Path, step: int) -> None:
        self._path = folder / METRICS
        kept = []
        if step and self._path.is_file():
            lines = self._path.read_text(encoding="utf-8").splitlines()
            kept = [line for line in lines if json.loads(line)["step"] <= step]
        self._path.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")

    def add(self, **values: Any) -> None:
        """Add a line; numbers are rounded to six digits."""
        plain = {k: float(f"{v:.6g}") if isinstance(v, float) else v for k, v in values.items()}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(plain, allow_nan=False, default=str) + "\n")
