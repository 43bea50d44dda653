"""What the review table lists: a search field, and lists of types, sources and states to choose from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from PyQt6.QtCore import QPoint, Qt, QTimer, pyqtSignal
from PyQt6.QtGui import QIcon, QKeyEvent
from PyQt6.QtWidgets import (
    QCheckBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from analysis.review.columns import source_name
from analysis.review.queue import ORDERS, TO_REVIEW, Facets, Order, QueueFilter
from viewers import glyphs
from viewers.theme import LIGHT, Theme

_PAUSE_MS = 120  # between the last letter typed and the search for it
_MOST_CHOICES = 200
_LIST_HEIGHT = 360
_NO_TEXT = "(no text)"
_SHORT = {"Types": "Type", "Sources": "From", "States": "State"}  # in a dock that has no room for more
_STATE_WORDS = {TO_REVIEW: "to review", "new": "not reviewed"}


class ChoiceList(QFrame):
    """A list of names with their numbers: each can be left out of the table and, by its eye, hidden on the traces."""

    chosen = pyqtSignal(object)  # frozenset of names, or None for all
    hidden = pyqtSignal(object)  # frozenset of names that are not drawn on the traces

    def __init__(self, what: str, has_eyes: bool, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self._what = what
        self._has_eyes = has_eyes
        self._boxes: dict[str, QCheckBox] = {}
        self._eyes: dict[str, QToolButton] = {}
        self._unlisted: frozenset[str] = frozenset()
        self._hidden: frozenset[str] = frozenset()
        self.setObjectName("choices")
        self.setAccessibleName(f"{what} to list")
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.setSpacing(6)
        self._head = QHBoxLayout()
        for text, on in (("All", True), ("None", False)):
            button = QPushButton(text)
            button.setAccessibleName(f"{text} of the {what.lower()}")
            button.setToolTip(f"List {text.lower()} of the {what.lower()}")
            button.clicked.connect(self._on_all if on else self._on_none)
            self._head.addWidget(button)
        self._head.addStretch(1)
        column.addLayout(self._head)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column.addWidget(self._area)
        self._foot = QLabel()
        self._foot.setProperty("role", "muted")
        self._foot.setWordWrap(True)
        column.addWidget(self._foot)

    def show_choices(
        self,
        choices: Sequence[tuple[str, int]],
        chosen: frozenset[str] | None,
        label: Callable[[str], str],
        hidden: frozenset[str] = frozenset(),
        icon: QIcon | None = None,
    ) -> None:
        """List names with their numbers, as `label` calls them; `hidden` ones are not drawn on the traces."""
        ordered = sorted(choices, key=lambda choice: (-choice[1], label(choice[0]).casefold()))
        listed = ordered[:_MOST_CHOICES]
        self._boxes, self._eyes, self._hidden = {}, {}, hidden
        self._unlisted = frozenset(name for name, _ in ordered[_MOST_CHOICES:] if chosen is None or name in chosen)
        body = QWidget()
        grid = QGridLayout(body)
        grid.setContentsMargins(0, 0, 4, 0)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(3)
        grid.setColumnStretch(0, 1)
        for row, (name, count) in enumerate(listed):
            self._add_choice(grid, row, name, count, label(name), chosen, icon)
        self._area.setWidget(body)
        more = len(ordered) - len(listed)
        self._foot.setVisible(bool(more) or self._has_eyes)
        rest = f"and {more:,} more, found by the search field" if more else ""
        self._foot.setText(rest or "The eye hides a type on the traces and in the lanes, not in this list.")
        self._area.setFixedHeight(min(_LIST_HEIGHT, body.sizeHint().height() + 4))
        self._area.setMinimumWidth(min(420, body.sizeHint().width() + 16))
        self.adjustSize()

    def take_focus(self) -> None:
        """Let keys go to the first name."""
        first = next(iter(self._boxes.values()), None)
        if first is not None:
            first.setFocus(Qt.FocusReason.PopupFocusReason)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Esc closes the list."""
        if event is not None and event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def _add_choice(
        self,
        grid: QGridLayout,
        row: int,
        name: str,
        count: int,
        text: str,
        chosen: frozenset[str] | None,
        icon: QIcon | None,
    ) -> None:
        box = QCheckBox(_short(text).replace("&", "&&"))
        box.setToolTip(text)
        box.setAccessibleName(f"{text}, {count}")
        box.setChecked(chosen is None or name in chosen)
        box.toggled.connect(self._on_toggled)
        number = QLabel(f"{count:,}")
        number.setProperty("role", "muted")
        grid.addWidget(box, row, 0)
        grid.addWidget(number, row, 1, Qt.AlignmentFlag.AlignRight)
        self._boxes[name] = box
        if self._has_eyes and icon is not None:
            eye = QToolButton()
            eye.setCheckable(True)
            eye.setAutoRaise(True)
            eye.setIcon(icon)
            eye.setIconSize(glyphs.SIZE)
            eye.setChecked(name not in self._hidden)
            eye.setToolTip(f"Draw {text} on the traces and in the lanes")
            eye.setAccessibleName(f"Draw {text} on the traces")
            eye.toggled.connect(self._on_eye)
            grid.addWidget(eye, row, 2)
            self._eyes[name] = eye

    def _on_toggled(self, _on: bool = False) -> None:
        names = {name for name, box in self._boxes.items() if box.isChecked()}
        everything = len(names) == len(self._boxes)
        self.chosen.emit(None if everything else frozenset(names) | self._unlisted)

    def _on_eye(self, _on: bool = False) -> None:
        unseen = frozenset(name for name, eye in self._eyes.items() if not eye.isChecked())
        self.hidden.emit(unseen | (self._hidden - self._eyes.keys()))

    def _on_all(self) -> None:
        self._check(True)

    def _on_none(self) -> None:
        self._unlisted = frozenset()
        self._check(False)

    def _check(self, on: bool) -> None:
        for box in self._boxes.values():
            box.blockSignals(True)
            box.setChecked(on)
            box.blockSignals(False)
        self._on_toggled()


class ReviewFilter(QWidget):
    """The row of filters above the table; emits `changed(QueueFilter)`, `order_changed(Order)` and `hidden_changed`."""

    changed = pyqtSignal(object)
    order_changed = pyqtSignal(str)
    hidden_changed = pyqtSignal(object)

    def __init__(self, facets: Callable[[], Facets]) -> None:
        """`facets` tells what there is to choose from, whenever a list is opened."""
        super().__init__()
        self._facets = facets
        self._wanted = QueueFilter()
        self._hidden: frozenset[str] = frozenset()
        self._theme = LIGHT
        self.search = QLineEdit()
        self.search.setPlaceholderText("Find in events")
        self.search.setAccessibleName("Find in events")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._on_text)
        self.search.returnPressed.connect(self.search.clearFocus)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self._pause.timeout.connect(self._take_text)
        self.lists: dict[str, ChoiceList] = {}
        self.buttons: dict[str, QToolButton] = {}
        self.clear = QToolButton()
        self.clear.setText("Clear")
        self.clear.setToolTip("List everything again")
        self.clear.clicked.connect(self.reset)
        self.sorting = QToolButton()
        self._lay_out()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 2)
        column.setSpacing(4)
        first = QHBoxLayout()
        first.setSpacing(4)
        first.addWidget(self.search, 1)
        first.addWidget(self.clear)
        column.addLayout(first)
        row = QHBoxLayout()
        row.setSpacing(4)
        for what, has_eyes in (("Types", True), ("Sources", False), ("States", False)):
            listed = ChoiceList(what, has_eyes, self)
            button = QToolButton()
            button.setText(f"{_SHORT[what]} ▾")
            button.setAccessibleName(f"Choose {what.lower()}")
            button.setToolTip(f"Choose the {what.lower()} that are listed")
            self.lists[what], self.buttons[what] = listed, button
            row.addWidget(button, 1)
        self.buttons["Types"].clicked.connect(self._open_types)
        self.buttons["Sources"].clicked.connect(self._open_sources)
        self.buttons["States"].clicked.connect(self._open_states)
        self.lists["Types"].chosen.connect(self._on_types)
        self.lists["Types"].hidden.connect(self.hidden_changed)
        self.lists["Sources"].chosen.connect(self._on_sources)
        self.lists["States"].chosen.connect(self._on_states)
        self._fill_sorting()
        row.addWidget(self.sorting, 1)
        for button in (*self.buttons.values(), self.sorting):
            # They share the room of a narrow dock rather than widen it.
            button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        for button in (*self.buttons.values(), self.sorting, self.clear):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        column.addLayout(row)

    def _fill_sorting(self) -> None:
        menu = QMenu(self)
        for order in ORDERS:
            action = menu.addAction(f"By {order}")
            action.setData(order)
            action.setCheckable(True)
        menu.triggered.connect(lambda action: self.order_changed.emit(action.data()))
        self.sorting.setText("Sort ▾")
        self.sorting.setToolTip("Sort the list; choosing the same again turns it round")
        self.sorting.setAccessibleName("Sort the list")
        self.sorting.setMenu(menu)
        self.sorting.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)

    # What is wanted

    @property
    def wanted(self) -> QueueFilter:
        """What is listed."""
        return self._wanted

    def set_wanted(self, wanted: QueueFilter) -> None:
        """List something else, and say so."""
        if wanted == self._wanted:
            return
        self._wanted = wanted
        if self.search.text() != wanted.text:
            self.search.blockSignals(True)
            self.search.setText(wanted.text)
            self.search.blockSignals(False)
        for what, chosen in (("Types", wanted.types), ("Sources", wanted.authors), ("States", wanted.states)):
            count = "" if chosen is None else f" {len(chosen)}"
            self.buttons[what].setText(f"{_SHORT[what]}{count} ▾")
            self.buttons[what].setProperty("chosen", chosen is not None)
        self.changed.emit(wanted)

    def reset(self) -> None:
        """List everything."""
        self._pause.stop()
        self.set_wanted(QueueFilter())

    def set_hidden(self, types: frozenset[str]) -> None:
        """Take which types are hidden on the traces."""
        self._hidden = types

    def set_order(self, order: Order, descending: bool) -> None:
        """Show by what the list is sorted."""
        menu = self.sorting.menu()
        assert menu is not None
        for action in menu.actions():
            action.setChecked(action.data() == order)
            arrow = (" ↓" if descending else " ↑") if action.data() == order else ""
            action.setText(f"By {action.data()}{arrow}")

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self._theme = theme
        self.setStyleSheet(
            f"QToolButton {{ background: {theme.field}; color: {theme.text}; border: 1px solid {theme.border};"
            f" border-radius: 4px; padding: 2px 1px; }}"
            f"QToolButton:focus, QToolButton:hover {{ border-color: {theme.accent}; }}"
            f"#choices {{ background: {theme.field}; border: 1px solid {theme.border}; }}"
        )

    def _on_text(self, _text: str) -> None:
        self._pause.start()

    def _take_text(self) -> None:
        self.set_wanted(replace(self._wanted, text=self.search.text().strip()))

    def _on_types(self, names: frozenset[str] | None) -> None:
        self.set_wanted(replace(self._wanted, types=names))

    def _on_sources(self, authors: frozenset[str] | None) -> None:
        self.set_wanted(replace(self._wanted, authors=authors))

    def _on_states(self, states: frozenset[str] | None) -> None:
        self.set_wanted(replace(self._wanted, states=states))

    # The lists

    def _open_types(self) -> None:
        facets = self._facets()
        icon = glyphs.icon(glyphs.paint_eye, self._theme, off="caution")
        self._open("Types", facets.types, self._wanted.types, lambda name: name or _NO_TEXT, icon)

    def _open_sources(self) -> None:
        self._open("Sources", self._facets().authors, self._wanted.authors, _source_label)

    def _open_states(self) -> None:
        self._open("States", self._facets().states, self._wanted.states, lambda name: _STATE_WORDS.get(name, name))

    def _open(
        self,
        what: str,
        choices: Sequence[tuple[str, int]],
        chosen: frozenset[str] | None,
        label: Callable[[str], str],
        icon: QIcon | None = None,
    ) -> None:
        listed, button = self.lists[what], self.buttons[what]
        listed.show_choices(choices, chosen, label, self._hidden, icon)
        listed.move(button.mapToGlobal(QPoint(0, button.height() + 2)))
        listed.show()
        listed.take_focus()


def _source_label(author: str) -> str:
    return f"model {source_name(author)}" if author.startswith("model:") else source_name(author)


def _short(text: str, most: int = 44) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
