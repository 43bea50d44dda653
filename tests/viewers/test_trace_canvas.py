"""The canvas lays time and pixels out and paints each change once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PyQt6.QtCore import QPointF
from PyQt6.QtWidgets import QWidget

from analysis.recording import Window
from viewers.trace_canvas import TraceCanvas


@pytest.fixture
def canvas(qtbot) -> Iterator[TraceCanvas]:
    # Inside another widget, as in the window: pyqtgraph takes a view apart when it is closed by itself.
    holder = QWidget()
    qtbot.addWidget(holder)
    holder.resize(900, 400)
    made = TraceCanvas()
    made.setParent(holder)
    made.resize(800, 300)
    holder.show()
    qtbot.waitExposed(holder)
    qtbot.wait(50)
    yield made
    holder.close()


def test_another_window_is_painted_once(canvas: TraceCanvas, qtbot) -> None:
    for start in (10.0, 20.0, 15.5):
        paints: list[int] = []
        canvas.painted.connect(lambda paints=paints: paints.append(1))
        canvas.set_window(Window(start, start + 10))
        canvas.repaint_all()
        qtbot.wait(50)
        assert len(paints) == 1


def test_items_lie_on_seconds_and_pixels(canvas: TraceCanvas) -> None:
    canvas.set_window(Window(20.0, 30.0))
    to_scene = canvas.view_box.childGroup.mapToScene
    for time, y, expected in ((20.0, 0.0, (0, 0)), (25.0, 150.0, (400, 150)), (30.0, 300.0, (800, 300))):
        found = to_scene(QPointF(time, y))
        assert (found.x(), found.y()) == pytest.approx(expected, abs=0.01)
    assert canvas.scale_px.x(25.0) == pytest.approx(400)


def test_cursor_off_the_page_is_not_drawn(canvas: TraceCanvas) -> None:
    canvas.set_window(Window(0.0, 10.0))
    bare = canvas.grab().toImage()
    canvas.set_cursor(2.0)
    assert canvas.grab().toImage() != bare
    canvas.set_cursor(200.0)
    assert canvas.grab().toImage() == bare
