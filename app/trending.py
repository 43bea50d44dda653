"""Trends in the background: computed once per recording, kept on disk, shown above the traces when they are wanted."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from analysis.channel_quality import ChannelQuality, assess_channels
from analysis.errors import AnalysisError
from analysis.progress import Progress
from analysis.recording import Recording
from analysis.result_store import ResultStore
from analysis.trends.computation import TrendPass, request_for
from analysis.trends.result import Trends
from analysis.trends.sources import choose_sources
from app.jobs import Job, JobRunner
from app.recording_opening import RecordingOpener
from app.session import Session
from app.settings import Settings
from viewers.trends_view import TrendsView

SHORT_SECONDS = 5 * 60.0  # shorter recordings are shown without trends unless they are asked for
_PRIORITY = 10.0  # after all else that reads the recording
_LONG_SECONDS = 2 * 3600.0  # from here on the pass is listed among the jobs
_REST_MS = 1500
# While pages are turned the pass does a little four times a second, so that it takes no page's time and yet gets on.
_MOVING_SECONDS, _REST_SECONDS = 0.4, 0.25


@dataclass
class _Work:
    """What is computed for one opening of a recording, and the pass once it has begun; kept when it is stopped."""

    recording: Recording
    quality: Mapping[str, ChannelQuality] | None
    bad: frozenset[str]
    going: TrendPass | None = None


class Trending(QObject):
    """Starts the pass when the overview is there, keeps its result, and remembers what the reader wants to see."""

    shown_changed = pyqtSignal(bool)
    long_work = pyqtSignal(object)  # Job
    failed = pyqtSignal(object)

    def __init__(
        self,
        session: Session,
        view: TrendsView,
        opener: RecordingOpener,
        runner: JobRunner,
        settings: Settings,
        results_folder: Path | None = None,
        parent: QObject | None = None,
    ) -> None:
        """`results_folder` keeps trends from one opening to the next; None: they are computed each time."""
        super().__init__(parent)
        self._session = session
        self._view = view
        self._runner = runner
        self._settings = settings
        self._store = ResultStore(results_folder) if results_folder is not None else None
        self._quality: Mapping[str, ChannelQuality] | None = None
        self._ready = self._looked_up = False
        self._job: Job | None = None
        self._work: _Work | None = None
        self._trends: Trends | None = None
        self._bad_rest = QTimer(self)
        self._bad_rest.setSingleShot(True)
        self._bad_rest.setInterval(_REST_MS)
        self._bad_rest.timeout.connect(self._compute_anew)
        self._moved_at = -_MOVING_SECONDS
        session.opened.connect(self._on_opened)
        session.window_changed.connect(self._on_moved)
        session.bad_channels_changed.connect(self._on_bad_channels)
        opener.quality_ready.connect(self._on_quality)
        opener.overview_ready.connect(self._on_overview)
        view.look_changed.connect(self._on_look)
        view.hide_requested.connect(self.toggle)
        view.resume_requested.connect(self._start)
        view.set_look(settings.trends_span, settings.trends_top, settings.trends_unwanted, settings.trends_folded)

    def handlers(self) -> dict[str, Callable[[], None]]:
        """What the rows of the action table do."""
        return {"trends": self.toggle, "trends_span": self._view.step_span, "trends_walk": self._view.walk}

    @property
    def shown(self) -> bool:
        """Whether the strip is on the screen."""
        return self._view.isVisibleTo(self._view.parentWidget())

    @property
    def trends(self) -> Trends | None:
        """The trends of the open recording, as far as they are known."""
        return self._trends

    def toggle(self) -> None:
        """Show the strip or hide it, and remember that for recordings of this kind."""
        shown = not self.shown
        if self._is_short():
            self._settings.trends_of_short = shown
        else:
            self._settings.trends_shown = shown
        self._show(shown)

    def _is_short(self) -> bool:
        return self._session.duration < SHORT_SECONDS

    def _show(self, shown: bool) -> None:
        self._view.setVisible(shown)
        self.shown_changed.emit(shown)
        if shown:
            self._start()

    def _on_opened(self, _recording: Recording) -> None:
        self._forget()
        self._quality, self._ready, self._looked_up = None, False, False
        self._show(self._settings.trends_of_short if self._is_short() else self._settings.trends_shown)

    def _forget(self) -> None:
        self._bad_rest.stop()
        job, self._job = self._job, None
        self._work = self._trends = None
        if job is not None:
            job.cancel()

    def _on_quality(self, recording: Recording, quality: Mapping[str, ChannelQuality]) -> None:
        if recording is self._session.recording:
            self._quality = quality
            self._start()

    def _on_overview(self, recording: Recording, _overview: object) -> None:
        if recording is self._session.recording:
            self._ready = True
            self._start()

    def _on_bad_channels(self, _names: object) -> None:
        # Channels are marked one after the other; each pass takes seconds.
        self._bad_rest.start()

    def _compute_anew(self) -> None:
        self._forget()
        self._view.set_trends(None)
        self._start()

    def _on_look(self) -> None:
        settings, view = self._settings, self._view
        settings.trends_span, settings.trends_top = view.span, view.top
        settings.trends_unwanted, settings.trends_folded = view.unwanted, view.folded

    def _start(self) -> None:
        """Begin, or go on with, what is still to be computed of trends that are on the screen.

        Before the overview is there, only look for what was kept of them.
        """
        recording = self._session.recording
        done = self._trends is not None and self._trends.complete
        if recording is None or not self.shown or self._job is not None or done:
            return
        if not self._ready and (self._store is None or self._quality is None or self._looked_up):
            return
        if self._work is None:
            self._work = _Work(recording, self._quality, self._session.bad_channels)
        compute = partial(self._compute, self._work, self._session.window.start, self._ready)
        self._job = job = Job("Trends of the recording", compute, lane="io", replaces="trends", priority=_PRIORITY)
        job.progressed.connect(self._on_progress)
        job.partial.connect(self._take)
        job.succeeded.connect(self._on_done)
        job.cancelled.connect(self._on_cancelled)
        job.failed.connect(self._on_failed)
        if self._ready:
            self._view.set_state("computing…")
        self._runner.submit(job)
        if self._ready and recording.duration >= _LONG_SECONDS:
            self.long_work.emit(job)

    def _compute(self, work: _Work, start: float, whole: bool, progress: Progress) -> Trends | None:
        """On a thread of the runner: from the store, or (`whole`) by the pass that is begun or was stopped."""
        if work.going is None:
            recording = work.recording
            sources = choose_sources(recording, work.quality or assess_channels(recording), work.bad)
            kept = self._store.get(request_for(recording, sources).key()) if self._store is not None else None
            if isinstance(kept, Trends):
                return kept
            if not whole:
                return None
            work.going = TrendPass(recording, sources)
        trends = work.going.run(progress, start, self._rest)
        if self._store is not None:
            self._store.put(trends)
        return trends

    def _rest(self) -> float:
        """How long the pass leaves the processor to whoever makes pages."""
        return _REST_SECONDS if time.monotonic() - self._moved_at < _MOVING_SECONDS else 0.0

    def _on_moved(self, _window: object) -> None:
        self._moved_at = time.monotonic()

    def _take(self, trends: Trends) -> None:
        self._trends = trends
        self._view.set_trends(trends)

    def _on_progress(self, done: float, total: float, _message: str) -> None:
        self._view.set_state(f"computing {done / total:.0%}")

    def _on_done(self, trends: Trends | None) -> None:
        self._job = None
        if trends is None:
            self._looked_up = True
            self._start()
            return
        self._work = None
        self._take(trends)
        self._view.set_state("")

    def _on_cancelled(self) -> None:
        if self._job is None:
            return  # another recording was opened
        self._job = None
        going = self._work.going if self._work is not None else None
        share = f" at {going.share_done:.0%}" if going is not None else ""
        self._view.set_state(f"stopped{share}", stopped=True)

    def _on_failed(self, error: BaseException) -> None:
        self._job = self._work = None
        if isinstance(error, AnalysisError):
            self._view.set_state("no trends: no channel of brain signal can be used")
        else:
            self._view.set_state("the trends could not be computed", stopped=True)
            self.failed.emit(error)
