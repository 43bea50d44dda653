"""The inspector: panels under tabs in one dock, of which only the one in view is kept up to date."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtGui import QGuiApplication, QHideEvent, QShowEvent
from PyQt6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from app.panel import PanelDock
from viewers.panels.base import Panel
from viewers.theme import Theme

_POPPED_OUT = QSize(680, 820)
_MIN_HEIGHT = 220


class InspectorTabs(QWidget):
    """Holds panels; `panel_changed` tells which one is in view, or None while the inspector is hidden."""

    panel_changed = pyqtSignal(object)  # Panel or None
    copied = pyqtSignal(str)  # what was copied, in words

    def __init__(self) -> None:
        super().__init__()
        self._panels: list[Panel] = []
        self._in_view: Panel | None = None
        self.tabs = QTabBar()
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        self.tabs.setUsesScrollButtons(True)
        self.tabs.setAccessibleName("Panels of the inspector")
        self.copy = QPushButton("Copy")
        self.copy.setToolTip("Copy the values on show as a table (Ctrl+Shift+C)")
        self.copy.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._stack = QStackedWidget()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        row = QHBoxLayout()
        row.addWidget(self.tabs, 1)
        row.addWidget(self.copy)
        column.addLayout(row)
        column.addWidget(self._stack, 1)
        self.tabs.currentChanged.connect(self._on_tab)
        self.copy.clicked.connect(self.copy_values)

    # Panels

    def add(self, panel: Panel) -> None:
        """Give a panel a tab; in a low window it scrolls."""
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        area.setWidget(panel)
        self._panels.append(panel)
        self._stack.addWidget(area)
        index = self.tabs.addTab(panel.title)
        self.tabs.setTabToolTip(index, panel.tip)

    @property
    def panels(self) -> Sequence[Panel]:
        """All panels, in the order of their tabs."""
        return tuple(self._panels)

    def names(self) -> list[str]:
        """What panels are called in commands and settings."""
        return [panel.title.lower() for panel in self._panels]

    def chosen(self) -> str:
        """Name of the panel whose tab is open, shown or not."""
        return self.names()[self.tabs.currentIndex()] if self._panels else ""

    def open(self, name: str) -> None:
        """Open a panel's tab; a name that none has is passed over."""
        if name in self.names():
            self.tabs.setCurrentIndex(self.names().index(name))

    @property
    def in_view(self) -> Panel | None:
        """The panel that can be seen; None while the inspector is hidden."""
        return self._in_view

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        for panel in self._panels:
            panel.set_theme(theme)

    def copy_values(self) -> None:
        """Put the numbers of the open panel on the clipboard."""
        panel = self._panels[self.tabs.currentIndex()] if self._panels else None
        text = panel.table() if panel is not None else ""
        clipboard = QGuiApplication.clipboard()
        if panel is None or not text or clipboard is None:
            self.copied.emit("there are no values to copy yet")
            return
        clipboard.setText(text)
        rows = sum(1 for line in text.splitlines() if line and not line.startswith("#"))
        self.copied.emit(f"copied the {panel.title.lower()} as a table of {rows} lines")

    def sizeHint(self) -> QSize:
        """As wide as a dock usually is."""
        return QSize(312, 480)

    def minimumSizeHint(self) -> QSize:
        """Below this the panel in view would be a slit."""
        return QSize(200, _MIN_HEIGHT)

    # Being seen

    def showEvent(self, event: QShowEvent | None) -> None:
        """What was not kept up to date while hidden is now."""
        super().showEvent(event)
        self._tell()

    def hideEvent(self, event: QHideEvent | None) -> None:
        """Nothing is computed for what nobody sees."""
        super().hideEvent(event)
        self._tell()

    def _on_tab(self, index: int) -> None:
        self._stack.setCurrentIndex(index)
        self._tell()

    def _tell(self) -> None:
        index = self.tabs.currentIndex()
        seen = self._panels[index] if self.isVisible() and 0 <= index < len(self._panels) else None
        if seen is not self._in_view:
            self._in_view = seen
            self.panel_changed.emit(seen)


class InspectorDock(PanelDock):
    """The dock of the inspector, which can be popped out to a window of its own size."""

    def __init__(self, tabs: InspectorTabs) -> None:
        super().__init__("inspector", "Inspector", tabs, stretches=True)
        self.tabs = tabs
        self._pop = QPushButton("Pop out")
        self._pop.setToolTip("Show the inspector in a larger window of its own, or put it back")
        self._pop.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._pop.clicked.connect(self.pop_out)
        layout = self.heading.layout()
        assert isinstance(layout, QHBoxLayout)
        layout.addWidget(self._pop)
        self.topLevelChanged.connect(self._on_floating)

    def pop_out(self) -> None:
        """Float in a larger size, or go back to the side of the window."""
        self.setFloating(not self.isFloating())
        if self.isFloating():
            screen = self.screen()
            room = screen.availableSize() if screen is not None else _POPPED_OUT
            self.resize(_POPPED_OUT.boundedTo(room))

    def _on_floating(self, floating: bool) -> None:
        self._pop.setText("Put back" if floating else "Pop out")
