"""What is read under the mouse: samples where there are some, else the middle of a column, else nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.montage import Derivation, Montage
from analysis.recording import Window
from viewers.gutter import Gutter
from viewers.rows import Rows
from viewers.trace_canvas import TraceCanvas
from viewers.trace_picture import with_columns
from viewers.trace_pointer import TracePointer

WIDTH, HEIGHT = 500, 200


@pytest.fixture
def canvas(qtbot, eeg_channels) -> TraceCanvas:
    made = TraceCanvas()
    qtbot.addWidget(made)
    made.resize(WIDTH, HEIGHT)
    montage = Montage("pairs", (Derivation("A-B", "A", ("B",)), Derivation("B-C", "B", ("C",))))
    made.rows = Rows(montage, HEIGHT, 7, 4, eeg_channels("A", "B", "C"))
    made.set_window(Window(20.0, 30.0))
    return made


@pytest.fixture
def pointer(qtbot, canvas: TraceCanvas) -> TracePointer:
    gutter = Gutter()
    qtbot.addWidget(gutter)
    return TracePointer(canvas, gutter, canvas)


def show(canvas: TraceCanvas, make_page, **changes) -> None:
    ramp = np.arange(2001.0)[:, None] * np.array([1.0, -2.0])
    page = with_columns(make_page(ramp, ("A-B", "B-C"), 20.0), WIDTH)
    canvas.picture.set_page(replace(page, **changes), WIDTH)


def test_value_is_that_of_the_nearest_sample(pointer: TracePointer, canvas: TraceCanvas, make_page) -> None:
    show(canvas, make_page)
    assert pointer.value_at(21.0, 0) == 200
    assert pointer.value_at(21.0024, 1) == -400
    assert pointer.value_at(21.0026, 1) == -402
    assert np.isnan(pointer.value_at(19.9, 0))
    assert np.isnan(pointer.value_at(30.1, 0))


def test_value_of_a_page_without_samples_is_the_middle_of_its_column(
    pointer: TracePointer, canvas: TraceCanvas, make_page
) -> None:
    """A column of 20 ms holds 4 steps of the ramp; its middle is that of the ramp there."""
    show(canvas, make_page, data=np.empty((0, 2), np.float32), filtered=False)
    assert pointer.value_at(25.01, 0) == pytest.approx(1002, abs=0.5)
    assert np.isnan(pointer.value_at(31.0, 0))


def test_row_of_an_unfiltered_page_is_called_by_its_electrode(
    pointer: TracePointer, canvas: TraceCanvas, make_page
) -> None:
    told = []
    pointer.hovered.connect(lambda *values: told.append(values))
    y = float(canvas.rows.centre[1])
    for filtered, name in ((True, "B-C"), (False, "B")):
        show(canvas, make_page, filtered=filtered)
        canvas.cursor_moved.emit(25.0, y)
        assert told[-1][:2] == (25.0, name)


def test_nothing_is_read_without_a_page_or_after_the_mouse_has_left(
    pointer: TracePointer, canvas: TraceCanvas, make_page, qtbot
) -> None:
    assert np.isnan(pointer.value_at(25.0, 0))
    show(canvas, make_page)
    canvas.cursor_moved.emit(25.0, 100.0)
    with qtbot.waitSignals([pointer.unhovered, pointer.cursor_moved]):
        canvas.cursor_left.emit()
    with qtbot.assertNotEmitted(pointer.hovered):
        pointer.read_again()
