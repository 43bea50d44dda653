"""Split, merge and trim: what the editing keys do to the current event, whether it is in the book or a model's."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PyQt6.QtCore import QObject, pyqtSignal

from analysis.annotation import Annotation
from analysis.errors import AnalysisError
from analysis.review.edits import merge_edit, split_edit, trim_edit
from analysis.review.mark_book import Edit
from app.pointed import pointed_place, selected_span
from app.review_queue import ReviewQueue
from app.session import Session
from viewers.recording_view import RecordingView
from viewers.review_panel import ReviewPanel


class ReviewEdits(QObject):
    """Changes spans at the cursor or to the selection; a model's event is taken into the book, as edited."""

    said = pyqtSignal(str, str)  # text and role for the status line

    def __init__(
        self,
        session: Session,
        view: RecordingView,
        panel: ReviewPanel,
        queue: ReviewQueue,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._traces = view.trace_view
        self._panel = panel
        self._queue = queue

    def handlers(self) -> dict[str, Callable[[], None]]:
        """What the actions do."""
        return {
            "split_event": self.split,
            "merge_events": self.merge,
            "trim_to_selection": self.trim_to_selection,
            "start_at_cursor": self.start_at_cursor,
            "end_at_cursor": self.end_at_cursor,
        }

    # The edits

    def split(self) -> None:
        """Make two events of the current one, at the cursor."""
        at = self._cursor_time("split")
        if at is not None:
            self._edit(lambda mark, count: split_edit(mark, at, count))

    def start_at_cursor(self) -> None:
        """Let the current event begin at the cursor."""
        at = self._cursor_time("begin")
        if at is not None:
            self._edit(lambda mark, count: trim_edit(mark, at, mark.stop, count))

    def end_at_cursor(self) -> None:
        """Let the current event end at the cursor."""
        at = self._cursor_time("end")
        if at is not None:
            self._edit(lambda mark, count: trim_edit(mark, mark.onset, at, count))

    def trim_to_selection(self) -> None:
        """Give the current event the ends of the span selected on the traces."""
        span = selected_span(self._traces, self._session.duration)
        if span is None:
            self.said.emit("select a span on the traces first, then trim the event to it", "warning")
        else:
            self._edit(lambda mark, count: trim_edit(mark, *span, count))

    def merge(self) -> None:
        """Make one event of those that are selected in the table, or of the current one and the next of its kind."""
        marks = [mark for mark in map(self._as_it_stands, self._panel.chosen()) if mark is not None]
        if len(marks) < 2:
            marks = self._with_next()
        if marks:
            self._do(lambda count: merge_edit(marks, count))

    def _with_next(self) -> list[Annotation]:
        """The current event and the next one of the same source and type, in order of time."""
        mark = self._current()
        if mark is None:
            return []
        queue = self._queue.queue
        later = (queue.item(int(place)) for place in queue.by_time[self._after(mark) :])
        following = next((m for m in later if m.author == mark.author and m.title == mark.title), None)
        if following is None:
            self.said.emit("no later event of the same source and type to merge with", "warning")
            return []
        return [mark, following]

    def _after(self, mark: Annotation) -> int:
        queue = self._queue.queue
        place = queue.place(mark)
        return int((queue.by_time == place).argmax()) + 1 if place is not None else len(queue)

    # Inside

    def _cursor_time(self, what: str) -> float | None:
        place = pointed_place(self._traces, self._session.duration)
        if place is None:
            self.said.emit(f"put the cursor on the traces where the event shall {what}", "warning")
            return None
        return place[0]

    def _current(self) -> Annotation | None:
        mark = self._as_it_stands(self._queue.chosen)
        if mark is None:
            self.said.emit("choose an event first: N goes to the next one", "warning")
        return mark

    def _as_it_stands(self, mark: Annotation | None) -> Annotation | None:
        return self._session.keeper.find(mark) if mark is not None and mark.id else mark

    def _edit(self, make: Callable[[Annotation, Callable[[Sequence[Annotation]], None]], Edit]) -> None:
        mark = self._current()
        if mark is not None:
            self._do(lambda count: make(mark, count))

    def _do(self, make: Callable[[Callable[[Sequence[Annotation]], None]], Edit]) -> None:
        """Take one step, go to what came of it and say what it was; refused in words where it makes no sense."""
        keeper = self._session.keeper
        try:
            edit = make(keeper.book.number)
        except AnalysisError as error:
            self.said.emit(str(error), "warning")
            return
        keeper.do(edit)
        made = edit.changes[0].after
        if made is not None:
            self._queue.choose(made, move=False)  # the reader is looking at it
        self.said.emit(f"{edit.label}: done; Ctrl+Z takes it back", "muted")
