"""Measures the engine process: how long it takes to start, to answer, and to let go of work that is not wanted."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import partial

import numpy as np

from analysis.progress import Cancelled, Progress
from app.bench_cases import Case, Measured, Rows
from app.bench_machine import copy_rate
from app.benches import Found, Plan
from app.engine_process import EngineProcess

_POOL = "ProcessPoolExecutor of one process"
ENGINE_CASES = (
    Case("engine start", "engine: start to first answer", None, rival=_POOL),
    Case("engine call", "engine: call and answer", None, rival=_POOL),
    Case("engine array", "engine: 9 MB there and back", None, rival=_POOL),
    Case("engine cancel", "engine: cancel, heard by the model", 1000, judged_by="most"),
    Case("engine kill", "engine: cancel, not heard, so killed", 1000, judged_by="most"),
    Case("engine restart", "engine: next answer after that", None),
)
_BEFORE_CANCEL = 0.3
_ARRAY_BYTES = 9_000_000
_HERE = "app.bench_engine"


def answer(array: np.ndarray | None = None) -> np.ndarray | None:
    """Return what was given; runs in the engine."""
    return array


def listen(progress: Progress) -> None:
    """Work that reports as a model does, ten times a second; runs in the engine."""
    while True:
        progress.report(0, 1)
        time.sleep(0.1)


def ignore() -> None:
    """Work that never reports; runs in the engine."""
    time.sleep(60)


class _Impatient(Progress):
    """Cancels itself a while after it was made."""

    def __init__(self) -> None:
        self.cancelled_at = time.perf_counter() + _BEFORE_CANCEL

    def check(self) -> None:
        if time.perf_counter() >= self.cancelled_at:
            raise Cancelled

    def report(self, done: float, total: float, message: str = "") -> None:
        self.check()


def bench(plan: Plan) -> Found:
    """Measure the engine process, in turn with a pool of one process where that can do the same."""
    found = measure_engine(plan.pick(3, 5, 10))
    floors = {
        "engine start": (min(found["bare"]), "a bare interpreter that loads numpy"),
        "engine array": (4 * _ARRAY_BYTES / copy_rate() / 1e6, "four copies: into the pipe and out of it, twice"),
    }
    rows: Rows = []
    for case in ENGINE_CASES:
        floor, floor_of = floors.get(case.name, (None, ""))
        rival = tuple(found.get(f"pool {case.name}", ()))
        rows.append((case, Measured(tuple(found[case.name]), None, rival, floor, floor_of)))
    return Found(rows, ["rival: a ProcessPoolExecutor of one process; it runs at full priority, the engine below it"])


def measure_engine(repeats: int) -> dict[str, list[float]]:
    """Samples in milliseconds by the names of the cases; "pool ..." those of the pool, "bare" an empty interpreter."""
    found: dict[str, list[float]] = {}
    take = partial(_take, found)
    spawn = multiprocessing.get_context("spawn")
    for _ in range(repeats):
        take("bare", lambda: subprocess.run([sys.executable, "-c", "import numpy"], check=True))
        with EngineProcess() as engine:
            take("engine start", lambda engine=engine: engine.call(f"{_HERE}:answer"))
        with ProcessPoolExecutor(1, spawn) as pool:
            take("pool engine start", lambda pool=pool: pool.submit(answer).result())
    with EngineProcess() as engine, ProcessPoolExecutor(1, spawn) as pool:
        engine.call(f"{_HERE}:answer")
        pool.submit(answer).result()
        array = np.ones(_ARRAY_BYTES // 4, np.float32)
        for _ in range(10 * repeats):
            take("engine call", lambda: engine.call(f"{_HERE}:answer"))
            take("pool engine call", lambda: pool.submit(answer).result())
        for _ in range(repeats):
            take("engine array", lambda: engine.call(f"{_HERE}:answer", {"array": array}))
            take("pool engine array", lambda: pool.submit(answer, array).result())
    _measure_ends(found, repeats)
    return found


def _measure_ends(found: dict[str, list[float]], repeats: int) -> None:
    """Cancelled calls, and the next answer after a process was killed for one."""
    with EngineProcess() as engine:
        engine.call(f"{_HERE}:answer")
        for case, function in (("engine cancel", "listen"), ("engine kill", "ignore")):
            for _ in range(repeats):
                found.setdefault(case, []).append(_cancel(engine, f"{_HERE}:{function}"))
                if case == "engine kill":
                    _take(found, "engine restart", lambda: engine.call(f"{_HERE}:answer"))


def _take(found: dict[str, list[float]], case: str, act: Callable[[], object]) -> None:
    began = time.perf_counter()
    act()
    found.setdefault(case, []).append(1e3 * (time.perf_counter() - began))


def _cancel(engine: EngineProcess, function: str) -> float:
    impatient = _Impatient()
    with suppress(Cancelled):
        engine.call(function, {}, impatient)
    return 1e3 * (time.perf_counter() - impatient.cancelled_at)
