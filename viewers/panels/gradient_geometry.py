"""Which way labelled sets would push an encoder: overlap of their gradients' directions, beside their routing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from PyQt6.QtWidgets import QWidget

from analysis.analyses import Analysis
from analysis.analysis_tables import array_table
from viewers.category_colours import category
from viewers.panels.base import note
from viewers.panels.kind_panel import Heading, KindPanel
from viewers.panels.layer_plot import LayerPlot, Series
from viewers.panels.matrix_plot import MatrixPlot
from viewers.panels.row_bars import RowBars
from viewers.theme import Theme

_TABLES = ("affinity", "cosine", "routing_similarity")


class GradientGeometry(KindPanel):
    """Draws an analysis of kind `gradient-geometry`: a table of sets for each measure, and affinity by rank."""

    title = "Gradients"
    tip = "Which way labelled sets would push the encoder"

    def make_body(self) -> None:
        """Pairs as bars, ranks as lines, and a table for three sets or more."""
        self._sets = note()
        self.pairs = {
            "affinity": RowBars("Subspace affinity by pair of sets"),
            "cosine": RowBars("Mean cosine of gradients by pair of sets", signed=True),
            "routing_similarity": RowBars("Routing similarity by pair of sets"),
        }
        self.headings = {
            "affinity": Heading("Subspace affinity"),
            "cosine": Heading("Cosine of gradients"),
            "routing_similarity": Heading("Routing similarity"),
        }
        self.ranks_heading = Heading("Affinity by rank")
        self.ranks = LayerPlot("Subspace affinity by rank", 130)
        self.ranks.x_title = "rank of the subspaces"
        self.matrix_heading = Heading("Subspace affinity of all sets")
        self.matrix = MatrixPlot("Subspace affinity of all sets", height=220, square=True)
        self.column.addWidget(self._sets)
        for name in _TABLES:
            self.column.addWidget(self.headings[name])
            self.column.addWidget(self.pairs[name])
        for widget in (self.ranks_heading, self.ranks, self.matrix_heading, self.matrix):
            self.column.addWidget(widget)

    def body(self) -> Sequence[QWidget]:
        """All there is."""
        plots = [*self.pairs.values(), *self.headings.values()]
        return [self._sets, *plots, self.ranks_heading, self.ranks, self.matrix_heading, self.matrix]

    def show_result(self, result: Analysis) -> None:
        """Fill everything."""
        names, facts = result.labels["set"], result.facts
        counts = ", ".join(f"{name} {count}" for name, count in facts["n_of_set"].items())
        self._sets.setText(
            f"Windows: {counts}. {facts['n_steps']} steps of {facts['batch']}; gradient of the loss of "
            f"{facts['loss']}; projected to {facts['projected']}, seed {facts['projection_seed']}."
        )
        pairs = list(combinations(range(len(names)), 2))
        texts = [f"{names[a]} × {names[b]}" for a, b in pairs]
        for name in _TABLES:
            table = result.arrays[name]
            self.pairs[name].set_bars(texts, table.values[tuple(zip(*pairs, strict=True))], most=1.0)
            self.headings[name].set_array(table, "mean over ranks 3 to 8" if name == "affinity" else "")
        by_rank = result.arrays["affinity_by_rank"]
        series = [
            Series(text, by_rank.values[:, a, b], _Ink(i))
            for i, (text, (a, b)) in enumerate(zip(texts, pairs, strict=True))
        ]
        self.ranks.set_series(series, result.labels["rank"], (0.0, 1.05))
        self.ranks_heading.set_array(by_rank)
        several = len(names) > 2
        self.matrix.setVisible(several)
        self.matrix_heading.setVisible(several)
        self.matrix.set_values(result.values("affinity"), names, names, (0.0, 1.0), ("", ""), "affinity")
        self.matrix_heading.set_array(result.arrays["affinity"])

    def table(self) -> str:
        """Every measure by pair of sets."""
        if self.result is None:
            return ""
        return "\n".join(array_table(self.result, name) for name in (*_TABLES, "affinity_by_rank"))


class _Ink:
    """The colour of a pair's line."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __call__(self, theme: Theme):
        return category(theme, self._number)
