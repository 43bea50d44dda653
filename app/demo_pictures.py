"""The README's pictures: the demonstration at each stop of its tour, light and dark: python -m app.demo_pictures.

For developers. Stops whose model is not bundled are left out, and said to be.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from PyQt6.QtGui import QImage
from PyQt6.QtWidgets import QApplication

from app.display import draw_off_screen
from app.jobs import Job
from app.main_window import MainWindow
from app.settings import Settings
from app.testing import Window
from app.tour_stops import STOPS, Stop

FOLDER = Path(__file__).resolve().parents[1] / "assets/docs/demo"
THEMES = ("light", "dark")
_SIZE = 1600, 1000
_QUALITY = 70  # of WebP
_PATIENCE = 900.0  # seconds for all models on a slow machine
_CALM = 0.6  # seconds for the callout to find its place


def make_pictures(folder: Path, themes: Sequence[str] = THEMES, results: Path | None = None) -> list[Path]:
    """Write `KIND-THEME.webp` for each stop, and `window-THEME.webp` without the callout; returns what was written.

    `results` keeps what models found, so that only the first theme waits for them. Raises what any work raised.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for theme in themes:
        for name, image in _pictures(theme, results):
            path = folder / f"{name}-{theme}.webp"
            if not image.save(str(path), quality=_QUALITY):
                raise SystemExit(f"the picture could not be written ({path})")
            written.append(path)
            print(path.name, flush=True)
    return written


def _pictures(theme: str, results: Path | None) -> Iterator[tuple[str, QImage]]:
    main = MainWindow(Settings(theme=theme), results_folder=results)
    window, failures = Window(main), []

    def watch(job: Job) -> None:
        job.failed.connect(failures.append)

    main.runner.added.connect(watch)
    try:
        main.resize(*_SIZE)
        main.show()
        main.touring.show_demo(always=True)
        _settle(window, failures)
        for number, stop in enumerate(STOPS):
            main.touring.go_to(number)
            _settle(window, failures)
            if main.touring.callout is not None and main.touring.callout.remark.text():
                print(f"left out: {stop.title}, whose model is not bundled", flush=True)
                continue
            yield name_of(stop), window.grab()
        main.touring.dismiss()
        _settle(window, failures)
        yield "window", window.grab()
    finally:
        window.close()


def name_of(stop: Stop) -> str:
    """What the picture of a stop is called."""
    return stop.kind or "seizure"


def _settle(window: Window, failures: Sequence[BaseException]) -> None:
    """Serve the window until all is drawn, and a little longer."""
    window.wait(_PATIENCE)
    end = time.monotonic() + _CALM
    while time.monotonic() < end or not window.settled():
        time.sleep(0.01)
    if failures:
        raise failures[0]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER, help="where pictures are written")
    parser.add_argument("--themes", nargs="+", choices=THEMES, default=THEMES)
    options = parser.parse_args()
    draw_off_screen()
    application = QApplication(sys.argv[:1])
    with tempfile.TemporaryDirectory() as scratch:
        make_pictures(options.folder, options.themes, Path(scratch))
