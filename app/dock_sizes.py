"""How large the docks are: as their letters and contents ask, but never so large that the traces are crushed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PyQt6.QtCore import QEvent, QObject, Qt, QTimer
from PyQt6.QtWidgets import QMainWindow, QTabBar

from app.panel import PanelDock

_LEFT, _RIGHT = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
USUAL_WIDTHS = {_LEFT: 264, _RIGHT: 312}
# Share of the window that larger letters may widen a side to.
_SHARES = {_LEFT: 0.22, _RIGHT: 0.28}
_SAME = 2


class DockSizes(QObject):
    """Keeps the widths of both sides in step with the letters, and gives each dock the height of its contents."""

    def __init__(self, window: QMainWindow, docks: Iterable[PanelDock]) -> None:
        super().__init__(window)
        self._window = window
        self._docks = tuple(docks)
        self._factor, self._wanted_factor = 0.0, 1.0  # 0: no widths have been given yet
        self._bases: dict[Qt.DockWidgetArea, float] = {}  # widths at the usual size of letters
        self._given: dict[Qt.DockWidgetArea, int] = {}
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self._arrange)
        for dock in self._docks:
            dock.body.height_changed.connect(self.arrange)
            dock.visibilityChanged.connect(self.arrange)
            dock.topLevelChanged.connect(self.arrange)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Follow the size of the window."""
        if event is not None and event.type() in (QEvent.Type.Resize, QEvent.Type.Show):
            self.arrange()
        return False

    def arrange(self, *_: object) -> None:
        """Give the docks their sizes as soon as everything has its contents."""
        self._soon.start(0)

    def set_letters(self, per_cent: int) -> None:
        """Make room for letters of another size."""
        self._wanted_factor = per_cent / 100
        self.arrange()

    def keep(self) -> None:
        """Take the sides as wide as they are for letters of the present size, as of a layout that came back."""
        self._factor = self._wanted_factor

    def reset(self, right: float = USUAL_WIDTHS[_RIGHT]) -> None:
        """Take the usual widths for letters of the usual size, or more at the right where the window has room."""
        most = max(USUAL_WIDTHS[_RIGHT], _SHARES[_RIGHT] * self._window.width())
        self._bases = {**USUAL_WIDTHS, _RIGHT: min(right, most)}
        self._factor = 0.0
        self._arrange()
        self.arrange()

    def _arrange(self) -> None:
        if not self._window.isVisible():
            return
        for bar in self._window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly):
            bar.setAccessibleName("Panels in one place")  # they come and go with the layout
        if self._wanted_factor != self._factor:
            self._set_widths()
        for side in (_LEFT, _RIGHT):
            self._set_heights(self._shown(side))

    def _shown(self, side: Qt.DockWidgetArea) -> list[PanelDock]:
        """The docks to be seen at a side, from the top; of those behind one another the one in front."""
        window = self._window
        here = [d for d in self._docks if d.isVisible() and not d.isFloating() and window.dockWidgetArea(d) == side]
        return sorted((d for d in here if window.rect().intersects(d.geometry())), key=PanelDock.y)

    # Widths

    def _set_widths(self) -> None:
        for side in _SHARES:
            shown = self._shown(side)
            if not shown:
                continue
            if self._factor:
                self._learn(side, max(dock.width() for dock in shown))
            width = self._width_for(side, self._wanted_factor)
            self._window.resizeDocks(shown[:1], [width], Qt.Orientation.Horizontal)
        self._factor = self._wanted_factor
        QTimer.singleShot(0, self._note_widths)

    def _width_for(self, side: Qt.DockWidgetArea, factor: float) -> int:
        base = self._bases.get(side, USUAL_WIDTHS[side])
        return round(min(base * factor, max(base, _SHARES[side] * self._window.width())))

    def _learn(self, side: Qt.DockWidgetArea, width: int) -> None:
        """Take over a width that the reader has given to a side."""
        given = self._given.get(side) or self._width_for(side, self._factor)
        if abs(width - given) > _SAME:
            self._bases[side] = width / self._factor

    def _note_widths(self) -> None:
        for side in _SHARES:
            shown = self._shown(side)
            if shown:
                self._given[side] = max(dock.width() for dock in shown)

    # Heights

    def _set_heights(self, docks: Sequence[PanelDock]) -> None:
        if len(docks) < 2 or len({dock.x() for dock in docks}) > 1:
            return  # side by side by the reader's hand
        present = [dock.height() for dock in docks]
        edges = [dock.height() - dock.body.height() for dock in docks]
        least = [dock.minimumSizeHint().height() for dock in docks]
        wanted = [
            0 if dock.body.stretches else max(dock.body.wanted_height() + edge, low)
            for dock, edge, low in zip(docks, edges, least, strict=True)
        ]
        heights = share_heights(sum(present), wanted, least, present)
        if any(abs(a - b) > _SAME for a, b in zip(heights, present, strict=True)):
            self._window.resizeDocks(docks, heights, Qt.Orientation.Vertical)


def share_heights(total: int, wanted: Sequence[int], least: Sequence[int], present: Sequence[int]) -> list[int]:
    """Heights that sum up to `total` where that can be: as wanted, the rest to those that want 0.

    Where there is too little the highest give way first, none below its least.
    """
    stretching = [i for i, height in enumerate(wanted) if not height]
    room = total - sum(least[i] for i in stretching)
    heights = list(wanted)
    excess = sum(heights) - room
    while excess > 0 and (over := [i for i, height in enumerate(heights) if height > least[i]]):
        tallest = max(over, key=lambda i: heights[i])
        heights[tallest] -= 1
        excess -= 1
    spare = total - sum(heights) - sum(least[i] for i in stretching)
    weights = {i: max(present[i], 1) for i in stretching}
    for i in stretching:
        heights[i] = least[i] + max(0, spare) * weights[i] // sum(weights.values())
    return heights
