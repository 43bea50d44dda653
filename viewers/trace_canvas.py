"""The surface the traces are painted on: a bare view box with seconds to the right and logical pixels downwards.

It paints the layers in their order (grid, overlays, traces, overlays, names and scale) and turns the mouse into
wishes; gestures other than selecting belong to its tools. It never moves by itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, pyqtSignal
from PyQt6.QtGui import QEnterEvent, QHelpEvent, QMouseEvent, QPainter, QResizeEvent, QWheelEvent
from PyQt6.QtWidgets import QFrame, QGraphicsItem, QGraphicsView, QToolTip
from pyqtgraph import GraphicsView, ViewBox

from analysis.annotation import Annotation
from analysis.recording import Page, Window
from viewers.colour_key import ColourKey
from viewers.gutter import GutterStrip
from viewers.labels import LabelBand, band_height
from viewers.mark_rows import MarkRows, channels_of
from viewers.overlays.base import PaintedItem, Place
from viewers.page_decor import Furniture, paint_grid, paint_holes
from viewers.page_state import Hole
from viewers.pointer_tool import PointerTool
from viewers.rows import Rows
from viewers.theme import LIGHT
from viewers.time_scale import TimeScale
from viewers.trace_picture import TracePicture

_LAYERS = {"grid": 0.0, "behind": 10.0, "traces": 20.0, "front": 30.0, "furniture": 40.0}
_DRAG_PX = 5
_NOTCH = 120


class TraceCanvas(GraphicsView):
    """Shows one page; asks by signals to turn pages, to scroll, to change the sensitivity and to select."""

    turned = pyqtSignal(float)  # pages, positive is forward
    scrolled = pyqtSignal(float)  # seconds
    zoomed = pyqtSignal(int, float)  # steps, positive for more time a page; the time under the mouse
    sensitivity_stepped = pyqtSignal(int)
    cursor_moved = pyqtSignal(float, float)  # time, y
    cursor_left = pyqtSignal()
    span_dragged = pyqtSignal(object)  # Window while dragging
    span_selected = pyqtSignal(object)  # Window, or None after a click
    clicked = pyqtSignal(float, float)  # time, y
    label_clicked = pyqtSignal(object)  # Annotation
    strips_changed = pyqtSignal(object)  # {overlay: GutterStrip}
    keys_changed = pyqtSignal(object)  # {overlay: ColourKey} that stand at the foot
    foot_changed = pyqtSignal()  # what stands at the foot of the page needs more lines, or fewer
    resized = pyqtSignal()
    painted = pyqtSignal()

    def __init__(self) -> None:
        super().__init__(background=None, useOpenGL=False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.FullViewportUpdate)
        self.setMouseTracking(True)
        self.setMinimumSize(120, 80)
        self.setAccessibleName("EEG traces")
        self.view_box = ViewBox(enableMouse=False, enableMenu=False, invertY=True, border=None)
        self.view_box.setDefaultPadding(0.0)
        self.setCentralItem(self.view_box)
        self.picture = TracePicture()
        self.band = LabelBand()
        self.furniture = Furniture()
        self.holes: Sequence[Hole] = ()
        self.strips: dict[str, GutterStrip] = {}  # by overlay
        self._keys: dict[str, ColourKey] = {}
        self._bare = False
        self.rows: Rows | None = None
        self.theme = LIGHT
        self.tick_origin = 0.0
        self.selection: Window | None = None
        self.selection_channels: tuple[str, ...] = ()  # of the rows that are selected; empty for all
        self.current: Annotation | None = None
        self._mark_rows: MarkRows | None = None
        self._window = Window(0.0, 1.0)
        self._cursor_x: float | None = None
        self._tools: list[PointerTool] = []
        self._tool: PointerTool | None = None  # the one that holds the mouse
        self._pointed: QPointF | None = None  # by the mouse, in pixels: the page moves under it
        self._keyed: tuple[float, float] | None = None  # by keys, time and y
        self._pressed: QPointF | None = None
        self._over_rows = False
        self._dragging = False
        self._turned_by = 0.0
        self._stepped_by = 0.0
        self._zoomed_by = 0.0
        for layer, paint in (
            ("grid", self._paint_grid),
            ("traces", self._paint_traces),
            ("furniture", self._paint_furniture),
        ):
            item = PaintedItem(paint)
            item.setZValue(_LAYERS[layer])
            self.view_box.addItem(item, ignoreBounds=True)

    # What is shown

    def set_window(self, window: Window) -> None:
        """Lay the time axis; what is drawn follows at the next paint."""
        self._window = window
        self._fit()

    @property
    def scale_px(self) -> TimeScale:
        """Seconds to logical pixels of this widget."""
        return TimeScale(self._window, float(max(1, self.width())))

    def device_width(self) -> int:
        """Pixels of the screen from left to right."""
        return max(1, round(self.width() * self.devicePixelRatioF()))

    def add_overlay_item(self, item: QGraphicsItem, place: Place) -> None:
        """Put an item behind the traces or in front of them."""
        item.setZValue(_LAYERS["front" if place == "front" else "behind"])
        self.view_box.addItem(item, ignoreBounds=True)

    def remove_overlay_item(self, item: QGraphicsItem) -> None:
        """Take an item away again."""
        self.view_box.removeItem(item)

    def set_key(self, owner: str, key: ColourKey | None) -> None:
        """Say at the foot of the page what the colours of an overlay mean, or no more."""
        keys = {name: kept for name, kept in self._keys.items() if name != owner}
        self._keys = keys if key is None else {**keys, owner: key}
        self._show_keys()
        self.repaint_all()

    def set_bare(self, bare: bool) -> None:
        """Draw no keys and strips of overlays, whatever they tell meanwhile; or draw them again.

        The room of the keys is kept, lest rows jump.
        """
        self._bare = self.furniture.bare = bare
        self._show_keys()
        self.repaint_all()
        self.strips_changed.emit({} if bare else self.strips)

    def _show_keys(self) -> None:
        if self._bare:
            return
        before, self.furniture.keys = self.furniture.keys, self._keys
        if self.furniture.keys != before:
            self.foot_changed.emit()
            self.keys_changed.emit(self.furniture.keys)

    def set_strip(self, owner: str, strip: GutterStrip | None) -> None:
        """Show a value of each row beside its name, or no more."""
        strips = {name: kept for name, kept in self.strips.items() if name != owner}
        self.strips = strips if strip is None else {**strips, owner: strip}
        self.strips_changed.emit({} if self._bare else self.strips)

    def add_tool(self, tool: PointerTool) -> None:
        """Ask a tool, after those that are there, whether it takes a gesture."""
        self._tools.append(tool)

    @property
    def band_height(self) -> float:
        """Where the names of marks end and the traces begin, in logical pixels."""
        return band_height()

    def repaint_all(self) -> None:
        """Ask for one paint of everything."""
        viewport = self.viewport()
        if viewport is not None:
            viewport.update()

    def _fit(self) -> None:
        self.view_box.setRange(
            xRange=(self._window.start, self._window.stop), yRange=(0, max(1, self.height())), padding=0, update=True
        )
        # Left to the paint that follows, it would move the items there, and that would ask for a second paint.
        self.view_box.updateMatrix()
        self.repaint_all()

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Keep one logical pixel a unit of the vertical axis."""
        super().resizeEvent(event)
        if hasattr(self, "_pressed"):  # the base class resizes before it is finished
            self._fit()
            self.resized.emit()

    # Layers

    def _paint_grid(self, painter: QPainter, scale: TimeScale, height: float) -> None:
        painter.fillRect(QRectF(0, 0, scale.width, height), self.theme.colour("canvas"))
        paint_grid(painter, scale, height, self.theme, self.tick_origin)
        paint_holes(painter, scale, height, self.holes, self.rows, self.theme)

    def _paint_traces(self, painter: QPainter, scale: TimeScale, height: float) -> None:
        device = painter.device()
        self.picture.paint(painter, scale, height, device.devicePixelRatioF() if device is not None else 1.0)

    def _paint_furniture(self, painter: QPainter, scale: TimeScale, height: float) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.furniture.paint(painter, scale, height, self.rows, self.theme)
        self.band.paint(painter, self.theme, scale.width, self.current)

    def drawForeground(self, painter: QPainter | None, rect: QRectF) -> None:
        """Selection and cursor, which change while all else stays."""
        if painter is None:
            return
        painter.save()
        painter.resetTransform()
        height = float(self.height())
        if self.selection is not None:
            self._paint_selection(painter, self.selection, height)
        for tool in self._tools:
            tool.paint(painter, height)
        if self._cursor_x is not None:
            painter.setPen(self.theme.colour("muted", 0.75))
            x = round(self._cursor_x) + 0.5
            painter.drawLine(QPointF(x, 0), QPointF(x, height))
        painter.restore()

    def _paint_selection(self, painter: QPainter, selection: Window, height: float) -> None:
        left, right = self.scale_px.x(selection.start), self.scale_px.x(selection.stop)
        shade = self.theme.colour("muted", 0.28 if self.selection_channels else 0.16)
        for top, bottom in self.bands_of(self.selection_channels):
            painter.fillRect(QRectF(left, top, right - left, bottom - top), shade)
            painter.setPen(self.theme.colour("muted"))
            for x in (left, right):
                painter.drawLine(QPointF(x, top), QPointF(x, bottom))

    def bands_of(self, ch_names: tuple[str, ...]) -> list[tuple[float, float]]:
        """Tops and bottoms of the rows of some channels; the whole height for none of them, which means all."""
        if not ch_names or self.rows is None:
            return [(0.0, float(self.height()))]
        if self._mark_rows is None or self._mark_rows.montage is not self.rows.montage:
            self._mark_rows = MarkRows(self.rows.montage)
        return [self.rows.band(i) for i in self._mark_rows.of(ch_names)]

    def paintEvent(self, event) -> None:
        """Paint, and say so."""
        super().paintEvent(event)
        self.painted.emit()

    # Mouse

    def set_cursor(self, time: float | None) -> None:
        """Draw the cursor line at a time; only its old and new columns are painted."""
        x = None if time is None else self.scale_px.x(time)
        if x is not None and not 0 <= x <= self.width():
            x = None
        viewport = self.viewport()
        if viewport is None or x == self._cursor_x:
            return
        for place in (self._cursor_x, x):
            if place is not None:
                viewport.update(QRect(round(place) - 2, 0, 5, self.height()))
        self._cursor_x = x

    @property
    def pointed(self) -> tuple[float, float] | None:
        """Time and y of what the mouse or the keys point at; None where they do not."""
        if self._keyed is not None or self._pointed is None:
            return self._keyed
        return self.scale_px.time(self._pointed.x()), self._pointed.y()

    def point_at(self, time: float, y: float) -> None:
        """Point at a place as the mouse does that moves there, until the mouse does move."""
        self._keyed = (time, y)
        self.cursor_moved.emit(time, y)

    @property
    def is_keyed(self) -> bool:
        """Whether keys point rather than the mouse."""
        return self._keyed is not None

    def point_again(self) -> bool:
        """Tell of the place that keys point at when another page has come; whether they do point at one."""
        if self._keyed is None:
            return False
        if self._window.start <= self._keyed[0] <= self._window.stop:
            self.cursor_moved.emit(*self._keyed)
        return True

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        """Read the trace under the cursor; drag to select."""
        if event is None:
            return
        at = event.position()
        self._pointed, self._keyed = at, None
        if self._tool is not None:
            self._tool.move(event)
        elif self._pressed is not None:
            self._drag(self._pressed, at)
        else:
            self.setCursor(self._shape_over(at))
        self.cursor_moved.emit(self.scale_px.time(at.x()), at.y())

    def _drag(self, pressed: QPointF, at: QPointF) -> None:
        if abs(at.x() - pressed.x()) > _DRAG_PX:
            self._dragging = True
        if self._dragging:
            self.selection_channels = self._channels_between(pressed.y(), at.y()) if self._over_rows else ()
            self.span_dragged.emit(self._span(pressed.x(), at.x()))

    def _channels_between(self, y: float, other: float) -> tuple[str, ...]:
        """The channels of the rows from one height to another."""
        rows = self.rows
        first, last = (rows.nearest(at) if rows is not None else None for at in sorted((y, other)))
        if rows is None or first is None or last is None:
            return ()
        return channels_of(rows.montage, range(first, last + 1))

    def _shape_over(self, at: QPointF) -> Qt.CursorShape:
        shapes = (tool.hover(at) for tool in self._tools)
        found = next((shape for shape in shapes if shape is not None), None)
        if found is not None:
            return found
        over_label = self.band.at(at.x(), at.y()) is not None
        return Qt.CursorShape.PointingHandCursor if over_label else Qt.CursorShape.CrossCursor

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Begin the gesture of a tool, a selection (with Shift: of rows), or a click."""
        if event is None or self._tool is not None:
            return
        self._tool = next((tool for tool in self._tools if tool.press(event)), None)
        if self._tool is None and event.button() == Qt.MouseButton.LeftButton:
            self._pressed, self._dragging = event.position(), False
            self._over_rows = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:
        """End a gesture, or a click on a name or a trace."""
        if event is None:
            return
        if self._tool is not None:
            tool, self._tool = self._tool, None
            tool.release(event)
            return
        if self._pressed is None or event.button() != Qt.MouseButton.LeftButton:
            return
        pressed, self._pressed = self._pressed, None
        if self._dragging:
            self._dragging = False
            self.span_selected.emit(self._span(pressed.x(), event.position().x()))
        else:
            self._click(pressed)

    def forget_gesture(self) -> None:
        """Take the selection away, and let what the mouse still holds come to nothing."""
        self.selection, self.selection_channels = None, ()
        self._pressed = self._tool = None
        self._dragging = False

    def _click(self, at: QPointF) -> None:
        label = self.band.at(at.x(), at.y())
        if label is not None:
            self.label_clicked.emit(label.annotation)
        elif not any(tool.click(at) for tool in self._tools):
            self.span_selected.emit(None)
            self.clicked.emit(self.scale_px.time(at.x()), at.y())

    def mouseDoubleClickEvent(self, event: QMouseEvent | None) -> None:
        """Counts as the second click that it is, unless a tool has an answer."""
        if event is not None and not any(tool.double_click(event) for tool in self._tools):
            self.mousePressEvent(event)

    def viewportEvent(self, event: QEvent | None) -> bool:
        """Tell what the mouse rests on."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            at = QPointF(event.pos())
            text = next(filter(None, (tool.tip(at) for tool in self._tools)), "")
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().viewportEvent(event)

    def enterEvent(self, event: QEnterEvent | None) -> None:
        """Nothing until the mouse moves."""

    def leaveEvent(self, event: QEvent | None) -> None:
        """The cursor is gone."""
        self._pointed = self._keyed = None
        self.cursor_left.emit()

    def _span(self, a: float, z: float) -> Window:
        scale = self.scale_px
        left, right = sorted((min(max(a, 0.0), scale.width), min(max(z, 0.0), scale.width)))
        return Window(scale.time(left), scale.time(right))

    def wheelEvent(self, event: QWheelEvent | None) -> None:
        """A notch turns a page, with Shift it scrolls a tenth of one.

        With Ctrl it shows less or more time about the mouse, with Ctrl and Shift it changes the sensitivity.
        """
        if event is None:
            return
        event.accept()
        degrees, pixels = event.angleDelta(), event.pixelDelta()
        modifiers = event.modifiers()
        if modifiers & Qt.KeyboardModifier.ControlModifier:
            # With Shift some systems turn the wheel sideways.
            notches = (degrees.y() or degrees.x()) / _NOTCH
            if modifiers & Qt.KeyboardModifier.ShiftModifier:
                self._stepped_by += notches
                steps = int(self._stepped_by)
                self._stepped_by -= steps
                if steps:
                    self.sensitivity_stepped.emit(steps)
                return
            self._zoomed_by -= notches
            steps = int(self._zoomed_by)
            self._zoomed_by -= steps
            if steps:
                self.zoomed.emit(steps, self.scale_px.time(event.position().x()))
            return
        sideways = degrees.x() if abs(degrees.x()) > abs(degrees.y()) else 0
        if modifiers & Qt.KeyboardModifier.ShiftModifier:
            sideways = degrees.y() or degrees.x()
        if sideways:
            tenths = sideways / _NOTCH * self._window.duration / 10
            by_pixels = pixels.x() / max(1.0, self.scale_px.px_per_second)
            self.scrolled.emit(-(by_pixels if not pixels.isNull() and pixels.x() else tenths))
            return
        self._turned_by += degrees.y() / _NOTCH
        pages = int(self._turned_by)
        if pages:
            self._turned_by -= pages
            self.turned.emit(-float(pages))

    def page_fits(self, page: Page) -> bool:
        """Whether a page has the rows that are drawn."""
        return self.rows is not None and tuple(page.ch_names) == tuple(self.rows.names)
