"""The strip of trends: span of time, room it takes, mouse and keys."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, QPointF, Qt
from PyQt6.QtGui import QWheelEvent
from PyQt6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget

from analysis.recording import Window
from analysis.results import AnalysisRequest
from analysis.trends.result import Trends
from viewers.trends_view import TrendsView

LEFT, WIDTH = 100, 1108
DAY = 86_400.0


def made(duration: float = DAY, groups: tuple[str, ...] = ("left", "right")) -> Trends:
    rng = np.random.default_rng(1)
    bins, sides = int(duration / 20), len(groups)
    arrays = {
        "decibels": rng.random((sides, bins, 60)).astype(np.float16) * 20,
        "coarse_decibels": rng.random((sides, bins // 6, 60)).astype(np.float16) * 20,
        "powers": rng.random((sides, bins, 4)).astype(np.float32),
        "amplitude": rng.random((sides, int(duration / 15), 2)).astype(np.float32) * 40,
    }
    facts = {"groups": groups, "sources": tuple(("C3",) for _ in groups), "source_kind": "made", "duration": duration}
    return Trends(AnalysisRequest("trends", "r", ()), "t", "0", **facts, **arrays, bin_seconds=20.0)


@pytest.fixture
def strip(qtbot) -> TrendsView:
    view = filled()
    qtbot.addWidget(view)
    return view


def filled() -> TrendsView:
    view = TrendsView()
    view.set_left(LEFT)
    view.set_facts(DAY, None)
    view.set_page(Window(40_000.0, 40_010.0))
    view.set_trends(made())
    view.resize(WIDTH, view.height())
    view.show()
    return view


def shown(view: TrendsView) -> list[str]:
    return [lane.title for lane in view.lanes if lane.isVisibleTo(view)]


def asked(view: TrendsView) -> list[Window]:
    told: list[Window] = []
    view.window_requested.connect(told.append)
    return told


def test_a_click_brings_the_page_there_and_a_drag_takes_it_along(strip, qtbot):
    told = asked(strip)
    lane = strip.lanes[0]
    qtbot.mousePress(lane, Qt.MouseButton.LeftButton, pos=QPoint(LEFT + 250, 20))
    assert told[-1].start == pytest.approx(21_595, abs=100)
    assert told[-1].duration == pytest.approx(10)
    qtbot.mouseMove(lane, QPoint(LEFT + 500, 20))
    qtbot.mouseRelease(lane, Qt.MouseButton.LeftButton, pos=QPoint(LEFT + 500, 20))
    assert told[-1].start == pytest.approx(43_195, abs=100)


def test_a_click_on_a_heading_folds_the_lane_and_moves_nothing(strip, qtbot):
    told, before = asked(strip), strip.height()
    looks = []
    strip.look_changed.connect(lambda: looks.append(strip.folded))
    qtbot.mouseClick(strip.lanes[0], Qt.MouseButton.LeftButton, pos=QPoint(20, 10))
    assert told == []
    assert strip.height() < before
    assert looks == [["aEEG"]]


def test_the_crosshair_says_time_and_values(strip, qtbot):
    times = []
    strip.cursor_moved.connect(times.append)
    qtbot.mouseMove(strip.lanes[0], QPoint(LEFT + 500, 20))
    assert times[-1] == pytest.approx(43_200, abs=100)
    assert all(lane.at_cursor for lane in strip.lanes if lane.isVisibleTo(strip))
    assert "12:00" in strip.accessibleDescription()
    assert "Asymmetry" in strip.accessibleDescription()
    strip.set_cursor(None)
    assert not any(lane.at_cursor for lane in strip.lanes)


def test_the_span_follows_the_page_only_when_it_comes_near_to_its_ends(strip):
    strip.set_look(span="1 h")
    first = strip.shown_span
    assert first.duration == 3600
    assert first.start < 40_000 < first.stop
    strip.set_page(Window(40_900.0, 40_910.0))
    assert strip.shown_span == first
    strip.set_page(Window(41_700.0, 41_710.0))
    assert strip.shown_span != first
    assert strip.shown_span.start < 41_000 < strip.shown_span.stop
    for start in (0.0, 86_390.0):
        strip.set_page(Window(start, start + 10))
        assert 0 <= strip.shown_span.start <= start
        assert start + 10 <= strip.shown_span.stop <= DAY
    strip.step_span()
    assert (strip.span, strip.shown_span) == ("all", Window(0.0, DAY))


def test_a_short_recording_is_always_shown_whole(strip):
    strip.set_look(span="4 h")
    strip.set_facts(600.0, None)
    assert strip.shown_span == Window(0.0, 600.0)


def test_it_takes_no_more_room_than_it_is_given(strip):
    full = strip.height()
    heights = []
    for room in (1000, 190, 150, 100, 60, 20):
        strip.set_room(room)
        heights.append(strip.height())
        assert strip.height() <= max(room, strip.axis.height())
    assert heights[0] == full
    assert heights == sorted(heights, reverse=True)
    assert shown(strip) == []
    strip.set_room(1000)
    assert strip.height() == full


def test_lanes_without_room_wait_behind_a_button_and_none_is_too_low_to_be_read(strip, qtbot):
    for room in (1000, 190, 150, 120, 100):
        strip.set_room(room)
        lanes = [lane for lane in strip.lanes if lane.isVisibleTo(strip)]
        assert all(lane.height() >= lane.least_height() for lane in lanes)
        assert strip.axis.more.isVisibleTo(strip) == (len(lanes) < 5)
        if len(lanes) < 5:
            assert strip.axis.more.text() == f"{5 - len(lanes)} more"
    strip.set_room(140)
    seen, first = set(), shown(strip)
    assert first == ["aEEG", "Spectrum L", "Spectrum R"]
    assert strip.axis.more.toolTip().startswith("Without room: Asymmetry, Alpha/delta.")
    for _ in range(2):
        qtbot.mouseClick(strip.axis.more, Qt.MouseButton.LeftButton)
        seen |= set(shown(strip))
    assert seen | set(first) == {"aEEG", "Spectrum L", "Spectrum R", "Asymmetry", "Alpha/delta"}
    assert shown(strip) == first


def test_lanes_are_put_away_and_come_back(strip):
    strip.set_look(unwanted=["aEEG", "no such lane"], folded=["Asymmetry"])
    assert shown(strip) == ["Spectrum L", "Spectrum R", "Asymmetry", "Alpha/delta"]
    assert (strip.unwanted, strip.folded) == (["aEEG"], ["Asymmetry"])
    strip._lane_actions["aEEG"].trigger()
    assert shown(strip)[0] == "aEEG"
    strip.set_trends(made(groups=("all",)))
    assert shown(strip) == ["aEEG", "Spectrum", "Alpha/delta"]


def test_the_wheel_turns_pages_and_with_ctrl_changes_the_span(strip):
    told = asked(strip)

    def wheel(dy: int, modifiers=Qt.KeyboardModifier.NoModifier) -> None:
        at = QPointF(LEFT + 300, 10)
        no_button, no_phase = Qt.MouseButton.NoButton, Qt.ScrollPhase.NoScrollPhase
        event = QWheelEvent(at, at, QPoint(), QPoint(0, dy), no_button, modifiers, no_phase, False)
        QApplication.sendEvent(strip.lanes[0], event)

    wheel(-120)
    assert told[-1].start == pytest.approx(40_010)
    wheel(120, Qt.KeyboardModifier.ControlModifier)
    assert strip.span == "4 h"
    wheel(120, Qt.KeyboardModifier.ControlModifier)
    wheel(120, Qt.KeyboardModifier.ControlModifier)
    assert strip.span == "1 h"
    wheel(-120, Qt.KeyboardModifier.ControlModifier)
    assert strip.span == "4 h"
    assert len(told) == 1


def test_the_trends_can_be_walked_by_key_and_the_keys_come_back(qtbot):
    strip, window = filled(), QWidget()
    qtbot.addWidget(window)
    field = QLineEdit()
    column = QVBoxLayout(window)
    column.addWidget(field)
    column.addWidget(strip)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    field.setFocus()
    strip.walk()
    assert strip.hasFocus()
    told = asked(strip)
    qtbot.keyClick(strip, Qt.Key.Key_Right)
    assert strip._cursor == pytest.approx(40_005 + 864)
    qtbot.keyClick(strip, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(strip, Qt.Key.Key_Return)
    assert told[-1].start == pytest.approx(40_005 + 864 - 8640 - 5)
    qtbot.keyClick(strip, Qt.Key.Key_Escape)
    assert not strip.hasFocus()
    assert field.hasFocus()
    assert strip._cursor is None


def test_neither_a_click_nor_tab_takes_the_arrow_keys(strip, qtbot):
    qtbot.mouseClick(strip.lanes[0], Qt.MouseButton.LeftButton, pos=QPoint(LEFT + 250, 20))
    assert not strip.hasFocus()
    assert strip.focusPolicy() == Qt.FocusPolicy.NoFocus


def test_what_was_stopped_can_be_gone_on_with(strip, qtbot):
    told = []
    strip.resume_requested.connect(lambda: told.append(True))
    strip.set_state("stopped at 37 %", stopped=True)
    assert strip.axis.resume.isVisibleTo(strip)
    qtbot.mouseClick(strip.axis.resume, Qt.MouseButton.LeftButton)
    assert told == [True]
    strip.set_state("")
    assert not strip.axis.resume.isVisibleTo(strip)


def test_it_says_what_it_was_computed_from(strip):
    assert "Left: C3" in strip.axis.toolTip()
    assert all("Left: C3" in lane.toolTip() and lane.tip in lane.toolTip() for lane in strip.lanes)


def test_another_recording_forgets_the_last_one(strip):
    strip.set_facts(1000.0, None)
    assert all(lane.trends is None for lane in strip.lanes)
    assert strip.shown_span == Window(0.0, 1000.0)
