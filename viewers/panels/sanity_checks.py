"""How far a map can be trusted: what five checks say in words, and the numbers behind them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QColor
from PyQt6.QtWidgets import QLabel, QSizePolicy, QWidget

from analysis.analyses import Analysis
from analysis.trust_table import HELD, Table, area_table, number, trust_text, truth_table, verdicts_of
from viewers.heat_scales import above, amount, below
from viewers.panels.band_plot import BandPlot, Curve
from viewers.panels.base import note
from viewers.panels.kind_panel import Heading, KindPanel
from viewers.panels.layer_plot import Ink, accent
from viewers.panels.written_matrix import WrittenMatrix
from viewers.theme import Theme

_SHORT = {"IG signed": "IG", "IG unsigned": "|IG|", "Grad-CAM": "CAM", "occlusion": "occl.", "keep one": "keep"}
_KEPT = {"IG signed": "IG signed", "IG unsigned": "|IG|"}
_INKS: dict[str, Ink] = {"IG signed": accent, "IG unsigned": below, "Grad-CAM": above, "RMS": amount}
_DECORRELATED = 0.3
_RIVAL = "RMS"


def muted(theme: Theme) -> QColor:
    """The colour of what is only compared with."""
    return theme.colour("muted")


class CellTable(QLabel):
    """A table of a few words in columns, which can be copied."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self.setWordWrap(True)

    def set_table(self, table: Table) -> None:
        """Show a table; the first column is of names."""
        rows = [_row(table.heads, "th"), *(_row(row, "td") for row in table.rows)]
        self.setText(
            f"<table width='100%' cellspacing='0' cellpadding='1' style='font-size: 11px'>{''.join(rows)}</table>"
        )


def _row(cells: Sequence[str], tag: str) -> str:
    first, *others = (escape(cell) for cell in cells)
    aligned = "".join(f"<{tag} align='right'>{cell}</{tag}>" for cell in others)
    return f"<tr><{tag} align='left'>{first}</{tag}>{aligned}</tr>"


class SanityChecks(KindPanel):
    """Draws kind `sanity-checks`: each check with its verdict, its limit and its picture."""

    title = "Trust"
    tip = "How far a map of attribution can be trusted"

    def make_body(self) -> None:
        """A heading, a verdict and a picture for each check."""
        self.headings = {
            name: Heading(title)
            for name, title in (
                ("completeness", "Does it add up?"),
                ("agreement", "Do methods agree?"),
                ("randomisation", "Does it need the weights?"),
                ("deletion and insertion", "Does the score hang on it?"),
                ("truth", "Does it find what is known?"),
            )
        }
        self.holding = {name: note() for name in self.headings}
        self.failing = {name: note(role="warning") for name in self.headings}
        self.matrix = WrittenMatrix("Agreement of methods, Spearman's rho over channels", height=178)
        self.depths = BandPlot("Likeness to the map as weights are re-drawn", "re-drawn down to", 168)
        self.deletion = BandPlot("Score as parts are taken out", "taken out", 140)
        self.insertion = BandPlot("Score as parts are put in", "put in", 140)
        self.areas = CellTable("Mean scores of deletion and insertion by order")
        self.truth = CellTable("Overlap of each map with the simulated focus")
        pictures: dict[str, tuple[QWidget, ...]] = {
            "agreement": (self.matrix,),
            "randomisation": (self.depths,),
            "deletion and insertion": (self.deletion, self.insertion, self.areas),
            "truth": (self.truth,),
        }
        self._widgets: list[QWidget] = []
        for name, heading in self.headings.items():
            self._widgets += [heading, self.holding[name], self.failing[name], *pictures.get(name, ())]
        for widget in self._widgets:
            self.column.addWidget(widget)

    def body(self) -> Sequence[QWidget]:
        """All there is."""
        return self._widgets

    def show_result(self, result: Analysis) -> None:
        """Fill everything."""
        for verdict in verdicts_of(result):
            self._show_verdict(verdict)
        self._show_agreement(result)
        self._show_depths(result)
        self._show_orders(result)
        there = "truth" in result.arrays
        self.truth.setVisible(there)
        if there:
            self.truth.set_table(_narrow(truth_table(result)))

    def _show_verdict(self, verdict: dict[str, object]) -> None:
        name, holds = str(verdict["check"]), verdict["holds"]
        limit = f"Limit: {verdict['limit']}." if verdict["limit"] else ""
        fails = holds is False
        self.headings[name].set_array(None, HELD[holds])  # type: ignore[index]
        for words, shown in ((self.holding[name], not fails), (self.failing[name], fails)):
            words.setText(f"{verdict['sentence']} {limit}".strip())
            words.setVisible(shown)

    def _show_agreement(self, result: Analysis) -> None:
        values = result.values("agreement")
        names = [_SHORT.get(name, name) for name in result.labels["method"]]
        self.matrix.set_values(values, names, names, (-1.0, 1.0), ("", ""), "Spearman's rho")
        self.matrix.set_texts([[number(value) for value in row] for row in values])

    def _show_depths(self, result: Analysis) -> None:
        mean, spread = result.values("likeness_mean"), result.values("likeness_sd")
        curves = []
        for name, row, half in zip(result.labels["map"], mean, spread, strict=True):
            if np.isfinite(row).any():
                values, sd = np.concatenate([[1.0], row]), np.concatenate([[0.0], half])
                curves.append(
                    Curve(_KEPT.get(name, name), values, _INKS[name], (values - sd, values + sd), name == _RIVAL)
                )
        places = ("nothing", *result.labels["depth"])
        self.depths.set_curves(curves, places, (-1.05, 1.1), (_DECORRELATED, f"limit ± {_DECORRELATED:g}"))

    def _show_orders(self, result: Analysis) -> None:
        names = result.labels["method"]
        for plot, way in ((self.deletion, "deletion"), (self.insertion, "insertion")):
            low, mean, high = result.values(f"{way}_random")
            curves = [Curve("random orders, 95 %", mean, muted, (low, high), dots=False)]
            for name in ("RMS", "IG signed"):
                row = result.values(way)[names.index(name)]
                curves.append(Curve(f"by {name}", row, _INKS[name], dashed=name == _RIVAL))
            plot.set_curves(curves, result.labels["fraction"])
        self.areas.set_table(area_table(result))

    def table(self) -> str:
        """Verdicts and all numbers."""
        return trust_text(self.result) if self.result is not None else ""


def _narrow(table: Table) -> Table:
    """Heads that fit the inspector's width."""
    short = {"rank of focus": "rank", "rho with field": "rho", "rank, re-drawn": "re-drawn rank"}
    return Table(table.title, tuple(short.get(head, head) for head in table.heads), table.rows)
