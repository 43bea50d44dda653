"""What NeurDuo's memory recalls at one step: weight of each write it holds, by channel, and how far the gate opens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PyQt6.QtWidgets import QWidget

from analysis.analyses import Analysis
from analysis.analysis_tables import heading
from analysis.stream_spans import step_times
from viewers.overlays.bank_recall import recall_scale, recalled, step_of
from viewers.panels.base import note
from viewers.panels.kind_panel import Heading, KindPanel
from viewers.panels.matrix_plot import MatrixPlot
from viewers.panels.row_bars import RowBars
from viewers.time_scale import time_text

_ROW, _LEAST = 15, 90


class BankRecall(KindPanel):
    """Draws an analysis of kind `memory` for the step under the cursor."""

    title = "Memory"
    tip = "What the memory bank of a NeurDuo recalls"

    def make_body(self) -> None:
        """The moment, the weights by channel and write, and the gate by channel."""
        self.moment = note(role="")
        self.weights = MatrixPlot("Recall by channel and write", _LEAST)
        self.gate = RowBars("Gate by channel")
        self.headings = {self.weights: Heading("Recall"), self.gate: Heading("Gate")}
        self.column.addWidget(self.moment)
        for plot, head in self.headings.items():
            self.column.addWidget(head)
            self.column.addWidget(plot)
        self._time: float | None = None
        self._step = -1

    def body(self) -> Sequence[QWidget]:
        """All of it."""
        return [self.moment, *self.headings, *self.headings.values()]

    def show_result(self, result: Analysis) -> None:
        """Fill the plots with the step of the moment."""
        self._step = -1
        self._show_step(result)
        self.headings[self.weights].set_array(result.arrays["weights"], "by channel and write, seconds before the step")
        self.headings[self.gate].set_array(result.arrays["gate"], "share that is let through")

    def set_time(self, time: float | None) -> None:
        """Speak of the step under the cursor; when it is gone, of the one before."""
        if time is None:
            return
        self._time = time
        if self.result is not None and step_of(self.result, self._held(self.result)) != self._step:
            self._show_step(self.result)

    def _held(self, result: Analysis) -> float | None:
        """The moment, where it lies in the analysis; else None for its last step."""
        times = step_times(result)
        inside = self._time is not None and times[0] <= self._time < times[-1] + float(result.facts["step_seconds"])
        return self._time if inside else None

    def _show_step(self, result: Analysis) -> None:
        self._step = step = max(0, step_of(result, self._held(result)))
        at = float(step_times(result)[step])
        starts, _widths, weights = recalled(result, step)
        names = result.labels["channel"]
        ages = tuple(f"−{at + float(result.facts['step_seconds']) - start:.3g}" for start in starts)
        self.moment.setText(moment_text(result, step))
        self.weights.set_message("" if starts.size else "nothing has been written yet")
        shown = weights if starts.size else np.full((len(names), 1), np.nan)
        scale = recall_scale(result.values("weights"))
        self.weights._height = max(_LEAST, _ROW * len(names) + 40)
        self.weights.set_values(shown, names, ages or ("",), (0.0, scale.high), ("", "s before the step"), "share")
        self.weights.updateGeometry()
        self.gate.set_bars(names, result.values("gate")[step] if starts.size else np.full(len(names), np.nan), digits=2)

    def table(self) -> str:
        """Weights, gate and share of every channel at the step."""
        result = self.result
        if result is None:
            return ""
        starts, widths, weights = recalled(result, self._step)
        spans = [f"{a:.1f} to {a + w:.1f} s" for a, w in zip(starts, widths, strict=True)]
        head = "\t".join(["channel", "gate", "share", *spans])
        lines = [*heading(result), f"# {moment_text(result, self._step)}", head]
        for i, name in enumerate(result.labels["channel"]):
            values = [result.values("gate")[self._step, i], result.values("share")[self._step, i], *weights[i]]
            lines.append("\t".join([name, *(f"{v:.5g}" if np.isfinite(v) else "" for v in values)]))
        return "\n".join(lines) + "\n"


def moment_text(result: Analysis, step: int) -> str:
    """Which step is spoken of, and how much it recalls."""
    at = float(step_times(result)[step])
    begin, stop = time_text(at, 0.1), time_text(at + float(result.facts["step_seconds"]), 0.1)
    starts, _, _ = recalled(result, step)
    share = result.values("share")[step]
    held = f"{starts.size} writes held" if starts.size != 1 else "1 write held"
    known = share[np.isfinite(share)]
    much = f", the recall is {float(known.mean()):.2f} of the slow state" if starts.size and known.size else ""
    return f"Step {begin} to {stop}: {held}{much}. Point at the traces for another step."
