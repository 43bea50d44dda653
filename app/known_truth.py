"""The truth of a simulated recording, where it lies beside it: the focus of the seizure on the page, marked as such."""

from __future__ import annotations

from pathlib import Path

from PyQt6.QtCore import QObject, pyqtSignal

from analysis.recording import Recording, Window
from analysis.simulation.truth import Seizure, Truth, read_truth
from analysis.time_words import elapsed
from app.analysis_panel import AnalysisTab
from app.jobs import Job, JobRunner
from app.session import Session
from viewers.panels.topography import TopographyPanel
from viewers.recording_view import RecordingView


class KnownTruth(QObject):
    """Reads the truth once the first page is there, and tells which of its seizures is on the page."""

    focus_changed = pyqtSignal(object)  # Seizure or None
    found = pyqtSignal(object)  # Truth
    failed = pyqtSignal(object)

    def __init__(self, session: Session, view: RecordingView, runner: JobRunner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._view, self._runner = session, view, runner
        self.truth: Truth | None = None
        self.seizure: Seizure | None = None
        session.opened.connect(self._on_opened)
        session.window_changed.connect(self._follow)
        session.view_changed.connect(self._follow)

    def feed(self, *parts: TopographyPanel | AnalysisTab) -> None:
        """Have parts of the window mark the focus."""
        for part in parts:
            self.focus_changed.connect(part.set_focus)

    def read(self, recording: Recording) -> None:
        """Look for the truth beside a recording; call it when the first page is painted."""
        path = recording.path
        job = Job("Truth of a simulated recording", lambda _progress: (path, read_truth(path)), lane="io")
        job.succeeded.connect(self._on_read)
        job.failed.connect(self.failed)
        self._runner.submit(job)

    def _on_opened(self, _recording: Recording) -> None:
        self.truth = None
        self._follow()

    def _on_read(self, found: tuple[Path, Truth | None]) -> None:
        path, truth = found
        recording = self._session.recording
        if truth is not None and recording is not None and recording.path == path:
            self.truth = truth
            self._follow()
            self.found.emit(truth)

    def _follow(self, *_: object) -> None:
        seizure = seizure_on(self.truth, self._session.window)
        if seizure is not self.seizure:
            self.seizure = seizure
            told = (seizure.focus_channel, gutter_words(seizure)) if seizure is not None else ("", "")
            self._view.trace_view.gutter.set_focus(*told)
            self.focus_changed.emit(seizure)


def seizure_on(truth: Truth | None, window: Window) -> Seizure | None:
    """The seizure that fills most of a page; None where none is on it."""
    shares = [(min(one.stop, window.stop) - max(one.onset, window.start), one) for one in truth.events] if truth else []
    share, seizure = max(shares, key=lambda pair: pair[0], default=(0.0, None))
    return seizure if share > 0 else None


def gutter_words(seizure: Seizure) -> str:
    """What hovering over the row of a focus tells."""
    return f"simulated focus of the seizure at {elapsed(seizure.onset, 1)}: {seizure.focus_channel}, {seizure.region}"
