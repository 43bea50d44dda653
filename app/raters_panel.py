"""Two raters side by side: who is compared in what, how far they agree, and a list of what they do not agree on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from PyQt6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt, pyqtSignal
from PyQt6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from analysis.review.raters import SEIZURES, Comparison, Dispute, Overlap
from app.panel import FactRow, label

_STEPS = ((1.0, "seconds"), (0.1, "tenths of a second"))
_MOST_TYPES = 6
_KIND_WORDS = {"start": "start", "end": "end", "inside": "part", "length": "length"}


@dataclass(frozen=True)
class Choice:
    """Who is compared, by the keys of sources; in which type; how finely, and from which difference on, in seconds."""

    a: str
    b: str
    kind: str
    step: float
    tolerance: float


def dispute_words(dispute: Dispute) -> str:
    """Who marked what the other did not."""
    if dispute.kind in ("A only", "B only"):
        return dispute.kind
    return f"{dispute.by}'s {_KIND_WORDS[dispute.kind]}"


class DisputeModel(QAbstractListModel):
    """The disputes of a comparison, a line each."""

    def __init__(self, time_text: Callable[[float], str], parent: QWidget) -> None:
        super().__init__(parent)
        self._time_text = time_text
        self.disputes: Sequence[Dispute] = ()

    def show(self, disputes: Sequence[Dispute]) -> None:
        """List other disputes."""
        self.beginResetModel()
        self.disputes = disputes
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        """Number of disputes."""
        return 0 if parent.isValid() else len(self.disputes)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """A dispute in words."""
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return None
        dispute = self.disputes[index.row()]
        length = f"{dispute.duration:.1f} s" if dispute.duration else "moment"
        return f"{self._time_text(dispute.start)}   {dispute_words(dispute)}, {length}"


class RatersPanel(QWidget):
    """Choices, figures and disputes; emits `choice_changed()`, `dispute_chosen(Dispute)` and `open_requested()`."""

    choice_changed = pyqtSignal()
    dispute_chosen = pyqtSignal(object)
    open_requested = pyqtSignal()

    def __init__(self, time_text: Callable[[float], str]) -> None:
        super().__init__()
        self.a, self.b, self.kind, self._step = QComboBox(), QComboBox(), QComboBox(), QComboBox()
        self._tolerance = QDoubleSpinBox()
        self._open = QPushButton("Open a rater's file…")
        self._open.setToolTip("Events of another rater, to compare with (Ctrl+Shift+O)")
        self._open.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._state = label("", "muted", wrap=True)
        self._rows = {
            name: FactRow(name) for name in ("Cohen κ", "A's events that B has", "B's events that A has", "Event F1")
        }
        self._rows["Both / A only / B only"] = FactRow("Both / A only / B only")
        self._types_heading = FactRow("Each type", "found by the other")
        self._types = [FactRow() for _ in range(_MOST_TYPES)]
        self._count = FactRow("Disputed")
        self.previous, self.next = QPushButton("‹ Before"), QPushButton("Next ›")
        self.model = DisputeModel(time_text, self)
        self.table = QTableView()
        self._make_choices()
        self._make_table()
        self._lay_out()
        self._wanted: dict[QComboBox, str] = {}  # what the reader has chosen, also while it is not there
        self.say("Choose two raters: marks of the recording, your own, those of files opened, or a model's.")

    def _make_choices(self) -> None:
        for box, name in ((self.a, "Rater A"), (self.b, "Rater B"), (self.kind, "Type that is compared")):
            box.setAccessibleName(name)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(8)
            box.activated.connect(self._on_box)
        for box in (self.a, self.b):
            box.setPlaceholderText("nobody else yet")
        for step, words in _STEPS:
            self._step.addItem(words, step)
        self._step.setAccessibleName("Length of a sample of Cohen's kappa")
        self._step.activated.connect(self._on_choice)
        self._tolerance.setRange(0.0, 60.0)
        self._tolerance.setDecimals(1)
        self._tolerance.setSingleStep(0.5)
        self._tolerance.setValue(2.0)
        self._tolerance.setSuffix(" s at the ends")
        self._tolerance.setMinimumHeight(self.a.sizeHint().height())
        self._tolerance.setAccessibleName("Difference from which the ends of events are disputed")
        self._tolerance.setToolTip(
            "Ends of events that differ by more than this are disputed; shorter differences are not"
        )
        self._tolerance.valueChanged.connect(self._on_choice)
        self._open.clicked.connect(self.open_requested)

    def _make_table(self) -> None:
        self.table.setModel(self.model)
        self.table.setShowGrid(False)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.table.setTabKeyNavigation(False)
        self.table.setFrameShape(QTableView.Shape.NoFrame)
        self.table.setMinimumHeight(80)
        self.table.setAccessibleName("Disputed spans")
        for header in (self.table.horizontalHeader(), self.table.verticalHeader()):
            assert header is not None
            header.hide()
        self.table.horizontalHeader().setStretchLastSection(True)
        rows = self.table.verticalHeader()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(self.table.fontMetrics().height() + 6)
        self.table.clicked.connect(lambda index: self.go_to(index.row()))
        for button in (self.previous, self.next):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the keys to the traces
        self.previous.setToolTip("Dispute before (Shift+D)")
        self.next.setToolTip("Next dispute (D)")

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.setContentsMargins(0, 0, 0, 0)
        form.setVerticalSpacing(3)
        for name, widget in (
            ("A", self.a),
            ("B", self.b),
            ("Type", self.kind),
            ("κ over", self._step),
            ("Differ by", self._tolerance),
        ):
            form.addRow(label(name, "muted"), widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        column.addLayout(form)
        column.addWidget(self._open)
        column.addWidget(self._state)
        for row in self._all_rows():
            row.left.setProperty("role", "muted")
            column.addWidget(row)
        self._types_heading.left.setProperty("role", "strong")
        column.addWidget(self.table, 1)
        buttons = QHBoxLayout()
        buttons.addWidget(self.previous)
        buttons.addWidget(self.next)
        column.addLayout(buttons)

    def _all_rows(self) -> tuple[FactRow, ...]:
        return (*self._rows.values(), self._types_heading, *self._types, self._count)

    # Choices

    def set_sources(self, sources: Mapping[str, str], kinds: Sequence[str]) -> None:
        """Offer sources, titles by key, and types of marks; what the reader chose is chosen wherever it is there.

        Else the first source is compared with the next one: sources come one after another while a recording is read,
        and whoever is there first is not the reader's choice.
        """
        wanted_a, wanted_b = (self._wanted.get(box) for box in (self.a, self.b))
        a = wanted_a if wanted_a in sources else next((key for key in sources if key != wanted_b), "")
        b = wanted_b if wanted_b in sources else next((key for key in sources if key != a), "")
        _fill(self.a, sources, a)
        _fill(self.b, sources, b)
        types = {kind: kind or "(no text)" for kind in (SEIZURES, *kinds)}
        wanted = self._wanted.get(self.kind, SEIZURES)
        _fill(self.kind, types, wanted if wanted in types else SEIZURES)

    @property
    def choice(self) -> Choice | None:
        """What is to be compared; None as long as there are no two sources."""
        a, b = self.a.currentData(), self.b.currentData()
        if not a or not b or a == b:
            return None
        return Choice(a, b, self.kind.currentData() or SEIZURES, self._step.currentData(), self._tolerance.value())

    def choose(self, a: str, b: str) -> None:
        """Compare these two sources, by key."""
        for box, key in ((self.a, a), (self.b, b)):
            box.setCurrentIndex(box.findData(key))
            self._wanted[box] = key
        self._on_choice()

    def _on_box(self, _row: int) -> None:
        """Remember both raters: the one that was left as it was is part of what the reader saw and meant."""
        for box in (self.a, self.b, self.kind):
            if box.currentData() is not None:
                self._wanted[box] = box.currentData()
        self._on_choice()

    def _on_choice(self, _value: object = None) -> None:
        self.choice_changed.emit()

    # Figures

    def say(self, text: str) -> None:
        """Show a sentence in place of figures."""
        self._state.setText(text)
        self._state.show()
        for row in self._all_rows():
            row.hide()
        self.model.show(())
        self._enable()

    def show_comparison(self, found: Comparison, types: Mapping[str, Overlap]) -> None:
        """Show how far two raters agree, and how their events meet in each type."""
        self._state.hide()
        both, only_a, only_b, _neither = (number * found.step for number in found.samples)
        overlap = found.overlap
        word = f"  {found.word.lower()}" if found.word else ""
        values = (
            _figure(found.kappa) + word,
            f"{overlap.a_found} of {overlap.n_a}",
            f"{overlap.b_found} of {overlap.n_b}",
            _figure(overlap.f1),
            f"{both:,.0f} / {only_a:,.0f} / {only_b:,.0f} s",
        )
        names = [_kappa_name(found.step), *list(self._rows)[1:]]
        for row, name, value in zip(self._rows.values(), names, values, strict=True):
            row.set(name, value, "muted" if value.startswith("undefined") else "")
            row.setToolTip(found.describe())
            row.show()
        self._show_types(types)
        self._count.set("Disputed", f"{len(found.disputes):,}", "accent" if found.disputes else "good")
        self._count.show()
        self.model.show(found.disputes)
        self._enable()

    def _show_types(self, types: Mapping[str, Overlap]) -> None:
        listed = list(types.items())
        self._types_heading.setVisible(bool(listed))
        for row, entry in zip(self._types, [*listed[:_MOST_TYPES], *[None] * _MOST_TYPES], strict=False):
            row.setVisible(entry is not None)
            if entry is not None:
                name, met = entry
                row.set(name or "(no text)", f"A {met.a_found}/{met.n_a}   B {met.b_found}/{met.n_b}", "")
                both = f"{met.a_found} of A's {met.n_a} are B's too, {met.b_found} of B's {met.n_b} are A's"
                row.setToolTip(f"{name}: {both}")

    def _enable(self) -> None:
        for button in (self.previous, self.next):
            button.setEnabled(bool(self.model.disputes))

    # Disputes

    @property
    def current_row(self) -> int:
        """The row of the current dispute; -1 without one."""
        return self.table.currentIndex().row()

    def go_to(self, row: int) -> None:
        """Make the dispute of a row current and say so."""
        self.table.setCurrentIndex(self.model.index(row))
        self.table.scrollTo(self.model.index(row))
        self.dispute_chosen.emit(self.model.disputes[row])


def _fill(box: QComboBox, titles: Mapping[str, str], chosen: str) -> None:
    """Offer other choices, one of them chosen; none of them where there is no such choice."""
    if [box.itemData(i) for i in range(box.count())] != list(titles):
        box.clear()
        for key, title in titles.items():
            box.addItem(title, key)
    box.setCurrentIndex(box.findData(chosen))


def _kappa_name(step: float) -> str:
    """What kappa is counted over: it is no figure by itself."""
    return f"κ over {next((words for length, words in _STEPS if length == step), f'samples of {step:g} s')}"


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}".replace("-", "−")
