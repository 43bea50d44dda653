"""What is kept of the marks, for the reader to see: the state of the journal, the offer after a crash, and saving."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtWidgets import QWidget

from analysis.progress import Progress
from analysis.readers import detect_format, needs_engine
from analysis.recording import Recording
from analysis.review.change_list import ChangeList
from analysis.review.decisions import undecided
from analysis.review.history import Change
from analysis.review.mark_files import (
    COPIES,
    Category,
    Saved,
    SaveRequest,
    category_of,
    examine_table,
    fits_copy,
    save_marks,
)
from app.asking import follow_recording
from app.dialogs.recovery import NoticeBar, recovered_words
from app.dialogs.save_marks import Offer, SaveMarksDialog
from app.engine_process import EngineProcess
from app.jobs import Job, JobRunner
from app.mark_keeper import READER, MarkKeeper
from app.session import Session
from app.settings import Settings
from app.status_line import StatusLine
from viewers.theme import LIGHT, Theme

_FEW_CHANGES = 300  # that are looked at for what to call them


class Saving(QObject):
    """Joins the keeper of the open recording to the status line, the bar of notices and the dialog of saving."""

    told = pyqtSignal(str, str)  # text and role, for the status line
    failed = pyqtSignal(object)
    long_work = pyqtSignal(object)  # Job

    def __init__(
        self,
        session: Session,
        settings: Settings,
        runner: JobRunner,
        engine: EngineProcess,
        status: StatusLine,
        notices: NoticeBar,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._session = session
        self._settings = settings
        self._runner = runner
        self._engine = engine
        self._status = status
        self._notices = notices
        self._window = window
        self._colours: Theme = LIGHT
        self._keeper: MarkKeeper | None = None
        self.dialog: SaveMarksDialog | None = None
        self._about: tuple[Recording, MarkKeeper] | None = None  # what the dialog is about
        session.opened.connect(self._on_opened)
        notices.kept.connect(self._keep_recovered)
        notices.left_out.connect(self._leave_out_recovered)
        notices.save_requested.connect(self.save)

    def handlers(self) -> dict[str, Callable[[], None]]:
        """What the actions do, by their identifiers in app.actions."""
        return {"save_marks": self.save}

    def set_theme(self, colours: Theme) -> None:
        """Take the colours of a theme for the next dialog."""
        self._colours = colours

    # The keeper of the open recording

    def _on_opened(self, _recording: Recording) -> None:
        self._let_go()
        keeper = self._keeper = self._session.keeper
        keeper.kept_changed.connect(self._show_kept)
        keeper.recovered_changed.connect(self._show_recovered)
        keeper.noted.connect(self._notices.say)
        keeper.destroyed.connect(self._on_gone)
        self._notices.clear()
        for note in keeper.notes:
            self._notices.say(note)
        self._show_recovered()
        self._show_kept()

    def _let_go(self) -> None:
        if self._keeper is not None:
            self._keeper.kept_changed.disconnect(self._show_kept)
            self._keeper.recovered_changed.disconnect(self._show_recovered)
            self._keeper.noted.disconnect(self._notices.say)
            self._keeper.destroyed.disconnect(self._on_gone)
            self._keeper = None

    def _on_gone(self) -> None:
        self._keeper = None

    def _show_kept(self) -> None:
        if self._keeper is not None:
            self._status.show_kept(*kept_words(self._keeper))
            if self._keeper.fault:
                self._notices.say(self._keeper.fault)

    def _show_recovered(self) -> None:
        recovered = self._keeper.recovered if self._keeper is not None else None
        if recovered is None:
            self._notices.withdraw()
        else:
            what = recovered_words(recovered.changes)
            self._notices.offer(what, recovered.steps, recovered.at, recovered.from_file)

    def _keep_recovered(self) -> None:
        if self._keeper is not None:
            self._keeper.keep_recovered()

    def _leave_out_recovered(self) -> None:
        if self._keeper is not None:
            self._keeper.take_back_recovered()
            self.told.emit("the recovered changes are left out; Ctrl+Z brings them back", "muted")

    # Saving

    def save(self) -> None:
        """Show what changed and ask what to save, and where."""
        recording, keeper = self._session.recording, self._keeper
        if recording is None or keeper is None:
            self.told.emit("open a recording first", "warning")
            return
        if self.dialog is not None:
            self.dialog.raise_()
            return
        keeper.ready()
        dialog = self.dialog = SaveMarksDialog(self._offer(recording, keeper), self._colours, self._window)
        self._about = recording, keeper
        follow_recording(dialog, self._session)
        dialog.asked_about.connect(self._look_at_file)
        dialog.accepted.connect(self._on_accepted)
        dialog.finished.connect(self._on_finished)
        self._list_changes(keeper)
        dialog.open()

    def _offer(self, recording: Recording, keeper: MarkKeeper) -> Offer:
        marks = keeper.marks.items
        prediction = self._session.prediction
        waiting = undecided(prediction.events, marks) if prediction is not None else ()
        path = Path(str(keeper.saved.get("path", "")) or ".")
        if not path.name or not path.parent.is_dir():
            path = Path(self._settings.last_folder or recording.path.parent) / f"{recording.path.stem}_events.tsv"
        return Offer(marks, waiting, path, recording.path)

    def _list_changes(self, keeper: MarkKeeper) -> None:
        history = keeper.book.history.copy()
        saved = _time_of_day(str(keeper.saved.get("saved", "")))
        since = f"since the save of {saved}" if saved else "that no file holds yet"
        dialog = self.dialog

        def work(_progress: Progress) -> ChangeList:
            return ChangeList(history.unsaved_changes())

        job = Job("List the changes", work, lane="io", replaces="changes")

        def show(listed: ChangeList) -> None:
            if dialog is not None and dialog is self.dialog:
                dialog.show_changes(listed, since)

        job.succeeded.connect(show)
        self._runner.submit(job)

    def _look_at_file(self) -> None:
        dialog, make_request = self.dialog, self._request()
        if dialog is None or make_request is None:
            return
        path = dialog.target()
        job = Job("Look at the file", lambda _progress: examine_table(make_request()), lane="io", replaces="file")

        def show(contents: Any) -> None:
            if dialog is self.dialog and dialog.target() == path:
                dialog.show_existing(contents)

        job.succeeded.connect(show)
        job.failed.connect(lambda _error: show(None))
        self._runner.submit(job)

    def _request(self) -> Callable[[], SaveRequest] | None:
        """What makes the request of the dialog, on any thread: what was ever known here is much to go through."""
        dialog, about = self.dialog, self._about
        if dialog is None or about is None:
            return None
        recording, keeper = about
        path, history, standing = dialog.target(), keeper.book.history.copy(), keeper.marks.items
        was_there = keeper.saved.get("path") == str(path.absolute())
        request = SaveRequest(
            path=path,
            marks=dialog.marks(),
            source=recording.path,
            start=recording.start_datetime,
            duration=recording.duration,
            keep_strangers=dialog.strangers.isChecked(),
            written=str(keeper.saved.get("digest", "")) if was_there else "",
            anonymize=dialog.anonymize.isChecked(),
        )
        if path.suffix.lower() in COPIES or not path.exists():
            return lambda: request
        # A mark that stands but is not to be saved has not changed: what becomes of its row the reader decides.
        return lambda: replace(request, known=history.all_states() - (set(standing) - set(request.marks)))

    def _on_finished(self) -> None:
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = self._about = None

    def _on_accepted(self) -> None:
        make_request, dialog, about = self._request(), self.dialog, self._about
        if make_request is None or dialog is None or about is None:
            return
        keeper, path = about[1], dialog.target()
        self._settings.last_folder = str(path.absolute().parent)
        history = keeper.book.history
        states = {number: history.states[number] for number in history.unsaved}
        covers = partial(_covers, dialog.chosen(), path.suffix.lower() in COPIES)

        def done(saved: Saved) -> None:
            changes = history.unsaved_changes()
            # Nor those that changed while the file was being written.
            left = {c.id for c in changes if c.after is not states.get(c.id, c) or not covers(c)}
            record = {"path": str(saved.path.absolute()), "digest": saved.digest, "marks": saved.count}
            keeper.mark_saved(record, left)
            self._tell(saved)

        job = Job(f"Save {path.name}", lambda progress: self._write(make_request(), progress), lane="io")
        job.succeeded.connect(done)
        job.failed.connect(self.failed)
        job.finished.connect(self._session.hold_marks())  # another recording may open before all is written
        if path.suffix.lower() in COPIES:
            self.long_work.emit(job)
        self._runner.submit(job)

    def _write(self, request: SaveRequest, progress: Progress) -> Saved:
        is_copy = request.path.suffix.lower() in COPIES
        if is_copy and needs_engine(detect_format(request.source)):  # which alone has the libraries for other formats
            return self._engine.call("analysis.review.mark_files:save_marks", {"request": request}, progress)
        return save_marks(request, progress)

    def _tell(self, saved: Saved) -> None:
        marks = "1 mark" if saved.count == 1 else f"{saved.count:,} marks"
        backup = f"; what was there is now {saved.backup.name}" if saved.backup is not None else ""
        self.told.emit(f"{marks} saved in {saved.path}{backup}", "muted")
        for note in saved.notes:
            self._notices.say(note)


def kept_words(keeper: MarkKeeper) -> tuple[str, str, str]:
    """What the status line says of the marks: text, role and tool tip."""
    if keeper.fault:
        return "marks are NOT kept on disk", "bad", keeper.fault
    count = len(keeper.book.history.in_no_file)
    saved = _time_of_day(str(keeper.saved.get("saved", "")))
    if count:
        what = _unsaved_words(keeper, count)
        text = f"{what} since {saved}" if saved else f"{what}, not saved to a file"
    else:
        text = f"saved {saved}" if saved else ""
    if not keeper.has_journal:
        return text, "muted", "Marks are gone when the window is closed: save them (Ctrl+S)"
    journal = "journal on, kept apart" if keeper.apart else "journal on"
    tip = "Every change is on disk as it is made, and can be undone later too. Ctrl+S saves marks to a file."
    return (f"{text} · {journal}" if text else journal), "warning" if keeper.apart else "muted", tip


def _unsaved_words(keeper: MarkKeeper, count: int) -> str:
    if count <= _FEW_CHANGES:
        history = keeper.book.history
        changes = history.changes_of(history.in_no_file)
        if all(c.before is None and c.after is not None and c.after.author == READER for c in changes):
            return "1 own mark" if count == 1 else f"{count:,} own marks"
    return "1 change" if count == 1 else f"{count:,} changes"


def _time_of_day(time: str) -> str:
    """A time (ISO 8601) on the clock here, with the day where it is another one; empty for none."""
    try:
        moment = datetime.fromisoformat(time).astimezone()
    except ValueError:
        return ""
    today = datetime.now().astimezone().date()
    return f"{moment:%H:%M}" if moment.date() == today else f"{moment.day} {moment:%b %H:%M}"


def _covers(chosen: Collection[Category], is_copy: bool, change: Change) -> bool:
    """Whether a file of some categories of marks says what a change made of one.

    Of a mark that is gone it is the category that it was of. A copy of the recording holds times, texts and channels.
    """
    mark = change.after or change.before
    if mark is None or category_of(mark) not in chosen:
        return False
    return not is_copy or change.after is None or fits_copy(change.after)
