"""The strongest lag correlations between channels, of an analysis of kind `dynamic-groups`, for screen and print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from analysis.analyses import Analysis

LEAST_CORRELATION = 0.5  # that is drawn
_MOST_ARCS = 3  # a quarter of a second, of all channels; of one channel, its strongest


@dataclass(frozen=True)
class Arc:
    """One channel and another that is `lag` seconds later, in a quarter of a second that begins at `time`."""

    time: float
    channel: int
    later: int
    lag: float
    correlation: float


def lag_and_channel(part: str) -> tuple[int | None, int | None]:
    """The lag and the channel of a part such as `2:5`; None for the best lag, and for all channels."""
    lag, _, channel = part.partition(":")
    return int(lag) if lag.isdigit() else None, int(channel) if channel.isdigit() else None


def strongest_arcs(result: Analysis, part: str) -> list[Arc]:
    """The strongest pairs of every quarter of a second, each pair once, in order of time."""
    lag, channel = lag_and_channel(part)
    rho = result.values("correlation")  # (seconds, quarters, lags, C, C)
    seconds, quarters, _, count, _ = rho.shape
    best = np.abs(rho).argmax(2) if lag is None else np.full((seconds, quarters, count, count), lag)
    value = np.take_along_axis(rho, best[:, :, None], 2)[:, :, 0]
    value = _one_direction(np.where(np.eye(count, dtype=bool), 0.0, value))
    if channel is not None:
        kept = np.zeros((count, count), bool)
        kept[channel] = kept[:, channel] = True
        value = np.where(kept, value, 0.0)
    times = result.values("second_onset").astype(np.float64) + float(result.facts["first_window"])
    step, lags = float(result.facts["quarter_seconds"]), result.facts["lag_seconds"]
    flat = np.abs(value).reshape(seconds, quarters, -1)
    most = min(_MOST_ARCS, flat.shape[-1])
    order = np.argsort(-flat, axis=-1)[..., :most]
    arcs = []
    for second, quarter, rank in np.ndindex(seconds, quarters, most):
        first, later = divmod(int(order[second, quarter, rank]), count)
        rho_here = float(value[second, quarter, first, later])
        if abs(rho_here) >= LEAST_CORRELATION:
            at = float(times[second]) + quarter * step
            arcs.append(Arc(at, first, later, float(lags[int(best[second, quarter, first, later])]), rho_here))
    return arcs


def arcs_title(result: Analysis, part: str) -> str:
    """What is drawn, at which lag and of which channel."""
    lag, channel = lag_and_channel(part)
    when = "at the best lag" if lag is None else f"at {result.labels['lag'][lag]}"
    whose = f" of {result.labels['channel'][channel]}" if channel is not None else ""
    return f"Lag correlations [our definition]{whose} {when}, |ρ| ≥ {LEAST_CORRELATION}"


def _one_direction(value: np.ndarray) -> np.ndarray:
    """Of both directions of a pair the stronger one; the upper half where they are equal."""
    other = np.swapaxes(value, -1, -2)
    upper = np.triu(np.ones(value.shape[-2:], bool))
    stronger = (np.abs(value) > np.abs(other)) | ((np.abs(value) == np.abs(other)) & upper)
    return np.where(stronger, value, 0.0)
