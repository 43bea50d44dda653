"""What happens to a model's answer when a part of it is changed: change of probability, and move of the mean token."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PyQt6.QtWidgets import QWidget

from analysis.analyses import Analysis
from analysis.analysis_tables import heading
from viewers.panels.base import Chooser, line_of, note
from viewers.panels.kind_panel import Heading, KindPanel
from viewers.panels.matrix_plot import MatrixPlot, limits_of
from viewers.panels.probe_table import ProbeTable
from viewers.panels.row_bars import RowBars


class Interventions(KindPanel):
    """Draws kinds `gate-interventions` and `group-interventions`: a mean over windows, and each window of several."""

    title = "Interventions"
    tip = "What happens if a part of the model is changed"

    def make_body(self) -> None:
        """Bars of both quantities by intervention, and a table of colours by window."""
        self.label = Chooser("Class whose probability is shown")
        self.change = RowBars("Change of the probability by intervention", signed=True)
        self.move = RowBars("Move of the mean token by intervention")
        self.table_plot = MatrixPlot("Change of the probability by intervention and window", height=150)
        self._learned = note()
        self._change = Heading("Change")
        self._move = Heading("Move of the mean token")
        self._by_window = Heading("Change by window")
        self.probe = ProbeTable()
        self.column.addLayout(line_of(self.label))
        for widget in (
            self._learned,
            self._change,
            self.change,
            self._by_window,
            self.table_plot,
            self.probe,
            self._move,
            self.move,
        ):
            self.column.addWidget(widget)
        self.label.chosen.connect(self._on_label)

    def body(self) -> Sequence[QWidget]:
        """All there is."""
        change = [self.label, self._learned, self._change, self.change, self._by_window, self.table_plot]
        return [*change, self.probe, self._move, self.move]

    def show_result(self, result: Analysis) -> None:
        """Fill bars and table; without a head only the tokens move."""
        names = self._names(result)
        cosine = result.values("cosine")
        self.move.set_bars(names, 1 - cosine.mean(1), cosine.std(1) if cosine.shape[1] > 1 else None, digits=4)
        self._move.set_array(result.arrays["cosine"], "1 − cosine")
        self.probe.setVisible(self.probe.is_in(result))
        if self.probe.is_in(result):
            self.probe.show_result(result)
        has_head = "probability_change" in result.arrays
        for widget in (self.label, self._learned, self._change, self.change, self._by_window, self.table_plot):
            widget.setVisible(has_head)
        if not has_head:
            return
        labels = result.labels.get("class") or tuple(map(str, range(result.values("probability").shape[1])))
        if self.label.count() != len(labels):
            self.label.set_choices([(str(i), f"p({label})") for i, label in enumerate(labels)])
            self.label.choose(str(len(labels) - 1))  # the one that is looked for
        self._show_class(result)

    def _show_class(self, result: Analysis) -> None:
        which = int(self.label.value() or 0)
        change = result.values("probability_change")[..., which]
        learned = result.values("probability")[:, which]
        several = change.shape[1] > 1
        text = self.label.currentText()
        self._learned.setText(
            f"{text} {result.facts.get('as_it_is', 'with the learned gates')}: {learned.mean():.3f}"
            + (" on average" if several else "")
        )
        names = self._names(result)
        self.change.set_bars(names, change.mean(1), change.std(1) if several else None, digits=4)
        array = result.arrays["probability_change"]
        self._change.set_array(array, "mean ± SD over windows" if several else "", f"Change of {text}")
        self._by_window.setVisible(several)
        self.table_plot.setVisible(several)
        if several:
            self._by_window.set_array(array)
            low, high = limits_of(change)
            reach = max(-low, high)
            onsets = [f"{v + float(result.facts['first_window']):.0f} s" for v in result.values("window_onset")]
            self.table_plot.set_values(change, names, onsets, (-reach, reach), ("", "window"), f"change of {text}")

    def table(self) -> str:
        """One line an intervention: mean change of every class, and the cosine."""
        result = self.result
        if result is None:
            return ""
        cosine = result.values("cosine").mean(1)
        change = result.arrays.get("probability_change")
        labels = result.labels.get("class", ())
        columns = [f"change of p({label})" for label in labels] if change is not None else []
        lines = [*heading(result), "# means over windows", "\t".join(["intervention", *columns, "cosine"])]
        means = change.values.mean(1) if change is not None else np.empty((len(cosine), 0))
        for name, row, value in zip(self._names(result), means, cosine, strict=True):
            lines.append("\t".join([name, *(f"{v:.7g}" for v in row), f"{value:.7g}"]))
        lines += self.probe.lines(result) if self.probe.is_in(result) else []
        return "\n".join(lines) + "\n"

    def _on_label(self, _value: str) -> None:
        if self.result is not None:
            self._show_class(self.result)

    @staticmethod
    def _names(result: Analysis) -> list[str]:
        return [name.replace("_", " ") for name in result.labels["intervention"]]
