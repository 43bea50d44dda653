"""A head from above with a field over it: nose up, left at the left, electrodes by their own names, a scale below."""

from __future__ import annotations

import math

import numpy as np
from PyQt6.QtCore import QEvent, QLineF, QPointF, QRectF, QSize, Qt
from PyQt6.QtGui import (
    QColor,
    QImage,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PyQt6.QtWidgets import QSizePolicy, QToolTip, QWidget

from analysis.topography import HeadMap
from viewers.colour_scales import enlarged, image, indices
from viewers.contours import contour_levels, contour_lines
from viewers.panels.head_shape import EAR, NOSE, lay_names, paint_ears_and_nose
from viewers.panels.plot import BUSY, paint_message
from viewers.panels.value_scale import Scale, colour_table, colours_of, paint_scale_bar, value_text
from viewers.theme import LIGHT, Theme, font, px

_EDGE = 4.0
_SMALLEST, _USUAL = 190, 300
_NEAR_PX = 12.0
_FINE_FROM, _FINER = 340, 4  # pixels of the head from which the field is drawn on a finer grid
_BAR_SHARE = 0.56
_DEEP, _PALE = QColor("#12161b"), QColor("#f4f6f8")  # letters on pale and on deep colours


class HeadView(QWidget):
    """Draws the values of a HeadMap's electrodes and the spline between them; a message where there is nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.theme = LIGHT
        self._head: HeadMap | None = None
        self._values: np.ndarray | None = None
        self._scale = Scale(-1.0, 1.0, "")
        self._message = ""
        self._stale = False
        self._contours = False
        self._names = True
        self._field: np.ndarray | None = None
        self._picture: QImage | None = None
        self._laid: tuple[object, tuple[int, list[QRectF | None]]] | None = None
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Map of the scalp")

    # What is shown

    def set_head(self, head: HeadMap | None) -> None:
        """Take the electrodes."""
        if head is not self._head:
            self._head, self._values = head, None
            self._changed()

    def set_values(self, values: np.ndarray | None, scale: Scale) -> None:
        """Show one value for each electrode (n,); None leaves the head empty."""
        self._values, self._scale = values, scale
        self._stale = False
        self._changed()
        self._describe()

    def set_message(self, text: str) -> None:
        """Say something in the middle of the picture; empty takes it away."""
        if text != self._message:
            self._message = text
            self.update()

    def set_stale(self, stale: bool) -> None:
        """Show that the values are those of another moment and are being renewed."""
        if stale != self._stale:
            self._stale = stale
            self.update()

    def set_options(self, contours: bool, names: bool) -> None:
        """Draw lines of equal value, and the names of the electrodes."""
        self._contours, self._names = contours, names
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self.theme = theme
        self._changed()

    @property
    def values(self) -> np.ndarray | None:
        """The values on screen (n,)."""
        return self._values

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """A larger head is drawn finer."""
        self._picture = None
        super().resizeEvent(event)

    def sizeHint(self) -> QSize:
        """As wide as an inspector is; it takes all the height it is given."""
        return QSize(_USUAL, _SMALLEST)

    def minimumSizeHint(self) -> QSize:
        """The size below which a head says nothing."""
        return QSize(_SMALLEST, _SMALLEST)

    # Places

    @property
    def _bar_room(self) -> float:
        return px(26.0)

    def _circle(self) -> QRectF:
        """The square around the outline of the head."""
        height = self.height() - self._bar_room - 2 * _EDGE
        radius = max(10.0, min((self.width() - 2 * _EDGE) / (2 * (1 + EAR)), height / (2 + NOSE)))
        top = _EDGE + NOSE * radius
        return QRectF(self.width() / 2 - radius, top, 2 * radius, 2 * radius)

    def _place(self, point: np.ndarray, circle: QRectF) -> QPointF:
        radius = circle.width() / 2
        return QPointF(circle.center().x() + point[0] * radius, circle.center().y() - point[1] * radius)

    # Painting

    def paintEvent(self, _event: QPaintEvent | None) -> None:
        """Draw everything; a change of the values costs one product and one small picture."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        circle = self._circle()
        if self._head is not None:
            self._paint_head(painter, circle, self._head)
            self._paint_bar(painter, circle)
        text = self._message or (BUSY if self._stale else "")
        if text:
            paint_message(painter, circle if self._head is not None else QRectF(self.rect()), text, self.theme)

    def _paint_head(self, painter: QPainter, circle: QRectF, head: HeadMap) -> None:
        ink = QPen(self.theme.colour("text", 0.85), 1.6)
        ink.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        paint_ears_and_nose(painter, circle, ink, self.theme.colour("canvas"))
        outline = QPainterPath()
        outline.addEllipse(circle)
        painter.fillPath(outline, self.theme.colour("canvas"))
        if self._values is not None:
            painter.save()
            painter.setClipPath(outline)
            painter.setOpacity(0.45 if self._stale else 1.0)
            painter.drawImage(circle, self._make_picture(head, self._values))
            if self._contours:
                self._paint_contours(painter, circle, head)
            painter.restore()
        painter.setPen(ink)
        painter.drawPath(outline)
        self._paint_electrodes(painter, circle, head)

    def _make_picture(self, head: HeadMap, values: np.ndarray) -> QImage:
        if self._picture is None:
            self._field = head.interpolate(values)
            field, cover = self._field, head.cover
            if self._circle().width() * self.devicePixelRatioF() > _FINE_FROM:
                field, cover = enlarged(field, _FINER), enlarged(cover, _FINER)
            rgb = colour_table(self._scale, self.theme)[indices(field, self._scale.low, self._scale.high)]
            ground = self.theme.colour("canvas")
            cover = np.clip(cover, 0, 1)[..., None]
            rgb = rgb * cover + np.array([ground.red(), ground.green(), ground.blue()]) * (1 - cover)
            self._picture = image(rgb.astype(np.uint8))
        return self._picture

    def _paint_contours(self, painter: QPainter, circle: QRectF, head: HeadMap) -> None:
        assert self._field is not None
        field = np.where(head.cover > 0.5, self._field, np.nan)
        step = circle.width() / head.size
        origin = np.array([circle.left() + step / 2, circle.top() + step / 2] * 2)
        peak = max(abs(self._scale.low), abs(self._scale.high))
        levels = contour_levels(peak)
        if self._scale.has_sign:
            levels = [*(-level for level in levels), 0.0, *levels]
        for level in levels:
            strength = 0.55 if level == 0 and self._scale.has_sign else 0.28
            painter.setPen(QPen(self.theme.colour("text", strength), 1))
            lines = contour_lines(field, level) * step + origin
            painter.drawLines([QLineF(*line) for line in lines.tolist()])

    def _paint_electrodes(self, painter: QPainter, circle: QRectF, head: HeadMap) -> None:
        places = [self._place(point, circle) for point in head.layout.points]
        dot = min(max(2.0, circle.width() / 110), 5.0)
        painter.setPen(QPen(self.theme.colour("text", 0.9), 1.0))
        # Filled with the value of the electrode itself, so that a lone artefact shows although splines are smooth.
        fills = [self.theme.colour("canvas")] * len(places)
        if self._values is not None and not self._stale:
            fills = colours_of(self._values, self._scale, self.theme)
        for place, fill in zip(places, fills, strict=True):
            painter.setBrush(fill)
            painter.drawEllipse(place, dot, dot)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if self._names:
            self._paint_names(painter, circle, places, head, dot)

    def _paint_names(self, painter: QPainter, circle: QRectF, places: list[QPointF], head: HeadMap, dot: float) -> None:
        size, rects = self._names_laid(places, head.layout.ch_names, circle, dot)
        painter.setFont(font(size))
        on_dark = self._darkness(places, circle)
        for name, rect, dark in zip(head.layout.ch_names, rects, on_dark, strict=True):
            if rect is not None:
                painter.setPen(_PALE if dark else _DEEP)
                painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, name)

    def _darkness(self, places: list[QPointF], circle: QRectF) -> list[bool]:
        """Whether each name stands on a dark colour."""
        if self._values is None or self._stale or self._field is None:
            return [self.theme.is_dark] * len(places)
        size = self._field.shape[0]
        at = np.array([(p.x() - circle.left(), p.y() - 9 - circle.top()) for p in places]) / circle.width() * size
        column, row = np.clip(at.astype(int), 0, size - 1).T
        found = indices(self._field[row, column], self._scale.low, self._scale.high)
        rgb = colour_table(self._scale, self.theme)[found]
        return (rgb @ np.array([0.299, 0.587, 0.114]) < 128).tolist()

    def _names_laid(
        self, places: list[QPointF], names: tuple[str, ...], circle: QRectF, dot: float
    ) -> tuple[int, list[QRectF | None]]:
        """Letters and places of the names, worked out once for a size of the picture."""
        key = circle.getRect(), names, font(10).pixelSize()
        if self._laid is None or self._laid[0] != key:
            self._laid = key, lay_names(places, names, circle, dot)
        return self._laid[1]

    def _paint_bar(self, painter: QPainter, circle: QRectF) -> None:
        if self._values is None and not self._stale:
            return
        top = circle.bottom() + _EDGE
        paint_scale_bar(
            painter, self._scale, self.width() / 2, top, self._bar_room, circle.width() * _BAR_SHARE, self.theme
        )

    # Mouse

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        """Tell the value of the electrode, or the place, under the mouse."""
        if event is not None:
            text = self.describe(event.position())
            QToolTip.showText(event.globalPosition().toPoint(), text, self)

    def leaveEvent(self, event: QEvent | None) -> None:
        """Nothing is told any more."""
        QToolTip.hideText()
        super().leaveEvent(event)

    def describe(self, at: QPointF) -> str:
        """What lies at a point of the widget: an electrode with its value, or what the spline gives there."""
        if self._head is None or self._values is None or self._stale:
            return ""
        circle = self._circle()
        places = [self._place(point, circle) for point in self._head.layout.points]
        gaps = [math.hypot(place.x() - at.x(), place.y() - at.y()) for place in places]
        nearest = int(np.argmin(gaps))
        if gaps[nearest] <= _NEAR_PX:
            return f"{self._head.layout.ch_names[nearest]}  {value_text(float(self._values[nearest]), self._scale)}"
        x, y = (at.x() - circle.left()) / circle.width(), (at.y() - circle.top()) / circle.height()
        if (x - 0.5) ** 2 + (y - 0.5) ** 2 > 0.25 or self._field is None:
            return ""
        row, column = int(y * self._head.size), int(x * self._head.size)
        if self._head.cover[row, column] < 0.5:
            return "no electrode near"
        return f"{value_text(float(self._field[row, column]), self._scale)}, interpolated"

    # Inside

    def _changed(self) -> None:
        self._picture = self._field = None
        self.update()

    def _describe(self) -> None:
        if self._head is None or self._values is None:
            self.setAccessibleDescription(self._message)
            return
        pairs = zip(self._head.layout.ch_names, self._values, strict=True)
        self.setAccessibleDescription(", ".join(f"{name} {value_text(float(v), self._scale)}" for name, v in pairs))
