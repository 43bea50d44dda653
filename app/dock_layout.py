"""Where the docks of the main window lie at the first start: sides, order, tabs, and which wait in the menu."""

from __future__ import annotations

from collections.abc import Mapping

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QMainWindow, QTabBar, QTabWidget

from app.panel import PanelDock

LEFT = ("recording", "events", "sensitivity", "overlays", "jobs", "marks")
RIGHT = ("inspector", "model", "prediction", "agreement", "raters", "recordings")
TABBED = (  # the first one is on top
    ("events", "marks"),
    ("inspector", "raters"),
    ("inspector", "recordings"),
    ("prediction", "agreement"),
)
ASKED_FOR = ("marks", "raters", "recordings")  # shown by the menu

_OUT_OF_SIGHT = -1000  # pixels; bars in use are put at their places when the window is shown


def lay_docks(window: QMainWindow, docks: Mapping[str, PanelDock]) -> None:
    """Put the docks at their places; KeyError where one is missing."""
    sides = (Qt.DockWidgetArea.LeftDockWidgetArea, LEFT), (Qt.DockWidgetArea.RightDockWidgetArea, RIGHT)
    for side, names in sides:
        for name in names:
            window.addDockWidget(side, docks[name])
        window.setTabPosition(side, QTabWidget.TabPosition.North)
    for top, below in TABBED:
        window.tabifyDockWidget(docks[top], docks[below])
        if below not in ASKED_FOR:
            docks[top].raise_()
    for name in ASKED_FOR:
        docks[name].hide()
        docks[name].toggleViewAction().triggered.connect(docks[name].raise_)
    _hide_bars(window)


def _hide_bars(window: QMainWindow) -> None:
    """Qt makes two bars for some tabs before it is shown, and shows both; those that were hidden only where needed."""
    for bar in window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly):
        bar.hide()
