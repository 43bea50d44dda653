"""The dock of the review queue: filters behind a funnel, and a way out into a wide table of its own."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtWidgets import QToolButton

from app.panel import PanelDock
from viewers import glyphs
from viewers.review_panel import ReviewPanel
from viewers.theme import Theme

_WIDE = QSize(980, 560)


class EventsDock(PanelDock):
    """A column of events that can be filtered, and be floated as a table with columns."""

    def __init__(self, panel: ReviewPanel) -> None:
        super().__init__("events", "Events", panel, stretches=True)
        self._panel = panel
        self.filter_button = self._button("Filter and sort the events (/)", "Filter and sort the events")
        self.filter_button.clicked.connect(self._on_filter)
        self.pop_button = self._button("Show the events as a wide table, or back in the column", "Wide table of events")
        self.pop_button.clicked.connect(self.pop_out)
        self.topLevelChanged.connect(self.pop_button.setChecked)
        panel.listed_changed.connect(self._on_listed)

    def _button(self, tip: str, name: str) -> QToolButton:
        button = QToolButton()
        button.setCheckable(True)
        button.setAutoRaise(True)
        button.setIconSize(glyphs.SIZE)
        button.setToolTip(tip)
        button.setAccessibleName(name)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setStyleSheet("QToolButton { border: none; padding: 0 1px; }")
        self.heading.layout().addWidget(button)
        return button

    def handlers(self) -> dict[str, Callable[[], None]]:
        """What the actions of the dock do."""
        return {"pop_out_events": self.pop_out, "filter_events": self.open_filters}

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self._panel.set_theme(theme)
        self.filter_button.setIcon(glyphs.icon(glyphs.paint_funnel, theme, on="accent"))
        self.pop_button.setIcon(glyphs.icon(glyphs.paint_pop_out, theme))

    def open_filters(self) -> None:
        """Bring the filters into view, with the cursor in the search field."""
        self.show()
        self.raise_()
        if self.isFloating():
            self.activateWindow()
        self._panel.open_filters()
        self._on_listed()

    def pop_out(self) -> None:
        """Float as a wide table in the middle of the window, or go back into the column."""
        out = not self.isFloating()
        self.show()
        self.setFloating(out)
        if out:
            window = self.parentWidget()
            self.resize(_WIDE.boundedTo(window.size()) if window is not None else _WIDE)
            if window is not None:
                self.move(window.mapToGlobal(window.rect().center()) - self.rect().center())
            self.activateWindow()

    def _on_filter(self) -> None:
        self.open_filters()

    def _on_listed(self) -> None:
        """The funnel is full as long as something is filtered."""
        self.filter_button.setChecked(self._panel.filter.wanted.is_active)
