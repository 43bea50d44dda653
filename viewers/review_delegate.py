"""How a row of the review table is drawn: one line in a narrow column, cells in a wide one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PyQt6.QtCore import QModelIndex, QPointF, QRect, QRectF, Qt
from PyQt6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen
from PyQt6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from analysis.annotation import Annotation
from analysis.marks import source_of
from analysis.review.decisions import needs_review
from viewers.glyphs import paint_eye
from viewers.review_model import HIDDEN_ROLE, MARK_ROLE, item_texts, state_text
from viewers.theme import LIGHT, Theme

_SOURCE_COLOURS = {"file": "human", "model": "accent", "reader": "reader"}
_STATE_COLOURS = {"accepted": "good", "rejected": "muted"}
_EYE = 11
MARGIN_LEFT, MARGIN_RIGHT = 8, 7  # of a cell
DOT = 13  # before the type, with its gap


def dot_colour(mark: Annotation, theme: Theme) -> QColor:
    """The colour of who says it, as on the traces and in the lanes."""
    return theme.colour(_SOURCE_COLOURS[source_of(mark)])


class ReviewDelegate(QStyledItemDelegate):
    """Draws time, text, a dot in the colour of the source, and the state; in a wide table one cell at a time."""

    def __init__(self, time_text: Callable[[float], str], parent: QWidget) -> None:
        super().__init__(parent)
        self._time_text = time_text
        self.theme = LIGHT
        self.is_wide = False

    def paint(self, painter: QPainter | None, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        """Draw one row, or one cell of it."""
        assert painter is not None
        mark: Annotation = index.data(MARK_ROLE)
        painter.save()
        self._paint_ground(painter, option, index)
        painter.setFont(option.font)
        if self.is_wide:
            self._paint_cell(painter, option, index, mark)
        else:
            self._paint_line(painter, option, index, mark)
        painter.restore()

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        rect = option.rect.adjusted(0, 1, 0, -1)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.theme.colour("accent_soft"))
            if self.is_wide:
                painter.drawRect(rect)
            else:
                painter.drawRoundedRect(rect, 3, 3)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(self.theme.colour("accent"))
            painter.drawRect(rect.adjusted(0, 0, -1, -1))

    # One line

    def _paint_line(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex, mark: Annotation
    ) -> None:
        metrics = QFontMetrics(option.font)
        inner = option.rect.adjusted(4, 0, -4, 0)
        small = self._small(option.font)
        time = self._time_text(mark.onset)
        state = QFontMetrics(small).elidedText(state_text(mark), Qt.TextElideMode.ElideMiddle, inner.width() // 3)
        state_width = QFontMetrics(small).horizontalAdvance(state)
        painter.setPen(self.theme.colour("muted"))
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, time)
        self._paint_dot(painter, mark, QPointF(inner.right() - state_width - 9, inner.center().y() + 0.5))
        left = inner.left() + metrics.horizontalAdvance(time) + 9
        room = QRect(left, inner.top(), inner.right() - state_width - 16 - left, inner.height())
        self._paint_title(painter, room, mark, item_texts(mark), option.font, bool(index.data(HIDDEN_ROLE)))
        painter.setFont(small)
        painter.setPen(self._state_colour(mark))
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, state)

    @staticmethod
    def _small(font: QFont) -> QFont:
        small = QFont(font)
        small.setPixelSize(max(8, QFontMetrics(font).height() * 10 // 14))
        return small

    def _state_colour(self, mark: Annotation) -> QColor:
        if needs_review(mark):
            return self.theme.colour("accent")
        return self.theme.colour(_STATE_COLOURS.get(mark.review.decision, "muted"))

    def _paint_dot(self, painter: QPainter, mark: Annotation, at: QPointF) -> None:
        """Full where it stands, a ring where it was rejected: seen without colours too."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = dot_colour(mark, self.theme)
        if mark.review.decision == "rejected":
            painter.setPen(QPen(colour, 1.2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
        painter.drawEllipse(at, 2.8, 2.8)
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _paint_title(
        self, painter: QPainter, room: QRect, mark: Annotation, texts: Sequence[str], font: QFont, hidden: bool
    ) -> None:
        """The first of some texts that fits; where none does, the last one cut short."""
        rejected = mark.review.decision == "rejected"
        colour = self.theme.colour("muted" if rejected or hidden else "text")
        if hidden:
            paint_eye(painter, QRectF(room.left(), room.center().y() - 4, _EYE, 8), colour, is_open=False)
            room = room.adjusted(_EYE + 4, 0, 0, 0)
        used = QFont(font)
        used.setStrikeOut(rejected)
        painter.setFont(used)
        painter.setPen(colour)
        metrics = QFontMetrics(used)
        text = next((text for text in texts if metrics.horizontalAdvance(text) <= room.width()), texts[-1])
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)

    # Cells

    def _paint_cell(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex, mark: Annotation
    ) -> None:
        heading = index.model().headerData(index.column(), Qt.Orientation.Horizontal)
        inner = option.rect.adjusted(MARGIN_LEFT, 0, -MARGIN_RIGHT, 0)
        text = index.data()
        if heading == "Type":
            self._paint_dot(painter, mark, QPointF(inner.left() + 3, inner.center().y() + 0.5))
            hidden = bool(index.data(HIDDEN_ROLE))
            self._paint_title(painter, inner.adjusted(DOT, 0, 0, 0), mark, (text,), option.font, hidden)
            return
        if heading == "State":
            painter.setPen(self._state_colour(mark))
        else:
            painter.setPen(self.theme.colour("muted" if heading in ("Time", "Source", "Decided by") else "text"))
        align = index.data(Qt.ItemDataRole.TextAlignmentRole) or Qt.AlignmentFlag.AlignLeft
        shown = QFontMetrics(option.font).elidedText(text, Qt.TextElideMode.ElideRight, inner.width())
        painter.drawText(inner, Qt.AlignmentFlag(align) | Qt.AlignmentFlag.AlignVCenter, shown)
