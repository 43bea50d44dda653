"""Work in the background: Job is what a person sees of it, JobRunner does it on threads of its own.

The only file that starts threads in the process of the window. A job is a plain function of a Progress and knows
nothing of Qt.
"""

from __future__ import annotations

import atexit
import heapq
import threading
import time
from collections.abc import Callable, Iterable
from enum import StrEnum
from itertools import count
from typing import Any

from PyQt6.QtCore import QObject, Qt, pyqtSignal

from analysis.progress import Cancelled, Progress

LANES = {"gpu": 1, "io": 3}
_WARM_UP_SHARE = 0.01
_FORGOTTEN = 1.0


class JobState(StrEnum):
    """Where a job stands; the last four are ends."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"
    REPLACED = "replaced"

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self not in (JobState.WAITING, JobState.RUNNING)


class Job(QObject):
    """One piece of work as its owner sees it; made, submitted and cancelled on one thread, which gets every signal.

    `function` takes a Progress and returns the result. `lane` is "gpu" (one at a time) or "io" (a few at a time).
    `key` names what is computed: a job with the key of one that has not ended shares its work. `replaces` names a
    place that holds one answer, such as "page": a newer job of that name takes the place of an older one.
    Among waiting jobs those with the lowest `priority` come first. Connect first, then submit.
    """

    started = pyqtSignal()
    progressed = pyqtSignal(float, float, str)
    partial = pyqtSignal(object)
    succeeded = pyqtSignal(object)
    failed = pyqtSignal(object)
    cancelled = pyqtSignal()
    replaced = pyqtSignal()
    finished = pyqtSignal()
    _told = pyqtSignal(object)

    def __init__(
        self,
        title: str,
        function: Callable[[Progress], Any],
        *,
        lane: str = "gpu",
        key: str | None = None,
        replaces: str | None = None,
        priority: float = 0.0,
    ) -> None:
        super().__init__()
        if lane not in LANES:
            raise ValueError(f"no lane is called {lane!r}; there are: {', '.join(LANES)}")
        self.title = title
        self.lane = lane
        self.key = key
        self.replaces = replaces
        self.priority = priority
        self.state = JobState.WAITING
        self.progress: tuple[float, float, str] = (0.0, 0.0, "")
        self.result: Any = None
        self.error: BaseException | None = None
        self._function = function
        self._work: _Work | None = None
        self._first_progress: tuple[float, float] | None = None
        self._ended_at: float | None = None
        self._started_at: float | None = None
        # Queued, so that whatever the worker tells is acted upon by the thread that owns the job.
        self._told.connect(self._on_told, Qt.ConnectionType.QueuedConnection)

    @property
    def ended(self) -> bool:
        """Whether the job is done, cancelled, failed or replaced."""
        return self.state.ended

    @property
    def seconds(self) -> float:
        """How long the job has run, or ran."""
        if self._started_at is None:
            return 0.0
        return (self._ended_at or time.monotonic()) - self._started_at

    @property
    def time_left(self) -> float | None:
        """Estimated seconds to the end, from the speed since the first report; None while that says too little."""
        if self._first_progress is None or self.ended:
            return None
        done, total, _ = self.progress
        began, first = self._first_progress
        gained = done - first
        if total <= 0 or gained < _WARM_UP_SHARE * total:
            return None
        return max(0.0, (time.monotonic() - began) * (total - done) / gained)

    def cancel(self) -> None:
        """Stop wanting the result; work that nobody else wants stops at its next report."""
        self._leave(JobState.CANCELLED)

    def _leave(self, state: JobState) -> None:
        if self.ended:
            return
        if self._work is not None:
            self._work.drop(self)
        self._end(state)

    def _on_told(self, event: tuple[str, Any]) -> None:
        if self.ended:
            return
        what, value = event
        if what == "started":
            self.state = JobState.RUNNING
            self._started_at = time.monotonic()
            self.started.emit()
        elif what == "progress":
            self._take_progress()
        elif what == "partial":
            self.partial.emit(value)
        elif what == "succeeded":
            self.result = value
            self._end(JobState.DONE)
        elif what == "failed":
            self.error = value
            self._end(JobState.FAILED)
        elif what == "cancelled":
            self._end(JobState.CANCELLED)

    def _take_progress(self) -> None:
        assert self._work is not None
        self.progress = self._work.take_progress()
        if self._first_progress is None:
            self._first_progress = (time.monotonic(), self.progress[0])
        self.progressed.emit(*self.progress)

    def _end(self, state: JobState) -> None:
        self.state = state
        self._ended_at = time.monotonic()
        if state is JobState.DONE:
            self.succeeded.emit(self.result)
        elif state is JobState.FAILED:
            self.failed.emit(self.error)
        elif state is JobState.CANCELLED:
            self.cancelled.emit()
        else:
            self.replaced.emit()
        self.finished.emit()


class _Work(Progress):
    """The function being run, the jobs that wait for it, and the Progress it reports to."""

    def __init__(self, job: Job) -> None:
        self.function = job._function
        self.key = job.key
        self._lock = threading.Lock()
        self._jobs: list[Job] = []
        self._unwanted = threading.Event()
        self._running = False
        self._over = False
        self._progress: tuple[float, float, str] = (0.0, 0.0, "")
        self._progress_told: set[Job] = set()
        self.join(job)

    @property
    def wanted(self) -> bool:
        """Whether any job still waits for the result."""
        return not self._unwanted.is_set()

    def join(self, job: Job) -> bool:
        """Let one more job wait for the result; False when it is too late for that."""
        with self._lock:
            if self._over or self._unwanted.is_set():
                return False
            self._jobs.append(job)
            job._work = self
            if self._running:
                job._told.emit(("started", None))
            return True

    def drop(self, job: Job) -> None:
        """Let a job go that no longer wants the result."""
        with self._lock:
            if job in self._jobs:
                self._jobs.remove(job)
            if not self._jobs:
                self._unwanted.set()

    def run(self) -> None:
        """Run the function to whatever end, on the thread of a lane."""
        if not self.wanted:
            return
        with self._lock:
            self._running = True
        self._tell("started")
        try:
            result = self.function(self)
        except Cancelled:
            self._finish("cancelled", None)
        except BaseException as error:  # travels whole to whoever asked; this thread has to live on
            self._finish("failed", error)
        else:
            self._finish("succeeded", result)

    def check(self) -> None:
        """Raise Cancelled when no job waits for the result."""
        if not self.wanted:
            raise Cancelled

    def report(self, done: float, total: float, message: str = "") -> None:
        """Pass progress on without flooding the window: one waiting event a job, always with the newest figures."""
        self.check()
        with self._lock:
            self._progress = (done, total, message)
            behind = [job for job in self._jobs if job not in self._progress_told]
            self._progress_told.update(behind)
        for job in behind:
            job._told.emit(("progress", None))

    def partial(self, result: Any) -> None:
        """Pass a partial result on, whole and in order."""
        self.check()
        self._tell("partial", result)

    def take_progress(self) -> tuple[float, float, str]:
        """The newest figures; from now on the next report is told again."""
        with self._lock:
            self._progress_told.clear()
            return self._progress

    def _finish(self, end: str, value: Any) -> None:
        with self._lock:
            self._over = True
        self._tell(end, value)

    def _tell(self, what: str, value: Any = None) -> None:
        with self._lock:
            jobs = list(self._jobs)
        for job in jobs:
            job._told.emit((what, value))


class _Lane:
    """A few threads that take the most urgent work first; they are started when there is something to do."""

    def __init__(self, name: str, size: int) -> None:
        self._name = name
        self._size = size
        self._changed = threading.Condition()
        self._waiting: list[tuple[float, int, _Work]] = []
        self._order = count()
        self._threads: list[threading.Thread] = []
        self._idle = 0
        self._open = True

    def put(self, work: _Work, priority: float) -> None:
        with self._changed:
            heapq.heappush(self._waiting, (priority, next(self._order), work))
            if self._idle < len(self._waiting) and len(self._threads) < self._size:
                # Daemons: a thread stuck in foreign code must not keep the program alive after the window is gone.
                thread = threading.Thread(target=self._serve, name=f"{self._name}-{len(self._threads)}", daemon=True)
                self._threads.append(thread)
                thread.start()
            self._changed.notify()

    def close(self) -> list[threading.Thread]:
        with self._changed:
            self._open = False
            self._waiting.clear()
            self._changed.notify_all()
            return list(self._threads)

    def _serve(self) -> None:
        while True:
            with self._changed:
                self._idle += 1
                while self._open and not self._waiting:
                    self._changed.wait()
                self._idle -= 1
                if not self._open:
                    return
                _, _, work = heapq.heappop(self._waiting)
            work.run()


class JobRunner(QObject):
    """Runs jobs in lanes; equal requests are computed once and newer ones take the place of older ones."""

    added = pyqtSignal(object)

    def __init__(self, lanes: dict[str, int] | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        _running.add(self)
        self._lanes = {name: _Lane(name, size) for name, size in (lanes or LANES).items()}
        self._jobs: list[Job] = []
        self._closed = False

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs that have not ended, oldest first."""
        return tuple(job for job in self._jobs if not job.ended)

    def submit(self, job: Job) -> Job:
        """Start a job as soon as its lane is free; returns it. After `shutdown` it is cancelled at once."""
        if self._closed:
            job.cancel()
            return job
        older = [other for other in self.jobs if job.replaces is not None and other.replaces == job.replaces]
        # The new job joins before the old one lets go, so that work they share is not thrown away in between.
        if not self._join(job, self.jobs):
            self._lanes[job.lane].put(_Work(job), job.priority)
        self._jobs = [*self.jobs, job]
        self.added.emit(job)
        for other in older:
            other._leave(JobState.REPLACED)
        return job

    def cancel_all(self) -> None:
        """Cancel every job that has not ended."""
        for job in self.jobs:
            job.cancel()

    def shutdown(self, timeout: float = 3.0) -> bool:
        """Cancel everything and wait for the threads; False when one is still busy after `timeout` seconds."""
        self._closed = True
        _running.discard(self)
        self.cancel_all()
        threads = [thread for lane in self._lanes.values() for thread in lane.close()]
        deadline = time.monotonic() + timeout
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in threads)

    @staticmethod
    def _join(job: Job, others: Iterable[Job]) -> bool:
        if job.key is None:
            return False
        return any(o.key == job.key and o._work is not None and o._work.join(job) for o in others)


_running: set[JobRunner] = set()


@atexit.register
def _stop_what_was_forgotten() -> None:
    """End lanes that nobody shut down: a thread inside Qt that meets a dying interpreter aborts the process."""
    for runner in list(_running):
        runner.shutdown(_FORGOTTEN)
