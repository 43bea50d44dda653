"""What a gesture with the mouse on the traces is: a tool that may take hold of the mouse, and draws over everything."""

from __future__ import annotations

from PyQt6.QtCore import QPointF, Qt
from PyQt6.QtGui import QMouseEvent, QPainter


class PointerTool:
    """Base of the tools of a canvas, which asks them in their order; a tool that takes a press keeps the mouse.

    Points are in logical pixels of the canvas. What no tool takes selects a span or clicks.
    """

    def press(self, event: QMouseEvent) -> bool:
        """Whether the tool takes hold of the mouse until it is released."""
        return False

    def move(self, event: QMouseEvent) -> None:
        """The mouse moves while the tool holds it."""

    def release(self, event: QMouseEvent) -> None:
        """The mouse is let go of by the tool that held it."""

    def double_click(self, event: QMouseEvent) -> bool:
        """Whether the tool answers a double click; else it counts as a second press."""
        return False

    def click(self, at: QPointF) -> bool:
        """Whether the tool answers a left click that dragged nothing; else it takes the selection away."""
        return False

    def hover(self, at: QPointF) -> Qt.CursorShape | None:
        """The shape of the mouse over a point; None where the tool has nothing there."""
        return None

    def tip(self, at: QPointF) -> str:
        """What resting over a point tells; empty for nothing."""
        return ""

    def paint(self, painter: QPainter, height: float) -> None:
        """Draw over everything else."""
