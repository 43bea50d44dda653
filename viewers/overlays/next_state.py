"""How well MVPFormer foresaw what came: the cosine of the predicted with the actual next segment, in a lane."""

from __future__ import annotations

import numpy as np

from analysis.analyses import Analysis
from analysis.next_state import SERIES, lane_axis, series_times, shown_series
from viewers.analysis_lane import LaneCurve
from viewers.heat_scales import HeatScale, balance_words
from viewers.overlays.heat import MEAN, AnalysisHeat, Heat


class NextState(AnalysisHeat):
    """The lane of an analysis of kind `prediction`; one colour is above what random segments give, one below."""

    title = "Prediction"

    def parts(self, result: Analysis) -> list[str]:
        """What the prediction is compared with."""
        return [MEAN, *SERIES]

    def heat_of(self, result: Analysis, part: str) -> Heat | None:
        """None: it is drawn in a lane only."""
        return None

    def curve_of(self, result: Analysis, part: str) -> LaneCurve:
        """Means over channels, around the mean with random segments."""
        name = shown_series(part)
        values = result.values(name).mean(-1).ravel()
        times = series_times(result, name)
        widths = np.full(times.shape, float(result.facts["segment_seconds"]))
        axis = lane_axis(result, name)
        mark = f" [{result.arrays[name].source}]" if result.arrays[name].source else ""
        n = len(result.labels["channel"])
        low, high = balance_words(self.state.diverging)
        quantity = (
            f"Cosine of {result.models[0]}'s prediction with the {SERIES[name]}, mean of {n} channels{mark}; "
            f"{high} above the mean with random segments ({axis.chance:.2f}), {low} below it"
        ).replace("-", "−")
        scale = HeatScale(axis.low, axis.high, axis.chance, "", "unlike", "as predicted")
        return LaneCurve(times, widths, values, scale, SERIES[name], quantity, result.random_weights)
