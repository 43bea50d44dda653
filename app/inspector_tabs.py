"""The inspector: panels under tabs in one dock, of which only the one in view is kept up to date."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtGui import QGuiApplication, QHideEvent, QShowEvent
from PyQt6.QtWidgets import (
    QFrame,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QTabBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from analysis.provenance import RESEARCH_ONLY
from app.panel import PanelDock
from viewers import glyphs
from viewers.panels import PANELS
from viewers.panels.base import Panel
from viewers.theme import Theme

Kind = TypeVar("Kind", bound=Panel)

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
        self._stack = QStackedWidget()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.tabs)
        column.addWidget(self._stack, 1)
        self.tabs.currentChanged.connect(self._on_tab)
        for kind in PANELS:
            self.add(kind())

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

    def panel(self, kind: type[Kind]) -> Kind:
        """The panel of a kind; KeyError where there is none."""
        found = {type(panel): panel for panel in self._panels}[kind]
        assert isinstance(found, kind)
        return found

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
        clipboard.setText(f"# {RESEARCH_ONLY}\n{text}")
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
        self._tabs = tabs
        self.copy_button = self._button("Copy the values on show as a table (Ctrl+Shift+C)", "Copy the values on show")
        self.copy_button.setText("Copy")
        self.copy_button.setProperty("role", "muted")
        self.copy_button.clicked.connect(tabs.copy_values)
        self.pop_button = self._button("Show the inspector in a larger window, or back at the side", "Larger inspector")
        self.pop_button.setCheckable(True)
        self.pop_button.clicked.connect(self.pop_out)
        self.topLevelChanged.connect(self.pop_button.setChecked)

    def _button(self, tip: str, name: str) -> QToolButton:
        button = QToolButton()
        button.setAutoRaise(True)
        button.setIconSize(glyphs.SIZE)
        button.setToolTip(tip)
        button.setAccessibleName(name)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setStyleSheet("QToolButton { border: none; padding: 0 3px; }")
        layout = self.heading.layout()
        if layout is not None:
            layout.addWidget(button)
        return button

    def handlers(self) -> dict[str, Callable[[], None]]:
        """What the actions of the inspector do."""
        names = self._tabs.names()
        opening = {f"show_{name}": partial(self.open, name) for name in names}
        return {"pop_out_inspector": self.pop_out, "copy_values": self._tabs.copy_values, **opening}

    def open(self, name: str) -> None:
        """Bring a panel into view."""
        self.show()
        self.raise_()
        self._tabs.open(name)

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self._tabs.set_theme(theme)
        self.pop_button.setIcon(glyphs.icon(glyphs.paint_pop_out, theme))

    def pop_out(self) -> None:
        """Float in a larger size, or go back to the side of the window."""
        out = not self.isFloating()
        self.show()
        self.setFloating(out)
        if out:
            screen = self.screen()
            self.resize(_POPPED_OUT.boundedTo(screen.availableSize()) if screen is not None else _POPPED_OUT)
            self.activateWindow()
