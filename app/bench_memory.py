"""Memory over a day's work: a 24 h recording with a prediction on, many pages, many recordings, and a model at work.

One process of its own, `python -m app.bench_memory …`, measured from inside after its garbage was collected.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from app.bench_apart import run_apart
from app.bench_cases import Case, Measured, Rows
from app.bench_files import DAY, HOUR, make_file, shortened
from app.bench_machine import peak_mb, resident_mb
from app.bench_pages import workplace
from app.benches import Found, Plan
from app.heap import no_collections

if TYPE_CHECKING:
    from app.bench_viewer import Stage

_FILLING = (
    "the second quarter, from which growth is told, still fills what is kept of the day; in 3,000 page turns it stayed "
    "within 4 MB from the 800th on"
)
CASES = (
    Case("memory steady", "24 h, 23 ch, a prediction a second: window, pages turned", 400, (500, 8600), "MB"),
    Case("memory peak", "that: the most it ever was", 500, None, "MB", "most"),
    Case("memory pages", "that: growth over the page turns", 10, None, "MB", "most", missed=_FILLING),
    Case("memory recordings", "growth over the recordings opened and closed", 20, None, "MB", "most"),
    Case("memory widgets", "that: growth in objects of Qt", 1, None, "objects", "most"),
    Case("memory objects", "that: growth in objects of Python", 1000, None, "objects", "most"),
    Case("memory engine", "engine process: after a trained AXON has read a recording", None, None, "MB", "most"),
)
_PEER = (
    "peer: mne-qt-browser, which holds 0.5 GB of a recording that it reads from disk and 8.6 GB of one that it loads"
)
_STEPS = 20  # at which memory is read, over all page turns
_WARM = 2  # recordings opened before the first count
_MODEL = Path(__file__).resolve().parents[1] / "assets" / "checkpoints" / "axon.safetensors"
_PAGE = 10.0


@dataclass(frozen=True)
class Course:
    """How many pages are turned, how many recordings opened, and whether a model reads one of them."""

    pages: int
    recordings: int
    model: bool


def bench(plan: Plan) -> Found:
    """Measure memory over the course that belongs to the size."""
    course = plan.pick(Course(60, 4, False), Course(1000, 20, True), Course(1000, 20, True))
    share = plan.pick(0.01, 1.0, 1.0)
    hour = replace(HOUR, seconds=plan.pick(120, 600, 3600))
    files = [shortened(DAY, share), replace(hour, name="one"), replace(hour, name="other")]
    with workplace(sum(file.bytes for file in files)) as folder:
        paths = [plan.say(f"making {file.name}", lambda file=file: make_file(file, folder)) for file in files]
        numbers = [course.pages, course.recordings, int(course.model)]
        found = run_apart("app.bench_memory", [*map(str, numbers), *map(str, paths)])
    return Found(list(memory_rows(found)), [explain(course, found)] if isinstance(found, dict) else [])


def memory_rows(found: dict[str, Any] | str) -> Rows:
    """The rows of the table from what the process has measured."""
    if isinstance(found, str):
        return [(case, found) for case in CASES]
    floor = found["bare"][0]
    rows: Rows = []
    for case in CASES:
        if case.name not in found:
            rows.append((case, "not measured at this size"))
        elif case.name in ("memory steady", "memory peak"):
            least = Measured(tuple(found[case.name]), floor=floor, floor_of="Qt, numpy and pyqtgraph, an empty window")
            rows.append((case, least))
        else:
            rows.append((case, Measured(tuple(found[case.name]))))
    return rows


def explain(course: Course, found: dict[str, Any]) -> str:
    """What was done, and what bounds the memory."""
    return (
        f"{course.pages:,} pages turned, {course.recordings} recordings opened one after the other, all after the "
        f"garbage was collected; bounded by 100 MB of filtered blocks and 48 MB of overview; {_PEER}; memory after "
        f"each recording: {', '.join(f'{figure:.0f}' for figure in found['after each'])} MB"
    )


# In the process of its own


def measure_memory(course: Course, paths: Sequence[Path]) -> dict[str, list[float]]:
    """Go through the course and return samples by the names of the cases; `paths` are the day and two others."""
    found = {"bare": [_bare_window()]}
    from app.bench_viewer import open_stage

    stage = open_stage(paths[0], 1)
    with no_collections():  # only where memory is read, as the window itself does it rarely
        _show_prediction(stage)
        _turn_pages(stage, course.pages, found)
        _open_many(stage, course.recordings, paths[1:], found)
        if course.model:
            _run_model(stage, found)
    stage.window.close()
    return found


def _bare_window() -> float:
    """What an empty window takes with all that ours stands on."""
    import pyqtgraph
    from PyQt6.QtWidgets import QApplication, QMainWindow

    from analysis.fourier import rfft

    application = QApplication.instance() or QApplication(["cerebroscope"])
    window = QMainWindow()
    window.application = application
    window.setCentralWidget(pyqtgraph.GraphicsView())
    window.resize(1600, 900)
    window.show()
    application.processEvents()
    rfft(np.zeros((1, 1000), np.float32))
    window.close()
    return resident_mb()


def _show_prediction(stage: Stage) -> None:
    """Lay a probability for each second on the page, more than any model gives, and an event each ten minutes."""
    from analysis.annotation import Annotation
    from analysis.results import AnalysisRequest, SeizurePrediction

    session = stage.window.main.session
    count = int(session.duration)
    rng = np.random.default_rng(4)
    events = tuple(
        Annotation(float(at), 20.0, "seizure", confidence=0.9, author="model:bench") for at in range(0, count - 20, 600)
    )
    session.set_prediction(
        SeizurePrediction(
            AnalysisRequest("seizure", session.recording.id, ()),
            "",
            "",
            times=np.arange(count, dtype=float),
            durations=np.ones(count),
            probability=rng.random(count, dtype=np.float32),
            events=events,
            model_title="bench",
        )
    )
    stage.until(stage.window.settled)


def _turn_pages(stage: Stage, count: int, found: dict[str, list[float]]) -> None:
    """Turn pages in runs of ten from places anywhere; growth is told from the second quarter to the last one."""
    steps = []
    for i in range(count):
        if i % 10 == 0:
            start = stage.anywhere(11 * _PAGE)
        start += _PAGE
        stage.window.show(start, _PAGE)
        stage.until(stage.painted)
        if (i + 1) % max(1, count // _STEPS) == 0:
            steps.append(_settled_mb())
    quarter = max(1, len(steps) // 4)
    found["memory steady"] = steps[-quarter:]
    found["memory peak"] = [peak_mb()]
    found["memory pages"] = [float(np.median(steps[-quarter:]) - np.median(steps[quarter : 2 * quarter]))]


def _open_many(stage: Stage, count: int, paths: Sequence[Path], found: dict[str, list[float]]) -> None:
    """Open recordings in turn, which closes the one before; growth is told from the first time both were open."""
    from PyQt6.QtCore import QObject

    main = stage.window.main
    memory, widgets, objects = [], [], []
    for i in range(_WARM + count):
        before = main.session.recording
        main.open_recording(str(paths[i % len(paths)]))
        stage.until(lambda before=before: main.session.recording is not before and stage.window.settled())
        stage.rest(0.05)
        memory.append(_settled_mb())
        widgets.append(len(main.findChildren(QObject)))
        objects.append(len(gc.get_objects()))
    # The same recording is open at both times where their number is even.
    first, last = _WARM - 1, _WARM + count - count % 2 - 1
    found["after each"] = memory
    found["memory recordings"] = [memory[last] - memory[first]]
    found["memory widgets"] = [float(widgets[last] - widgets[first])]
    found["memory objects"] = [float(objects[last] - objects[first])]


def _run_model(stage: Stage, found: dict[str, list[float]]) -> None:
    stage.window.load_model(str(_MODEL))
    stage.until(stage.window.settled)
    from app.commands import run_model

    main = stage.window.main
    run_model(main)
    deadline = time.monotonic() + 60
    while not stage.window.settled() and time.monotonic() < deadline:
        time.sleep(0.05)
    pid = main.engine.pid
    if pid is not None:
        found["memory engine"] = [resident_mb(pid)]


def _settled_mb() -> float:
    from PyQt6.QtCore import QCoreApplication, QEvent

    # What goes with the next turn of the loop, which no loop runs here to take.
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()
    return resident_mb()


def main(arguments: list[str]) -> None:
    """Go through one course and print its samples as JSON: PAGES RECORDINGS MODEL DAY ONE OTHER."""
    from app.display import draw_off_screen, leave_cores_free
    from app.qt_log import log_qt_messages
    from app.terminal import quiet_libraries

    leave_cores_free()
    draw_off_screen()
    quiet_libraries(debug=False)
    log_qt_messages()
    pages, recordings, model, *paths = arguments
    course = Course(int(pages), int(recordings), bool(int(model)))
    print(json.dumps(measure_memory(course, [Path(path) for path in paths])), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
