"""Work on analyses in the engine process: one job for each kind, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from PyQt6.QtCore import QObject, pyqtSignal

from analysis.progress import Progress
from app.analysis_results import Wish
from app.engine_process import EngineProcess
from app.jobs import Job, JobRunner


class AnalysisWork(QObject):
    """Sends wishes to the engine; a job for the same kind and place takes the place of the one before."""

    progressed = pyqtSignal(str, object)  # a kind; share done and words
    failed = pyqtSignal(object, object)  # the wish and the error
    cancelled = pyqtSignal(object)  # the wish
    begun = pyqtSignal(str)  # a kind
    ended = pyqtSignal(str)  # a kind, whose job is gone

    def __init__(self, runner: JobRunner, engine: EngineProcess, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runner, self._engine = runner, engine
        self._jobs: dict[str, Job] = {}

    def job(self, kind: str) -> Job | None:
        """The job of a kind that is at work, or waits to be; None where there is none."""
        job = self._jobs.get(kind)
        return None if job is None or job.ended else job

    def make(self, wish: Wish, function: str, arguments: Mapping[str, Any], key: str, place: str) -> Job:
        """A job for a wish, to be submitted when what it leads to is connected."""
        from analysis.kinds import KINDS

        def work(progress: Progress) -> Any:
            return self._engine.call(function, dict(arguments), progress)

        title = f"{KINDS[wish.kind].title}, {' × '.join(m.title for m in wish.models)}"
        return Job(title, work, lane="gpu", key=key, replaces=place)

    def submit(self, wish: Wish, job: Job) -> None:
        """Set to work."""
        job.started.connect(partial(self._on_progress, wish.kind))
        job.progressed.connect(partial(self._on_progress, wish.kind))
        job.failed.connect(partial(self.failed.emit, wish))
        job.cancelled.connect(partial(self.cancelled.emit, wish))
        job.finished.connect(partial(self._on_finished, wish.kind, job))
        self._jobs[wish.kind] = job
        self._runner.submit(job)
        self._on_progress(wish.kind)
        self.begun.emit(wish.kind)

    def cancel(self, kind: str) -> None:
        """Stop the job of a kind, where there is one."""
        if kind in self._jobs:
            self._jobs[kind].cancel()

    def clear(self) -> None:
        """Stop all that is at work, and know nothing more of it."""
        for job in list(self._jobs.values()):
            job.cancel()
        self._jobs.clear()

    def tell(self, kind: str) -> None:
        """Tell how far the job of a kind is, where there is one."""
        self._on_progress(kind)

    def _on_progress(self, kind: str, done: float = 0.0, total: float = 0.0, text: str = "") -> None:
        job = self.job(kind)
        if job is not None:
            words = "waiting for the model at work" if job.state.value == "waiting" else text
            self.progressed.emit(kind, (min(1.0, done / total) if total > 0 else 0.0, words))

    def _on_finished(self, kind: str, job: Job) -> None:
        if self._jobs.get(kind) is job:
            del self._jobs[kind]
            self.ended.emit(kind)
