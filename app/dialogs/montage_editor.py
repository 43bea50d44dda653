"""The editor of the reader's own montages: rows, names, import and export."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

from PyQt6.QtCore import QSignalBlocker, pyqtSignal
from PyQt6.QtGui import QColor, QPalette
from PyQt6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QMessageBox,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from analysis.errors import AnalysisError
from analysis.montage import build_montage, default_montage
from analysis.montages.custom import CustomMontage, custom_from, known_electrodes
from analysis.montages.own import OwnMontages, read_montage, write_montage
from analysis.montages.sources import Sources
from app.dialogs.montage_table import RowTable
from app.errors import describe_error
from app.montage_entries import MontageEntry
from app.panel import label, set_role
from app.session import Session
from viewers import theme

_FILES = "Montages (*.json);;All files (*)"
_SIZE = 900, 620
_NEW_NAME = "My montage"


class MontageEditor(QDialog):
    """Shows one montage at a time; what is saved can be chosen like any other, `changed` tells that there is news."""

    changed = pyqtSignal()

    def __init__(
        self,
        session: Session,
        own: OwnMontages,
        entries: Sequence[MontageEntry],
        folder: str,
        parent: QWidget | None = None,
    ) -> None:
        """`entries` are the montages that a new one can start from, `folder` where files are looked for first."""
        super().__init__(parent)
        self.setWindowTitle("Montages of your own")
        self.resize(*_SIZE)
        self._session = session
        self._own = own
        self._entries = entries
        self._folder = folder
        self._saved_as: str | None = None  # the name under which what is shown is kept
        self._is_changed = False
        self._sources = self._find_sources()
        self.rows = RowTable(self._sources, self._known(), self._caution())
        self.rows.changed.connect(self._on_edit)
        self.name = QLineEdit()
        self.name.setAccessibleName("Name of the montage")
        self.name.setPlaceholderText("Name")
        self.name.textEdited.connect(self._on_edit)
        self.state = label("", "muted", wrap=True)
        columns = QHBoxLayout(self)
        columns.addLayout(self._make_list())
        columns.addLayout(self._make_page(), 1)
        self._fill_list()
        if own.montages():
            self.list.setCurrentRow(0)
        else:
            self.start_empty()

    def take_entries(self, entries: Sequence[MontageEntry]) -> None:
        """Go on with the recording that is open now and its montages; what is being edited stays."""
        self._entries = entries
        if self._sources is None or self._sources.recording is not self._session.recording:
            self._sources = self._find_sources()
            self.rows.set_sources(self._sources, self._known())

    def _find_sources(self) -> Sources | None:
        return Sources(self._session.recording) if self._session.recording is not None else None

    def _known(self) -> list[str]:
        return known_electrodes(self._sources) if self._sources is not None else []

    def _caution(self) -> QColor:
        is_dark = self.palette().color(QPalette.ColorRole.Window).lightness() < 128
        return theme.theme("dark" if is_dark else "light").colour("caution")

    def _make_list(self) -> QVBoxLayout:
        column = QVBoxLayout()
        self.list = QListWidget()
        self.list.setAccessibleName("Montages of your own")
        self.list.setMaximumWidth(200)
        self.list.currentItemChanged.connect(self._on_chosen)
        column.addWidget(self.list, 1)
        new = QPushButton("New from")
        self._starts = QMenu(self)
        self._starts.aboutToShow.connect(self._fill_starts)
        self._fill_starts()
        new.setMenu(self._starts)
        column.addWidget(new)
        for text, handler in (("Import…", self.load), ("Export…", self.export), ("Delete…", self.delete)):
            button = QPushButton(text)
            button.setAutoDefault(False)
            button.clicked.connect(handler)
            column.addWidget(button)
        return column

    def _fill_starts(self) -> None:
        menu = self._starts
        menu.clear()
        menu.addAction("An empty montage", self.start_empty)
        menu.addSeparator()
        for entry in self._entries:
            if not entry.refusal and not entry.title.endswith("…"):
                menu.addAction(entry.title, partial(self.start_from, entry.name))

    def _make_page(self) -> QVBoxLayout:
        column = QVBoxLayout()
        line = QHBoxLayout()
        line.addWidget(label("Name", "muted"))
        line.addWidget(self.name, 1)
        column.addLayout(line)
        text = (
            "Input 2 may be one electrode, several with commas (their mean), “average” or nothing. "
            "An empty label shows the electrodes' names. ECG, eyes, muscle and breath follow by themselves."
        )
        column.addWidget(label(text, "muted", wrap=True))
        column.addWidget(self.rows, 1)
        column.addWidget(self.state)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        for text, handler in (("Save", self.save), ("Save and show", self.show_it), ("Close", self.close)):
            button = QPushButton(text)
            button.setAutoDefault(False)
            button.clicked.connect(handler)
            buttons.addWidget(button)
        column.addLayout(buttons)
        return column

    # Which montage is edited

    def start_empty(self) -> None:
        """Begin a montage without rows."""
        if self._may_leave():
            self._edit(CustomMontage(self._free_name(_NEW_NAME), ()), None)

    def start_from(self, name: str) -> None:
        """Begin with the rows of another montage, as the open recording shows it."""
        if self._sources is None or not self._may_leave():
            return
        montage = build_montage(name, self._sources.recording, options=self._session.montage_options)
        self._edit(custom_from(montage, self._sources, self._free_name(f"{name}, mine")), None)
        self._is_changed = True

    def load(self) -> None:
        """Take a montage from a file that the reader chooses."""
        path, _ = QFileDialog.getOpenFileName(self, "Import a montage", self._folder, _FILES)
        if not path or not self._may_leave():
            return
        try:
            montage = read_montage(Path(path))
        except AnalysisError as error:
            self._say(str(error), "bad")
            return
        self._edit(replace(montage, name=self._free_name(montage.name)), None)
        self._is_changed = True

    def _edit(self, montage: CustomMontage, saved_as: str | None) -> None:
        self._saved_as, self._is_changed = saved_as, False
        self.name.setText(montage.name)
        self.rows.set_blocks(montage.blocks)
        self._say("" if saved_as else "not saved yet")
        if saved_as is None:
            with QSignalBlocker(self.list):
                self.list.setCurrentItem(None)

    def _on_chosen(self, item: QListWidgetItem | None, before: QListWidgetItem | None) -> None:
        if item is None:
            return
        montage = self._own.get(item.text())
        if montage is not None and self._may_leave():
            self._edit(montage, montage.name)
        else:
            with QSignalBlocker(self.list):
                self.list.setCurrentItem(before)

    def _on_edit(self) -> None:
        self._is_changed = True
        self._say("changed, not saved yet")

    def _free_name(self, wanted: str) -> str:
        numbers = count(2)
        name = wanted
        while self._own.name_fault(name) and len(name) < len(wanted) + 4:
            name = f"{wanted} {next(numbers)}"
        return name

    def _fill_list(self) -> None:
        with QSignalBlocker(self.list):
            self.list.clear()
            for montage in self._own.montages():
                item = QListWidgetItem(montage.name, self.list)
                if montage.name == self._saved_as:
                    self.list.setCurrentItem(item)

    # What is done with it

    def montage(self) -> CustomMontage:
        """What is being edited."""
        return CustomMontage(self.name.text().strip(), self.rows.blocks())

    def save(self) -> bool:
        """Keep the montage under its name; False, and a sentence, where that cannot be."""
        montage, before = self.montage(), self._saved_as
        fault = self.rows.fault()
        try:
            if fault:
                raise AnalysisError(fault)
            self._own.save(montage, before)
        except (AnalysisError, OSError) as error:
            self._say(describe_error(error)[0], "bad")
            return False
        self._saved_as, self._is_changed = montage.name, False
        self._fill_list()
        self._follow_name(before, montage)
        self.changed.emit()
        self._say(f"saved {montage.name}")
        return True

    def _follow_name(self, before: str | None, montage: CustomMontage) -> None:
        """Keep showing a montage that is on the traces while it is given another name."""
        if before is not None and before != montage.name and self._session.view.montage == before:
            options = self._session.montage_options
            self._session.set_montage_options(replace(options, own=(*options.own, montage)))
            self._session.change_view(montage=montage.name)

    def show_it(self) -> None:
        """Save the montage and draw it."""
        if self.save():
            self._session.change_view(montage=self.name.text().strip())
            refusal = self._session.refusal_of(self.name.text().strip())
            if refusal:
                self._say(refusal, "bad")

    def export(self) -> None:
        """Write what is shown to a file that the reader chooses."""
        montage = self.montage()
        fault = self.rows.fault() or ("" if montage.name else "the montage has no name yet: give it one")
        if fault:
            self._say(fault, "bad")
            return
        suggestion = str(Path(self._folder) / f"{montage.name.replace('/', '-')}.json")
        path, _ = QFileDialog.getSaveFileName(self, "Export the montage", suggestion, _FILES)
        if not path:
            return
        try:
            write_montage(montage, Path(path))
        except OSError as error:
            self._say(describe_error(error)[0], "bad")
        else:
            self._say(f"written to {path}")

    def delete(self) -> None:
        """Forget the montage that is shown, once the reader has agreed."""
        name = self._saved_as
        if name is None:
            self.start_empty()
            return
        question = f"Delete the montage {name}? Its file is removed."
        if QMessageBox.question(self, "Delete a montage", question) != QMessageBox.StandardButton.Yes:
            return
        try:
            self._own.delete(name)
        except OSError as error:
            self._say(describe_error(error)[0], "bad")
            return
        recording = self._session.recording
        if recording is not None and self._session.view.montage == name:
            self._session.change_view(montage=default_montage(recording))
        self._saved_as, self._is_changed = None, False
        self._fill_list()
        self.changed.emit()
        self.start_empty()

    def _may_leave(self) -> bool:
        """Whether what is shown may be replaced: saved, or thrown away with the reader's consent."""
        if not self._is_changed:
            return True
        buttons = QMessageBox.StandardButton
        question = f"Save the changes of {self.name.text() or 'this montage'}?"
        answer = QMessageBox.question(
            self, "Montages of your own", question, buttons.Save | buttons.Discard | buttons.Cancel, buttons.Save
        )
        if answer == buttons.Save:
            return self.save()
        return answer == buttons.Discard

    def reject(self) -> None:
        """Close, by whatever way, but ask before changes are lost."""
        if self._may_leave():
            super().reject()

    def _say(self, text: str, role: str = "muted") -> None:
        self.state.setText(text)
        set_role(self.state, role)
