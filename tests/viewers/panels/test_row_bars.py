"""Bars beside names: both signs from zero, no negative zero, all lines in sight."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QPointF

from viewers.heat_scales import above, below
from viewers.panels.row_bars import RowBars
from viewers.theme import LIGHT


@pytest.fixture
def bars(qtbot) -> RowBars:
    made = RowBars("Change", signed=True)
    qtbot.addWidget(made)
    made.resize(320, 120)
    made.set_bars(("up", "down", "none", "nothing"), np.array([0.5, -0.5, -1e-9, np.nan]), digits=4)
    made.show()
    return made


def test_either_sign_has_its_side_and_colour(bars):
    picture = bars.grab().toImage()

    def colour(row: int, value: float) -> str:
        return picture.pixelColor(round(bars.x(value)), round(bars.y(row))).name()

    assert colour(0, 0.3) == above(LIGHT).name()
    assert colour(1, -0.3) == below(LIGHT).name()
    assert colour(0, -0.3) != above(LIGHT).name()
    assert colour(2, 0.3) not in (above(LIGHT).name(), below(LIGHT).name())


def test_values_are_written_out(bars):
    assert bars.accessibleDescription() == "up +0.5000; down −0.5000; none 0.0000; nothing —"
    assert bars.describe(QPointF(bars.x(0.0), bars.y(1))) == "down: −0.5000"


def test_more_lines_need_more_room(bars):
    before = bars.sizeHint().height()
    bars.set_bars([str(i) for i in range(12)], np.arange(12.0))
    assert bars.sizeHint().height() > 2 * before
