"""How far apart the channel codes of MVPFormer lie by the distance of channel numbers, and against that in space."""

from __future__ import annotations

from math import isfinite

import numpy as np
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from analysis.analyses import Analysis
from analysis.attention_maps import CODE, pairs_of, spearman
from viewers.heat_scales import below
from viewers.panels.base import Chooser, note
from viewers.panels.kind_panel import Heading
from viewers.panels.layer_plot import LayerPlot, Series, accent
from viewers.panels.scatter_plot import ScatterPlot

_MAP = "map"
_NO_POSITIONS = (
    "No positions: fewer than three of these channels have a known place, and contact numbers alone are no distance."
)
_DEPENDENT = "Pairs share channels, so they are not independent: ρ describes, it tests nothing."


class CodeDistances(QWidget):
    """The curve by separation, and a quantity of pairs of channels against their distance in space."""

    def __init__(self) -> None:
        super().__init__()
        self.curve_heading = Heading("Distance of codes by separation")
        self.curve = LayerPlot("Distance of the code of a separation from that of none", 120)
        self.curve.x_title = "distance of channel numbers"
        self.scatter_heading = Heading("Against distance in space")
        choices = [(CODE, "Space: distance of the codes"), (_MAP, "Space: the map above")]
        self.which = Chooser("Against distance in space", choices, "What is drawn against the distance in space")
        self.scatter = ScatterPlot("Pairs of channels: against their distance in space")
        self._words = note()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        for widget in (self.curve_heading, self.curve, self.scatter_heading, self.which, self.scatter, self._words):
            column.addWidget(widget)
        self._shown: tuple[Analysis, np.ndarray, str, str] | None = None
        self.which.chosen.connect(self._on_which)

    def show_curve(self, result: Analysis) -> None:
        """The first row of the distances between codes, beside that of random weights."""
        series = [
            Series("loaded", result.values("code_distance")[0], accent),
            Series("initial", result.values("random_code_distance")[0], below),
        ]
        self.curve.set_series(series)
        self.curve_heading.set_array(result.arrays[CODE], "code of |c − c′| from that of 0")

    def show_map(self, result: Analysis, name: str, values: np.ndarray, quantity: str) -> None:
        """Take the map (C, C) that can be drawn in place of the distance of the codes."""
        self._shown = result, values, name, quantity
        self._on_which("")

    def _on_which(self, _value: str) -> None:
        if self._shown is None:
            return
        result, values, name, quantity = self._shown
        if self.which.value() == CODE:
            name, values, quantity = CODE, result.values(CODE), "distance of the codes"
        self._show_pairs(result, name, values, quantity)

    def _show_pairs(self, result: Analysis, name: str, values: np.ndarray, quantity: str) -> None:
        """Pairs of channels, both directions averaged."""
        names, physical = result.labels["channel"], result.arrays["physical"]
        first, second = np.triu_indices(len(names), 1)
        x, y = pairs_of(physical.values), pairs_of(values)
        rho, n = spearman(x, y)
        located = int(result.facts["n_located"])
        there = located > 2
        self.scatter.setVisible(there)
        self.which.setVisible(there)
        self._words.setText(_DEPENDENT if there else _NO_POSITIONS)
        if there:
            texts = [f"{names[i]} – {names[j]}" for i, j in zip(first, second, strict=True)]
            self.scatter.set_points(x, y, texts, ("distance in space, mm", quantity))
        told = f"{rho:.2f}".replace("-", "−") if isfinite(rho) else "not defined"
        more = f"{quantity}; Spearman ρ {told}, n = {n:,} pairs of {located} channels" if there else quantity
        self.scatter_heading.set_array(result.arrays[name], more)
