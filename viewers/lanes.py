"""Lanes under the traces: strips that share the gutter and the time axis and can be folded away."""

from __future__ import annotations

from PyQt6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import (
    QBrush,
    QFontMetricsF,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QPolygonF,
    QResizeEvent,
)
from PyQt6.QtWidgets import QWidget

from analysis.recording import Window
from viewers.theme import LIGHT, Theme, font, px
from viewers.time_scale import TimeScale

RIGHT_MARGIN = 8
FOLDED_HEIGHT = 20
_TITLE_SIZE, _SUBTITLE_SIZE = 11, 10
_LEFT = 10
_BADGE_SIZE, _BADGE_PADDING = 9, 3


class Lane(QWidget):
    """Base of all lanes: heading in the gutter, picture cached until something changes, cursor over it."""

    folded = pyqtSignal(bool)
    height_changed = pyqtSignal()  # that it has where it is not folded
    cursor_moved = pyqtSignal(object)

    def __init__(self, title: str, height: int, foldable: bool = True) -> None:
        super().__init__()
        self.title = title
        self.subtitle = ""
        self.badge = ""
        self._full_height = height
        self._drawn_at = px(1)
        self._usual_height = height / px(1)
        self._foldable = foldable
        self._is_folded = self._is_empty = self._is_tight = self._is_bare = False
        self._left = 93
        self._window = Window(0.0, 10.0)
        self._cursor: float | None = None
        self._strength = 1.0
        self._pixmap: QPixmap | None = None
        self.theme = LIGHT
        self.setFixedHeight(height)
        self.setMouseTracking(True)
        self.setAccessibleName(title)

    @property
    def is_folded(self) -> bool:
        """Whether only the heading is shown."""
        return self._is_folded

    def set_folded(self, is_folded: bool) -> None:
        """Fold the lane to its heading, or open it."""
        if is_folded != self._is_folded:
            self._is_folded = is_folded
            self._fit_height()
            self.changed()
            self.folded.emit(is_folded)

    def set_empty(self, is_empty: bool) -> None:
        """Take one line where there is nothing to draw but words."""
        if is_empty != self._is_empty:
            self._is_empty = is_empty
            self._fit_height()
            self.height_changed.emit()

    def set_bare(self, is_bare: bool) -> None:
        """Keep the room, but show nothing that anybody says, while the bare traces are looked at."""
        if is_bare != self._is_bare:
            self._is_bare = is_bare
            self.changed()

    def set_strength(self, strength: float) -> None:
        """Fade the plot, 0..1, as the reader likes it."""
        if strength != self._strength:
            self._strength = strength
            self.changed()

    def set_tight(self, is_tight: bool) -> None:
        """Be no higher for large letters than for the usual ones, where there is little room."""
        if is_tight != self._is_tight:
            self._is_tight = is_tight
            self._fit_height()

    def height_for(self, is_tight: bool) -> int:
        """How high the lane is with much room or with little."""
        line = round(px(FOLDED_HEIGHT))
        if self._is_folded or self._is_empty:
            return line
        return max(line, round(self._usual_height)) if is_tight else self._full_height

    def _fit_height(self) -> None:
        """Make room for letters as large as they are now."""
        if self._drawn_at != px(1):
            self._drawn_at = px(1)
            self._full_height = round(px(self._usual_height))
        self.setFixedHeight(self.height_for(self._is_tight))

    def set_left(self, left: int) -> None:
        """Follow the width of the gutter."""
        if left != self._left:
            self._left = left
            self.changed()

    def set_window(self, window: Window) -> None:
        """Follow the page."""
        if window != self._window:
            self._window = window
            self.changed()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours, and the size of letters."""
        self.theme = theme
        self._fit_height()
        self.changed()

    def set_cursor(self, time: float | None) -> None:
        """Show the cursor line at a time."""
        if time != self._cursor:
            self._cursor = time
            self.update()

    def changed(self) -> None:
        """Draw the picture anew at the next paint."""
        self._pixmap = None
        self.update()

    @property
    def plot_rect(self) -> QRectF:
        """The area right of the gutter."""
        return QRectF(self._left, 1, max(1, self.width() - self._left - RIGHT_MARGIN), self.height() - 1)

    @property
    def scale(self) -> TimeScale:
        """Seconds to pixels from the left edge of the plot."""
        return TimeScale(self._window, self.plot_rect.width())

    def paint_plot(self, painter: QPainter, scale: TimeScale, size: QSize) -> None:
        """Draw into the plot; the painter's origin is its top left corner."""
        raise NotImplementedError

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Blit the picture and draw the cursor."""
        ratio = self.devicePixelRatioF()
        if self._pixmap is None or self._pixmap.devicePixelRatio() != ratio:
            self._pixmap = self._picture(ratio)
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._pixmap)
        if not self._is_bare:
            self.paint_moving(painter)
        if self._cursor is not None and not self._is_folded:
            x = self.scale.x(self._cursor)
            if 0 <= x <= self.plot_rect.width():
                painter.setPen(self.theme.colour("muted", 0.75))
                painter.drawLine(
                    QPointF(round(self._left + x) + 0.5, 1), QPointF(round(self._left + x) + 0.5, self.height())
                )

    def paint_moving(self, painter: QPainter) -> None:
        """Draw what changes more often than the picture."""

    def _picture(self, ratio: float) -> QPixmap:
        pixmap = QPixmap(self.size() * ratio)
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(self.theme.colour("canvas"))
        painter = QPainter(pixmap)
        painter.setPen(self.theme.colour("border"))
        painter.drawLine(0, 0, self.width(), 0)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_heading(painter)
        if not self._is_folded:
            area = self.plot_rect
            painter.save()
            painter.setClipRect(area)
            painter.translate(area.topLeft())
            if not self._is_bare:
                self.paint_plot(painter, self.scale, QSize(int(area.width()), int(area.height())))
                painter.setOpacity(1.0)
                painter.fillRect(area.translated(-area.topLeft()), self.theme.colour("canvas", 1 - self._strength))
            painter.restore()
        painter.end()
        return pixmap

    def subtitles(self) -> tuple[str, ...]:
        """What is written under the title, a line each."""
        return (self.subtitle,)

    def _paint_heading(self, painter: QPainter) -> None:
        room = self._left - _LEFT - 6
        y = px(3)
        lines = [(self.title, _TITLE_SIZE, True, "text")]
        lines += [(text, _SUBTITLE_SIZE, False, "muted") for text in self.subtitles() if text]
        for text, size, bold, colour in lines[: self._heading_lines()]:
            painter.setFont(font(size, bold))
            metrics = QFontMetricsF(painter.font())
            painter.setPen(self.theme.colour(colour))
            line = QRectF(_LEFT, y, room, px(16))
            painter.drawText(
                line, Qt.AlignmentFlag.AlignVCenter, metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
            )
            y += px(15)
        if self.badge:
            self._paint_badge(painter, y)
        if self._foldable:
            self._paint_triangle(painter)

    def _heading_lines(self) -> int:
        """How many lines of the heading there is room for."""
        return 1 if self._is_folded else max(1, int((self.height() - px(1)) // px(15)))

    def badge_rect(self, y: float) -> QRectF:
        """Where the badge stands: under the lines of the heading, which end at `y`, or beside it without room there."""
        width = QFontMetricsF(font(_BADGE_SIZE)).horizontalAdvance(self.badge) + 2 * _BADGE_PADDING
        if self._is_folded or y + px(14) > self.height():
            return QRectF(self._left + 4, px(4), width, px(13))
        return QRectF(_LEFT, y + 2, min(width, self._left - _LEFT - 4), px(14))

    def _paint_badge(self, painter: QPainter, y: float) -> None:
        painter.setFont(font(_BADGE_SIZE))
        rect = self.badge_rect(y)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.colour("caution"))
        painter.drawRoundedRect(rect, 3, 3)
        painter.setPen(self.theme.colour("canvas"))
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, self.badge)
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _paint_triangle(self, painter: QPainter) -> None:
        x, y = self._left - 12.0, px(11) - 3
        shape = [(0, 0), (0, 6), (5, 3)] if self._is_folded else [(-1, 1), (6, 1), (2.5, 6)]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.colour("muted", 0.7))
        painter.drawPolygon(QPolygonF([QPointF(x + a, y + b) for a, b in shape]))
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """A new size needs a new picture."""
        self.changed()

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """A click on the heading folds the lane or opens it."""
        if event is not None and self._foldable and event.position().x() < self._left:
            self.set_folded(not self._is_folded)

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        """Share the cursor's time with the other views."""
        if event is None:
            return
        x = event.position().x() - self._left
        inside = 0 <= x <= self.plot_rect.width()
        self.cursor_moved.emit(self.scale.time(x) if inside else None)
        heading = self._foldable and event.position().x() < self._left
        self.setCursor(Qt.CursorShape.PointingHandCursor if heading else Qt.CursorShape.ArrowCursor)

    def leaveEvent(self, event: QEvent | None) -> None:
        """The cursor is gone."""
        self.cursor_moved.emit(None)


def hatch(painter: QPainter, area: QRectF, theme: Theme) -> None:
    """Mark an area as one without an answer."""
    painter.fillRect(area, theme.colour("grid"))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QBrush(theme.colour("muted", 0.35), Qt.BrushStyle.BDiagPattern))
    painter.drawRect(area)
    painter.setBrush(Qt.BrushStyle.NoBrush)


def dashed(colour, width: float = 1.0) -> QPen:
    """A pen for thresholds."""
    pen = QPen(colour, width)
    pen.setDashPattern([4, 2])
    return pen
