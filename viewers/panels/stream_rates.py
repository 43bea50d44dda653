"""NeurDuo's rates over the span: how fast either stream turns, by channel, and what its state has behind it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from PyQt6.QtWidgets import QWidget

from analysis.analyses import Analysis
from analysis.analysis_tables import heading
from analysis.stream_spans import step_times
from viewers.overlays.stream_rates import PARTS
from viewers.panels.base import Chooser, line_of, note
from viewers.panels.kind_panel import MEAN, Heading, KindPanel
from viewers.panels.row_bars import RowBars
from viewers.time_scale import time_text

SETTLING = {"fast": 30.0, "slow": 90.0}  # seconds until the rates of the trained model have settled, by the paper


class StreamRates(KindPanel):
    """Medians of an analysis of kind `streams`."""

    title = "Streams"
    tip = "How fast the two streams of a NeurDuo move"

    def make_body(self) -> None:
        """What the traces show, the two medians, and each channel's."""
        choices = [(MEAN, "Traces: bare, the lane alone"), *((k, f"Traces: {text}") for k, text in PARTS.items())]
        self.part = Chooser("Stream on the traces", choices, "The stream that is shown by channel behind the traces")
        self.words = note(role="")
        self.fast = RowBars("Fast stream by channel")
        self.slow = RowBars("Slow stream by channel")
        self.headings = {self.fast: Heading("Fast stream"), self.slow: Heading("Slow stream")}
        self.column.addLayout(line_of(self.part))
        self.column.addWidget(self.words)
        for plot, head in self.headings.items():
            self.column.addWidget(head)
            self.column.addWidget(plot)
        self.part.chosen.connect(self.part_chosen)

    def body(self) -> Sequence[QWidget]:
        """All of it."""
        return [self.part, self.words, *self.headings, *self.headings.values()]

    def warnings(self, result: Analysis) -> Iterable[str]:
        """Say where the state is too young for the rates to have settled."""
        facts = result.facts
        since = max([r for r in (facts["begins_at"], *facts["resets"]) if r <= facts["first_time"]], default=0.0)
        age = float(facts["first_time"]) - since
        if age < SETTLING["slow"]:
            yield (
                f"The state is {age:.0f} s old at the start of the span: the rates of the published model settle after "
                f"about {SETTLING['fast']:g} s (fast) and {SETTLING['slow']:g} s (slow)."
            )

    def show_result(self, result: Analysis) -> None:
        """Fill the bars."""
        self.words.setText("\n".join(rate_words(result)))
        for name, plot in (("fast", self.fast), ("slow", self.slow)):
            rates = result.values(f"{name}_by_channel")
            plot.set_bars(result.labels["channel"], _medians(rates), digits=4)
            self.headings[plot].set_array(result.arrays[name], "median of each channel, per second")

    def set_part(self, part: str) -> None:
        """Point out what is on the traces."""
        self.part.choose(part)

    def table(self) -> str:
        """Both rates of every channel, at the median."""
        result = self.result
        if result is None:
            return ""
        lines = [*heading(result), *(f"# {line}" for line in rate_words(result)), "channel\tfast /s\tslow /s"]
        columns = [_medians(result.values(f"{name}_by_channel")) for name in ("fast", "slow")]
        for name, fast, slow in zip(result.labels["channel"], *columns, strict=True):
            lines.append("\t".join([name, *(f"{v:.6g}" if np.isfinite(v) else "" for v in (fast, slow))]))
        return "\n".join(lines) + "\n"


def rate_words(result: Analysis) -> list[str]:
    """The medians of both streams, how often the fast one is the faster, and where the state started."""
    facts, lines = result.facts, []
    for name, seconds in (("fast", facts["step_seconds"]), ("slow", facts["write_seconds"])):
        median = facts[f"{name}_median"]
        value = "no rate yet" if median is None else f"{median:.4f} /s"
        lines.append(f"{name.capitalize()}, every {seconds:g} s: {value} (median)")
    if facts["compared_writes"]:
        lines.append(f"Fast above slow at {facts['fast_above_slow']} of {facts['compared_writes']} writes")
    begun = [time_text(float(t), 0.1) for t in facts["resets"] if t > step_times(result)[0] - 1e-3]
    if begun:
        lines.append(f"State from zero at {', '.join(begun)}")
    return lines


def _medians(rates: np.ndarray) -> np.ndarray:
    """Median over time of each channel; NaN where it has no rate."""
    known = np.isfinite(rates).any(0)
    medians = np.full(rates.shape[1], np.nan)
    if known.any():
        medians[known] = np.nanmedian(rates[:, known], axis=0)
    return medians
