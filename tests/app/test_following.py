"""A NeurDuo in the real window: heard once, right after seeking, along while the page plays, and stopping with it."""

from __future__ import annotations

import time

import numpy as np
import pytest
from PyQt6.QtWidgets import QApplication

from analysis.stream_spans import step_times
from app.following import lag_text
from app.settings import Settings
from app.testing import open_window

MODEL = "random:neurduo:tiny:4"
LANE = "Streams /s"


@pytest.fixture(scope="module")
def window(shared, qapp):
    """The recording with a NeurDuo chosen, in a window that the tests share."""
    path = shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"
    window = open_window(path, (1500, 900), Settings(theme="light"))
    window.wait()
    window.load_model(MODEL)
    window.wait(120)
    window.show(10.0, 5.0)
    window.wait()
    yield window
    window.close()


@pytest.fixture
def calls(window):
    """Spans that the engine is asked to hear."""
    main, made = window.main, []
    call = type(main.engine).call

    def spy(function, arguments=None, *rest):
        if function.endswith(":listen"):
            made.append((arguments["start"], arguments["start"] + arguments["duration"]))
        return call(main.engine, function, arguments, *rest)

    main.engine.call = spy
    yield made
    del main.engine.call


def drawn(window, kind="streams"):
    return window.main.analysing.drawing.overlay(kind).result


def test_a_page_is_heard_from_the_beginning_and_no_page_twice(window, calls):
    window.main.analysing.run("streams")
    window.wait(120)
    assert calls == [(0.0, 15.0)]
    assert step_times(drawn(window))[[0, -1]].tolist() == [0.0, 14.5]
    window.show(2.0, 5.0)
    window.wait(60)
    window.show(15.0, 5.0)
    window.wait(60)
    assert calls == [(0.0, 15.0), (15.0, 20.0)]
    assert window.main.view.lanes[LANE].isVisible()
    assert window.main.analysing.answer.request.window.start == 15.0


def test_recall_comes_with_the_same_pass(window, calls):
    window.main.analysing.open("memory")
    window.main.analysing.run("memory")
    window.wait(60)
    assert calls == []
    panel = window.main.analysing.tab.shown
    row = window.main.view.trace_view.rows.names[0]
    window.main.view.hovered.emit(17.2, row, 0.0, "uV")
    assert panel.moment.text().startswith("Step 00:17.0 to 00:17.5")
    assert drawn(window, "memory") is not None
    assert window.main.analysing.drawing.overlay("memory").heat.title.startswith("Recall of NeurDuo-EEG-tiny at 17.0 s")


def test_the_stream_follows_the_page_that_plays_and_stops_with_it(window, calls):
    main = window.main
    main.overlay_panel.set_visible("streams", False)
    remarks = []
    main.following.lag_changed.connect(remarks.append)
    main.playing.set_speed(8)
    main.playing.start()
    assert main.overlay_panel.states()["streams"]
    deadline = time.monotonic() + 60
    while main.playing.is_on and time.monotonic() < deadline:
        QApplication.processEvents()
        time.sleep(0.005)
    assert not main.playing.is_on  # at the end of the recording
    window.wait(60)
    assert remarks[-1] == ""
    assert all(text.startswith("stream ") for text in remarks if text)
    assert any(remarks)
    times = step_times(drawn(window))
    np.testing.assert_allclose(np.diff(times), 0.5, atol=1e-4)
    assert times[0] == 0.0
    assert times[-1] + 0.5 >= main.session.window.stop - 1e-3
    assert [start for start, _ in calls] == sorted(start for start, _ in calls)
    assert "behind" not in main.status._playing.text()
    before = len(calls)
    window.show(1.0, 5.0)
    window.wait(60)
    assert len(calls) == before


def test_a_reader_who_hides_the_lane_is_not_shown_it_again(window):
    main = window.main
    main.overlay_panel.set_visible("streams", False)
    main.playing.start()
    assert not main.overlay_panel.states()["streams"]
    main.playing.stop()
    window.wait(60)


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0.4 s"), (31.2, "31 s"), (300.0, "5 min"), (7200.0, "2.0 h")])
def test_a_lag_as_finely_as_it_matters(seconds, text):
    assert lag_text(seconds) == text
