"""Where a dense model's attention goes: to the token itself, its channel, its time, or neither, layer by layer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PyQt6.QtCore import QLineF, QRectF, Qt
from PyQt6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PyQt6.QtWidgets import QWidget

from analysis.analyses import Analysis
from analysis.analysis_tables import array_table
from viewers.heat_scales import above, below
from viewers.panels.kind_panel import Heading, KindPanel
from viewers.panels.layer_plot import Ink, LayerPlot, Series, accent
from viewers.theme import Theme, font, px

EQUAL = "equal"


def _muted(theme: Theme) -> QColor:
    return theme.colour("muted", 0.55)


_INKS: tuple[Ink, ...] = (accent, above, below, _muted)


class ShareBars(LayerPlot):
    """Shares on top of each other, a bar a layer; the first bar is that of equal attention, and its borders go on."""

    def set_shares(self, names: Sequence[str], shares: np.ndarray, equal: np.ndarray, layers: Sequence[str]) -> None:
        """Show shares (layers, relations) beside those of equal attention (relations,)."""
        table = np.concatenate([equal[None], shares])
        inks = zip(names, table.T, _INKS, strict=True)
        self.set_series([Series(name, values, ink) for name, values, ink in inks], (EQUAL, *layers), (0.0, 1.0))

    def paint_series(self, painter: QPainter) -> None:
        """The bars, and lines where shares would end if all tokens counted alike."""
        width = 0.78 * (self.x(1) - self.x(0))
        below_ = np.zeros(self.count)
        for series in self.series:
            for i, value in enumerate(series.values.tolist()):
                top, bottom = self.y(below_[i] + value), self.y(below_[i])
                painter.fillRect(QRectF(self.x(i) - width / 2, top, width, bottom - top), series.ink(self.theme))
            below_ += series.values
        painter.setPen(QPen(self.theme.colour("text", 0.7), 1, Qt.PenStyle.DashLine))
        at = 0.0
        for series in self.series[:-1]:
            at += float(series.values[0])
            painter.drawLine(QLineF(self.x(0), self.y(at), self.area.right(), self.y(at)))

    def _paint_names(self, painter: QPainter, area: QRectF, metrics: QFontMetricsF) -> None:
        painter.setFont(font(10))
        x = 2.0
        for series in self.series:
            width = metrics.horizontalAdvance(series.name)
            painter.fillRect(QRectF(x, px(5), px(8), px(8)), series.ink(self.theme))
            painter.setPen(self.theme.colour("text"))
            painter.drawText(QRectF(x + px(11), px(2), width + 2, px(14)), Qt.AlignmentFlag.AlignVCenter, series.name)
            x += width + px(20)

    def describe_layer(self, layer: int) -> str:
        """The shares of a layer in per cent."""
        name = "equal attention" if layer == 0 else f"layer {self.labels[layer]}"
        return "\n".join([name, *(f"{s.name} {100 * float(s.values[layer]):.2f} %" for s in self.series)])


class RelationMass(KindPanel):
    """Draws an analysis of kind `relation-mass`."""

    title = "Relations"
    tip = "Where the attention of a dense model goes"

    def make_body(self) -> None:
        """One plot."""
        self.heading = Heading("Share of attention")
        self.plot = ShareBars("Share of attention by relation and layer", 240)
        self.column.addWidget(self.heading)
        self.column.addWidget(self.plot)

    def body(self) -> Sequence[QWidget]:
        """The plot with its heading."""
        return [self.heading, self.plot]

    def show_result(self, result: Analysis) -> None:
        """Fill it."""
        layers = result.labels.get("layer", ())
        self.plot.set_shares(result.labels["relation"], result.values("mass"), result.values("uniform"), layers)
        self.heading.set_array(result.arrays["mass"], "mean over tokens, dashed: equal attention")

    def table(self) -> str:
        """Shares by layer."""
        return array_table(self.result, "mass") if self.result is not None else ""
