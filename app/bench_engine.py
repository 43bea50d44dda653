"""Measures the engine process: how long it takes to start, to answer, and to let go of work that is not wanted."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from analysis.progress import Cancelled, Progress
from app.engine_process import EngineProcess

_BEFORE_CANCEL = 0.3
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


def measure_engine(repeats: int) -> dict[str, list[float]]:
    """Samples in milliseconds by the names of the cases."""
    found: dict[str, list[float]] = {}

    def take(case: str, act: Callable[[], object]) -> None:
        began = time.perf_counter()
        act()
        found.setdefault(case, []).append(1e3 * (time.perf_counter() - began))

    for _ in range(repeats):
        with EngineProcess() as engine:
            take("engine start", lambda engine=engine: engine.call(f"{_HERE}:answer"))
    with EngineProcess() as engine:
        engine.call(f"{_HERE}:answer")
        array = np.ones(9_000_000 // 4, np.float32)
        for _ in range(10 * repeats):
            take("engine call", lambda: engine.call(f"{_HERE}:answer"))
        for _ in range(repeats):
            take("engine array", lambda: engine.call(f"{_HERE}:answer", {"array": array}))
        for case, function in (("engine cancel", "listen"), ("engine kill", "ignore")):
            for _ in range(repeats):
                found.setdefault(case, []).append(_cancel(engine, f"{_HERE}:{function}"))
                if case == "engine kill":
                    take("engine restart", lambda: engine.call(f"{_HERE}:answer"))
    return found


def _cancel(engine: EngineProcess, function: str) -> float:
    impatient = _Impatient()
    with suppress(Cancelled):
        engine.call(function, {}, impatient)
    return 1e3 * (time.perf_counter() - impatient.cancelled_at)
