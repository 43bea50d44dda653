"""PRiSE-EEG's experts over time, in a lane under the traces; nothing is laid behind the traces themselves."""

from __future__ import annotations

import numpy as np

from analysis.analyses import Analysis
from viewers.expert_lane import ExpertLane, ExpertShares
from viewers.overlays.heat import MEAN, AnalysisHeat, Heat


class ExpertsOverlay(AnalysisHeat):
    """Which experts carry the tokens of each second: of all blocks ("mean"), or of one."""

    title = "Experts"

    def make_lane(self) -> ExpertLane:
        """The lane that shows all there is."""
        return ExpertLane(self.title)

    def parts(self, result: Analysis) -> list[str]:
        """All blocks, and each."""
        return [MEAN, *(str(i) for i in range(result.values("load").shape[0]))]

    def heat_of(self, result: Analysis, part: str) -> Heat | None:
        """None: a token is of a group, and a group of no one channel."""
        return None

    def curve_of(self, result: Analysis, part: str) -> ExpertShares:  # type: ignore[override]
        """The shares of every second."""
        times = result.values("second_onset").astype(np.float64) + float(result.facts["first_window"])
        quantity = f"Share of the routed tokens of {result.models[0]} that each expert gets, by second"
        return ExpertShares(
            times,
            result.values("usage"),
            tuple(result.labels["block"]),
            None if part == MEAN else int(part),
            quantity,
            result.random_weights,
        )
