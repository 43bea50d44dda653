"""What occlusion, keep-one, deletion and insertion say beside a map of attribution."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PyQt6.QtGui import QColor
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from analysis.analyses import Analysis
from viewers.panels.base import note
from viewers.panels.kind_panel import Heading
from viewers.panels.layer_plot import LayerPlot, Series, accent
from viewers.panels.row_bars import RowBars, digits_for
from viewers.theme import Theme

_BARS = (("occlusion", "Occlusion"), ("keep_one", "Keep-one"))
_CURVES = (("deletion", "Deletion"), ("insertion", "Insertion"))
_MOST_BARS = 12
NOT_MADE = "No checks were made: set the option checks to compare with occlusion and keep-one."


class CurvePlot(LayerPlot):
    """The score as channels are taken away or put in, against their share."""

    x_title = "channels changed"

    def describe_layer(self, layer: int) -> str:
        """The scores at a share of the channels."""
        lines = super().describe_layer(layer).splitlines()
        return "\n".join([f"{self.labels[layer]} of the channels", *lines[1:]])


class AttributionChecks(QWidget):
    """Means over the windows: bars by channel, curves by the map's order and by chance, and rank correlations."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self.title = Heading("Checks")
        self.agreement = note()
        self.curves = {name: CurvePlot(f"{title} curve", 110) for name, title in _CURVES}
        self.bars = {name: RowBars(f"{title} by channel", signed=True) for name, title in _BARS}
        self.headings = {name: Heading(title) for name, title in (*_CURVES, *_BARS)}
        for widget in (self.title, self.agreement):
            column.addWidget(widget)
        for name, plot in {**self.curves, **self.bars}.items():
            column.addWidget(self.headings[name])
            column.addWidget(plot)

    def set_result(self, result: Analysis) -> None:
        """Show the checks of a result; nothing for a kind without any."""
        made, could = "occlusion" in result.arrays, "windows" in result.facts
        self.setVisible(could or "keep_one" in result.arrays)
        self.agreement.setText("\n".join(_agreement(result)) if made else NOT_MADE)
        self.agreement.setVisible(could)
        for name, plot in self.curves.items():
            self._show(name, plot, f"{name}_by_map" in result.arrays)
            if f"{name}_by_map" in result.arrays:
                self._show_curve(result, name, plot)
        for name, bars in self.bars.items():
            self._show(name, bars, name in result.arrays)
            if name in result.arrays:
                self._show_bars(result, name, bars)

    def _show(self, name: str, plot: QWidget, there: bool) -> None:
        plot.setVisible(there)
        self.headings[name].setVisible(there)

    def _show_curve(self, result: Analysis, name: str, plot: CurvePlot) -> None:
        by_map, at_random = (_mean(result, f"{name}_{how}") for how in ("by_map", "at_random"))
        shares = np.linspace(0, 1, len(by_map))
        series = [Series("by the map", by_map, accent), Series("at random", at_random, _muted)]
        both = np.concatenate([by_map, at_random])
        low, high = float(both.min()), float(both.max())
        room = 0.08 * (high - low) or 1.0
        plot.set_series(series, [f"{share:.0%}" for share in shares], (low - room, high + room))
        self.headings[name].set_array(result.arrays[f"{name}_by_map"], "score, channels largest first")

    def _show_bars(self, result: Analysis, name: str, bars: RowBars) -> None:
        values, names = _mean(result, name), result.labels["channel"]
        order = np.argsort(-np.abs(values))[:_MOST_BARS]
        bars.set_bars([names[i] for i in order], values[order], digits=digits_for(values))
        shown = f"largest {len(order)} of {len(names)}, in score" if len(order) < len(names) else "in score"
        self.headings[name].set_array(result.arrays[name], shown)


def _muted(theme: Theme) -> QColor:
    return theme.colour("muted")


def _mean(result: Analysis, name: str) -> np.ndarray:
    """Mean over the windows, where there is one for each."""
    array = result.arrays[name]
    values = array.values.astype(np.float64)
    return np.asarray(values.mean(0) if array.axes[0] == "window" else values)


def _agreement(result: Analysis) -> list[str]:
    """Rank correlations in words, their mean and range over windows."""
    windows: Sequence[dict[str, float]] = result.facts.get("windows", ())
    lines = []
    for name, title in _BARS:
        rhos = np.array([each[key] for each in windows if (key := f"agreement_with_{name}") in each], float)
        rhos = rhos[np.isfinite(rhos)]
        if rhos.size:
            spread = f" ({rhos.min():.2f} to {rhos.max():.2f} in {rhos.size} windows)" if rhos.size > 1 else ""
            lines.append(f"Rank correlation with {title.lower()}: {rhos.mean():.2f}{spread}".replace("-0", "−0"))
    return lines
