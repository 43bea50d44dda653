"""The docks lie at their places: none is forgotten, none lies twice, and the first of two tabs is on top."""

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLabel, QMainWindow, QTabBar
from pytestqt.qtbot import QtBot

from app.dock_layout import ASKED_FOR, LEFT, RIGHT, TABBED, lay_docks
from app.main_window import MainWindow
from app.panel import PanelDock
from app.settings import Settings


@pytest.fixture
def laid(qtbot: QtBot) -> tuple[QMainWindow, dict[str, PanelDock]]:
    window = QMainWindow()
    qtbot.addWidget(window)
    window.resize(1400, 900)
    docks = {name: PanelDock(name, name, QLabel(name)) for name in (*LEFT, *RIGHT)}
    lay_docks(window, docks)
    window.show()
    qtbot.waitExposed(window)
    return window, docks


def test_each_dock_lies_once_on_its_side(laid: tuple[QMainWindow, dict[str, PanelDock]]) -> None:
    window, docks = laid
    assert len({*LEFT, *RIGHT}) == len(LEFT) + len(RIGHT)
    for side, names in ((Qt.DockWidgetArea.LeftDockWidgetArea, LEFT), (Qt.DockWidgetArea.RightDockWidgetArea, RIGHT)):
        assert {window.dockWidgetArea(docks[name]) for name in names} == {side}


def test_what_is_asked_for_waits_in_the_menu_and_comes_to_the_front(
    laid: tuple[QMainWindow, dict[str, PanelDock]], qtbot: QtBot
) -> None:
    window, docks = laid
    assert {name for name, dock in docks.items() if dock.isHidden()} == set(ASKED_FOR)
    for top, below in TABBED:
        if below in ASKED_FOR:
            docks[below].toggleViewAction().trigger()
            qtbot.waitUntil(lambda below=below: not docks[below].visibleRegion().isEmpty())
        assert docks[below] in window.tabifiedDockWidgets(docks[top])


def test_of_two_tabs_the_first_is_on_top(laid: tuple[QMainWindow, dict[str, PanelDock]]) -> None:
    _window, docks = laid
    for top, below in TABBED:
        assert not docks[top].visibleRegion().isEmpty()
        assert docks[below].visibleRegion().isEmpty()


def test_no_bar_of_tabs_stands_alone_in_the_window(laid: tuple[QMainWindow, dict[str, PanelDock]]) -> None:
    window, docks = laid
    bars = window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
    shown = [bar for bar in bars if bar.isVisible() and window.rect().intersects(bar.geometry())]
    assert len(shown) == len([below for _, below in TABBED if below not in ASKED_FOR])
    for bar in shown:
        below = [dock for dock in docks.values() if abs(dock.geometry().top() - bar.geometry().bottom()) <= 2]
        assert any(dock.geometry().left() <= bar.geometry().left() <= dock.geometry().right() for dock in below)


def test_the_main_window_has_a_place_for_each_of_its_docks(qtbot: QtBot) -> None:
    main = MainWindow(Settings())
    qtbot.addWidget(main)
    assert set(main.docks) == {*LEFT, *RIGHT}
