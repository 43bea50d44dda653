"""A picture of the real main window, drawn off screen once its background work is done."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from PyQt6.QtCore import QBuffer, QIODevice
from PyQt6.QtGui import QImage

from analysis.errors import AnalysisError
from analysis.kinds import KINDS
from analysis.montages.own import OwnMontages
from analysis.progress import Progress
from app.jobs import Job
from app.qt_log import log_qt_messages
from app.settings import Settings
from app.testing import Window, open_window
from models.whole_files import whole_file
from viewers.overlays import ANALYSIS_OVERLAYS

_PAUSE = 0.02
_NEEDS_MODEL = frozenset({"seizure", "model-events"})


@dataclass(frozen=True)
class Shot:
    """What the picture shows: files as the person named them, times in seconds, `size` in pixels."""

    recording: str
    checkpoints: tuple[str, ...] = ()
    head: str | None = None
    config: str | None = None
    start: float = 0.0
    duration: float | None = None
    uv_per_mm: float | None = None
    overlays: tuple[str, ...] = ()
    panel: str | None = None
    montage: str | None = None
    theme: str = "light"
    size: tuple[int, int] = (1600, 900)
    montages: Path | None = None  # folder of the reader's own


def take_screenshot(shot: Shot, out: Path, progress: Progress) -> list[str]:
    """Open the window, wait until everything asked for is shown, write a PNG; returns warnings.

    Raises whatever any of the window's work raised.
    """
    log_qt_messages()
    settings = Settings(theme=shot.theme)
    if shot.duration is not None:
        settings.page_seconds = shot.duration
    if shot.uv_per_mm is not None:
        settings.uv_per_mm = shot.uv_per_mm
    window = open_window(shot.recording, shot.size, settings, shot.start)
    try:
        failures: list[BaseException] = []
        window.main.runner.added.connect(lambda job: job.failed.connect(failures.append))
        _refuse_unknown(shot, window)
        _wait(window, failures, progress)
        _refuse_late_start(shot, window)
        _arrange(shot, window)
        for checkpoint in shot.checkpoints:
            window.load_model(checkpoint, shot.head, shot.config)
            _wait(window, failures, progress)
            if _finds_seizures(shot, window):
                window.run_model(checkpoint)
                _wait(window, failures, progress)
        _analyse(shot, window)
        _wait(window, failures, progress)
        picture = window.grab()
        with whole_file(out) as file:
            file.write(_png(picture))
        return _size_warnings(shot.size, picture)
    finally:
        window.close()


def _size_warnings(asked: tuple[int, int], picture: QImage) -> list[str]:
    size = (picture.width(), picture.height())
    if size == asked:
        return []
    return [f"the window cannot be {asked[0]} x {asked[1]}: the picture is {size[0]} x {size[1]}"]


def _refuse_unknown(shot: Shot, window: Window) -> None:
    inspected = window.main.measuring.inspector.names()
    overlays, panels = window.main.overlay_panel.names(), [*window.main.docks, *inspected, *KINDS]
    for name in shot.overlays:
        if name not in overlays:
            raise AnalysisError(f"no overlay is called {name!r} ({shot.recording}): choose one of {_listed(overlays)}")
        if (name in _NEEDS_MODEL or name in ANALYSIS_OVERLAYS) and not shot.checkpoints:
            raise AnalysisError(
                f"the overlay {name!r} shows what a model says ({shot.recording}): name a model with --checkpoint"
            )
    if shot.panel in KINDS and shot.panel not in window.main.docks and not shot.checkpoints:
        raise AnalysisError(
            f"the panel {shot.panel!r} shows the inside of a model ({shot.recording}): name a model with --checkpoint"
        )
    if shot.panel is not None and shot.panel not in panels:
        raise AnalysisError(f"no panel is called {shot.panel!r} ({shot.recording}): choose one of {_listed(panels)}")


def _refuse_late_start(shot: Shot, window: Window) -> None:
    duration = window.main.session.duration
    if shot.start >= duration:
        raise AnalysisError(
            f"there is nothing at {shot.start:g} s ({shot.recording}): choose a start within 0 to {duration:g} s"
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def _arrange(shot: Shot, window: Window) -> None:
    if shot.duration is not None:  # a length that nobody reads by is no habit, so the settings do not keep it
        window.show(shot.start, shot.duration)
    if shot.montage is not None:
        refused: list[str] = []
        window.main.session.refused.connect(refused.append)
        own = OwnMontages(shot.montages).montages()
        window.main.session.set_montage_options(replace(window.main.session.montage_options, own=own))
        window.set_montage(shot.montage)
        if refused:
            raise AnalysisError(f"{refused[0]} ({shot.recording}): choose another montage")
    for name in shot.overlays:
        if name not in ANALYSIS_OVERLAYS:
            window.main.overlay_panel.set_visible(name, True)
    inspected = window.main.measuring.inspector.names()
    if shot.panel in window.main.docks:
        window.main.docks[shot.panel].show()
        window.main.docks[shot.panel].raise_()
    elif shot.panel in inspected:
        window.main.measuring.dock.open(shot.panel)


def _analyses(shot: Shot, window: Window) -> list[str]:
    """The kinds of analysis that are to be seen, that of the panel last; a dock of the same name goes before."""
    drawn = [name for name in shot.overlays if name in ANALYSIS_OVERLAYS]
    return [*drawn, *([shot.panel] if shot.panel in KINDS and shot.panel not in window.main.docks else [])]


def _finds_seizures(shot: Shot, window: Window) -> bool:
    """Whether models are run over the recording: unless only their inside is looked at."""
    return not _analyses(shot, window) or bool(_NEEDS_MODEL & {*shot.overlays})


def _analyse(shot: Shot, window: Window) -> None:
    """Look into the first model, compared with the second where there is one."""
    analysing = window.main.analysing
    if kinds := _analyses(shot, window):
        window.main.model_panel.choose(shot.checkpoints[0])
    for kind in kinds:
        analysing.compare(kind, shot.checkpoints[1] if len(shot.checkpoints) > 1 else "")
        if kind not in analysing.offers.kinds():
            raise AnalysisError(f"{analysing.offers.why_not(kind)} ({shot.checkpoints[0]})")
        analysing.run(kind)
    if shot.panel in kinds:
        analysing.open(shot.panel)


def _wait(window: Window, failures: list[BaseException], progress: Progress) -> None:
    """Serve the window until it is settled, however long its models take."""
    while not window.settled() or window.main.measuring.busy:
        if failures:
            raise failures[0]
        jobs: tuple[Job, ...] = window.main.runner.jobs
        for job in (j for j in jobs if j.lane == "gpu"):
            done, total, _ = job.progress
            progress.report(done, total or 1.0, job.title)
        time.sleep(_PAUSE)
    if failures:
        raise failures[0]


def _png(image: QImage) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if not image.save(buffer, "PNG"):
        raise AnalysisError("the picture could not be encoded: choose a smaller size")
    return bytes(buffer.data())
