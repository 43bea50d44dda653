"""How far a map finds what is known of a simulated seizure: its focus, and the field of the focus over the channels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.engine.attribution import rank_correlation
from analysis.recording import Channel
from analysis.simulation.truth import Seizure, Truth

MEASURES = ("rank", "top3", "auroc", "correlation")
INVOLVED = 0.5  # of the largest field: a channel counts as involved
_TOP = 3


@dataclass(frozen=True)
class Focus:
    """A simulated seizure on the channels of a map: places of `picks` in the map, `field` |field - mean| at them.

    `focus` is the place of the focal channel among `picks`.
    """

    seizure: Seizure
    picks: np.ndarray
    field: np.ndarray
    focus: int


def focus_of(truth: Truth, channels: Sequence[Channel], start: float, stop: float) -> Focus | None:
    """The seizure that a window in seconds shares most with, on channels of a map; None without one, or its focus."""
    shared = [(min(stop, seizure.stop) - max(start, seizure.onset), seizure) for seizure in truth.events]
    most, seizure = max(shared, key=lambda pair: pair[0], default=(0.0, None))
    if seizure is None or most <= 0:
        return None
    topography = {name.casefold(): value for name, value in seizure.topography.items()}
    found = [(i, name) for i, channel in enumerate(channels) if (name := _known(channel, topography))]
    names = [name for _, name in found]
    if len(names) <= _TOP or seizure.focus_channel.casefold() not in names:
        return None
    values = np.array([topography[name] for name in names])
    mean = np.mean(list(topography.values()))  # the truth is defined for the average reference
    picks = np.array([i for i, _ in found])
    return Focus(seizure, picks, np.abs(values - mean), names.index(seizure.focus_channel.casefold()))


def _known(channel: Channel, topography: Mapping[str, float]) -> str:
    names = (channel.name, channel.original_name, channel.site or "")
    return next((name.casefold() for name in names if name.casefold() in topography), "")


def overlap(by_channel: np.ndarray, focus: Focus) -> dict[str, float]:
    """The measures of a map (C,): rank of the focus (1 is best), 1 in the top three, AUROC, rank correlation."""
    values = by_channel[focus.picks].astype(float)
    if not np.isfinite(values).all():
        return dict.fromkeys(MEASURES, float("nan"))
    own = values[focus.focus]
    rank = 1.0 + np.sum(values > own) + (np.sum(values == own) - 1) / 2  # equal values share their ranks
    return {
        "rank": float(rank),
        "top3": float(rank <= _TOP),
        "auroc": auroc(values, focus.field >= INVOLVED * focus.field.max()),
        "correlation": rank_correlation(values, focus.field),
    }


def auroc(values: np.ndarray, positive: np.ndarray) -> float:
    """How often a positive has a higher value than a negative, ties by half; NaN without either."""
    above, below = values[positive], values[~positive]
    if not len(above) or not len(below):
        return float("nan")
    difference = above[:, None] - below[None, :]
    return float((difference > 0).mean() + 0.5 * (difference == 0).mean())
