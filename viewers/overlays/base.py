"""What an overlay is: something drawn on the traces from annotations or a result, in one small file of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from PyQt6.QtCore import QRectF
from PyQt6.QtGui import QPainter
from PyQt6.QtWidgets import QGraphicsItem
from pyqtgraph import GraphicsObject

from analysis.annotation import Annotation
from analysis.recording import Page, Window
from viewers.colour_key import ColourKey
from viewers.gutter import GutterStrip
from viewers.rows import Rows
from viewers.theme import LIGHT, Theme
from viewers.time_scale import TimeScale

Place = Literal["behind", "front", "strip"]


@dataclass(frozen=True)
class OverlayState:
    """How an overlay is shown: `opacity` 0..1 is the reader's, `options` are the overlay's own.

    `sequential` and `diverging` name the colours of amounts and of what has a balance, empty for the usual.
    """

    visible: bool = True
    opacity: float = 0.6
    sequential: str = ""
    diverging: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Label:
    """A name at the top of the traces, at the time where what it names begins (or the page does)."""

    time: float
    text: str
    colour: str  # of the theme
    annotation: Annotation


class Plot(Protocol):
    """What an overlay may do to the traces: x is in seconds, y in logical pixels from the top."""

    def add_overlay_item(self, item: QGraphicsItem, place: Place) -> None:
        """Put an item behind the traces or in front of them."""

    def remove_overlay_item(self, item: QGraphicsItem) -> None:
        """Take an item away again."""

    def set_key(self, owner: str, key: ColourKey | None) -> None:
        """Say at the foot of the page what the colours of an overlay mean, or no more."""

    def set_strip(self, owner: str, strip: GutterStrip | None) -> None:
        """Show a value of each row beside its name, or no more."""


class Overlay:
    """Base of all overlays; creates its items in `attach` and only moves and fills them afterwards."""

    title: str = ""
    draws: type | None = None
    place: Place = "behind"

    def __init__(self) -> None:
        self.state = OverlayState()

    def attach(self, plot: Plot) -> None:
        """Create the graphics items, once."""
        raise NotImplementedError

    def set_result(self, result: Any) -> None:
        """Take new numbers, or None."""
        raise NotImplementedError

    def set_state(self, state: OverlayState) -> None:
        """Take what the reader chose."""
        self.state = state

    def set_hidden(self, hidden: bool) -> None:
        """Vanish while a key is held, whatever the state."""
        raise NotImplementedError

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        raise NotImplementedError

    def show_page(self, page: Page, rows: Rows) -> None:
        """Follow a page turn or a change of rows: move and fill, create nothing."""
        raise NotImplementedError

    def labels(self, window: Window) -> tuple[list[Label], int]:
        """Names for the top of the page, at most some tens, and how many more there are without a name."""
        return [], 0

    def marks_within(self, start: float, stop: float) -> Sequence[Annotation]:
        """Marks that can be pointed at where they overlap a span of seconds, or are moments in it."""
        return ()

    def events_at(self, time: float) -> Sequence[Annotation]:
        """Events that are drawn over a time."""
        return self.marks_within(time, math.nextafter(time, math.inf))

    def describe(self, time: float, ch_name: str) -> str:
        """What hovering says at a time of a row; empty for nothing."""
        return ""

    def detach(self) -> None:
        """Remove every item that was created."""
        raise NotImplementedError


class PaintedItem(GraphicsObject):
    """An item over the whole view that asks its overlay to paint in pixels of the view."""

    def __init__(self, paint: Callable[[QPainter, TimeScale, float], None]) -> None:
        super().__init__()
        self._paint = paint

    def boundingRect(self) -> QRectF:
        """The whole view, in seconds and pixels."""
        return self.viewRect()

    def viewRangeChanged(self) -> None:
        """The item covers the view wherever it is."""
        self.prepareGeometryChange()

    def paint(self, painter: QPainter | None, *_: object) -> None:
        """Hand over a painter whose units are logical pixels, with the view's top left corner as origin."""
        assert painter is not None
        rect = self.viewRect()
        if rect.width() <= 0 or rect.height() <= 0:
            return
        device = painter.worldTransform().mapRect(rect)
        # A figure of another size than the window is painted larger, not sharper in another place.
        zoom = device.height() / rect.height()
        painter.save()
        painter.resetTransform()
        painter.translate(device.topLeft())
        if abs(zoom - 1) > 1e-6:
            painter.scale(zoom, zoom)
        self._paint(painter, TimeScale(Window(rect.left(), rect.right()), device.width() / zoom), rect.height())
        painter.restore()


class PaintedOverlay(Overlay):
    """An overlay that paints itself with one item over the whole view; subclasses write `paint`."""

    def __init__(self) -> None:
        super().__init__()
        self.theme = LIGHT
        self.rows: Rows | None = None
        self.hidden = False  # while a key is held, whatever the state
        self._plot: Plot | None = None
        self._item: PaintedItem | None = None

    def attach(self, plot: Plot) -> None:
        """Create the one item."""
        self._plot = plot
        self._item = PaintedItem(self.paint)
        self._item.setVisible(self.is_shown)
        plot.add_overlay_item(self._item, self.place)

    def detach(self) -> None:
        """Remove the item."""
        if self._plot is not None and self._item is not None:
            self._plot.remove_overlay_item(self._item)
        self._plot = self._item = None

    def set_state(self, state: OverlayState) -> None:
        """Show, hide or fade."""
        self.state = state
        if self._item is not None:
            self._item.setVisible(self.is_shown)
        self.update()

    def set_hidden(self, hidden: bool) -> None:
        """Vanish, or come back as the state says."""
        self.hidden = hidden
        if self._item is not None:
            self._item.setVisible(self.is_shown)

    @property
    def is_shown(self) -> bool:
        """Whether it is to be seen now."""
        return self.state.visible and not self.hidden

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self.theme = theme
        self.update()

    def show_page(self, page: Page, rows: Rows) -> None:
        """Follow the rows."""
        self.rows = rows
        self.update()

    def update(self) -> None:
        """Ask to be painted again."""
        if self._item is not None:
            self._item.update()

    def paint(self, painter: QPainter, scale: TimeScale, height: float) -> None:
        """Draw what lies in the scale's window, in logical pixels."""
        raise NotImplementedError
