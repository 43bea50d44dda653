"""Start-up, each time in a fresh process: the window painted, its first recording, and the help of the command line.

Warm means that files are in the system's memory and modules are compiled, as after the first start; a start that is not
counted sees to both. `python -m app.bench_start …` is such a process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from app.bench_apart import run_apart
from app.bench_cases import Case, Measured, Rows
from app.bench_files import DAY, make_file, shortened
from app.bench_pages import compiled_in, workplace
from app.benches import Found, Plan

_IMPORTS = (
    "a bare window of the same libraries takes two fifths of it, loading our own modules a third, making and styling "
    "700 widgets the rest"
)
_FIRST = "the first page also loads SciPy's FFT, which the window does without"
_PYTHON = "Python and its own argparse are nearly all that it loads"
CASES = (
    Case("start window", "process start to the empty window, painted", 1000, (1300, 2000), missed=_IMPORTS),
    Case("start page", "then: a file of 24 h opened, to its first page", 500, missed=_FIRST),
    Case("start help", "main.py --help", 300, missed=_PYTHON),
    Case("start modules", "modules of ours that the painted window has loaded", None, None, ""),
)
_FLOORS = {
    "start window": ("bare", "an empty window of Qt, with numpy and pyqtgraph loaded"),
    "start help": ("nothing", "an interpreter that does nothing"),
}
_PEER = "peer of the window: what mne-qt-browser imports, before it opens anything"
_ROOT = Path(__file__).resolve().parents[1]


def bench(plan: Plan) -> Found:
    """Start everything as often as the size says, in turn."""
    rounds = plan.pick(2, 5, 10)
    file = shortened(DAY, plan.pick(0.01, 1.0, 1.0))
    found: dict[str, list[float]] = {}
    with workplace(file.bytes) as folder, tempfile.TemporaryDirectory(prefix="cerebroscope-bench-") as compiled:
        path = plan.say("making day", lambda: make_file(file, folder))
        for i in range(1 + rounds):
            trouble = plan.say(f"starting, {i} of {rounds}", lambda: _start_all(path, Path(compiled), found))
            if trouble:
                return Found([(case, trouble) for case in CASES])
            if i == 0:
                found.clear()
    return Found(start_rows(found), [_PEER])


def start_rows(found: dict[str, list[float]]) -> Rows:
    """The rows of the table from the samples."""
    rows: Rows = []
    for case in CASES:
        bare, floor_of = _FLOORS.get(case.name, ("", ""))
        floor = min(found[bare]) if bare else None
        rows.append((case, Measured(tuple(found[case.name]), floor=floor, floor_of=floor_of)))
    return rows


def _start_all(path: Path, compiled: Path, found: dict[str, list[float]]) -> str:
    """Take a sample of everything; what went wrong, if something did."""
    variables = compiled_in(compiled)
    for what in ("bare", "window"):
        taken = run_apart("app.bench_start_child", [what, repr(time.time()), str(path)], variables)
        if isinstance(taken, str):
            return taken
        for case, sample in taken.items():
            found.setdefault(case, []).append(sample)
    for case, arguments in (("start help", [str(_ROOT / "main.py"), "--help"]), ("nothing", ["-c", "pass"])):
        found.setdefault(case, []).append(_time(arguments, variables))
    return ""


def _time(arguments: list[str], variables: dict[str, str]) -> float:
    began = time.perf_counter()
    environment = {**os.environ, **variables}
    subprocess.run([sys.executable, *arguments], env=environment, stdout=subprocess.DEVNULL, check=True)
    return 1e3 * (time.perf_counter() - began)
