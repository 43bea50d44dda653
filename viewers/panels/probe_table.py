"""What a linear probe on the frozen encoder loses when gates are replaced: the paper's heatmap, with its numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from analysis.analyses import Analysis
from viewers.panels.base import note
from viewers.panels.kind_panel import Heading
from viewers.panels.matrix_plot import limits_of
from viewers.panels.written_matrix import WrittenMatrix


class ProbeTable(QWidget):
    """Balanced accuracy by seed, coloured by the change from the learned gates; hidden where nothing was probed."""

    def __init__(self) -> None:
        super().__init__()
        self.heading = Heading("Balanced accuracy of a linear probe")
        self.matrix = WrittenMatrix("Balanced accuracy by gates and seed", height=210)
        self.words = note()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        for widget in (self.heading, self.matrix, self.words):
            column.addWidget(widget)

    @staticmethod
    def is_in(result: Analysis) -> bool:
        """Whether an analysis tells of a probe."""
        return "balanced_accuracy" in result.arrays

    def show_result(self, result: Analysis) -> None:
        """Fill the table."""
        names, columns, accuracy, change = _columns(result)
        self.heading.set_array(result.arrays["balanced_accuracy"], "colour: change from the learned gates")
        reach = max(map(abs, limits_of(change))) or 1.0
        self.matrix.set_values(change, names, columns, (-reach, reach), ("", "seed"), "change in %")
        self.matrix.set_texts(_texts(accuracy, change))
        facts = result.facts["probe"]
        counts = ", ".join(f"{count} of {name}" for name, count in facts["n_of_class"].items())
        paper = "; the last column is the paper's own change, of six tasks" if "paper" in columns else ""
        self.words.setText(f"{facts['n_windows']} windows of {facts['window_seconds']:g} s: {counts}{paper}")

    def lines(self, result: Analysis) -> list[str]:
        """The numbers as lines of a table."""
        names, columns, accuracy, change = _columns(result)
        lines = ["# balanced accuracy of a linear probe, and its change in % from the learned gates"]
        seeds = [f"seed {name}" if name.isdigit() else name for name in columns]
        lines.append("\t".join(["gates", *seeds, "change of the mean"]))
        mean = columns.index("mean")
        for name, row, moved in zip(names, accuracy, change, strict=True):
            cells = [f"{value:.7g}" if np.isfinite(value) else "" for value in row]
            if "paper" in columns:
                cells[-1] = f"{moved[-1]:.7g}" if np.isfinite(moved[-1]) else ""
            lines.append("\t".join([name, *cells, f"{moved[mean]:.7g}"]))
        return lines


def _columns(result: Analysis) -> tuple[list[str], list[str], np.ndarray, np.ndarray]:
    """Rows, columns, accuracies (NaN for the paper's), and changes in %, both (rows, columns)."""
    accuracy = result.values("balanced_accuracy").astype(float)
    accuracy = np.column_stack([accuracy, accuracy.mean(1)])
    change = 100 * (accuracy / accuracy[:1] - 1)
    names = [name.replace("_", " ") for name in result.labels["gates"]]
    columns = [*result.labels["seed"], "mean"]
    if "published_change" in result.arrays:
        columns.append("paper")
        accuracy = np.column_stack([accuracy, np.full(len(accuracy), np.nan)])
        change = np.column_stack([change, np.concatenate([[0.0], result.values("published_change")])])
    return names, columns, accuracy, change


def _texts(accuracy: np.ndarray, change: np.ndarray) -> Sequence[Sequence[str]]:
    """Accuracies, and the change where there is no accuracy."""
    rows = []
    for values, moved in zip(accuracy, change, strict=True):
        cells = []
        for value, percent in zip(values, moved, strict=True):
            told = f"{value:.3f}" if np.isfinite(value) else f"{percent:+.1f}%" if np.isfinite(percent) else ""
            cells.append(told.replace("-", "−"))
        rows.append(cells)
    return rows
