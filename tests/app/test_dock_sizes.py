"""Docks follow letters and contents, and neither letters nor sentences crush the traces or widen the window."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import QSize, Qt
from PyQt6.QtWidgets import QApplication, QDockWidget

from app.dock_sizes import USUAL_WIDTHS, share_heights
from app.main_window import MainWindow
from app.panel import ButtonRow, ElidedButton, PanelDock, label
from app.settings import Settings
from app.testing import Window
from viewers.theme import TEXT_SCALES, set_text_scale

SMALL = QSize(1280, 720)


@pytest.fixture
def make(qtbot):
    """Makes small windows without a recording, and puts the letters back."""
    made: list[Window] = []

    def make(settings: Settings | None = None) -> MainWindow:
        made.append(Window(MainWindow(settings or Settings(theme="light"))))
        main = made[-1].main
        main.resize(SMALL)
        main.show()
        settle()
        return main

    yield make
    for window in made:
        window.close()
    set_text_scale(100)


def settle() -> None:
    for _ in range(6):
        QApplication.processEvents()


def widths(main: MainWindow) -> tuple[int, int]:
    return main.docks["recording"].width(), main.docks["inspector"].width()


def test_the_traces_keep_their_room_whatever_the_letters_and_get_it_all_back(make):
    main = make()
    before, view = widths(main), main.view.width()
    for scale in (*TEXT_SCALES, 200, 80, 150):
        main.look.set_text_scale(scale)
        settle()
        assert main.size() == SMALL
        assert main.view.width() >= 0.45 * SMALL.width(), scale
    main.look.set_text_scale(100)
    settle()
    assert widths(main) == before
    assert main.view.width() == view


def test_a_width_given_by_hand_grows_and_shrinks_with_the_letters(make):
    main = make()
    main.resizeDocks([main.docks["recording"]], [200], Qt.Orientation.Horizontal)
    settle()
    main.look.set_text_scale(125)
    settle()
    assert main.docks["recording"].width() == pytest.approx(250, abs=2)
    main.look.set_text_scale(100)
    settle()
    assert main.docks["recording"].width() == pytest.approx(200, abs=2)


def test_a_layout_that_came_back_is_not_widened_again(make):
    main = make(Settings(theme="light", text_scale=125))
    before = widths(main)
    main._remember()
    kept = Settings(theme="light", text_scale=125, window_state=main.settings.window_state)
    other = make(kept)
    assert widths(other) == before
    other.look.set_text_scale(100)
    settle()
    assert widths(other) == tuple(USUAL_WIDTHS.values())


def test_nothing_in_the_window_asks_for_more_than_a_small_screen(make):
    main = make()
    for dock in main.findChildren(QDockWidget):
        dock.show()
    main.view.trends.show()
    main.notices.offer("3 marks of 100,000 are back", 123_456, "2026-01-01T14:03:00+00:00", False)
    main.notices.say("a file could not be read " * 20)
    main.model_panel._state.setText("Random weights: the output means nothing")
    main.docks["events"].heading.set_remark("100,000 of 3,000,000 events, filtered")
    main.status.say("refused: " + "LB-18.1, " * 60, "warning")
    main.status.show_measure("F3-C3: Δt 987 ms " * 10)
    settle()
    least = main.minimumSizeHint()
    assert least.width() <= SMALL.width()
    assert least.height() <= SMALL.height()
    assert main.size() == SMALL


def test_docks_are_as_high_as_their_contents_and_follow_them(make, qtbot):
    main = make()
    main.resize(1280, 960)
    settle()
    body = main.docks["model"].body
    qtbot.waitUntil(lambda: body.height() == body.wanted_height())
    before = body.height()
    main.model_panel._limits.setText("A sentence on the limits of this model that takes its lines. " * 6)
    qtbot.waitUntil(lambda: body.height() == body.wanted_height() > before)


def test_in_a_low_window_a_dock_scrolls(qtbot):
    content = label("A sentence that takes its lines. " * 40, wrap=True)
    dock = PanelDock("x", "X", content)
    qtbot.addWidget(dock)
    dock.resize(200, 150)
    dock.show()
    qtbot.waitExposed(dock)
    settle()
    assert dock.body.wanted_height() > 200 > dock.minimumSizeHint().height()
    assert dock.body.verticalScrollBar().isVisible()
    assert not dock.body.horizontalScrollBar().isVisible()


@pytest.mark.parametrize(
    ("total", "wanted", "least", "present", "heights"),
    [
        (300, [100, 0, 50], [40, 60, 40], [1, 1, 1], [100, 150, 50]),
        (200, [100, 0, 50], [40, 60, 40], [1, 1, 1], [90, 60, 50]),
        (100, [100, 0, 50], [40, 60, 40], [1, 1, 1], [40, 60, 40]),  # there is no less
        (400, [100, 0, 0], [40, 60, 40], [1, 300, 100], [100, 210, 90]),
        (300, [100, 90], [40, 40], [150, 150], [100, 90]),
    ],
)
def test_heights_are_shared(total, wanted, least, present, heights):
    assert share_heights(total, wanted, least, present) == heights


def test_buttons_stand_below_one_another_and_are_cut_where_there_is_no_room(qtbot):
    row = ButtonRow(ElidedButton("Load checkpoint…"), ElidedButton("Random weights…"))
    qtbot.addWidget(row)
    row.show()
    first, second = row.findChildren(ElidedButton)
    row.resize(500, 40)
    settle()
    assert first.y() == second.y()
    row.resize(90, 80)
    settle()
    assert first.y() < second.y()
    assert row.minimumSizeHint().width() < 90
    assert first.text() == "Load checkpoint…"


def test_a_body_that_fits_shows_no_bar_even_after_it_was_lower(qtbot):
    content = label("A sentence that takes its lines at this width. " * 6, wrap=True)
    dock = PanelDock("x", "X", content)
    qtbot.addWidget(dock)
    dock.show()
    dock.resize(230, 90)
    settle()
    assert dock.body.verticalScrollBar().isVisible()
    dock.resize(230, 90 - dock.body.height() + dock.body.wanted_height())
    settle()
    assert not dock.body.verticalScrollBar().isVisible()
