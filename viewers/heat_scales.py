"""Colours of what is laid behind the traces: see-through where there is nothing to say, so that the page shows through.

A scale with a balance has brown below it and teal above, which differ for every common kind of colour blindness and are
neither a side's nor a model's colour; a scale from nothing to much has one orange.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from PyQt6.QtGui import QColor

from viewers.colour_scales import STEPS
from viewers.theme import Theme

_BELOW = {False: "#a8641c", True: "#e2a052"}
_ABOVE = {False: "#12827f", True: "#40b9b2"}
_AMOUNT = {False: "#e0760a", True: "#f29a3a"}


@dataclass(frozen=True)
class HeatScale:
    """What colours stand for, from `low` to `high`; with a `middle`, that value has no colour.

    `unit` is written after values, `low_word` and `high_word` say what the ends mean.
    """

    low: float
    high: float
    middle: float | None = None
    unit: str = ""
    low_word: str = ""
    high_word: str = ""

    def share(self, value: float) -> float:
        """Where a value lies, 0 at `low`, 1 at `high`; what lies beyond, at the nearer end."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low))) if self.high > self.low else 0.0

    def text(self, value: float) -> str:
        """A value as it is written beside the colours."""
        if not math.isfinite(value):
            return "—"
        reach = max(abs(self.low), abs(self.high), 1e-12)
        decimals = max(0, min(6, 2 - math.floor(math.log10(reach) + 1e-9) - (reach < 1)))
        return f"{value:.{decimals}f}{f' {self.unit}' if self.unit else ''}".replace("-", "−")

    def steps(self, values: np.ndarray) -> np.ndarray:
        """Values as places in a table of 256 colours, uint8 of the same shape; NaN becomes the lower end."""
        span = self.high - self.low if self.high > self.low else 1.0
        place = (values - np.float32(self.low)) * np.float32((STEPS - 1) / span)
        # NaN is not above 0.
        return np.minimum(np.where(place > 0, place, 0.0) + 0.5, STEPS - 1).astype(np.uint8)


def below(theme: Theme, alpha: float = 1.0) -> QColor:
    """The colour of what lies below the balance."""
    return _with_alpha(_BELOW[theme.is_dark], alpha)


def above(theme: Theme, alpha: float = 1.0) -> QColor:
    """The colour of what lies above the balance."""
    return _with_alpha(_ABOVE[theme.is_dark], alpha)


def amount(theme: Theme, alpha: float = 1.0) -> QColor:
    """The colour of an amount."""
    return _with_alpha(_AMOUNT[theme.is_dark], alpha)


def tint(theme: Theme, scale: HeatScale, value: float, strength: float = 1.0) -> QColor:
    """The colour of one value, see-through where it says nothing."""
    if scale.middle is None:
        return amount(theme, strength * scale.share(value))
    reach = max(scale.high - scale.middle, scale.middle - scale.low) or 1.0
    colour = above if value >= scale.middle else below
    return colour(theme, strength * min(1.0, abs(value - scale.middle) / reach))


def tints(theme: Theme, scale: HeatScale, strength: float = 1.0) -> np.ndarray:
    """256 colours from `low` to `high` as Qt's premultiplied ARGB, uint32."""
    return _tints(theme, scale, round(strength, 3))


@lru_cache(maxsize=32)
def _tints(theme: Theme, scale: HeatScale, strength: float) -> np.ndarray:
    table = np.empty(STEPS, np.uint32)
    for i, value in enumerate(np.linspace(scale.low, scale.high, STEPS)):
        colour = tint(theme, scale, float(value), strength)
        alpha = colour.alphaF()
        red, green, blue = (round(part * alpha * 255) for part in (colour.redF(), colour.greenF(), colour.blueF()))
        table[i] = round(alpha * 255) << 24 | red << 16 | green << 8 | blue
    table.setflags(write=False)
    return table


@lru_cache(maxsize=4)
def balance_colours(theme: Theme) -> np.ndarray:
    """256 opaque colours (256, 3) uint8 from brown over the page's ground to teal."""
    ground = QColor(theme.canvas)
    table = np.empty((STEPS, 3), np.uint8)
    for i, value in enumerate(np.linspace(-1.0, 1.0, STEPS)):
        ink = (above if value >= 0 else below)(theme)
        share = abs(float(value))
        pairs = zip((ink.red(), ink.green(), ink.blue()), (ground.red(), ground.green(), ground.blue()), strict=True)
        table[i] = [round(share * a + (1 - share) * b) for a, b in pairs]
    table.setflags(write=False)
    return table


def _with_alpha(name: str, alpha: float) -> QColor:
    colour = QColor(name)
    colour.setAlphaF(min(1.0, max(0.0, alpha)))
    return colour
