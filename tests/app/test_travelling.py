"""Longer and shorter pages about a time, and back to the places before a jump."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtWidgets import QDialog, QWidget

from analysis.recording import Channel, Window
from app.dialogs.go_to_time import GoToTimeDialog
from app.session import Session
from app.travelling import Places, Travelling, is_jump, page_lengths


@pytest.fixture
def session(array_recording, qtbot) -> Session:
    made = Session()
    channels = [Channel("C3", "C3", "eeg", "uV", 1.0)]
    made.open(array_recording(channels, np.zeros((1, 7200), np.float32), 1.0), 100.0)
    return made


@pytest.fixture
def travelling(session: Session, qtbot) -> Travelling:
    window = QWidget()
    qtbot.addWidget(window)
    made = Travelling(session, window, lambda: False, lambda: made.at)
    made.at = None
    made.window = window  # kept alive with it
    return made


def test_lengths_go_from_a_tenth_of_a_second_to_the_whole_recording():
    assert page_lengths(7200.0)[:4] == [0.1, 0.2, 0.5, 1.0]
    assert page_lengths(7200.0)[-2:] == [3600.0, 7200.0]
    assert page_lengths(45.0)[-1] == 45.0


def test_zooming_keeps_the_time_under_the_mouse_in_its_place(session, travelling):
    for steps in (1, 2, -3, -4, 6):
        before = session.window
        at = before.start + 0.25 * before.duration
        travelling.zoom(steps, at)
        assert session.window.duration != before.duration
        if 0 < session.window.start < session.duration - session.window.duration:
            assert (at - session.window.start) / session.window.duration == pytest.approx(0.25)


def test_the_keys_zoom_about_what_the_reader_looks_at_or_else_keep_the_left_edge(session, travelling):
    shorter, longer = travelling.handlers()["shorter_page"], travelling.handlers()["longer_page"]
    for at, share in ((105.0, 0.5), (101.0, 0.1), (None, 0.0)):
        session.show(100.0, 10.0)
        travelling.at = at
        shorter()
        shorter()
        time = 100.0 if at is None else at
        assert session.window.duration == 2.0
        assert (time - session.window.start) / session.window.duration == pytest.approx(share)
        longer()
        longer()
        assert (session.window.start, session.window.duration) == (pytest.approx(100.0), 10.0)


def test_steps_from_an_odd_length_go_to_its_neighbours(session, travelling):
    session.change_view(page_seconds=12.0)
    travelling.zoom(1)
    assert session.view.page_seconds == 15.0
    session.change_view(page_seconds=12.0)
    travelling.zoom(-1)
    assert session.view.page_seconds == 10.0
    travelling.zoom(-50)
    assert session.view.page_seconds == 0.1
    travelling.zoom(-1)
    assert session.view.page_seconds == 0.1
    travelling.zoom(99)
    assert (session.window.start, session.window.stop) == (0.0, 7200.0)


def test_jumps_are_gone_back_and_forward(session, travelling):
    go = travelling.handlers()
    travelling._places._jumped_at = -10.0
    session.go_to(3000.0)
    travelling._places._jumped_at = -10.0
    session.go_to(6000.0)
    session.page(1)  # no jump
    go["back"]()
    assert session.window.start == 3000.0
    go["back"]()
    assert session.window.start == 100.0
    told = []
    travelling.told.connect(told.append)
    go["back"]()
    assert session.window.start == 100.0
    assert told == ["no place before this one"]
    go["forward"]()
    go["forward"]()
    assert session.window.start == 6010.0


def test_going_back_restores_the_length_of_the_page(session, travelling):
    session.go_to(3000.0)
    session.change_view(page_seconds=60.0)
    travelling.handlers()["back"]()
    assert session.window == Window(100.0, 110.0)


def test_a_drag_is_one_jump_and_a_new_jump_forgets_the_way_forward():
    places = Places()
    at = [Window(float(s), s + 10.0) for s in (0, 100, 200, 300, 900)]
    for i, now in ((0, 5.0), (1, 5.3), (2, 6.0)):
        places.moved(at[i], at[i + 1], now)
    assert places.visited == [at[0]]
    assert places.back(at[3]) == at[0]
    assert places.forward(at[0]) == at[3]
    assert places.back(at[3]) == at[0]
    places.moved(at[0], at[4], 60.0)
    assert places.forward(at[4]) is None
    assert places.visited == [at[0]]


def test_turning_pages_and_zooming_are_no_jumps():
    here = Window(100.0, 110.0)
    for other in (Window(110, 120), Window(90, 100), Window(101, 111), Window(0, 7200), Window(104, 104.1)):
        assert not is_jump(here, other)
        assert not is_jump(other, here) or other.duration < 1
    assert is_jump(here, Window(130, 140))
    assert is_jump(here, Window(50, 60))


def test_a_time_typed_in_is_shown_and_cancelling_moves_nothing(session, travelling, monkeypatch):
    def accept(dialog: GoToTimeDialog) -> int:
        dialog._field.setText("1:00:00")
        dialog._go()
        return QDialog.DialogCode.Accepted

    monkeypatch.setattr(GoToTimeDialog, "exec", accept)
    travelling.handlers()["go_to_time"]()
    assert session.window.start == 3600.0
    monkeypatch.setattr(GoToTimeDialog, "exec", lambda _dialog: 0)
    travelling.handlers()["go_to_time"]()
    assert session.window.start == 3600.0


def test_without_a_recording_it_says_so(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    travelling, told = Travelling(Session(), window, lambda: False, lambda: None), []
    travelling.told.connect(told.append)
    travelling.ask_time()
    assert told == ["open a recording first"]
