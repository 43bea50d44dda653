"""Lag correlations between channels on the traces: arcs from a channel to the one that follows it a few ms later.

One quarter of a second after the other, the strongest pairs at the lag that is looked at, or at whichever is best.
"""

from __future__ import annotations

from PyQt6.QtCore import QPointF, Qt
from PyQt6.QtGui import QPainter, QPainterPath, QPen

from analysis.analyses import Analysis
from analysis.lag_arcs import LEAST_CORRELATION as _LEAST
from analysis.lag_arcs import Arc, arcs_title, strongest_arcs
from viewers.colour_key import ColourKey
from viewers.heat_scales import HeatScale, above, below
from viewers.overlays.heat import MEAN, AnalysisHeat, Heat
from viewers.rows import Rows, electrodes
from viewers.time_scale import TimeScale

_ROOM = 400  # quarters on a page, beyond which arcs are thinned out
_BEND = 0.9  # of the width of a quarter
_STALE = 0.35


def part_of(lag: int | None, channel: int | None = None) -> str:
    """How a lag (None: the best of all) and the arcs of one channel (None: of all) are asked for."""
    first = MEAN if lag is None else str(lag)
    return first if channel is None else f"{first}:{channel}"


class LagArcs(AnalysisHeat):
    """Draws the strongest arcs of an analysis of kind `dynamic-groups`."""

    title = "Lag correlations"
    place = "front"

    def __init__(self) -> None:
        super().__init__()
        self.arcs: list[Arc] = []

    def parts(self, result: Analysis) -> list[str]:
        """The best lag, each lag, and either for one channel."""
        lags: list[int | None] = [None, *range(result.values("correlation").shape[2])]
        channels: list[int | None] = [None, *range(result.values("correlation").shape[3])]
        return [part_of(lag, channel) for lag in lags for channel in channels]

    def heat_of(self, result: Analysis, part: str) -> Heat | None:
        """None: arcs are drawn in place of heat."""
        return None

    def curve_of(self, result: Analysis, part: str) -> None:
        """None."""
        return

    def _show(self) -> None:
        self.arcs = strongest_arcs(self.result, self.part) if self.result is not None else []
        super()._show()

    def key(self) -> ColourKey | None:
        """What the colours mean."""
        if self.result is None or not self.state.visible or not self.arcs:
            return None
        warning = " · ".join(filter(None, ("random weights" if self.result.random_weights else "", self._stale)))
        scale = HeatScale(-1.0, 1.0, 0.0, "", "", "")
        return ColourKey(arcs_title(self.result, self.part), scale, 1.0, warning)

    def describe(self, time: float, ch_name: str) -> str:
        """The arcs of a row in the quarter under the mouse."""
        if self.result is None or self.rows is None or ch_name not in self.rows.names:
            return ""
        quarter, names = float(self.result.facts["quarter_seconds"]), self.result.labels["channel"]
        own = electrodes(self.rows.montage.derivations[self.rows.index(ch_name)])
        found = [
            f"{names[arc.channel]} → {names[arc.later]} ρ {arc.correlation:.2f}, {1000 * arc.lag:.0f} ms".replace(
                "-", "−"
            )
            for arc in self.arcs
            if arc.time <= time < arc.time + quarter and {names[arc.channel], names[arc.later]} & set(own)
        ]
        return "   ".join(found[:3])

    def paint(self, painter: QPainter, scale: TimeScale, height: float) -> None:
        """The arcs of the page."""
        if self.result is None or self.rows is None:
            return
        places = row_places(self.rows, self.result.labels["channel"])
        width = float(self.result.facts["quarter_seconds"]) * scale.px_per_second
        shown = [a for a in self.arcs if scale.window.start <= a.time < scale.window.stop]
        shown = [a for a in shown if a.channel in places and a.later in places]
        if len(shown) > _ROOM:  # of a long page the strongest
            shown = sorted(shown, key=lambda a: -abs(a.correlation))[:_ROOM]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for arc in shown:
            self._paint_arc(painter, arc, scale, width, places)

    def _paint_arc(self, painter: QPainter, arc: Arc, scale: TimeScale, width: float, places: dict[int, float]) -> None:
        share = (abs(arc.correlation) - _LEAST) / (1 - _LEAST)
        ink = above if arc.correlation >= 0 else below
        faint = self.state.opacity * (_STALE if self._stale else 1.0)
        colour = ink(self.theme, min(1.0, faint * (0.5 + share)), self.state.diverging)
        pen = QPen(colour, 1.0 + 1.8 * share)
        painter.setPen(pen)
        x = scale.x(arc.time) + width / 2
        start, end = QPointF(x, places[arc.channel]), QPointF(x + arc.lag * scale.px_per_second, places[arc.later])
        bend = _BEND * width
        path = QPainterPath(start)
        path.cubicTo(start + QPointF(bend, 0), end + QPointF(bend, 0), end)
        painter.drawPath(path)
        painter.setBrush(pen.color())
        painter.drawEllipse(end, 2.2, 2.2)  # the later one
        painter.setBrush(Qt.BrushStyle.NoBrush)


def row_places(rows: Rows, channels: tuple[str, ...]) -> dict[int, float]:
    """Where each channel stands (number: y): in the middle of the row it begins, or else of one that it ends."""
    places: dict[int, float] = {}
    for number, name in enumerate(channels):
        found = [i for i, row in enumerate(rows.montage.derivations) if row.anode == name]
        found += [i for i, row in enumerate(rows.montage.derivations) if name in electrodes(row)]
        if found:
            top, bottom = rows.band(found[0])
            places[number] = (top + bottom) / 2
    return places
