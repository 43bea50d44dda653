"""Which channels move together, and after how long: the lag correlations behind PRiSE-EEG's dynamic groups."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtWidgets import QWidget

from analysis.analyses import Analysis
from analysis.analysis_tables import array_table
from viewers.panels.base import Chooser, line_of, note
from viewers.panels.kind_panel import MEAN, Heading, KindPanel
from viewers.panels.matrix_plot import MatrixPlot

_HINT = (
    "Click a line of the table to see the arcs of that channel alone. An arc has its dot at the channel that is later."
)


class DynamicGroups(KindPanel):
    """Draws an analysis of kind `dynamic-groups`: mean size of the correlation by pair, and by time and lag."""

    title = "Dynamic groups"
    tip = "Which channels move together, and after how long"

    def make_body(self) -> None:
        """The lag that is looked at, both tables, and what the model keeps."""
        self.lag = Chooser("Lag on the traces", [(MEAN, "Best lag")], "The lag of the arcs on the traces")
        self.pairs_heading = Heading("Mean |ρ| of pairs")
        self.pairs = MatrixPlot("Mean size of the correlation by pair of channels", height=280, square=True)
        self._hint = note(_HINT)
        self.strength_heading = Heading("Mean |ρ| by time and lag")
        self.strength = MatrixPlot("Mean size of the correlation by quarter of a second and lag", height=120)
        self.kept_heading = Heading("Groups that the model keeps")
        self.kept = MatrixPlot("Share of the windows in which a group is kept", height=120)
        self.column.addLayout(line_of(self.lag))
        for widget in self._pictures():
            self.column.addWidget(widget)
        self._channel = ""
        self.lag.chosen.connect(self._on_lag)
        self.pairs.cell_clicked.connect(self._on_cell)

    def _pictures(self) -> list[QWidget]:
        first = [self.pairs_heading, self.pairs, self._hint, self.strength_heading, self.strength]
        return [*first, self.kept_heading, self.kept]

    def body(self) -> Sequence[QWidget]:
        """All there is."""
        return [self.lag, *self._pictures()]

    def show_result(self, result: Analysis) -> None:
        """Fill the tables."""
        lags = result.labels["lag"]
        self.lag.set_choices(
            [(MEAN, "Arcs: best lag"), *((str(i), f"Arcs: lag {name}") for i, name in enumerate(lags))]
        )
        self._show_pairs(result)
        titles = ("", "lag")
        strength = result.arrays["strength"]
        self.strength.set_values(strength.values, result.labels["quarter"], lags, None, titles, "mean |ρ|")
        self.strength_heading.set_array(strength)
        selects = bool(result.facts.get("has_selector"))
        self.kept.setVisible(selects)
        self.kept_heading.setVisible(True)
        kept = result.arrays["kept"]
        if selects:
            self.kept.set_values(kept.values, result.labels["quarter"], lags, (0.0, 1.0), titles, "kept in")
        self.kept_heading.set_array(kept, "" if selects else "all 24: this checkpoint has no selector")

    def _show_pairs(self, result: Analysis) -> None:
        names, array = result.labels["channel"], result.arrays["mean_size"]
        lag = self.lag.value()
        values = array.values.max(0) if lag in ("", MEAN) else array.values[int(lag)]
        self.pairs.set_values(values, names, names, (0.0, 1.0), ("", "later by the lag"), "mean |ρ|")
        self.pairs_heading.set_array(array, "at the best lag" if lag in ("", MEAN) else result.labels["lag"][int(lag)])

    def set_part(self, part: str) -> None:
        """Point out the lag and the channel of the arcs."""
        lag, _, self._channel = part.partition(":")
        self.lag.choose(lag)
        if self.result is None:
            return
        self._show_pairs(self.result)
        row = int(self._channel) if self._channel.isdigit() else None
        self.pairs.choose_cell(None if row is None else (row, row))
        names = self.result.labels["channel"]
        self._hint.setText(_HINT if row is None else f"Arcs of {names[row]} alone. Click its line again for all.")

    def table(self) -> str:
        """Mean size by lag and pair, and by time and lag."""
        if self.result is None:
            return ""
        return array_table(self.result, "mean_size") + "\n" + array_table(self.result, "strength")

    def _on_lag(self, lag: str) -> None:
        self._ask(lag, self._channel)

    def _on_cell(self, row: int, _column: int) -> None:
        self._ask(self.lag.value(), "" if self._channel == str(row) else str(row))

    def _ask(self, lag: str, channel: str) -> None:
        part = f"{lag}:{channel}" if channel else lag
        self.set_part(part)
        self.part_chosen.emit(part)
