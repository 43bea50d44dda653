"""The strip of choices above the traces: a caption, the value in force, and a menu of the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtGui import QAction, QActionGroup, QFont, QFontMetrics, QPainter, QPaintEvent, QPalette
from PyQt6.QtWidgets import QMenu, QStyle, QStyleOptionToolButton, QStylePainter, QToolButton, QWidget

_GAP = 6
_SIDE = 10


class ChoiceButton(QToolButton):
    """A toolbar field that reads "Caption  value" and opens a menu; emits `chosen` with the data of the entry."""

    chosen = pyqtSignal(object)

    def __init__(self, caption: str, tip: str, name: str = "", parent: QWidget | None = None) -> None:
        """`name` is the caption in full, where it is short for something."""
        super().__init__(parent)
        self._caption = caption
        self._value = ""
        self._suffix = ""
        self._tip = tip
        self._lit = False
        self._measured: tuple[QFont, QSize] | None = None
        self.setToolTip(tip)
        self.setAccessibleName(name or caption)
        self.setMenu(QMenu(self))
        self._group = QActionGroup(self)
        self._group.triggered.connect(self._on_triggered)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        # By Tab and not by a click, which leaves the keys to the traces.
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def choices(self) -> list[QAction]:
        """The values that can be chosen, without the commands below them."""
        return self._group.actions()

    def set_choices(
        self,
        choices: Sequence[tuple[str, object] | None],
        current: object,
        refused: dict[object, str] | None = None,
        tips: dict[object, str] | None = None,
    ) -> None:
        """Fill the menu from (text, data) pairs (None: a line), check `current`, and grey out what is refused.

        `refused` holds the reasons by data, `tips` what is said of other entries.
        """
        menu = self.menu()
        assert menu is not None
        menu.clear()  # the actions of before leave the group with it
        menu.setToolTipsVisible(True)
        for choice in choices:
            if choice is None:
                menu.addSeparator()
                continue
            text, data = choice
            action = QAction(text, menu)
            action.setCheckable(True)
            action.setData(data)
            action.setChecked(data == current)
            reason = (refused or {}).get(data)
            if reason:
                action.setEnabled(False)
                action.setToolTip(reason)
            elif tips and data in tips:
                action.setToolTip(tips[data])
            self._group.addAction(action)
            menu.addAction(action)

    def add_command(self, text: str, handler: Callable[[], None]) -> None:
        """Add an entry below the choices that does something else, such as browsing for a file."""
        menu = self.menu()
        assert menu is not None
        if self._group.actions() and menu.actions() and menu.actions()[-1].isCheckable():
            menu.addSeparator()
        command = QAction(text, menu)  # of our own, so that PyQt hears when it goes and lets the handler go too
        command.triggered.connect(handler)
        menu.addAction(command)

    def set_value(self, value: str, data: object = None, suffix: str = "") -> None:
        """Show the value in force (with a lighter suffix beside it) and check the menu entry that carries `data`."""
        changed = (value, suffix) != (self._value, self._suffix)
        self._value, self._suffix = value, suffix
        for action in self._group.actions():
            action.setChecked(action.data() == data)
        if changed:  # laying out the toolbar anew costs as much as painting a page
            self._measured = None
            self.setAccessibleDescription(f"{value} {suffix}".strip())
            self.updateGeometry()
            self.update()

    def _on_triggered(self, action: QAction) -> None:
        self.chosen.emit(action.data())

    def set_lit(self, on: bool, remark: str) -> None:
        """Mark the field as one to be aware of, with the reason in its tool tip."""
        tip = f"{self._tip}\n{remark}" if on else self._tip
        if (on, tip) != (self._lit, self.toolTip()):
            self._lit = on
            self.setToolTip(tip)
            self.update()

    def value(self) -> str:
        """The text of the value in force."""
        return self._value

    def sizeHint(self) -> QSize:
        """Just wide enough for caption, value and suffix; asked for many times whenever one field changes."""
        font = self.font()
        if self._measured is None or self._measured[0] != font:
            self._measured = font, self._measure()
        return self._measured[1]

    def _measure(self) -> QSize:
        width = 2 * _SIDE + QFontMetrics(self.font()).horizontalAdvance(self._caption)
        width += _GAP + QFontMetrics(self._bold()).horizontalAdvance(self._value)
        if self._suffix:
            width += _GAP + QFontMetrics(self.font()).horizontalAdvance(self._suffix)
        return QSize(width, QFontMetrics(self.font()).height() + 14)

    def minimumSizeHint(self) -> QSize:
        """As `sizeHint`: a field is never cut."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Draw the frame of a tool button without its arrow, then the three texts."""
        option = QStyleOptionToolButton()
        self.initStyleOption(option)
        option.text = ""
        option.features &= ~QStyleOptionToolButton.ToolButtonFeature.HasMenu
        option.features &= ~QStyleOptionToolButton.ToolButtonFeature.MenuButtonPopup
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ToolButton, option)
        x = _SIDE
        muted = self.palette().color(QPalette.ColorRole.PlaceholderText)
        text = self.palette().color(QPalette.ColorRole.ButtonText)
        value = self.palette().color(QPalette.ColorRole.Link) if self._lit else text
        for content, font, colour in (
            (self._caption, self.font(), muted),
            (self._value, self._bold(), value if self.isEnabled() else muted),
            (self._suffix, self.font(), text if self.isEnabled() else muted),
        ):
            if content:
                x = self._draw(painter, x, content, font, colour)

    def _draw(self, painter: QPainter, x: int, content: str, font: QFont, colour) -> int:
        painter.setFont(font)
        painter.setPen(colour)
        width = QFontMetrics(font).horizontalAdvance(content)
        painter.drawText(x, 0, width + 2, self.height(), Qt.AlignmentFlag.AlignVCenter, content)
        return x + width + _GAP

    def _bold(self) -> QFont:
        font = QFont(self.font())
        font.setBold(True)
        return font
