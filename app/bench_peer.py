"""mne-qt-browser on the same recordings and the same machine, page by page, where it is installed.

It runs in a process of its own, `python -m app.bench_peer SCENARIO REPEATS BEGAN FILE`, as it comes: without loading
the recording ahead, all channels on the page, its own filter off, since it has none that follows the page.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from app.benches import Plan

INSTALL = "mne-qt-browser is not installed (pip install mne-qt-browser): its figures are those measured before"
# Of ours: what it is called here, and the recording that it is measured with.
_SCENARIOS = {
    "start": ("start", "hour"),
    "open": ("open", "day"),
    "day": ("day", "day"),
    "hour": ("hour", "hour"),
    "hour64": ("hour64", "hour64"),
    "wide": ("wide", "wide"),
    "marks": ("marks3000", "marks3000"),
}
_REST = 0.12
_SIZE = (1600, 900)


class Peer:
    """Measures mne-qt-browser in a scenario right after ours, in a process of its own, so that a busy hour meets both.

    `samples` (ms, or MB) are by the names of our cases; `remarks` say what is to be said of them.
    """

    def __init__(self, plan: Plan, repeats: int, paths: Mapping[str, Path], variables: Mapping[str, str]) -> None:
        self.samples: dict[str, list[float]] = {}
        self._plan, self._repeats, self._paths, self._variables = plan, repeats, paths, variables
        self._is_there = find_spec("mne_qt_browser") is not None
        self.remarks = [_rival_words() if self._is_there else INSTALL]

    def measure(self, scenario: str, is_counted: bool = True) -> None:
        """Take its samples of a scenario of ours, where it has something to show in it; a first start only compiles."""
        if not self._is_there or scenario not in _SCENARIOS:
            return
        from app.bench_apart import run_apart

        name, needed = _SCENARIOS[scenario]
        outcome = self._plan.say(
            f"measuring mne-qt-browser, {name}",
            lambda: run_apart(
                "app.bench_peer",
                [name, str(self._repeats), repr(time.time()), str(self._paths[needed])],
                self._variables,
            ),
        )
        if isinstance(outcome, str):
            self.remarks.append(f"mne-qt-browser, {name}: {outcome}")
            return
        for case, samples in outcome.items() if is_counted else ():
            self.samples.setdefault(case, []).extend(samples)


def _rival_words() -> str:
    from importlib.metadata import version

    return f"rival: mne-qt-browser {version('mne-qt-browser')}, in processes of its own in turn with ours, filter off"


class Browser:
    """One recording in mne-qt-browser, and the samples taken of it."""

    def __init__(self, path: Path) -> None:
        import mne
        from PyQt6.QtWidgets import QApplication

        self.application = QApplication.instance() or QApplication(["mne-qt-browser"])
        mne.viz.set_browser_backend("qt", verbose="ERROR")
        raw = mne.io.read_raw_edf(path, preload=False, verbose="ERROR")
        count = len(raw.ch_names)
        self.figure: Any = raw.plot(
            duration=10.0, n_channels=count, block=False, show=True, precompute=False, verbose="ERROR"
        )
        self.figure.resize(*_SIZE)
        self.plot = self.figure.mne.plt
        self.duration = float(raw.times[-1])
        self.rng = np.random.default_rng(3)
        self.samples: dict[str, list[float]] = {}
        self.paint()

    def paint(self) -> None:
        """Serve the window until everything asked for is painted."""
        self.application.processEvents()
        self.figure.mne.view.viewport().repaint()
        self.application.processEvents()

    def measure(self, case: str, act: Callable[[], object]) -> None:
        """Take one sample: from the act until the page is painted, in ms."""
        began = time.perf_counter()
        act()
        self.paint()
        self.samples.setdefault(case, []).append(1e3 * (time.perf_counter() - began))
        time.sleep(_REST)

    def show(self, start: float, length: float) -> None:
        """Show [start, start + length) seconds."""
        self.figure.mne.duration = length
        self.plot.setXRange(start, start + length, padding=0)

    def anywhere(self, length: float) -> float:
        """A time at which a page of this length fits."""
        return float(self.rng.uniform(0, max(0.0, self.duration - length)))

    def pages(self, case: str, count: int, length: float = 10.0, step: float = 10.0) -> None:
        """Turn pages one after the other."""
        start = self.anywhere(step * count + length)
        for i in range(count):
            self.measure(case, lambda i=i: self.show(start + i * step, length))

    def jumps(self, case: str, count: int, length: float = 10.0) -> None:
        """Show pages in no order."""
        for _ in range(count):
            self.measure(case, lambda: self.show(self.anywhere(length), length))


def measure_scenario(scenario: str, repeats: int, began: float, paths: list[Path]) -> dict[str, list[float]]:
    """The samples of one scenario."""
    opened = time.perf_counter()
    browser = Browser(paths[0])
    ready = 1e3 * (time.perf_counter() - opened)
    samples = browser.samples
    if scenario == "start":
        samples["start"] = [1e3 * (time.time() - began)]
    elif scenario == "open":
        samples["day open warm"] = [ready]
    elif scenario == "day":
        _measure_day(browser, repeats)
    elif scenario == "marks3000":
        samples["marks3000 open"] = [ready]
        browser.pages("marks3000 page", repeats)
    else:
        browser.pages(f"{scenario} page", repeats)
        if scenario == "wide":
            browser.jumps("wide jump", repeats)
        else:
            browser.pages(f"{scenario} scroll", repeats, step=10.0 / 15)
    return samples


def _measure_day(browser: Browser, repeats: int) -> None:
    from app.bench_machine import resident_mb

    browser.pages("day page", repeats)
    browser.jumps("day jump", repeats)
    for i in range(repeats):
        length = (20.0, 10.0, 30.0, 15.0, 5.0, 10.0)[i % 6]
        browser.measure("day zoom", lambda length=length: browser.show(browser.anywhere(60.0), length))
    for i in range(repeats):
        factor = (1.5, 1 / 1.5)[i % 2]
        browser.measure("day sensitivity", lambda factor=factor: browser.figure.scale_all(step=factor))
    for case, length in (("page 60 s", 60.0), ("page 5 min", 300.0)):
        browser.jumps(case, max(4, repeats // 2), length)
    browser.samples["memory"] = [resident_mb()]


def main(arguments: list[str]) -> None:
    """Measure one scenario and print its samples as JSON: SCENARIO REPEATS BEGAN FILE…"""
    import os

    from app.display import draw_off_screen, leave_cores_free

    leave_cores_free()
    draw_off_screen()
    name, repeats, began, *paths = arguments
    outcome = measure_scenario(name, int(repeats), float(began), [Path(path) for path in paths])
    print(json.dumps(outcome), flush=True)
    os._exit(0)  # its window asks whether to save annotations, and some of its objects do not end in order


if __name__ == "__main__":
    main(sys.argv[1:])
