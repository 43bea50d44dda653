"""The marks of each open recording: one book, however many windows show it, kept on disk with every step."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from PyQt6.QtCore import QObject, pyqtSignal

from analysis.annotation import Annotation, number_annotations
from analysis.marks import Marks
from analysis.recording import Recording
from analysis.review.branches import edit_of_branch
from analysis.review.mark_book import Change, Edit, MarkBook, now
from analysis.review.table_update import mark_content
from app.bad_steps import BadStep, BadSteps
from app.jobs import Job, JobRunner
from app.mark_disk import Facts, Found, MarkDisk

_FEW_CHANGES = 5000
_SHUTDOWN_SECONDS = 3.0
READER = "reader"

# background(work, then) does work() elsewhere and calls then(result) here.
Background = Callable[[Callable[[], object], Callable[[object], None]], None]


@dataclass(frozen=True)
class Recovered:
    """What the last session changed before it ended without being closed, in how many steps, and when (ISO 8601, UTC).

    `from_file` tells that nothing had been marked before it.
    """

    changes: tuple[Change, ...]
    steps: int
    at: str
    from_file: bool


class _Pending:
    """Work of the background that ends in a step."""

    def __init__(self, work: Callable[[], Any], then: Callable[[Any], None]) -> None:
        self.then = then
        self._work: Callable[[], Any] | None = work
        self._result: Any = None
        self._lock = threading.Lock()

    def result(self) -> Any:
        """What the work gives, on any thread; it is done here where nobody has begun it."""
        with self._lock:
            if self._work is not None:
                self._result, self._work = self._work(), None
            return self._result


class MarkKeeper(QObject):
    """The book of one recording as windows see it: every edit is told to all of them, and each can be undone.

    With a `disk` every step is written before it is told. What earlier sessions did is there as soon as it is read,
    and before the first edit in any case. `recovered` is what a session left that did not end as it should, until
    the reader has said what to do with it; `notes` are sentences about what was found on disk.
    """

    changed = pyqtSignal(object)  # Marks
    stepped = pyqtSignal(str, object)  # "do", "undo" or "redo", and the Edit
    kept_changed = pyqtSignal()  # whether and how far marks are on disk and in files
    recovered_changed = pyqtSignal()
    noted = pyqtSignal(str)

    def __init__(self, parent: QObject | None = None, disk: MarkDisk | None = None) -> None:
        super().__init__(parent)
        self.book = MarkBook(self._on_step)
        self.bad_steps = BadSteps()  # beside the edits of marks, until the recording is closed
        self.rater = ""  # who takes decisions
        self.recovered: Recovered | None = None
        self.apart = False  # whether another program has the journal, and this one writes its own
        self.saved: dict[str, Any] = {}  # the last save: "saved" (ISO 8601 in UTC), "path", …
        self.notes: list[str] = []
        self._disk = disk
        self._is_ready = disk is None
        self._merging: object = None  # what works the marks out in the background
        self._pending: list[_Pending] = []
        self._step: _Pending | None = None  # an undo or redo among them, which comes before any other step
        self.on_idle: Callable[[], None] | None = None  # called when nothing is pending any more
        self._parts: tuple[int, ...] = ()
        self._merged = ""
        if disk is not None:
            disk.changed.connect(self.kept_changed)

    @property
    def marks(self) -> Marks:
        """All marks as they stand."""
        return self.book.marks

    @property
    def is_ready(self) -> bool:
        """Whether what earlier sessions did has been read, and nothing is to be added or undone in the background."""
        return self._is_ready and self._merging is None and not self._pending

    @property
    def is_pending(self) -> bool:
        """Whether the background is at work on a step."""
        return bool(self._pending)

    @property
    def has_journal(self) -> bool:
        """Whether steps are written to a disk."""
        return self._disk is not None

    @property
    def fault(self) -> str:
        """Why the marks cannot be kept on disk at present; empty where they are."""
        return self._disk.fault if self._disk is not None else ""

    def set_file_marks(self, marks: Marks) -> None:
        """Take the marks of the recording's file, once; the same file read for another window changes nothing."""
        if not self.book.has_base:
            self._finish_step()
            self._note(self.book.set_base(marks, merge=False))
            self._merge(len(self.book.history.states) > _FEW_CHANGES)

    def find(self, mark: Annotation) -> Annotation | None:
        """A mark as it stands now, by its id; None when it is gone."""
        if not mark.id:
            return None
        if mark.id in self.book.history.states:
            return self.book.history.states[mark.id]
        try:
            return self.marks.items[self.marks.index.position(mark)]
        except KeyError:
            return next((other for other in self.marks.items if other.id == mark.id), None)

    # Edits; each is one step to undo

    def add(
        self, annotations: Iterable[Annotation], label: str, background: Background | None = None
    ) -> tuple[Annotation, ...]:
        """Add marks and return them with their ids.

        Very many are copied, sorted and written in the `background`, or where there is a disk on its thread; then
        nothing is returned yet. Without a `background` all is done here.
        """
        self.ready()
        marks, created = tuple(annotations), now()
        if not marks:
            return ()
        first, before = self.book.reserve(len(marks)), self.marks

        def make() -> Edit:
            return Edit(label, tuple(Change(None, mark) for mark in _new_marks(marks, created, first)), created)

        def work() -> tuple[Edit, Marks, Marks, tuple[int, ...]]:
            edit = make()
            parts = self._disk.write_parts(edit.changes) if self._disk is not None else ()
            return edit, before, before.changed((), tuple(edit.new.values())), parts

        if background is not None and len(marks) > _FEW_CHANGES:
            self._prepare(work, self._do_prepared, background)
            return ()
        edit = make()
        self.do(edit)
        return tuple(edit.new.values())

    def add_missing(
        self,
        annotations: Iterable[Annotation],
        label: str,
        background: Background | None = None,
        tell: Callable[[int, int], None] | None = None,
    ) -> None:
        """Add those marks of a file that are not there already, so that a file read again adds nothing.

        `tell(added, all)` is called when it is known how many these are; very many are compared in the `background`.
        """
        self.ready()
        marks, standing = tuple(annotations), self.marks.items

        def work() -> list[Annotation]:
            there = Counter(map(mark_content, standing))
            contents = list(map(mark_content, marks))
            there.subtract(contents)
            missing = []
            for mark, content in zip(reversed(marks), reversed(contents), strict=True):  # of those alike the last ones
                if there[content] < 0:
                    there[content] += 1
                    missing.append(mark)
            return missing[::-1]

        def then(missing: object) -> None:
            assert isinstance(missing, list)
            self.add(missing, label, background)
            if tell is not None:
                tell(len(missing), len(marks))

        if background is not None and len(marks) + len(standing) > _FEW_CHANGES:
            self._prepare(work, then, background)
        else:
            then(work())

    def change(self, before: Annotation, after: Annotation, label: str) -> Annotation:
        """Replace a mark that is in the book by another one, which takes over its id; returns it."""
        return self.change_many([(before, after)], label)[0]

    def change_many(self, pairs: Sequence[tuple[Annotation, Annotation]], label: str) -> tuple[Annotation, ...]:
        """Replace several marks in one step."""
        at = now()
        made = []
        for before, after in pairs:
            mark = replace(after, review=replace(after.review, changed=at))
            object.__setattr__(mark, "id", before.id)
            made.append(mark)
        self.do(Edit(label, tuple(Change(b, m) for (b, _), m in zip(pairs, made, strict=True))))
        return tuple(made)

    def remove(self, marks: Sequence[Annotation], label: str) -> None:
        """Take marks away."""
        self.do(Edit(label, tuple(Change(mark, None) for mark in marks)))

    def decide(self, mark: Annotation, decision: Literal["", "accepted", "rejected"]) -> Annotation:
        """Accept or reject a mark, or take the decision back; returns it as it stands then.

        A model's event, which is in no book until someone decides on it, is taken in.
        """
        words = {"": "Take back the decision on", "accepted": "Accept", "rejected": "Reject"}
        label = f"{words[decision]} {mark.title or 'mark'}"
        by, at = (self.rater or READER, now()) if decision else ("", "")
        decided = replace(mark, review=replace(mark.review, decision=decision, by=by, at=at))
        if not mark.id:
            return self.add([decided], label)[0]
        self.do(Edit(label, (Change(mark, decided),)))
        return decided

    def do(self, edit: Edit) -> None:
        """Apply any edit; KeyError when a mark it changes is not there any more."""
        self.ready()
        self._finish_step()
        self.book.do(edit)

    def add_bad_step(self, before: frozenset[str], after: frozenset[str]) -> BadStep:
        """Take note of the bad channels before and after a gesture, so that undo takes it back in its turn."""
        self.ready()
        self._finish_step()
        return self.bad_steps.add(before, after, len(self.book.history.done))

    @property
    def bad_to_undo(self) -> BadStep | None:
        """The gesture on bad channels that an undo takes back; None where it is the turn of the marks."""
        return self.bad_steps.to_undo(len(self.book.history.done))

    @property
    def bad_to_redo(self) -> BadStep | None:
        """The gesture on bad channels that a redo brings back; None where it is the turn of the marks."""
        return self.bad_steps.to_redo(len(self.book.history.done))

    def undo(self) -> Edit | None:
        """Take the last step back and return it; very many marks are gone a moment later."""
        self.ready()
        self._finish_step()
        return self._take_step(self.book.done, self.book.without_last, self.book.undo)

    def redo(self) -> Edit | None:
        """Bring back what was undone last and return it; very many marks are there a moment later."""
        self.ready()
        self._finish_step()
        return self._take_step(self.book.undone, self.book.with_next, self.book.redo)

    def _take_step(
        self,
        edits: Sequence[Edit],
        work: Callable[[], Callable[[], Marks]],
        then: Callable[[Marks | None], Edit | None],
    ) -> Edit | None:
        if self._disk is None or not edits or len(edits[-1].changes) <= _FEW_CHANGES:
            return then(None)
        self._step = self._prepare(work(), then, None)
        return edits[-1]

    def _do_prepared(self, done: tuple[Edit, Marks, Marks, tuple[int, ...]]) -> None:
        edit, before, after, parts = done
        self.ready()
        self._finish_step()
        self._parts = parts
        self.book.do_new(edit, before, after)

    # What is prepared in the background

    def _prepare(self, work: Callable[[], Any], then: Callable[[Any], Any], background: Background | None) -> _Pending:
        """Do work elsewhere, on the thread of the disk if there is one, and then take a step, whatever is closed."""
        pending = _Pending(work, then)
        self._pending.append(pending)
        if self._disk is not None:
            self._disk.in_background("Prepare the marks", pending.result, partial(self._finish, pending))
        elif background is not None:
            background(pending.result, partial(self._finish, pending))
        return pending

    def _finish(self, pending: _Pending, _result: object = None) -> None:
        """Take a step that was prepared, unless that is done."""
        if pending not in self._pending:
            return
        self._pending.remove(pending)
        if pending is self._step:
            self._step = None
        pending.then(pending.result())
        if not self._pending and self.on_idle is not None:
            self.on_idle()

    def _finish_step(self) -> None:
        if self._step is not None:
            self._finish(self._step)

    def _on_step(self, step: Literal["do", "undo", "redo"], edit: Edit) -> None:
        parts, self._parts = self._parts, ()
        if step == "do":
            self.bad_steps.forget_undone()
        if self._disk is not None:
            self._disk.step(step, edit, self.marks.items, parts, self._merged)
        self._answer_recovery()
        self.changed.emit(self.marks)
        self.stepped.emit(step, edit)
        self.kept_changed.emit()

    # What is on disk and in files

    def ready(self) -> None:
        """Take over what earlier sessions did, unless that is done; reads the disk here where nobody has yet."""
        self._take_over(later=False)
        if self._merging is not None:
            self._merge(later=False)

    def _take_over(self, later: bool) -> None:
        """Take over what is on disk; very many marks are sorted in the background if that may be `later`."""
        if self._is_ready or self._disk is None:
            return
        found = self._disk.open()
        self._is_ready = True
        self.apart, self.saved = found.apart, found.saved or {}
        if found.recovered:
            from_file = found.history.changes_since({}) == found.recovered
            self.recovered = Recovered(found.recovered, found.steps, found.recovered_at, from_file)
        self._note(self.book.adopt(found.history, merge=False), *found.notes)
        if found.history.states:
            self._merge(later and len(found.history.states) > _FEW_CHANGES and not found.branches)
        self._take_branches(found, self._disk)
        self.kept_changed.emit()
        self.recovered_changed.emit()

    def on_read(self) -> None:
        """What earlier sessions did has been read in the background."""
        self._take_over(later=True)

    def _merge(self, later: bool) -> None:
        """Work out the marks that stand of the file's and the history; `later` in the background, unless needed."""
        merged = self.book.merged()
        if later and self._disk is not None:
            self._merging = merged
            self._disk.in_background("Sort the marks", merged, partial(self._on_merged, merged))
        else:
            self._on_merged(None, merged())

    def _on_merged(self, merged: object, marks: Marks) -> None:
        if merged is self._merging or merged is None:
            self._merging = None
            self.book.show(marks)
            if self._disk is not None and self._is_ready and self.book.has_base:
                self._disk.catch_up(marks.items)
            self.changed.emit(self.marks)

    def _take_branches(self, found: Found, disk: MarkDisk) -> None:
        recovered = self.recovered  # which a step would take for answered
        while found.branches:
            path, account, lock = found.branches.pop()
            edit = edit_of_branch(account.history, self.book.history, self.book.reserve)
            if edit is not None:
                self._merged = account.uid
                self.book.do(edit)
                self._merged = ""
                self._note(f"{edit.label.removeprefix('Take over ')} joined these marks")
            disk.forget_branch(path, lock)
        self.recovered = recovered

    def keep_recovered(self) -> None:
        """Go on with what the last session left."""
        if self.recovered is not None and self._disk is not None:
            self._disk.begin()
        self._answer_recovery()

    def take_back_recovered(self) -> None:
        """Go back to before the last session, as a step that can be undone."""
        if self.recovered is not None:
            self.do(Edit("Leave out what was recovered", tuple(c.reverse for c in self.recovered.changes)))

    def mark_saved(self, record: dict[str, Any], left: Collection[int] = ()) -> None:
        """Remember that a file holds all marks but those with the ids in `left`; `record` describes the file."""
        self.saved = {"saved": now(), **record}
        self.book.history.settle(left)
        if self._disk is not None:
            self._disk.saved(record, left)
        self.kept_changed.emit()

    def close(self) -> None:
        """Take the steps that are being prepared, write everything down and let go of the disk."""
        try:
            while self._pending:
                self._finish(self._pending[0])
        finally:
            self._merging = None
            if self._disk is not None:
                self._disk.close()

    def _answer_recovery(self) -> None:
        if self.recovered is not None:
            self.recovered = None
            self.recovered_changed.emit()

    def _note(self, *sentences: str) -> None:
        for sentence in filter(None, sentences):
            self.notes.append(sentence)
            self.noted.emit(sentence)


class MarkShelf(QObject):
    """Hands out one keeper per recording."""

    def __init__(self, parent: QObject | None = None, folder: Path | None = None) -> None:
        """`folder` keeps the marks; None: they are gone when the last window is closed."""
        super().__init__(parent)
        self._folder = folder
        # One thread, so that what is written follows what was done.
        self._runner = JobRunner({"io": 1}, parent=self) if folder is not None else None
        self._keepers: dict[str, tuple[MarkKeeper, int]] = {}

    def take(self, recording_id: str, recording: Recording | None = None) -> MarkKeeper:
        """The keeper of a recording; give it back when the recording is closed."""
        keeper, users = self._keepers.get(recording_id, (None, 0))
        if keeper is None:
            keeper = self._make(recording_id, recording)
        self._keepers[recording_id] = (keeper, users + 1)
        keeper.on_idle = None
        keeper.blockSignals(False)
        return keeper

    def give_back(self, recording_id: str) -> None:
        """Need the keeper of a recording no more; the book is closed when nobody does and nothing is pending in it."""
        keeper, users = self._keepers[recording_id]
        self._keepers[recording_id] = (keeper, users - 1)
        if users == 1:
            keeper.blockSignals(True)  # nobody looks any more at what is still to come
            keeper.on_idle = partial(self._close_unused, recording_id)
            self._close_unused(recording_id)

    def _close_unused(self, recording_id: str) -> None:
        keeper, users = self._keepers[recording_id]
        if users == 0 and not (keeper.is_pending and keeper.has_journal):
            del self._keepers[recording_id]
            keeper.on_idle = None
            keeper.close()
            keeper.blockSignals(False)
            keeper.deleteLater()

    def close(self) -> None:
        """End the work on the disk; for the end of the program."""
        for recording_id in list(self._keepers):
            keeper, _ = self._keepers.pop(recording_id)
            keeper.on_idle = None
            keeper.close()
        if self._runner is not None:
            self._runner.shutdown(_SHUTDOWN_SECONDS)

    def _make(self, recording_id: str, recording: Recording | None) -> MarkKeeper:
        if self._folder is None or self._runner is None:
            return MarkKeeper(self)
        facts = Facts(recording_id)
        if recording is not None:
            facts = Facts(recording_id, str(recording.path), recording.start_datetime, recording.duration)
        disk = MarkDisk(self._folder, facts, self._runner)
        keeper = MarkKeeper(self, disk)
        disk.setParent(keeper)
        job = Job("Read the marks", lambda _progress: disk.open(), lane="io")
        job.finished.connect(keeper.on_read)
        self._runner.submit(job)
        return keeper


def _new_marks(marks: Sequence[Annotation], created: str, first: int) -> tuple[Annotation, ...]:
    """Copies that are numbered from `first` on; those of the reader say when they were made."""
    copies = tuple(
        replace(m, review=replace(m.review, created=m.review.created or created)) if m.author == READER else replace(m)
        for m in marks
    )
    number_annotations(copies, first)
    return copies
