"""Playing on a clock that the test sets: the page is where the time says, however late pages come."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QCheckBox

from analysis.recording import Channel, Window
from app.playing import SPEEDS, Playing
from app.session import Session
from app.settings import Settings
from app.synthetic_edf import SyntheticHeader, to_digital, write_synthetic_file
from app.testing import open_window

SITES = "Fp1 Fp2 F7 F3 Fz F4 F8 T7 C3 Cz C4 T8 P7 P3 Pz P4 P8 O1 O2".split()


class Clock:
    def __init__(self) -> None:
        self.time = 1000.0
        self.is_page_there = True

    def now(self) -> float:
        return self.time

    def ready(self) -> bool:
        return self.is_page_there


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def playing(qtbot, array_recording, clock) -> Playing:
    """100 s in pages of 10 s; `playing.said` and `playing.shown` collect what is told and shown."""
    session = Session()
    channels = [Channel(n, n, "eeg", "uV", 10.0, site=n) for n in SITES]
    session.open(array_recording(channels, np.zeros((19, 1000)), 10.0))
    made = Playing(session, clock.ready, session, clock.now)
    made.session, made.said, made.shown = session, [], []
    made.told.connect(made.said.append)
    made.changed.connect(made.shown.append)
    made._frames.setInterval(3_600_000)  # frames come when the test says so
    return made


def pass_time(playing: Playing, clock: Clock, seconds: float) -> float:
    clock.time += seconds
    playing.advance()
    return playing.session.window.start


@pytest.mark.parametrize("speed", SPEEDS)
def test_the_page_moves_by_the_clock_times_the_speed(playing, clock, speed):
    playing.set_speed(speed)
    playing.start()
    for step in range(1, 8):
        assert pass_time(playing, clock, 0.125) == pytest.approx(step * 0.125 * speed)
    assert playing.shown == [f"playing {speed}x, Space stops"]


def test_late_pages_cost_pictures_and_no_time(playing, clock):
    playing.start()
    moves = []
    playing.session.window_changed.connect(moves.append)
    clock.is_page_there = False
    for _ in range(20):
        assert pass_time(playing, clock, 0.1) == 0.0
    clock.is_page_there = True
    assert pass_time(playing, clock, 0.1) == pytest.approx(2.1)
    assert len(moves) == 1


def test_it_stops_at_the_end_and_does_not_start_there(playing, clock):
    playing.session.go_to(85.0)
    playing.start()
    assert pass_time(playing, clock, 4.0) == 89.0
    assert playing.is_on
    assert pass_time(playing, clock, 4.0) == 90.0
    assert not playing.is_on
    assert playing.shown[-1] == ""
    assert "end of the recording" in playing.said[-1]
    playing.start()
    assert not playing.is_on
    assert "the recording ends on this page" in playing.said[-1]


@pytest.mark.parametrize("move", [lambda s: s.page(1), lambda s: s.page(-1), lambda s: s.go_to(0.0)])
def test_whatever_else_moves_the_page_ends_it(playing, clock, move):
    playing.start()
    pass_time(playing, clock, 3.0)
    move(playing.session)
    there = playing.session.window
    assert not playing.is_on
    pass_time(playing, clock, 3.0)
    assert playing.session.window == there


def test_another_view_or_length_of_page_leaves_it_going(playing, clock):
    playing.start()
    pass_time(playing, clock, 3.0)
    playing.session.change_view(montage="hat band", uv_per_mm=20.0)
    playing.session.change_view(page_seconds=20.0)
    assert playing.is_on
    assert pass_time(playing, clock, 1.0) == pytest.approx(4.0)
    assert playing.session.window == Window(pytest.approx(4.0), pytest.approx(24.0))


def test_another_speed_goes_on_from_where_the_page_is(playing, clock):
    playing.start()
    pass_time(playing, clock, 3.0)
    playing.next_speed()
    assert pass_time(playing, clock, 1.0) == pytest.approx(5.0)
    for _ in SPEEDS:
        playing.next_speed()
    assert playing.speed == 2


def test_another_recording_ends_it_and_none_is_not_played(playing, clock, qtbot):
    playing.start()
    playing.session.open(playing.session.recording)
    assert not playing.is_on
    empty = Playing(Session(), clock.ready, playing, clock.now)
    with qtbot.waitSignal(empty.told):
        empty.start()
    assert not empty.is_on


def test_the_keys_play_in_the_real_window_and_leave_buttons_their_space(tmp_path, qtbot):
    noise = to_digital(np.random.default_rng(0).normal(0, 20, (60, 4, 64)))
    path = write_synthetic_file(
        tmp_path / "play.edf", SyntheticHeader(("F3", "F4", "C3", "C4"), 64, 60, "SYNTHETIC_play"), [noise], ()
    )
    window = open_window(path, (1300, 800), Settings(theme="light"))
    try:
        window.wait()
        main = window.main
        QTest.keyClick(main, Qt.Key.Key_Space, Qt.KeyboardModifier.ShiftModifier)
        assert main.actions_by_id["play_2"].isChecked()
        assert not main.actions_by_id["play_1"].isChecked()
        QTest.keyClick(main, Qt.Key.Key_Space)
        assert main.status._playing.text() == "playing 2x, Space stops"
        qtbot.waitUntil(lambda: main.session.window.start > 0.2, timeout=20_000)
        QTest.keyClick(main, Qt.Key.Key_Space)
        assert not main.playing.is_on
        assert main.status._playing.text() == ""
        box = next(b for b in main.findChildren(QCheckBox) if b.isVisible() and b.isEnabled())
        box.setFocus()
        before = box.isChecked()
        QTest.keyClick(box, Qt.Key.Key_Space)
        assert box.isChecked() != before
        assert not main.playing.is_on
    finally:
        window.close()
