"""How far colours reach, kept from page to page, so that a colour means the same wherever the reader looks."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from analysis.attribution_maps import round_up, spread_of

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
