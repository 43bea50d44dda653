"""The inspector: which panel is in view, what is remembered and copied, and that it scrolls and pops out."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QMainWindow, QScrollArea

from app.inspector_tabs import InspectorDock, InspectorTabs
from viewers.panels import PANELS
from viewers.panels.base import Panel
from viewers.panels.topography import TopographyPanel


class Told(Panel):
    """A panel that only has a table."""

    title = "Told"

    def __init__(self, text: str = "# made\na\tb\n1\t2\n") -> None:
        super().__init__()
        self._text = text
        self.setMinimumHeight(900)

    def table(self) -> str:
        return self._text


@pytest.fixture
def tabs(qtbot) -> InspectorTabs:
    made = InspectorTabs()
    qtbot.addWidget(made)
    return made


def test_every_panel_has_a_tab_a_name_and_a_tip(tabs):
    assert tabs.names() == [kind.title.lower() for kind in PANELS]
    assert [tabs.tabs.tabText(i) for i in range(tabs.tabs.count())] == [kind.title for kind in PANELS]
    assert all(tabs.tabs.tabToolTip(i) for i in range(tabs.tabs.count()))
    assert isinstance(tabs.panel(TopographyPanel), TopographyPanel)


def test_tells_which_panel_is_in_view_and_that_none_is(tabs, qtbot):
    told = []
    tabs.panel_changed.connect(told.append)
    tabs.open("spectrum")
    assert told == []
    tabs.show()
    qtbot.waitExposed(tabs)
    assert told == [tabs.in_view]
    assert tabs.in_view.title == "Spectrum"
    tabs.open("topography")
    tabs.hide()
    assert [panel.title if panel else None for panel in told] == ["Spectrum", "Topography", None]
    assert tabs.chosen() == "topography"


def test_a_name_that_no_panel_has_is_passed_over(tabs):
    tabs.open("spectrogram")
    tabs.open("")
    tabs.open("gone")
    assert tabs.chosen() == "spectrogram"


def test_copies_the_table_of_the_open_panel_and_says_so(tabs):
    told = []
    tabs.copied.connect(told.append)
    tabs.add(Told())
    tabs.open("told")
    tabs.copy_values()
    assert QGuiApplication.clipboard().text() == "# Research use only: not for diagnosis.\n# made\na\tb\n1\t2\n"
    assert told == ["copied the told as a table of 2 lines"]
    tabs.open("topography")
    tabs.copy_values()
    assert told[-1] == "there are no values to copy yet"


def test_a_panel_higher_than_the_dock_scrolls(tabs, qtbot):
    tabs.add(Told())
    tabs.open("told")
    tabs.resize(300, 300)
    tabs.show()
    qtbot.waitExposed(tabs)
    area = tabs._stack.currentWidget()
    assert isinstance(area, QScrollArea)
    assert area.verticalScrollBar().maximum() > 0
    assert area.horizontalScrollBar().maximum() == 0


def test_pops_out_larger_and_goes_back(qtbot):
    window = QMainWindow()
    qtbot.addWidget(window)
    dock = InspectorDock(InspectorTabs())
    window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
    window.resize(800, 600)
    window.show()
    qtbot.waitExposed(window)
    dock.pop_out()
    assert dock.isFloating()
    assert dock.width() > 600
    assert dock.pop_button.isChecked()
    dock.pop_out()
    assert not dock.isFloating()
    assert not dock.pop_button.isChecked()


def test_opening_a_panel_shows_the_dock(qtbot):
    tabs = InspectorTabs()
    dock = InspectorDock(tabs)
    qtbot.addWidget(dock)
    dock.handlers()["show_spectrum"]()
    assert dock.isVisible()
    assert tabs.chosen() == "spectrum"
