"""Work on analyses in the engine process: one job for each kind, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from PyQt6.QtCore import QObject, pyqtSignal

from analysis.analyses import Analysis
from analysis.progress import Progress
from app.analysis_results import Wish
from app.engine_process import EngineProcess
from app.hearing import LISTEN, Ask
from app.jobs import Job, JobRunner
from app.kept_results import KeptResults, key_of

_ANALYZE = "analysis.engine.analyze:analyze"


class AnalysisWork(QObject):
    """Sends wishes to the engine; a job for the same kind and place takes the place of the one before."""

    progressed = pyqtSignal(str, object)  # a kind; share done and words
    failed = pyqtSignal(object, object)  # the wish and the error
    cancelled = pyqtSignal(object)  # the wish
    begun = pyqtSignal(str)  # a kind
    ended = pyqtSignal(str)  # a kind, whose job is gone

    def __init__(
        self, runner: JobRunner, engine: EngineProcess, kept: KeptResults, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._runner, self._engine, self._kept = runner, engine, kept
        self._jobs: dict[str, Job] = {}

    def job(self, kind: str) -> Job | None:
        """The job of a kind that is at work, or waits to be; None where there is none."""
        job = self._jobs.get(kind)
        return None if job is None or job.ended else job

    def make(self, wish: Wish, path: str, place: str | None, priority: float = 0.0) -> Job:
        """A job for a wish, to be submitted when what it leads to is connected."""

        def ask(progress: Progress) -> Analysis:
            return self._engine.call(_ANALYZE, wish.arguments(path), progress)

        def work(progress: Progress) -> Analysis:
            return self._kept.answer(wish.key, Analysis, partial(ask, progress)) if wish.is_lasting else ask(progress)

        return Job(_title(wish), work, lane="gpu", key=wish.key, replaces=place, priority=priority)

    def make_hearing(
        self, wish: Wish, ask: Ask, recording_id: str, place: str | None, is_kept: bool = True, priority: float = 0.0
    ) -> Job:
        """A job that hears a stream on."""

        def listen(progress: Progress) -> Mapping[str, Analysis]:
            return self._engine.call(LISTEN, dict(ask.arguments), progress)

        def work(progress: Progress) -> Mapping[str, Analysis]:
            return self._kept.heard(key, listen, progress) if is_kept else listen(progress)

        key = key_of("heard", recording_id, (ask.key,), {})
        return Job(_title(wish), work, lane="gpu", key=ask.key, replaces=place, priority=priority)

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


def _title(wish: Wish) -> str:
    from analysis.kinds import KINDS

    return f"{KINDS[wish.kind].title}, {' × '.join(model.title for model in wish.models)}"
