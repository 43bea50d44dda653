"""What flows between MVPFormer's channels: strength beside each row, and arcs from a channel to those it attends to."""

from __future__ import annotations

import numpy as np
from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPen

from analysis.analyses import Analysis
from analysis.annotation import RANDOM_WEIGHTS
from analysis.attention_maps import FLOW, strength_in, strength_out, strongest_targets
from analysis.attention_parts import Part, part_named
from analysis.montage import Montage
from analysis.recording import Page
from viewers.colour_key import ColourKey
from viewers.gutter import GutterStrip
from viewers.heat_scales import HeatScale, amount
from viewers.overlays.heat import MEAN, AnalysisHeat, Heat
from viewers.overlays.lag_arcs import row_places
from viewers.rows import Rows, electrodes
from viewers.theme import font, px
from viewers.time_scale import TimeScale

_MOST_ARCS = 8
_LEFT, _BEND, _MOST_BEND = 16.0, 0.45, 220.0  # pixels from the edge; a share of the height of an arc
_STALE = 0.35
_REACHES = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0)  # few, so that colours mean the same from page to page
_MOST = (1.05, 1.1, 1.25, 1.5, 2.0, 5.0, 10.0)
_COVERED = 98.0


def strength_scale(*strengths: np.ndarray) -> HeatScale:
    """Colours around the share of even attention, which is 1, that reach as far as nearly all strengths do."""
    values = np.concatenate([s.ravel() for s in strengths])
    known = np.abs(values[np.isfinite(values)] - 1.0)
    spread = float(np.percentile(known, _COVERED)) if known.size else 0.0
    reach = next((r for r in _REACHES if spread <= r), _REACHES[-1])
    return HeatScale(1 - reach, 1 + reach, 1.0, "×", "less", "more")


class ChannelFlow(AnalysisHeat):
    """Draws the realised map of an analysis of kind `channel-map`; arcs only for a channel that is chosen."""

    title = "Channel map"
    place = "front"

    def __init__(self) -> None:
        super().__init__()
        self.flow = np.empty((0, 0))
        self.targets: list[int] = []
        self._strips: tuple[object, dict[str, GutterStrip]] | None = None

    def parts(self, result: Analysis) -> list[str]:
        """Every layer and head, and their means; each may be asked for with a channel too."""
        deep, wide = result.values(FLOW).shape[:2]
        layers, heads = [None, *range(deep)], [None, *range(wide)]
        return [Part(layer, head).name for layer in layers for head in heads]

    def set_result(self, result: Analysis | None) -> None:
        """Take other numbers; layer, head and channel that they lack give way to the mean and to none."""
        self.result = result
        if result is not None:
            part, shape = part_named(self.part), result.values(FLOW).shape
            places = zip((part.layer, part.head, part.channel), shape, strict=False)
            if any(place is not None and place >= size for place, size in places):
                self.part = MEAN
        self._show()

    def heat_of(self, result: Analysis, part: str) -> Heat | None:
        """None: arcs and strips are drawn in place of heat."""
        return None

    def curve_of(self, result: Analysis, part: str) -> None:
        """None."""
        return

    @property
    def chosen(self) -> Part:
        """What is drawn."""
        return part_named(self.part)

    def _show(self) -> None:
        self._strips = None
        self.flow, self.targets = np.empty((0, 0)), []
        if self.result is not None:
            self.flow = self.chosen.map_of(self.result.values(FLOW)).astype(np.float64)
            channel = self.chosen.channel
            if channel is not None:
                self.targets = strongest_targets(self.flow[channel], channel, _MOST_ARCS)
        super()._show()

    # Beside the rows

    def show_page(self, page: Page, rows: Rows) -> None:
        """Follow the rows."""
        super().show_page(page, rows)
        self._tell_strips()

    def strips(self, montage: Montage) -> dict[str, GutterStrip]:
        """What each row receives and gives, by the names of both."""
        if self.result is None or self.flow.shape[0] < 2:
            return {}
        if self._strips is None or self._strips[0] is not montage:
            received, given = strength_in(self.flow), strength_out(self.flow)
            scale, names = strength_scale(received, given), self.result.labels["channel"]
            random_weights = f", {RANDOM_WEIGHTS}" if self.result.random_weights else ""
            told = f"of even attention ({self.chosen.words}) [our definition]{random_weights}"
            found = {
                "in": GutterStrip(_of_rows(montage, names, received), scale, f"receives from other channels, {told}"),
                "out": GutterStrip(_of_rows(montage, names, given), scale, f"gives to other channels, {told}"),
            }
            self._strips = montage, found
        return self._strips[1]

    def _tell_strips(self, hidden: bool = False) -> None:
        if self._plot is None:
            return
        shown = self.rows is not None and self.state.visible and not hidden and not self._stale
        found = self.strips(self.rows.montage) if shown and self.rows is not None else {}
        for which in ("in", "out"):
            self._plot.set_strip(f"{self.title} {which}", found.get(which))

    def detach(self) -> None:
        """Remove the item, the strips and the keys."""
        if self._plot is not None:
            self._plot.set_key(f"{self.title} strength", None)
        self._tell_strips(hidden=True)
        super().detach()

    # Keys

    def _tell_key(self, hidden: bool = False) -> None:
        super()._tell_key(hidden)
        if self._plot is not None:
            self._plot.set_key(f"{self.title} strength", None if hidden else self.strength_key())
        self._tell_strips(hidden)

    def _warning(self) -> str:
        random_weights = self.result is not None and self.result.random_weights
        return " · ".join(filter(None, (RANDOM_WEIGHTS if random_weights else "", self._stale)))

    def key(self) -> ColourKey | None:
        """What the arcs mean; None without any."""
        if self.result is None or not self.state.visible or not self.targets:
            return None
        names, channel = self.result.labels["channel"], self.chosen.channel
        assert channel is not None
        title = f"What {names[channel]} attends to most, of even attention, {self.chosen.words} [our definition]"
        return ColourKey(title, self._arc_scale(), 1.0, self._warning())

    def strength_key(self) -> ColourKey | None:
        """What the colours beside the rows mean."""
        if self.result is None or not self.state.visible or self.flow.shape[0] < 2:
            return None
        title = f"Receives | gives, of even attention, {self.chosen.words} [our definition]"
        return ColourKey(title, strength_scale(strength_in(self.flow), strength_out(self.flow)), 1.0, self._warning())

    def _arc_scale(self) -> HeatScale:
        """From the share of even attention, which is 1 and below which no arc is drawn, to that of the strongest."""
        n, channel = self.flow.shape[0], self.chosen.channel
        most = n * float(self.flow[channel, self.targets[0]]) if self.targets and channel is not None else 1.0
        return HeatScale(1.0, next((m for m in _MOST if most <= m), float(n)), None, "×", "even")

    def describe(self, time: float, ch_name: str) -> str:
        """What the electrodes of a row receive and give, and what of the chosen channel goes there."""
        if self.result is None or self.rows is None or ch_name not in self.rows.names or self.flow.shape[0] < 2:
            return ""
        names, channel = self.result.labels["channel"], self.chosen.channel
        received, given = strength_in(self.flow), strength_out(self.flow)
        found = []
        for name in electrodes(self.rows.montage.derivations[self.rows.index(ch_name)]):
            if name in names:
                i = names.index(name)
                text = f"{name} receives {received[i]:.2f}×, gives {given[i]:.2f}× of even attention"
                if channel is not None and channel != i:
                    text += f", {100 * self.flow[channel, i]:.3g} % of {names[channel]}'s"
                found.append(text)
        said = self._warning()
        return "   ".join(found[:2]) + (f" ({said})" if found and said else "")

    # Arcs

    def paint(self, painter: QPainter, scale: TimeScale, height: float) -> None:
        """The arcs of the chosen channel at the left edge of the page; the map is that of the whole span."""
        if self.result is None or self.rows is None or self.chosen.channel is None:
            return
        places = row_places(self.rows, self.result.labels["channel"])
        channel = self.chosen.channel
        if channel not in places:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for rank, target in reversed(list(enumerate(self.targets))):
            if target in places and places[target] != places[channel]:
                self._paint_arc(painter, places[channel], places[target], float(self.flow[channel, target]), rank)
        painter.setPen(QPen(self.theme.colour("text"), 1.4))
        painter.setBrush(self.theme.colour("canvas"))
        painter.drawEllipse(QPointF(_LEFT, places[channel]), 4.0, 4.0)
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _paint_arc(self, painter: QPainter, start: float, end: float, share: float, rank: int) -> None:
        strength = self._arc_scale().share(self.flow.shape[0] * share)
        faint = self.state.opacity * (_STALE if self._stale else 1.0)
        pen = QPen(
            amount(self.theme, min(1.0, faint * (1.2 + 0.6 * strength)), self.state.sequential, strength),
            1.4 + 2.0 * strength,
        )
        painter.setBrush(Qt.BrushStyle.NoBrush)
        bend = min(_MOST_BEND, 18 + _BEND * abs(end - start))
        path = QPainterPath(QPointF(_LEFT, start))
        path.cubicTo(QPointF(_LEFT + bend, start), QPointF(_LEFT + bend, end), QPointF(_LEFT, end))
        # A rim in the colour of the page lets a thin line be followed over dense traces.
        painter.setPen(QPen(self.theme.colour("canvas", min(1.0, faint)), pen.widthF() + 2.4))
        painter.drawPath(path)
        painter.setPen(pen)
        painter.drawPath(path)
        painter.setBrush(pen.color())
        painter.drawEllipse(QPointF(_LEFT, end), 2.6, 2.6)  # where it attends to
        if rank < _MOST_ARCS // 2:
            self._paint_share(painter, end, share)

    def _paint_share(self, painter: QPainter, y: float, share: float) -> None:
        """The share beside the dot, on a ground that lets the trace through."""
        painter.setFont(font(9))
        times = self.flow.shape[0] * share
        text = f"{times:.{3 if times < _MOST[1] else 2}f}×"
        box = QRectF(_LEFT + 6, y - px(7), QFontMetricsF(painter.font()).horizontalAdvance(text) + 6, px(13))
        painter.fillRect(box, self.theme.colour("canvas", 0.8))
        painter.setPen(self.theme.colour("text"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)


def _of_rows(montage: Montage, names: tuple[str, ...], values: np.ndarray) -> np.ndarray:
    """Means (rows,) over the electrodes of each row that have values; NaN where none has."""
    place = {name: i for i, name in enumerate(names)}
    out = np.full(len(montage.derivations), np.nan)
    for i, row in enumerate(montage.derivations):
        found = [place[name] for name in electrodes(row) if name in place]
        if found:
            out[i] = values[found].mean()
    return out
