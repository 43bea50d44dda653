"""What a fine-tuned NeurDuo takes each unit for, as a lane: the stages of sleep as a hypnogram."""

from __future__ import annotations

import numpy as np

from analysis.analyses import Analysis
from viewers.hypnogram_lane import Hypnogram, HypnogramLane, stage_order
from viewers.overlays.heat import MEAN, AnalysisHeat, Heat


def unit_times(result: Analysis) -> np.ndarray:
    """When the units begin, float64 seconds of the recording."""
    return result.values("time").astype(np.float64) + float(result.facts["first_time"])


class ClassesOverlay(AnalysisHeat):
    """A lane alone: a class is said of all channels together."""

    title = "Stages"

    def make_lane(self) -> HypnogramLane:
        """The staircase."""
        return HypnogramLane(self.title)

    def parts(self, result: Analysis) -> list[str]:
        """There is one."""
        return [MEAN]

    def heat_of(self, result: Analysis, part: str) -> Heat | None:
        """Nothing lies behind the traces."""
        return None

    def curve_of(self, result: Analysis, part: str) -> Hypnogram:
        """The likeliest class of each unit."""
        order, names = stage_order(result.labels["class"])
        place = np.argsort(order)  # of each class among the rows
        choice = result.values("choice").astype(np.intp)
        certainty = result.values("probability").max(1)
        length = float(result.facts["unit_seconds"])
        tip = (
            f"The likeliest class of each {length:g} s, by {result.models[0]}, which hears "
            f"{result.facts['context_units']} of them together; fainter where it is less sure"
        )
        return Hypnogram(
            unit_times(result), length, place[choice], certainty, tuple(names), f"every {length:g} s", tip,
            result.random_weights,
        )  # fmt: skip

    def describe(self, time: float, ch_name: str) -> str:
        """The class at a time, and how sure the model is of it."""
        result = self.result
        if result is None or not self.state.visible:
            return ""
        at = int(np.searchsorted(unit_times(result), time, side="right")) - 1
        if at < 0 or time >= unit_times(result)[at] + float(result.facts["unit_seconds"]):
            return ""
        name = result.labels["class"][int(result.values("choice")[at])]
        return f"{name} p {float(result.values('probability')[at].max()):.2f}"
