"""Saving marks: what changed since the last time, what of it is saved, in which format and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PyQt6.QtCore import QAbstractTableModel, QModelIndex, Qt, QTimer, pyqtSignal
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from analysis.annotation import Annotation
from analysis.review.change_list import KIND_WORDS, KINDS, ChangeList, Kind
from analysis.review.mark_files import CATEGORIES, COPIES, Category, category_of, is_same_file
from analysis.review.table_update import TableContents
from analysis.time_words import elapsed
from app.panel import label, set_role
from viewers.theme import Theme, px

_SIZE = (860, 640)
_PATH_PAUSE_MS = 250
_KIND_COLOURS: Mapping[Kind, str] = {
    "added": "good",
    "changed": "caution",
    "accepted": "good",
    "rejected": "bad",
    "undecided": "caution",
    "removed": "bad",
}
_COLUMNS = ("Time", "What was done", "Mark", "Details")
FORMATS = (
    (".tsv", "Events table for BIDS and SzCORE (.tsv)"),
    (".csv", "Events table with commas (.csv)"),
    (".edf", "Copy of the recording with the marks in it, EDF+ (.edf)"),
    (".bdf", "Copy of the recording with the marks in it, BDF+ (.bdf)"),
)


@dataclass(frozen=True)
class Offer:
    """What there is to save: marks in the book, a model's events that nobody has decided on, and where to begin.

    `source` is the recording.
    """

    marks: Sequence[Annotation]
    undecided: Sequence[Annotation]
    path: Path
    source: Path


class ChangeModel(QAbstractTableModel):
    """Lines of a list of changes, of which a search leaves some."""

    def __init__(self, colours: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._colours = colours
        self._changes = ChangeList()
        self._shown: list[int] = []

    def show(self, changes: ChangeList, shown: list[int]) -> None:
        """Show some lines of a list."""
        self.beginResetModel()
        self._changes, self._shown = changes, shown
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | None = None) -> int:
        """One row a change."""
        return 0 if parent is not None and parent.isValid() else len(self._shown)

    def columnCount(self, parent: QModelIndex | None = None) -> int:
        """Time, kind, mark and details."""
        return len(_COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """The names of the columns."""
        is_name = orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole
        return _COLUMNS[section] if is_name else None

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Text, colour and tool tip of a cell."""
        line = self._changes.lines[self._shown[index.row()]]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            if role == Qt.ItemDataRole.ToolTipRole and index.column() != 3:
                return None
            return (
                elapsed(line.mark.onset, 2),
                KIND_WORDS[line.kind],
                line.mark.title or "mark without text",
                line.details(_time),
            )[index.column()]
        if role == Qt.ItemDataRole.ForegroundRole and index.column() == 1:
            return self._colours.colour(_KIND_COLOURS[line.kind])
        return None


class _Changes(QWidget):
    """The list of changes with a search and a button for each kind."""

    def __init__(self, colours: Theme) -> None:
        super().__init__()
        self._changes = ChangeList()
        self.model = ChangeModel(colours, self)
        self.summary = label("working out what changed…", "muted", wrap=True)
        self.search = QLineEdit()
        self.search.setPlaceholderText("Find in the changes")
        self.search.setAccessibleName("Find in the changes")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self.kinds: dict[Kind, QPushButton] = {}
        row = QHBoxLayout()
        row.addWidget(self.search, 1)
        for kind in KINDS:
            button = QPushButton()
            button.setCheckable(True)
            button.setChecked(True)
            button.setVisible(False)
            button.toggled.connect(self._filter)
            self.kinds[kind] = button
            row.addWidget(button)
        self.table = self._make_table()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.summary)
        column.addLayout(row)
        column.addWidget(self.table, 1)

    def _make_table(self) -> QTableView:
        table = QTableView()
        table.setModel(self.model)
        table.setAccessibleName("Changes since the last save")
        table.setShowGrid(False)
        table.setAlternatingRowColors(True)
        table.setWordWrap(False)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setTabKeyNavigation(False)
        rows, columns = table.verticalHeader(), table.horizontalHeader()
        assert rows is not None
        assert columns is not None
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)  # no visit to each of very many rows
        rows.setDefaultSectionSize(self.fontMetrics().height() + round(px(7)))
        for place, width in enumerate((84, 126, 150)):
            table.setColumnWidth(place, round(px(width)))
        columns.setStretchLastSection(True)
        columns.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        return table

    def show_changes(self, changes: ChangeList, since: str) -> None:
        """Show what changed; `since` says since when."""
        self._changes = changes
        count = "1 change" if len(changes) == 1 else f"{len(changes):,} changes"
        self.summary.setText(f"{count} {since}: {changes.summary()}" if len(changes) else f"Nothing changed {since}")
        set_role(self.summary, "strong" if len(changes) else "muted")
        for kind, button in self.kinds.items():
            button.setText(f"{KIND_WORDS[kind]} {changes.counts[kind]:,}")
            button.setToolTip(f"Show what was {KIND_WORDS[kind]}")
            button.setVisible(bool(changes.counts[kind]))
        self._filter()

    def _filter(self) -> None:
        kinds = [kind for kind, button in self.kinds.items() if button.isChecked()]
        self.model.show(self._changes, self._changes.find(self.search.text(), kinds))


class SaveMarksDialog(QDialog):
    """Asks what to save and where; `asked_about` tells of a path whose file should be looked at."""

    asked_about = pyqtSignal()

    def __init__(self, offer: Offer, colours: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Save marks")
        self.resize(*(round(px(length)) for length in _SIZE))
        self._offer = offer
        self.changes = _Changes(colours)
        self.categories = self._make_categories()
        self.format = QComboBox()
        self.format.setAccessibleName("Format")
        for ending, text in FORMATS:
            self.format.addItem(text, ending)
        self.path = QLineEdit(str(offer.path))
        self.path.setAccessibleName("File to save to")
        self.browse = QPushButton("Choose…")
        self.browse.setToolTip("Choose the file")
        self.remark = label("", "muted", wrap=True)
        self.strangers = QCheckBox()
        self.strangers.setChecked(True)
        self.strangers.hide()
        self.anonymize = QCheckBox("Leave out the patient's fields, the date and the time of day")
        self.anonymize.hide()
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel)
        self._save().setProperty("accent", True)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PATH_PAUSE_MS)
        self._lay_out()
        self._connect()
        self._on_path()
        self._save().setFocus()

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Enter saves, but not out of the search."""
        is_enter = event is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if not (is_enter and self.focusWidget() is self.changes.search):
            super().keyPressEvent(event)

    def _make_categories(self) -> dict[Category, QCheckBox]:
        counts = dict.fromkeys(CATEGORIES, 0)
        for mark in self._offer.marks:
            counts[category_of(mark)] += 1
        counts["undecided"] += len(self._offer.undecided)
        # A reader who has marked nothing wants what the model found.
        has_own = any(counts[category] for category in ("own", "accepted", "changed", "rejected"))
        boxes: dict[Category, QCheckBox] = {}
        for category, text in CATEGORIES.items():
            box = QCheckBox(f"{text} ({counts[category]:,})")
            box.setEnabled(bool(counts[category]))
            box.setChecked(bool(counts[category]) and (category != "undecided" or not has_own))
            box.toggled.connect(self._on_path)
            boxes[category] = box
        return boxes

    def _lay_out(self) -> None:
        what = QGridLayout()
        for i, box in enumerate(self.categories.values()):
            what.addWidget(box, i // 2, i % 2)
        where = QHBoxLayout()
        where.addWidget(self.path, 1)
        where.addWidget(self.browse)
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.addRow("Save", what)
        form.addRow("As", self.format)
        form.addRow("In", where)
        form.addRow("", self.remark)
        form.addRow("", self.strangers)
        form.addRow("", self.anonymize)
        column = QVBoxLayout(self)
        column.addWidget(self.changes, 1)
        column.addLayout(form)
        column.addWidget(self.buttons)

    def _connect(self) -> None:
        self.format.currentIndexChanged.connect(self._on_format)
        self.path.textChanged.connect(self._on_path)
        self.browse.clicked.connect(self._choose)
        self._pause.timeout.connect(self.asked_about)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)

    # What is asked for

    def target(self) -> Path:
        """The file to save to."""
        return Path(self.path.text().strip()).expanduser()

    def chosen(self) -> frozenset[Category]:
        """The categories that are ticked."""
        return frozenset(category for category, box in self.categories.items() if box.isChecked())

    def marks(self) -> tuple[Annotation, ...]:
        """The marks that are to be saved."""
        chosen = self.chosen()
        booked = tuple(mark for mark in self._offer.marks if category_of(mark) in chosen)
        return (*booked, *self._offer.undecided) if "undecided" in chosen else booked

    # What is told

    def show_changes(self, changes: ChangeList, since: str) -> None:
        """Show what changed; `since` says since when."""
        self.changes.show_changes(changes, since)

    def show_existing(self, contents: TableContents | None) -> None:
        """Say what becomes of the file that exists, of which `contents` tells where it is a table of events."""
        self._save().setEnabled(True)
        if contents is None:
            what = "is no table of events" if self.target().suffix.lower() not in COPIES else "exists"
            self._say(f"This file {what}: it will be replaced, and kept beside it as a backup (.bak).", "warning")
            self._save().setText("Replace")
            return
        strangers = contents.strangers
        rows = "a row that is" if strangers == 1 else f"{strangers:,} rows that are"
        what = "This table exists" + (f" and holds {rows} not among these marks" if strangers else "")
        told = ["Its columns and their order are kept"]
        if contents.kept:
            told.append("1 row stays as it is" if contents.kept == 1 else f"{contents.kept:,} rows stay as they are")
        if contents.outdated:
            told.append(f"{contents.outdated:,} that changed here {'goes' if contents.outdated == 1 else 'go'}")
        self._say(f"{what}. {', '.join(told)}; a backup (.bak) is kept.", "warning" if strangers else "muted")
        self.strangers.setVisible(bool(strangers))
        self.strangers.setText(f"Keep {rows.replace('a row', 'the row')} not among these marks")

    def _say(self, text: str, role: str) -> None:
        self.remark.setText(text)
        set_role(self.remark, role)

    def _save(self) -> QPushButton:
        button = self.buttons.button(QDialogButtonBox.StandardButton.Save)
        assert button is not None
        return button

    def _on_format(self) -> None:
        ending = self.format.currentData()
        path = self.target()
        if path.suffix.lower() != ending:
            stem = path.stem if path.suffix.lower() in dict(FORMATS) else path.name
            if ending in COPIES and stem == f"{self._offer.source.stem}_events":
                stem = f"{self._offer.source.stem}_marked"
            elif ending not in COPIES and stem == f"{self._offer.source.stem}_marked":
                stem = f"{self._offer.source.stem}_events"
            self.path.setText(str(path.with_name(f"{stem}{ending}")))

    def _on_path(self) -> None:
        """Say what can be said without a look at the file, and ask for one soon."""
        path = self.target()
        ending = path.suffix.lower()
        place = self.format.findData(ending)
        if place >= 0:
            self.format.setCurrentIndex(place)
        self.anonymize.setVisible(ending in COPIES)
        self.strangers.hide()
        self._save().setText("Save")
        self._pause.stop()
        fault = self._fault(path, place >= 0)
        self._say(fault or ("" if path.exists() else self._of_new_file(ending)), "bad" if fault else "muted")
        waits = not fault and path.is_file()  # for what is in the file
        self._save().setEnabled(not fault and not waits)
        if waits:
            self._pause.start()

    def _fault(self, path: Path, known: bool) -> str:
        if is_same_file(path, self._offer.source):
            return "This is the recording itself, which is never written: choose another name."
        if path.is_dir() or not self.path.text().strip():
            return "Name a file."
        if not known:
            return "Let the name end in .tsv, .csv, .edf or .bdf."
        if not path.absolute().parent.is_dir():
            return f"There is no folder {path.absolute().parent}."
        return "" if self.chosen() else "Tick what is to be saved."

    @staticmethod
    def _of_new_file(ending: str) -> str:
        if ending in COPIES:
            return (
                "A copy of the whole recording. It holds times, texts and channels of marks; reviews, comments and "
                "what was rejected are left out."
            )
        return "With all that marks say." + (" A .json beside it describes the columns." if ending == ".tsv" else "")

    def _choose(self) -> None:
        filters = ";;".join(f"{text.partition(' (')[0]} (*{ending})" for ending, text in FORMATS)
        path, chosen = QFileDialog.getSaveFileName(
            self,
            "Save marks",
            str(self.target()),
            filters,
            filters.split(";;")[max(self.format.currentIndex(), 0)],
            QFileDialog.Option.DontConfirmOverwrite,  # the dialog says what becomes of a file that exists
        )
        if path and Path(path).suffix.lower() not in dict(FORMATS):
            path += chosen.rpartition("*")[2].rstrip(")")
        if path:
            self.path.setText(path)


def _time(seconds: float) -> str:
    return elapsed(seconds, 2)
