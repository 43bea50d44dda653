"""The rows of the review table: what is listed of a queue, in which order, cell by cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PyQt6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from analysis.annotation import RANDOM_WEIGHTS, Annotation
from analysis.review.columns import channel_text, source_name
from analysis.review.decisions import standing
from analysis.review.queue import Order, Queue, QueueFilter
from viewers.mark_words import CHANGED, tip_of, when_words

_Index = QModelIndex | QPersistentModelIndex
MARK_ROLE = Qt.ItemDataRole.UserRole
HIDDEN_ROLE = Qt.ItemDataRole.UserRole + 1


def item_text(mark: Annotation) -> str:
    """What is said, and how sure a model is of it; how sure random weights are would mislead."""
    return item_texts(mark)[0]


def item_texts(mark: Annotation) -> tuple[str, ...]:
    """The same in ever fewer letters, for a narrow column."""
    title = mark.title or "mark"
    if mark.is_random:
        return f"{title}  ({RANDOM_WEIGHTS})", f"{title} (random)"
    if mark.is_model and mark.confidence is not None:
        return f"{title}  p {mark.confidence:.2f}", f"{title} {mark.confidence:.2f}", title
    return (title,)


def state_text(mark: Annotation) -> str:
    """What matters most of a mark in a word: that it is to review, the decision on it, or else who made it."""
    if mark.review.decision:
        return mark.review.decision + (f" {CHANGED}" if mark.review.changed else "")
    return "review" if mark.is_model else source_name(mark.author)


def standing_text(mark: Annotation) -> str:
    """Where a mark stands in the review, and whether a person has changed it, whatever was decided."""
    stands = standing(mark)
    return f"{stands}, changed" if mark.review.changed and stands != "edited" else stands


def decided_text(mark: Annotation) -> str:
    """Who decided on a mark, and when."""
    review = mark.review
    return " ".join((source_name(review.by or "reader"), when_words(review.at))).strip() if review.decision else ""


def _confidence(mark: Annotation) -> str:
    return "" if mark.confidence is None or mark.is_random else f"{mark.confidence:.2f}"


@dataclass(frozen=True)
class Column:
    """A column of the wide table: its heading, what stands in it, and what it is sorted by.

    It is as wide as `sample`, a usual text of it, and gets its `share`, relative to the others, of the room that a wide
    table has left.
    """

    heading: str
    text: Callable[[Annotation], str] | None
    order: Order | None
    sample: str
    share: int = 0


COLUMNS: tuple[Column, ...] = (
    Column("Time", None, "time", "0:00:00.0"),
    Column("Type", lambda mark: mark.title or "mark", "type", "Persyst detection", 3),
    Column("Duration", lambda mark: f"{mark.duration:.2f} s" if mark.duration else "moment", "duration", "0000.00 s"),
    Column("Channels", lambda mark: channel_text(mark.ch_names), None, "Fp1 F7 T7 +19", 2),
    Column(
        "Source",
        lambda mark: source_name(mark.author) + (" (model)" if mark.is_model and not mark.is_random else ""),
        "source",
        "brainmaze A (model)",
        2,
    ),
    Column("p", _confidence, "confidence", "0.000"),
    Column("State", standing_text, "state", "accepted, changed"),
    Column("Decided by", decided_text, None, "you 2030-00-00 00:00", 2),
    Column("Comment", lambda mark: mark.review.comment, None, "Comment", 3),
)
_AT_THE_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_NUMBERS = frozenset({"Duration", "p"})


class QueueModel(QAbstractTableModel):
    """The listed part of a queue; only what is on the screen is ever put into words."""

    def __init__(self, time_text: Callable[[float], str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.queue = Queue.of(())
        self.wanted = QueueFilter()
        self.order: Order = "time"
        self.descending = False
        self.hidden: frozenset[str] = frozenset()
        self.places = np.empty(0, np.intp)
        self._time_text = time_text

    def show(self, queue: Queue, wanted: QueueFilter, order: Order, descending: bool) -> None:
        """List a queue anew."""
        self.beginResetModel()
        self.queue, self.wanted, self.order, self.descending = queue, wanted, order, descending
        self.places = queue.listed(wanted, order, descending)
        self.endResetModel()

    def set_hidden(self, types: frozenset[str]) -> None:
        """Dim the rows of types that are hidden on the traces."""
        self.hidden = types
        if len(self.places):
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.places) - 1, len(COLUMNS) - 1))

    def mark(self, row: int) -> Annotation:
        """What stands in a row."""
        return self.queue.item(int(self.places[row]))

    def row_of(self, mark: Annotation) -> int | None:
        """Where a mark stands; None where it is not listed."""
        place = self.queue.place(mark)
        found = np.flatnonzero(self.places == place) if place is not None else ()
        return int(found[0]) if len(found) else None

    def first_from(self, time: float) -> int:
        """The row of the earliest mark that begins at a time or later; the number of rows where none does."""
        if self.order == "time" and not self.descending:
            return int(np.searchsorted(self.queue.onset[self.places], time, side="left"))
        onsets = self.queue.onset[self.places]
        later = np.flatnonzero(onsets >= time)
        return int(later[np.argmin(onsets[later])]) if later.size else len(self.places)

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """Number of marks listed."""
        return 0 if parent.isValid() else len(self.places)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """Number of columns of the wide table."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Headings of the wide table."""
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[section].heading
        if role == Qt.ItemDataRole.TextAlignmentRole and COLUMNS[section].heading in _NUMBERS:
            return _AT_THE_RIGHT
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """The mark itself, the text of a cell, or all that is known of a mark."""
        mark = self.mark(index.row())
        if role == MARK_ROLE:
            return mark
        if role == HIDDEN_ROLE:
            return mark.title in self.hidden
        if role == Qt.ItemDataRole.DisplayRole:
            text = COLUMNS[index.column()].text
            return text(mark) if text is not None else self._time_text(mark.onset)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self.said(mark)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip_of([mark])
        if role == Qt.ItemDataRole.TextAlignmentRole and COLUMNS[index.column()].heading in _NUMBERS:
            return _AT_THE_RIGHT
        return None

    def said(self, mark: Annotation) -> str:
        """A row as a screen reader says it."""
        hidden = ", hidden on the traces" if mark.title in self.hidden else ""
        return (
            f"{item_text(mark)}, at {self._time_text(mark.onset)}, {standing_text(mark)}, "
            f"{source_name(mark.author)}{hidden}"
        )
