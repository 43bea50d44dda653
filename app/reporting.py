"""Writes a report of the open recording as the window shows it: its marks, their review, the model's events."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtWidgets import QFileDialog, QWidget

from analysis.progress import Progress
from app.engine_process import EngineProcess
from app.jobs import Job, JobRunner
from app.review_queue import ReviewQueue
from app.session import Session

_FILES = "PDF (*.pdf);;One web page (*.html)"
_MOST_PAGES = 100


class Reporting(QObject):
    """Asks where, and has the report made in the engine process; `told` says how that went."""

    told = pyqtSignal(str, str)  # text and role, for the status line
    failed = pyqtSignal(object)

    def __init__(
        self, session: Session, queue: ReviewQueue, runner: JobRunner, engine: EngineProcess, window: QWidget
    ) -> None:
        """`window` is what the question stands above."""
        super().__init__(window)
        self._session, self._queue, self._runner, self._engine, self._window = session, queue, runner, engine, window

    def handlers(self) -> dict[str, Callable[[], None]]:
        """What the action does, by its identifier in app.actions."""
        return {"report": self.ask}

    def ask(self) -> None:
        """Ask for a file, and write the report there."""
        recording = self._session.recording
        if recording is None:
            self.told.emit("there is nothing to report yet: open a recording first", "warning")
            return
        name = str(recording.path.with_name(f"{recording.path.stem}_report.pdf"))
        path, chosen = QFileDialog.getSaveFileName(self._window, "Write a report", name, _FILES)
        if path:
            suffix = "" if Path(path).suffix else chosen.rpartition("*")[2].rstrip(")")
            self.write(Path(path + suffix))

    def write(self, path: Path) -> Job | None:
        """Write the report of what the window shows now; None without a recording."""
        arguments = self._arguments(path)
        if arguments is None:
            return None

        def work(progress: Progress) -> str:
            return str(self._engine.call("app.report_runs:make_report", arguments, progress).text)

        job = Job("Write the report", work, lane="gpu")
        job.succeeded.connect(self._on_written)
        job.failed.connect(self.failed)
        return self._runner.submit(job)

    def _arguments(self, path: Path) -> dict[str, Any] | None:
        """The request and what is shown; the engine draws it."""
        from analysis.reports.gather import Look  # here, since no window needs them to start
        from app.report_request import ReportRequest, Shown

        session = self._session
        if session.recording is None or session.montage is None:
            return None
        bad = tuple(session.bad_channels)
        look = Look(session.montage, session.view.display_filter, session.view.uv_per_mm, bad)
        request = ReportRequest(
            str(session.recording.path), str(path), bad_channels=bad, pages=_MOST_PAGES, marks_from="the window"
        )
        shown = Shown(session.marks.items, tuple(self._queue.live), session.prediction, look)
        return {"request": request, "shown": shown}

    def _on_written(self, text: str) -> None:
        self.told.emit(text, "muted")
