"""The caliper on a canvas: what a drag measures, what it draws, and that it is there until it is taken away."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QEvent, QPoint, QPointF, Qt
from PyQt6.QtGui import QMouseEvent
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication

from analysis.montage import Derivation, Montage
from analysis.recording import Window
from viewers.caliper import Caliper, _beside
from viewers.trace_canvas import TraceCanvas
from viewers.trace_view import TraceView

LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton
SHIFT = Qt.KeyboardModifier.ShiftModifier
NONE = Qt.KeyboardModifier.NoModifier


MONTAGE = Montage("pairs", (Derivation("A-B", "A", ("B",)), Derivation("B-C", "B", ("C",))))


@pytest.fixture
def canvas(qtbot, eeg_channels, make_page) -> TraceCanvas:
    """Two rows from 20 to 30 s, about 10 ms a pixel; in the second a spike of −80 µV at 25 s."""
    view = TraceView()
    qtbot.addWidget(view)
    view.resize(1108, 300)
    view.set_facts(100.0, None, ())
    view.set_montage(MONTAGE, eeg_channels("A", "B", "C"))
    view.show()
    qtbot.waitExposed(view)
    time = 20 + np.arange(2001) / 200
    data = np.column_stack([np.sin(time), -80 * np.clip(1 - np.abs(time - 25) / 0.1, 0, None)])
    view.show_page(make_page(data, MONTAGE.ch_names, 20.0))
    QApplication.processEvents()
    return view.canvas


@pytest.fixture
def caliper(canvas) -> Caliper:
    return Caliper(canvas, canvas)


def drag(canvas: TraceCanvas, start: float, stop: float, row: int, button=RIGHT, modifier=NONE) -> None:
    y = round(float(canvas.rows.centre[row]))
    places = [QPoint(round(canvas.scale_px.x(t)), y) for t in (start, (start + stop) / 2, stop)]
    QTest.mousePress(canvas.viewport(), button, modifier, places[0])
    for place in places[1:]:
        at = QPointF(place)
        move = QMouseEvent(QEvent.Type.MouseMove, at, QPointF(canvas.mapToGlobal(place)), LEFT, button, modifier)
        QApplication.sendEvent(canvas.viewport(), move)
    QTest.mouseRelease(canvas.viewport(), button, modifier, places[-1])


def test_a_drag_with_the_right_button_measures_the_row_under_it(canvas, caliper):
    told = []
    caliper.measured.connect(told.append)
    drag(canvas, 24.5, 25.5, 1)
    assert caliper.reading.row == "B-C"
    assert caliper.reading.duration == pytest.approx(1.0, abs=0.02)
    assert caliper.reading.peak_to_peak == pytest.approx(80.0)
    assert caliper.reading.low_time == pytest.approx(25.0)
    assert told[-1] is caliper.reading
    assert caliper.source_text() == "as filtered on screen"


def test_it_takes_the_left_button_only_while_it_is_armed(canvas, caliper):
    spans = []
    canvas.span_selected.connect(spans.append)
    drag(canvas, 24.0, 26.0, 0, LEFT)
    assert caliper.reading is None
    assert len(spans) == 1
    caliper.arm(True)
    drag(canvas, 24.0, 26.0, 0, LEFT)
    assert caliper.reading.row == "A-B"
    assert len(spans) == 1
    caliper.arm(False)
    drag(canvas, 22.0, 23.0, 0, LEFT)
    assert len(spans) == 2


def test_shift_snaps_an_end_to_the_peak(canvas, caliper):
    drag(canvas, 24.0, 24.93, 1, RIGHT, SHIFT)
    assert caliper.reading.stop == pytest.approx(25.0)
    assert caliper.reading.difference == pytest.approx(-80.0)
    drag(canvas, 24.0, 24.93, 1)
    assert caliper.reading.stop == pytest.approx(24.93, abs=0.006)


def test_an_end_can_be_moved_again(canvas, caliper):
    drag(canvas, 22.0, 23.0, 0)
    drag(canvas, 22.0, 21.0, 0)
    assert sorted((caliper.reading.start, caliper.reading.stop)) == pytest.approx([21.0, 23.0], abs=0.006)


def test_a_click_measures_nothing_and_it_stays_until_it_is_cleared(canvas, caliper):
    drag(canvas, 22.0, 22.0, 0)
    assert caliper.reading is None
    drag(canvas, 22.0, 23.0, 0)
    canvas.set_window(Window(40.0, 50.0))
    caliper.measure_again()
    assert caliper.reading.duration == pytest.approx(1.0, abs=0.01)
    told = []
    caliper.measured.connect(told.append)
    assert caliper.clear()
    assert told == [None]
    assert not caliper.clear()


def test_values_of_another_montage_or_filter_are_forgotten_until_they_are_read_anew(canvas, caliper):
    drag(canvas, 24.5, 25.5, 1)
    caliper.forget_values()
    assert caliper.reading is None
    caliper.measure_again()
    assert caliper.reading.peak_to_peak == pytest.approx(80.0)


def test_ends_can_be_put_without_the_mouse(canvas, caliper):
    y = float(canvas.rows.centre[1])
    caliper.place_end(24.5, y)
    caliper.place_end(25.5, 0.0)
    assert (caliper.reading.row, caliper.reading.duration) == ("B-C", 1.0)
    caliper.place_end(21.0, y)
    assert caliper.reading.duration == 0.0


@pytest.mark.parametrize("span", [(20.0, 20.5), (29.4, 30.0), (20.0, 30.0), (24.0, 24.1)])
def test_the_label_never_leaves_the_view(canvas, span):
    scale = canvas.scale_px
    for y in (0.0, 120.0, float(canvas.height())):
        box = _beside(canvas, scale.x(span[0]), scale.x(span[1]), y - 20, y + 20, 240.0, 60.0)
        assert canvas.rect().toRectF().contains(box)


def test_it_is_painted_over_the_row_and_nowhere_else(canvas, caliper):
    canvas.set_cursor(None)
    before = canvas.grab().toImage()
    drag(canvas, 27.0, 27.6, 1)
    canvas.set_cursor(None)
    after = canvas.grab().toImage()
    changed = [
        (x, y)
        for x in range(0, canvas.width(), 2)
        for y in range(0, canvas.height(), 2)
        if before.pixel(x, y) != after.pixel(x, y)
    ]
    assert len(changed) > 200
    assert min(x for x, _ in changed) >= canvas.scale_px.x(27.0) - 4
    assert min(y for _, y in changed) > float(canvas.rows.centre[1]) - 60


def test_a_selection_tells_its_length(canvas, caliper):
    before = canvas.grab().toImage()
    canvas.selection = Window(24.0, 26.0)
    canvas.repaint_all()
    after = canvas.grab().toImage()
    middle = round(canvas.scale_px.x(25.0))
    foot = [(x, canvas.height() - 40) for x in range(middle - 40, middle + 40)]
    # The ground of the label is brighter than the shade of the selection beside it.
    assert sum(after.pixelColor(*p).lightness() > after.pixelColor(middle, 100).lightness() for p in foot) > 50
    assert sum(before.pixel(*p) != after.pixel(*p) for p in foot) > 5


def test_across_a_gap_the_label_says_how_much_was_not_recorded(canvas, caliper, make_page):
    data = np.zeros((2001, 2))
    data[800:1200] = np.nan  # from 24 to 26 s
    canvas.parent().show_page(make_page(data, MONTAGE.ch_names, 20.0))
    caliper.place("A-B", 23.0, 27.0)
    assert ("2.00 s of it not recorded", "caution") in caliper._lines()
    caliper.place("A-B", 21.0, 23.0)
    assert not any("not recorded" in text for text, _ in caliper._lines())
