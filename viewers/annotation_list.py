"""The list of annotations: what, when, and who says so; fit for a hundred thousand of them."""

from __future__ import annotations

from bisect import bisect_left, insort_right
from collections.abc import Callable, Sequence
from operator import attrgetter

from PyQt6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QFontMetrics, QPainter, QPalette
from PyQt6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from analysis.annotation import RANDOM_WEIGHTS, Annotation

_Index = QModelIndex | QPersistentModelIndex
_ROW_PADDING = 7
_FEW = 200  # events that are put in one by one; each costs a move of the list's tail
_ONSET = attrgetter("onset")
ANNOTATION_ROLE = Qt.ItemDataRole.UserRole


class AnnotationModel(QAbstractListModel):
    """Annotations sorted by onset, with the one nearest to a time found by bisection."""

    def __init__(self, time_text: Callable[[float], str]) -> None:
        super().__init__()
        self._items: list[Annotation] = []
        self._marks: Sequence[Annotation] = ()
        self._sorted_marks: list[Annotation] = []
        self._time_text = time_text

    def set_items(self, marks: Sequence[Annotation], events: Sequence[Annotation] = ()) -> None:
        """Replace all annotations by marks, which are sorted once as long as they stay, and a model's events.

        At one onset a mark stays before an event.
        """
        self.beginResetModel()
        if marks is not self._marks:
            self._marks, self._sorted_marks = marks, sorted(marks, key=_ONSET)
        if len(events) > _FEW:
            self._items = sorted((*self._sorted_marks, *events), key=_ONSET)
        else:
            self._items = self._sorted_marks.copy()
            for event in events:
                insort_right(self._items, event, key=_ONSET)
        self.endResetModel()

    def row_of(self, annotation: Annotation) -> int | None:
        """Where an annotation stands, found by bisection; None where it does not."""
        row = bisect_left(self._items, annotation.onset, key=_ONSET)
        while row < len(self._items) and self._items[row].onset == annotation.onset:
            if self._items[row] == annotation:
                return row
            row += 1
        return None

    def first_from(self, time: float) -> int:
        """Number of annotations that begin before a time, which is the row of the first one that does not."""
        return bisect_left(self._items, time, key=_ONSET)

    def items(self) -> list[Annotation]:
        """The annotations in the order shown."""
        return self._items

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """Number of annotations."""
        return 0 if parent.isValid() else len(self._items)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """The annotation itself, or its text for search and screen readers."""
        item = self._items[index.row()]
        if role == ANNOTATION_ROLE:
            return item
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{self._time_text(item.onset)} {item.title} ({source_text(item)})"
        if role == Qt.ItemDataRole.ToolTipRole:
            channels = ", ".join(item.ch_names) or "all channels"
            return (
                f"{item.description}\n{self._time_text(item.onset)}, {item.duration:.2f} s, {channels}\n{item.author}"
            )
        return None


def source_text(item: Annotation) -> str:
    """Who says it, in a word or two."""
    if item.is_random:
        return RANDOM_WEIGHTS
    return "model" if item.is_model else item.author


def item_text(item: Annotation) -> str:
    """What is said, and how sure a model is of it; how sure random weights are would mislead."""
    certain = item.is_model and item.confidence is not None and not item.is_random
    return f"{item.title}  p {item.confidence:.2f}" if certain else item.title


class AnnotationDelegate(QStyledItemDelegate):
    """Draws time, text, a dot in the colour of the source, and the source."""

    def __init__(self, time_text: Callable[[float], str], parent: QWidget) -> None:
        super().__init__(parent)
        self._time_text = time_text
        self.model_colour = QColor("#7a3db8")
        self.selected_colour = QColor("#e6dcf5")

    def set_colours(self, model: str, selected: str) -> None:
        """Use other colours for what a model says and for the chosen row, as "#rrggbb"."""
        self.model_colour, self.selected_colour = QColor(model), QColor(selected)

    def paint(self, painter: QPainter | None, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        """Draw one row."""
        assert painter is not None
        item: Annotation = index.data(ANNOTATION_ROLE)
        painter.save()
        rect = option.rect
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.selected_colour)
            painter.drawRoundedRect(rect.adjusted(0, 1, 0, -1), 3, 3)
        metrics = QFontMetrics(option.font)
        text, muted = (option.palette.color(r) for r in (QPalette.ColorRole.Text, QPalette.ColorRole.PlaceholderText))
        colour = self.model_colour if item.is_model else text
        source = source_text(item)
        source_width = metrics.horizontalAdvance(source)
        time_width = metrics.horizontalAdvance(self._time_text(item.onset)) + 12
        inner = rect.adjusted(6, 0, -6, 0)
        align = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(option.font)
        painter.setPen(muted)
        painter.drawText(inner, align | Qt.AlignmentFlag.AlignLeft, self._time_text(item.onset))
        painter.setPen(colour if item.is_model else muted)
        painter.drawText(inner, align | Qt.AlignmentFlag.AlignRight, source)
        self._draw_dot(painter, inner.right() - source_width - 10, rect.center().y(), colour)
        room = QRect(
            inner.left() + time_width, rect.top(), inner.width() - time_width - source_width - 22, rect.height()
        )
        self._draw_text(painter, room, item, text, metrics)
        painter.restore()

    @staticmethod
    def _draw_dot(painter: QPainter, x: int, y: int, colour: QColor) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawEllipse(x - 3, y - 3, 6, 6)

    @staticmethod
    def _draw_text(painter: QPainter, room: QRect, item: Annotation, colour: QColor, metrics: QFontMetrics) -> None:
        painter.setPen(colour)
        shown = metrics.elidedText(item_text(item), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)


class AnnotationList(QTableView):
    """A scrolling list of annotations; emits `picked` when the reader chooses one.

    A table of one column: unlike Qt's list view it does not visit every row to lay them out.
    """

    picked = pyqtSignal(object)

    def __init__(self, time_text: Callable[[float], str]) -> None:
        super().__init__()
        self._model = AnnotationModel(time_text)
        self.delegate = AnnotationDelegate(time_text, self)
        self.setModel(self._model)
        self.setItemDelegate(self.delegate)
        for header in (self.horizontalHeader(), self.verticalHeader()):
            assert header is not None
            header.hide()
        self.horizontalHeader().setStretchLastSection(True)
        rows = self.verticalHeader()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setMinimumSectionSize(1)
        rows.setDefaultSectionSize(self.fontMetrics().height() + _ROW_PADDING)
        self.setShowGrid(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMinimumHeight(90)
        self.clicked.connect(lambda index: self.picked.emit(index.data(ANNOTATION_ROLE)))

    def set_items(self, marks: Sequence[Annotation], events: Sequence[Annotation] = ()) -> None:
        """Replace marks and a model's events, keeping the selected one selected where it is still there."""
        chosen = self.selected()
        self._model.set_items(marks, events)
        if chosen is not None:
            self.select(chosen)

    def items(self) -> list[Annotation]:
        """The annotations in the order shown."""
        return self._model.items()

    def selected(self) -> Annotation | None:
        """The annotation chosen last."""
        index = self.currentIndex()
        return index.data(ANNOTATION_ROLE) if index.isValid() else None

    def step(self, direction: int, from_time: float) -> None:
        """Choose the next (1) or previous (-1) annotation: after the selected one, or after `from_time` without one."""
        items = self._model.items()
        if not items:
            return
        index = self.currentIndex()
        if index.isValid():
            row = index.row() + direction
        elif direction > 0:
            row = self._model.first_from(from_time)
        else:
            row = self._model.first_from(from_time) - 1
        row = min(max(row, 0), len(items) - 1)
        self._select(row)
        self.picked.emit(items[row])

    def select(self, annotation: Annotation) -> None:
        """Mark an annotation that was chosen elsewhere."""
        row = self._model.row_of(annotation)
        if row is not None:
            self._select(row)

    def _select(self, row: int) -> None:
        index = self._model.index(row)
        self.setCurrentIndex(index)
        self.scrollTo(index)
