"""A table of numbers as colours beside another one: no names at its sides, which hovering tells, only its scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PyQt6.QtCore import QSize

from viewers.panels.matrix_plot import MatrixPlot
from viewers.panels.plot import Tick

_HEIGHT = 150


class SmallMap(MatrixPlot):
    """Draws a square table in half the width of a panel."""

    right_room = 52.0

    def __init__(self, name: str) -> None:
        super().__init__(name, _HEIGHT, square=True)
        self.bottom_room = 6.0

    def set_values(
        self,
        values: np.ndarray,
        rows: Sequence[str] = (),
        columns: Sequence[str] = (),
        limits: tuple[float, float] | None = None,
        titles: tuple[str, str] = ("", ""),
        quantity: str = "",
    ) -> None:
        """Show a table; what rows and columns are is told under the mouse."""
        super().set_values(values, rows, columns, limits, ("", ""), quantity)
        self.left_room = 4.0
        self._fit()

    def minimumSizeHint(self) -> QSize:
        """Two of them stand side by side in a narrow panel."""
        return QSize(100, super().minimumSizeHint().height())

    def x_ticks(self) -> Sequence[Tick]:
        """None."""
        return ()

    def y_ticks(self) -> Sequence[Tick]:
        """None."""
        return ()
