"""How MVPFormer attends to times: mass by lag, which term decides, and where it goes, channel against time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PyQt6.QtGui import QColor
from PyQt6.QtWidgets import QWidget

from analysis.analyses import Analysis
from analysis.analysis_tables import array_table
from analysis.attention_parts import Part
from viewers.heat_scales import above, amount, below
from viewers.panels.base import Chooser, line_of, note
from viewers.panels.kind_panel import MEAN, Heading, KindPanel
from viewers.panels.lag_plot import LagPlot
from viewers.panels.layer_plot import LayerPlot, Series, accent
from viewers.panels.matrix_plot import MatrixPlot
from viewers.panels.row_bars import RowBars
from viewers.theme import Theme

_LAGS = (
    ("by_lag", "as it is", accent),
    ("by_lag_without_content", "no content", below),
    ("by_lag_whole_context", "wide window", above),
)
_INKS = {"content": accent, "time": above, "channel": below}
_WINDOW = (
    "Beyond the window the content term is zero, and time and channel terms still take part. The last segment, which a "
    "classifier reads, sees content everywhere."
)
_SHORT = "These {0} segments lie within the window of the content term, so widening it would change nothing."
_EVEN = "In brackets: what even attention over all that a token may see would give."
_LAG_EVEN = "Even attention too has less mass at long lags, which only late segments can look back to."


def muted(theme: Theme) -> QColor:
    """The colour of what is there to compare with."""
    return theme.colour("muted")


class AttentionTimes(KindPanel):
    """Draws an analysis of kind `attention`."""

    title = "Attention"
    tip = "How an MVPFormer attends to times, and to channels at these"

    def make_body(self) -> None:
        """Choosers, masses by lag, shares of the terms, channel against time, and segment against segment."""
        self.layer = Chooser("Layer", [(MEAN, "Mean of layers")])
        self.head = Chooser("Head", [(MEAN, "Mean of heads")])
        self.lag_heading, self.lags = Heading("Attention by lag"), LagPlot("Attention by lag")
        self._window = note(_WINDOW)
        self.share_heading = Heading("Share of the terms by layer")
        self.share = LayerPlot("Share of content, time and channel term by layer", 124)
        self.relation_heading = Heading("Channel against time")
        self.relation = RowBars("Where attention goes, by channel and time")
        self._even = note(_EVEN)
        self.between_heading = Heading("From segment to segment")
        self.between = MatrixPlot("Attention from segment to segment", height=260, square=True)
        self.column.addLayout(line_of(self.layer, self.head))
        for widget in self._pictures():
            self.column.addWidget(widget)
        for chooser in (self.layer, self.head):
            chooser.chosen.connect(self._on_chosen)
        self.share.layer_clicked.connect(self._on_layer)

    def _pictures(self) -> list[QWidget]:
        first = [self.lag_heading, self.lags, self._window, self.relation_heading, self.relation, self._even]
        return [*first, self.share_heading, self.share, self.between_heading, self.between]

    def body(self) -> Sequence[QWidget]:
        """All there is."""
        return [self.layer, self.head, *self._pictures()]

    @property
    def part(self) -> Part:
        """Layer and head on show."""
        layer, head = (None if c.value() in ("", MEAN) else int(c.value()) for c in (self.layer, self.head))
        return Part(layer, head)

    def show_result(self, result: Analysis) -> None:
        """Offer its layers and heads, and fill everything."""
        deep, wide = result.values("by_lag").shape[:2]
        self.layer.set_choices([(MEAN, "Mean of layers"), *((str(i), f"Layer {i}") for i in range(deep))])
        self.head.set_choices([(MEAN, "Mean of heads"), *((str(i), f"Head {i}") for i in range(wide))])
        self._show(result)

    def _show(self, result: Analysis) -> None:
        part = self.part
        there = [line for line in _LAGS if line[0] in result.arrays]
        series = [Series("even", np.array(result.facts["even_by_lag"]), muted)]
        series += [Series(words, part.map_of(result.values(name)), ink) for name, words, ink in there]
        self.lags.set_series(series, result.labels["lag"])
        self.lags.set_window(int(result.facts["content_window_segments"]))
        self.lag_heading.set_array(result.arrays["by_lag"], f"share, sums to 1 · {part.words}")
        short = "" if len(there) == len(_LAGS) else " " + _SHORT.format(result.facts["segments"])
        self._window.setText(f"{_LAG_EVEN} {_WINDOW}{short}")
        self._show_share(result)
        values, even = part.map_of(result.values("relation")), result.facts["even_relation"]
        names = [f"{n} ({e:.2f})" for n, e in zip(result.labels["relation"], even, strict=True)]
        self.relation.set_bars(names, values, most=1.0)
        self.relation_heading.set_array(result.arrays["relation"], f"share · {part.words}")
        segments = result.labels["segment"]
        between = part.map_of(result.values("between_times"))
        self.between.set_values(between, segments, segments, None, ("from", "to"), "share of attention")
        self.between_heading.set_array(result.arrays["between_times"], f"share, rows sum to 1 · {part.words}")

    def _show_share(self, result: Analysis) -> None:
        """Over the layers, of the head on show or the mean of all."""
        part, values = self.part, result.values("share")
        by_layer = values.mean(1) if part.head is None else values[:, part.head]
        inks = [_INKS.get(name, amount) for name in result.labels["term"]]
        names = result.labels["term"]
        series = [Series(names[i], by_layer[:, i], ink) for i, ink in enumerate(inks)]
        self.share.set_series(series, y_range=(0.0, 1.05))
        self.share.choose(part.layer)
        head = "mean of heads" if part.head is None else f"head {part.head}"
        self.share_heading.set_array(result.arrays["share"], f"of the scores, sum to 1 · {head}")

    def table(self) -> str:
        """Everything that is drawn, by layer and head."""
        if self.result is None:
            return ""
        names = [name for name, _, _ in _LAGS if name in self.result.arrays]
        return "\n".join(array_table(self.result, name) for name in (*names, "share", "relation", "between_times"))

    def _on_chosen(self, _value: str) -> None:
        if self.result is not None:
            self._show(self.result)

    def _on_layer(self, layer: int) -> None:
        # The layer that is shown gives way to the mean again.
        self.layer.choose(MEAN if self.layer.value() == str(layer) else str(layer))
        self._on_chosen("")
