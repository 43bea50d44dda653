"""What a fine-tuned NeurDuo takes the units of a recording for: time in each class, one unit's odds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PyQt6.QtWidgets import QWidget

from analysis.analyses import Analysis
from analysis.analysis_tables import heading
from viewers.hypnogram_lane import stage_order
from viewers.overlays.unit_classes import unit_times
from viewers.panels.base import note
from viewers.panels.kind_panel import Heading, KindPanel
from viewers.panels.row_bars import RowBars
from viewers.time_scale import time_text


class UnitClasses(KindPanel):
    """Draws an analysis of kind `stages`."""

    title = "Stages"
    tip = "What each unit of the recording is taken for"

    def make_body(self) -> None:
        """Minutes in each class, and the probabilities of the unit under the cursor."""
        self.spent = RowBars("Minutes in each class")
        self.unit = RowBars("Probabilities of a unit")
        self.words = note(role="")
        self.headings = {self.spent: Heading("Time in each class"), self.unit: Heading("Unit under the cursor")}
        for plot, head in self.headings.items():
            self.column.addWidget(head)
            self.column.addWidget(plot)
        self.column.addWidget(self.words)
        self._time: float | None = None

    def body(self) -> Sequence[QWidget]:
        """All of it."""
        return [*self.headings, *self.headings.values(), self.words]

    def show_result(self, result: Analysis) -> None:
        """Fill the bars."""
        order, names = stage_order(result.labels["class"])
        choice = result.values("choice").astype(np.intp)
        counts = np.bincount(choice, minlength=len(order))[order]
        minutes = counts * float(result.facts["unit_seconds"]) / 60
        self.spent.set_bars(names, minutes, digits=1)
        self.headings[self.spent].set_array(result.arrays["choice"], f"minutes, of {len(choice)} units")
        missing = result.facts.get("missing_channels")
        self.words.setText(f"Channels without a signal: {', '.join(missing)}" if missing else "")
        self.words.setVisible(bool(missing))
        self._show_unit(result)

    def set_time(self, time: float | None) -> None:
        """Speak of the unit under the cursor."""
        if time is not None:
            self._time = time
            if self.result is not None:
                self._show_unit(self.result)

    def _show_unit(self, result: Analysis) -> None:
        times = unit_times(result)
        at = times.size - 1 if self._time is None else int(np.searchsorted(times, self._time, side="right")) - 1
        at = min(max(at, 0), times.size - 1)
        order, names = stage_order(result.labels["class"])
        self.unit.set_bars(names, result.values("probability")[at][order], digits=2)
        when = time_text(float(times[at]))
        self.headings[self.unit].set_array(result.arrays["probability"], f"{when}, probabilities")

    def table(self) -> str:
        """Every unit with its probabilities."""
        result = self.result
        if result is None:
            return ""
        lines = [*heading(result), "\t".join(["onset", *result.labels["class"]])]
        for onset, row in zip(unit_times(result), result.values("probability"), strict=True):
            lines.append("\t".join([f"{onset:.3f}", *(f"{v:.5g}" for v in row)]))
        return "\n".join(lines) + "\n"
