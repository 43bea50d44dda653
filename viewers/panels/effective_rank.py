"""How many dimensions each layer of a model uses."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtWidgets import QWidget

from analysis.analyses import Analysis
from analysis.analysis_tables import column_table
from viewers.panels.kind_panel import Heading, KindPanel
from viewers.panels.layer_plot import LayerPlot, Series, accent


class EffectiveRank(KindPanel):
    """Draws an analysis of kind `effective-rank`."""

    title = "Rank"
    tip = "How many dimensions the layers of a model use"

    def make_body(self) -> None:
        """One plot."""
        self.heading = Heading("Effective rank")
        self.plot = LayerPlot("Effective rank by layer", 220)
        self.column.addWidget(self.heading)
        self.column.addWidget(self.plot)

    def body(self) -> Sequence[QWidget]:
        """The plot with its heading."""
        return [self.heading, self.plot]

    def show_result(self, result: Analysis) -> None:
        """Fill it."""
        array = result.arrays["effective_rank"]
        self.plot.set_series([Series("effective rank", array.values, accent)], result.labels.get("layer", ()))
        facts = result.facts
        self.heading.set_array(array, f"n = {facts.get('n_rows', '?')} {facts.get('rows', 'rows')}")

    def table(self) -> str:
        """Rank by layer."""
        return column_table(self.result, ["effective_rank"]) if self.result is not None else ""
