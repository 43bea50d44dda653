"""The times over the trends, with the marks as ticks, the state of the computation and the menu button."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from PyQt6.QtCore import QPointF, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QFontMetricsF, QPainter
from PyQt6.QtWidgets import QPushButton

from viewers.lanes import Lane
from viewers.readers_lane import LINES, Lines, paint_lines
from viewers.theme import Theme, font, px
from viewers.time_scale import TimeScale, clock_origin, tick_text

TITLE = "Trends"
_AXIS_HEIGHT = 27
_LABEL_PX = 80
_BAR, _BAR_PITCH = 3.0, 4.0


class TrendsAxis(Lane):
    """Times over the lanes, the marks as ticks under them, the state of the computation, and the menu button."""

    resume_requested = pyqtSignal()

    def __init__(self) -> None:
        super().__init__(TITLE, round(px(_AXIS_HEIGHT)), foldable=False)
        self._start: datetime | None = None
        self._lines = Lines()
        self._random_events = False
        self.state = self.cursor_text = ""
        self.button = QPushButton(TITLE, self)
        self.button.setStyleSheet("padding: 0 4px")
        # By Tab and F6, and not by a click, which leaves the keys to the traces.
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.button.setAccessibleName("Trends: what is shown")
        self.button.setToolTip(
            "Span, lanes and frequencies of the trends. W hides them, Shift+W goes to the next span, "
            "Alt+W steps through them by key."
        )
        self.resume = QPushButton("Go on", self)
        self.resume.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.resume.setToolTip("Compute the rest of the trends")
        self.resume.clicked.connect(self.resume_requested)
        self.resume.hide()
        self.more = QPushButton(self)
        self.more.setStyleSheet("padding: 0 4px")
        self.more.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.more.hide()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours, and the height that letters of this size need."""
        super().set_theme(theme)
        self.setFixedHeight(round(px(_AXIS_HEIGHT)))

    def set_start(self, start: datetime | None) -> None:
        """Write times of day from this start, or (None) times from the start."""
        self._start = start
        self.changed()

    def set_lines(self, lines: Lines, random_weights: bool = False) -> None:
        """Take the marks of file, model and reader; the model's in outline when they come from random weights."""
        self._lines, self._random_events = lines, random_weights
        self.changed()

    def set_state(self, state: str, stopped: bool) -> None:
        """Say how far the computation is; with a button to go on when it was stopped."""
        self.state = state
        self.resume.setVisible(stopped)
        self._lay()
        self.changed()

    def set_more(self, titles: Sequence[str]) -> None:
        """Offer the lanes that have no room, by their titles."""
        self.more.setVisible(bool(titles))
        self.more.setText(f"{len(titles)} more")
        self.more.setAccessibleName(f"{len(titles)} more trends without room")
        self.more.setToolTip(f"Without room: {', '.join(titles)}. A click shows them in place of the others.")
        self._lay()
        self.changed()

    def subtitles(self) -> tuple[str, ...]:
        """None; the button stands for the heading."""
        return ()

    def _paint_heading(self, painter: QPainter) -> None:
        return

    def paint_plot(self, painter: QPainter, scale: TimeScale, size: QSize) -> None:
        """Labels, ticks and the state."""
        painter.setFont(font(10))
        metrics = QFontMetricsF(painter.font())
        bars = len(LINES) * _BAR_PITCH
        step = scale.step(px(_LABEL_PX))
        for time in scale.ticks(step, clock_origin(self._start)):
            text = tick_text(time, step, scale.window, self._start)
            width = metrics.horizontalAdvance(text) + 2
            x = min(max(scale.x(time) - width / 2, 0.0), size.width() - width)
            painter.setPen(self.theme.colour("muted"))
            painter.drawText(QRectF(x, 0, width, size.height() - bars), Qt.AlignmentFlag.AlignCenter, text)
            painter.setPen(self.theme.colour("grid_strong"))
            painter.drawLine(QPointF(scale.x(time), size.height() - bars - 1), QPointF(scale.x(time), size.height()))
        paint_lines(
            painter, scale, self._lines, self.theme, size.height() - bars, _BAR, _BAR_PITCH, self._random_events
        )
        if self.state:
            width = metrics.horizontalAdvance(self.state) + 12
            right = size.width() - self._buttons_room()
            box = QRectF(right - width, 0, width, size.height() - bars)
            painter.fillRect(box, self.theme.colour("canvas"))
            painter.setPen(self.theme.colour("text"))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self.state)

    def paint_moving(self, painter: QPainter) -> None:
        """The time under the crosshair."""
        if self._cursor is None or not self.cursor_text:
            return
        painter.setFont(font(10))
        width = QFontMetricsF(painter.font()).horizontalAdvance(self.cursor_text) + px(12)
        area = self.plot_rect
        left = min(max(self.scale.x(self._cursor) - width / 2, 0.0), area.width() - width)
        box = QRectF(area.left() + left, 2, width, self.height() - len(LINES) * _BAR_PITCH - 4)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.colour("text"))
        painter.drawRoundedRect(box, 3, 3)
        painter.setPen(self.theme.colour("canvas"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self.cursor_text)
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _lay(self) -> None:
        height = self.height() - 4
        self.button.setGeometry(6, 2, max(40, self._left - 16), height)
        right = self.width() - 8
        for button in (self.more, self.resume):
            width = max(round(px(60)), button.sizeHint().width())
            button.setGeometry(right - width, 2, width, height)
            right -= (width + 4) * (not button.isHidden())

    def _buttons_room(self) -> int:
        return sum(button.width() + 4 for button in (self.more, self.resume) if not button.isHidden())

    def set_left(self, left: int) -> None:
        """Follow the width of the gutter."""
        super().set_left(left)
        self._lay()

    def resizeEvent(self, event) -> None:
        """Keep the buttons in their places."""
        super().resizeEvent(event)
        self._lay()
