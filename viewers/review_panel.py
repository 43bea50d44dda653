"""The review queue as a panel: what is hidden, the filters, the table, and the keys that decide."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from analysis.annotation import Annotation
from analysis.review.queue import TO_REVIEW, Order, Queue, QueueFilter
from analysis.seizure_marks import tells_of_seizure
from viewers.review_filter import ReviewFilter
from viewers.review_table import ReviewTable
from viewers.theme import Theme

HINT = "Y accept   X reject   N next   U take back"
_MOST_NAMED = 3


class ReviewPanel(QWidget):
    """Lists the events of a queue; emits `picked(Annotation)`, `hidden_changed(frozenset)` and `listed_changed()`."""

    picked = pyqtSignal(object)
    hidden_changed = pyqtSignal(object)
    listed_changed = pyqtSignal()

    def __init__(self, time_text: Callable[[float], str]) -> None:
        super().__init__()
        self.queue = Queue.of(())
        self._order: Order = "time"
        self._descending = False
        self.hidden: frozenset[str] = frozenset()
        self.table = ReviewTable(time_text)
        self.filter = ReviewFilter(lambda: self.queue.facets(self.filter.wanted))
        self.filter.hide()
        self._notice = QLabel()
        self._notice.setWordWrap(True)
        self._show_all = QPushButton("Show")
        self._show_all.setAccessibleName("Draw all hidden types on the traces again")
        self._show_all.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._show_all.setToolTip("Draw all hidden types on the traces again")
        self._show_all.clicked.connect(self._on_show_all)
        self._notice_row = QWidget()
        self._empty = QLabel()
        self._empty.setProperty("role", "muted")
        self._empty.setWordWrap(True)
        self._hint = QLabel(HINT)
        self._hint.setProperty("role", "muted")
        self._lay_out()
        self.table.picked.connect(self.picked)
        self.table.order_asked.connect(self._on_order)
        self.filter.changed.connect(self._on_filter)
        self.filter.order_changed.connect(self._on_order)
        self.filter.hidden_changed.connect(self.hidden_changed)
        self.filter.set_order(self._order, self._descending)
        self._say_hidden()
        self._say_state()

    def _lay_out(self) -> None:
        row = QHBoxLayout(self._notice_row)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._notice, 1)
        row.addWidget(self._show_all, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for widget, stretch in (
            (self._notice_row, 0),
            (self.filter, 0),
            (self._empty, 0),
            (self.table, 1),
            (self._hint, 0),
        ):
            column.addWidget(widget, stretch)

    # What is listed

    def show_queue(self, queue: Queue) -> None:
        """List a queue by the filter in force, with the same events chosen where they are still there."""
        self.queue = queue
        self._list()

    def set_filter(self, wanted: QueueFilter) -> None:
        """List what passes another filter."""
        self.filter.set_wanted(wanted)

    def toggle_to_review(self) -> bool:
        """List only what is to review, or everything again; whether only that is listed now."""
        only = QueueFilter(states=frozenset({TO_REVIEW}))
        self.set_filter(QueueFilter() if self.filter.wanted == only else only)
        return self.filter.wanted == only

    def open_filters(self) -> None:
        """Show the filters with the cursor in the search field; a second time hides them, if they filter nothing."""
        if self.filter.isVisibleTo(self) and not self.filter.wanted.is_active:
            self.filter.hide()
        else:
            self.filter.show()
            self.filter.search.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def set_hidden(self, types: frozenset[str]) -> None:
        """Say which types are hidden on the traces."""
        self.hidden = types
        self.filter.set_hidden(types)
        self.table.set_hidden(types)
        self._say_hidden()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self.table.set_theme(theme)
        self.filter.set_theme(theme)

    def items(self) -> list[Annotation]:
        """The events listed, in the order shown."""
        return [self.table.rows.mark(row) for row in range(self.listed_count)]

    @property
    def listed_count(self) -> int:
        """How many events are listed."""
        return len(self.table.rows.places)

    # What is chosen

    def selected(self) -> Annotation | None:
        """The current event, where it is listed."""
        return self.table.selected()

    def chosen(self) -> list[Annotation]:
        """All events that are selected."""
        return self.table.chosen()

    def select(self, mark: Annotation | None) -> bool:
        """Make an event current that was chosen elsewhere; whether it is listed."""
        return self.table.select(mark)

    def step(self, direction: int, from_time: float, from_page: bool = False) -> Annotation | None:
        """Choose the next (1) or previous (-1) event: after the current one, or after `from_time` without one.

        With `from_page` a list in the order of time is walked from `from_time` in any case. None, and the same one
        stays chosen, where there is none on that side.
        """
        index = self.table.currentIndex()
        first = self.table.rows.first_from(from_time) - (direction < 0)
        is_walked = index.isValid() and not (from_page and self._order == "time")
        row = index.row() + direction if is_walked else first
        return self.table.select_row(row) if 0 <= row < self.listed_count else None

    # Inside

    def _list(self) -> None:
        self.table.show_queue(self.queue, self.filter.wanted, self._order, self._descending)
        self._say_state()
        self.listed_changed.emit()

    def _on_filter(self, wanted: QueueFilter) -> None:
        if wanted.is_active:
            self.filter.show()
        self._list()

    def _on_order(self, order: Order) -> None:
        self._descending = order == self._order and not self._descending
        self._order = order
        self.filter.set_order(order, self._descending)
        self._list()

    def _on_show_all(self) -> None:
        self.hidden_changed.emit(frozenset())

    def _say_hidden(self) -> None:
        count = len(self.hidden)
        self._notice_row.setVisible(count > 0)
        if not count:
            return
        names = sorted(self.hidden, key=lambda name: (not _is_seizure(name), name.casefold()))
        shown = ", ".join(name or "(no text)" for name in names[:_MOST_NAMED])
        more = f" and {count - _MOST_NAMED} more" if count > _MOST_NAMED else ""
        self._notice.setText(f"{hidden_words(count)} on the traces: {shown}{more}")
        self._notice.setProperty("role", "warning" if any(map(_is_seizure, names)) else "muted")
        style = self._notice.style()
        if style is not None:
            style.unpolish(self._notice)
            style.polish(self._notice)

    def _say_state(self) -> None:
        empty = self.listed_count == 0 and len(self.queue) > 0
        self._empty.setVisible(empty)
        self._empty.setText(f"None of {len(self.queue):,} events passes the filters.")
        self._hint.setVisible(self.queue.number_of(TO_REVIEW) > 0)


def hidden_words(count: int) -> str:
    """How many types are hidden, in words."""
    return f"{count} type{'' if count == 1 else 's'} hidden"


def _is_seizure(title: str) -> bool:
    return tells_of_seizure(Annotation(0.0, 0.0, title))
