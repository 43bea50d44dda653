"""One table of everything a reader can do: identifier, menu, text, keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PyQt6.QtGui import QAction, QKeySequence
from PyQt6.QtWidgets import QMainWindow, QMenu


@dataclass(frozen=True)
class ActionSpec:
    """One action: where it stands in the menus, what it is called and which keys start it."""

    id: str
    menu: str
    text: str
    keys: tuple[str, ...] = ()
    checkable: bool = False
    submenu: str = ""


ACTIONS: tuple[ActionSpec, ...] = (
    ActionSpec("open", "File", "Open recording…", ("Ctrl+O",)),
    ActionSpec("new_window", "File", "New window on this recording", ("Ctrl+Shift+N",)),
    ActionSpec("open_events", "File", "Open events of another file…", ("Ctrl+Shift+O",)),
    ActionSpec("save_events", "File", "Save model events as…", ("Ctrl+S",)),
    ActionSpec("screenshot", "File", "Save a picture of the window…", ("Ctrl+E",)),
    ActionSpec("quit", "File", "Quit", ("Ctrl+Q",)),
    ActionSpec("next_page", "Go", "Next page", ("Right", "PgDown")),
    ActionSpec("previous_page", "Go", "Previous page", ("Left", "PgUp")),
    ActionSpec("next_second", "Go", "One second on", ("Ctrl+Right",)),
    ActionSpec("previous_second", "Go", "One second back", ("Ctrl+Left",)),
    ActionSpec("first_page", "Go", "Beginning", ("Home",)),
    ActionSpec("last_page", "Go", "End", ("End",)),
    ActionSpec("go_to_time", "Go", "Go to time…", ("Ctrl+G",)),
    ActionSpec("next_event", "Go", "Next event", ("N",)),
    ActionSpec("previous_event", "Go", "Previous event", ("P",)),
    ActionSpec("more_sensitive", "View", "Taller traces", ("Up", "+", "=")),
    ActionSpec("less_sensitive", "View", "Flatter traces", ("Down", "-")),
    ActionSpec("channel_types", "View", "Scale and filters per channel type…", ("Ctrl+T",)),
    ActionSpec("row_taller", "View", "Chosen row taller", ("Shift+Up",), submenu="Single rows"),
    ActionSpec("row_flatter", "View", "Chosen row flatter", ("Shift+Down",), submenu="Single rows"),
    ActionSpec("row_usual", "View", "Chosen row as the page has it", ("Shift+Home",), submenu="Single rows"),
    ActionSpec("rows_usual", "View", "All rows as the page has them", submenu="Single rows"),
    ActionSpec("next_row", "View", "Choose the next row", ("Alt+Down",), submenu="Single rows"),
    ActionSpec("previous_row", "View", "Choose the row before", ("Alt+Up",), submenu="Single rows"),
    ActionSpec("longer_page", "View", "More seconds per page", ("]",)),
    ActionSpec("shorter_page", "View", "Fewer seconds per page", ("[",)),
    ActionSpec("page_length", "View", "Length of a page…", ("Ctrl+]",)),
    ActionSpec("whole_recording", "View", "Whole recording on the page", ("Ctrl+[",)),
    ActionSpec("trends", "View", "Trends above the traces", ("W",), checkable=True),
    ActionSpec("trends_span", "View", "Span of the trends: all, 4 h, 1 h", ("Shift+W",)),
    ActionSpec("speed_15", "View", "15 mm/s", submenu="Speed"),
    ActionSpec("speed_30", "View", "30 mm/s", submenu="Speed"),
    ActionSpec("speed_60", "View", "60 mm/s", submenu="Speed"),
    ActionSpec("montage_1", "View", "Montage: as recorded", ("1",)),
    ActionSpec("montage_2", "View", "Montage: longitudinal bipolar", ("2",)),
    ActionSpec("montage_3", "View", "Montage: common average", ("3",)),
    ActionSpec("toggle_notch", "View", "Notch filter on or off", ("F",)),
    ActionSpec("overlays", "View", "Show the overlay list", ("O",)),
    ActionSpec("hide_overlays", "View", "Hide overlays (or hold H)", (), checkable=True),
    ActionSpec("clock", "View", "Time of day on the axis", ("T",), checkable=True),
    ActionSpec("positive_up", "View", "Positive up (research)", checkable=True),
    ActionSpec("clip_rows", "View", "Cut traces off at their neighbours", checkable=True),
    ActionSpec("colours_sides", "View", "Left blue, right red", (), True, "Colours of traces"),
    ActionSpec("colours_sides_swapped", "View", "Left red, right blue", (), True, "Colours of traces"),
    ActionSpec("colours_black", "View", "All black", (), True, "Colours of traces"),
    ActionSpec("colours_regions", "View", "By lobe or shaft", (), True, "Colours of traces"),
    ActionSpec("theme_light", "View", "Light theme", submenu="Theme"),
    ActionSpec("theme_dark", "View", "Dark theme", submenu="Theme"),
    ActionSpec("theme_system", "View", "Theme of the system", submenu="Theme"),
    ActionSpec("larger_text", "View", "Larger letters", ("Ctrl+Shift++", "Ctrl+Shift+="), submenu="Size of letters"),
    ActionSpec("smaller_text", "View", "Smaller letters", ("Ctrl+Shift+-", "Ctrl+Shift+_"), submenu="Size of letters"),
    ActionSpec("usual_text", "View", "Usual letters", ("Ctrl+Shift+0",), submenu="Size of letters"),
    ActionSpec("calibrate", "View", "Measure the screen…"),
    ActionSpec("load_checkpoint", "Model", "Load a checkpoint…", ("Ctrl+L",)),
    ActionSpec("run", "Model", "Run the model", ("R",)),
    ActionSpec("cancel", "Model", "Cancel the running job", ("Esc",)),
    ActionSpec("event_rules", "Model", "How events are made…"),
    ActionSpec("find_command", "Help", "Find a command…", ("Ctrl+Shift+P",)),
    ActionSpec("reset_view", "View", "Reset the view", ("Ctrl+0",)),
    ActionSpec("reset_settings", "View", "Reset all settings…"),
    ActionSpec("help", "Help", "Keys and conventions", ("F1",)),
    ActionSpec("about", "Help", "About Cerebroscope"),
)
MENUS = ("File", "Go", "View", "Mark", "Review", "Model", "Help")


@dataclass(frozen=True)
class KeyRow:
    """A line of the help window: under which heading, which keys or gesture, and what it does."""

    menu: str
    keys: str
    text: str


# What the mouse and held keys do, which no action stands for.
GESTURES: tuple[KeyRow, ...] = (
    KeyRow("Mouse and held keys", "H held", "Hide overlays"),
    KeyRow("Mouse and held keys", "Wheel", "Page on or back"),
    KeyRow("Mouse and held keys", "Wheel over a name", "That row taller or flatter; with Ctrl as the page has it"),
)


def build_actions(window: QMainWindow, handlers: Mapping[str, Callable[[], None]]) -> dict[str, QAction]:
    """Make one QAction per row of ACTIONS and fill the menu bar; KeyError when a row has no handler."""
    bar = window.menuBar()
    assert bar is not None
    menus: dict[str, QMenu] = {}
    for title in [title for title in MENUS if any(spec.menu == title for spec in ACTIONS)]:
        menu = bar.addMenu(f"&{title}")
        assert menu is not None
        menus[title] = menu
    actions: dict[str, QAction] = {}
    for spec in ACTIONS:
        action = QAction(spec.text, window)
        action.setObjectName(spec.id)
        action.setShortcuts([QKeySequence(key) for key in spec.keys])
        action.setCheckable(spec.checkable)
        action.setToolTip(f"{spec.text} ({', '.join(spec.keys)})" if spec.keys else spec.text)
        handler = handlers[spec.id]
        action.triggered.connect(lambda _checked=False, run=handler: run())
        window.addAction(action)
        _menu_of(spec, menus).addAction(action)
        actions[spec.id] = action
    return actions


def _menu_of(spec: ActionSpec, menus: dict[str, QMenu]) -> QMenu:
    """The menu of an action, or its submenu, which stands where its first action does."""
    if not spec.submenu:
        return menus[spec.menu]
    name = f"{spec.menu}/{spec.submenu}"
    if name not in menus:
        menu = menus[spec.menu].addMenu(spec.submenu)
        assert menu is not None
        menus[name] = menu
    return menus[name]


def fill_recent(menu: QMenu, paths: Sequence[str], open_path: Callable[[str], None]) -> None:
    """List the recordings opened last, by name, with the whole path as tip."""
    menu.clear()
    menu.setToolTipsVisible(True)
    for path in paths:
        action = menu.addAction(Path(path).name, lambda chosen=path: open_path(chosen))
        action.setToolTip(path)
    menu.setEnabled(bool(paths))


def key_table() -> list[KeyRow]:
    """The keys and gestures and what they do, for the help window, in the order of the menus."""
    return [*(KeyRow(spec.menu, "  ".join(spec.keys), spec.text) for spec in ACTIONS if spec.keys), *GESTURES]
