"""Light, dark, or what the system says: palette, style sheet and fonts of the whole application."""

from __future__ import annotations

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QApplication

from viewers import theme

CHOICES = ("system", "light", "dark")
_STYLED = "cerebroscope-styled"


def theme_in_force(choice: str) -> str:
    """ "light" or "dark": the choice itself, or what the system prefers (light where it does not say)."""
    if choice in ("light", "dark"):
        return choice
    hints = QGuiApplication.styleHints()
    dark = hints is not None and hints.colorScheme() == Qt.ColorScheme.Dark
    return "dark" if dark else "light"


def apply_theme(choice: str, text_scale: float = 100) -> theme.Theme:
    """Colour the application, set the size of its letters in per cent, and return the theme in force."""
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    colours = theme.theme(theme_in_force(choice))
    theme.set_text_scale(text_scale)
    if not application.property(_STYLED):  # once: every widget there is takes a new style up anew
        application.setStyle("Fusion")
        application.setProperty(_STYLED, True)
    application.setPalette(theme.palette(colours))
    sheet = theme.style_sheet(colours)
    if application.styleSheet() != sheet:
        application.setStyleSheet(sheet)
    return colours
