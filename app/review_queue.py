"""The queue of events to review: what is in it, where the reader is, and what the deciding keys do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
from PyQt6.QtCore import QObject, pyqtSignal

from analysis.annotation import UNREVIEWED, Annotation
from analysis.marks import Marks
from analysis.progress import Progress
from analysis.results import SeizurePrediction
from analysis.review.decisions import STANDINGS, Standing, Standings
from analysis.review.queue import TO_REVIEW, Queue
from app.heap import no_collections
from app.jobs import Job, JobRunner
from app.session import Session
from viewers.recording_view import RecordingView
from viewers.review_panel import ReviewPanel, hidden_words

_FEW_CHANGES = 4000  # more marks than this are put into columns in the background
_LEFT_OF_EVENT = 0.25  # of a page, before an event that is longer than half of it


class ReviewQueue(QObject):
    """Keeps table and view in step with the marks and the live events of a model, and walks through them."""

    current_changed = pyqtSignal(object)  # Annotation or None
    queue_changed = pyqtSignal(object)  # Queue
    listed_changed = pyqtSignal()
    said = pyqtSignal(str, str)  # text and role for the status line

    def __init__(
        self,
        session: Session,
        view: RecordingView,
        panel: ReviewPanel,
        runner: JobRunner,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._view = view
        self._panel = panel
        self._runner = runner
        self.queue = Queue.of(())
        self.current: Annotation | None = None
        self._last_row = 0  # where the current event stood in the list
        self._decided: list[int] = []  # ids, the latest decision last
        session.opened.connect(self._on_opened)
        session.marks_changed.connect(self._on_marks)
        session.prediction_changed.connect(self._on_prediction)
        session.hidden_types_changed.connect(self._on_hidden)
        view.event_clicked.connect(self._on_clicked)
        view.trace_view.editor.selected_changed.connect(self._on_selected)
        panel.picked.connect(self.choose)
        panel.listed_changed.connect(self.listed_changed)
        panel.hidden_changed.connect(session.hide_types)

    def handlers(self) -> dict[str, Callable[[], None]]:
        """What the actions of the review do."""
        return {
            "next_event": self.next,
            "previous_event": self.previous,
            "accept_event": self.accept,
            "reject_event": self.reject,
            "take_back": self.take_back,
            "next_to_review": self.next_to_review,
            "only_to_review": self.toggle_to_review,
        }

    # What is in the queue

    @property
    def live(self) -> tuple[Annotation, ...]:
        """The model's events that nobody has decided on, as the threshold gives them."""
        return self.queue.events.items

    @property
    def listed_count(self) -> int:
        """How many events pass the filters."""
        return self._panel.listed_count

    @property
    def is_current(self) -> bool:
        """Whether the table shows the marks as they stand."""
        return self.queue.marks.items is self._session.marks.items

    def _events(self) -> tuple[Annotation, ...]:
        prediction = self._session.prediction
        return prediction.events if prediction is not None else ()

    def _on_opened(self, _recording: object) -> None:
        self.queue = Queue.of(())
        self._decided.clear()
        self._set_current(None)
        self._panel.filter.reset()
        self._panel.set_hidden(self._session.hidden_types)

    def _on_marks(self, marks: Marks) -> None:
        first, last = self.queue.marks.unlike(marks.items)
        if len(marks.items) - first - last > _FEW_CHANGES:
            self._list_in_background(marks)
            if not self._session.hidden_types:
                self._view.set_marks(marks)
            return
        self._take(self.queue.with_marks(marks.items, self._events(), (first, last)))
        self._show_marks()

    def _list_in_background(self, marks: Marks) -> None:
        events = self._events()

        def work(_progress: Progress) -> Queue:
            with no_collections():
                return Queue.of(marks.items, events)

        job = Job(f"List {len(marks):,} marks", work, lane="io", replaces="queue")
        job.succeeded.connect(self._on_listed)
        self._runner.submit(job)

    def _on_listed(self, queue: Queue) -> None:
        # What was done meanwhile is followed; other marks of another recording are listed by a job of their own.
        self.queue = queue
        self._on_marks(self._session.marks)

    def _on_prediction(self, _prediction: SeizurePrediction | None) -> None:
        self._take(self.queue.with_events(self._events()))

    def _take(self, queue: Queue) -> None:
        self.queue = queue
        self._panel.show_queue(queue)
        self._show_events()
        self._follow_current()
        self.queue_changed.emit(queue)

    # What is seen of it on the traces

    def _on_hidden(self, types: frozenset[str]) -> None:
        self._panel.set_hidden(types)
        self._view.set_hidden_note(hidden_words(len(types)) if types else "")
        self._show_marks()
        self._show_events()

    def _show_marks(self) -> None:
        marks, hidden = self._session.marks, self._session.hidden_types
        if hidden and self.is_current:
            names = self.queue.vocabulary.types
            is_hidden = np.array([name in hidden for name in names], bool)
            marks = marks.where(~is_hidden[self.queue.marks.type])
        self._view.set_marks(marks)

    def _show_events(self) -> None:
        prediction, hidden = self._session.prediction, self._session.hidden_types
        if prediction is not None:
            seen = tuple(event for event in self.live if event.title not in hidden)
            prediction = replace(prediction, events=seen)
        self._view.set_prediction(prediction)

    # Where the reader is

    @property
    def chosen(self) -> Annotation | None:
        """The event that keys act on: the current one, or with none on the traces the one lit in the table."""
        return self.current if self.current is not None else self._panel.selected()

    def choose(self, mark: Annotation, move: bool = True) -> None:
        """Make an event current and, unless it is there already, bring it to the middle of the page."""
        self._panel.select(mark)
        self._set_current(mark)
        if move:
            self._centre_on(mark)

    def _on_clicked(self, mark: Annotation) -> None:
        """Make an event current where it is; the page moves only to one that is not on it."""
        window = self._session.window
        self.choose(mark, move=mark.onset >= window.stop or mark.stop < window.start)

    def _on_selected(self, mark: Annotation | None) -> None:
        """Follow a mark that was made, chosen or let go on the traces."""
        if mark is not self.current:
            self.current = mark
            if mark is not None:
                self._panel.select(mark)
            self.current_changed.emit(mark)

    def next(self) -> None:
        """Go to the next event of the list."""
        self._step(1)

    def previous(self) -> None:
        """Go to the event before."""
        self._step(-1)

    def next_to_review(self) -> None:
        """Go to the next event that waits for a decision: what a model found first of all."""
        row = self._row_after_current()
        waiting = self._first_in(TO_REVIEW, self.chosen, row) or self._next_waiting(self.chosen, row)
        if waiting is None:
            self.said.emit(self._no_other_word(), "muted")
        else:
            self.choose(waiting)

    def _no_other_word(self) -> str:
        """Why there is no event to go to that waits for a decision."""
        left = self.queue.number_of(TO_REVIEW)
        if not left:
            return "nothing is left to review" if len(self.queue) else "there are no events"
        if self._waits_listed():
            return "this is the only event left to review: Y accepts it, X rejects it"
        return f"{left:,} to review, not listed: the filters leave {'it' if left == 1 else 'them'} out"

    def _waits_listed(self) -> bool:
        return bool((self.queue.standing[self._panel.table.rows.places] == STANDINGS.index(TO_REVIEW)).any())

    def toggle_to_review(self) -> None:
        """List only what is to review, or everything again."""
        only = self._panel.toggle_to_review()
        self.said.emit("only events to review are listed" if only else "all events are listed", "muted")

    def _step(self, direction: int) -> None:
        # Who has turned to another page goes on from there, not from an event that is out of sight.
        from_page = self.chosen is None or not self._is_on_page(self.chosen)
        if self._panel.step(direction, self._session.window.start, from_page) is not None:
            return
        if not self.listed_count:
            self.said.emit("no events are listed", "muted")
        else:
            has_current = self._panel.selected() is not None and not from_page
            self.said.emit(beyond_the_ends("event", direction, has_current), "muted")

    def _is_on_page(self, mark: Annotation) -> bool:
        window = self._session.window
        return mark.onset < window.stop and (mark.stop > window.start or mark.onset == window.start)

    def _set_current(self, mark: Annotation | None) -> None:
        row = self._panel.table.currentIndex().row()
        self._last_row = row if row >= 0 else self._last_row
        self.current = mark
        self._view.set_current_event(mark)
        self.current_changed.emit(mark)

    def _follow_current(self) -> None:
        """Keep to the same event when it was changed, decided on, or derived anew with another threshold."""
        mark = self.current
        if mark is None:
            return
        later = self._as_it_is_now(mark)
        if later is not mark:
            self._panel.select(later)
            self._set_current(later)

    def _as_it_is_now(self, mark: Annotation) -> Annotation | None:
        queue = self.queue
        place = queue.place(mark)
        if place is None and mark.id:
            place = queue.place_of_id(mark.id)
        if place is not None:
            return queue.item(place)
        if not mark.is_model:
            return None
        # Taken back, or of another threshold: the event that lies where it was; else the mark that stands for it.
        near = [*(e for e in self.live if e.author == mark.author), *self._marks_on(mark)]
        overlap = [min(e.stop, mark.stop) - max(e.onset, mark.onset) for e in near]
        best = max(range(len(near)), key=overlap.__getitem__, default=None)
        return near[best] if best is not None and overlap[best] > 0 else None

    def _marks_on(self, event: Annotation) -> list[Annotation]:
        index = self._session.marks.of_source("model")
        found = [index.items[i] for i in index.within(event.onset, event.stop)]
        return [mark for mark in found if mark.author == event.author]

    def _centre_on(self, mark: Annotation) -> None:
        window = self._session.window
        margin = 0.05 * window.duration
        if mark.duration <= 0.5 * window.duration:
            if not window.start + margin <= mark.onset <= mark.stop <= window.stop - margin:
                self._session.go_to((mark.onset + mark.stop - window.duration) / 2)
        elif not window.start + margin <= mark.onset <= window.start + 0.5 * window.duration:
            self._session.go_to(mark.onset - _LEFT_OF_EVENT * window.duration)

    # Decisions

    def accept(self) -> None:
        """Accept the current event and go to the next one that waits."""
        self._decide("accepted")

    def reject(self) -> None:
        """Reject the current event and go to the next one that waits."""
        self._decide("rejected")

    def _decide(self, decision: Literal["accepted", "rejected"]) -> None:
        mark = self._to_decide_on(decision)
        if mark is None:
            return
        row = self._panel.table.rows.row_of(mark)
        decided = self._session.keeper.decide(mark, decision)
        self._decided.append(decided.id)
        # Filtered out of the list, it leaves its row to the one that follows.
        waiting = self._next_waiting(decided, self._row_after(decided, self._last_row if row is None else row))
        left = self.queue.number_of(TO_REVIEW)
        rest = f"{left:,} left to review" if left else "nothing is left to review"
        self.said.emit(f"{decided.title or 'mark'} {decision}; {rest}", "muted")
        self.choose(waiting or decided, move=waiting is not None)

    def _to_decide_on(self, decision: str) -> Annotation | None:
        """The current event as it stands, or None with a word why not: nobody decides on what is not on the page."""
        window, mark = self._session.window, self.chosen
        if mark is None:
            waiting = self._next_waiting(None, self._panel.table.rows.first_from(window.start))
            if waiting is None:
                self.said.emit("choose an event first: N goes to the next one", "muted")
                return None
            self.choose(waiting)
        elif self._is_on_page(mark):
            return self._session.keeper.find(mark) if mark.id else mark
        else:
            self.choose(mark)
        key = "Y" if decision == "accepted" else "X"
        self.said.emit(f"this is the event: {key} again and it is {decision}", "muted")
        return None

    def take_back(self) -> None:
        """Take back the decision on the current event, or else the latest one; a model's event is live again then."""
        mark = self.chosen
        if mark is None or not mark.review.decision:
            mark = self._latest_decided()
        found = self._session.keeper.find(mark) if mark is not None else None
        if found is None:
            self.said.emit("no decision to take back", "muted")
            return
        self.said.emit(f"decision on {found.title or 'mark'} taken back", "muted")
        if self._becomes_live(found):
            self._session.keeper.remove([found], f"Take back the decision on {found.title or 'mark'}")
        else:
            self._session.keeper.decide(found, "")
        again = self._as_it_is_now(found)
        if again is not None:
            self.choose(again)

    def _latest_decided(self) -> Annotation | None:
        """The mark that was decided on last in this window and still is."""
        while self._decided:
            mark = self._session.keeper.find(Annotation(0.0, 0.0, "", id=self._decided[-1]))
            if mark is not None and mark.review.decision:
                return mark
            self._decided.pop()
        return None

    def _becomes_live(self, mark: Annotation) -> bool:
        """Whether the model's event comes back by itself without the mark, and nothing a reader has added is lost."""
        plain = replace(mark.review, decision="", by="", at="", created="") == UNREVIEWED
        if not mark.is_model or not plain:
            return False
        stands = Standings.of([mark])
        return any(e.author == mark.author and stands.cover(e.onset, e.stop) for e in self._events())

    # Rows

    def _row_after_current(self) -> int:
        """The row at which the search for the next event begins."""
        return self._row_after(self.chosen, self._last_row) if self.chosen is not None else self._first_row()

    def _first_row(self) -> int:
        return self._panel.table.rows.first_from(self._session.window.start)

    def _row_after(self, mark: Annotation, otherwise: int) -> int:
        row = self._panel.table.rows.row_of(mark)
        return otherwise if row is None else row + 1

    def _next_waiting(self, after: Annotation | None, row: int) -> Annotation | None:
        """The first listed event from a row on that waits for a decision; then those before it.

        After a mark of a person, marks of people wait, and after the last of them what a model found; else only that.
        """
        of_people = self._first_in("new", after, row) if after is not None and not after.is_model else None
        return of_people or self._first_in(TO_REVIEW, after, row)

    def _first_in(self, wanted: Standing, after: Annotation | None, row: int) -> Annotation | None:
        """The first listed event of a standing from a row on, then those before it; never `after` itself."""
        rows = self._panel.table.rows
        waits = np.flatnonzero(self.queue.standing[rows.places] == STANDINGS.index(wanted))
        waits = waits[np.argsort(waits < row, kind="stable")]
        found = (rows.mark(int(i)) for i in waits)
        return next((m for m in found if after is None or not _is_same(m, after)), None)


def beyond_the_ends(what: str, direction: int, has_current: bool) -> str:
    """That there is nothing on (1) or back (-1) from the current one, or from the page without one."""
    if has_current:
        return f"no {what} {'after' if direction > 0 else 'before'} this one"
    return f"no {what} from this page on" if direction > 0 else f"no {what} before this page"


def _is_same(one: Annotation, other: Annotation) -> bool:
    return one.id == other.id if one.id or other.id else one == other
