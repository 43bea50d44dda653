"""Marks made, moved, edited, deleted and undone, with real events of mouse and keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtGui import QAction, QKeySequence
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QMainWindow

from analysis.annotation import Annotation, Review
from analysis.marks import Marks
from analysis.montage import Derivation, Montage
from analysis.recording import Channel, Page, Window
from analysis.results import AnalysisRequest, SeizurePrediction
from analysis.review.decisions import MODEL_DURATION, MODEL_ONSET
from app.actions import ACTIONS
from app.mark_keeper import MarkShelf
from app.marking import Marking
from app.session import Session
from app.settings import Settings
from app.testing import open_window
from viewers.recording_view import RecordingView

LEFT, PLAIN, SHIFT = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
NAMES = ("A", "B", "C", "D")
CHAIN = Montage("pairs", tuple(Derivation(f"{a}-{b}", a, (b,)) for a, b in ("AB", "BC", "CD")))
SFREQ, SECONDS = 100.0, 60
FILE_MARK = Annotation(12.0, 2.0, "of the file", id=1)


class Desk:
    """A window with traces, marks and their actions, of a recording in memory, showing its first ten seconds."""

    def __init__(self, qtbot, recording, shelf: MarkShelf | None = None) -> None:
        self.qtbot = qtbot
        self.window = QMainWindow()
        qtbot.addWidget(self.window)
        self.session = Session(shelf=shelf)
        self.view = RecordingView()
        self.window.setCentralWidget(self.view)
        self.settings = Settings()
        self.marking = Marking(self.session, self.view, self.settings, self.window)
        self.told: list[str] = []
        self.marking.told.connect(lambda text, _role: self.told.append(text))
        self.actions = self._make_actions()
        self.marking.set_actions(self.actions)
        self.session.marks_changed.connect(self.view.set_marks)
        self.session.window_changed.connect(self.show_page)
        self.view.event_clicked.connect(self.view.set_current_event)
        self.window.resize(1200, 700)
        self.window.show()
        qtbot.waitExposed(self.window)
        self.session.open(recording)
        self.view.set_recording_facts(recording.duration, None, (), recording.channels)
        self.session.montage = CHAIN
        self.view.set_montage(CHAIN, recording.channels)
        self.show_page(Window(0.0, 10.0))
        self.view.set_marks(self.session.marks)
        QApplication.processEvents()

    def _make_actions(self) -> dict[str, QAction]:
        handlers, made = self.marking.handlers(), {}
        for spec in ACTIONS:
            if spec.menu == "Mark":
                action = made[spec.id] = QAction(spec.text, self.window)
                action.setShortcuts([QKeySequence(key) for key in spec.keys])
                action.triggered.connect(lambda _checked=False, run=handlers[spec.id]: run())
                self.window.addAction(action)
        return made

    def show_page(self, window: Window) -> None:
        data = np.zeros((round(window.duration * SFREQ) + 1, 3), np.float32)
        self.view.set_window(window)
        self.view.show_page(Page(window, CHAIN.ch_names, SFREQ, data, window.start))
        QApplication.processEvents()

    @property
    def canvas(self):
        return self.view.trace_view.canvas

    @property
    def selected(self) -> Annotation | None:
        return self.view.trace_view.editor.selected

    @property
    def marks(self) -> tuple[Annotation, ...]:
        return self.session.marks.items

    @property
    def own(self) -> list[Annotation]:
        return [mark for mark in self.marks if mark.author == "reader"]

    @property
    def labels(self) -> list[str]:
        return [edit.label for edit in self.session.keeper.book.done]

    def at(self, time: float, row: float = 1.5) -> QPoint:
        rows = self.view.trace_view.rows
        y = np.interp(row, range(3), rows.centre)
        return QPoint(round(self.canvas.scale_px.x(time)), round(float(y)))

    def point(self, time: float, row: float = 1.0) -> None:
        self.qtbot.mouseMove(self.canvas.viewport(), self.at(time, row))

    def click(self, time: float, row: float = 1.0) -> None:
        self.qtbot.mouseClick(self.canvas.viewport(), LEFT, pos=self.at(time, row))

    def drag(self, start: float, stop: float, row: float = 1.0, to_row: float | None = None, modifier=PLAIN) -> None:
        viewport, end = self.canvas.viewport(), self.at(stop, row if to_row is None else to_row)
        self.qtbot.mousePress(viewport, LEFT, modifier, self.at(start, row))
        self.qtbot.mouseMove(viewport, self.at((start + stop) / 2, row))
        self.qtbot.mouseMove(viewport, end)
        self.qtbot.mouseRelease(viewport, LEFT, modifier, end)

    def key(self, key: Qt.Key, modifier=PLAIN) -> None:
        QTest.keyClick(self.canvas, key, modifier)
        QApplication.processEvents()

    def undo_all(self) -> None:
        while self.session.keeper.book.done:
            self.marking.undo()


@pytest.fixture
def recording(array_recording):
    channels = [Channel(name, name, "eeg", "uV", SFREQ) for name in NAMES]
    return array_recording(channels, np.zeros((4, round(SECONDS * SFREQ))), SFREQ)


@pytest.fixture
def desk(qtbot, recording) -> Iterator[Desk]:
    made = Desk(qtbot, recording)
    yield made
    made.session.close()


def facts(mark: Annotation) -> tuple:
    return (round(mark.onset, 1), round(mark.duration, 1), mark.description, mark.ch_names)


# Making


def test_a_selection_is_marked_by_key_and_chosen(desk: Desk) -> None:
    desk.drag(2.0, 5.0)
    assert desk.marking.bar.isVisible()
    desk.key(Qt.Key.Key_I)
    (mark,) = desk.own
    assert facts(mark) == (2.0, 3.0, "Seizure", ())
    assert mark.review.tag == "Epileptic-seizure"
    assert mark.review.created
    assert desk.selected is mark
    assert desk.canvas.selection is None
    assert not desk.marking.bar.isVisible()
    assert desk.session.marks.seizures == ((mark.onset, mark.stop),)


def test_enter_marks_the_selection_with_the_type_in_use(desk: Desk) -> None:
    desk.drag(2.0, 5.0)
    desk.key(Qt.Key.Key_Return)
    desk.point(7.0)
    desk.key(Qt.Key.Key_S)
    desk.drag(8.0, 9.0)
    desk.key(Qt.Key.Key_Return)
    assert [mark.description for mark in desk.own] == ["Seizure", "Spike", "Spike"]
    assert desk.labels == ["Mark Seizure at 00:02.0", "Mark Spike at 00:07.0", "Mark Spike at 00:08.0"]


def test_times_have_no_needless_digits(desk: Desk) -> None:
    desk.drag(2.123, 5.789)
    desk.key(Qt.Key.Key_I)
    (mark,) = desk.own
    assert mark.onset == round(mark.onset, 3)
    assert mark.duration == round(mark.duration, 3)


def test_selected_rows_are_marked_alone(desk: Desk) -> None:
    desk.drag(2.0, 5.0, 0.0, 1.0, SHIFT)
    desk.key(Qt.Key.Key_M)
    desk.drag(6.0, 7.0)
    desk.key(Qt.Key.Key_M)
    assert [mark.ch_names for mark in desk.own] == [("A", "B", "C"), ()]


def test_a_spike_is_marked_on_the_row_under_the_cursor(desk: Desk) -> None:
    desk.point(3.0, 2.0)
    desk.key(Qt.Key.Key_S)
    desk.point(4.0, 0.0)
    desk.key(Qt.Key.Key_M)
    assert [facts(mark) for mark in desk.own] == [(3.0, 0.0, "Spike", ("C", "D")), (4.0, 0.0, "Spike", ("A", "B"))]


def test_without_a_place_nothing_is_marked_and_it_is_said(desk: Desk) -> None:
    for key in (Qt.Key.Key_S, Qt.Key.Key_M, Qt.Key.Key_I):
        desk.key(key)
        assert "point at the traces" in desk.told[-1]
    assert desk.own == []


def test_marks_may_overlap_and_none_is_merged(desk: Desk) -> None:
    for _ in range(3):
        desk.drag(2.0, 5.0)
        desk.key(Qt.Key.Key_I)
    assert len(desk.own) == 3
    assert len({mark.id for mark in desk.own}) == 3


def test_the_bar_offers_types_and_makes_the_mark(desk: Desk) -> None:
    desk.drag(2.0, 5.0, 0.0, 0.0, SHIFT)
    bar = desk.marking.bar
    assert bar._length.text() == "3.0 s, A, B"
    assert desk.canvas.rect().contains(bar.geometry())
    names = [button.text() for button in bar.buttons]
    assert names[0] == "Seizure"
    desk.qtbot.mouseClick(bar.buttons[names.index("Artefact")], LEFT)
    assert facts(desk.own[0]) == (2.0, 3.0, "Artefact", ("A", "B"))
    desk.drag(6.0, 7.0)
    assert bar.buttons[0].text() == "Artefact"


def test_the_bar_goes_with_its_selection(desk: Desk) -> None:
    desk.drag(9.0, 9.9)
    bar = desk.marking.bar
    assert desk.canvas.rect().contains(bar.geometry())
    desk.show_page(Window(20.0, 30.0))
    desk.qtbot.waitUntil(lambda: not bar.isVisible())
    desk.show_page(Window(5.0, 15.0))
    desk.qtbot.waitUntil(bar.isVisible)
    desk.qtbot.mouseClick(bar._close, LEFT)
    assert not bar.isVisible()
    assert desk.canvas.selection is None


def test_the_bar_shows_all_its_buttons_however_often_it_is_placed(desk: Desk) -> None:
    bar = desk.marking.bar
    for _ in range(2):
        desk.drag(2.0, 5.0)
        shown = [*bar.buttons, bar._more, bar._close]
        assert bar.width() == bar.sizeHint().width()
        assert all(button.width() >= button.sizeHint().width() for button in shown)
        desk.marking._place_bar()
        QApplication.processEvents()
        assert bar.width() == bar.sizeHint().width()
        desk.qtbot.mouseClick(bar.buttons[3], LEFT)  # which puts other types on the buttons


def test_a_narrow_bar_does_without_some_types(desk: Desk) -> None:
    bar = desk.marking.bar
    desk.drag(2.0, 5.0, 0.0, 0.0, SHIFT)
    assert bar._length.text() == "3.0 s, A, B"
    desk.window.resize(desk.window.width() - desk.canvas.width() + bar.width() - 60, 500)
    QApplication.processEvents()
    assert desk.canvas.rect().contains(bar.geometry())
    assert bar._length.text() == "3.0 s"
    assert [button.isHidden() for button in bar.buttons] == [False, False, False, True]
    assert not bar._more.isHidden()
    desk.window.resize(1200, 700)
    desk.qtbot.waitUntil(lambda: not bar.buttons[3].isHidden())


def test_nothing_is_marked_beyond_the_recording(desk: Desk) -> None:
    desk.show_page(Window(55.0, 65.0))
    desk.drag(58.0, 63.0)
    desk.key(Qt.Key.Key_I)
    assert facts(desk.own[0])[:2] == (58.0, 2.0)
    assert desk.own[0].stop == SECONDS
    desk.drag(62.0, 64.0)
    desk.key(Qt.Key.Key_M)
    assert "point at the traces" in desk.told[-1]
    assert len(desk.own) == 1


# Seizures from their ends


def test_a_seizure_is_made_of_its_two_ends_one_edit_each(desk: Desk) -> None:
    desk.point(2.0)
    desk.key(Qt.Key.Key_I)
    assert facts(desk.own[0]) == (2.0, 0.0, "Seizure onset", ())
    desk.point(8.0)
    desk.key(Qt.Key.Key_I, SHIFT)
    assert [facts(mark) for mark in desk.own] == [(2.0, 6.0, "Seizure", ())]
    assert desk.labels == ["Mark Seizure onset at 00:02.0", "Mark Seizure from 00:02.0 to 00:08.0"]
    desk.marking.undo()
    assert facts(desk.own[0]) == (2.0, 0.0, "Seizure onset", ())


def test_what_is_said_of_one_end_gives_way_to_the_whole(desk: Desk) -> None:
    desk.point(2.0)
    desk.key(Qt.Key.Key_I)
    assert "Shift+I at its other end" in desk.told[-1]
    desk.point(8.0)
    desk.key(Qt.Key.Key_I, SHIFT)
    assert desk.told[-1] == "Mark Seizure from 00:02.0 to 00:08.0"


def test_the_end_may_be_marked_first(desk: Desk) -> None:
    desk.point(8.0)
    desk.key(Qt.Key.Key_I, SHIFT)
    desk.point(2.0)
    desk.key(Qt.Key.Key_I)
    assert [facts(mark) for mark in desk.own] == [(2.0, 6.0, "Seizure", ())]


def test_ends_are_joined_with_the_nearest_one_that_is_theirs(desk: Desk) -> None:
    for time in (1.0, 4.0):
        desk.point(time)
        desk.key(Qt.Key.Key_I)
    desk.point(6.0)
    desk.key(Qt.Key.Key_I, SHIFT)
    assert [facts(mark)[:3] for mark in desk.own] == [(1.0, 0.0, "Seizure onset"), (4.0, 2.0, "Seizure")]
    desk.point(0.5)
    desk.key(Qt.Key.Key_I, SHIFT)  # before every onset
    assert [mark.description for mark in desk.own] == ["Seizure offset", "Seizure onset", "Seizure"]


# Choosing, moving, deleting


def test_ends_are_dragged_and_each_drag_is_one_edit_with_a_name(desk: Desk) -> None:
    desk.drag(2.0, 5.0)
    desk.key(Qt.Key.Key_I)
    desk.drag(5.0, 8.4)
    desk.drag(2.0, 1.0)
    assert facts(desk.own[0])[:2] == (1.0, 7.4)
    assert desk.labels[1:] == ["Move end of Seizure to 00:08.4", "Move start of Seizure to 00:01.0"]
    assert desk.own[0].review.changed
    assert desk.selected is desk.own[0]


def test_a_mark_of_the_file_is_moved_and_stays_the_files(desk: Desk) -> None:
    desk.session.keeper.add([replace(FILE_MARK, onset=3.0)], "Read")
    desk.click(3.0)
    desk.drag(5.0, 7.0)
    (mark,) = desk.marks
    assert (mark.author, mark.state) == ("file", "edited")
    assert facts(mark)[:2] == (3.0, 4.0)


def test_delete_takes_the_chosen_mark_away(desk: Desk) -> None:
    desk.key(Qt.Key.Key_Delete)
    assert "choose a mark first" in desk.told[-1]
    desk.drag(2.0, 5.0)
    desk.key(Qt.Key.Key_I)
    desk.key(Qt.Key.Key_Delete)
    assert desk.own == []
    assert desk.selected is None
    assert desk.labels[-1] == "Delete Seizure"
    desk.marking.undo()
    assert desk.selected is desk.own[0]


def test_the_chosen_mark_stays_while_a_span_is_selected_and_enter_marks_the_span(desk: Desk) -> None:
    """As trimming to a selection needs both; choosing a mark takes the selection away."""
    desk.drag(2.0, 5.0)
    desk.key(Qt.Key.Key_I)
    desk.drag(6.0, 8.0)
    assert desk.selected is desk.own[0]
    desk.key(Qt.Key.Key_Return)
    assert [facts(mark)[:2] for mark in desk.own] == [(2.0, 3.0), (6.0, 2.0)]
    assert desk.selected is desk.own[1]
    desk.drag(8.4, 9.4)
    desk.click(5.0)
    assert desk.selected is desk.own[0]
    assert desk.canvas.selection is None


def test_letting_go_is_one_thing_at_a_time(desk: Desk) -> None:
    assert not desk.marking.let_go()
    desk.drag(2.0, 5.0)
    assert desk.marking.let_go()
    assert desk.canvas.selection is None
    assert not desk.marking.let_go()
    desk.point(3.0)
    desk.key(Qt.Key.Key_S)
    assert desk.marking.let_go()
    assert desk.selected is None


# A model's events


@pytest.fixture
def event(desk: Desk) -> Annotation:
    found = Annotation(3.0, 2.0, "sz", confidence=0.9, author="model:m")
    prediction = SeizurePrediction(
        AnalysisRequest("seizure", desk.session.recording.id, NAMES), "m", "0", events=(found,)
    )
    desk.session.set_prediction(prediction)
    desk.view.set_prediction(prediction)
    return found


def test_an_event_whose_end_is_dragged_is_taken_in_with_its_author_and_span(desk: Desk, event: Annotation) -> None:
    desk.click(5.0)
    assert desk.selected is event
    desk.drag(5.0, 7.0)
    (mark,) = desk.marks
    assert (mark.author, mark.confidence, mark.state) == (event.author, 0.9, "edited")
    assert facts(mark)[:2] == (3.0, 4.0)
    assert dict(mark.extras) == {MODEL_ONSET: "3", MODEL_DURATION: "2"}
    assert desk.labels == ["Move end of Seizure to 00:07.0"]
    assert desk.selected is mark
    desk.drag(7.0, 6.0)
    assert facts(desk.marks[0])[:2] == (3.0, 3.0)
    assert dict(desk.marks[0].extras)[MODEL_DURATION] == "2"
    desk.undo_all()
    assert desk.marks == ()


def test_an_event_that_is_decided_on_meanwhile_is_no_second_mark(desk: Desk, event: Annotation) -> None:
    desk.marking.edit(event)
    desk.session.keeper.decide(event, "accepted")  # in another window
    desk.marking._dialog.comment.setPlainText("left")
    desk.marking._dialog.accept()
    (mark,) = desk.marks
    assert (mark.review.decision, mark.review.comment, mark.confidence) == ("accepted", "left", 0.9)


def test_an_event_is_not_deleted(desk: Desk, event: Annotation) -> None:
    desk.click(5.0)
    desk.key(Qt.Key.Key_Delete)
    assert "rejected, with X" in desk.told[-1]
    assert desk.marks == ()


def test_an_event_that_the_threshold_no_longer_gives_is_let_go(desk: Desk, event: Annotation) -> None:
    desk.click(5.0)
    prediction = desk.session.prediction
    desk.session.set_prediction(replace(prediction))
    assert desk.selected is event
    desk.session.set_prediction(replace(prediction, events=()))
    assert desk.selected is None


# Undo and redo


def test_undo_and_redo_say_what_they_do_and_are_only_offered_where_they_can(desk: Desk) -> None:
    undo, redo = desk.actions["undo_edit"], desk.actions["redo_edit"]
    assert (undo.text(), undo.isEnabled(), redo.isEnabled()) == ("Undo", False, False)
    desk.drag(2.0, 5.0)
    desk.key(Qt.Key.Key_I)
    desk.drag(5.0, 8.0)
    assert (undo.text(), undo.isEnabled()) == ("Undo: Move end of Seizure to 00:08.0", True)
    desk.key(Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert desk.told[-1] == "undone: Move end of Seizure to 00:08.0"
    assert (undo.text(), redo.text()) == ("Undo: Mark Seizure at 00:02.0", "Redo: Move end of Seizure to 00:08.0")
    assert facts(desk.selected)[:2] == (2.0, 3.0)
    desk.key(Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | SHIFT)
    assert facts(desk.selected)[:2] == (2.0, 6.0)
    assert not redo.isEnabled()
    desk.marking.redo()
    assert "nothing to redo" in desk.told[-1]


def test_undo_goes_to_where_it_undoes(desk: Desk) -> None:
    desk.drag(2.0, 5.0)
    desk.key(Qt.Key.Key_I)
    desk.session.go_to(30.0)
    desk.marking.undo()
    assert desk.session.window.start < 2.0 < desk.session.window.stop
    desk.session.go_to(4.0)
    desk.marking.redo()
    assert desk.session.window.start == 4.0  # it was on the page


def test_two_windows_share_marks_and_their_history(qtbot, recording) -> None:
    shelf = MarkShelf()
    one, two = Desk(qtbot, recording, shelf), Desk(qtbot, recording, shelf)
    one.drag(2.0, 5.0)
    one.actions["mark_seizure"].trigger()
    assert two.actions["undo_edit"].text() == "Undo: Mark Seizure at 00:02.0"
    two.click(5.0)
    two.drag(5.0, 7.0)
    assert one.selected is one.own[0]
    assert facts(one.selected)[:2] == (2.0, 5.0)
    one.actions["delete_mark"].trigger()
    assert two.selected is None
    two.marking.undo()
    assert one.own == two.own
    for desk in (one, two):
        desk.session.close()


# The palette and the dialog


def test_the_palette_marks_the_selection_changes_a_mark_or_chooses_for_later(desk: Desk) -> None:
    desk.drag(2.0, 5.0)
    desk.key(Qt.Key.Key_M, SHIFT)
    popup = desk.marking._popup
    assert popup.isVisible()
    QTest.keyClicks(popup.palette_view.search, "slow")
    QTest.keyClick(popup.palette_view.search, Qt.Key.Key_Return)
    assert not popup.isVisible()
    assert desk.own[0].description == "Delta slowing"
    desk.marking.open_palette()
    assert popup._title.text() == "Change Delta slowing to"
    QTest.keyClicks(popup.palette_view.search, "theta")
    QTest.keyClick(popup.palette_view.search, Qt.Key.Key_Return)
    assert (desk.own[0].description, desk.labels[-1]) == ("Theta slowing", "Change Delta slowing to Theta slowing")
    assert desk.own[0].review.tag == "Abnormal-interictal-rhythmic-activity, Theta-activity"
    desk.marking.let_go()
    desk.marking.open_palette()
    QTest.keyClicks(popup.palette_view.search, "spindle")
    QTest.keyClick(popup.palette_view.search, Qt.Key.Key_Return)
    assert len(desk.own) == 1
    assert desk.marking.types.current.name == "Spindle"


def test_the_dialog_changes_the_mark_in_one_edit(desk: Desk) -> None:
    desk.drag(2.0, 5.0)
    desk.key(Qt.Key.Key_I)
    desk.key(Qt.Key.Key_Return)
    dialog = desk.marking._dialog
    dialog.comment.setPlainText("left temporal")
    dialog.text.setText("Focal seizure")
    dialog.accept()
    assert desk.own[0].description == "Focal seizure"
    assert desk.own[0].review.comment == "left temporal"
    assert desk.labels[-1] == "Edit Seizure"
    desk.marking.edit(desk.own[0])
    desk.marking._dialog.accept()
    assert len(desk.labels) == 2  # nothing was changed


def test_a_mark_that_is_gone_is_not_edited(desk: Desk) -> None:
    desk.drag(2.0, 5.0)
    desk.key(Qt.Key.Key_I)
    (mark,) = desk.own
    desk.session.keeper.remove([mark], "Delete elsewhere")
    desk.marking.move(mark, 2.0, 4.0)
    assert "gone" in desk.told[-1]
    assert desk.marks == ()


def test_what_another_window_changes_meanwhile_is_kept(desk: Desk) -> None:
    keeper = desk.session.keeper
    desk.drag(2.0, 5.0)
    desk.key(Qt.Key.Key_I)
    (mark,) = desk.own
    desk.marking.edit(mark)
    keeper.change(mark, replace(mark, onset=1.0, duration=1.5), "Elsewhere")
    desk.marking._dialog.comment.setPlainText("left")
    desk.marking._dialog.accept()
    assert facts(desk.own[0])[:2] == (1.0, 1.5)
    assert desk.own[0].review.comment == "left"
    viewport = desk.canvas.viewport()
    desk.qtbot.mousePress(viewport, LEFT, PLAIN, desk.at(2.5))
    desk.qtbot.mouseMove(viewport, desk.at(4.0))
    desk.qtbot.mouseMove(viewport, desk.at(6.0))
    keeper.change(desk.own[0], replace(desk.own[0], onset=0.5, duration=2.0, confidence=0.5), "Elsewhere")
    desk.qtbot.mouseRelease(viewport, LEFT, PLAIN, desk.at(6.0))
    assert facts(desk.own[0])[:2] == (0.5, 5.5)
    assert desk.own[0].confidence == 0.5


def test_ends_that_would_change_places_are_left_where_they_are(desk: Desk) -> None:
    (mark,) = desk.session.keeper.add([Annotation(2.0, 3.0, "x", author="reader")], "Add")
    desk.session.keeper.change(mark, replace(mark, duration=0.5), "Elsewhere")
    desk.marking.move(mark, 4.0, 5.0)
    assert "moved in another window" in desk.told[-1]
    assert facts(desk.own[0])[:2] == (2.0, 0.5)


# When another recording opens


@pytest.fixture
def other(array_recording):
    """Another recording."""
    channels = [Channel(name, name, "eeg", "uV", SFREQ) for name in NAMES]
    return array_recording(channels, np.ones((4, round(20 * SFREQ))), SFREQ)


@pytest.fixture
def chosen(desk: Desk) -> Annotation:
    """The mark that is chosen, in the first recording."""
    desk.session.keeper.set_file_marks(Marks.of([FILE_MARK]))
    desk.view.set_current_event(desk.marks[0])
    return desk.marks[0]


def test_the_dialog_of_a_mark_ends_with_its_recording(desk: Desk, chosen: Annotation, other) -> None:
    desk.marking.edit(chosen)
    dialog = desk.marking._dialog
    dialog.comment.setPlainText("of the first recording")
    desk.session.open(other)
    desk.session.keeper.set_file_marks(Marks.of([replace(FILE_MARK, description="of another file")]))
    assert not dialog.isVisible()
    assert desk.marking._dialog is None
    assert desk.selected is None
    assert desk.labels == []
    assert desk.marks[0].review.comment == ""
    desk.marking.edit(desk.marks[0])
    assert desk.marking._dialog.before.description == "of another file"


def test_the_dialog_of_a_mark_ends_with_its_window(desk: Desk, chosen: Annotation) -> None:
    desk.marking.edit(chosen)
    dialog = desk.marking._dialog
    desk.session.close()
    assert not dialog.isVisible()
    assert desk.labels == []


def test_the_palette_ends_with_its_recording(desk: Desk, chosen: Annotation, other) -> None:
    desk.marking.open_palette()
    desk.session.open(other)
    assert not desk.marking._popup.isVisible()
    assert desk.marking._palette_for is None


def test_steps_in_a_recording_left_behind_choose_nothing_here(qtbot, recording, other) -> None:
    shelf = MarkShelf()
    one, two = Desk(qtbot, recording, shelf), Desk(qtbot, recording, shelf)
    two.session.keeper.set_file_marks(Marks.of([FILE_MARK]))
    one.session.open(other)
    one.session.keeper.set_file_marks(Marks.of([replace(FILE_MARK, description="of another file")]))
    one.view.set_current_event(one.marks[0])
    two.session.keeper.change(two.marks[0], replace(two.marks[0], onset=3.0), "Move")
    assert one.selected is one.marks[0]
    assert not one.actions["undo_edit"].isEnabled()
    one.marking.undo()
    assert two.labels == ["Move"]
    for desk in (one, two):
        desk.session.close()


def test_a_drag_ends_with_its_recording(desk: Desk, other) -> None:
    viewport = desk.canvas.viewport()
    desk.qtbot.mousePress(viewport, LEFT, SHIFT, desk.at(2.0))
    desk.qtbot.mouseMove(viewport, desk.at(4.0))
    desk.qtbot.mouseMove(viewport, desk.at(6.0))
    assert desk.canvas.selection is not None
    desk.session.open(other)
    desk.view.set_recording_facts(other.duration, None, (), other.channels)
    desk.qtbot.mouseMove(viewport, QPoint(500, 200))
    desk.qtbot.mouseRelease(viewport, LEFT, SHIFT, QPoint(500, 200))
    assert (desk.canvas.selection, desk.canvas.selection_channels) == (None, ())
    assert not desk.marking.bar.isVisible()


# Decisions


def test_a_decision_outlives_a_change_of_the_ends(desk: Desk) -> None:
    (made,) = desk.session.keeper.add([Annotation(2.0, 3.0, "x", author="reader", review=Review(tag="t"))], "Add")
    decided = desk.session.keeper.decide(made, "accepted")
    desk.view.set_current_event(decided)
    desk.drag(5.0, 6.0)
    assert desk.marks[0].review.decision == "accepted"
    assert desk.marks[0].review.tag == "t"


# Everything by keys alone


def test_all_of_it_by_keys_alone(desk: Desk) -> None:
    for _ in range(4):
        desk.key(Qt.Key.Key_Period)
    desk.key(Qt.Key.Key_Comma)
    assert desk.view.trace_view.keys.place()[0] == pytest.approx(5.3)
    for _ in range(10):
        desk.key(Qt.Key.Key_Right, SHIFT)
    assert desk.canvas.selection.duration == pytest.approx(1.0)
    desk.view.trace_view.gutter.set_chosen(0)
    desk.key(Qt.Key.Key_Down, Qt.KeyboardModifier.ControlModifier | SHIFT)
    desk.key(Qt.Key.Key_Return)
    assert facts(desk.own[0]) == (5.3, 1.0, "Seizure", ("A", "B", "C"))
    desk.view.trace_view.gutter.set_chosen(2)
    desk.key(Qt.Key.Key_Period)
    desk.key(Qt.Key.Key_S)
    assert facts(desk.own[1]) == (6.4, 0.0, "Spike", ("C", "D"))
    desk.key(Qt.Key.Key_Return)
    dialog = desk.marking._dialog
    dialog.onset.edit.selectAll()
    QTest.keyClicks(dialog.onset.edit, "0:07.5")
    QTest.keyClick(dialog.onset.edit, Qt.Key.Key_Return)
    assert facts(desk.own[1])[:2] == (7.5, 0.0)
    desk.qtbot.waitUntil(lambda: QApplication.activeWindow() is desk.window)
    assert desk.canvas.hasFocus()
    desk.key(Qt.Key.Key_Delete)
    assert len(desk.own) == 1


# Whatever is done can be undone

TIMES = st.integers(0, 100).map(lambda tenths: tenths / 10)
GESTURES = st.one_of(
    st.tuples(st.just("mark"), TIMES, TIMES, st.sampled_from(["I", "M", "Return"])),
    st.tuples(st.just("rows"), TIMES, TIMES, st.sampled_from([0.0, 1.0, 2.0])),
    st.tuples(st.just("point"), TIMES, st.sampled_from(["S", "I", "Shift+I", "M"]), st.sampled_from([0.0, 1.0, 2.0])),
    st.tuples(st.just("drag"), st.integers(0, 20), st.booleans(), TIMES),
    st.tuples(st.just("delete"), st.integers(0, 20), st.booleans(), TIMES),
    st.tuples(st.just("undo"), TIMES, TIMES, TIMES),
    st.tuples(st.just("redo"), TIMES, TIMES, TIMES),
)


def do(desk: Desk, gesture: tuple) -> None:
    kind, first, second, third = gesture
    if kind in ("mark", "rows"):
        desk.drag(first, second, 1.0 if kind == "mark" else third, 1.0, PLAIN if kind == "mark" else SHIFT)
        desk.key(QKeySequence(third if kind == "mark" else "M")[0].key())
    elif kind == "point":
        desk.point(first, third)
        desk.key(QKeySequence(second)[0].key(), SHIFT if "Shift" in second else PLAIN)
    elif kind in ("undo", "redo"):
        desk.actions[f"{kind}_edit"].trigger()
    elif desk.marks:
        mark = desk.marks[first % len(desk.marks)]
        desk.view.set_current_event(mark)
        if kind == "delete":
            desk.key(Qt.Key.Key_Delete)
        else:
            rows = desk.canvas.bands_of(mark.ch_names)
            row = 1.0 if len(rows) != 1 else float(desk.view.trace_view.rows.row_at(sum(rows[0]) / 2))
            desk.drag(mark.onset if second else mark.stop, third, row)


def held(desk: Desk) -> list[tuple]:
    return sorted((mark.id, mark.onset, mark.duration, mark.description, mark.review.comment) for mark in desk.marks)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(GESTURES, min_size=1, max_size=12))
def test_whatever_is_done_is_undone_and_done_again(desk: Desk, gestures: list[tuple]) -> None:
    keeper = desk.session.keeper
    desk.undo_all()
    if not keeper.marks.items:
        keeper.set_file_marks(type(keeper.marks).of([replace(FILE_MARK, onset=4.0)]))
    start = held(desk)
    for gesture in gestures:
        do(desk, gesture)
        desk.marking.let_go()
        desk.marking.let_go()
    end, steps = held(desk), len(keeper.book.done)
    desk.undo_all()
    assert held(desk) == start
    for _ in range(steps):
        desk.marking.redo()
    assert held(desk) == end
    assert len({mark.id for mark in desk.marks}) == len(desk.marks)


# In the real window


@pytest.fixture
def handle(shared, qtbot):
    made = open_window(shared / "recordings/scalp-seizure-46ch/demo_edf.edf", (1400, 900), Settings(), 10.0)
    made.wait()
    yield made
    made.close()


def test_marks_come_and_go_in_the_real_window(handle, qtbot) -> None:
    main = handle.main
    canvas, rows = main.view.trace_view.canvas, main.view.trace_view.rows
    before = [mark.description for mark in main.session.marks.items]
    qtbot.mouseMove(canvas.viewport(), QPoint(round(canvas.scale_px.x(13.0)), round(float(rows.centre[5]))))
    QTest.keyClick(main, Qt.Key.Key_S)
    handle.wait()
    (mark,) = [mark for mark in main.session.marks.items if mark.author == "reader"]
    assert mark.ch_names == ("F3", "C3")
    assert main.queue.current is mark
    handle.set_montage("common average")
    handle.wait()
    assert len(canvas.bands_of(mark.ch_names)) == 2
    QTest.keyClick(main, Qt.Key.Key_Escape)
    assert main.queue.current is None
    QTest.keyClick(main, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert [mark.description for mark in main.session.marks.items] == before
    assert main.status._message.text() == "undone: Mark Spike at 00:13.0"


def test_choosing_a_mark_on_the_page_does_not_move_the_page(handle, qtbot) -> None:
    main = handle.main
    (seizure,) = main.session.add_annotations([Annotation(2.0, 17.5, "Seizure", author="reader")])
    handle.wait()
    canvas = main.view.trace_view.canvas
    place = QPoint(round(canvas.scale_px.x(seizure.stop)), canvas.height() // 2)
    qtbot.mouseClick(canvas.viewport(), LEFT, pos=place)
    assert main.queue.current is seizure
    assert main.session.window.start == 10.0
