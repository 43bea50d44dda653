"""A plot over the layers of a model: bars from a balance, lines with marks, limits; a layer can be chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from PyQt6.QtCore import QLineF, QPointF, QRectF, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QFocusEvent, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen, QPolygonF

from viewers.panels.plot import Plot, Tick, linear_ticks
from viewers.theme import Theme, font, px

Ink = Callable[[Theme], QColor]


def accent(theme: Theme) -> QColor:
    """The colour of what a model says."""
    return theme.colour("accent")


@dataclass(frozen=True)
class Series:
    """Values by layer (n,), how they are called and drawn; `spread` (n,) is drawn as whiskers of that half length."""

    name: str
    values: np.ndarray
    ink: Ink
    spread: np.ndarray | None = None


class LayerPlot(Plot):
    """Draws series over layers; a click or the arrow keys choose a layer."""

    layer_clicked = pyqtSignal(int)
    x_title = "layer"

    def __init__(self, name: str, height: int = 120) -> None:
        super().__init__(name, height)
        self.series: list[Series] = []
        self.labels: tuple[str, ...] = ()
        self.chosen: int | None = None
        self.limit: tuple[float, str] | None = None
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def set_series(
        self,
        series: Sequence[Series],
        labels: Sequence[str] = (),
        y_range: tuple[float, float] | None = None,
        limit: tuple[float, str] | None = None,
    ) -> None:
        """Show series of one length; `labels` name the layers, `limit` is a line with its words."""
        self.series, self.limit = list(series), limit
        self.top_room = 18.0 if len(self.series) > 1 else LayerPlot.top_room  # names stand above the lines
        count = len(series[0].values) if series else 0
        self.labels = tuple(labels) or tuple(str(i) for i in range(count))
        self.x_range = (-0.5, max(count, 1) - 0.5)
        self.y_range = y_range or _range_of(series)
        self.setAccessibleDescription("; ".join(self.describe_layer(i).replace("\n", ", ") for i in range(count)))
        self.update()

    def choose(self, layer: int | None) -> None:
        """Point out a layer."""
        if layer != self.chosen:
            self.chosen = layer
            self.update()

    @property
    def count(self) -> int:
        """How many layers there are."""
        return len(self.series[0].values) if self.series else 0

    def x_ticks(self) -> Sequence[Tick]:
        """Names of layers, as many as fit."""
        metrics = QFontMetricsF(font(10))
        widest = max((metrics.horizontalAdvance(text) for text in self.labels), default=1.0) + 6
        step = max(1, int(np.ceil(self.count * widest / max(1.0, self.area.width()))))
        return [(float(i), self.labels[i]) for i in range(0, self.count, step)]

    def paint_plot(self, painter: QPainter, area: QRectF) -> None:
        """The chosen layer's ground, the limit, and the series."""
        if self.chosen is not None:
            left, right = self.x(self.chosen - 0.5), self.x(self.chosen + 0.5)
            painter.fillRect(QRectF(left, area.top(), right - left, area.height()), self.theme.colour("accent", 0.16))
        self.paint_series(painter)
        if self.limit is not None:
            y = self.y(self.limit[0])
            painter.setPen(QPen(self.theme.colour("caution"), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QLineF(area.left(), y, area.right(), y))

    def paint_series(self, painter: QPainter) -> None:
        """A line with a dot a layer for each series."""
        for series in self.series:
            ink = series.ink(self.theme)
            points = [QPointF(self.x(i), self.y(v)) for i, v in enumerate(series.values.tolist()) if np.isfinite(v)]
            painter.setPen(QPen(ink, 1.4))
            painter.drawPolyline(QPolygonF(points))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ink)
            for point in points:
                painter.drawEllipse(point, 2.2, 2.2)
            painter.setBrush(Qt.BrushStyle.NoBrush)

    def paint_over(self, painter: QPainter, area: QRectF) -> None:
        """Names of the series and of the limit, and the focus."""
        painter.setFont(font(10))
        metrics = QFontMetricsF(painter.font())
        if len(self.series) > 1:
            self._paint_names(painter, area, metrics)
        if self.limit is not None:
            width = metrics.horizontalAdvance(self.limit[1]) + 6
            box = QRectF(area.right() - width - 2, self.y(self.limit[0]) - px(14), width, px(13))
            painter.fillRect(box, self.theme.colour("canvas", 0.75))
            painter.setPen(self.theme.colour("caution"))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self.limit[1])
        if self.hasFocus():
            painter.setPen(QPen(self.theme.colour("accent"), 1))
            painter.drawRect(area)

    def _paint_names(self, painter: QPainter, area: QRectF, metrics: QFontMetricsF) -> None:
        x = area.right() - 4
        for series in reversed(self.series):
            width = metrics.horizontalAdvance(series.name)
            box = QRectF(x - width, area.top() - px(15), width, px(13))
            painter.setPen(series.ink(self.theme))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, series.name)
            x -= width + 8

    # Mouse and keys

    def layer_at(self, x: float) -> int | None:
        """The layer at a pixel."""
        layer = round(self.x_at(x))
        return layer if 0 <= layer < self.count else None

    def describe_layer(self, layer: int) -> str:
        """The values of a layer, a line each."""
        lines = [f"layer {self.labels[layer]}"]
        for series in self.series:
            spread = f" ± {series.spread[layer]:.3f}" if series.spread is not None else ""
            value = series.values[layer]
            lines.append(f"{series.name} {f'{value:.3f}' if np.isfinite(value) else 'not defined'}{spread}")
        return "\n".join(lines)

    def describe(self, at: QPointF) -> str:
        """The values of the layer under the mouse."""
        layer = self.layer_at(at.x())
        return self.describe_layer(layer) if layer is not None else ""

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Choose the layer that is clicked."""
        if event is not None and self.area.contains(event.position()) and not self.message:
            layer = self.layer_at(event.position().x())
            if layer is not None:
                self.layer_clicked.emit(layer)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Left and right choose the neighbouring layer."""
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if event is None or event.key() not in steps or not self.count:
            super().keyPressEvent(event)
            return
        step = steps[Qt.Key(event.key())]
        start = self.chosen if self.chosen is not None else (-1 if step > 0 else self.count)
        self.layer_clicked.emit(min(max(start + step, 0), self.count - 1))

    def focusInEvent(self, event: QFocusEvent | None) -> None:
        """Show that keys go here."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent | None) -> None:
        """Show that they go elsewhere."""
        super().focusOutEvent(event)
        self.update()


class BalanceBars(LayerPlot):
    """Bars from a balance, brown below and teal above, with whiskers, and words for both directions."""

    def __init__(self, name: str, words: tuple[str, str], inks: tuple[Ink, Ink], height: int = 150) -> None:
        """`words` and `inks` are those below and above the balance."""
        super().__init__(name, height)
        self.balance = 0.5
        self._words, self._inks = words, inks

    def y_ticks(self) -> Sequence[Tick]:
        """Quarters where all weights are shown, else round values."""
        low, high = self.y_range
        if (low, high) == (0.0, 1.0):
            quarters = (0.0, 0.25, 0.5, 0.75, 1.0) if self.area.height() > px(80) else (0.0, 0.5, 1.0)
            return [(v, f"{v:.2f}") for v in quarters]
        return linear_ticks(low, high, most=4)

    def paint_series(self, painter: QPainter) -> None:
        """A bar and its whiskers a layer."""
        series = self.series[0]
        width = 0.72 * (self.x(1) - self.x(0))
        zero = self.y(self.balance)
        for i, value in enumerate(series.values.tolist()):
            y, x = self.y(value), self.x(i)
            bar = QRectF(x - width / 2, min(y, zero), width, abs(y - zero))
            painter.fillRect(bar, self._inks[int(value >= self.balance)](self.theme))
            if series.spread is not None:
                half = float(series.spread[i])
                painter.setPen(QPen(self.theme.colour("text"), 1.2))
                painter.drawLine(QLineF(x, self.y(value - half), x, self.y(value + half)))
        painter.setPen(QPen(self.theme.colour("muted"), 1))
        painter.drawLine(QLineF(self.area.left(), zero, self.area.right(), zero))

    def paint_over(self, painter: QPainter, area: QRectF) -> None:
        """Which direction means what."""
        super().paint_over(painter, area)
        painter.setFont(font(10, bold=True))
        metrics = QFontMetricsF(painter.font())
        tops = (area.bottom() - px(15), area.top() + 2)
        for word, ink, top in zip(self._words, self._inks, tops, strict=True):
            width = metrics.horizontalAdvance(word) + 6
            box = QRectF(area.right() - width - 2, top, width, px(13))
            painter.fillRect(box, self.theme.colour("canvas", 0.8))
            painter.setPen(ink(self.theme))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, word)


def _range_of(series: Sequence[Series]) -> tuple[float, float]:
    """From zero, or the least value below it, to a little above the greatest."""
    parts = [s.values[np.isfinite(s.values)] for s in series]
    known = np.concatenate(parts) if parts else np.empty(0)
    low, high = (min(0.0, float(known.min())), float(known.max())) if known.size else (0.0, 1.0)
    return low, high + 0.08 * (high - low) if high > low else low + 1.0
