"""Which experts of a PRiSE-EEG carry the tokens: load, its entropy, the allocation, and other recordings beside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PyQt6.QtWidgets import QWidget

from analysis.analyses import Analysis
from analysis.analysis_tables import array_table, column_table
from viewers.panels.allocation_plot import AllocationPlot
from viewers.panels.base import Chooser, line_of, note
from viewers.panels.kind_panel import MEAN, Heading, KindPanel
from viewers.panels.matrix_plot import MatrixPlot
from viewers.panels.row_bars import RowBars

_ALL = "Lane: all blocks"
_HINT = "To compare the routing with that of other recordings, name them under Options, other."


class Experts(KindPanel):
    """Draws an analysis of kind `experts`; a block that is clicked is the one in the lane."""

    title = "Experts"
    tip = "Which experts carry the tokens"

    def make_body(self) -> None:
        """The load as colours, entropy as bars, the allocation, and the similarity of recordings."""
        self.part = Chooser("Block in the lane", [(MEAN, _ALL)], "The block whose experts the lane shows")
        self.load = MatrixPlot("Load by block and expert", height=230)
        self.entropy = RowBars("Load entropy by block")
        self.allocation = AllocationPlot()
        self.similarity = MatrixPlot("Routing similarity of recordings", height=170, square=True)
        self._hint = note(_HINT)
        self.headings = {
            self.load: Heading("Load of the routed experts"),
            self.entropy: Heading("Load entropy"),
            self.allocation: Heading("Allocation"),
            self.similarity: Heading("Routing similarity"),
        }
        self.column.addLayout(line_of(self.part))
        for plot, heading in self.headings.items():
            self.column.addWidget(heading)
            self.column.addWidget(plot)
        self.column.addWidget(self._hint)
        self.part.chosen.connect(self.part_chosen)
        self.load.cell_clicked.connect(self._on_cell)

    def body(self) -> Sequence[QWidget]:
        """All there is."""
        return [self.part, *self.headings, *self.headings.values(), self._hint]

    def show_result(self, result: Analysis) -> None:
        """Fill the plots."""
        blocks, experts = result.labels["block"], result.labels["expert"]
        self.part.set_choices([(MEAN, _ALL), *((str(i), f"Lane: {name}") for i, name in enumerate(blocks))])
        load = result.values("load")
        most = float(np.nanmax(load)) if np.isfinite(load).any() else 1.0
        self.load.set_values(load, blocks, experts, (0.0, most or 1.0), ("", "expert"), "share of tokens")
        self.headings[self.load].set_array(
            result.arrays["load"], f"{result.facts.get('n_seconds', '?')} s; empty: shared"
        )
        self.entropy.set_bars(blocks, result.values("load_entropy"), most=1.0)
        self.headings[self.entropy].set_array(result.arrays["load_entropy"], "1: all alike, 0: one carries all")
        self.allocation.set_counts(blocks, result.values("n_shared"))
        k = result.facts.get("top_k", 1)
        self.headings[self.allocation].set_array(
            result.arrays["n_shared"], f"each token also meets {k} routed expert{'s' if k != 1 else ''}"
        )
        compared = "routing_similarity" in result.arrays
        self.similarity.setVisible(compared)
        self.headings[self.similarity].setVisible(compared)
        self._hint.setVisible(not compared)
        if compared:
            names = result.labels["recording"]
            table = result.values("routing_similarity")
            self.similarity.set_values(table, names, names, (0.0, 1.0), ("", ""), "cosine of usage")
            others = ", ".join(f"{name} {value:.3f}" for name, value in zip(names[1:], table[0, 1:], strict=True))
            self.headings[self.similarity].set_array(result.arrays["routing_similarity"], others)

    def set_part(self, part: str) -> None:
        """Point out the block that is in the lane."""
        self.part.choose(part)

    def table(self) -> str:
        """Load by block and expert, then entropy and shared experts."""
        if self.result is None:
            return ""
        text = array_table(self.result, "load") + "\n" + column_table(self.result, ["load_entropy", "n_shared"])
        if "routing_similarity" in self.result.arrays:
            text += "\n" + array_table(self.result, "routing_similarity")
        return text

    def _on_cell(self, row: int, _column: int) -> None:
        # The block that is shown gives way to all again.
        chosen = MEAN if self.part.value() == str(row) else str(row)
        self.set_part(chosen)
        self.part_chosen.emit(chosen)
