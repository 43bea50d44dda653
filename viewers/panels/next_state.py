"""How well MVPFormer foresees the next segment: against what came, what came later and chance, and in seizures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PyQt6.QtWidgets import QWidget

from analysis.analyses import Analysis
from analysis.analysis_tables import array_table
from analysis.next_state import RANDOM, SERIES, TRUE, TWO_STEP, shown_series
from viewers.heat_scales import above, amount, below
from viewers.panels.base import Chooser, line_of, note
from viewers.panels.distribution_plot import DistributionPlot, Group
from viewers.panels.kind_panel import Heading, KindPanel
from viewers.panels.layer_plot import Ink, accent

_INKS: dict[str, Ink] = {TRUE: accent, TWO_STEP: above, RANDOM: below}
_AXIS = "cosine similarity"
_NONE = "No segment lies in a marked seizure: mark one, or give a table of events among the options."
_ALL = "Every segment lies in a marked seizure: choose a span with a time outside."
_DEPENDENT = "Neighbouring segments resemble each other, so the interval is narrower than it should be."


class NextStatePanel(KindPanel):
    """Draws an analysis of kind `prediction`."""

    title = "Prediction"
    tip = "How well an MVPFormer foresees the next segment"

    def make_body(self) -> None:
        """What the lane shows, and both plots of distributions."""
        choices = [(name, f"Lane: {text}") for name, text in SERIES.items()]
        self.lane = Chooser("In the lane", choices, "What the prediction is compared with, in the lane and below")
        self.all_heading = Heading("Cosine of prediction and state")
        self.all = DistributionPlot("Distributions of the cosine: next, next but one, and random segment", 210)
        self._all_words = note()
        self.ictal_heading = Heading("In seizures and outside")
        self.ictal = DistributionPlot("Distributions of the cosine in marked seizures and outside", 190)
        self._effect = note()
        self.column.addLayout(line_of(self.lane))
        for widget in self._pictures():
            self.column.addWidget(widget)
        self.lane.chosen.connect(self._on_lane)

    def _pictures(self) -> list[QWidget]:
        return [self.all_heading, self.all, self._all_words, self.ictal_heading, self.ictal, self._effect]

    def body(self) -> Sequence[QWidget]:
        """All there is."""
        return [self.lane, *self._pictures()]

    def show_result(self, result: Analysis) -> None:
        """Fill both plots."""
        groups = [Group(text, result.values(name).ravel(), _INKS[name]) for name, text in SERIES.items()]
        self.all.set_groups(groups, _AXIS)
        self.all_heading.set_array(result.arrays[TRUE], "every segment and channel")
        means = result.facts["means"]
        told = ", ".join(f"{text} {means[name]:.3f}" for name, text in SERIES.items())
        self._all_words.setText(f"Share at or below a value. Means: {told}".replace("-", "−"))
        self._show_ictal(result)

    def _show_ictal(self, result: Analysis) -> None:
        name = self.lane.value() or TRUE
        means = result.values(name).mean(-1)
        marked = result.values("seizure").astype(bool)
        marked = marked[:, 1:] if name == TWO_STEP else marked
        groups = [Group("in seizures", means[marked], amount), Group("outside", means[~marked], accent)]
        both = bool(marked.any() and not marked.all())
        self.ictal.setVisible(both)
        if both:
            self.ictal.set_groups(groups, f"{_AXIS} with the {SERIES[name]}")
        self._effect.setText(effect_text(result.facts["ictal"][name]))
        self.ictal_heading.set_array(None, "segments, mean of channels · [our definition]")

    def set_part(self, part: str) -> None:
        """Show what the lane shows."""
        self.lane.choose(shown_series(part))
        if self.result is not None:
            self._show_ictal(self.result)

    def table(self) -> str:
        """Times, seizures and cosines."""
        if self.result is None:
            return ""
        return "\n".join(array_table(self.result, name) for name in ("time", "seizure", *SERIES))

    def _on_lane(self, part: str) -> None:
        self.set_part(part)
        self.part_chosen.emit(part)


def effect_text(found: dict[str, Any]) -> str:
    """How much the segments in seizures differ, in words, with how many there are."""
    if not found["n_first"]:
        return _NONE
    if not found["n_second"]:
        return _ALL
    counts = f"n = {found['n_first']} in seizures, {found['n_second']} outside"
    text = f"In seizures {_signed(found['difference'])}"
    if found["low"] is not None:
        text += f" (95 % interval {_signed(found['low'])} to {_signed(found['high'])}, Welch)"
    return f"{text}; AUROC {found['auroc']:.2f}, 0.5 is no difference; {counts}. {_DEPENDENT}"


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")
