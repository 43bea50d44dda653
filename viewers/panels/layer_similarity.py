"""How alike the layers of one model, or of two, are: linear CKA with either estimator, and how much it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from PyQt6.QtWidgets import QWidget

from analysis.analyses import Analysis
from analysis.analysis_tables import array_table, column_table
from viewers.heat_scales import above, amount, below
from viewers.panels.base import Chooser, line_of, note
from viewers.panels.kind_panel import Heading, KindPanel
from viewers.panels.layer_plot import LayerPlot, Series, accent
from viewers.panels.matrix_plot import MatrixPlot

UNBIASED, PLAIN = "cka_unbiased", "cka"
FEW_ROWS = 50
_ESTIMATORS = {
    UNBIASED: "Unbiased HSIC (Song et al. 2012)",
    PLAIN: "Plain, biased HSIC (Kornblith et al. 2019)",
}
_HINT = "Click a cell, or move to it with the arrow keys, to see the token maps of its two layers on the traces."
_SHOWN = "On the traces: {0} in the upper, {1} in the lower half of each row. Click the cell again to take it away."
_GROUPS = ("within", "between", "ratio", "shared_ratio", "shared_experts")


class LayerSimilarity(KindPanel):
    """Draws an analysis of kind `cka`, and within and between groups of windows where they were told apart."""

    title = "CKA"
    tip = "How alike the layers of a model, or of two, are"

    def make_body(self) -> None:
        """The table of colours, and the groups."""
        choices = [(UNBIASED, "Unbiased estimator"), (PLAIN, "Plain estimator")]
        self.estimator = Chooser("Estimator of CKA", choices, "The plain one is too high where rows are few")
        self.heading = Heading("Linear CKA")
        self.matrix = MatrixPlot("Linear CKA of layers", height=290, square=True)
        self.groups_heading = Heading("Pairs of windows")
        self.groups = LayerPlot("CKA within and between groups by layer", 124)
        self._experts = note()
        self._hint = note(_HINT)
        self._estimator = note()
        self.ratio_heading = Heading("Sharedness")
        self.ratio = LayerPlot("Ratio of between to within, and shared ratio, by layer", 124)
        self.column.addLayout(line_of(self.estimator))
        for widget in self._pictures():
            self.column.addWidget(widget)
        self.estimator.chosen.connect(self._on_estimator)
        self.matrix.cell_clicked.connect(self._on_cell)

    def body(self) -> Sequence[QWidget]:
        """All there is."""
        return [self.estimator, *self._pictures()]

    def _pictures(self) -> list[QWidget]:
        upper = [self.heading, self.matrix, self._estimator, self._hint]
        return [*upper, self.groups_heading, self.groups, self.ratio_heading, self.ratio, self._experts]

    def warnings(self, result: Analysis) -> Iterable[str]:
        """Few rows."""
        n = int(result.facts.get("n_rows", 0))
        if n < FEW_ROWS:
            yield f"Only {n} rows (below {FEW_ROWS}): the plain estimator is far too high, the unbiased one uncertain"

    def show_result(self, result: Analysis) -> None:
        """Fill the table and, where there are groups, their plot."""
        self._show_matrix(result)
        self._hint.setVisible("row_map" in result.arrays)
        grouped = "within" in result.arrays
        for widget in (self.groups_heading, self.groups, self.ratio_heading, self.ratio, self._experts):
            widget.setVisible(grouped)
        if grouped:
            series = [
                Series("within", result.values("within"), above),
                Series("between", result.values("between"), below),
            ]
            self.groups.set_series(series, result.labels.get("layer", ()), (0.0, 1.05))
            self.groups_heading.set_array(result.arrays["within"], _groups_text(result))
            shares = [
                Series("r: between / within", result.values("ratio"), accent),
                Series("ρ: sigmoid(10 (r − 1))", result.values("shared_ratio"), amount),
            ]
            top = max(1.05, 1.08 * float(np.nanmax(np.nan_to_num(result.values("ratio")))))
            self.ratio.set_series(shares, result.labels.get("layer", ()), (0.0, top))
            self.ratio_heading.set_array(result.arrays["shared_ratio"])
            counts = " ".join(f"{v:.0f}" for v in result.values("shared_experts"))
            self._experts.setText(f"Shared experts of a pool of 8 that this gives, by layer: {counts} [our definition]")

    def _show_matrix(self, result: Analysis) -> None:
        which = self.estimator.value()
        values = result.values(which)
        models = result.models if len(result.models) > 1 else result.models * 2
        rows = result.labels.get("row_layer", ())
        columns = result.labels.get("column_layer", ())
        self.matrix.set_values(values, rows, columns, (0.0, 1.0), (models[0], models[1]), "CKA")
        n, unit = result.facts.get("n_rows", "?"), result.facts.get("rows", "rows")
        word = "unbiased" if which == UNBIASED else "plain"
        self.heading.set_array(result.arrays[which], f"{word}, n = {n} {unit}")
        batches = int(result.facts.get("n_batches", 1))
        how = f"{result.facts.get('estimator', '')}, {batches} of them" if batches > 1 else "one batch"
        self._estimator.setText(f"{_ESTIMATORS[which]}; {how}.")

    def table(self) -> str:
        """The table on show, and the groups below it."""
        if self.result is None:
            return ""
        text = array_table(self.result, self.estimator.value())
        if "within" in self.result.arrays:
            text += "\n" + column_table(self.result, _GROUPS)
        return text

    def set_part(self, part: str) -> None:
        """Frame the cell whose layers are on the traces."""
        first, _, second = part.partition(",")
        chosen = (int(first), int(second)) if first.isdigit() and second.isdigit() else None
        self.matrix.choose_cell(chosen)
        self._hint.setText(_HINT if chosen is None else _SHOWN.format(*self._names(chosen)))

    def _names(self, cell: tuple[int, int]) -> tuple[str, str]:
        return self.matrix.rows[cell[0]], self.matrix.columns[cell[1]]

    def _on_cell(self, row: int, column: int) -> None:
        if self.result is None or "row_map" not in self.result.arrays:
            return
        # The pair that is shown gives way to none again.
        part = "" if self.matrix.chosen == (row, column) else f"{row},{column}"
        self.set_part(part)
        self.part_chosen.emit(part)

    def _on_estimator(self, _value: str) -> None:
        if self.result is not None:
            self._show_matrix(self.result)


def _groups_text(result: Analysis) -> str:
    """Which groups, and of how many windows each."""
    counts = result.facts.get("n_of_group", {})
    return ", ".join(f"{count} of {name}" for name, count in counts.items() if count)
