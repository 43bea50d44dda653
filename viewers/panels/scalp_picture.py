"""The drawing of a head at one size: what never changes is drawn once, the field of new values in a moment.

New values cost one product with the spline's matrix, one finer grid and one look into a table of colours, all in place;
outline, electrodes and names lie above that as a picture of their own.
"""

from __future__ import annotations

import numpy as np
from PyQt6.QtCore import QPointF, QRectF, QSize, Qt
from PyQt6.QtGui import QImage, QPainter, QPainterPath, QPen

from analysis.topography import HeadMap
from viewers.colour_scales import STEPS, enlarged, enlarged_parts, packed
from viewers.panels.head_shape import lay_names, paint_ears_and_nose
from viewers.panels.value_scale import Scale, colour_table
from viewers.theme import Theme, font

_HALO = 0.55  # of the ground's colour around letters, which stand on any colour of the field
_AROUND = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y]


def field_of(head: HeadMap, values: np.ndarray, scale: Scale) -> np.ndarray:
    """The field between electrodes: the spline, or of amounts the mean that nowhere goes beyond what was measured."""
    return head.interpolate(values) if scale.has_sign else head.interpolate_amounts(values)


class ScalpPicture:
    """Draws fields of one head within `circle` of a widget of `size`, at `ratio` pixels of the screen a unit."""

    def __init__(
        self, head: HeadMap, circle: QRectF, size: QSize, ratio: float, theme: Theme, names: bool = True
    ) -> None:
        self._head, self._circle, self._theme = head, circle, theme
        self._wide = max(head.size, round(circle.width() * ratio))
        points = head.layout.points
        radius = circle.width() / 2
        middle = circle.center()
        self.places = [QPointF(middle.x() + x * radius, middle.y() - y * radius) for x, y in points.tolist()]
        self.outline = QPainterPath()
        self.outline.addEllipse(circle)
        self.dot = min(max(2.0, circle.width() / 110), 5.0)
        self._inside = self._discs([(0.0, 0.0)], 1.0)[0]
        # Each electrode has the colour of its own value, so that a lone artefact shows although splines are smooth.
        self._dots, self._of = self._discs(points.tolist(), self.dot / radius)
        wide = self._wide
        self._mask = np.zeros((wide, wide), np.uint32)  # see-through outside the head
        self._mask.flat[self._inside] = 1
        self._pixels = np.zeros((wide, wide), np.uint32)
        self._field = QImage(self._pixels.data, wide, wide, 4 * wide, QImage.Format.Format_ARGB32_Premultiplied)
        self._field.setDevicePixelRatio(wide / circle.width())
        self._frame = self._draw_frame(size, ratio, names)

    def _discs(self, middles: list[tuple[float, float]], radius: float) -> tuple[np.ndarray, np.ndarray]:
        """Pixels within a radius (of the head) around some places, and which place each belongs to."""
        steps = (np.arange(self._wide) + 0.5) / self._wide * 2 - 1
        found, of = [], []
        for i, (x, y) in enumerate(middles):
            columns = np.flatnonzero(np.abs(steps - x) <= radius)
            rows = np.flatnonzero(np.abs(-steps - y) <= radius)
            near = np.hypot(steps[columns][None] - x, -steps[rows][:, None] - y) <= radius
            pixels = (rows[:, None] * self._wide + columns[None])[near]
            found.append(pixels)
            of.append(np.full(pixels.size, i))
        return np.concatenate(found), np.concatenate(of)

    def fill(self, field: np.ndarray, values: np.ndarray, scale: Scale) -> None:
        """Take the colours of a field (size, size) and of the electrodes' values (n,)."""
        colours = packed(colour_table(scale, self._theme))
        # In steps of the scale before it is made finer, since that costs a pass over fewer points.
        with np.errstate(invalid="ignore"):  # what is not a number becomes the lowest step
            for rows, fine in enlarged_parts(_in_steps(field, scale), self._wide):
                np.take(colours, fine.astype(np.intp), out=self._pixels[rows], mode="clip")
            dots = np.take(colours, _in_steps(values, scale).astype(np.intp), mode="clip")
        self._pixels *= self._mask
        self._pixels.ravel()[self._dots] = dots[self._of]

    def paint_field(self, painter: QPainter) -> None:
        """Draw what was filled."""
        painter.drawImage(self._circle.topLeft(), self._field)

    def paint_frame(self, painter: QPainter) -> None:
        """Draw outline, electrodes and names over it."""
        painter.drawImage(QPointF(0, 0), self._frame)

    # What never changes

    def _draw_frame(self, size: QSize, ratio: float, names: bool) -> QImage:
        frame = QImage(size * ratio, QImage.Format.Format_ARGB32_Premultiplied)
        frame.setDevicePixelRatio(ratio)
        frame.fill(Qt.GlobalColor.transparent)
        painter = QPainter(frame)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ink = QPen(self._theme.colour("text", 0.85), 1.6)
        ink.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        paint_ears_and_nose(painter, self._circle, ink, self._theme.colour("canvas"))
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Clear)
        painter.fillPath(self.outline, Qt.GlobalColor.transparent)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
        painter.drawImage(self._circle.topLeft(), self._draw_fading())
        painter.setPen(ink)
        painter.drawPath(self.outline)
        painter.setPen(QPen(self._theme.colour("text", 0.9), 1.0))
        for place in self.places:
            painter.drawEllipse(place, self.dot, self.dot)
        if names:
            self._draw_names(painter)
        painter.end()
        return frame

    def _draw_fading(self) -> QImage:
        """The ground, the more of it the further a point is from any electrode."""
        ground = self._theme.colour("canvas")
        alpha = np.zeros(self._wide * self._wide)
        alpha[self._inside] = 1 - np.clip(enlarged(self._head.cover, self._wide), 0, 1).ravel()[self._inside]
        pixels = np.round(255 * alpha).astype(np.uint32) << 24
        for colour, shift in ((ground.red(), 16), (ground.green(), 8), (ground.blue(), 0)):
            pixels |= np.round(colour * alpha).astype(np.uint32) << shift
        wide = self._wide
        picture = QImage(pixels.data, wide, wide, 4 * wide, QImage.Format.Format_ARGB32_Premultiplied).copy()
        picture.setDevicePixelRatio(wide / self._circle.width())
        return picture

    def _draw_names(self, painter: QPainter) -> None:
        names = self._head.layout.ch_names
        size, rects = lay_names(self.places, names, self._circle, self.dot)
        painter.setFont(font(size))
        for name, rect in zip(names, rects, strict=True):
            if rect is None:
                continue
            painter.setPen(self._theme.colour("canvas", _HALO))
            for x, y in _AROUND:
                painter.drawText(rect.translated(x, y), Qt.AlignmentFlag.AlignCenter, name)
            painter.setPen(self._theme.colour("text"))
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, name)


def _in_steps(values: np.ndarray, scale: Scale) -> np.ndarray:
    """Values in steps of a table of colours from its low end, float32."""
    factor = (STEPS - 1) / (scale.high - scale.low if scale.high > scale.low else 1.0)
    return np.asarray((values - scale.low) * factor, np.float32)
