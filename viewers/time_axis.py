"""The times above the traces."""

from __future__ import annotations

from datetime import datetime, timedelta

from PyQt6.QtCore import QRectF, Qt
from PyQt6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PyQt6.QtWidgets import QWidget

from analysis.time_words import elapsed
from viewers.theme import LIGHT, Theme, font, px
from viewers.time_scale import TimeScale, clock_origin, tick_text, time_text

HEIGHT = 26
LABEL_PX = 74
_SIZE = 10


class TimeAxis(QWidget):
    """Labels at whole seconds, minutes or hours, and the time under the cursor; the gutter's corner says the date."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._scale: TimeScale | None = None
        self._left = 0
        self._start: datetime | None = None
        self._clock = False
        self._cursor: float | None = None
        self._pinned: float | None = None
        self._theme = LIGHT
        self.setFixedHeight(HEIGHT)

    def set_scale(self, scale: TimeScale, left: int) -> None:
        """Follow the page; its left edge lies at pixel `left`."""
        self._scale, self._left = scale, left
        self.update()

    def set_start(self, start: datetime | None, clock: bool) -> None:
        """Write the time of day (when it is known) in place of the time from the start."""
        self._start, self._clock = start, clock
        self.update()

    def set_cursor(self, time: float | None) -> None:
        """Show the time under the cursor."""
        if time != self._cursor:
            self._cursor = time
            self.update()

    def set_pinned(self, time: float | None) -> None:
        """Show the time of a cursor that stays; None: there is none."""
        if time != self._pinned:
            self._pinned = time
            self.update()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours, and the size of letters."""
        self._theme = theme
        self.setFixedHeight(round(px(HEIGHT)))
        self.update()

    @property
    def start(self) -> datetime | None:
        """The start that the labels count from as time of day; None for elapsed time."""
        return self._start if self._clock else None

    @property
    def date(self) -> str:
        """The day on which the page begins, where times of day are written."""
        if self.start is None or self._scale is None:
            return ""
        return (self.start + timedelta(seconds=self._scale.window.start)).strftime("%Y-%m-%d")

    @property
    def moment(self) -> str:
        """Date and time of day at which the page begins, and the time from the start; empty where it is not known."""
        if self._start is None or self._scale is None:
            return ""
        seconds = self._scale.window.start
        begins = (self._start + timedelta(seconds=seconds + 0.5)).replace(microsecond=0)
        return f"{begins:%Y-%m-%d %H:%M:%S} ({elapsed(seconds)})"

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Write the labels."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.colour("canvas"))
        if self._scale is None or self._scale.window.duration <= 0:
            return
        painter.setFont(font(_SIZE))
        painter.setPen(self._theme.colour("muted"))
        painter.drawText(QRectF(10, 0, self._left - 10, self.height()), Qt.AlignmentFlag.AlignVCenter, self.date)
        step = self._scale.step(px(LABEL_PX))
        for time in self._scale.ticks(step, clock_origin(self.start)):
            self._write(painter, time, tick_text(time, step, self._scale.window, self.start))
        window = self._scale.window
        for cursor, ground in ((self._pinned, "caution"), (self._cursor, "text")):
            if cursor is not None and window.start <= cursor <= window.stop:
                self._write_cursor(painter, cursor, ground)

    def _write(self, painter: QPainter, time: float, text: str) -> QRectF:
        assert self._scale is not None
        width = QFontMetricsF(painter.font()).horizontalAdvance(text) + 2
        x = self._left + self._scale.x(time) - width / 2
        rect = QRectF(min(x, self.width() - width), 0, width, self.height())
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)
        return rect

    def _write_cursor(self, painter: QPainter, time: float, ground: str) -> None:
        assert self._scale is not None
        decimals = 0.001 if self._scale.window.duration <= 120 else 1.0
        text = time_text(time, decimals, self.start)
        width = QFontMetricsF(painter.font()).horizontalAdvance(text) + 10
        x = min(max(self._left + self._scale.x(time) - width / 2, self._left - 20.0), self.width() - width)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour(ground))
        rect = QRectF(x, 4, width, self.height() - 8)
        painter.drawRoundedRect(rect, 3, 3)
        painter.setPen(self._theme.colour("canvas"))
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)
