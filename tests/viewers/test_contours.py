"""Lines of equal value against fields whose lines are known, and against an independent library."""

from __future__ import annotations

import numpy as np
import pytest
from contourpy import contour_generator

from viewers.contours import contour_levels, contour_lines


def length(pieces: np.ndarray) -> float:
    return float(np.hypot(pieces[:, 2] - pieces[:, 0], pieces[:, 3] - pieces[:, 1]).sum())


def test_a_cone_has_circles():
    y, x = np.mgrid[-32:33, -32:33].astype(float)
    pieces = contour_lines(np.hypot(x, y), 20.0)
    np.testing.assert_allclose(np.hypot(pieces[:, 0] - 32, pieces[:, 1] - 32), 20.0, atol=0.05)
    assert length(pieces) == pytest.approx(2 * np.pi * 20, rel=0.002)


@pytest.mark.parametrize("level", [-0.4, 0.0, 0.31])
def test_lines_are_as_long_as_those_of_another_library(level):
    y, x = np.mgrid[0:40, 0:50] / 7
    values = np.sin(x) * np.cos(0.7 * y) + 0.2 * x
    expected = contour_generator(z=values).lines(level)
    total = sum(np.hypot(*np.diff(line, axis=0).T).sum() for line in expected)
    assert length(contour_lines(values, level)) == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize("corners", range(16))
def test_every_cell_is_cut_between_what_is_above_and_below(corners):
    signs = np.array([1.0 if corners >> i & 1 else -1.0 for i in range(4)])
    values = np.array([[signs[0], signs[1]], [signs[3], signs[2]]])
    pieces = contour_lines(values, 0.0)
    assert len(pieces) == (0 if corners in (0, 15) else 2 if corners in (5, 10) else 1)
    ends = {tuple(end) for piece in pieces.tolist() for end in (piece[:2], piece[2:])}
    middles = {(0.5, 0.0): (0, 1), (1.0, 0.5): (1, 2), (0.5, 1.0): (2, 3), (0.0, 0.5): (3, 0)}
    assert ends == {place for place, (a, b) in middles.items() if signs[a] != signs[b]}


def test_there_is_no_line_next_to_what_is_missing():
    values = np.add.outer(np.zeros(5), np.arange(6.0))
    values[2, 2] = np.nan
    pieces = contour_lines(values, 2.5)
    assert set(pieces[:, 1].round().tolist() + pieces[:, 3].round().tolist()) <= {0.0, 1.0, 3.0, 4.0}


@pytest.mark.parametrize(
    ("peak", "levels"), [(100.0, [20, 40, 60, 80, 100]), (37.0, [10, 20, 30]), (0.0, []), (5.0, [1, 2, 3, 4, 5])]
)
def test_levels_are_round(peak, levels):
    assert contour_levels(peak) == pytest.approx(levels)
