"""How sure a share of a count is."""

from __future__ import annotations

from math import sqrt

_Z = 1.959964  # 95 % of a normal distribution


def wilson_interval(hits: int, count: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927), from 0 to 1; all of it where nothing was counted."""
    if not count:
        return 0.0, 1.0
    share, size = hits / count, _Z**2 / count
    middle = (share + size / 2) / (1 + size)
    reach = _Z / (1 + size) * sqrt(share * (1 - share) / count + size / (4 * count))
    return max(0.0, middle - reach), min(1.0, middle + reach)
