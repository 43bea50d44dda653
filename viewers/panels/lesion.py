"""What a linear probe loses without some electrodes: recall of each class with strips covered, accuracy as more go."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PyQt6.QtWidgets import QWidget

from analysis.analyses import Analysis
from analysis.analysis_tables import array_table, heading
from viewers.panels.base import note
from viewers.panels.kind_panel import Heading, KindPanel
from viewers.panels.layer_plot import LayerPlot, Series, accent
from viewers.panels.matrix_plot import limits_of
from viewers.panels.written_matrix import WrittenMatrix


class ShareCurve(LayerPlot):
    """A curve over the share of electrodes that are deleted."""

    x_title = "electrodes deleted"

    def describe_layer(self, layer: int) -> str:
        """The values at a share."""
        return super().describe_layer(layer).replace("layer ", "deleted ", 1)


class Lesion(KindPanel):
    """Draws an analysis of kind `lesion`."""

    title = "Lesion"
    tip = "What a linear probe loses without some electrodes"

    def make_body(self) -> None:
        """A table and a curve."""
        self._recall = Heading("Recall")
        self.recall = WrittenMatrix("Recall by covered electrodes and class", height=130)
        self._covered = note()
        self._deletion = Heading("Electrodes deleted at random")
        self.deletion = ShareCurve("Balanced accuracy by share of deleted electrodes", 190)
        for widget in self.body():
            self.column.addWidget(widget)

    def body(self) -> Sequence[QWidget]:
        """All there is."""
        return [self._recall, self.recall, self._covered, self._deletion, self.deletion]

    def show_result(self, result: Analysis) -> None:
        """Fill both."""
        covers, classes = result.labels["cover"], result.labels["class"]
        recall, change = result.values("recall").mean(1), result.values("recall_change")
        reach = max(map(abs, limits_of(change))) or 1.0
        self.recall.set_values(change, covers, classes, (-reach, reach), ("covered", "class"), "change of recall")
        rows = zip(recall, change, strict=True)
        signed = [[f"{v:.2f} ({d:+.2f})".replace("-", "−") for v, d in zip(*row, strict=True)] for row in rows]
        signed[0] = [f"{value:.2f}" for value in recall[0]]
        self.recall.set_texts(signed)
        self._recall.set_array(result.arrays["recall"], "mean of seeds, colour: change")
        self._covered.setText(self._names_of_covered(result))
        accuracy = result.values("deletion")
        series = Series("balanced accuracy", accuracy.mean(1), accent, accuracy.std(1))
        chance = 1 / len(classes)
        self.deletion.set_series([series], result.labels["share"], (0.0, 1.05), (chance, f"chance {chance:.2f}"))
        self._deletion.set_array(result.arrays["deletion"], "balanced accuracy, mean of seeds")

    @staticmethod
    def _names_of_covered(result: Analysis) -> str:
        names = np.array(result.labels["channel"])
        rows = zip(result.labels["cover"][1:], result.values("covered")[1:], strict=True)
        return "\n".join(
            f"{cover}: {', '.join(names[row > 0]) or 'no electrode of the recording'}" for cover, row in rows
        )

    def table(self) -> str:
        """Recalls, their changes and accuracies, one table under the other."""
        if self.result is None:
            return ""
        parts = [array_table(self.result, name) for name in ("recall", "recall_change", "deletion")]
        head = len("\n".join(heading(self.result))) + 1
        return parts[0] + "".join(part[head:] for part in parts[1:])
