"""Measures the real main window: one scenario in one fresh process, `python -m app.bench_viewer SCENARIO …`.

A case is over when the wanted page is painted. While it waits, the process sleeps until Qt has something to do, so that
waiting takes nothing from the threads it waits for.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from app.bench_files import forget
from app.bench_machine import resident_mb
from app.heap import no_collections

if TYPE_CHECKING:
    from app.testing import Window
    from viewers.panels.value_scale import Scale

SIZE = (1600, 900)
_TICK_MS = 2
_REST = 0.12  # between pages, as a quick reader rests; the next page is prepared meanwhile
_PATIENCE = 120.0
_FILTERS = (
    (1.0, 70.0, 0.0),
    (0.5, 35.0, 0.0),
    (0.3, 70.0, 50.0),
    (1.6, 50.0, 50.0),
    (0.5, 100.0, 60.0),
    (2.0, 30.0, 0.0),
)
_SENSITIVITIES = (10, 15, 20, 15, 10, 7)


class Stage:
    """A window under measurement, and the samples taken of it."""

    def __init__(self, window: Window, duration: float, repeats: int) -> None:
        from PyQt6.QtCore import QCoreApplication, QEventLoop, QTimer

        from app.garbage import GarbageRounds

        self.window = window
        self.duration = duration
        self.repeats = repeats
        self.samples: dict[str, list[tuple[float, float]]] = {}
        self._rounds = GarbageRounds()  # as in the program, where nothing else looks for garbage
        # A tick wakes the waiting loop even when the last event has come before the question was asked.
        self._timer = QTimer()
        self._timer.start(_TICK_MS)
        self._wait_for_events = lambda: QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)

    @cached_property
    def rng(self) -> np.random.Generator:
        """What chooses places in the recording."""
        return np.random.default_rng(3)

    def until(self, done: Callable[[], bool]) -> None:
        """Serve the window until something is so."""
        deadline = time.monotonic() + _PATIENCE
        while not done():
            if time.monotonic() > deadline:
                raise TimeoutError(f"nothing was shown within {_PATIENCE:g} s")
            self._wait_for_events()

    def painted(self) -> bool:
        """Whether the wanted page is on the screen, whatever else goes on."""
        main = self.window.main
        return main.session.recording is not None and main.reading.settled()

    def rest(self, seconds: float = _REST) -> None:
        """Serve the window for a while."""
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() >= end)

    def measure(self, case: str, act: Callable[[], None], done: Callable[[], bool] | None = None) -> None:
        """Take one sample: from the act until the page is painted, in ms of wall and of processor time."""
        wall, cpu = time.perf_counter(), time.process_time()
        act()
        self.until(done or self.painted)
        sample = (1e3 * (time.perf_counter() - wall), 1e3 * (time.process_time() - cpu))
        self.samples.setdefault(case, []).append(sample)

    def anywhere(self, length: float) -> float:
        """A time at which a page of this length fits."""
        return float(self.rng.uniform(0, max(0.0, self.duration - length)))

    def pages(self, case: str, length: float = 10.0, count: int | None = None) -> None:
        """Turn pages one after the other at a reader's pace."""
        count = count or self.repeats
        start = self.anywhere(length * (count + 1))
        self.window.show(start, length)
        self.until(self.painted)
        self.rest()
        for i in range(1, count + 1):
            self.measure(case, lambda i=i: self.window.show(start + i * length, length))
            self.rest()

    def jumps(self, case: str, length: float = 10.0, count: int | None = None) -> None:
        """Show pages in no order."""
        for _ in range(count or self.repeats):
            self.measure(case, lambda: self.window.show(self.anywhere(length), length))

    def scroll(self, case: str) -> None:
        """Move by a fifteenth of a page a frame, as fast as frames come."""
        start = self.anywhere(10.0 + self.repeats)
        self.window.show(start, 10.0)
        self.until(self.painted)
        self.rest()
        for i in range(1, 2 * self.repeats + 1):
            self.measure(case, lambda i=i: self.window.show(start + i * 10.0 / 15, 10.0))

    def sensitivities(self, case: str) -> None:
        """Change the sensitivity of a page at rest."""
        for i in range(self.repeats):
            self.measure(case, lambda i=i: self.window.set_sensitivity(_SENSITIVITIES[i % len(_SENSITIVITIES)]))
            self.rest(0.03)

    def zooms(self, case: str) -> None:
        """Change the length of the page around the same place."""
        lengths = (20.0, 10.0, 30.0, 15.0, 5.0, 10.0)
        for i in range(self.repeats):
            if i % len(lengths) == 0:
                self.window.show(start := self.anywhere(60.0), 10.0)
                self.until(self.painted)
            self.measure(case, lambda i=i, start=start: self.window.show(start, lengths[i % len(lengths)]))

    def montages(self, case: str, names: tuple[str, ...]) -> None:
        """Change the montage, each time on a page that was not seen before."""
        for i in range(max(4, self.repeats // 3)):
            self.window.show(self.anywhere(10.0), 10.0)
            self.until(self.painted)
            self.measure(case, lambda i=i: self.window.set_montage(names[i % len(names)]))

    def filters(self, case: str) -> None:
        """Change the filter, each time on a page that was not seen before."""
        for i in range(max(4, self.repeats // 3)):
            self.window.show(self.anywhere(10.0), 10.0)
            self.until(self.painted)
            self.measure(case, lambda i=i: self.window.set_filter(*_FILTERS[i % len(_FILTERS)]))

    def topographies(self, case: str) -> None:
        """Let the map of the scalp follow the cursor over a page at rest, until it is painted."""
        measuring = self.window.main.measuring
        panel = measuring.topography
        self.window.main.actions_by_id["show_topography"].trigger()
        self.window.show(start := self.anywhere(10.0), 10.0)
        self.until(lambda: self.painted() and not measuring.busy and panel.head.values is not None)
        self.rest()
        for i in range(4 * self.repeats):
            panel.set_time(start + 10.0 * (i % 37) / 37)
            self.rest(0.02)  # the words around it are painted too
            values, scale = panel.head.values, panel.scale
            self.measure(case, lambda v=values, s=scale: self._paint_map(v, s), lambda: True)

    def _paint_map(self, values: np.ndarray, scale: Scale) -> None:
        head = self.window.main.measuring.topography.head
        head.set_values(values, scale)
        head.repaint()


def open_stage(path: Path, repeats: int) -> Stage:
    """Open a recording in a new window and wait until everything about it is shown."""
    from app.testing import open_window

    stage = Stage(open_window(path, SIZE), 0.0, repeats)
    stage.until(stage.window.settled)
    stage.duration = stage.window.main.session.duration
    return stage


def scenario_start(paths: list[Path], _repeats: int, began: float) -> dict[str, Any]:
    """From the start of the process (`began`, seconds since the epoch) to the first painted page."""
    from app.testing import open_window

    stage = Stage(open_window(paths[0], SIZE), 0.0, 1)
    stage.until(stage.painted)
    stage.samples["start"] = [(1e3 * (time.time() - began), 1e3 * time.process_time())]
    return _outcome(stage)


def scenario_open(paths: list[Path], repeats: int, _: float) -> dict[str, Any]:
    """Open the long recording in a window that shows another one, from disk and from the system's memory."""
    stage = open_stage(paths[1], repeats)
    main = stage.window.main
    for case, cold in (("day open cold", True), ("day open warm", False)):
        for _ in range(max(3, repeats // 4)):
            main.open_recording(str(paths[1]))
            stage.until(stage.window.settled)
            if cold and not forget(paths[0]):
                break
            before = main.session.recording
            stage.measure(
                case,
                lambda: main.open_recording(str(paths[0])),
                lambda before=before: main.session.recording is not before and stage.painted(),
            )
            stage.until(stage.window.settled)
    return _outcome(stage)


def scenario_day(paths: list[Path], repeats: int, _: float) -> dict[str, Any]:
    """A long recording: pages, jumps, page lengths, and the memory after many jumps."""
    stage = open_stage(paths[0], repeats)
    stage.pages("day page")
    stage.jumps("day jump")
    stage.zooms("day zoom")
    stage.window.show(stage.anywhere(10.0), 10.0)
    stage.until(stage.painted)
    stage.sensitivities("day sensitivity")
    for case, length in (("page 60 s", 60.0), ("page 5 min", 300.0), ("page 1 h", 3600.0)):
        stage.jumps(case, length, max(4, repeats // 2))
    for _ in range(max(4, repeats // 2)):
        stage.window.show(stage.anywhere(3600.0), 3600.0)
        stage.until(stage.painted)
        stage.measure("page 24 h", lambda: stage.window.show(0.0, stage.duration))
    stage.jumps("", count=200 if repeats >= 10 else 40)
    del stage.samples[""]
    stage.samples["memory"] = [(resident_mb(), 0.0)]
    return _outcome(stage)


def scenario_hour(paths: list[Path], repeats: int, _: float) -> dict[str, Any]:
    """An hour of scalp EEG."""
    stage = open_stage(paths[0], repeats)
    stage.pages("hour page")
    stage.scroll("hour scroll")
    stage.montages("hour montage", ("as recorded", "common average", "LB-18.1"))
    stage.filters("hour filter")
    stage.topographies("hour topography")
    return _outcome(stage)


def scenario_hour64(paths: list[Path], repeats: int, _: float) -> dict[str, Any]:
    """An hour of 64 channels."""
    stage = open_stage(paths[0], repeats)
    stage.pages("hour64 page")
    stage.scroll("hour64 scroll")
    return _outcome(stage)


def scenario_wide(paths: list[Path], repeats: int, _: float) -> dict[str, Any]:
    """128 channels at 1024 Hz, all rows shown."""
    stage = open_stage(paths[0], repeats)
    stage.pages("wide page")
    stage.jumps("wide jump")
    stage.montages("wide montage", ("common average", "as recorded"))
    stage.filters("wide filter")
    return _outcome(stage)


def scenario_marks(paths: list[Path], repeats: int, _: float) -> dict[str, Any]:
    """Recordings with many annotations, opened in a window that shows another one."""
    stage = open_stage(paths[0], repeats)
    main = stage.window.main
    for path in paths[1:]:
        for _ in range(3):
            main.open_recording(str(paths[0]))
            stage.until(stage.window.settled)
            before = main.session.recording
            # Over when the page is painted and the marks are there, which come from a pass over the whole file.
            stage.measure(
                f"{path.stem} open",
                lambda path=path: main.open_recording(str(path)),
                lambda before=before: (
                    main.session.recording is not before and len(main.session.marks) and stage.painted()
                ),
            )
            stage.until(stage.window.settled)
        stage.duration = main.session.duration
        stage.pages(f"{path.stem} page")
    return _outcome(stage)


def scenario_busy(paths: list[Path], repeats: int, _: float) -> dict[str, Any]:
    """Turn pages while a model is loaded and runs."""
    stage = open_stage(paths[0], repeats)
    stage.window.run_model("brainmaze")
    main = stage.window.main
    start = 0.0
    for _ in range(6 * repeats):
        if not main.runs.busy:
            break
        start = (start + 10.0) % (stage.duration - 10.0)
        stage.measure("busy page", lambda start=start: stage.window.show(start, 10.0))
        stage.rest()
    main.runner.cancel_all()
    return _outcome(stage)


def _outcome(stage: Stage) -> dict[str, Any]:
    stage.window.close()
    return {case: [list(sample) for sample in samples] for case, samples in stage.samples.items()}


SCENARIOS = {
    name.removeprefix("scenario_"): run for name, run in list(globals().items()) if name.startswith("scenario_")
}


def main(arguments: list[str]) -> None:
    """Run one scenario and print its samples as JSON: SCENARIO REPEATS BEGAN FILE…"""
    from app.display import draw_off_screen, leave_cores_free
    from app.errors import install_hooks
    from app.qt_log import log_qt_messages
    from app.terminal import quiet_libraries

    leave_cores_free()
    draw_off_screen()
    quiet_libraries(debug=False)
    log_qt_messages()
    failures: list[BaseException] = []
    name, repeats, began, *paths = arguments
    remove_hooks = install_hooks(failures.append)
    try:
        with no_collections():  # as app.start serves its window
            outcome = SCENARIOS[name]([Path(path) for path in paths], int(repeats), float(began))
    finally:
        remove_hooks()
    if failures:
        raise failures[0]
    print(json.dumps(outcome), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
