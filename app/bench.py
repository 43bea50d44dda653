"""`main.py bench`: measures the program against its targets, each scenario in a fresh process, and prints a table."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from analysis.errors import AnalysisError
from app.bench_cases import ENGINE_CASES, VIEWER_CASES, Case, Measured, document, table
from app.bench_files import FILES, HOUR, make_file, shortened

NAMES = ("viewer", "engine", "neurduo", "axon", "prise", "simulate", "thresholds")
_SCENARIOS = {
    "start": ("hour",),
    "open": ("day", "hour"),
    "day": ("day",),
    "hour": ("hour",),
    "hour64": ("hour64",),
    "wide": ("wide",),
    "marks": ("hour", "marks3000", "marks100000"),
}
_STARTS = 5
YARDSTICK_MS = 5.7
_TIMEOUT = 900
_QUICK_SHARE = 0.1


def run_benches(names: Sequence[str], busy: bool, quick: bool, detail: bool, as_json: bool) -> int:
    """Run the named benches (all where none is named) and print what they measured; AnalysisError for other names."""
    for name in names:
        if name not in NAMES:
            raise AnalysisError(f"no bench is called {name!r}: there are {', '.join(NAMES)}")
    wanted = names or NAMES
    facts = machine()  # before the machine is warm with our own work
    rows: list[tuple[Case, Measured | str]] = []
    if "viewer" in wanted:
        rows += _bench_viewer(busy, quick, 6 if quick else 24, _QUICK_SHARE if quick else 1.0)
    if "engine" in wanted:
        rows += _bench_engine(3 if quick else 10)
    remarks = []
    if "neurduo" in wanted:
        more, remarks = _bench_neurduo(quick)
        rows += more
    for name in ("axon", "prise"):
        if name in wanted:
            more, remark = _bench_layers(name, 5 if quick else 20)
            rows, remarks = rows + more, remarks + remark
    for name in ("simulate", "thresholds"):
        if name in wanted:
            more, remark = _bench_simulation(name, quick)
            rows, remarks = rows + more, remarks + remark
    if as_json:
        cases = [document(case, found) for case, found in rows if isinstance(found, Measured)]
        print(json.dumps({"machine": facts, "cases": cases}, indent=2))
    else:
        print(_introduction(quick, facts))
        print(table(rows, detail))
        print("".join(f"\n{remark}\n" for remark in remarks), end="")
        print(_summary(rows))
    return 0


def machine() -> dict[str, Any]:
    """What the figures were taken on."""
    from importlib.metadata import version

    from app.engine_process import core_count

    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "system": platform.platform(),
        "cores": core_count(),
        "load": load,
        "python": platform.python_version(),
        "pyqt": version("PyQt6"),
        "numpy": version("numpy"),
        "yardstick_ms": yardstick(),
        "yardstick_of_targets_ms": YARDSTICK_MS,
    }


def yardstick() -> float:
    """Milliseconds for a float32 FFT there and back of 128 channels x 18 s x 1024 Hz on one thread: least of 15.

    The targets and the peer's figures were taken where this took YARDSTICK_MS; the ratio tells what a machine is worth.
    """
    import numpy as np
    from scipy import fft

    data = np.random.default_rng(0).normal(size=(128, 18_432)).astype(np.float32)
    best = float("inf")
    for _ in range(15):
        began = time.perf_counter()
        fft.irfft(fft.rfft(data, workers=1), data.shape[1], workers=1)
        best = min(best, time.perf_counter() - began)
    return 1000 * best


def _introduction(quick: bool, facts: dict[str, Any]) -> str:
    slower = facts["yardstick_ms"] / YARDSTICK_MS
    lines = [
        f"{facts['system']}, {facts['cores']} cores, load {facts['load']}, Python {facts['python']}, "
        f"PyQt {facts['pyqt']}, numpy {facts['numpy']}",
        "window 1600 x 900 off screen, page of 10 s; peer: mne-qt-browser 0.7.5 on a machine of this kind",
    ]
    lines.append(
        f"yardstick, an FFT of 128 channels there and back: {facts['yardstick_ms']:.1f} ms; {YARDSTICK_MS:g} ms where "
        f"targets and peer were measured, so this machine is {slower:.1f} x slower now"
    )
    if facts["load"] is not None and facts["load"] > facts["cores"]:
        lines.append("the machine is busy: wall times are too long; --detail shows processor time beside them")
    if quick:
        lines.append("quick: recordings a tenth as long, few repetitions; figures are rough")
    return "\n".join(lines) + "\n"


def _summary(rows: Sequence[tuple[Case, Measured | str]]) -> str:
    from app.bench_cases import verdict

    verdicts = [verdict(case, found) for case, found in rows if isinstance(found, Measured)]
    missing = sum(isinstance(found, str) for _, found in rows)
    text = f"\n{verdicts.count('pass')} within target, {verdicts.count('over')} over"
    return text + (f", {missing} not measured" if missing else "")


def _bench_viewer(busy: bool, quick: bool, repeats: int, share: float) -> list[tuple[Case, Measured | str]]:
    files = {name: shortened(file, share) for name, file in FILES.items()}
    if quick:
        files["hour"] = HOUR  # short already
    scenarios = dict(_SCENARIOS, **({"busy": ("hour",)} if busy else {}))
    measured: dict[str, Measured] = {}
    troubles: dict[str, str] = {}
    with _workplace(sum(file.bytes for file in files.values())) as folder:
        paths = {
            name: _say(f"making {name}", lambda file=file: make_file(file, folder)) for name, file in files.items()
        }
        for scenario, needed in scenarios.items():
            for _ in range(_STARTS if scenario == "start" else 1):
                outcome = _say(
                    f"measuring {scenario}", lambda s=scenario, n=needed: _run(s, repeats, [paths[f] for f in n])
                )
                if isinstance(outcome, str):
                    troubles[scenario] = outcome
                else:
                    _add(measured, outcome)
    return [
        (case, measured.get(case.name) or troubles.get(_scenario_of(case), "not measured"))
        for case in VIEWER_CASES
        if busy or case.name != "busy page"
    ]


def _scenario_of(case: Case) -> str:
    first = case.name.split()[0]
    return {"page": "day", "memory": "day", "marks3000": "marks", "marks100000": "marks"}.get(
        first, "open" if case.name.startswith("day open") else first
    )


def _add(measured: dict[str, Measured], outcome: dict[str, list[list[float]]]) -> None:
    for case, samples in outcome.items():
        before = measured.get(case, Measured(()))
        cpu = sorted(cpu for _, cpu in samples)[len(samples) // 2]
        measured[case] = Measured((*before.samples, *(wall for wall, _ in samples)), cpu)


def _run(scenario: str, repeats: int, paths: Sequence[Path]) -> dict[str, Any] | str:
    """The samples of a scenario in a process of its own, or the last line of what it complained of."""
    root = str(Path(__file__).resolve().parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")]).rstrip(":")}
    with tempfile.TemporaryDirectory(prefix="cerebroscope-bench-home-") as home:
        environment["CEREBROSCOPE_HOME"] = home
        arguments = [scenario, str(repeats), repr(time.time()), *map(str, paths)]
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-m", "app.bench_viewer", *arguments],
                env=environment,
                capture_output=True,
                text=True,
                timeout=_TIMEOUT,
            )
        except subprocess.TimeoutExpired:
            return f"no end after {_TIMEOUT} s"
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return f"failed: {lines[-1] if lines else f'exit code {done.returncode}'}"
    return json.loads(done.stdout.splitlines()[-1])


def _bench_engine(repeats: int) -> list[tuple[Case, Measured | str]]:
    from app.bench_engine import measure_engine

    found = _say("measuring engine", lambda: measure_engine(repeats))
    return [(case, Measured(tuple(found[case.name]))) for case in ENGINE_CASES]


def _bench_neurduo(quick: bool) -> tuple[list[tuple[Case, Measured | str]], list[str]]:
    """Rows and remarks: with all cores and everything, then with one thread the steps alone."""
    from app.bench_neurduo import explain, measure_neurduo, neurduo_rows
    from app.engine_process import core_count

    rows: list[tuple[Case, Measured | str]] = []
    remarks = []
    everything = max(2, core_count())
    for threads, seconds in ((everything, 600 if quick else 3600), (1, 0)):
        what = f"measuring neurduo with {threads} threads"
        found = _say(what, lambda t=threads, s=seconds: measure_neurduo(20 if quick else 100, t, s))
        if isinstance(found, str):
            rows.append((Case(f"neurduo {threads} threads", f"NeurDuo, {threads} threads", None), found))
        else:
            rows += neurduo_rows(found)
            remarks.append(explain(found))
    return rows, remarks


def _bench_layers(name: str, rounds: int) -> tuple[list[tuple[Case, Measured | str]], list[str]]:
    """Rows and remarks about the layers of AXON or PRiSE-EEG, with all cores."""
    from app import bench_axes, bench_experts
    from app.engine_process import core_count

    threads = core_count()
    measure = bench_axes.measure_axon if name == "axon" else bench_experts.measure_prise
    found = _say(f"measuring {name}", lambda: measure(rounds, threads))
    if isinstance(found, str):
        return [(Case(name, f"{name}, {threads} threads", None), found)], []
    if name == "axon":
        return list(bench_axes.axon_rows(found)), [bench_axes.explain(found)]
    return list(bench_experts.prise_rows(found)), [bench_experts.explain(found)]


def _bench_simulation(name: str, quick: bool) -> tuple[list[tuple[Case, Measured | str]], list[str]]:
    """Rows and remarks about the simulator: its speed, or what detectors without a model find in its recordings."""
    from app import bench_simulation as of

    if name == "simulate":
        found = _say("simulating", lambda: of.measure_simulator(2 if quick else 5, 300 if quick else 600))
        return list(of.simulator_rows(found)), [of.explain_simulator(found)]
    scores = _say("measuring thresholds", lambda: of.measure_thresholds(range(8 if quick else 36)))
    return list(of.threshold_rows(scores)), [of.explain_thresholds(scores)]


@contextmanager
def _workplace(needed: int) -> Iterator[Path]:
    """A temporary folder with room for the recordings, removed afterwards; refuses in words where there is none."""
    place = Path(tempfile.gettempdir())
    free = shutil.disk_usage(place).free
    if free < 1.2 * needed:
        raise AnalysisError(
            f"its recordings need {1.2 * needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free ({place}): "
            "free some space, set TMPDIR, or take --quick"
        )
    with tempfile.TemporaryDirectory(prefix="cerebroscope-bench-") as folder:
        yield Path(folder)


def _say(text: str, work: Callable[[], Any]) -> Any:
    """Tell on a terminal what is being done, since a bench takes minutes."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}…", end="", file=sys.stderr, flush=True)
    try:
        return work()
    finally:
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
