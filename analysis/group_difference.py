"""How two groups of numbers differ: areas under the ROC, and the difference of the means with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, nan
from typing import Any

import numpy as np

LEVEL = 0.95


@dataclass(frozen=True)
class GroupDifference:
    """`auroc` is the chance that one of the first group is above one of the second, `difference` that of the means.

    `low` to `high` is the 95 % interval of the difference (Welch), which takes the numbers as independent. NaN where
    a group is too small.
    """

    n_first: int
    n_second: int
    auroc: float = nan
    difference: float = nan
    low: float = nan
    high: float = nan

    def describe(self) -> dict[str, Any]:
        """Ready for JSON; None where there is no number."""
        numbers = {name: getattr(self, name) for name in ("auroc", "difference", "low", "high")}
        known = {name: value if isfinite(value) else None for name, value in numbers.items()}
        return {"n_first": self.n_first, "n_second": self.n_second, **known}


def compare_groups(first: np.ndarray, second: np.ndarray) -> GroupDifference:
    """Compare two groups, (n,) and (m,)."""
    n, m = first.size, second.size
    if not n or not m:
        return GroupDifference(n, m)
    above = (first[:, None] > second).mean() + 0.5 * (first[:, None] == second).mean()
    difference = float(first.mean() - second.mean())
    reach = _reach(first, second) if n > 1 and m > 1 else nan
    return GroupDifference(n, m, float(above), difference, difference - reach, difference + reach)


def _reach(first: np.ndarray, second: np.ndarray) -> float:
    """Half the interval of the difference of two means of unequal spread (Welch 1947)."""
    from scipy.special import stdtrit

    a, b = first.var(ddof=1) / first.size, second.var(ddof=1) / second.size
    if a + b == 0:
        return 0.0
    freedom = (a + b) ** 2 / (a**2 / (first.size - 1) + b**2 / (second.size - 1))
    return float(stdtrit(freedom, (1 + LEVEL) / 2) * np.sqrt(a + b))
