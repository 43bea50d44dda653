"""Opens recordings in the background, then makes the pass that finds their annotations and their overview."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PyQt6.QtCore import QObject, pyqtSignal

from analysis.annotation import number_annotations
from analysis.channel_quality import ChannelQuality, assess_channels
from analysis.event_tables import EventTable
from analysis.mains import estimate_mains
from analysis.marks import Marks
from analysis.overview import Overview, build_overview
from analysis.progress import Progress
from analysis.recording import Recording
from analysis.review.raters import said_by_file
from app.engine_process import EngineProcess
from app.heap import no_collections
from app.jobs import Job, JobRunner
from app.remote_recording import open_for_window


class RecordingOpener(QObject):
    """Turns a path into an open recording; header first, annotations and overview as they are ready."""

    opened = pyqtSignal(object)
    overview_ready = pyqtSignal(object, object)  # Recording, Overview
    marks_ready = pyqtSignal(object, object)  # Recording, Marks
    quality_ready = pyqtSignal(object, object)  # Recording, quality by channel
    mains_ready = pyqtSignal(object, object)  # Recording, 50.0, 60.0 or None
    events_ready = pyqtSignal(object)
    failed = pyqtSignal(object)

    def __init__(self, runner: JobRunner, reader: EngineProcess, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runner = runner
        self._reader = reader
        self._jobs: list[Job] = []

    @property
    def busy(self) -> bool:
        """Whether something asked for here is still to come."""
        return any(not job.ended for job in self._jobs)

    def open(self, path: str | Path) -> None:
        """Open a recording; `opened` or `failed` follows."""
        job = self._job(f"Open {Path(path).name}", lambda _progress: open_for_window(path, self._reader), "open")
        job.succeeded.connect(self.opened)
        job.failed.connect(self.failed)
        self._runner.submit(job)

    def forget(self) -> None:
        """Want nothing more of the recording that was open; answers that are still to come are dropped."""
        for job in self._jobs:
            job.cancel()

    def survey(self, recording: Recording) -> None:
        """Find annotations, overview and channel quality of a recording; call when its first page is painted."""

        def work(progress: Progress) -> tuple[Marks, Overview]:
            overview = build_overview(recording, progress)
            with no_collections():  # annotations may come by the hundred thousand
                number_annotations(recording.annotations)
                return Marks.of(recording.annotations), overview

        job = self._job("Overview of the recording", work, "survey")
        job.succeeded.connect(lambda found: self.marks_ready.emit(recording, found[0]))
        job.succeeded.connect(lambda found: self.overview_ready.emit(recording, found[1]))
        job.failed.connect(self.failed)
        quality = self._job("Quality of the channels", lambda _progress: _assess(recording), "quality")
        quality.succeeded.connect(lambda found: self.quality_ready.emit(recording, found[0]))
        quality.succeeded.connect(lambda found: self.mains_ready.emit(recording, found[1]))
        quality.failed.connect(self.failed)
        self._runner.submit(quality)
        self._runner.submit(job)

    def read_events(self, path: str | Path, recording: Recording | None) -> None:
        """Read an event file chosen by the reader; `events_ready` or `failed` follows."""

        arguments = {
            "path": str(path),
            "duration": recording.duration if recording else None,
            "hints": [recording.path.stem] if recording else [],
        }

        def work(progress: Progress) -> EventTable:
            # In the reader process, since a recording of any format may be chosen for its events.
            table = self._reader.call("analysis.event_tables:read_marks", arguments, progress)
            return replace(table, events=said_by_file(table.events, Path(path).name))

        job = self._job(f"Read {Path(path).name}", work, "events")
        job.succeeded.connect(self.events_ready)
        job.failed.connect(self.failed)
        self._runner.submit(job)

    def _job(self, title: str, work, replaces: str) -> Job:
        job = Job(title, work, lane="io", replaces=replaces)
        self._jobs = [other for other in self._jobs if not other.ended]
        self._jobs.append(job)
        return job


def _assess(recording: Recording) -> tuple[dict[str, ChannelQuality], float | None]:
    return assess_channels(recording), estimate_mains(recording)
