"""Where the docks of the main window lie at the first start: sides, order, tabs, and which wait in the menu."""

from __future__ import annotations

from collections.abc import Mapping

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QMainWindow, QTabWidget

from app.panel import PanelDock

LEFT = ("recording", "events", "sensitivity", "overlays", "jobs", "marks")
RIGHT = ("inspector", "model", "prediction", "agreement", "raters")
TABBED = (("events", "marks"), ("inspector", "raters"), ("prediction", "agreement"))  # the first one is on top
ASKED_FOR = ("marks", "raters")  # shown by the menu


def lay_docks(window: QMainWindow, docks: Mapping[str, PanelDock]) -> None:
    """Put the docks at their places; KeyError where one is missing."""
    sides = (Qt.DockWidgetArea.LeftDockWidgetArea, LEFT), (Qt.DockWidgetArea.RightDockWidgetArea, RIGHT)
    for side, names in sides:
        for name in names:
            window.addDockWidget(side, docks[name])
        window.setTabPosition(side, QTabWidget.TabPosition.North)
    for top, below in TABBED:
        window.tabifyDockWidget(docks[top], docks[below])
    for name in ASKED_FOR:
        docks[name].hide()
        docks[name].toggleViewAction().triggered.connect(docks[name].raise_)
    for top, _below in TABBED:
        docks[top].raise_()
