"""Lines of equal value through a picture: marching squares, all cells at once."""

from __future__ import annotations

import numpy as np

# The two sides of a cell (0 top, 1 right, 2 bottom, 3 left) that a line joins, by which corners lie above the level
# (1 top left, 2 top right, 4 bottom right, 8 bottom left). Saddles (5, 10) are cut into two corners.
_SIDES = np.array([(0, 0), (3, 0), (0, 1), (3, 1), (1, 2), (3, 0), (0, 2), (3, 2)] + 8 * [(0, 0)])
_SIDES[8:] = _SIDES[7::-1, ::-1]  # the same lines, walked the other way
_SIDES[10] = 0, 1
_OF_SADDLES = {5: (1, 2), 10: (2, 3)}
# The corners (column, row) from which and to which the line is looked for along each side.
_FROM, _TO = np.array([(0, 0), (1, 0), (0, 1), (0, 0)]), np.array([(1, 0), (1, 1), (1, 1), (0, 1)])


def contour_lines(values: np.ndarray, level: float) -> np.ndarray:
    """Pieces of the line where values (rows, columns) cross a level: (n, 4) as x1, y1, x2, y2 in columns and rows.

    The middle of the first value is (0, 0). Cells with a NaN have no line.
    """
    above = (values > level).astype(np.int8)
    kind = above[:-1, :-1] + 2 * above[:-1, 1:] + 4 * above[1:, 1:] + 8 * above[1:, :-1]
    row, column = np.nonzero((kind > 0) & (kind < 15))
    case = kind[row, column]
    sides = _SIDES[case]
    for saddle, second in _OF_SADDLES.items():
        more = np.flatnonzero(case == saddle)
        row, column = np.concatenate([row, row[more]]), np.concatenate([column, column[more]])
        sides = np.concatenate([sides, np.tile(second, (more.size, 1))])
    pieces = np.column_stack([_crossing(values, level, row, column, sides[:, end]) for end in (0, 1)])
    return pieces[np.isfinite(pieces).all(axis=1)]


def _crossing(values: np.ndarray, level: float, row: np.ndarray, column: np.ndarray, side: np.ndarray) -> np.ndarray:
    """Where the level is met on one side of each cell (n, 2), by linear interpolation between its corners."""
    begin, end = _FROM[side], _TO[side]
    first, second = (values[row + corner[:, 1], column + corner[:, 0]] for corner in (begin, end))
    part = ((level - first) / (second - first))[:, None]
    return np.column_stack([column, row]) + begin + part * (end - begin)


def contour_levels(peak: float, most: int = 6) -> list[float]:
    """Round values above zero, at most `most` up to a peak."""
    if not peak > 0:
        return []
    step = 10.0 ** np.floor(np.log10(peak / most))
    step *= next(factor for factor in (1, 2, 5, 10) if peak / (factor * step) <= most)
    return [float(step * i) for i in range(1, int(peak / step + 1e-9) + 1)]
