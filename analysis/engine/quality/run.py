"""Makes the quality page anew, part by part; what is done is kept, so that a run that was ended goes on.

`python -m analysis.engine.quality [PART…]` runs the parts named (all where none is) that are not there yet with these
budgets, two at a time, and writes assets/docs/quality.json and quality.md. A part whose checkpoint is missing is left
out and said to be.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import partial
from importlib.resources import files
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from analysis.engine.quality.interventions import change_allocation, force_gates, reset_state
from analysis.engine.quality.recipes import CHECKPOINTS, FAMILIES, Budget, tiny_recipe
from analysis.engine.quality.trainings import compare_allocations, compare_pretraining, leave_regions_out
from analysis.engine.training.state import recipe_digest
from analysis.errors import AnalysisError
from analysis.progress import Progress
from analysis.provenance import library_versions, now
from analysis.quality_page import make_page
from analysis.simulation.simulator import SIMULATOR
from models.checkpoint import describe
from models.whole_files import whole_file

FOLDER = Path(str(files("assets"))) / "docs"
DATA, PAGE = "quality.json", "quality.md"
PROCESSES = 2
_TESTS = ("validation", "test", "minutes")  # what of a budget counts where nothing is trained
_LIBRARIES = ("torch", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class Part:
    """One part of the page: the family whose recipe or bundled checkpoint it rests on, and what makes its rows."""

    family: str
    work: Callable[..., list[dict[str, Any]]]
    bundled: bool = False

    @property
    def checkpoint(self) -> Path:
        """The bundled detector."""
        return CHECKPOINTS / f"{self.family}.safetensors"

    def rows(self, budget: Budget, progress: Progress) -> list[dict[str, Any]]:
        """Do the work."""
        return self.work(self.checkpoint, budget, progress) if self.bundled else self.work(budget, progress)

    def rests_on(self, budget: Budget) -> dict[str, Any]:
        """All that decides the rows, as far as it is known beforehand: another value makes the part anew."""
        facts: dict[str, Any] = {"simulator": SIMULATOR, "budget": asdict(budget)}
        if self.bundled:
            facts["budget"] = {name: facts["budget"][name] for name in _TESTS}
            return {**facts, "checkpoint_created": describe(self.checkpoint)["card"].get("created")}
        return {**facts, "recipe_sha256": recipe_digest(tiny_recipe(self.family))}


# The longest first, so that two processes end at about the same time.
PARTS: Mapping[str, Part] = {
    **{f"pretraining-{name}": Part(name, partial(compare_pretraining, name)) for name in ("prise-eeg", "neurduo")},
    "allocations-trained": Part("prise-eeg", compare_allocations),
    **{f"pretraining-{name}": Part(name, partial(compare_pretraining, name)) for name in ("axon", "mvpformer")},
    "regions": Part("axon", leave_regions_out),
    "gates": Part("axon", force_gates, bundled=True),
    "state": Part("neurduo", reset_state, bundled=True),
    "allocations": Part("prise-eeg", change_allocation, bundled=True),
}


def make_quality(
    names: Sequence[str] = (),
    budget: Budget | None = None,
    folder: Path = FOLDER,
    processes: int = PROCESSES,
    again: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Run what is missing of the named parts and write the page; its path. AnalysisError for a name that is no part."""
    budget, progress = budget or Budget(), progress or Progress()
    for name in names:
        if name not in PARTS:
            raise AnalysisError(f"no part of the page is called {name!r}: there are {', '.join(PARTS)}")
    kept = _read(folder / DATA)
    wanted = [name for name in PARTS if name in (names or PARTS) and (again or not _is_done(kept, name, budget))]
    possible = [name for name in wanted if not PARTS[name].bundled or PARTS[name].checkpoint.is_file()]
    for number, (name, made) in enumerate(_results(possible, budget, processes)):
        kept = {**kept, name: made}
        _write(folder / DATA, json.dumps(kept, indent=1) + "\n")
        progress.report(number + 1, len(possible), f"{name}, {made['seconds']:.0f} s")
    _write(folder / PAGE, make_page(kept, _cards()))
    return folder / PAGE


def _is_done(kept: Mapping[str, Any], name: str, budget: Budget) -> bool:
    part = PARTS[name]
    if name not in kept or (part.bundled and not part.checkpoint.is_file()):
        return False
    return bool(kept[name]["rests_on"] == json.loads(json.dumps(part.rests_on(budget))))


def _results(names: Sequence[str], budget: Budget, processes: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name, what a part gave) as they are done; in this process where one is enough."""
    if processes < 2:
        yield from ((name, run_part(name, budget)) for name in names)
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # the processes share the cores
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        running: dict[Future[dict[str, Any]], str] = {pool.submit(run_part, name, budget): name for name in names}
        for future in as_completed(running):
            yield running[future], future.result()


def run_part(name: str, budget: Budget) -> dict[str, Any]:
    """One part's rows with all that decided them."""
    part, began = PARTS[name], time.monotonic()
    rests_on = part.rests_on(budget)
    rows = part.rows(budget, Progress())
    return {
        "rows": rows,
        "rests_on": json.loads(json.dumps(rests_on)),
        "seconds": round(time.monotonic() - began, 1),
        "created": now(),
        "libraries": library_versions(_LIBRARIES),
    }


def _cards() -> dict[str, dict[str, Any]]:
    """The cards of the bundled detectors that are there."""
    paths = {family: CHECKPOINTS / f"{family}.safetensors" for family in FAMILIES}
    return {family: describe(path)["card"] for family, path in paths.items() if path.is_file()}


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise AnalysisError(f"what was kept of the page is damaged ({path}): remove it") from error
    return found


def _write(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode())


class _Lines(Progress):
    def report(self, done: float, total: float, message: str = "") -> None:
        print(f"{int(done)} of {int(total)}: {message}", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m analysis.engine.quality", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--scale", type=float, default=1.0, help="so many times the steps of all trainings")
    parser.add_argument("--test", type=int, default=Budget.test, help="recordings of five minutes that are tested on")
    parser.add_argument("--processes", type=int, default=PROCESSES)
    parser.add_argument("--again", action="store_true", help="also what is there already")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where page and data lie")
    given = parser.parse_args(arguments)
    budget = Budget(test=given.test).scaled(given.scale)
    try:
        print(make_quality(given.parts, budget, given.folder, given.processes, given.again, _Lines()))
    except AnalysisError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0
