"""Colours can be read, and told apart by people who see fewer of them."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest
from PyQt6.QtGui import QColor, QFontMetricsF, QPalette

from viewers.theme import (
    HUES,
    TEXT_SCALES,
    THEMES,
    Theme,
    font,
    palette,
    px,
    set_text_scale,
    style_sheet,
    text_width,
    theme,
)


def luminance(colour: str) -> float:
    channels = [c / 255 for c in QColor(colour).getRgb()[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


# Machado, Oliveira and Fernandes 2009, severity 1, for linear RGB; each row sums to one, so that greys stay grey.
SIGHT = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])
TRACES = ("left", "right", "midline")
# Pairs that must be told apart by colour, and how far apart they are in CIE Lab (1976) for everyone.
APART = [
    *((a, b, 20.0) for a, b in combinations(TRACES, 2)),
    *((a, b, 20.0) for a, b in combinations(HUES, 2)),
    *(("accent", name, 15.0) for name in (*TRACES, *HUES, "human", "reader", "caution")),
    ("human", "reader", 15.0),
    ("good", "bad", 15.0),
]


def lab(colour: str, sight: str) -> np.ndarray:
    """Where a colour lies in CIE Lab for someone who sees so."""
    channels = np.array(QColor(colour).getRgb()[:3]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    seen = np.clip(SIGHT[sight] @ linear, 0, 1)
    xyz = XYZ @ seen / WHITE
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("chosen", THEMES.values(), ids=lambda t: t.name)
def test_text_and_traces_stand_out_from_their_ground(chosen: Theme) -> None:
    names = ("text", "left", "right", "midline", "other", "accent", "caution", "human", "reader", "good", "bad", *HUES)
    for name in names:
        assert contrast(getattr(chosen, name), chosen.canvas) >= 4.5, name
    for ground in (chosen.canvas, chosen.chrome):
        assert contrast(chosen.muted, ground) >= 4.5
    assert contrast(chosen.on_accent, chosen.accent) >= 4.5


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("chosen", THEMES.values(), ids=lambda t: t.name)
def test_colours_of_meaning_differ_for_everyone(chosen: Theme, sight: str) -> None:
    for a, b, least in APART:
        distance = np.linalg.norm(lab(getattr(chosen, a), sight) - lab(getattr(chosen, b), sight))
        assert distance >= least, (a, b, round(float(distance), 1))


def test_lab_is_that_of_the_standard() -> None:
    """sRGB red is L 53.24, a 80.09, b 67.20; greys have no hue, whoever looks."""
    np.testing.assert_allclose(lab("#ff0000", "usual"), (53.24, 80.09, 67.20), atol=0.02)
    for sight in SIGHT:
        np.testing.assert_allclose(lab("#808080", sight)[1:], 0.0, atol=0.02)


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


@pytest.fixture
def letters():
    """Sets the size of letters in per cent; they have their usual size again afterwards."""
    yield set_text_scale
    set_text_scale(100)


@pytest.mark.parametrize("per_cent", TEXT_SCALES)
def test_letters_and_the_room_for_them_grow_together(qapp, letters, per_cent: int) -> None:
    usual = [int(size) for size in re.findall(r"font-size: (\d+)px", style_sheet(theme("light")))]
    letters(per_cent)
    assert px(20) == pytest.approx(0.2 * per_cent)
    assert font(10).pixelSize() == round(0.1 * per_cent)
    for bold in (False, True):
        assert text_width("10 µV/mm", 10, bold) == QFontMetricsF(font(10, bold)).horizontalAdvance("10 µV/mm")
    sheet = style_sheet(theme("light"))
    assert [int(size) for size in re.findall(r"font-size: (\d+)px", sheet)] == [
        round(s * per_cent / 100) for s in usual
    ]
    assert "border: 1px solid" in sheet


def test_shared_colour_carries_its_opacity() -> None:
    assert theme("light").colour("accent", 0.5).alphaF() == pytest.approx(0.5, abs=0.01)
    assert theme("light").colour("accent").alpha() == 255
