"""Colours of values: zero is the ground, and the same quantity has the same colours here and behind the traces."""

from __future__ import annotations

import numpy as np
import pytest

from viewers.heat_scales import HeatScale, above, below, tints
from viewers.panels.value_scale import Scale, colour_table
from viewers.theme import DARK, LIGHT


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_signed_values_have_the_colours_that_they_have_behind_the_traces(qapp, theme) -> None:
    table = colour_table(Scale(-2.0, 2.0, "score", True), theme)
    behind = tints(theme, HeatScale(-2.0, 2.0, 0.0))
    ends = np.array([[behind[i] >> shift & 255 for shift in (16, 8, 0)] for i in (0, -1)])
    np.testing.assert_array_equal(table[[0, -1]], ends)
    assert table[0].tolist() == list(below(theme).getRgb()[:3])
    assert table[-1].tolist() == list(above(theme).getRgb()[:3])
    voltage = colour_table(Scale(-2.0, 2.0, "µV"), theme)
    assert not np.array_equal(voltage, table)
