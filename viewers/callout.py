"""A note that points at a place of the window and leaves the window usable: title, text, a few buttons, an outline."""

from __future__ import annotations

from PyQt6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from viewers.theme import LIGHT, Theme, px

_WIDTH = 330
_ARROW, _EDGE, _GAP = 11, 14, 6
_ROUND = 8.0


class Outline(QWidget):
    """A frame around a place, which lets the mouse through."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.theme = LIGHT
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def paintEvent(self, _event: QPaintEvent | None) -> None:
        """Draw the frame."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.theme.colour("accent"), 2))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)


class Callout(QWidget):
    """Stands beside what it points at, inside of its parent; `stepped` asks for a stop on or back, `refused` for none.

    Its buttons are reached by Tab and pressed by Space or Enter; Esc is for the owner, who hears it first.
    """

    stepped = pyqtSignal(int)
    refused = pyqtSignal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.theme = LIGHT
        self.outline = Outline(parent)
        self._tip = QPoint()  # what the arrow points at, in its own coordinates
        self.title, self.text, self.remark = QLabel(), QLabel(), QLabel()
        for words, role in ((self.title, "strong"), (self.text, ""), (self.remark, "warning")):
            words.setTextFormat(Qt.TextFormat.PlainText)
            words.setWordWrap(True)
            words.setProperty("role", role)
        self.none = QPushButton("No more")
        self.none.setToolTip("End the tour, and never begin it by itself; Help, Tour begins it again")
        self.back, self.next = QPushButton("Back"), QPushButton("Next")
        self.next.setProperty("accent", True)
        self.back.setToolTip("The stop before")
        self._esc = QLabel("Esc closes")
        self._esc.setProperty("role", "muted")
        self._lay_out()
        self.none.clicked.connect(self.refused)
        self.back.clicked.connect(self._on_back)
        self.next.clicked.connect(self._on_next)
        self.hide()

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(6)
        buttons.addWidget(self.none)
        buttons.addWidget(self._esc)
        buttons.addStretch(1)
        buttons.addWidget(self.back)
        buttons.addWidget(self.next)
        column = QVBoxLayout(self)
        margin = _EDGE + _ARROW
        column.setContentsMargins(margin, margin, margin, margin)
        column.setSpacing(6)
        for widget in (self.title, self.text, self.remark):
            column.addWidget(widget)
        column.addSpacing(4)
        column.addLayout(buttons)
        self.setTabOrder(self.next, self.back)
        self.setTabOrder(self.back, self.none)

    def _on_back(self) -> None:
        self.stepped.emit(-1)

    def _on_next(self) -> None:
        self.stepped.emit(1)

    # What is shown

    def say(self, title: str, text: str, remark: str = "", first: bool = False, last: bool = False) -> None:
        """Take what is said at a stop; `remark` warns of what is not as it should be."""
        self.title.setText(title)
        self.set_text(text)
        self.set_remark(remark)
        self.back.setEnabled(not first)
        self.next.setText("Done" if last else "Next")
        self.next.setToolTip("End the tour" if last else "The next stop")
        self.setAccessibleName(title)

    def set_text(self, text: str) -> None:
        """Say something else; point anew afterwards, since it may need another height."""
        self.text.setText(text)
        self.setAccessibleDescription(text)

    def set_remark(self, text: str) -> None:
        """Warn of something, or no more."""
        self.remark.setText(text)
        self.remark.setVisible(bool(text))

    def point_at(self, target: QRect) -> None:
        """Stand beside a rectangle of the parent, where there is most room, and outline it."""
        parent = self.parentWidget()
        assert parent is not None
        room = parent.rect()
        target = target.intersected(room)
        width = round(px(_WIDTH))
        self.setFixedWidth(width)
        self.resize(width, self.heightForWidth(width))
        place = place_beside(target, QSize(width, self.height()), room)
        self.move(place)
        self._tip = _nearest(target, QRect(place, self.size())) - place
        self.outline.setGeometry(target.adjusted(-2, -2, 2, 2).intersected(room))
        for widget in (self.outline, self):
            widget.show()
            widget.raise_()
        self.update()

    def end(self) -> None:
        """Go away."""
        self.hide()
        self.outline.hide()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self.theme = self.outline.theme = theme
        self.update()
        self.outline.update()

    def paintEvent(self, _event: QPaintEvent | None) -> None:
        """Draw the card and its arrow."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        card = QRectF(self.rect()).adjusted(_ARROW, _ARROW, -_ARROW, -_ARROW)
        painter.setPen(QPen(self.theme.colour("accent"), 1.5))
        painter.setBrush(self.theme.colour("field"))
        painter.drawRoundedRect(card, _ROUND, _ROUND)
        arrow = self._arrow(card)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.colour("accent"))
        painter.drawPolygon(arrow)

    def _arrow(self, card: QRectF) -> QPolygonF:
        """A triangle from the card's edge towards the tip."""
        half = _ARROW * 0.75
        x = min(max(float(self._tip.x()), card.left() + _ROUND + half), card.right() - _ROUND - half)
        y = min(max(float(self._tip.y()), card.top() + _ROUND + half), card.bottom() - _ROUND - half)
        if self._tip.y() >= card.bottom():
            return QPolygonF(
                [QPointF(x - half, card.bottom()), QPointF(x + half, card.bottom()), QPointF(x, self.height())]
            )
        if self._tip.y() <= card.top():
            return QPolygonF([QPointF(x - half, card.top()), QPointF(x + half, card.top()), QPointF(x, 0)])
        if self._tip.x() >= card.right():
            return QPolygonF(
                [QPointF(card.right(), y - half), QPointF(card.right(), y + half), QPointF(self.width(), y)]
            )
        return QPolygonF([QPointF(card.left(), y - half), QPointF(card.left(), y + half), QPointF(0, y)])


def place_beside(target: QRect, size: QSize, room: QRect) -> QPoint:
    """Where something of a size stands beside a target, on the side with most room, all of it within `room`."""
    spare = {
        "left": target.left() - room.left() - size.width(),
        "right": room.right() - target.right() - size.width(),
        "above": target.top() - room.top() - size.height(),
        "below": room.bottom() - target.bottom() - size.height(),
    }
    side = max(spare, key=lambda one: spare[one])
    middle = target.center()
    x, y = middle.x() - size.width() // 2, middle.y() - size.height() // 2
    if side == "left":
        x = target.left() - size.width() - _GAP
    elif side == "right":
        x = target.right() + _GAP
    elif side == "above":
        y = target.top() - size.height() - _GAP
    else:
        y = target.bottom() + _GAP
    return QPoint(
        min(max(x, room.left()), room.right() - size.width()), min(max(y, room.top()), room.bottom() - size.height())
    )


def _nearest(target: QRect, card: QRect) -> QPoint:
    """The point of a target that is nearest to the middle of a card."""
    middle = card.center()
    return QPoint(
        min(max(middle.x(), target.left()), target.right()), min(max(middle.y(), target.top()), target.bottom())
    )
