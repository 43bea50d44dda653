"""The review queue in the real window: real keys, one step each, decisions that outlive the threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from PyQt6.QtCore import QEvent, QPoint, Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QComboBox, QSlider

from analysis.annotation import Annotation, Review
from analysis.postprocessing import OnlineRule
from analysis.recording import Window as Span
from analysis.results import AnalysisRequest, SeizurePrediction
from analysis.review.queue import QueueFilter
from app.engine_process import EngineProcess
from app.main_window import MainWindow
from app.model_runs import ModelRuns
from app.settings import Settings
from app.synthetic_edf import SyntheticHeader, to_digital, write_synthetic_file
from app.testing import Window, open_window

SECONDS = 120
MARKS = ((20.0, 5.0, "Seizure"), (40.0, 0.0, "eyes open"), (70.0, 4.0, "Artefact"))
# A curve whose events a threshold changes: three above 0.5, one more above 0.3, and only one above 0.8.
PEAKS = ((10, 20, 0.9), (45, 55, 0.7), (80, 95, 0.6), (112, 118, 0.4))
MODEL = "model:M"


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    noise = to_digital(np.random.default_rng(0).normal(0, 20, (SECONDS, 4, 64)))
    header = SyntheticHeader(("F3", "F4", "C3", "C4"), 64, SECONDS, "SYNTHETIC_review")
    return write_synthetic_file(tmp_path_factory.mktemp("review") / "review.edf", header, [noise], MARKS)


@pytest.fixture
def window(recording, qtbot, monkeypatch):
    # No model runs here, and what would be scored in its process is looked at before it gets there.
    monkeypatch.setattr(EngineProcess, "start", lambda self: None)
    monkeypatch.setattr(ModelRuns, "_score", lambda self: None)
    opened = open_window(recording, (1300, 800), Settings(theme="light"))
    opened.wait()
    yield opened
    opened.close()


@pytest.fixture
def predicted(window) -> Window:
    """The window with the result of a model in it."""
    show_prediction(window.main)
    window.wait()
    return window


def show_prediction(main: MainWindow) -> None:
    times = np.arange(0.0, SECONDS)
    p = np.full(SECONDS, 0.05, np.float32)
    for start, stop, height in PEAKS:
        p[start:stop] = height
    request = AnalysisRequest("seizure", main.session.recording.id, ("c",))
    found = SeizurePrediction(request, "", "", times=times, durations=np.ones(SECONDS), probability=p, model_title="M")
    main.runs._show(found)


def press(window: Window, key: str, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(window.main, getattr(Qt.Key, f"Key_{key}"), modifier)
    window.wait()


CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def spans(marks: Sequence[Annotation]) -> list[tuple[float, float]]:
    return [(mark.onset, mark.stop) for mark in marks]


def on_traces(main: MainWindow) -> list[tuple[float, float]]:
    """The model's events that the view is told to draw as undecided."""
    return spans(main.view._prediction.events)


def test_marks_and_live_events_are_listed_together(predicted):
    main = predicted.main
    listed = [(a.onset, a.is_model) for a in main.events.items()]
    assert listed == [(10.0, True), (20.0, False), (40.0, False), (45.0, True), (70.0, False), (80.0, True)]
    assert main.events_dock.heading._remark.text() == "3 to review"
    assert main.sensitivity_panel._count.text() == "p ≥ 0.50   3 to review"


def test_accepting_and_rejecting_move_on_and_remember_who_and_when(predicted):
    main = predicted.main
    main.session.keeper.rater = "AB"
    press(predicted, "N", SHIFT)
    assert main.queue.current.onset == 10.0
    press(predicted, "Y")
    assert main.queue.current.onset == 45.0
    assert main.events.selected().onset == 45.0
    assert main.session.window == Span(42.5, 52.5)  # longer than half a page: it begins at a quarter
    press(predicted, "X")
    assert main.queue.current.onset == 80.0
    first, second = main.session.marks.of_source("model").items
    assert (first.onset, first.review.decision, first.review.by) == (10.0, "accepted", "AB")
    assert (second.onset, second.review.decision) == (45.0, "rejected")
    assert first.review.at
    assert on_traces(main) == [(80.0, 95.0)]
    assert main.events_dock.heading._remark.text() == "1 to review"
    press(predicted, "Y")
    assert "nothing is left to review" in main.status._message.text()
    assert on_traces(main) == []


def test_decisions_are_signed_with_the_name_the_reader_gives(predicted):
    main = predicted.main
    press(predicted, "N", SHIFT)
    press(predicted, "Y")
    main.rater_name.set_name("  A.  B. ")
    press(predicted, "Y")
    first, second = (main.events.table.rows.row_of(m) for m in main.session.marks.of_source("model").items)
    signed = [main.events.table.rows.index(row, 7).data() for row in (first, second)]
    assert [text.split(" 20")[0] for text in signed] == ["you", "A. B."]
    assert main.settings.rater == "A. B."


def test_nothing_is_decided_on_that_is_not_on_the_page(predicted):
    main = predicted.main
    press(predicted, "Y")  # nothing is chosen: the first event to review is shown instead
    assert main.queue.current.onset == 10.0
    assert len(main.session.marks) == len(MARKS)
    press(predicted, "End")
    press(predicted, "X")  # shown first
    assert main.session.window.start < 20.0
    assert len(main.session.marks) == len(MARKS)
    assert "again" in main.status._message.text()
    press(predicted, "X")
    assert main.session.marks.of_source("model").items[0].review.decision == "rejected"


def test_what_is_to_review_alone_is_listed_and_empties(predicted):
    main = predicted.main
    press(predicted, "Y", CTRL)
    assert [a.onset for a in main.events.items()] == [10.0, 45.0, 80.0]
    press(predicted, "N")
    press(predicted, "X")
    assert [a.onset for a in main.events.items()] == [45.0, 80.0]
    assert main.queue.current.onset == 45.0
    press(predicted, "N")
    assert main.queue.current.onset == 80.0
    press(predicted, "Y")
    assert main.queue.current.onset == 45.0  # round to the one that was passed over
    press(predicted, "P")
    press(predicted, "Y")
    assert main.events.items() == []
    press(predicted, "Y", CTRL)
    assert main.events.listed_count == len(MARKS) + 3


def test_a_decision_is_taken_back_and_the_event_lives_again(predicted):
    main = predicted.main
    press(predicted, "N", SHIFT)
    press(predicted, "Y")
    press(predicted, "U")  # the current event is undecided, so the latest decision goes
    assert len(main.session.marks.of_source("model")) == 0
    assert on_traces(main) == [(10.0, 20.0), (45.0, 55.0), (80.0, 95.0)]
    assert main.queue.current.onset == 10.0
    main.runs.set_threshold(0.3)
    assert on_traces(main)[0] == (10.0, 20.0)
    press(predicted, "U")
    assert "no decision to take back" in main.status._message.text()


def test_undo_takes_a_decision_back_as_well_and_redo_brings_it_again(predicted):
    main = predicted.main
    press(predicted, "N", SHIFT)
    press(predicted, "X")
    press(predicted, "Z", CTRL)
    assert on_traces(main) == [(10.0, 20.0), (45.0, 55.0), (80.0, 95.0)]
    press(predicted, "Z", CTRL | SHIFT)
    assert on_traces(main) == [(45.0, 55.0), (80.0, 95.0)]


def test_a_decision_taken_back_at_another_threshold_is_not_lost(predicted):
    main = predicted.main
    main.runs.set_threshold(0.3)
    main.queue.choose(main.events.items()[-1])
    assert main.queue.current.onset == 112.0
    press(predicted, "Y")
    main.runs.set_threshold(0.8)
    main.queue.choose(main.session.marks.of_source("model").items[0])
    press(predicted, "U")
    (mark,) = main.session.marks.of_source("model").items
    assert (mark.onset, mark.review.decision) == (112.0, "")
    assert main.queue.current.onset == 112.0
    assert main.events_dock.heading._remark.text() == "2 to review"
    main.runs.set_threshold(0.3)
    assert 112.0 not in [start for start, _ in on_traces(main)]


def test_the_dial_keeps_what_was_decided(predicted):
    main = predicted.main
    press(predicted, "N", SHIFT)
    press(predicted, "Y")
    press(predicted, "X")
    for threshold, live in ((0.3, [(80.0, 95.0), (112.0, 118.0)]), (0.65, []), (0.95, []), (0.5, [(80.0, 95.0)])):
        main.runs.set_threshold(threshold)
        assert on_traces(main) == live
        decided = [(m.onset, m.review.decision) for m in main.session.marks.of_source("model").items]
        assert decided == [(10.0, "accepted"), (45.0, "rejected")]
        text = main.sensitivity_panel._count.text()
        assert text.endswith(f"{len(live) or 'nothing'} to review, 2 decided")


def test_the_dial_is_turned_by_keys(predicted, qtbot):
    main = predicted.main
    for key, threshold in (("Up", 0.55), ("Up", 0.6), ("Down", 0.55)):
        press(predicted, key, CTRL)
        assert main.runs.threshold == threshold
    main.activateWindow()
    slider = main.sensitivity_panel.findChild(QSlider)
    slider.setFocus()
    start = main.session.window.start
    qtbot.keyClick(slider, Qt.Key.Key_Right)
    assert main.runs.threshold == 0.56
    assert main.session.window.start == start


def test_the_current_event_follows_the_dial(predicted):
    main = predicted.main
    main.queue.choose(main.queue.live[2])
    main.runs.set_threshold(0.3)
    assert spans([main.queue.current]) == [(80.0, 95.0)]
    main.runs.set_threshold(0.95)
    assert main.queue.current is None


def test_marks_of_people_are_decided_on_too(predicted):
    main = predicted.main
    main.queue.choose(main.session.marks.items[0])
    press(predicted, "Y")
    assert main.session.marks.items[0].review.decision == "accepted"
    assert main.queue.current.description == "eyes open"  # the next that a person made, not a model's
    press(predicted, "X")
    assert main.queue.current.description == "Artefact"
    press(predicted, "P")
    press(predicted, "P")
    press(predicted, "U")
    assert [m.review.decision for m in main.session.marks.items] == ["accepted", "", ""]


def test_the_next_event_to_review_is_one_that_the_heading_counts(predicted):
    main = predicted.main
    main.queue.choose(main.session.marks.items[0])
    press(predicted, "N", SHIFT)
    assert main.queue.current.is_model  # and not the next mark of the file
    press(predicted, "X")
    press(predicted, "X")
    press(predicted, "N", SHIFT)
    assert main.events_dock.heading._remark.text() == "1 to review"
    waiting = main.queue.current
    assert waiting.onset == 10.0
    press(predicted, "N", SHIFT)
    assert main.queue.current == waiting
    assert "only event left to review" in main.status._message.text()
    main.events.set_filter(QueueFilter(authors=frozenset({"file"})))
    main.queue.choose(main.session.marks.items[0])
    press(predicted, "N", SHIFT)
    assert main.queue.current.description == "eyes open"  # of what is listed, marks of people wait
    main.events.set_filter(QueueFilter(states=frozenset({"rejected"})))
    press(predicted, "N", SHIFT)
    assert main.status._message.text() == "1 to review, not listed: the filters leave it out"


def test_after_the_last_mark_of_a_person_what_a_model_found_is_next(predicted):
    main = predicted.main
    main.queue.choose(main.session.marks.items[0])
    for _ in MARKS:
        press(predicted, "Y")
    assert main.queue.current.is_model
    assert main.queue.current.onset == 80.0


def test_steps_go_on_from_the_page_that_was_turned_to(predicted):
    main = predicted.main
    main.queue.choose(main.events.items()[-1])
    press(predicted, "Home")
    press(predicted, "N")
    assert main.queue.current.onset == 10.0
    press(predicted, "N")
    assert main.queue.current.onset == 20.0  # from the event, as long as it is on the page
    press(predicted, "End")
    press(predicted, "P")
    assert main.queue.current.onset == 80.0
    press(predicted, "End")
    press(predicted, "N")
    assert main.status._message.text() == "no event from this page on"


def test_one_event_alone_is_selected_after_undo_and_redo(predicted):
    main = predicted.main
    main.queue.choose(main.session.marks.items[0])
    press(predicted, "Y")
    assert main.queue.current.onset == 40.0
    for modifier in (CTRL, CTRL | SHIFT):  # still held when the list changes
        press(predicted, "Z", modifier)
        assert [mark.onset for mark in main.events.chosen()] == [20.0]


def test_a_rejected_seizure_is_no_seizure(window):
    main = window.main
    assert main.session.marks.seizures == ((20.0, 25.0),)
    main.queue.choose(main.session.marks.items[0])
    press(window, "X")
    assert main.session.marks.seizures == ()


# Split, merge, trim


def at(window: Window, time: float) -> None:
    """Put the cursor on the traces at a time."""
    canvas = window.main.view.trace_view.canvas
    x = round(canvas.scale_px.x(time))
    QTest.mouseMove(canvas.viewport(), QPoint(x - 3, 200))
    QTest.mouseMove(canvas.viewport(), QPoint(x, 200))
    QApplication.processEvents()


def drag(window: Window, start: float, stop: float) -> None:
    """Select a span on the traces with the mouse."""
    canvas = window.main.view.trace_view.canvas
    here, there = (QPoint(round(canvas.scale_px.x(time)), 200) for time in (start, stop))
    QTest.mousePress(canvas.viewport(), Qt.MouseButton.LeftButton, pos=here)
    QTest.mouseMove(canvas.viewport(), (here + there) / 2)
    QTest.mouseMove(canvas.viewport(), there)
    QTest.mouseRelease(canvas.viewport(), Qt.MouseButton.LeftButton, pos=there)
    window.wait()


def test_a_live_event_is_split_at_the_cursor_in_one_step(predicted):
    main = predicted.main
    press(predicted, "N", SHIFT)
    at(predicted, 14.0)
    press(predicted, "K", CTRL)
    first, second = main.session.marks.of_source("model").items
    assert first.onset == 10.0
    assert first.stop == pytest.approx(second.onset, abs=1e-9)
    assert second.onset == pytest.approx(14.0, abs=0.02)
    assert second.stop == 20.0
    assert {first.state, second.state} == {"edited"}
    assert on_traces(main) == [(45.0, 55.0), (80.0, 95.0)]
    assert main.events_dock.heading._remark.text() == "4 to review"
    assert main.queue.current == first
    press(predicted, "Z", CTRL)
    assert len(main.session.marks) == len(MARKS)
    assert on_traces(main)[0] == (10.0, 20.0)


def test_ends_are_put_at_the_cursor(predicted):
    main = predicted.main
    press(predicted, "N", SHIFT)
    predicted.show(5.0, 20.0)
    predicted.wait()
    for time, key in ((12.0, "I"), (18.0, "U")):
        at(predicted, time)
        press(predicted, key, CTRL)
    (mark,) = main.session.marks.of_source("model").items
    assert spans([mark])[0] == pytest.approx((12.0, 18.0), abs=0.02)
    assert dict(mark.extras)["modelOnset"] == "10"
    assert len(main.session.keeper.book.done) == 2


def test_a_mark_is_trimmed_to_the_selection(window):
    main = window.main
    main.queue.choose(main.session.marks.items[0])
    press(window, "T", CTRL | SHIFT)
    assert "select a span" in main.status._message.text()
    drag(window, 21.5, 23.0)
    assert main.queue.current is main.session.marks.items[0]
    press(window, "T", CTRL | SHIFT)
    assert spans([main.queue.current])[0] == pytest.approx((21.5, 23.0), abs=0.02)
    press(window, "Z", CTRL)
    assert spans(main.session.marks.items)[0] == (20.0, 25.0)


def test_a_cursor_that_is_gone_is_no_place(window):
    main = window.main
    main.queue.choose(main.session.marks.items[0])
    window.wait()
    at(window, 22.0)
    QApplication.sendEvent(main.view.trace_view.canvas, QEvent(QEvent.Type.Leave))
    for key, what in (("K", "split"), ("I", "begin"), ("U", "end")):
        press(window, key, CTRL)
        assert main.status._message.text() == f"put the cursor on the traces where the event shall {what}"
    assert main.session.keeper.book.done == ()
    main.view.trace_view.canvas.point_at(22.0, -1.0)  # as keys do
    press(window, "K", CTRL)
    assert spans(main.session.marks.items)[:2] == [(20.0, 22.0), (22.0, 25.0)]


def test_new_ends_lie_in_the_recording_and_have_no_needless_digits(window):
    main = window.main
    mark = main.session.marks.items[0]
    window.show(0.0, SECONDS + 80.0)
    window.wait()
    main.queue.choose(mark)
    drag(window, 100.0, SECONDS + 30.0)
    press(window, "T", CTRL | SHIFT)
    made = main.queue.current
    assert made.stop == SECONDS
    assert (made.onset, made.duration) == (round(made.onset, 3), round(made.duration, 3))


def test_selected_events_are_merged(predicted, qtbot):
    main = predicted.main
    table = main.events.table
    for row, modifier in ((0, Qt.KeyboardModifier.NoModifier), (3, CTRL)):
        place = table.visualRect(table.rows.index(row, 0)).center()
        qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, modifier, place)
    press(predicted, "J", CTRL)
    (mark,) = main.session.marks.of_source("model").items
    assert spans([mark]) == [(10.0, 55.0)]
    assert on_traces(main) == [(80.0, 95.0)]
    press(predicted, "Z", CTRL)
    assert on_traces(main) == [(10.0, 20.0), (45.0, 55.0), (80.0, 95.0)]


def test_alone_an_event_is_merged_with_the_next_of_its_kind(predicted):
    main = predicted.main
    press(predicted, "N", SHIFT)
    press(predicted, "J", CTRL)
    assert spans(main.session.marks.of_source("model").items) == [(10.0, 55.0)]


def test_a_model_is_not_merged_with_a_person(predicted, qtbot):
    main = predicted.main
    table = main.events.table
    for row, modifier in ((0, Qt.KeyboardModifier.NoModifier), (1, CTRL)):
        place = table.visualRect(table.rows.index(row, 0)).center()
        qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, modifier, place)
    press(predicted, "J", CTRL)
    assert "same model only" in main.status._message.text()
    assert len(main.session.keeper.book.done) == 0


# Hidden types


def test_hidden_types_are_not_drawn_and_come_back(predicted):
    main = predicted.main
    main.session.hide_types({"Seizure"})
    assert on_traces(main) == []
    assert [m.description for m in main.view._marks.items] == ["eyes open", "Artefact"]
    assert main.view._marks.seizures == ()
    assert main.view.readers_lane.subtitle == "1 type hidden"
    assert main.events.listed_count == len(MARKS) + 3
    press(predicted, "N", SHIFT)
    press(predicted, "Y")  # decided on all the same, and still hidden
    assert [m.description for m in main.view._marks.items] == ["eyes open", "Artefact"]
    main.events._show_all.click()
    assert on_traces(main) == [(45.0, 55.0), (80.0, 95.0)]
    assert len(main.view._marks.items) == len(MARKS) + 1
    assert main.view.readers_lane.subtitle == "file · model · you"


def test_hidden_types_are_remembered_with_the_recording(recording, qtbot, tmp_path):
    hidden = []
    for _ in range(2):
        main = MainWindow(Settings(), None, tmp_path)
        handle = Window(main)
        main.show()
        main.open_recording(str(recording))
        handle.wait()
        hidden.append((main.session.hidden_types, len(main.view._marks.items)))
        main.session.hide_types({"Artefact"})
        handle.close()
    assert hidden == [(frozenset(), 3), (frozenset({"Artefact"}), 2)]


# The dock


def test_the_table_is_popped_out_wide_and_goes_back(predicted):
    main = predicted.main
    press(predicted, "E", CTRL | SHIFT)
    assert main.events_dock.isFloating()
    assert not main.events.table.horizontalHeader().isHidden()
    press(predicted, "E", CTRL | SHIFT)
    assert not main.events_dock.isFloating()
    assert main.events.table.horizontalHeader().isHidden()


def test_the_funnel_is_full_while_something_is_filtered(predicted):
    main = predicted.main
    press(predicted, "Slash")
    assert main.events.filter.isVisibleTo(main.events)
    assert not main.events_dock.filter_button.isChecked()
    press(predicted, "Y", CTRL)
    assert main.events_dock.filter_button.isChecked()


# What is compared


def test_reviewed_events_are_compared_when_asked_for(predicted):
    main = predicted.main
    press(predicted, "N", SHIFT)
    press(predicted, "X")
    box = main.agreement_panel.findChild(QComboBox)
    seen = []
    for row in (1, 0):
        box.setCurrentIndex(row)
        box.activated.emit(row)
        seen.append(main.runs.compared_spans())
    assert seen == [[(45.0, 55.0), (80.0, 95.0)], [(10.0, 20.0), (45.0, 55.0), (80.0, 95.0)]]


def test_decisions_of_an_earlier_day_stand_without_a_prediction(window):
    main = window.main
    main.session.add_annotations(
        [Annotation(t, 5.0, "sz", author=MODEL, review=Review(d)) for t, d in ((10.0, "accepted"), (80.0, ""))]
    )
    assert main.events_dock.heading._remark.text() == "1 to review"
    press(window, "N", SHIFT)
    assert main.queue.current.onset == 80.0
    press(window, "X")
    show_prediction(main)
    window.wait()
    assert on_traces(main) == [(45.0, 55.0), (80.0, 95.0)]


@pytest.mark.parametrize(("key", "start", "side"), [("P", 0.0, "before this page"), ("N", 100.0, "from this page on")])
def test_beyond_the_ends_nothing_moves_and_the_reason_is_said(window, key, start, side):
    main = window.main
    window.show(start, 10.0)
    window.wait()
    before = main.session.window
    press(window, key)
    assert (main.session.window, main.queue.current) == (before, None)
    assert main.status._message.text() == f"no event {side}"
    back = "N" if key == "P" else "P"
    press(window, back)
    chosen, there = main.queue.current, main.session.window
    press(window, key)
    assert (main.queue.current, main.session.window) == (chosen, there)
    assert main.status._message.text() == f"no event {'before' if key == 'P' else 'after'} this one"


def test_a_moved_threshold_makes_events_by_the_rule_that_the_model_brings(predicted):
    runs = predicted.main.runs
    shown = predicted.main.session.prediction
    runs._show(replace(shown, provenance={"rule": {"name": "E.1"}}))  # of a short recording, whose rule would be E.2
    assert runs.rule_in_force().name == "E.1"
    assert len(predicted.main.session.prediction.events) == 1  # all three within five minutes
    runs.set_threshold(0.3)
    assert len(predicted.main.session.prediction.events) == 1
    runs.set_rule(OnlineRule())
    assert runs.rule_in_force().name == "E.2"
    assert len(predicted.main.session.prediction.events) == 4
