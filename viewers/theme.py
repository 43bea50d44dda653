"""Colours, fonts and the style sheet of the window: light, dark and print.

Blue, red and near-black tell sides apart, violet is everything a model says, amber is what the reader may move or must
heed. The hues stay apart for the common kinds of colour blindness; names, gaps and line styles say the same again.

All text, also painted text, grows and shrinks with one scale: take letters from `font` and room for them from `px`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from PyQt6.QtGui import QColor, QFont, QFontMetricsF, QGuiApplication, QPalette

HUES = ("hue_1", "hue_2", "hue_3", "hue_4", "hue_5")
TEXT_SCALES = (80, 90, 100, 110, 125, 150, 175, 200)  # per cent


@dataclass(frozen=True)
class Theme:
    """Colours by what they mean, as "#rrggbb"."""

    name: str
    chrome: str  # docks, toolbar, status line
    canvas: str  # behind the traces
    field: str  # buttons and inputs
    border: str
    text: str
    muted: str
    accent: str  # what a model says
    on_accent: str
    accent_soft: str
    caution: str  # thresholds, approximations, faulty channels
    good: str
    bad: str
    left: str
    right: str
    midline: str
    other: str
    grid: str
    grid_strong: str
    human: str  # what the file or another person says
    reader: str  # what the reader at this window says
    strip: str
    envelope: str
    hue_1: str  # traces told apart by lobe or shaft
    hue_2: str
    hue_3: str
    hue_4: str
    hue_5: str
    amounts: str = ""  # names of palettes in viewers.heat_scales; empty for the usual
    balances: str = ""

    def colour(self, name: str, alpha: float = 1.0) -> QColor:
        """A colour by its meaning, with an opacity; shared, so not to be changed."""
        return _colour(getattr(self, name), alpha)

    @property
    def is_dark(self) -> bool:
        """Whether text is lighter than what it stands on."""
        return QColor(self.canvas).lightness() < 128


@lru_cache(maxsize=512)
def _colour(name: str, alpha: float) -> QColor:
    colour = QColor(name)
    colour.setAlphaF(alpha)
    return colour


LIGHT = Theme(
    name="light",
    chrome="#f4f6f8",
    canvas="#ffffff",
    field="#ffffff",
    border="#dfe3e8",
    text="#1d232b",
    muted="#66707d",
    accent="#8039bd",
    on_accent="#ffffff",
    accent_soft="#e9def6",
    caution="#b35c00",
    good="#2c7a4b",
    bad="#b3261e",
    left="#12427f",
    right="#a8261f",
    midline="#1d232b",
    other="#4a5460",
    grid="#edf0f3",
    grid_strong="#dde2e8",
    human="#1d232b",
    reader="#0b7a6b",
    strip="#d6dbe1",
    envelope="#5f6878",
    hue_1="#14306e",
    hue_2="#c84600",
    hue_3="#4f1d08",
    hue_4="#0a52ee",
    hue_5="#a8606c",
)
DARK = Theme(
    name="dark",
    chrome="#1c2026",
    canvas="#14171b",
    field="#14171b",
    border="#2b3138",
    text="#e6e9ed",
    muted="#97a1ad",
    accent="#d2adff",
    on_accent="#1b1026",
    accent_soft="#3a2b52",
    caution="#f0aa4c",
    good="#8fdfb0",
    bad="#f5776c",
    left="#5c9cff",
    right="#ff988c",
    midline="#e6e9ed",
    other="#a9b3bf",
    grid="#20252b",
    grid_strong="#2d343c",
    human="#e6e9ed",
    reader="#45bda9",
    strip="#323942",
    envelope="#8d97a5",
    hue_1="#6f8dff",
    hue_2="#ff5f7e",
    hue_3="#e2e04a",
    hue_4="#3fe6e6",
    hue_5="#b4872d",
)
PRINT = replace(
    LIGHT,
    name="print",
    chrome="#ffffff",
    border="#c9ced4",
    text="#000000",
    muted="#4a4f55",
    midline="#000000",
    human="#000000",
    grid="#e6e6e6",
    grid_strong="#cfcfcf",
)
THEMES = {theme.name: theme for theme in (LIGHT, DARK, PRINT)}


def theme(name: str) -> Theme:
    """The theme of that name; KeyError for any other."""
    return THEMES[name]


class _TextScale:
    """How much larger than drawn up all text is; one for the whole application, as its style sheet is."""

    factor = 1.0


def set_text_scale(per_cent: float) -> None:
    """Draw all text at so many per cent of its size; what is on screen follows when it is given its theme again."""
    _TextScale.factor = per_cent / 100.0


def px(length: float) -> float:
    """A length that makes room for text, in pixels at the scale in force."""
    return length * _TextScale.factor


def font(size: float, bold: bool = False) -> QFont:
    """The application's font at a size in pixels, drawn at the scale in force; shared, so not to be changed."""
    return _font(QGuiApplication.font().family(), max(1, round(px(size))), bold)


@lru_cache(maxsize=64)
def _font(_family: str, size: int, bold: bool) -> QFont:
    made = QFont(QGuiApplication.font())
    made.setPixelSize(size)
    made.setBold(bold)
    return made


def text_width(text: str, size: float, bold: bool = False) -> float:
    """How wide a text is in `font`, in pixels; texts that stand on every page are measured once."""
    return _text_width(QGuiApplication.font().family(), max(1, round(px(size))), bold, text)


@lru_cache(maxsize=1024)
def _text_width(family: str, size: int, bold: bool, text: str) -> float:
    return QFontMetricsF(_font(family, size, bold)).horizontalAdvance(text)


def palette(colours: Theme) -> QPalette:
    """The palette of the whole application, for the Fusion style."""
    made = QPalette()
    role = QPalette.ColorRole
    for which, colour in (
        (role.Window, colours.chrome),
        (role.WindowText, colours.text),
        (role.Base, colours.canvas),
        (role.AlternateBase, colours.chrome),
        (role.Text, colours.text),
        (role.Button, colours.field),
        (role.ButtonText, colours.text),
        (role.BrightText, colours.bad),
        (role.ToolTipBase, colours.field),
        (role.ToolTipText, colours.text),
        (role.PlaceholderText, colours.muted),
        (role.Highlight, colours.accent),
        (role.HighlightedText, colours.on_accent),
        (role.Link, colours.caution),
        (role.Mid, colours.border),
        (role.Midlight, colours.border),
        (role.Dark, colours.border),
        (role.Light, colours.field),
        (role.Shadow, colours.border),
        (role.Accent, colours.accent),
    ):
        made.setColor(which, QColor(colour))
    for which in (role.WindowText, role.Text, role.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, which, QColor(colours.muted))
    return made


def style_sheet(colours: Theme) -> str:
    """The style sheet of toolbar, docks, lists, sliders and menus, for the names and roles that app/ gives them."""
    values = {field: getattr(colours, field) for field in Theme.__dataclass_fields__}
    sheet = _SHEET
    for field, value in values.items():
        sheet = sheet.replace(f"@{field}@", value)
    return _LENGTH.sub(lambda match: f"{round(px(int(match[1])))}px", sheet)


# Lines of one or two pixels stay as thin as they are.
_LENGTH = re.compile(r"(?<![\w.])([3-9]|\d\d+)px")
_SHEET = """
* { font-size: 12px; }
QMainWindow, QDialog { background: @chrome@; }
QMainWindow::separator { background: @border@; width: 1px; height: 1px; }
QMenuBar { background: @chrome@; color: @text@; padding: 1px 4px; }
QMenuBar::item { background: transparent; padding: 3px 9px; border-radius: 4px; }
QMenuBar::item:selected { background: @accent_soft@; }
QMenu { background: @field@; color: @text@; border: 1px solid @border@; padding: 4px; }
QMenu::item { padding: 5px 26px 5px 22px; border-radius: 4px; }
QMenu::item:selected { background: @accent_soft@; color: @text@; }
QMenu::item:disabled { color: @muted@; }
QMenu::separator { height: 1px; background: @border@; margin: 4px 6px; }
QToolBar { background: @chrome@; border: none; border-bottom: 1px solid @border@; spacing: 6px; padding: 5px 10px; }
QToolBar QToolButton, QPushButton {
    background: @field@; color: @text@; border: 1px solid @border@; border-radius: 5px; padding: 4px 10px; }
QToolBar QToolButton:hover, QPushButton:hover { border-color: @muted@; }
QToolBar QToolButton:pressed, QPushButton:pressed { background: @accent_soft@; }
QPushButton:checked { background: @accent_soft@; border-color: @accent@; }
QToolBar QToolButton:disabled, QPushButton:disabled { color: @muted@; }
QToolBar QToolButton#qt_toolbar_ext_button { padding: 0; min-width: 20px; }
QToolButton::menu-indicator { image: none; }
QToolBar QToolButton#run, QPushButton[accent="true"] {
    background: @accent@; color: @on_accent@; border-color: @accent@; font-weight: bold; }
QToolBar QToolButton#run:hover, QPushButton[accent="true"]:hover { border-color: @text@; }
QToolBar QToolButton#run:disabled, QPushButton[accent="true"]:disabled {
    background: @accent_soft@; color: @muted@; border-color: @accent_soft@; }
QPushButton:focus, QToolButton:focus, QLineEdit:focus {
    border-color: @accent@; }
QDockWidget { color: @text@; titlebar-close-icon: none; titlebar-normal-icon: none; }
QDockWidget > QWidget { background: @chrome@; }
QStatusBar { background: @chrome@; color: @text@; border-top: 1px solid @border@; }
QStatusBar::item { border: none; }
QLabel { background: transparent; }
QLabel[role="title"] { color: @muted@; font-size: 11px; font-weight: bold; }
QLabel[role="muted"] { color: @muted@; font-size: 11px; }
QLabel[role="strong"] { color: @text@; font-weight: bold; }
QLabel[role="accent"] { color: @accent@; font-size: 11px; font-weight: bold; }
QLabel[role="warning"] { color: @caution@; font-size: 11px; }
QLabel[role="good"] { color: @good@; font-size: 11px; }
QLabel[role="bad"] { color: @bad@; font-size: 11px; }
QLineEdit, QPlainTextEdit, QTextEdit {
    background: @field@; color: @text@; border: 1px solid @border@; border-radius: 5px; padding: 3px 7px;
    selection-background-color: @accent@; selection-color: @on_accent@; }
QAbstractSpinBox QLineEdit { border: none; padding: 0; background: transparent; }
QAbstractItemView {
    background: @field@; color: @text@; border: none; outline: 0; alternate-background-color: @chrome@;
    selection-background-color: @accent_soft@; selection-color: @text@; }
QDockWidget QAbstractItemView { background: @chrome@; }
QAbstractItemView::item { padding: 2px 6px; border-radius: 4px; }
QAbstractItemView::item:hover { background: @grid@; }
QAbstractItemView::item:selected { background: @accent_soft@; color: @text@; }
QHeaderView::section {
    background: @chrome@; color: @muted@; border: none; border-bottom: 1px solid @border@; padding: 3px 6px; }
QCheckBox, QRadioButton { color: @text@; spacing: 7px; background: transparent; }
QCheckBox::indicator, QListWidget::indicator {
    width: 11px; height: 11px; border: 1px solid @border@; border-radius: 3px; background: @field@; }
QListWidget::indicator { border-color: @muted@; }
QListWidget::indicator:checked { background: @accent@; border-color: @accent@; }
QListWidget::indicator:disabled { background: @border@; border-color: @border@; }
QRadioButton::indicator {
    width: 9px; height: 9px; border: 1px solid @muted@; border-radius: 5px; background: @field@; }
QRadioButton::indicator:checked { border: 3px solid @accent@; width: 5px; height: 5px; border-radius: 5px; }
QCheckBox::indicator:hover { border-color: @muted@; }
QCheckBox::indicator:checked { background: @accent@; border-color: @accent@; }
QCheckBox::indicator:focus { border-color: @accent@; }
QSlider { background: transparent; min-height: 16px; }
QSlider::groove:horizontal { height: 3px; background: @border@; border-radius: 1px; }
QSlider::sub-page:horizontal { background: @accent@; border-radius: 1px; }
QSlider::handle:horizontal {
    width: 9px; height: 9px; margin: -5px 0; border-radius: 5px; background: @field@; border: 2px solid @accent@; }
QProgressBar {
    background: @border@; border: none; border-radius: 2px; max-height: 4px; min-height: 4px; color: @text@; }
QProgressBar::chunk { background: @accent@; border-radius: 2px; }
QTabBar::tab { background: transparent; color: @muted@; padding: 5px 2px; margin: 0 5px;
    border-bottom: 2px solid transparent; }
QTabBar::tab:selected { color: @accent@; border-bottom-color: @accent@; font-weight: bold; }
QTabWidget::pane { border: none; border-top: 1px solid @border@; }
QScrollArea, QScrollArea > QWidget > QWidget { background: transparent; border: none; }
QScrollBar:vertical { background: transparent; width: 9px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 9px; margin: 0; }
QScrollBar::handle { background: @strip@; border-radius: 4px; min-height: 24px; min-width: 24px; }
QScrollBar::handle:hover { background: @muted@; }
QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page {
    background: none; border: none; width: 0; height: 0; }
QToolTip { background: @field@; color: @text@; border: 1px solid @border@; padding: 3px 6px; }
QSplitter::handle { background: @border@; }
"""
