"""What is being worked on: progress, time left, a way to stop it, and how it ended."""

from __future__ import annotations

from collections import deque

from PyQt6.QtWidgets import QApplication, QHBoxLayout, QProgressBar, QToolButton, QVBoxLayout, QWidget

from app.errors import describe_error
from app.jobs import Job
from app.panel import ElidedLabel, FactRow, label, set_role

_KEPT = 3


class JobRow(QWidget):
    """One job, from its start to its end."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job
        self._details = ""
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 2, 0, 2)
        column.setSpacing(2)
        self._title = FactRow(job.title, "waiting")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setRange(0, 1000)
        self._bar.setFixedHeight(5)
        self._cancel = QToolButton()
        self._cancel.setText("✕")
        self._cancel.setToolTip("Cancel (Esc)")
        self._cancel.setAutoRaise(True)
        self._cancel.clicked.connect(job.cancel)
        middle = QHBoxLayout()
        middle.setContentsMargins(0, 0, 0, 0)
        middle.addWidget(self._bar, 1)
        middle.addWidget(self._cancel)
        self._message = ElidedLabel("", "muted")
        self._outcome = label("", "bad", wrap=True)
        self._outcome.hide()
        self._copy = QToolButton()
        self._copy.setText("Copy details")
        self._copy.clicked.connect(self._copy_details)
        self._copy.hide()
        column.addWidget(self._title)
        column.addLayout(middle)
        column.addWidget(self._message)
        column.addWidget(self._outcome)
        column.addWidget(self._copy)
        self._connect(job)

    @property
    def running(self) -> bool:
        """Whether the job has not ended."""
        return not self._job.ended

    def _connect(self, job: Job) -> None:
        job.started.connect(self._on_started)
        job.progressed.connect(self._on_progressed)
        job.succeeded.connect(lambda _result: self._end(f"done  {job.seconds:.1f} s", "good"))
        job.cancelled.connect(lambda: self._end("cancelled", "muted"))
        job.replaced.connect(lambda: self._end("replaced", "muted"))
        job.failed.connect(self._on_failed)

    def _on_started(self) -> None:
        self._title.set(self._job.title, "")

    def _on_progressed(self, done: float, total: float, message: str) -> None:
        share = min(1.0, done / total) if total > 0 else 0.0
        self._bar.setValue(round(1000 * share))
        left = "" if self._job.time_left is None else f"{self._job.time_left:.0f} s left"
        self._message.setText(", ".join(part for part in (message, left) if part))

    def _end(self, outcome: str, role: str) -> None:
        self._bar.hide()
        self._cancel.hide()
        self._message.hide()
        self._title.set(self._job.title, outcome, role)

    def _on_failed(self, error: BaseException) -> None:
        self._end("failed", "bad")
        sentence, self._details = describe_error(error)
        self._outcome.setText(sentence)
        self._outcome.show()
        self._copy.show()
        set_role(self._outcome, "bad")

    def _copy_details(self) -> None:
        clipboard = QApplication.clipboard()
        assert clipboard is not None
        clipboard.setText(self._details)


class JobPanel(QWidget):
    """The jobs of this session, newest first; ended ones are kept until there are more than a few."""

    def __init__(self) -> None:
        super().__init__()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(2)
        self._empty = label("Nothing is running.", "muted")
        self._column.addWidget(self._empty)
        self._rows: deque[JobRow] = deque()

    def add(self, job: Job) -> None:
        """Show a job from now on."""
        self._empty.hide()
        row = JobRow(job)
        self._rows.appendleft(row)
        self._column.insertWidget(0, row)
        ended = [r for r in self._rows if not r.running]
        for old in ended[_KEPT - 1 :]:
            self._rows.remove(old)
            self._column.removeWidget(old)
            old.hide()  # at once: it is deleted later, and until then would lie under the others
            old.deleteLater()
