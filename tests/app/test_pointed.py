"""What the reader is at: the chosen mark, the selection or the cursor, as far as they are on the page."""

from __future__ import annotations

import pytest

from analysis.annotation import Annotation
from analysis.recording import Window
from app.pointed import looked_at
from viewers.trace_view import TraceView


@pytest.fixture
def traces(qtbot) -> TraceView:
    made = TraceView()
    qtbot.addWidget(made)
    made.resize(1000, 400)
    made.set_facts(100.0, None, ())
    made.set_window(Window(20.0, 30.0))
    return made


def test_the_chosen_mark_comes_before_selection_and_cursor_where_it_is_on_the_page(traces):
    assert looked_at(traces) is None
    traces.canvas.point_at(29.0, 10.0)
    assert looked_at(traces) == pytest.approx(29.0)
    traces.set_selection(Window(24.0, 26.0))
    assert looked_at(traces) == pytest.approx(25.0)
    traces.set_current_event(Annotation(22.0, 1.0, "spike"))
    assert looked_at(traces) == pytest.approx(22.0)
    traces.set_current_event(Annotation(2.0, 10.0, "elsewhere"))
    assert looked_at(traces) == pytest.approx(25.0)
    traces.set_current_event(Annotation(2.0, 21.0, "begun before the page"))
    assert looked_at(traces) == pytest.approx(20.0)
