"""Walks through a table of recordings: opens each with what the model found in it, and keeps the place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PyQt6.QtCore import QObject, Qt, QTimer, pyqtSignal
from PyQt6.QtWidgets import QFileDialog, QWidget

from analysis.corpus_table import FAILED, TABLE, Row, read_table
from analysis.errors import RecordingError
from analysis.recording import Recording
from analysis.results import SeizurePrediction
from analysis.saved_predictions import read_prediction
from app.corpus_panel import CorpusPanel
from app.jobs import Job, JobRunner
from app.model_runs import ModelRuns
from app.review_queue import beyond_the_ends
from app.session import Session
from app.settings import Settings
from viewers.recording_view import RecordingView

_TABLES = f"Tables of recordings (*{TABLE});;Tables (*.tsv);;All files (*)"


@dataclass(frozen=True)
class Found:
    """A recording of the table as it lies on the disk, what is shown of it, and what is to be said of it."""

    path: Path
    prediction: SeizurePrediction | None
    told: str = ""


def is_table(path: str | Path) -> bool:
    """Whether a file is called like the table that predict writes."""
    return Path(path).name.endswith(TABLE)


def find(table: Path, row: Row) -> Found:
    """A row's recording and results: beside the table, or where they were; RecordingError where it is gone."""
    path = next((path for path in (table.parent / row.recording, Path(row.recording)) if path.exists()), None)
    if path is None:
        raise RecordingError(f"the recording is no longer there ({row.recording}): put it back, or go on to the next")
    if row.state == FAILED:
        return Found(path, None, row.reason)
    try:
        return Found(path, read_prediction(table.parent / row.folder), row.reason)
    except RecordingError as error:
        return Found(path, None, str(error))


class Walking(QObject):
    """Keeps the table that is open; `recording_wanted(path)` asks the window for a recording."""

    told = pyqtSignal(str, str)  # text and role, for the status line
    failed = pyqtSignal(object)
    table_opened = pyqtSignal(object)  # Path
    recording_wanted = pyqtSignal(str)

    def __init__(
        self,
        session: Session,
        runs: ModelRuns,
        runner: JobRunner,
        panel: CorpusPanel,
        view: RecordingView,
        settings: Settings,
        parent: QWidget,
    ) -> None:
        """`parent` is what questions stand above: the window itself."""
        super().__init__(parent)
        self._session, self._runs, self._runner = session, runs, runner
        self._panel, self._view, self._settings, self._parent = panel, view, settings, parent
        self.table: Path | None = None
        self._found: Found | None = None  # the recording that was asked for last
        panel.opened.connect(self._open)
        panel.open_requested.connect(self.ask)
        panel.next.clicked.connect(self.next)
        panel.previous.clicked.connect(self.previous)
        session.opened.connect(self._on_opened)

    def handlers(self) -> dict[str, Callable[[], None]]:
        """What the actions do."""
        return {"open_table": self.ask, "next_recording": self.next, "previous_recording": self.previous}

    # The table

    def ask(self) -> None:
        """Ask for a table and open it."""
        path, _ = QFileDialog.getOpenFileName(
            self._parent, "Open table of recordings", self._settings.last_folder, _TABLES
        )
        if path:
            self.open_table(path)

    def open_table(self, path: str | Path) -> Job:
        """Read a table in the background and list it, at the place where it was left."""
        path = Path(path).absolute()
        job = Job(f"Read {path.name}", lambda _progress: (path, read_table(path)), lane="io", replaces="table")
        job.succeeded.connect(self._show_table)
        job.failed.connect(self.failed)
        self._runner.submit(job)
        return job

    def _show_table(self, read: tuple[Path, Sequence[Row]]) -> None:
        self.table, rows = read
        self._panel.show_rows(rows, self._settings.table_places.get(str(self.table), ""))
        self.table_opened.emit(self.table)

    # From one to the next

    def next(self) -> None:
        """Open the next recording of those listed."""
        self._step(1)

    def previous(self) -> None:
        """Open the recording before."""
        self._step(-1)

    def _step(self, direction: int) -> None:
        if self.table is None:
            self.told.emit("Ctrl+Alt+O opens a table of recordings to walk through", "muted")
        elif not self._panel.step(direction):
            self.told.emit(beyond_the_ends("recording", direction, True), "muted")

    def _open(self, row: Row) -> None:
        table = self.table
        if table is None:
            return
        self._found = None
        self._settings.keep_place(table, row.folder)
        job = Job(f"Find {row.folder}", lambda _progress: find(table, row), lane="io", replaces="walk")
        job.succeeded.connect(self._on_found)
        job.failed.connect(lambda error: self.told.emit(str(error), "bad"))
        self._runner.submit(job)

    def _on_found(self, found: Found) -> None:
        self._found = found
        self._view.trace_view.canvas.setFocus(Qt.FocusReason.OtherFocusReason)  # for the keys that turn pages
        self.recording_wanted.emit(str(found.path))

    def _on_opened(self, _recording: Recording) -> None:
        if self._found is not None:
            QTimer.singleShot(0, self._show_found)  # once everyone has forgotten the recording before

    def _show_found(self) -> None:
        found, recording = self._found, self._session.recording
        if found is None or recording is None:
            return
        self._found = None
        if recording.path.absolute() != found.path.absolute():
            return  # another one was opened in between
        if found.told:
            self.told.emit(found.told, "warning")
        if found.prediction is None:
            return
        if found.prediction.request.recording_id == recording.id:
            self._runs.show_saved(found.prediction)
        else:
            self.told.emit("the recording has changed since the model ran: its results are not shown", "warning")
