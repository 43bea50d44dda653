"""One table of everything a reader can do: identifier, menu, text, keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PyQt6.QtGui import QAction, QKeySequence
from PyQt6.QtWidgets import QMainWindow, QMenu

from analysis.vocabulary import SEIZURE, Term, score_vocabulary


@dataclass(frozen=True)
class ActionSpec:
    """One action: where it stands in the menus, what it is called and which keys start it."""

    id: str
    menu: str
    text: str
    keys: tuple[str, ...] = ()
    checkable: bool = False
    submenu: str = ""


PLAY_SPEEDS = (1, 2, 4, 8, 16, 32, 64)
_BY_KEYS = "Cursor and selection by keys"


def term_action(name: str) -> str:
    """The identifier of the action that marks with a type of the vocabulary."""
    return "mark_" + "".join(c if c.isalnum() else "_" for c in name.casefold())


def _term_text(term: Term) -> str:
    return f"Mark: {term.name}" + (" of the selection, or its start at the cursor" if term.role == SEIZURE else "")


# What the number keys show; in an open recording the actions are called what they are there.
_MONTAGE_KEYS = (
    "as recorded",
    "LB-18.1 (intracranial: neighbours along each shaft)",
    "LB-18.3 (intracranial: average of each shaft)",
    "TB-18.1 (intracranial: common average)",
    "same-side ear (intracranial: one channel as reference)",
    "common average",
    "hat band",
    "Laplacian",
    "Cz reference",
)
ACTIONS: tuple[ActionSpec, ...] = (
    ActionSpec("open", "File", "Open recording…", ("Ctrl+O",)),
    ActionSpec("new_window", "File", "New window on this recording", ("Ctrl+Shift+N",)),
    ActionSpec("open_events", "File", "Open events of another file…", ("Ctrl+Shift+O",)),
    ActionSpec("open_table", "File", "Open table of recordings…", ("Ctrl+Alt+O",)),
    ActionSpec("save_marks", "File", "Save marks…", ("Ctrl+S",)),
    ActionSpec("report", "File", "Write a report…", ("Ctrl+Shift+R",)),
    ActionSpec("export_figure", "File", "Export figure…", ("Ctrl+Shift+F",)),
    ActionSpec("screenshot", "File", "Save a picture of the window…", ("Ctrl+E",)),
    ActionSpec("quit", "File", "Quit", ("Ctrl+Q",)),
    ActionSpec("next_page", "Go", "Next page", ("Right", "PgDown")),
    ActionSpec("previous_page", "Go", "Previous page", ("Left", "PgUp")),
    ActionSpec("next_second", "Go", "One second on", ("Ctrl+Right",)),
    ActionSpec("previous_second", "Go", "One second back", ("Ctrl+Left",)),
    ActionSpec("first_page", "Go", "Beginning", ("Home",)),
    ActionSpec("last_page", "Go", "End", ("End",)),
    ActionSpec("go_to_time", "Go", "Go to time…", ("Ctrl+G",)),
    ActionSpec("back", "Go", "Back to the place before the jump", ("Alt+Left",)),
    ActionSpec("forward", "Go", "Forward again", ("Alt+Right",)),
    ActionSpec("next_event", "Go", "Next event", ("N",)),
    ActionSpec("previous_event", "Go", "Previous event", ("P",)),
    ActionSpec("next_recording", "Go", "Next recording of the table", ("Ctrl+PgDown",)),
    ActionSpec("previous_recording", "Go", "Recording of the table before", ("Ctrl+PgUp",)),
    ActionSpec("play", "Go", "Play on, or stop", ("Space",)),
    ActionSpec("next_play_speed", "Go", "Next speed", ("Shift+Space",), submenu="Play speed"),
    *(ActionSpec(f"play_{speed}", "Go", f"Play at {speed}x", (), True, "Play speed") for speed in PLAY_SPEEDS),
    ActionSpec("find_channel", "Go", "Find a channel…", ("Ctrl+F",)),
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
    ActionSpec("trends_walk", "View", "Step through the trends by key", ("Alt+W",)),
    ActionSpec("speed_15", "View", "15 mm/s", submenu="Speed"),
    ActionSpec("speed_30", "View", "30 mm/s", submenu="Speed"),
    ActionSpec("speed_60", "View", "60 mm/s", submenu="Speed"),
    *(
        ActionSpec(f"montage_{key}", "View", f"Montage: {text}", (str(key),), submenu="Montage")
        for key, text in enumerate(_MONTAGE_KEYS, 1)
    ),
    ActionSpec("choose_reference", "View", "Choose the reference…", submenu="Montage"),
    ActionSpec("right_first", "View", "Right side above left", (), True, "Montage"),
    ActionSpec("montage_editor", "View", "Montages of your own…", ("Ctrl+M",), submenu="Montage"),
    ActionSpec("bad_channels", "View", "Bad channels…", ("Ctrl+B",), submenu="Montage"),
    ActionSpec("toggle_bad", "View", "Chosen row's channel bad, or good again", ("B",), submenu="Montage"),
    ActionSpec("hide_bad", "View", "Hide the rows of bad channels", ("Shift+B",), True, "Montage"),
    ActionSpec("toggle_notch", "View", "Notch filter on or off", ("F",)),
    ActionSpec("next_part", "View", "Next part of the window", ("F6",)),
    ActionSpec("previous_part", "View", "Part of the window before", ("Shift+F6",)),
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
    ActionSpec("accept_event", "Review", "Accept the current event", ("Y",)),
    ActionSpec("reject_event", "Review", "Reject the current event", ("X",)),
    ActionSpec("take_back", "Review", "Take the decision back", ("U",)),
    ActionSpec("next_to_review", "Review", "Next event to review", ("Shift+N",)),
    ActionSpec("only_to_review", "Review", "List only what is to review, or everything", ("Ctrl+Y",)),
    ActionSpec("filter_events", "Review", "Filter and find events", ("/",)),
    ActionSpec("pop_out_events", "Review", "Events as a wide table, or in their column", ("Ctrl+Shift+E",)),
    ActionSpec("higher_threshold", "Review", "Higher threshold of model events", ("Ctrl+Up",)),
    ActionSpec("lower_threshold", "Review", "Lower threshold of model events", ("Ctrl+Down",)),
    ActionSpec("rater_name", "Review", "Your name for decisions…"),
    ActionSpec("raters", "Review", "Compare two raters", ("Ctrl+R",)),
    ActionSpec("next_dispute", "Review", "Next disputed span", ("D",)),
    ActionSpec("previous_dispute", "Review", "Disputed span before", ("Shift+D",)),
    ActionSpec("split_event", "Review", "Split at the cursor", ("Ctrl+K",)),
    ActionSpec("merge_events", "Review", "Merge the selected events, or with the next", ("Ctrl+J",)),
    ActionSpec("trim_to_selection", "Review", "Trim to the selection", ("Ctrl+Shift+T",)),
    ActionSpec("start_at_cursor", "Review", "Begin at the cursor", ("Ctrl+I",)),
    ActionSpec("end_at_cursor", "Review", "End at the cursor", ("Ctrl+U",)),
    ActionSpec("undo_edit", "Mark", "Undo", ("Ctrl+Z",)),
    ActionSpec("redo_edit", "Mark", "Redo", ("Ctrl+Shift+Z",)),
    ActionSpec("make_mark", "Mark", "Mark the selection, or edit the chosen mark", ("Return", "Enter")),
    ActionSpec("mark_again", "Mark", "Mark with the type used last", ("M",)),
    ActionSpec("choose_type", "Mark", "All types of marks…", ("Shift+M",)),
    *(
        ActionSpec(term_action(term.name), "Mark", _term_text(term), (term.key,), submenu="Mark at the cursor")
        for term in score_vocabulary().terms
        if term.key
    ),
    ActionSpec(
        "seizure_offset", "Mark", "Mark: end of a Seizure at the cursor", ("Shift+I",), submenu="Mark at the cursor"
    ),
    ActionSpec("delete_mark", "Mark", "Delete the chosen mark", ("Del",)),
    ActionSpec("cursor_on", "Mark", "Cursor on", (".",), submenu=_BY_KEYS),
    ActionSpec("cursor_back", "Mark", "Cursor back", (",",), submenu=_BY_KEYS),
    ActionSpec("cursor_on_fine", "Mark", "Cursor a pixel on", ("Ctrl+.",), submenu=_BY_KEYS),
    ActionSpec("cursor_back_fine", "Mark", "Cursor a pixel back", ("Ctrl+,",), submenu=_BY_KEYS),
    ActionSpec("select_on", "Mark", "Select on from the cursor", ("Shift+Right",), submenu=_BY_KEYS),
    ActionSpec("select_back", "Mark", "Select back from the cursor", ("Shift+Left",), submenu=_BY_KEYS),
    ActionSpec("select_row_below", "Mark", "Select the row below too", ("Ctrl+Shift+Down",), submenu=_BY_KEYS),
    ActionSpec("select_row_above", "Mark", "Select the row above too", ("Ctrl+Shift+Up",), submenu=_BY_KEYS),
    ActionSpec("caliper", "Measure", "Caliper in place of selecting", ("C",), checkable=True),
    ActionSpec("caliper_end", "Measure", "Put an end of the caliper at the cursor", ("Shift+C",)),
    ActionSpec("pin_cursor", "Measure", "Pin the cursor, with every row's value", ("V",)),
    ActionSpec("show_topography", "Measure", "Topography of the scalp"),
    ActionSpec("show_spectrum", "Measure", "Spectrum and band powers"),
    ActionSpec("show_spectrogram", "Measure", "Spectrogram"),
    ActionSpec("copy_values", "Measure", "Copy the inspector's values", ("Ctrl+Shift+C",)),
    ActionSpec("pop_out_inspector", "Measure", "Inspector in a window of its own, or back"),
    ActionSpec("load_checkpoint", "Model", "Load a checkpoint…", ("Ctrl+L",)),
    ActionSpec("run", "Model", "Run the model", ("R",)),
    ActionSpec("cancel", "Model", "Let the selection or mark go, else cancel the job", ("Esc",)),
    ActionSpec("analyse", "Model", "Look into the model", ("Shift+R",)),
    ActionSpec("run_analysis", "Model", "Compute the analysis on show", ("Ctrl+Return",)),
    ActionSpec("save_analysis_figure", "Model", "Save the analysis as a figure…"),
    ActionSpec("save_analysis_numbers", "Model", "Save the numbers of the analysis…"),
    ActionSpec("event_rules", "Model", "How events are made…"),
    ActionSpec("own_events", "Model", "Threshold and rule of the model itself"),
    ActionSpec("find_command", "Help", "Find a command…", ("Ctrl+Shift+P",)),
    ActionSpec("reset_view", "View", "Reset the view", ("Ctrl+0",)),
    ActionSpec("reset_settings", "View", "Reset all settings…"),
    ActionSpec("help", "Help", "Keys and conventions", ("F1",)),
    ActionSpec("tour", "Help", "Tour of the overlays"),
    ActionSpec("about", "Help", "About Cerebroscope"),
)
MENUS = ("File", "Go", "View", "Mark", "Review", "Measure", "Model", "Help")


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
    KeyRow("Mouse and held keys", "Ctrl+wheel", "Less or more time about the mouse; over the trends, another span"),
    KeyRow("Mouse and held keys", "Ctrl+Shift+wheel", "Taller or flatter traces"),
    KeyRow("Mouse and held keys", "Drag in the overview", "Move the page; at its edges, make it longer or shorter"),
    KeyRow("Mouse and held keys", "Click in the trends", "Show the page at that time"),
    KeyRow("Mouse and held keys", "Drag on the traces", "Select a span, to mark or measure it"),
    KeyRow("Mouse and held keys", "Shift+drag", "Select a span of the rows under it only"),
    KeyRow("Mouse and held keys", "Click on an edge or name", "Choose a mark; again: the next one there"),
    KeyRow("Mouse and held keys", "Drag an end of the chosen mark", "Move that end"),
    KeyRow("Mouse and held keys", "Drag the grip, or Alt+drag", "Move the whole mark"),
    KeyRow("Mouse and held keys", "Double click on a mark", "Edit it"),
    KeyRow("Mouse and held keys", "Drag with the right button", "Caliper on that row; with Shift it snaps to peaks"),
    KeyRow("Mouse and held keys", "Wheel over a name", "That row taller or flatter; with Ctrl as the page has it"),
)


def build_actions(window: QMainWindow, handlers: Mapping[str, Callable[[], None]]) -> dict[str, QAction]:
    """Make one QAction per row of ACTIONS and fill the menu bar; KeyError when a row has no handler."""
    bar = window.menuBar()
    assert bar is not None
    menus: dict[str, QMenu] = {}
    for title in [title for title in MENUS if any(spec.menu == title for spec in ACTIONS)]:
        menus[title] = QMenu(f"&{title}", bar)  # not by addMenu(title): PyQt must hear of it when it goes
        bar.addMenu(menus[title])
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
        menus[name] = QMenu(spec.submenu, menus[spec.menu])
        menus[spec.menu].addMenu(menus[name])
    return menus[name]


def fill_recent(menu: QMenu, paths: Sequence[str], open_path: Callable[[str], None]) -> None:
    """List the recordings opened last, by name, with the whole path as tip."""
    menu.clear()
    menu.setToolTipsVisible(True)
    for path in paths:
        action = QAction(Path(path).name, menu)  # of our own, so that PyQt hears when it goes
        action.triggered.connect(lambda _checked=False, chosen=path: open_path(chosen))
        action.setToolTip(path)
        menu.addAction(action)
    menu.setEnabled(bool(paths))


def key_table() -> list[KeyRow]:
    """The keys and gestures and what they do, for the help window, in the order of the menus."""
    return [*(KeyRow(spec.menu, "  ".join(spec.keys), spec.text) for spec in ACTIONS if spec.keys), *GESTURES]
