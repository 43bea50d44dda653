"""Tables of colours: a cell at its row and column, its value under the mouse, zero in the middle of both signs."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, QPointF, Qt

from viewers.heat_scales import above, below
from viewers.panels.matrix_plot import MatrixPlot, limits_of
from viewers.theme import LIGHT


@pytest.fixture
def plot(qtbot) -> MatrixPlot:
    made = MatrixPlot("CKA", square=True)
    qtbot.addWidget(made)
    made.resize(360, 300)
    values = [[0.0, 1.0], [np.nan, 0.5], [0.25, 0.75]]
    made.set_values(np.array(values), ("a", "b", "c"), ("x", "y"), (0.0, 1.0), ("AXON", "PRiSE"), "CKA")
    made.show()
    return made


def middle(plot: MatrixPlot, row: int, column: int) -> QPointF:
    return QPointF(plot.x(column), plot.y(row))


def test_both_names_and_the_value_under_the_mouse(plot):
    assert plot.describe(middle(plot, 0, 1)) == "AXON a × PRiSE y\nCKA 1"
    assert plot.describe(middle(plot, 2, 0)) == "AXON c × PRiSE x\nCKA 0.25"
    assert plot.describe(middle(plot, 1, 0)) == "AXON b × PRiSE x\nCKA not defined"
    assert plot.describe(QPointF(2, 2)) == ""


def test_rows_go_down_and_cells_are_square(plot):
    assert plot.y(0) < plot.y(1) < plot.y(2)
    assert plot.y(1) - plot.y(0) == pytest.approx(plot.x(1) - plot.x(0), rel=1e-6)


def test_much_is_dark_in_a_light_window(plot):
    picture = plot.grab().toImage()

    def lightness(row: int, column: int) -> int:
        return picture.pixelColor(middle(plot, row, column).toPoint()).lightness()

    assert lightness(0, 1) < lightness(2, 1) < lightness(1, 1) < lightness(2, 0) < lightness(0, 0)


def test_the_cell_that_is_clicked_is_told(plot, qtbot):
    with qtbot.waitSignal(plot.cell_clicked) as clicked:
        qtbot.mouseClick(plot, Qt.MouseButton.LeftButton, pos=middle(plot, 2, 1).toPoint())
    assert clicked.args == [2, 1]
    with qtbot.assertNotEmitted(plot.cell_clicked):
        qtbot.mouseClick(plot, Qt.MouseButton.LeftButton, pos=QPoint(1, 1))


def test_both_signs_part_at_zero(qtbot):
    plot = MatrixPlot("Change")
    qtbot.addWidget(plot)
    plot.resize(300, 200)
    plot.set_values(np.array([[-0.2, 0.1]]))
    assert plot.limits == (pytest.approx(-0.2), pytest.approx(0.2))
    table = plot.colours(LIGHT)
    assert tuple(table[0]) == below(LIGHT).getRgb()[:3]
    assert tuple(table[-1]) == above(LIGHT).getRgb()[:3]


@pytest.mark.parametrize(
    ("values", "limits"),
    [([[1.0, 4.0]], (0.0, 4.0)), ([[-3.0, 1.0]], (-3.0, 3.0)), ([[0.0, 0.0]], (0.0, 1.0)), ([[np.nan]], (0.0, 1.0))],
)
def test_limits_that_fit(values, limits):
    assert limits_of(np.array(values)) == limits
