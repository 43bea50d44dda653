"""One start under measurement, in a process that has loaded nothing else: WHAT BEGAN PATH, and JSON on stdout."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext

_ROOMS = ("app", "viewers", "analysis", "models")


def start_bare(began: float, _path: str) -> dict[str, float]:
    """The least that a window of this kind takes."""
    import numpy  # noqa: F401
    import pyqtgraph
    from PyQt6.QtWidgets import QApplication, QMainWindow

    application = QApplication(["cerebroscope"])
    window = QMainWindow()
    window.setCentralWidget(pyqtgraph.GraphicsView())
    window.resize(1600, 900)
    window.show()
    application.processEvents()
    return {"bare": 1e3 * (time.time() - began)}


def start_window(began: float, path: str) -> dict[str, float]:
    """The main window as `main.py` opens it, and its first recording."""
    from PyQt6.QtWidgets import QApplication

    from app.main_window import MainWindow
    from app.settings import Settings

    application = QApplication(["cerebroscope"])
    window = MainWindow(Settings())
    window.resize(1600, 900)
    window.show()
    application.processEvents()
    found = {"start window": 1e3 * (time.time() - began)}
    found["start modules"] = float(sum(name.split(".")[0] in _ROOMS for name in sys.modules))
    asked = time.perf_counter()
    window.open_recording(path)
    _wait(lambda: window.session.recording is not None and window.reading.settled())
    found["start page"] = 1e3 * (time.perf_counter() - asked)
    window.close()
    return found


def _wait(done: Callable[[], bool], patience: float = 120.0) -> None:
    from PyQt6.QtCore import QCoreApplication, QEventLoop, QTimer

    tick = QTimer()
    tick.start(2)  # wakes the waiting loop even when the last event has come before the question was asked
    deadline = time.monotonic() + patience
    while not done():
        if time.monotonic() > deadline:
            raise TimeoutError(f"nothing was shown within {patience:g} s")
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)


def main(arguments: list[str]) -> None:
    """Start one thing and print its samples as JSON: WHAT BEGAN PATH."""
    from app.display import draw_off_screen, leave_cores_free
    from app.heap import no_collections

    leave_cores_free()
    draw_off_screen()
    what, began, path = arguments
    starts: dict[str, Callable[[float, str], dict[str, float]]] = {"bare": start_bare, "window": start_window}
    with no_collections() if what == "window" else nullcontext():  # as app.start does
        found = starts[what](float(began), path)
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
