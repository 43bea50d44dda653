"""What MVPFormer's prediction of the next state is compared with, and where on the time axis that stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.analyses import Analysis

TRUE, TWO_STEP, RANDOM = "true", "two_step", "random"
SERIES = {TRUE: "next segment", TWO_STEP: "segment after the next", RANDOM: "random segment"}

_REACHES = (0.1, 0.25, 0.5, 1.0)  # few, so that heights mean the same from page to page


@dataclass(frozen=True)
class Axis:
    """From where to where a lane reaches, and the mean cosine with random segments, which it parts at."""

    low: float
    high: float
    chance: float


def lane_axis(result: Analysis, name: str) -> Axis:
    """The axis that the means over channels of a series fit on."""
    chance = float(result.facts["means"][RANDOM])
    values = np.append(result.values(name).mean(-1).ravel(), chance)
    high = next((r for r in _REACHES if float(np.abs(values).max()) <= r), 1.0)
    return Axis(0.0 if float(values.min()) >= 0 else -high, high, chance)


def shown_series(part: str) -> str:
    """Which comparison a part is; the next segment for any other name."""
    return part if part in SERIES else TRUE


def series_times(result: Analysis, name: str) -> np.ndarray:
    """Where the segments begin that predictions are compared with, seconds (windows x steps,).

    A random segment stands where the next one would.
    """
    times = result.values("time").astype(np.float64) + float(result.facts["first_window"])
    return np.asarray(times[:, 1:].ravel() if name == TWO_STEP else times.ravel())
