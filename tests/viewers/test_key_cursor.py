"""The cursor and the selection by keys: what hears of the mouse hears of them as well."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QPoint

from analysis.recording import Window
from viewers.trace_view import TraceView

NAMES = ("A", "B", "C")


@pytest.fixture
def view(qtbot, eeg_channels, single_montage, make_page) -> TraceView:
    made = TraceView()
    qtbot.addWidget(made)
    made.resize(1108, 426)
    made.set_facts(32.0, None, ())
    made.set_montage(single_montage(*NAMES), eeg_channels(*NAMES))
    made.show()
    qtbot.waitExposed(made)
    made.show_page(make_page(np.zeros((2001, 3)), NAMES, 20.0))
    return made


@pytest.fixture
def spans(view: TraceView) -> list[Window]:
    told: list[Window] = []
    view.span_selected.connect(told.append)
    return told


def test_keys_begin_in_the_middle_and_move_by_hundredths_of_the_page(view: TraceView) -> None:
    hovered = []
    view.hovered.connect(lambda time, name, _value, _unit: hovered.append((round(time, 4), name)))
    assert view.keys.place() is None
    view.keys.step(1)
    assert view.keys.place() == (pytest.approx(25.1), None)
    view.keys.step(-3)
    view.gutter.set_chosen(1)
    view.keys.step(1)
    assert hovered == [(25.1, ""), (24.8, ""), (24.9, "B")]
    assert view.keys.place() == (pytest.approx(24.9), 1)


def test_a_pixel_is_the_finest_step(view: TraceView) -> None:
    view.keys.step(1)
    before = view.keys.place()[0]
    view.keys.step_pixel(1)
    assert view.keys.place()[0] - before == pytest.approx(10.0 / view.canvas.width())


def test_the_mouse_and_the_keys_move_one_cursor(view: TraceView, qtbot) -> None:
    rows = view.rows
    assert rows is not None
    qtbot.mouseMove(view.canvas.viewport(), QPoint(round(view.canvas.scale_px.x(22.0)), round(float(rows.centre[2]))))
    assert view.keys.place() == (pytest.approx(22.0, abs=0.01), 2)
    view.keys.step(10)
    assert view.keys.place() == (pytest.approx(23.0, abs=0.01), 2)
    assert view.canvas.is_keyed
    qtbot.mouseMove(view.canvas.viewport(), QPoint(10, round(float(rows.centre[0]))))
    assert not view.canvas.is_keyed
    assert view.keys.place()[1] == 0


def test_the_cursor_of_the_keys_keeps_its_time_when_the_page_turns(view: TraceView, make_page) -> None:
    view.keys.step(1)
    view.show_page(make_page(np.zeros((2001, 3)), NAMES, 22.0))
    assert view.keys.place()[0] == pytest.approx(25.1)


def test_leaving_the_page_scrolls_and_the_recording_ends_it(view: TraceView) -> None:
    scrolled = []
    view.scrolled.connect(scrolled.append)
    view.keys.step(49)
    assert scrolled == []
    view.keys.step(3)
    assert scrolled == [pytest.approx(1.0)]
    assert view.keys.place()[0] == pytest.approx(30.2)
    for _ in range(5):
        view.keys.step(40)
    assert view.keys.place() is None or view.keys.place()[0] <= 32.0


def test_shift_draws_a_span_out_from_the_cursor_both_ways(view: TraceView, spans: list[Window]) -> None:
    view.keys.step(0)
    for steps in (1, 1, 1, -5):
        view.keys.step(steps, extend=True)
    assert [(round(span.start, 3), round(span.stop, 3)) for span in spans] == [
        (25.0, 25.1),
        (25.0, 25.2),
        (25.0, 25.3),
        (24.8, 25.0),
    ]
    assert view.canvas.selection == spans[-1]
    assert view.canvas.selection_channels == ()


def test_a_step_without_shift_begins_another_span(view: TraceView, spans: list[Window]) -> None:
    view.keys.step(0)
    view.keys.step(2, extend=True)
    view.keys.step(10)
    view.keys.step(1, extend=True)
    assert (spans[-1].start, spans[-1].stop) == pytest.approx((26.2, 26.3))


def test_a_span_taken_away_is_not_gone_on_with(view: TraceView, spans: list[Window]) -> None:
    view.keys.step(0)
    view.keys.step(2, extend=True)
    view.canvas.span_selected.emit(None)
    view.keys.step(1, extend=True)
    assert spans[1] is None
    assert (spans[2].start, spans[2].stop) == pytest.approx((25.2, 25.3))


@pytest.mark.parametrize("rows_first", [False, True])
def test_rows_are_selected_before_or_after_the_time(view: TraceView, spans: list[Window], rows_first: bool) -> None:
    view.gutter.set_chosen(0)
    view.keys.step(0)
    moves = [lambda: view.keys.step(4, True), lambda: view.keys.extend_rows(1)]
    for move in moves[::-1] if rows_first else moves:
        move()
    assert (spans[-1].start, spans[-1].stop) == pytest.approx((25.0, 25.4))
    assert view.canvas.selection_channels == ("A", "B")
    assert view.gutter.chosen == 1
    view.keys.extend_rows(5)
    assert view.canvas.selection_channels == NAMES
    view.keys.extend_rows(-2)
    assert view.canvas.selection_channels == ("A",)


def test_rows_begin_at_the_top_or_the_bottom_where_none_is_chosen(view: TraceView) -> None:
    view.keys.step(0)
    view.keys.extend_rows(-1)
    assert view.canvas.selection_channels == ("C",)
