"""What all dock panels share: a section heading, rows of facts, and docks that look like sections."""

from __future__ import annotations

from PyQt6.QtCore import QEvent, QSize, Qt
from PyQt6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PyQt6.QtWidgets import QDockWidget, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

# Roles that the style sheet colours: title, muted, strong, accent, warning, good, bad.


def label(text: str = "", role: str = "", wrap: bool = False) -> QLabel:
    """A text whose role the style sheet turns into colour and weight."""
    widget = QLabel(text)
    widget.setTextFormat(Qt.TextFormat.PlainText)
    widget.setWordWrap(wrap)
    if role:
        widget.setProperty("role", role)
    return widget


def set_role(widget: QWidget, role: str) -> None:
    """Give a widget another role and have the style sheet look at it again."""
    if widget.property("role") != role:
        widget.setProperty("role", role)
        style = widget.style()
        assert style is not None
        style.unpolish(widget)
        style.polish(widget)


class ElidedLabel(QLabel):
    """One line of text that ends in … where there is no room, and tells the whole as its tool tip."""

    def __init__(self, text: str = "", role: str = "", mode: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle) -> None:
        super().__init__()
        self._mode = mode
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        if role:
            self.setProperty("role", role)
        self.setText(text)

    def setText(self, text: str | None) -> None:
        """Set the whole text."""
        super().setText(text)
        self.setToolTip(text or "")

    def minimumSizeHint(self) -> QSize:
        """Any width will do."""
        return QSize(20, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Draw as much of the text as fits."""
        painter = QPainter(self)
        painter.setFont(self.font())
        painter.setPen(self.palette().color(self.foregroundRole()))
        text = QFontMetrics(self.font()).elidedText(self.text(), self._mode, self.width())
        painter.drawText(self.rect(), self.alignment(), text)


class FactRow(QWidget):
    """A line with a text at the left and one at the right."""

    def __init__(self, left: str = "", right: str = "", left_role: str = "", right_role: str = "muted") -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self.left = ElidedLabel(left, left_role)
        self.right = label(right, right_role)
        row.addWidget(self.left, 1)
        row.addWidget(self.right, 0)

    def set(self, left: str, right: str = "", right_role: str | None = None) -> None:
        """Replace both texts."""
        self.left.setText(left)
        self.right.setText(right)
        if right_role is not None:
            set_role(self.right, right_role)


class SectionTitle(QWidget):
    """The heading of a dock: the title in small capitals and a short remark at the right. Drags the dock."""

    def __init__(self, title: str) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 12, 2)
        self._title = label(title.upper(), "title")
        self._remark = label("", "muted")
        row.addWidget(self._title)
        row.addStretch(1)
        row.addWidget(self._remark)

    def set_remark(self, text: str, role: str = "muted") -> None:
        """Show a short text at the right end of the heading."""
        self._remark.setText(text)
        set_role(self._remark, role)


class _Fitted(QWidget):
    """As high as its contents need at its width; docks themselves do not ask how high wrapped text becomes."""

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Follow a new width."""
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent | None) -> bool:
        """Follow new contents."""
        handled = super().event(event)
        if event is not None and event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return handled

    def _fit(self) -> None:
        layout = self.layout()
        if layout is None:
            return
        height = layout.totalHeightForWidth(self.width()) if layout.hasHeightForWidth() else layout.sizeHint().height()
        if height != self.height() or height != self.minimumHeight():
            self.setFixedHeight(height)


class PanelDock(QDockWidget):
    """A dock that reads as a section of a calm column; it can still be moved, floated and closed.

    It is as high as its contents, unless it `stretches` to take what the others leave.
    """

    def __init__(self, name: str, title: str, body: QWidget, stretches: bool = False) -> None:
        super().__init__(title)
        self.setObjectName(name)
        self.heading = SectionTitle(title)
        self.setTitleBarWidget(self.heading)
        holder = QWidget() if stretches else _Fitted()
        column = QVBoxLayout(holder)
        column.setContentsMargins(12, 2, 12, 8)
        column.setSpacing(4)
        column.addWidget(body)
        self.setWidget(holder)
        self.setAllowedAreas(Qt.DockWidgetArea.LeftDockWidgetArea | Qt.DockWidgetArea.RightDockWidgetArea)
