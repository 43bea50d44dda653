"""What all dock panels share: a section heading, rows of facts, and docks that look like sections."""

from __future__ import annotations

from PyQt6.QtCore import QEvent, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QFontMetrics, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PyQt6.QtWidgets import (
    QBoxLayout,
    QDockWidget,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSlider,
    QStyleOptionButton,
    QVBoxLayout,
    QWidget,
)

from viewers.theme import px

_LEAST_WIDTH, _LEAST_HEIGHT = 150, 48
_LEAST_STRETCHING = 260
_LEAST_BUTTON, _BUTTON_EDGES = 60, 24

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
    """Give a widget another role and have the style sheet look at it again, if it has looked at it before."""
    if widget.property("role") != role:
        widget.setProperty("role", role)
        if not widget.testAttribute(Qt.WidgetAttribute.WA_WState_Polished):
            return
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


class ElidedButton(QPushButton):
    """A button with a text that ends in … where there is no room."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._whole = 0  # width that the whole text needs
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the keys to the traces

    def minimumSizeHint(self) -> QSize:
        """Room for a few letters."""
        hint = self.sizeHint()
        return QSize(min(hint.width(), _LEAST_BUTTON), hint.height())

    def initStyleOption(self, option: QStyleOptionButton | None) -> None:
        """Draw as much of the text as fits."""
        super().initStyleOption(option)
        if option is not None and self.width() < self._whole:
            room = self.width() - round(px(_BUTTON_EDGES))
            option.text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Follow a new width."""
        self._whole = 0  # the size hint itself asks for the style option
        self._whole = self.sizeHint().width()
        super().resizeEvent(event)


class ButtonRow(QWidget):
    """Buttons side by side, or below one another where the dock is too narrow for their texts."""

    def __init__(self, *buttons: QPushButton) -> None:
        super().__init__()
        self._buttons = buttons
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(4)
        for button in buttons:
            self._row.addWidget(button)

    def minimumSizeHint(self) -> QSize:
        """The width of the widest alone, which may be cut short."""
        width = max(button.minimumSizeHint().width() for button in self._buttons)
        return QSize(width, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Follow a new width."""
        super().resizeEvent(event)
        needed = sum(button.sizeHint().width() for button in self._buttons) + 4 * (len(self._buttons) - 1)
        across = QBoxLayout.Direction.LeftToRight
        wanted = across if needed <= self.width() else QBoxLayout.Direction.TopToBottom
        if wanted != self._row.direction():
            self._row.setDirection(wanted)


class ArrowSlider(QSlider):
    """A slider that keeps the arrow keys while it has the focus, which else move the page."""

    def event(self, event: QEvent | None) -> bool:
        """Take the arrow keys before the actions of the window do."""
        if event is not None and event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            arrows = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down)
            if event.key() in arrows and not event.modifiers():
                event.accept()
                return True
        return super().event(event)


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
        self._title = ElidedLabel(title.upper(), "title", Qt.TextElideMode.ElideRight)
        self._title.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self._remark = ElidedLabel("", "muted", Qt.TextElideMode.ElideRight)
        self._remark.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self._title)
        row.addWidget(self._remark, 1)

    def set_remark(self, text: str, role: str = "muted") -> None:
        """Show a short text at the right end of the heading."""
        self._remark.setText(text)
        set_role(self._remark, role)


class PanelBody(QScrollArea):
    """What a dock holds: it scrolls where the window has less room for it than it needs.

    It is as high as its contents, unless it `stretches`; docks themselves do not ask how high wrapped text becomes.
    """

    height_changed = pyqtSignal()

    def __init__(self, content: QWidget, stretches: bool) -> None:
        super().__init__()
        self.stretches = stretches
        self._height = -1
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(content)
        if not stretches:
            self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    def wanted_height(self) -> int:
        """Height of the whole contents at this width."""
        content = self.widget()
        layout = content.layout() if content is not None else None
        if layout is None:
            return 0
        if layout.hasHeightForWidth():
            return layout.totalHeightForWidth(max(self.width(), layout.totalMinimumSize().width()))
        return layout.totalSizeHint().height()

    def sizeHint(self) -> QSize:
        """As wide as the contents like, and as high as they need."""
        content = self.widget()
        hint = content.sizeHint() if content is not None else QSize()
        return QSize(hint.width(), hint.height() if self.stretches else self.wanted_height())

    def minimumSizeHint(self) -> QSize:
        """Below this there is too little to see even of what scrolls."""
        content = self.widget()
        least = content.minimumSizeHint() if content is not None else QSize()
        height = min(least.height(), _LEAST_STRETCHING) if self.stretches else min(self.wanted_height(), _LEAST_HEIGHT)
        return QSize(min(least.width(), _LEAST_WIDTH), height)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Follow a new width."""
        super().resizeEvent(event)
        self._follow()

    def event(self, event: QEvent | None) -> bool:
        """Follow new contents."""
        handled = super().event(event)
        if event is not None and event.type() == QEvent.Type.LayoutRequest:
            self._follow()
        return handled

    def _follow(self) -> None:
        if self.stretches:
            return
        height = self.wanted_height()
        # A bar makes the contents narrower, and so perhaps too high for what they would fit into without it.
        fits = height <= self.height()
        needed = Qt.ScrollBarPolicy.ScrollBarAlwaysOff if fits else Qt.ScrollBarPolicy.ScrollBarAsNeeded
        if needed != self.verticalScrollBarPolicy():
            self.setVerticalScrollBarPolicy(needed)
        if height != self._height:
            self._height = height
            self.setMaximumHeight(height)
            self.updateGeometry()
            self.height_changed.emit()


class PanelDock(QDockWidget):
    """A dock that reads as a section of a calm column; it can still be moved, floated and closed.

    It is as high as its contents, unless it `stretches` to take what the others leave.
    """

    def __init__(self, name: str, title: str, body: QWidget, stretches: bool = False) -> None:
        super().__init__(title)
        self.setObjectName(name)
        self.heading = SectionTitle(title)
        self.setTitleBarWidget(self.heading)
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(12, 2, 12, 8)
        column.setSpacing(4)
        column.addWidget(body)
        self.body = PanelBody(holder, stretches)
        self.setWidget(self.body)
        self.setAllowedAreas(Qt.DockWidgetArea.LeftDockWidgetArea | Qt.DockWidgetArea.RightDockWidgetArea)
