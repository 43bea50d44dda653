"""Two raters side by side: which sources there are, their comparison in the background, and the way to each dispute."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from analysis.annotation import Annotation
from analysis.recording import Window
from analysis.review.columns import source_name
from analysis.review.decisions import reviewed
from analysis.review.queue import Queue
from analysis.review.raters import Comparison, Dispute, Overlap, compare_raters, overlap_by_type, rate
from app.jobs import Job, JobRunner
from app.raters_panel import Choice, RatersPanel
from app.review_queue import ReviewQueue, beyond_the_ends
from app.session import Session
from viewers.raters_lane import RatersLane
from viewers.recording_view import RecordingView

_PAUSE_MS = 200
_MOST_KINDS = 200
_FOUND, _REVIEWED = "found:", "reviewed:"  # what a model found, and what a review has left of it
_USUAL = {"file": "The recording's file", "reader": "You", "sidecar": "Other file"}

Compared = tuple[Comparison, dict[str, Overlap]]


class Comparing(QObject):
    """Keeps the raters' panel and lane up to date as long as the panel is shown."""

    said = pyqtSignal(str, str)  # text and role for the status line

    def __init__(
        self,
        session: Session,
        view: RecordingView,
        queue: ReviewQueue,
        panel: RatersPanel,
        runner: JobRunner,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._view = view
        self._queue = queue
        self._panel = panel
        self._runner = runner
        self._is_shown = False
        self.lane = RatersLane()
        self.lane.hide()
        view.add_lane(self.lane)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self._pause.timeout.connect(self._compare)
        queue.queue_changed.connect(self._on_queue)
        panel.choice_changed.connect(self._pause.start)
        panel.dispute_chosen.connect(self._go_to)
        panel.next.clicked.connect(self.next_dispute)
        panel.previous.clicked.connect(self.previous_dispute)
        self.lane.dispute_clicked.connect(self._on_clicked)

    def handlers(self) -> dict[str, Callable[[], None]]:
        """What the actions do."""
        return {"next_dispute": self.next_dispute, "previous_dispute": self.previous_dispute}

    @property
    def busy(self) -> bool:
        """Whether a comparison is still to come."""
        return self._pause.isActive()

    def set_shown(self, shown: bool) -> None:
        """Begin, or stop, to compare and to show the lane."""
        if shown != self._is_shown:
            self._is_shown = shown
            self._view.show_lane(self.lane.title, shown)
            if shown:
                self._offer()
                self._pause.start()

    # Sources

    def _on_queue(self, _queue: Queue) -> None:
        if self._is_shown:
            self._offer()
            self._pause.start()

    def _offer(self) -> None:
        self._panel.set_sources(self.sources(), self._kinds())

    def sources(self) -> dict[str, str]:
        """Who can be compared: a title for each key."""
        authors = sorted(self._session.marks.index.authors, key=lambda author: (author not in _USUAL, author))
        people = {a: _USUAL.get(a, a) for a in authors if not a.startswith("model:")}
        found = {event.author for event in self._events()}
        models = sorted(found | {a for a in authors if a.startswith("model:")})
        for author in models:
            name = source_name(author)
            if author in found:
                people[_FOUND + author] = f"{name}, as found"
            people[_REVIEWED + author] = f"{name}, reviewed"
        return people

    def _kinds(self) -> list[str]:
        """The types of marks there are, the most frequent first."""
        queue = self._queue.queue
        counts = np.bincount(queue.type, minlength=len(queue.vocabulary.types))
        order = np.argsort(-counts, kind="stable")[:_MOST_KINDS]
        return [queue.vocabulary.types[i] for i in order.tolist() if counts[i]]

    def _events(self) -> tuple[Annotation, ...]:
        prediction = self._session.prediction
        return prediction.events if prediction is not None else ()

    # The comparison

    def _compare(self) -> None:
        choice, duration = self._panel.choice, self._session.duration
        if not self._is_shown:
            return
        if choice is None or duration <= 0:
            self.lane.set_comparison(None)
            self._panel.say("Choose two different raters. A file with another rater's marks can be opened here.")
            return
        sources, items, events = self.sources(), self._session.marks.items, self._events()
        names = sources[choice.a], sources[choice.b]
        job = Job(
            "Agreement of two raters",
            lambda _progress: compare(choice, names, items, events, duration),
            lane="io",
            replaces="raters",
        )
        job.succeeded.connect(self._show)
        job.failed.connect(lambda error: self._panel.say(str(error)))
        self._runner.submit(job)

    def _show(self, compared: Compared) -> None:
        comparison, types = compared
        self._panel.show_comparison(comparison, types)
        self.lane.set_comparison(comparison)

    # Disputes

    def next_dispute(self) -> None:
        """Go to the next dispute: after the current one, or else from the page on."""
        self._step(1)

    def previous_dispute(self) -> None:
        """Go to the dispute before."""
        self._step(-1)

    def _step(self, direction: int) -> None:
        disputes = self._panel.model.disputes
        if not self._is_shown or self._panel.choice is None:
            self.said.emit("Ctrl+R compares two raters, and lists the spans that they disagree on", "muted")
            return
        if not disputes:
            self.said.emit("no disputed spans: the two raters agree", "muted")
            return
        row = self._panel.current_row
        has_current = row >= 0
        if not has_current:
            first = next((i for i, d in enumerate(disputes) if d.start >= self._session.window.start), len(disputes))
            row = first - (direction > 0)
        if 0 <= row + direction < len(disputes):
            self._panel.go_to(row + direction)
        else:
            self.said.emit(beyond_the_ends("disputed span", direction, has_current), "muted")

    def _on_clicked(self, dispute: Dispute) -> None:
        self._panel.go_to(list(self._panel.model.disputes).index(dispute))

    def _go_to(self, dispute: Dispute) -> None:
        """Bring a dispute to the middle of the page, selected, so that it can be marked."""
        self.lane.set_current(dispute)
        window = self._session.window
        if dispute.duration <= 0.8 * window.duration:
            start = (dispute.start + dispute.stop - window.duration) / 2
        else:
            start = dispute.start - 0.1 * window.duration
        self._session.go_to(start)
        self._view.set_selection(Window(dispute.start, dispute.stop) if dispute.duration else None)


def compare(
    choice: Choice,
    names: tuple[str, str],
    items: Sequence[Annotation],
    events: Sequence[Annotation],
    duration: float,
) -> Compared:
    """Compare the two sources of a choice, given all marks and the model's events."""
    marks = [marks_of(key, items, events) for key in (choice.a, choice.b)]
    a, b = (rate(name, said, choice.kind) for name, said in zip(names, marks, strict=True))
    found = compare_raters(a, b, duration, choice.step, choice.tolerance)
    return found, overlap_by_type(*marks, duration, choice.tolerance)


def marks_of(key: str, items: Sequence[Annotation], events: Sequence[Annotation]) -> list[Annotation]:
    """What a source says, by its key: a person, a file, a model as found, or a model as reviewed."""
    if key.startswith(_FOUND):
        return [event for event in events if event.author == key.removeprefix(_FOUND)]
    if key.startswith(_REVIEWED):
        author = key.removeprefix(_REVIEWED)
        return list(reviewed([e for e in events if e.author == author], items, author))
    return [mark for mark in items if mark.author == key and mark.review.decision != "rejected"]
