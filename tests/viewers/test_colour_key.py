"""The key of colours: it says the values at both ends, and whose they are, however narrow the page."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QColor, QImage, QPainter

from viewers.colour_key import ColourKey, paint_key
from viewers.heat_scales import HeatScale, above, below
from viewers.theme import LIGHT

KEY = ColourKey("Gates of AXON, mean of 22 layers", HeatScale(0.25, 0.75, 0.5, "", "space", "time"), 1.0)


def painted(key: ColourKey, right: float = 500.0) -> tuple[QImage, float]:
    picture = QImage(520, 20, QImage.Format.Format_RGB32)
    picture.fill(Qt.GlobalColor.white)
    painter = QPainter(picture)
    left = paint_key(painter, key, right, 0, 20, LIGHT)
    painter.end()
    return picture, left


def test_ends_have_values_and_words():
    assert KEY.ends() == ("space 0.25", "0.75 time")
    assert ColourKey("Attribution", HeatScale(0, 2, None, "µV")).ends() == ("0.00 µV", "2.00 µV")


def test_the_bar_runs_from_one_colour_to_the_other(qtbot):
    picture, left = painted(KEY)
    line = [picture.pixelColor(x, 10) for x in range(int(left), 500)]
    first = next(i for i, c in enumerate(line) if near(c, below(LIGHT)))
    last = max(i for i, c in enumerate(line) if near(c, above(LIGHT)))
    assert 40 < last - first < 110


def test_a_narrow_page_loses_the_title_but_not_the_bar_nor_the_warning(qtbot):
    _, wide = painted(KEY)
    picture, narrow = painted(ColourKey(KEY.title, KEY.scale, 1.0, "random weights"), right=290.0)
    assert wide < 250
    assert narrow >= 0
    assert any(near(picture.pixelColor(x, 10), above(LIGHT)) for x in range(290))


def test_where_even_the_words_hardly_fit_the_bar_is_short(qtbot):
    key = ColourKey(KEY.title, HeatScale(-0.015, 0.015, 0.0, "score/s", "against", "for"), 1.0, "random weights")
    _, whole = painted(key, right=520.0)
    needed = 520.0 - whole - _title_width(key, whole)
    for less in (30.0, 70.0):  # a shorter bar, then the unit at one end only
        _, left = painted(key, right=needed - less)
        assert left >= 0


def _title_width(key: ColourKey, left: float) -> float:
    _, without = painted(ColourKey("", key.scale, key.strength, key.warning), right=520.0)
    return without - left


def near(one: QColor, other: QColor) -> bool:
    return all(abs(a - b) < 25 for a, b in zip(one.getRgb()[:3], other.getRgb()[:3], strict=True))


@pytest.mark.parametrize("strength", [0.2, 1.0])
def test_the_key_is_as_strong_as_what_it_explains(qtbot, strength):
    picture, _ = painted(ColourKey("", KEY.scale, strength))
    darkest = min(picture.pixelColor(x, 10).lightness() for x in range(385, 440))
    assert (darkest < 140) == (strength == 1.0)
