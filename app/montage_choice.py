"""Choosing a montage by key, menu and toolbar, what belongs to it (sides, reference, bad channels), and its editor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PyQt6.QtCore import QObject, QPoint, Qt, pyqtSignal
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QComboBox, QInputDialog, QMenu, QWidget

from analysis.montage import (
    REFERENCE,
    Derivation,
    Montage,
    MontageOptions,
    build_montage,
    reference_choices,
    reference_name,
)
from analysis.montages.own import OwnMontages
from analysis.montages.sources import Sources
from app.asking import ask
from app.dialogs.bad_channels import BadChannelsDialog
from app.dialogs.montage_editor import MontageEditor
from app.montage_entries import KEYS, MontageEntry, entries_for
from app.session import Session, View
from app.settings import Settings
from viewers.recording_view import RecordingView
from viewers.rows import electrodes

_PREFIX = reference_name("")


class MontageChoice(QObject):
    """Keeps the list of montages that suit the open recording, and does what the reader asks of them."""

    listed = pyqtSignal(object)  # list of MontageEntry
    edited = pyqtSignal()  # the reader's own montages are others now
    complained = pyqtSignal(str)
    told = pyqtSignal(str, str)  # text and role, for the status line

    def __init__(
        self, session: Session, view: RecordingView, own: OwnMontages, settings: Settings, window: QWidget
    ) -> None:
        super().__init__(window)
        self._session = session
        self._view = view
        self._own = own
        self._settings = settings
        self._window = window
        self._reference: str | None = None
        self._actions: Mapping[str, QAction] = {}
        self._menu: QMenu | None = None
        self.entries: list[MontageEntry] = []
        session.opened.connect(self._on_opened)
        session.view_changed.connect(self._on_view)
        view.row_menu_requested.connect(self.show_row_menu)
        self._take_options()

    def handlers(self) -> dict[str, Callable[[], None]]:
        """What the actions of montages do."""
        return {
            **{f"montage_{number}": partial(self.choose, number) for number in range(1, KEYS + 1)},
            "right_first": self._on_right_first,
            "choose_reference": self.choose_reference,
            "montage_editor": self.edit,
            "bad_channels": self.choose_bad_channels,
            "toggle_bad": self.toggle_bad_row,
            "hide_bad": self._on_hide_bad,
        }

    def attach(self, actions: Mapping[str, QAction]) -> None:
        """Take the actions, and the menu they stand in, which lists every montage from now on."""
        self._actions = actions
        menus = [holder for holder in actions["montage_1"].associatedObjects() if isinstance(holder, QMenu)]
        self._menu = menus[0]
        self._menu.setToolTipsVisible(True)
        self.refresh()

    def complain(self) -> None:
        """Tell, once, which files of montages could not be read."""
        complaints, self._own.complaints = self._own.complaints, []
        for complaint in complaints:
            self.complained.emit(complaint)

    # The list

    def refresh(self) -> None:
        """Make the list anew, for the recording and the reader's own montages as they are now."""
        self._take_options()
        recording = self._session.recording
        own = tuple(montage.name for montage in self._own.montages())
        if recording is None:
            self.entries = []
        else:
            self.entries = entries_for(recording, own, self._reference, self._session.refusal_of)
        self._name_keys()
        self._fill_menu()
        self.listed.emit(self.entries)

    def _take_options(self) -> None:
        settings = self._settings
        options = MontageOptions(settings.right_first, self._own.montages(), settings.bad_hidden)
        self._session.set_montage_options(options)

    def _on_opened(self, _recording: object) -> None:
        name = self._session.view.montage
        self._reference = name.removeprefix(_PREFIX) if name.startswith(_PREFIX) else None
        self.refresh()

    def _on_view(self, view: View, before: View) -> None:
        if view.montage != before.montage:
            if view.montage.startswith(_PREFIX) and view.montage != reference_name(self._reference or ""):
                self._reference = view.montage.removeprefix(_PREFIX)
                self.refresh()
            self._check_current()

    def _name_keys(self) -> None:
        """Let the number keys say in the help, the search and the menus what they do here."""
        if not self._actions:
            return
        self._actions["right_first"].setChecked(self._settings.right_first)
        self._actions["hide_bad"].setChecked(self._settings.bad_hidden)
        for number in range(1, KEYS + 1):
            action = self._actions[f"montage_{number}"]
            entry = self.entries[number - 1] if number <= len(self.entries) else None
            action.setText(f"Montage: {entry.title}" if entry else f"Montage {number}")

    def _fill_menu(self) -> None:
        menu = self._menu
        if menu is None:
            return
        menu.clear()
        for entry in self.entries:
            if entry.starts_group:
                menu.addSeparator()
            action = QAction(entry.text, menu)
            action.setData(entry.name)
            action.setCheckable(True)
            action.setEnabled(not entry.refusal)
            action.setToolTip(entry.refusal or entry.title)
            action.triggered.connect(partial(self.choose_name, entry.name))
            menu.addAction(action)
        menu.addSeparator()
        for name in ("choose_reference", "right_first", "montage_editor", "bad_channels", "toggle_bad", "hide_bad"):
            menu.addAction(self._actions[name])
        self._check_current()

    def _check_current(self) -> None:
        for action in self._menu.actions() if self._menu is not None else ():
            if action.data() is not None:
                action.setChecked(action.data() == self._session.view.montage)

    # What the reader asks for

    def choose(self, number: int) -> None:
        """Show the montage of a number key; one that cannot be derived is refused in words."""
        if number <= len(self.entries):
            self.choose_name(self.entries[number - 1].name)
        elif self._session.recording is None:
            self._session.refused.emit("open a recording first")
        else:
            last = f"1 to {len(self.entries)}" if len(self.entries) > 1 else "1"
            self._session.refused.emit(f"key {number} has no montage here: this recording has {last}")

    def derivable(self) -> list[tuple[str, Montage]]:
        """The montages of the list other than the one in force that can be derived, each by its short title and key."""
        session, found = self._session, []
        for entry in self.entries if session.recording is not None else ():
            if entry.name not in (REFERENCE, session.view.montage) and not entry.refusal:
                made = build_montage(entry.name, session.recording, session.bad_channels, session.montage_options)
                found.append((f"{entry.short} ({entry.key})" if entry.key else entry.short, made))
        return found

    def choose_name(self, name: str, _checked: bool = False) -> None:
        """Show a montage of the list."""
        if name == REFERENCE:
            self.choose_reference()
        else:
            self._session.change_view(montage=name)
        self._check_current()

    def choose_reference(self) -> None:
        """Ask for the channel that is taken from all others of its kind, and show them so."""
        recording = self._session.recording
        if recording is None:
            return
        choices = reference_choices(Sources(recording))
        if not choices:
            self._session.refused.emit("no channel of this recording holds the potential of one place")
            return
        current = choices.index(self._reference) if self._reference in choices else 0
        text = "Take this channel from all others of its kind:"
        dialog = QInputDialog(self._window)
        dialog.setWindowTitle("Reference")
        dialog.setLabelText(text)
        dialog.setComboBoxItems(choices)
        dialog.setTextValue(choices[current])
        for box in dialog.findChildren(QComboBox):
            box.setAccessibleName("Reference")
        if ask(dialog, self._session):
            self._session.change_view(montage=reference_name(dialog.textValue()))

    def _on_right_first(self) -> None:
        self._settings.right_first = self._actions["right_first"].isChecked()
        self._take_options()

    def edit(self) -> None:
        """Open the editor of the reader's own montages."""
        dialog = MontageEditor(self._session, self._own, self.entries, self._settings.last_folder, self._window)
        dialog.changed.connect(self.edited)
        self.listed.connect(dialog.take_entries)
        dialog.exec()
        dialog.deleteLater()

    # Bad channels

    def choose_bad_channels(self) -> None:
        """Let the reader tick the channels that are bad."""
        recording = self._session.recording
        if recording is None:
            return
        session = self._session
        dialog = BadChannelsDialog(recording.channels, session.bad_channels, session.channel_states, self._window)
        if ask(dialog, session):
            self._take_bad(frozenset(dialog.bad()), "Ctrl+Z takes it back")

    def _on_hide_bad(self) -> None:
        self._settings.bad_hidden = hidden = self._actions["hide_bad"].isChecked()
        self._take_options()
        if not self._session.bad_channels:
            self.told.emit("no channel is marked as bad: B marks one", "muted")
        else:
            self.told.emit("rows of bad channels are " + ("hidden: Shift+B shows them" if hidden else "shown"), "muted")

    def toggle_bad(self, name: str, way_back: str = "Ctrl+Z takes it back") -> None:
        """Mark a channel as bad, or as good again, and say so with the way back."""
        self._take_bad(self._session.bad_channels ^ {name}, way_back)

    def _take_bad(self, bad: frozenset[str], way_back: str) -> None:
        session = self._session
        if bad != session.bad_channels:
            step = session.keeper.add_bad_step(session.bad_channels, bad)
            # First: a montage that cannot be derived any more is said after it.
            self.told.emit(f"marked {step.what}: {way_back}", "muted")
            session.set_bad_channels(bad)

    def toggle_bad_row(self) -> None:
        """Mark the first channel of the chosen row, or the one under the cursor, as bad or as good again.

        Where the montage has no row for the channel that was chosen, the row under the cursor waits for a second key.
        """
        traces = self._view.trace_view
        rows, gutter = traces.rows, traces.gutter
        row = gutter.chosen if gutter.chosen is not None else gutter.hovered
        if rows is None or row is None or row >= len(rows):
            self._session.refused.emit("choose a row first: point at it, click its name, or press Alt+Down")
            return
        name, lost = rows.montage.derivations[row].anode, traces.lost_channel
        if gutter.chosen is None and lost:
            traces.lost_channel = ""
            self._session.refused.emit(f"{lost} begins no row of this montage: B again takes {name}, under the cursor")
            return
        again = "bad again" if name in self._session.bad_channels else "good again"
        self.toggle_bad(name, f"B makes it {again}, Ctrl+Z takes it back")

    def show_row_menu(self, row: Derivation, place: QPoint) -> QMenu:
        """Offer what can be done with the channels of a row."""
        menu = QMenu(self._window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        names = electrodes(row)
        for name in names:
            text = f"{name} is good again" if name in self._session.bad_channels else f"Mark {name} as bad"
            menu.addAction(text, partial(self.toggle_bad, name))
        menu.addSeparator()
        for name in names:
            if not self._session.refusal_of(reference_name(name)):
                change = partial(self._session.change_view, montage=reference_name(name))
                menu.addAction(f"Take {name} as the reference", change)
        menu.addSeparator()
        menu.addAction(self._actions["bad_channels"])
        menu.addAction(self._actions["hide_bad"])
        menu.popup(place)
        return menu
