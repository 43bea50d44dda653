"""How far colours reach, kept from page to page, so that a colour means the same wherever the reader looks."""

from __future__ import annotations

import math
from collections.abc import Hashable

import numpy as np

COVERED = 99.0  # per cent of the sizes that colours reach to: what sticks out must not pale all others
_PLAINLY = 1.5


class SteadyReach:
    """One reach for each thing that is shown: from its first values, and wider only where later ones plainly need it.

    A reach holds 99 % of the sizes, rounded up to a number of two figures.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, float] = {}

    def of(self, what: Hashable, values: np.ndarray) -> float:
        """The reach for values of something; 1 where nothing is known yet."""
        spread = spread_of(values)
        known = self._known.get(what)
        if spread > 0 and (known is None or spread > _PLAINLY * known):
            known = self._known[what] = round_up(spread)
        return known if known is not None else 1.0


def spread_of(values: np.ndarray) -> float:
    """The size that COVERED per cent of the finite values do not exceed; 0 where there are none."""
    sizes = np.abs(values[np.isfinite(values)])
    return float(np.percentile(sizes, COVERED)) if sizes.size else 0.0


def round_up(value: float) -> float:
    """The least number of two figures that is not below a positive value."""
    power = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.ceil(value / power * (1 - 1e-9)) * power
