"""How well MVPFormer foresaw what came: the cosine of the predicted with the actual next segment, in a lane."""

from __future__ import annotations

import numpy as np

from analysis.analyses import Analysis
from viewers.analysis_lane import LaneCurve
from viewers.heat_scales import HeatScale
from viewers.overlays.heat import MEAN, AnalysisHeat, Heat

TRUE, TWO_STEP, RANDOM = "true", "two_step", "random"
SERIES = {TRUE: "next segment", TWO_STEP: "segment after the next", RANDOM: "random segment"}

_REACHES = (0.1, 0.25, 0.5, 1.0)  # few, so that heights mean the same from page to page


def shown_series(part: str) -> str:
    """Which comparison a part is; the next segment for any other name."""
    return part if part in SERIES else TRUE


def series_times(result: Analysis, name: str) -> np.ndarray:
    """Where the segments begin that predictions are compared with, seconds (windows x steps,).

    A random segment stands where the next one would.
    """
    times = result.values("time").astype(np.float64) + float(result.facts["first_window"])
    return np.asarray(times[:, 1:].ravel() if name == TWO_STEP else times.ravel())


class NextState(AnalysisHeat):
    """The lane of an analysis of kind `prediction`; teal is above what random segments give, brown below."""

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
        chance = float(result.facts["means"][RANDOM])
        most = float(np.abs(np.append(values, chance)).max())
        high = next((r for r in _REACHES if most <= r), 1.0)
        low = 0.0 if chance >= 0 and values.min(initial=0.0) >= 0 else -high
        mark = f" [{result.arrays[name].source}]" if result.arrays[name].source else ""
        n = len(result.labels["channel"])
        quantity = (
            f"Cosine of {result.models[0]}'s prediction with the {SERIES[name]}, mean of {n} channels{mark}; "
            f"teal above the mean with random segments ({chance:.2f}), brown below it"
        ).replace("-", "−")
        scale = HeatScale(low, high, chance, "", "unlike", "as predicted")
        return LaneCurve(times, widths, values, scale, SERIES[name], quantity, result.random_weights)
