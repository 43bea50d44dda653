"""Lengths of a page as they are typed and said, and pages that follow a speed."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.recording import Channel
from app.page_length import TimeBase, page_text, parse_length, rounded
from app.session import Session
from viewers.recording_view import RecordingView


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.1, "0.1 s"), (5, "5 s"), (90, "90 s"), (120, "2 min"), (3600, "1 h"), (86400, "24 h"), (9000, "2.5 h")],
)
def test_page_text(seconds, text):
    assert page_text(seconds) == text


@pytest.mark.parametrize(("seconds", "exact"), [(7.942, 7.94), (0.1234, 0.123), (31.77, 31.8), (217.4, 217.0)])
def test_lengths_that_follow_a_speed_are_said_roundly(seconds, exact):
    assert rounded(seconds) == exact


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.5", (0.5, 0.0)),
        ("0,5 s", (0.5, 0.0)),
        ("90", (90.0, 0.0)),
        ("2 min", (120.0, 0.0)),
        ("1:30", (90.0, 0.0)),
        ("1:00:00", (3600.0, 0.0)),
        ("4h", (14400.0, 0.0)),
        ("all", (1234.5, 0.0)),
        ("30 mm/s", (0.0, 30.0)),
        ("0.05", None),
        ("0", None),
        ("-3", None),
        ("30 mm", None),
        ("5 cm/s", None),
        ("1:x", None),
        ("1:2:3:4", None),
        ("1.2.3", None),
        ("soon", None),
        ("99999 h", None),
        ("", None),
    ],
)
def test_typed_lengths(text, expected):
    assert parse_length(text, 1234.5) == expected


@pytest.fixture
def base(qtbot, array_recording):
    view = RecordingView()
    qtbot.addWidget(view)
    view.resize(1000, 600)
    view.show()
    view.set_px_per_mm(4.0)
    session = Session()
    made = TimeBase(session, view)
    made.session, made.view = session, view
    session.open(array_recording([Channel("A", "A", "eeg", "uV", 10.0)], np.zeros((1, 6000)), 10.0))
    return made


def test_a_speed_makes_the_page_as_long_as_the_traces_are_wide(base):
    base.choose_speed(30.0)
    width = base.view.trace_view.canvas.width() / 4.0
    assert base.session.view.page_seconds == pytest.approx(width / 30.0, abs=1e-3)
    assert base.session.view.mm_per_second == 30.0
    assert dict(base.choices())[15.0] == pytest.approx(width / 15.0, abs=1e-3)


def test_the_page_follows_the_width_and_the_measured_screen(base, qtbot):
    base.choose_speed(30.0)
    before = base.session.view.page_seconds
    base.view.resize(700, 600)
    qtbot.waitUntil(lambda: base.session.view.page_seconds < before)
    narrow = base.session.view.page_seconds
    base.view.set_px_per_mm(2.0)
    base.follow()
    assert base.session.view.page_seconds == pytest.approx(2 * narrow, abs=2e-3)
    assert base.session.view.mm_per_second == 30.0


def test_seconds_chosen_end_a_speed(base):
    base.choose_speed(60.0)
    base.session.change_view(page_seconds=20.0)
    assert base.session.view.mm_per_second == 0.0
    base.view.resize(600, 600)
    base.follow()
    assert base.session.view.page_seconds == 20.0


def test_speeds_are_told_with_whether_the_screen_is_measured(base, qtbot):
    with qtbot.waitSignal(base.changed) as told:
        base.follow()
    assert told.args == [base.choices(), True]
