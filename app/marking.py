"""What the reader does to marks: makes them of selections and keys, moves, edits and deletes them, undoes it all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from PyQt6.QtCore import QObject, QPoint, Qt, pyqtSignal
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QWidget

from analysis.annotation import Annotation
from analysis.errors import AnalysisError
from analysis.recording import Recording
from analysis.results import SeizurePrediction
from analysis.review.decisions import undecided, with_model_span
from analysis.review.mark_book import Change, Edit, now
from analysis.review.rebase import rebase
from analysis.time_words import elapsed
from analysis.vocabulary import SEIZURE, SEIZURE_OFFSET, SEIZURE_ONSET, Term, score_vocabulary
from app.actions import term_action
from app.asking import follow_recording
from app.dialogs.mark import MarkDialog
from app.edit_words import edit_label
from app.mark_bar import MarkBar
from app.mark_palette import MarkPalette, PalettePopup
from app.mark_types import MarkTypes
from app.pointed import pointed_place, selected_span
from app.session import Session
from app.settings import Settings
from viewers.labels import is_same
from viewers.mark_rows import channels_of
from viewers.recording_view import RecordingView
from viewers.theme import theme as theme_of

_NO_PLACE = "point at the traces first, or move the cursor with the keys , and ."
_NO_MARK = "choose a mark first: click its name or its edge, or press N"
_MOST_SEARCHED = 5000  # own marks, for the beginning of a seizure whose end is marked


def keyed_terms() -> tuple[Term, ...]:
    """The types of the vocabulary that have a key of their own."""
    return tuple(term for term in score_vocabulary().terms if term.key)


def length_of(onset: float, stop: float) -> float:
    """Seconds between two times, without the digits that subtraction adds."""
    return round(max(0.0, stop - onset), 6)


class Marking(QObject):
    """Turns selections, the cursor and gestures on marks into edits of the book, each with a name and to be undone."""

    told = pyqtSignal(str, str)  # text and role, for the status line

    def __init__(self, session: Session, view: RecordingView, settings: Settings, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._view = view
        self._window = window
        self.types = MarkTypes(settings, self)
        self._traces = view.trace_view
        self._editor = view.trace_view.editor
        self._keeper = session.keeper
        self._actions: Mapping[str, QAction] = {}
        self.bar = MarkBar(self.types, self._traces.canvas)
        self.palette = MarkPalette(self.types)  # for a panel
        self._popup: PalettePopup | None = None
        self._palette_for: Annotation | None = None  # the mark whose type the palette changes
        self._dialog: MarkDialog | None = None
        self._connect()

    def _connect(self) -> None:
        session, view = self._session, self._view
        session.opened.connect(self._on_opened)
        session.closed.connect(self._close_palette)
        session.prediction_changed.connect(self._drop_stale)
        session.bad_channels_changed.connect(self._show_history)
        view.span_selected.connect(self._place_bar)
        view.page_shown.connect(self._place_bar)
        self._traces.canvas.resized.connect(self._place_bar)
        self._traces.canvas.span_dragged.connect(self.bar.hide)
        self._editor.selected_changed.connect(self._on_selected)
        self._editor.moved.connect(self.move)
        self._editor.edit_requested.connect(self.edit)
        self.bar.picked.connect(self.mark)
        self.palette.picked.connect(self.pick)
        self.bar.all_requested.connect(self.open_palette)
        self.bar.closed.connect(self.let_go)
        self._follow_keeper()

    def _follow_keeper(self) -> None:
        self._keeper.stepped.connect(self._on_stepped)
        self._keeper.changed.connect(self._show_history)

    def handlers(self) -> dict[str, Callable[[], None]]:
        """What the actions do, by their identifiers in app.actions."""
        keys = self._traces.keys
        return {
            "undo_edit": self.undo,
            "redo_edit": self.redo,
            "make_mark": self.make_or_edit,
            "mark_again": lambda: self.mark(self.types.current),
            "choose_type": self.open_palette,
            "seizure_offset": self.end_seizure,
            "delete_mark": self.delete,
            "cursor_on": partial(keys.step, 1),
            "cursor_back": partial(keys.step, -1),
            "cursor_on_fine": partial(keys.step_pixel, 1),
            "cursor_back_fine": partial(keys.step_pixel, -1),
            "select_on": partial(keys.step, 1, True),
            "select_back": partial(keys.step, -1, True),
            "select_row_below": partial(keys.extend_rows, 1),
            "select_row_above": partial(keys.extend_rows, -1),
            **{term_action(term.name): partial(self.mark_by_key, term) for term in keyed_terms()},
        }

    def set_actions(self, actions: Mapping[str, QAction]) -> None:
        """Keep the names of undo and redo true; Enter belongs to the traces, as fields have their own use for it."""
        self._actions = actions
        enter = actions["make_mark"]
        self._window.removeAction(enter)
        enter.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self._traces.canvas.addAction(enter)
        self._show_history()

    def set_theme(self, name: str) -> None:
        """Take the colours of a theme."""
        colours = theme_of(name)
        self.bar.set_theme(colours)
        self.palette.set_theme(colours)
        if self._popup is not None:
            self._popup.palette_view.set_theme(colours)

    # Making marks

    def mark(self, term: Term) -> None:
        """Mark the selection with a type, or else the place of the cursor: its row, where the type belongs to one."""
        span = self._selected_span() or self._place_of(term)
        if span is None:
            self.told.emit(_NO_PLACE, "warning")
            return
        onset, stop, ch_names = span
        self._add(term, onset, stop, ch_names)

    def mark_by_key(self, term: Term) -> None:
        """The same; for a seizure without a selection, begin one at the cursor."""
        if term.role == SEIZURE and self._selected_span() is None:
            self.begin_seizure()
        else:
            self.mark(term)

    def begin_seizure(self) -> None:
        """Mark the beginning of a seizure at the cursor; with an end that was marked before, the whole of it."""
        self._mark_side(SEIZURE_ONSET, SEIZURE_OFFSET)

    def end_seizure(self) -> None:
        """Mark the end of a seizure at the cursor; with a beginning that was marked before, the whole of it."""
        self._mark_side(SEIZURE_OFFSET, SEIZURE_ONSET)

    def _mark_side(self, role: str, other: str) -> None:
        term = self.types.vocabulary.role(role)
        place = self._place_of(term)
        if place is None:
            self.told.emit(_NO_PLACE, "warning")
            return
        time = place[0]
        partner = self._partner(time, role, other)
        if partner is None:
            self._add(term, time, time, (), remember=False)
            key = "Shift+I" if role == SEIZURE_ONSET else "I"
            self.told.emit(f"{term.name} at {elapsed(time, 1)}: {key} at its other end makes one mark of both", "muted")
            return
        whole = self.types.vocabulary.role(SEIZURE)
        onset, stop = sorted((time, partner.onset))
        review = replace(partner.review, tag=whole.tag)
        after = replace(partner, onset=onset, duration=length_of(onset, stop), description=whole.name, review=review)
        label = f"Mark {whole.name} from {elapsed(onset, 1)} to {elapsed(stop, 1)}"
        self._select(self._session.keeper.change(partner, after, label))
        self.types.count_use(whole)
        self.told.emit(label, "muted")

    def _partner(self, time: float, role: str, other: str) -> Annotation | None:
        """The nearest end of a seizure that the reader has marked as such and that belongs to this other end."""
        index = self._session.marks.of_source("reader")
        forward = role == SEIZURE_ONSET
        place = int(index.onset.searchsorted(time, side="right" if forward else "left"))
        places = range(place, len(index)) if forward else range(place - 1, -1, -1)
        names = {self.types.vocabulary.role(which).name: which for which in (role, other)}
        for i in places[:_MOST_SEARCHED]:
            mark = index.items[i]
            which = names.get(mark.description) if mark.duration == 0 and mark.state != "rejected" else None
            if which is not None:
                return mark if which == other else None
        return None

    def _selected_span(self) -> tuple[float, float, tuple[str, ...]] | None:
        span = selected_span(self._traces, self._session.duration)
        return None if span is None else (*span, self._traces.canvas.selection_channels)

    def _place_of(self, term: Term) -> tuple[float, float, tuple[str, ...]] | None:
        place, rows = pointed_place(self._traces, self._session.duration), self._traces.rows
        if place is None or rows is None:
            return None
        time, row = place
        ch_names = channels_of(rows.montage, [row]) if row is not None and term.where == "row" else ()
        return time, time, ch_names

    def _add(self, term: Term, onset: float, stop: float, ch_names: tuple[str, ...], remember: bool = True) -> None:
        mark = self.types.make(term, onset, length_of(onset, stop), ch_names)
        label = f"Mark {term.name} at {elapsed(onset, 1)}"
        self._take_selection_away()
        (made,) = self._session.keeper.add([mark], label)
        self._select(made)
        if remember:
            self.types.count_use(term)

    # Changing marks

    def make_or_edit(self) -> None:
        """Mark the selection with the type in use, or edit the chosen mark."""
        mark = self._editor.selected
        if self._selected_span() is not None:
            self.mark(self.types.current)
        elif mark is not None:
            self.edit(mark)
        else:
            self.told.emit("select a span or choose a mark first", "muted")

    def move(self, mark: Annotation, onset: float, stop: float) -> None:
        """Give a mark other ends, in seconds."""
        self._replace(mark, replace(mark, onset=onset, duration=length_of(onset, stop)))

    def edit(self, mark: Annotation) -> None:
        """Show all that is known of a mark, to be changed."""
        recording, current = self._session.recording, self._as_it_is_now(mark)
        if recording is None or current is None or self._dialog is not None:
            return
        self._select(current)
        self._dialog = MarkDialog(current, recording, self.types.vocabulary, self._window)
        self._dialog.accepted.connect(self._on_edited)
        self._dialog.finished.connect(self._on_edit_ended)
        self._dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        follow_recording(self._dialog, self._session)
        self._dialog.open()

    def _on_edited(self) -> None:
        dialog = self._dialog
        if dialog is not None and dialog.mark() != dialog.before:
            self._replace(dialog.before, dialog.mark())

    def _on_edit_ended(self, _result: int) -> None:
        self._dialog = None
        self._window.activateWindow()
        self._traces.canvas.setFocus(Qt.FocusReason.OtherFocusReason)

    def delete(self) -> None:
        """Delete the chosen mark; what a model found is rejected instead, so that it is known to have been seen."""
        mark = self._editor.selected
        if mark is None:
            self.told.emit(_NO_MARK, "muted")
        elif mark.is_model:
            self.told.emit("what a model found is not deleted but rejected, with X", "warning")
        elif (current := self._as_it_is_now(mark)) is not None:
            self._select(None)  # first, lest everybody looks for it among all marks
            self._session.keeper.remove([current], f"Delete {current.title or 'mark'}")
            self.told.emit(f"deleted {current.title or 'mark'}: Ctrl+Z brings it back", "muted")

    def change_type(self, mark: Annotation, term: Term) -> None:
        """Make a mark one of another type."""
        self._replace(mark, replace(mark, description=term.name, review=replace(mark.review, tag=term.tag)))
        self.types.count_use(term)

    def _replace(self, mark: Annotation, after: Annotation) -> None:
        """Change a mark in the book; a model's event that is in none yet is taken in, as changed by the reader."""
        current = self._as_it_is_now(mark)
        if current is None:
            return
        try:
            after = rebase(mark, after, current)
        except AnalysisError as error:
            self.told.emit(str(error), "warning")
            return
        if (after.onset, after.stop) != (current.onset, current.stop) and current.is_model:
            after = replace(after, extras=with_model_span(current).extras)
        label = edit_label(current, after)
        if current.id:
            made = self._session.keeper.change(current, after, label)
        else:
            (made,) = self._session.keeper.add([replace(after, review=replace(after.review, changed=now()))], label)
        self._select(made)
        self.told.emit(label, "muted")

    def _as_it_is_now(self, mark: Annotation) -> Annotation | None:
        """A mark of the book by its id, or an event that is in none; None, and said, when it is gone."""
        found = self._session.keeper.find(mark) if mark.id else self._taken_in(mark)
        if found is None:
            self.told.emit("this mark is gone: it was deleted in another window", "warning")
            self._select(None)
        return found

    def _taken_in(self, event: Annotation) -> Annotation:
        """The mark that stands for an event that another window has taken into the book meanwhile; else the event."""
        marks = self._session.marks.of_source("model").items
        near = (m for m in marks if m.author == event.author and m.onset < event.stop and m.stop > event.onset)
        return next((mark for mark in near if not undecided([event], [mark])), event)

    # The palette

    def open_palette(self) -> None:
        """Search all types: for the selection, for the chosen mark, or for the next mark."""
        if self._popup is None:
            self._popup = PalettePopup(self.types, self._window)
            self._popup.picked.connect(self._on_palette)
        self._popup.palette_view.set_theme(self._traces.canvas.theme)
        selection, canvas = self._selected_span(), self._traces.canvas
        self._palette_for = self._editor.selected if selection is None else None
        if selection is not None:
            title, time = "Mark the selection as", selection[1]
        elif self._palette_for is not None:
            title, time = f"Change {self._palette_for.title or 'mark'} to", self._palette_for.stop
        else:
            title, time = "Mark from now on as", canvas.scale_px.window.start
        x = min(max(0.0, canvas.scale_px.x(time)), canvas.width()) + 12
        self._popup.open_at(canvas.mapToGlobal(QPoint(round(x), round(canvas.band_height))), title)

    def _close_palette(self) -> None:
        """Let go of the palette and of the mark that it was opened for."""
        self._palette_for = None
        if self._popup is not None:
            self._popup.close()

    def _on_palette(self, term: Term) -> None:
        mark, self._palette_for = self._palette_for, None
        if mark is not None:
            self.change_type(mark, term)
        else:
            self.pick(term)

    def pick(self, term: Term) -> None:
        """Use a type from now on, and at once where there is a selection."""
        if self._selected_span() is not None:
            self.mark(term)
        else:
            self.types.choose(term)
            self.told.emit(f"marks are {term.name} from now on: M marks at the cursor", "muted")

    # Undo and redo

    def undo(self) -> None:
        """Take the last edit, or gesture on bad channels, back, say which, and show where it was."""
        if (step := self._session.keeper.bad_to_undo) is not None:
            self._session.keeper.bad_steps.undo()
            self._take_bad(f"undone: {step.label}", step.undone(self._session.bad_channels))
            return
        if self._session.keeper.book.undo_label:
            self._select(None)
        edit = self._session.keeper.undo()
        if edit is None:
            self.told.emit("there is nothing to undo", "muted")
        else:
            self.told.emit(f"undone: {edit.label}", "muted")
            self._show(edit, [change.reverse for change in edit.changes[:1]])

    def redo(self) -> None:
        """Bring back what was undone last, say what, and show it."""
        if (step := self._session.keeper.bad_to_redo) is not None:
            self._session.keeper.bad_steps.redo()
            self._take_bad(f"done again: {step.label}", step.done(self._session.bad_channels))
            return
        if self._session.keeper.book.redo_label:
            self._select(None)
        edit = self._session.keeper.redo()
        if edit is None:
            self.told.emit("there is nothing to redo", "muted")
        else:
            self.told.emit(f"done again: {edit.label}", "muted")
            self._show(edit, edit.changes[:1])

    def _take_bad(self, told: str, bad: frozenset[str]) -> None:
        self.told.emit(told, "muted")  # first: a montage that cannot be derived any more is said after it
        self._session.set_bad_channels(bad)
        self._show_history()

    def _show(self, edit: Edit, changes: tuple[Change, ...] | list[Change]) -> None:
        """Go to where a step changed something, unless it is on the page, and choose what is there now."""
        standing = changes[0].after if changes else None
        place = standing or (changes[0].before if changes else None)
        window = self._session.window
        if place is not None and not (place.onset < window.stop and place.stop >= window.start):
            self._session.centre_on(place.onset)
        self._select(standing if len(edit.changes) == 1 else None)

    def _on_stepped(self, step: str, edit: Edit) -> None:
        """The chosen mark as it is after a step, whichever window it was made in."""
        self._show_history()
        mark = self._editor.selected
        if mark is None or not mark.id:
            return
        for change in edit.changes:
            if change.id == mark.id:
                self._view.set_current_event(change.before if step == "undo" else change.after)
                return

    def _show_history(self, _marks: object = None) -> None:
        keeper = self._session.keeper
        undo, redo = keeper.bad_to_undo, keeper.bad_to_redo
        for name, verb, label in (
            ("undo_edit", "Undo", undo.label if undo is not None else keeper.book.undo_label),
            ("redo_edit", "Redo", redo.label if redo is not None else keeper.book.redo_label),
        ):
            if (action := self._actions.get(name)) is not None:
                action.setText(f"{verb}: {label}" if label else verb)
                action.setEnabled(bool(label))

    # Selection

    def let_go(self) -> bool:
        """Give up a drag, else the selection, else the chosen mark; whether there was any."""
        if self._editor.cancel():
            return True
        if self._traces.canvas.selection is not None:
            self._take_selection_away()
            return True
        had_one = self._editor.selected is not None
        self._select(None)
        return had_one

    def _select(self, mark: Annotation | None) -> None:
        self._view.set_current_event(mark)

    def _on_selected(self, mark: Annotation | None) -> None:
        if mark is not None:
            self._take_selection_away()

    def _take_selection_away(self) -> None:
        if self._traces.canvas.selection is not None:
            self._traces.canvas.span_selected.emit(None)

    def _place_bar(self, *_args: object) -> None:
        canvas, scale = self._traces.canvas, self._traces.canvas.scale_px
        selection = canvas.selection
        is_here = selection is not None and selection.start < scale.window.stop and selection.stop > scale.window.start
        if selection is None or not is_here or self._session.recording is None:
            self.bar.hide()
            return
        left, right = max(0.0, scale.x(selection.start)), min(scale.width, scale.x(selection.stop))
        self.bar.show_for(selection, canvas.selection_channels, left, right, canvas.band_height)

    def _drop_stale(self, prediction: SeizurePrediction | None) -> None:
        """Let go of a model's event that the threshold no longer gives."""
        mark = self._editor.selected
        if mark is not None and not mark.id and mark.is_model:
            events = prediction.events if prediction is not None else ()
            if not any(is_same(event, mark) for event in events):
                self._select(None)

    def _on_opened(self, _recording: Recording) -> None:
        if self._session.keeper is not self._keeper:
            # Another window may go on with the marks of the recording before, whose ids mean other marks here.
            self._keeper.stepped.disconnect(self._on_stepped)
            self._keeper.changed.disconnect(self._show_history)
            self._keeper = self._session.keeper
            self._follow_keeper()
        self._select(None)
        self._close_palette()
        self.bar.hide()
        self._show_history()
        self._traces.canvas.setFocus(Qt.FocusReason.OtherFocusReason)
