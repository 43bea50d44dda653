"""What may be drawn on a page for print: heat and arcs on the traces, lanes under them, and how single rows look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from analysis.results import SeizurePrediction

HEAT_OPACITY = 0.4  # the traces, which are dark, must stand out from the darkest heat
_HOLE = 1e-6


@dataclass(frozen=True)
class Heat:
    """Values behind the traces: (channels, patches), each patch `step` seconds from `onsets` (seconds) on.

    Patches end at `stops` (seconds) where those are given. `centre` is the value without colour of a diverging scale,
    None for a sequential one; the scale reaches from `low` to `high`, or as far as the values do. `colours` are those
    of the scale as "#rrggbb" on white, from its lower end up, where they are not the program's own. `band` is the part
    of a row's height that is coloured, from its top.
    """

    ch_names: tuple[str, ...]
    onsets: np.ndarray
    step: float
    values: np.ndarray
    title: str
    unit: str = "1"
    centre: float | None = None
    low: float | None = None
    high: float | None = None
    stops: np.ndarray | None = None
    colours: tuple[str, ...] = ()
    opacity: float = HEAT_OPACITY
    band: tuple[float, float] = (0.0, 1.0)

    def cells(self) -> tuple[np.ndarray, np.ndarray]:
        """Edges (n + 1,) in seconds and values (channels, n) between them, NaN in holes."""
        starts = np.asarray(self.onsets, np.float64)
        stops = starts + self.step if self.stops is None else np.asarray(self.stops, np.float64)
        stops = np.append(np.minimum(stops[:-1], starts[1:]), stops[-1:])  # one gives way to the next
        holes = np.flatnonzero(starts[1:] - stops[:-1] > _HOLE)
        edges = np.append(np.insert(starts, holes + 1, stops[holes]), stops[-1:])
        return edges, np.insert(np.asarray(self.values, np.float64), holes + 1, np.nan, axis=1)

    def ends(self) -> tuple[float, float]:
        """The values at both ends of the scale."""
        finite = self.values[np.isfinite(self.values)]
        least, most = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        if self.low is not None and self.high is not None and self.high > self.low:
            return self.low, self.high
        if self.centre is not None:
            reach = max(abs(least - self.centre), abs(most - self.centre), 1e-12)
            return self.centre - reach, self.centre + reach
        return min(0.0, least), most if most > min(0.0, least) else min(0.0, least) + 1.0


@dataclass(frozen=True)
class Lane:
    """A curve under the traces: `times` and `values`, between `low` and `high`, with a threshold where there is one.

    `names` are what the values 0, 1, 2… mean. It is filled from `base`, the lower end where there is none. `colours`
    are those below and above the base as "#rrggbb", where they are not the program's own.
    """

    title: str
    times: np.ndarray
    values: np.ndarray
    low: float = 0.0
    high: float = 1.0
    threshold: float | None = None
    names: tuple[str, ...] = ()
    base: float | None = None
    colours: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shares:
    """Shares (n, parts) that sum to one, of spans that begin at `onsets` and last `step` seconds; NaN where none."""

    title: str
    onsets: np.ndarray
    step: float
    values: np.ndarray
    names: tuple[str, ...]


@dataclass(frozen=True)
class Arcs:
    """Lines from a channel to one that follows it `lags` seconds later, drawn from `times` on within `step` seconds.

    `first` and `later` are places in `ch_names`, `values` lie between -1 and 1 and have no line below `least`.
    `colours` are those of each arc as "#rrggbb", where they are not the program's own.
    """

    title: str
    ch_names: tuple[str, ...]
    times: np.ndarray
    first: np.ndarray
    later: np.ndarray
    lags: np.ndarray
    values: np.ndarray
    step: float
    least: float = 0.5
    opacity: float = 0.6
    colours: tuple[str, ...] = ()

    def share(self, number: int) -> float:
        """How strong an arc is, from 0 for the least that is drawn to 1."""
        return float((abs(self.values[number]) - self.least) / (1 - self.least))


@dataclass(frozen=True)
class RowLook:
    """How a row is drawn where a window has settled that: `per_mm` units a millimetre, negative for negative up.

    Without `per_mm` the row shows `span` units about `zero` and positive is up. `note` says a scale that is not the
    page's; `colour` is "#rrggbb", and a row that `is_cut` ends where the room of its neighbours begins.
    """

    row: str
    per_mm: float | None
    zero: float = 0.0
    span: float = 0.0
    unit: str = "uV"
    note: str = ""
    colour: str = ""
    is_cut: bool = False


def probability_lane(prediction: SeizurePrediction) -> Lane:
    """The lane of a model's probability of a seizure; open where nothing was scored."""
    if not len(prediction.times):
        return Lane("p(seizure)", np.empty(0), np.empty(0), threshold=prediction.threshold)
    times, ends = prediction.times, prediction.times + prediction.durations
    holes = np.append(np.flatnonzero(times[1:] - ends[:-1] > _HOLE), len(times) - 1)
    values = np.insert(prediction.probability.astype(np.float64), holes + 1, np.nan)
    values[-1] = values[-2]  # so that the last step is drawn to its end
    return Lane("p(seizure)", np.insert(times, holes + 1, ends[holes]), values, 0.0, 1.0, prediction.threshold)
