"""Colours can be read, and told apart by people who see fewer of them."""

from __future__ import annotations

import re
from itertools import combinations

import pytest
from PyQt6.QtGui import QColor, QPalette

from viewers.theme import THEMES, Theme, font, palette, style_sheet, theme


def luminance(colour: str) -> float:
    channels = [c / 255 for c in QColor(colour).getRgb()[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def without_red_green(colour: str) -> tuple[float, float, float]:
    """How a person without red cones sees a colour (Viénot, Brettel and Mollon 1999), linear RGB."""
    red, green, blue = (((c / 255) + 0.055) / 1.055 if c > 10 else c / 255 / 12.92 for c in QColor(colour).getRgb()[:3])
    red, green, blue = red**2.4, green**2.4, blue**2.4
    merged = 0.11238 * red + 0.88762 * green
    return merged, merged, 0.00401 * red - 0.00401 * green + blue


@pytest.mark.parametrize("chosen", THEMES.values(), ids=lambda t: t.name)
def test_text_and_traces_stand_out_from_their_ground(chosen: Theme) -> None:
    for name in ("text", "left", "right", "midline", "other", "accent", "caution", "human", "reader", "good", "bad"):
        assert contrast(getattr(chosen, name), chosen.canvas) >= 4.5, name
    for ground in (chosen.canvas, chosen.chrome):
        assert contrast(chosen.muted, ground) >= 4.5
    assert contrast(chosen.on_accent, chosen.accent) >= 4.5


@pytest.mark.parametrize("chosen", THEMES.values(), ids=lambda t: t.name)
def test_colours_of_meaning_differ_for_the_colour_blind(chosen: Theme) -> None:
    for a, b in combinations(("left", "right", "midline"), 2):
        seen_a, seen_b = without_red_green(getattr(chosen, a)), without_red_green(getattr(chosen, b))
        assert max(abs(x - y) for x, y in zip(seen_a, seen_b, strict=True)) > 0.03, (a, b)
    human, accent = without_red_green(chosen.human), without_red_green(chosen.accent)
    assert max(abs(x - y) for x, y in zip(human, accent, strict=True)) > 0.03


@pytest.mark.parametrize("chosen", THEMES.values(), ids=lambda t: t.name)
def test_style_sheet_leaves_no_name_unfilled(chosen: Theme) -> None:
    assert re.findall(r"@\w+@", style_sheet(chosen)) == []
    assert chosen.accent in style_sheet(chosen)


def test_palette_and_fonts(qapp) -> None:
    dark = theme("dark")
    assert palette(dark).color(QPalette.ColorRole.Window).name() == dark.chrome
    assert dark.is_dark
    assert not theme("light").is_dark
    assert font(11, True).pixelSize() == 11
    assert font(11, True).bold()
    with pytest.raises(KeyError):
        theme("sepia")


def test_shared_colour_carries_its_opacity() -> None:
    assert theme("light").colour("accent", 0.5).alphaF() == pytest.approx(0.5, abs=0.01)
    assert theme("light").colour("accent").alpha() == 255
