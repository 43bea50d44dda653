"""AXON's gates by layer: which axis they listen to, how decided they are, and how much they differ between tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PyQt6.QtWidgets import QWidget

from analysis.analyses import Analysis
from analysis.analysis_tables import column_table
from viewers.heat_scales import above, amount, below
from viewers.panels.base import Chooser, line_of
from viewers.panels.kind_panel import MEAN, Heading, KindPanel
from viewers.panels.layer_plot import BalanceBars, Ink, LayerPlot, Series, accent

_SPREADS = (("D_token", "d_token"), ("D_position", "d_position"), ("D_content", "d_content"))
_TABLE = ("mean", "sd", "short_mean", "entropy_ratio", "d_token", "d_position", "d_content")


class GateBars(KindPanel):
    """Profile, scale gate, entropy ratio and spreads of an analysis of kind `gates`."""

    title = "Gates"
    tip = "Which axis each layer of an AXON listens to"

    def make_body(self) -> None:
        """Four plots over layers, and what the traces show."""
        tip = "The layer that is shown behind the traces"
        self.part = Chooser("Layer on the traces", [(MEAN, "Traces: mean of all layers")], tip)
        self.profile = BalanceBars("Temporal weight by layer", ("spatial", "temporal"), (below, above))
        self.scale = BalanceBars("Weight of the short window by layer", ("long", "short"), (below, above), 100)
        self.entropy = LayerPlot("Entropy ratio by layer", 100)
        self.spread = LayerPlot("Spread of the temporal weight by layer", 110)
        self.headings = {
            self.profile: Heading("Temporal weight"),
            self.scale: Heading("Scale gate"),
            self.entropy: Heading("Entropy ratio"),
            self.spread: Heading("Spread"),
        }
        self.column.addLayout(line_of(self.part))
        for plot, heading in self.headings.items():
            self.column.addWidget(heading)
            self.column.addWidget(plot)
            plot.layer_clicked.connect(self._on_layer)
        self.part.chosen.connect(self.part_chosen)

    def body(self) -> Sequence[QWidget]:
        """All plots with their headings; the scale gate's are shown where there are two scales."""
        return [self.part, *self.headings, *self.headings.values()]

    def show_result(self, result: Analysis) -> None:
        """Fill the plots."""
        layers = result.labels.get("layer", ())
        count = len(result.values("mean"))
        parts = [(str(i), f"Traces: layer {i}") for i in range(count)]
        self.part.set_choices([(MEAN, "Traces: mean of all layers"), *parts])
        ink: Ink = accent
        mean, sd = result.values("mean"), result.values("sd")
        self.profile.set_series([Series("temporal weight", mean, ink, sd)], layers, (0.0, 1.0))
        two_scales = "short_mean" in result.arrays
        for widget in (self.scale, self.headings[self.scale]):
            widget.setVisible(two_scales)
        if two_scales:
            self.scale.set_series([Series("short window", result.values("short_mean"), ink)], layers, (0.0, 1.0))
            self.headings[self.scale].set_array(result.arrays.get("short"), "mean of the short window")
        collapse = float(result.facts.get("collapse", 0.4))
        entropy = result.values("entropy_ratio")
        limit = (collapse, f"collapse {collapse:.2f}")
        self.entropy.set_series([Series("entropy ratio", entropy, ink)], layers, (0.0, 1.05), limit)
        inks: tuple[Ink, ...] = (accent, above, amount)
        series = [Series(n, result.values(key), colour) for (n, key), colour in zip(_SPREADS, inks, strict=True)]
        # Of one window all spread is that of positions, and there is no other to tell it from.
        several = bool(np.isfinite(result.values("d_content")).any())
        self.spread.set_series(series if several else series[:1], layers)
        self.headings[self.profile].set_array(result.arrays["mean"], "mean ± SD")
        self.headings[self.entropy].set_array(result.arrays["entropy_ratio"])
        self.headings[self.spread].set_array(
            result.arrays["d_token"], "between tokens" if several else "D_token; D_content needs two windows"
        )

    def set_part(self, part: str) -> None:
        """Point out the layer that is on the traces."""
        self.part.choose(part)
        layer = None if part == MEAN else int(part)
        for plot in self.headings:
            plot.choose(layer)

    def table(self) -> str:
        """Every quantity by layer."""
        if self.result is None:
            return ""
        return column_table(self.result, [name for name in _TABLE if name in self.result.arrays])

    def _on_layer(self, layer: int) -> None:
        # The layer that is shown gives way to the mean again.
        chosen = MEAN if self.part.value() == str(layer) else str(layer)
        self.set_part(chosen)
        self.part_chosen.emit(chosen)
