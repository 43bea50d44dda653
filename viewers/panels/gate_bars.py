"""AXON's gates by layer: which axis they listen to and how far, how decided they are, how much tokens differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PyQt6.QtWidgets import QWidget

from analysis.analyses import Analysis
from analysis.analysis_tables import column_table
from viewers.heat_scales import HeatScale, above, amount, below
from viewers.overlays.gate_parts import ENDS, QUANTITIES, SHORT, TEMPORAL, gates_in, part_name, parts_of, split_part
from viewers.panels.base import Chooser, line_of
from viewers.panels.electrode_dots import ElectrodeDots
from viewers.panels.kind_panel import MEAN, Heading, KindPanel
from viewers.panels.layer_plot import BalanceBars, Ink, LayerPlot, Series, accent

_SPREADS = (("D_token", "d_token"), ("D_position", "d_position"), ("D_content", "d_content"))
_TABLE = ("mean", "sd", "short_mean", "short_sd", "entropy_ratio", "d_token", "d_position", "d_content")
_GATES = ((TEMPORAL, "Time against space"), (SHORT, "Short against long window"))
_LEAST_REACH = 0.05


class GateBars(KindPanel):
    """Profile, scale gate, entropy ratio, spreads and a map of the channels of an analysis of kind `gates`."""

    title = "Gates"
    tip = "Which axis each layer of an AXON listens to"

    def make_body(self) -> None:
        """Four plots over layers, a head, and what the traces show."""
        self.gate = Chooser("Gate on the traces", [_GATES[0]], "The gate that is shown behind the traces")
        tip = "The layer that is shown behind the traces (or click a layer below)"
        self.part = Chooser("Layer on the traces", [(MEAN, "Traces: layer mean")], tip)
        self.profile = BalanceBars("Temporal weight by layer", ENDS[TEMPORAL], (below, above))
        self.scale = BalanceBars("Weight of the short window by layer", ENDS[SHORT], (below, above), 100)
        self.entropy = LayerPlot("Entropy ratio by layer", 100)
        self.spread = LayerPlot("Spread of the temporal weight by layer", 110)
        self.headings = {
            self.profile: Heading("Temporal weight"),
            self.scale: Heading("Scale gate"),
            self.entropy: Heading("Entropy ratio"),
            self.spread: Heading("Spread"),
        }
        self.head = ElectrodeDots("Weight by channel on the head")
        self.head_heading = Heading("By channel")
        self.column.addLayout(line_of(self.gate, self.part))
        for plot, heading in self.headings.items():
            self.column.addWidget(heading)
            self.column.addWidget(plot)
        self.column.addWidget(self.head_heading)
        self.column.addWidget(self.head)
        self.profile.layer_clicked.connect(self._on_layer)
        self.scale.layer_clicked.connect(self._on_scale_layer)
        self.entropy.layer_clicked.connect(self._on_layer)
        self.spread.layer_clicked.connect(self._on_layer)
        self.gate.chosen.connect(self._on_chosen)
        self.part.chosen.connect(self._on_chosen)

    def body(self) -> Sequence[QWidget]:
        """All plots with their headings; the scale gate's are shown where there are two scales."""
        plots = [*self.headings, *self.headings.values(), self.head, self.head_heading]
        return [self.gate, self.part, *plots]

    def show_result(self, result: Analysis) -> None:
        """Fill the plots."""
        layers = result.labels.get("layer", ())
        parts = [(str(i), f"Traces: layer {i}") for i in range(len(result.values("mean")))]
        self.part.set_choices([(MEAN, "Traces: layer mean"), *parts])
        gates = gates_in(result)
        self.gate.set_choices([(gate, text) for gate, text in _GATES if gate in gates])
        self.gate.setVisible(len(gates) > 1)
        series = Series("temporal weight", result.values("mean"), accent, result.values("sd"))
        self.profile.set_series([series], layers, (0.0, 1.0))
        self.headings[self.profile].set_array(result.arrays["mean"], "mean ± SD")
        self._show_scale(result, layers)
        collapse = float(result.facts.get("collapse", 0.4))
        entropy = result.values("entropy_ratio")
        limit = (collapse, f"collapse {collapse:.2f}")
        self.entropy.set_series([Series("entropy ratio", entropy, accent)], layers, (0.0, 1.05), limit)
        self.headings[self.entropy].set_array(result.arrays["entropy_ratio"])
        self._show_spread(result, layers)
        self._show_head(result)

    def _show_scale(self, result: Analysis, layers: Sequence[str]) -> None:
        there = "short_mean" in result.arrays
        for widget in (self.scale, self.headings[self.scale]):
            widget.setVisible(there)
        if there:
            spread = result.values("short_sd") if "short_sd" in result.arrays else None
            series = Series("short window", result.values("short_mean"), accent, spread)
            self.scale.set_series([series], layers, (0.0, 1.0))
            self.headings[self.scale].set_array(result.arrays[SHORT], "short window, mean ± SD")

    def _show_spread(self, result: Analysis, layers: Sequence[str]) -> None:
        inks: tuple[Ink, ...] = (accent, above, amount)
        series = [Series(n, result.values(key), ink) for (n, key), ink in zip(_SPREADS, inks, strict=True)]
        # Of one window all spread is that of positions, and there is no other to tell it from.
        several = bool(np.isfinite(result.values("d_content")).any())
        self.spread.set_series(series if several else series[:1], layers)
        self.headings[self.spread].set_array(
            result.arrays["d_token"],
            f"between tokens, N = {result.facts['n_windows']}" if several else "D_token; D_content needs two windows",
        )

    def _show_head(self, result: Analysis) -> None:
        """The mean over the span of what the traces show."""
        there = "place" in result.arrays
        for widget in (self.head, self.head_heading):
            widget.setVisible(there)
        gate = self.gate.value() or TEMPORAL
        if not there or gate not in result.arrays:
            return
        layer = self.part.value()
        weights = result.values(gate)  # (layers, windows, channels, patches)
        values = (weights.mean(0) if layer == MEAN else weights[int(layer)]).mean((0, 2))
        reach = max(_LEAST_REACH, float(np.ceil(20 * np.abs(values - 0.5).max()) / 20))
        scale = HeatScale(0.5 - reach, 0.5 + reach, 0.5, "", *ENDS[gate])
        self.head.set_dots(result.labels["channel"], result.values("place"), values, scale)
        of = "mean of layers" if layer == MEAN else f"layer {layer}"
        self.head_heading.set_array(result.arrays[gate], f"{QUANTITIES[gate]}, {of}, mean of the span")

    def set_part(self, part: str) -> None:
        """Point out what is on the traces; a part of another kind of analysis is none of these."""
        there = self.result is not None and part in parts_of(self.result)
        gate, layer = split_part(part if there else MEAN)
        self.gate.choose(gate)
        self.part.choose(layer)
        for plot in self.headings:
            shown = layer != MEAN and (plot is self.scale) == (gate == SHORT)
            plot.choose(int(layer) if shown else None)
        if self.result is not None:
            self._show_head(self.result)

    def table(self) -> str:
        """Every quantity by layer."""
        if self.result is None:
            return ""
        return column_table(self.result, [name for name in _TABLE if name in self.result.arrays])

    def _on_chosen(self, _value: str) -> None:
        self._ask(part_name(self.gate.value(), self.part.value()))

    def _on_layer(self, layer: int) -> None:
        self._ask_layer(TEMPORAL, layer)

    def _on_scale_layer(self, layer: int) -> None:
        self._ask_layer(SHORT, layer)

    def _ask_layer(self, gate: str, layer: int) -> None:
        # The layer that is shown gives way to the mean again.
        shown = (self.gate.value(), self.part.value()) == (gate, str(layer))
        self._ask(part_name(gate, MEAN if shown else str(layer)))

    def _ask(self, part: str) -> None:
        self.set_part(part)
        self.part_chosen.emit(part)
