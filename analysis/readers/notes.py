"""What every reader does with a file's annotations: those outside the recorded time are set apart, and told of."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress
from operator import attrgetter

import numpy as np

from analysis.annotation import Annotation

_ONSET, _DURATION = attrgetter("onset"), attrgetter("duration")


def split_by_time(
    found: Iterable[Annotation], duration: float, warnings: list[str]
) -> tuple[tuple[Annotation, ...], tuple[Annotation, ...]]:
    """Annotations within the recorded time, sorted by onset, and those that begin after it or end before it."""
    every = sorted(found, key=_ONSET)
    onset = np.fromiter(map(_ONSET, every), np.float64, len(every))
    stop = onset + np.fromiter(map(_DURATION, every), np.float64, len(every))
    meets = (onset <= duration) & (stop >= 0)
    inside, outside = tuple(compress(every, meets.tolist())), tuple(compress(every, (~meets).tolist()))
    if outside:
        warnings.append(f"{len(outside)} of {len(every)} annotations lie outside the recorded time and are left out")
    return inside, outside
