"""The review table: order, choice, steps, filters, hidden types, words for every reader, a hundred thousand rows."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QCheckBox, QToolButton

from analysis.annotation import Annotation, Review, model_author
from analysis.marks import Marks
from analysis.review.queue import Queue, QueueFilter
from analysis.time_words import elapsed
from viewers.review_model import COLUMNS, item_text, state_text
from viewers.review_panel import ReviewPanel
from viewers.theme import theme


@pytest.fixture
def panel(qtbot) -> ReviewPanel:
    widget = ReviewPanel(elapsed)
    widget.resize(240, 400)
    qtbot.addWidget(widget)
    widget.show()
    return widget


def marks(*onsets: float, author: str = "file", text: str = "") -> list[Annotation]:
    return [Annotation(t, 1.0, text or f"at {t:g}", author=author) for t in onsets]


def numbered(items: list[Annotation]) -> list[Annotation]:
    for number, item in enumerate(items, 1):
        object.__setattr__(item, "id", number)
    return items


def show(panel: ReviewPanel, items: list[Annotation], events: list[Annotation] | tuple = ()) -> None:
    panel.show_queue(Queue.of(Marks.of(numbered(items)).items, events))


def test_sorted_by_onset_whoever_says_it(panel):
    show(panel, marks(5, 1), marks(3, author="model:x"))
    assert [a.onset for a in panel.items()] == [1, 3, 5]


def test_steps_start_at_the_page_and_stop_at_the_ends(panel, qtbot):
    show(panel, marks(1, 3, 5))
    with qtbot.waitSignal(panel.picked) as first:
        panel.step(1, from_time=2.0)
    assert first.args[0].onset == 3
    panel.step(1, 0.0)
    with qtbot.assertNotEmitted(panel.picked):
        assert panel.step(1, 0.0) is None
    assert panel.selected().onset == 5
    panel.step(-1, 0.0)
    assert panel.selected().onset == 3


def test_a_step_back_without_a_choice_goes_before_the_page(panel):
    show(panel, marks(1, 3, 5))
    panel.step(-1, from_time=4.0)
    assert panel.selected().onset == 3


@pytest.mark.parametrize(("direction", "from_time"), [(-1, 0.5), (1, 5.5)])
def test_a_step_without_a_choice_never_goes_the_other_way(panel, qtbot, direction, from_time):
    show(panel, marks(1, 3, 5))
    with qtbot.assertNotEmitted(panel.picked):
        assert panel.step(direction, from_time) is None
    assert panel.selected() is None


def test_steps_without_a_choice_know_other_orders(panel):
    show(panel, marks(1, 3, 5))
    panel.filter.order_changed.emit("time")  # the same again: turned round
    assert [a.onset for a in panel.items()] == [5, 3, 1]
    panel.step(1, from_time=2.0)
    assert panel.selected().onset == 3


def test_the_choice_survives_new_items(panel):
    items = marks(1, 3, 5)
    show(panel, items)
    panel.select(items[1])
    show(panel, items, marks(2, author="model:x"))
    assert panel.selected() is items[1]
    show(panel, marks(9))
    assert panel.selected() is None


def test_several_chosen_ones_stay_chosen(panel, qtbot):
    items = marks(1, 3, 5, 7)
    show(panel, items)
    view = panel.table.viewport()
    for row, modifier in ((0, Qt.KeyboardModifier.NoModifier), (2, Qt.KeyboardModifier.ControlModifier)):
        place = panel.table.visualRect(panel.table.rows.index(row, 0)).center()
        qtbot.mouseClick(view, Qt.MouseButton.LeftButton, modifier, place)
    assert [a.onset for a in panel.chosen()] == [1, 5]
    show(panel, items, marks(2, author="model:x"))
    assert [a.onset for a in panel.chosen()] == [1, 5]


def test_nothing_happens_in_an_empty_list(panel, qtbot):
    with qtbot.assertNotEmitted(panel.picked):
        assert panel.step(1, 0.0) is None


def test_a_hundred_thousand_rows_are_drawn_lazily(panel, monkeypatch):
    drawn: list[int] = []
    paint = type(panel.table.delegate).paint
    monkeypatch.setattr(
        type(panel.table.delegate), "paint", lambda self, p, o, i: (drawn.append(i.row()), paint(self, p, o, i))[1]
    )
    show(panel, [Annotation(t / 10, 0.0, "x") for t in range(100_000)])
    panel.grab()
    assert 0 < len(set(drawn)) < 50


@pytest.mark.parametrize(
    ("mark", "text", "state"),
    [
        (Annotation(1, 2, "sz", confidence=0.9), "Seizure", "file"),
        (Annotation(1, 2, "", author="reader"), "mark", "you"),
        (Annotation(1, 2, "sz", confidence=0.9, author=model_author("M")), "Seizure  p 0.90", "review"),
        # How sure random weights are means nothing, so the room is spent on saying what they are.
        (Annotation(1, 2, "sz", confidence=0.9, author=model_author("M", True)), "Seizure  (random weights)", "review"),
        (Annotation(1, 2, "x", author="model:M", review=Review("rejected")), "X"[:0] + "x", "rejected"),
        (Annotation(1, 2, "x", review=Review("accepted")), "x", "accepted"),
    ],
)
def test_what_a_line_says(mark, text, state):
    assert (item_text(mark), state_text(mark)) == (text, state)


def test_a_row_is_said_in_whole(panel):
    show(panel, [], [Annotation(1, 2, "sz", author="model:Brainmaze A", confidence=0.94)])
    index = panel.table.rows.index(0, 0)
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "Seizure  p 0.94, at 00:01, to review, Brainmaze A"
    panel.set_hidden(frozenset({"Seizure"}))
    assert index.data(Qt.ItemDataRole.AccessibleTextRole).endswith("hidden on the traces")


def test_who_decided_and_when_stands_in_tip_and_table(panel):
    review = Review("rejected", by="AB", at="2026-11-30T01:02:00Z", comment="chewing")
    show(panel, [Annotation(1, 2, "sz", ("C3", "C4"), 0.5, "model:M", review=review)])
    cells = {column.heading: panel.table.rows.index(0, i).data() for i, column in enumerate(COLUMNS)}
    assert cells["Decided by"].startswith("AB 2026-11-30")
    assert cells["Comment"] == "chewing"
    assert (cells["Channels"], cells["Duration"], cells["p"], cells["State"]) == ("C3 C4", "2.00 s", "0.50", "rejected")
    assert "rejected by AB" in panel.table.rows.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)


def test_events_are_put_between_marks_that_stay(panel):
    given = marks(5, 1, 3)
    show(panel, given, marks(0, 3, author="model:x"))
    assert [(a.onset, a.is_model) for a in panel.items()] == [(0, True), (1, False), (3, False), (3, True), (5, False)]


@pytest.mark.parametrize("count", [3, 500])
def test_few_and_many_events_come_in_the_same_order(panel, count):
    found = marks(*sorted(np.random.default_rng(0).uniform(0, 100, count).round(1).tolist()), author="model:x")
    given = numbered(marks(*range(0, 100, 3)))
    show(panel, given, found)
    assert panel.items() == sorted((*given, *found), key=lambda a: a.onset)
    for item in (given[5], found[-1]):
        panel.select(item)
        assert panel.selected() == item


def test_one_of_several_at_an_onset_is_found(panel):
    items = [Annotation(2.0, float(i), "x") for i in range(5)]
    show(panel, items)
    panel.select(items[3])
    assert panel.selected() is items[3]
    assert not panel.select(Annotation(2.0, 9.0, "x", id=99))


# Narrow and wide


def test_columns_appear_where_there_is_room(panel, qtbot):
    show(panel, marks(1, 3))
    table = panel.table
    assert table.horizontalHeader().isHidden()
    panel.resize(900, 400)
    qtbot.waitUntil(lambda: not table.horizontalHeader().isHidden())
    assert not any(table.isColumnHidden(i) for i in range(len(COLUMNS)))
    panel.resize(240, 400)
    qtbot.waitUntil(lambda: table.horizontalHeader().isHidden())


def test_a_heading_sorts_and_a_second_click_turns_it_round(panel, qtbot):
    show(panel, [Annotation(t, d, "x") for t, d in ((1, 5.0), (2, 1.0), (3, 9.0))])
    panel.resize(900, 400)
    header = panel.table.horizontalHeader()
    qtbot.waitUntil(lambda: not header.isHidden())
    duration = next(i for i, column in enumerate(COLUMNS) if column.heading == "Duration")
    for expected in ([1.0, 5.0, 9.0], [9.0, 5.0, 1.0]):
        header.sectionClicked.emit(duration)
        assert [a.duration for a in panel.items()] == expected
        assert header.sortIndicatorSection() == duration


# Keys


def test_the_table_is_walked_through_by_keys_and_a_click_takes_no_focus(panel, qtbot):
    show(panel, marks(1, 3, 5))
    panel.filter.show()
    panel.filter.search.setFocus()
    with qtbot.waitSignal(panel.picked):
        place = panel.table.visualRect(panel.table.rows.index(0, 0)).center()
        qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert not panel.table.hasFocus()
    panel.activateWindow()
    panel.table.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(panel.table.hasFocus)
    with qtbot.waitSignal(panel.picked) as picked:
        qtbot.keyClick(panel.table, Qt.Key.Key_Down)
    assert picked.args[0].onset == 3


# Filters


def test_coming_in_by_tab_chooses_nothing_and_the_first_arrow_the_first_event(panel, qtbot):
    show(panel, marks(1, 3, 5))
    panel.activateWindow()
    qtbot.waitActive(panel)
    with qtbot.assertNotEmitted(panel.picked):
        panel.table.setFocus(Qt.FocusReason.TabFocusReason)
        qtbot.waitUntil(panel.table.hasFocus)
    assert panel.selected() is None
    with qtbot.waitSignal(panel.picked) as picked:
        qtbot.keyClick(panel.table, Qt.Key.Key_Down)
    assert picked.args[0].onset == 1
    panel.table.clearFocus()
    with qtbot.assertNotEmitted(panel.picked):
        panel.table.setFocus(Qt.FocusReason.TabFocusReason)
    assert panel.selected().onset == 1


def boxes(panel: ReviewPanel, what: str) -> dict[str, QCheckBox]:
    getattr(panel.filter, f"_open_{what.lower()}")()
    listed = panel.filter.lists[what]
    return {box.accessibleName().rsplit(",", 1)[0]: box for box in listed.findChildren(QCheckBox)}


def mixed(panel: ReviewPanel) -> None:
    items = [*marks(1, 2, text="sz"), *marks(3, text="spike"), *marks(4, text="sz", author="reader")]
    show(panel, items, marks(6, 7, text="sz", author="model:M"))


def test_types_sources_and_states_are_chosen_from_lists_with_numbers(panel, qtbot):
    mixed(panel)
    assert {name: box.accessibleName() for name, box in boxes(panel, "Types").items()} == {
        "Seizure": "Seizure, 5",
        "spike": "spike, 1",
    }
    boxes(panel, "Types")["spike"].click()
    assert [a.onset for a in panel.items()] == [1, 2, 4, 6, 7]
    boxes(panel, "Sources")["file"].click()
    assert [a.onset for a in panel.items()] == [4, 6, 7]
    states = boxes(panel, "States")
    assert states["to review"].accessibleName() == "to review, 2"
    states["to review"].click()
    assert [a.onset for a in panel.items()] == [4]
    panel.filter.clear.click()
    assert panel.listed_count == 6
    for listed in panel.filter.lists.values():
        listed.close()


def test_lists_are_used_by_keys_alone(panel, qtbot):
    mixed(panel)
    panel.filter.show()
    panel.activateWindow()
    panel.filter.buttons["Types"].setFocus()
    qtbot.keyClick(panel.filter.buttons["Types"], Qt.Key.Key_Space)
    listed = panel.filter.lists["Types"]
    assert listed.isVisible()
    first = listed.findChildren(QCheckBox)[0]
    qtbot.keyClick(first, Qt.Key.Key_Space)
    assert panel.listed_count == 1
    qtbot.keyClick(first, Qt.Key.Key_Escape)
    assert not listed.isVisible()
    assert panel.filter.buttons["Types"].text() == "Type 1 ▾"


def test_all_and_none(panel):
    mixed(panel)
    boxes(panel, "Types")
    panel.filter.lists["Types"]._on_none()
    assert panel.listed_count == 0
    assert "None of 6 events" in panel._empty.text()
    panel.filter.lists["Types"]._on_all()
    assert panel.filter.wanted == QueueFilter()
    panel.filter.lists["Types"].close()


def test_free_text_is_searched_once_typing_rests(panel, qtbot):
    mixed(panel)
    panel.open_filters()
    qtbot.keyClicks(panel.filter.search, "spi")
    qtbot.waitUntil(lambda: panel.listed_count == 1)
    panel.filter.search.clear()
    qtbot.waitUntil(lambda: panel.listed_count == 6)


def test_only_what_is_to_review(panel):
    mixed(panel)
    assert panel.toggle_to_review()
    assert [a.onset for a in panel.items()] == [6, 7]
    assert not panel.toggle_to_review()
    assert panel.listed_count == 6


def test_the_hint_tells_the_keys_as_long_as_something_is_to_review(panel):
    show(panel, marks(1))
    assert not panel._hint.isVisibleTo(panel)
    mixed(panel)
    assert panel._hint.isVisibleTo(panel)
    assert "Y accept" in panel._hint.text()


# Hidden types


def test_eyes_hide_types_on_the_traces_and_that_is_said(panel, qtbot):
    mixed(panel)
    boxes(panel, "Types")
    eyes = {eye.accessibleName(): eye for eye in panel.filter.lists["Types"].findChildren(QToolButton)}
    with qtbot.waitSignal(panel.hidden_changed) as hidden:
        eyes["Draw spike on the traces"].click()
    assert hidden.args[0] == {"spike"}
    panel.set_hidden(hidden.args[0])
    assert "1 type hidden on the traces: spike" in panel._notice.text()
    assert panel._notice.property("role") == "muted"
    assert panel.listed_count == 6  # hidden on the traces, not in the list
    panel.set_hidden(frozenset({"spike", "Seizure"}))
    assert "2 types hidden on the traces: Seizure, spike" in panel._notice.text()
    assert panel._notice.property("role") == "warning"  # nobody overlooks that seizures are not drawn
    with qtbot.waitSignal(panel.hidden_changed) as shown:
        panel._show_all.click()
    assert shown.args[0] == frozenset()
    panel.filter.lists["Types"].close()


def test_hidden_types_that_are_not_listed_stay_hidden(panel, qtbot):
    mixed(panel)
    panel.set_hidden(frozenset({"elsewhere"}))
    boxes(panel, "Types")
    eye = panel.filter.lists["Types"].findChildren(QToolButton)[0]
    with qtbot.waitSignal(panel.hidden_changed) as hidden:
        eye.click()
    assert "elsewhere" in hidden.args[0]
    panel.filter.lists["Types"].close()


def test_thousands_of_types_are_not_all_listed(panel):
    show(panel, [Annotation(float(i), 1.0, f"x{i}") for i in range(3000)])
    found = boxes(panel, "Types")
    assert len(found) == 200
    assert "2,800 more" in panel.filter.lists["Types"]._foot.text()
    next(iter(found.values())).click()
    assert panel.listed_count == 2999  # the others, listed or not, stay
    panel.filter.lists["Types"].close()


def test_decisions_and_sources_look_different_in_both_themes(panel):
    mark = Annotation(1.0, 2.0, "sz", author="model:M")
    for name in ("light", "dark"):
        panel.set_theme(theme(name))
        pictures = []
        for decision in ("", "accepted", "rejected"):
            show(panel, [Annotation(1.0, 2.0, "sz", author="model:M", review=Review(decision))])
            pictures.append(panel.table.viewport().grab().toImage())
        show(panel, [Annotation(1.0, 2.0, mark.description)])
        pictures.append(panel.table.viewport().grab().toImage())
        assert all(a != b for i, a in enumerate(pictures) for b in pictures[:i])


@pytest.mark.parametrize("width", [1000, 1500])
def test_a_wide_table_shows_who_decided_and_what_was_changed_in_full(panel, width):
    review = Review("accepted", "reader", "2026-11-30T02:53:00Z", changed="2026-11-30T02:52:00Z")
    show(panel, [Annotation(3.0, 9.5, "sz", (), 0.63, "model:brainmaze A", review=review)])
    panel.resize(width, 300)
    panel.table.updateGeometry()
    table = panel.table
    cells = {column.heading: table.rows.index(0, i) for i, column in enumerate(COLUMNS)}
    assert cells["State"].data() == "accepted, changed"
    assert cells["Decided by"].data().startswith("you 2026-11-30 ")
    for heading, cell in cells.items():
        room = table.visualRect(cell).width() - 15  # the margins of a cell
        assert table.fontMetrics().horizontalAdvance(cell.data()) <= room, heading
    last = table.visualRect(cells["Comment"]).right()
    assert last <= table.viewport().width()
    taken = [table.columnWidth(i) for i in range(len(COLUMNS))]
    table.setColumnWidth(0, taken[0] + 40)  # by hand: it stays so
    panel.resize(width + 60, 300)
    assert table.columnWidth(0) == taken[0] + 40


def test_a_line_says_that_what_was_decided_on_was_changed(panel):
    review = Review("accepted", "reader", "2026-11-30T02:53:00Z", changed="2026-11-30T02:52:00Z")
    assert state_text(Annotation(3.0, 9.5, "sz", author="model:A", review=review)) == "accepted ✎"
