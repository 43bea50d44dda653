"""What NeurDuo's memory recalls at a step: the weight of each write it holds, drawn back to where that was heard."""

from __future__ import annotations

import numpy as np
from PyQt6.QtCore import QLineF, QPointF
from PyQt6.QtGui import QFontMetricsF, QPainter, QPen

from analysis.analyses import Analysis
from analysis.recording import Page, Window
from analysis.stream_spans import step_times
from viewers.analysis_lane import LaneCurve
from viewers.heat_scales import HeatScale
from viewers.overlays.heat import MEAN, AnalysisHeat, Heat
from viewers.rows import Rows
from viewers.theme import font
from viewers.time_scale import TimeScale

_REACHES = (0.25, 0.5, 1.0)
_COVERED = 98.0
_BEFORE = 0.01  # seconds before the end of the page, where its last step is
GATE = HeatScale(0.0, 1.0, low_word="shut", high_word="open")


def step_of(result: Analysis, time: float | None) -> int:
    """The step that holds a time, or the one heard last before it; the last of all without a time, -1 for none."""
    times = step_times(result)
    if time is None:
        return times.size - 1
    return int(np.searchsorted(times, time + 1e-3, side="right")) - 1


def recall_scale(weights: np.ndarray) -> HeatScale:
    """Colours from nothing to a share that nearly all weights lie below."""
    known = weights[np.isfinite(weights) & (weights > 0)]
    most = float(np.percentile(known, _COVERED)) if known.size else 1.0
    return HeatScale(0.0, next((r for r in _REACHES if most <= r), 1.0), low_word="not recalled", high_word="recalled")


def recalled(result: Analysis, step: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Starts and lengths in seconds (K,) of what was written, and weights (channels, K), oldest first, full slots."""
    written = result.values("slot_time")[step].astype(np.float64) + float(result.facts["first_time"])
    there = np.isfinite(written)
    stops = written[there] + float(result.facts["step_seconds"])
    widths = np.full(stops.shape, float(result.facts["write_seconds"]))
    return stops - widths, widths, result.values("weights")[step][:, there]


class RecallOverlay(AnalysisHeat):
    """Heat over the last seconds before a step, the one under the cursor; the lane has the gate over time."""

    title = "Recall"

    def __init__(self) -> None:
        super().__init__()
        self.time: float | None = None
        self._page: Window | None = None
        self._step = -1

    def set_time(self, time: float) -> None:
        """Speak of the step that holds a time."""
        self.time = time
        self._follow()

    def show_page(self, page: Page, rows: Rows) -> None:
        """Follow the page: a moment that is not on it gives way to its end."""
        self._page = page.window
        super().show_page(page, rows)
        self._follow()

    def _follow(self) -> None:
        if self.result is not None and step_of(self.result, self.moment()) != self._step:
            self._show()

    def moment(self) -> float | None:
        """The time that is spoken of: under the cursor, or else where the page ends."""
        page = self._page
        if page is None or (self.time is not None and page.start <= self.time < page.stop):
            return self.time
        return page.stop - _BEFORE

    def parts(self, result: Analysis) -> list[str]:
        """There is one."""
        return [MEAN]

    def heat_of(self, result: Analysis, part: str) -> Heat | None:
        """The weights of the step, each over the time since the write before it; NaN nowhere else."""
        self._step = step_of(result, self.moment())
        if self._step < 0:
            return None
        starts, widths, weights = recalled(result, self._step)
        if not starts.size:
            return None
        at = float(step_times(result)[self._step])
        mark = f" [{source}]" if (source := result.arrays["weights"].source) else ""
        title = f"Recall of {result.models[0]} at {at:.1f} s{mark}"
        quantity = f"share of the recall at {at:.1f} s{mark}"
        scale = recall_scale(result.values("weights"))
        return Heat(starts, widths, result.labels["channel"], weights, scale, title, quantity)

    def curve_of(self, result: Analysis, part: str) -> LaneCurve:
        """How far the gate of the recall opens, mean over channels."""
        times = step_times(result)
        widths = np.full(times.shape, float(result.facts["step_seconds"]))
        gate = result.values("gate")
        opened = np.where(result.values("weights").any(axis=(1, 2)), gate.mean(1), np.nan)
        return LaneCurve(
            times, widths, opened, GATE, "gate",
            f"How far {result.models[0]} lets through what its memory recalls, mean of {gate.shape[1]} channels "
            f"[{result.arrays['gate'].source}]; nothing passes before the first write",
            result.random_weights,
        )  # fmt: skip

    def paint(self, painter: QPainter, scale: TimeScale, height: float) -> None:
        """The heat, and a line at the step that recalls."""
        super().paint(painter, scale, height)
        if self.heat is None or self.result is None or self._step < 0:
            return
        stop = float(step_times(self.result)[self._step]) + float(self.result.facts["step_seconds"])
        x = scale.x(stop)
        if not 0 <= x <= scale.width:
            return
        painter.setPen(QPen(self.theme.colour("accent"), 1.2))
        painter.drawLine(QLineF(x, 0, x, height))
        painter.setFont(font(9))
        width = QFontMetricsF(painter.font()).horizontalAdvance("recalls")
        painter.drawText(QPointF(x + 4 if x + width + 6 < scale.width else x - width - 4, height - 5), "recalls")
