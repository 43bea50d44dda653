"""Colours of what is laid behind the traces: see-through where there is nothing to say, so that the page shows through.

A scale with a balance has brown below it and teal above, which differ for every common kind of colour blindness and are
neither a side's nor a model's colour; a scale from nothing to much has one orange. The reader may take others, all of
which can be told apart by colour-blind eyes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from PyQt6.QtGui import QColor

from viewers.colour_scales import STEPS, even_table
from viewers.theme import Theme

# By name and for a light and a dark page; the first of each is the usual one.
DIVERGING = {  # below and above the balance
    "brown to teal": (("#a8641c", "#12827f"), ("#e2a052", "#40b9b2")),
    "blue to orange": (("#1c6fc4", "#c8600a"), ("#62aef5", "#f29a3a")),
    "purple to green": (("#7b3294", "#1b7837"), ("#c594e0", "#6cc784")),
}
SEQUENTIAL = {  # from little to much
    "orange": (("#e0760a",), ("#f29a3a",)),
    "blue": (("#1c6fc4",), ("#62aef5",)),
    "grey": (("#39414b",), ("#d5dbe2",)),
    "violet and yellow": (
        ("#e8d21d", "#35a779", "#31688e", "#440154"),
        ("#54308a", "#3a6ea5", "#35b779", "#fde725"),
    ),
    "blue and yellow": (("#e6cf4a", "#8f8b78", "#4a5a72", "#00224e"), ("#2f4a86", "#6f7488", "#b3a670", "#fee838")),
}
_SEEN_FROM = 0.4  # of a scale of several colours, from where they are full: its order is told by the colours


@dataclass(frozen=True)
class HeatScale:
    """What colours stand for, from `low` to `high`; with a `middle`, that value has no colour.

    `unit` is written after values, `low_word` and `high_word` say what the ends mean. `colours` is the name of one of
    DIVERGING or SEQUENTIAL, empty for the usual.
    """

    low: float
    high: float
    middle: float | None = None
    unit: str = ""
    low_word: str = ""
    high_word: str = ""
    colours: str = ""

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


def below(theme: Theme, alpha: float = 1.0, colours: str = "") -> QColor:
    """The colour of what lies below the balance."""
    return _with_alpha(_of(DIVERGING, colours, theme)[0], alpha)


def above(theme: Theme, alpha: float = 1.0, colours: str = "") -> QColor:
    """The colour of what lies above the balance."""
    return _with_alpha(_of(DIVERGING, colours, theme)[1], alpha)


def amount(theme: Theme, alpha: float = 1.0, colours: str = "", share: float = 1.0) -> QColor:
    """The colour of an amount, `share` of the greatest."""
    inks = _of(SEQUENTIAL, colours, theme)
    if len(inks) == 1:
        return _with_alpha(inks[0], alpha)
    red, green, blue = even_table(inks)[round(share * (STEPS - 1))].tolist()
    return _with_alpha(QColor(red, green, blue).name(), alpha)


def balance_words(colours: str = "") -> tuple[str, str]:
    """What the colours below and above the balance are called."""
    low, high = (colours if colours in DIVERGING else next(iter(DIVERGING))).split(" to ")
    return low, high


def tint(theme: Theme, scale: HeatScale, value: float, strength: float = 1.0) -> QColor:
    """The colour of one value, see-through where it says nothing."""
    if scale.middle is None:
        share = scale.share(value)
        many = len(_of(SEQUENTIAL, scale.colours, theme)) > 1
        return amount(theme, strength * (min(1.0, share / _SEEN_FROM) if many else share), scale.colours, share)
    reach = max(scale.high - scale.middle, scale.middle - scale.low) or 1.0
    colour = above if value >= scale.middle else below
    return colour(theme, strength * min(1.0, abs(value - scale.middle) / reach), scale.colours)


def _of(palettes: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]], name: str, theme: Theme) -> tuple[str, ...]:
    """Colours of a palette for a theme, the theme's own for no name; the usual ones for a name that there is not."""
    name = name or (theme.balances if palettes is DIVERGING else theme.amounts)
    found = palettes.get(name)
    return (found if found is not None else next(iter(palettes.values())))[theme.is_dark]


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


@lru_cache(maxsize=8)
def balance_colours(theme: Theme) -> np.ndarray:
    """256 opaque colours (256, 3) uint8 from those below a balance over the page's ground to those above it."""
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
