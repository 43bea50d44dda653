"""A head from above with a field over it: nose up, left at the left, electrodes by their own names, a scale below."""

from __future__ import annotations

import math

import numpy as np
from PyQt6.QtCore import QLineF, QPointF, QRectF, Qt
from PyQt6.QtGui import QPainter, QPainterPath, QPaintEvent, QPen

from analysis.topography import HeadMap
from viewers.contours import contour_levels, contour_lines
from viewers.glyphs import paint_focus
from viewers.panels.head_shape import EAR, NOSE
from viewers.panels.plot import BUSY, paint_message
from viewers.panels.scalp_picture import ScalpPicture, field_of
from viewers.panels.value_scale import ScaleBar, value_text
from viewers.panels.value_view import ValueView
from viewers.theme import px

_EDGE = 4.0
_NEAR_PX = 12.0
_FOCUS = 6.5
_BAR_SHARE = 0.56
_FADED = 0.45  # of the strength, of what is being renewed


class HeadView(ValueView):
    """Draws the values of a HeadMap's electrodes and the spline between them; a message where there is nothing."""

    def __init__(self) -> None:
        super().__init__("Map of the scalp")
        self._head: HeadMap | None = None
        self._contours = False
        self._names = True
        self._field: np.ndarray | None = None
        self._picture: tuple[object, object, ScalpPicture] | None = None
        self._bar = ScaleBar()

    # What is shown

    def set_head(self, head: HeadMap | None) -> None:
        """Take the electrodes."""
        if head is not self._head:
            self._head, self._values = head, None
            self._changed()

    def set_options(self, contours: bool, names: bool) -> None:
        """Draw lines of equal value, and the names of the electrodes."""
        self._contours, self._names = contours, names
        self.update()

    # Places

    @property
    def _bar_room(self) -> float:
        return px(26.0)

    def _circle(self) -> QRectF:
        """The square around the outline of the head, on whole pixels."""
        height = self.height() - self._bar_room - 2 * _EDGE
        radius = max(10.0, min((self.width() - 2 * _EDGE) / (2 * (1 + EAR)), height / (2 + NOSE)))
        top, radius = math.ceil(_EDGE + NOSE * radius), math.floor(radius)
        return QRectF(self.width() // 2 - radius, top, 2 * radius, 2 * radius)

    def _place(self, point: np.ndarray, circle: QRectF) -> QPointF:
        radius = circle.width() / 2
        return QPointF(circle.center().x() + point[0] * radius, circle.center().y() - point[1] * radius)

    # Painting

    def paintEvent(self, _event: QPaintEvent | None) -> None:
        """Draw everything; a change of the values costs one product and a look into a table of colours."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        circle = self._circle()
        if self._head is not None:
            self._paint_head(painter, circle, self._head)
            self._paint_bar(painter, circle)
        text = self._message or (BUSY if self._stale else "")
        if text:
            paint_message(painter, circle if self._head is not None else QRectF(self.rect()), text, self.theme)

    def _paint_head(self, painter: QPainter, circle: QRectF, head: HeadMap) -> None:
        picture = self._picture_of(head, circle)
        if self._values is None or self._stale:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.theme.colour("canvas"))
            painter.drawEllipse(circle)
        if self._values is not None:
            painter.setOpacity(_FADED if self._stale else 1.0)
            if self._field is None:
                self._field = field_of(head, self._values, self._scale)
                picture.fill(self._field, self._values, self._scale)
            picture.paint_field(painter)
            if self._contours:
                self._paint_contours(painter, circle, head, picture.outline)
            painter.setOpacity(1.0)
        picture.paint_frame(painter)
        if self._focus in head.layout.ch_names:
            paint_focus(painter, picture.places[head.layout.ch_names.index(self._focus)], px(_FOCUS), self.theme)

    def _picture_of(self, head: HeadMap, circle: QRectF) -> ScalpPicture:
        """What is drawn of a head at this size; all that does not depend on the values is drawn once."""
        key = circle.getRect(), self.devicePixelRatioF(), self.theme, self._names, px(1.0)
        if self._picture is None or self._picture[0] is not head or self._picture[1] != key:
            ratio = self.devicePixelRatioF()
            self._picture = head, key, ScalpPicture(head, circle, self.size(), ratio, self.theme, self._names)
            self._field = None
        return self._picture[2]

    def _paint_contours(self, painter: QPainter, circle: QRectF, head: HeadMap, outline: QPainterPath) -> None:
        assert self._field is not None
        painter.save()
        painter.setClipPath(outline)
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
        painter.restore()

    def _paint_bar(self, painter: QPainter, circle: QRectF) -> None:
        if self._values is None and not self._stale:
            return
        room = QRectF(0, math.ceil(circle.bottom() + _EDGE), self.width(), math.ceil(self._bar_room))
        self._bar.paint(painter, self._scale, room, circle.width() * _BAR_SHARE, self.theme)

    # Mouse

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
        self._field = None
        self.update()

    def _describe(self) -> None:
        if self._head is None or self._values is None:
            self.setAccessibleDescription(self._message)
            return
        pairs = zip(self._head.layout.ch_names, self._values, strict=True)
        self.setAccessibleDescription(", ".join(f"{name} {value_text(float(v), self._scale)}" for name, v in pairs))
