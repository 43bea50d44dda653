"""The scrolling traces: pages in, wishes out. Time axis above, gutter at the left, canvas, overlays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
from PyQt6.QtCore import QPoint, Qt, QTimer, pyqtSignal
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QGridLayout, QWidget

from analysis.annotation import Annotation
from analysis.channel_quality import ChannelQuality
from analysis.filtering import FilterBank
from analysis.montage import Montage
from analysis.recording import Channel, Page, Window
from analysis.signal_blocks import ColumnPage
from viewers.gutter import Gutter, gutter_width
from viewers.key_cursor import KeyCursor
from viewers.labels import band_height
from viewers.mark_editor import MarkEditor
from viewers.overlays import OVERLAYS
from viewers.overlays.base import Overlay, OverlayState
from viewers.page_decor import foot_height
from viewers.page_notes import PageNotes
from viewers.page_state import find_holes, row_faults, row_states
from viewers.rows import RowLooks, Rows
from viewers.theme import LIGHT, Theme
from viewers.time_axis import TimeAxis
from viewers.time_scale import clock_origin
from viewers.trace_canvas import TraceCanvas
from viewers.trace_pointer import TracePointer

RIGHT_MARGIN = 8
_REST_MS = 150
_REFINED_ROWS = 32
# In the unit of line_work: 5 to 20 ms of drawing, which no one waits for.
_REFINED_WORK = 600_000.0
_TOP_WITHOUT_LABELS = 8.0


class TraceView(QWidget):
    """Draws the page it is handed; every movement is a wish for its owner to answer."""

    hovered = pyqtSignal(float, str, float, str)
    unhovered = pyqtSignal()
    turned = pyqtSignal(float)
    scrolled = pyqtSignal(float)
    zoom_requested = pyqtSignal(int, float)
    sensitivity_requested = pyqtSignal(int)
    row_scale_requested = pyqtSignal(str, int)  # row name, steps that make it taller; 0: as the page again
    row_menu_requested = pyqtSignal(object, object)  # Derivation of a row, QPoint on the screen
    span_selected = pyqtSignal(object)
    clicked = pyqtSignal(float, str)
    event_clicked = pyqtSignal(object)
    cursor_moved = pyqtSignal(object)  # time or None, for whoever shares the time axis
    width_changed = pyqtSignal(int)
    gutter_changed = pyqtSignal(int)
    page_shown = pyqtSignal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.axis = TimeAxis()
        self.gutter = Gutter()
        self.canvas = TraceCanvas()
        self.pointer = TracePointer(self.canvas, self.gutter, self)
        self.editor = MarkEditor(self.canvas, self)
        self.editor.marks_within = self._marks_within
        self.keys = KeyCursor(self.canvas, self.gutter, self)
        self._notes = PageNotes(self.canvas.furniture, self.axis)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, RIGHT_MARGIN, 0)
        grid.setSpacing(0)
        grid.addWidget(self.axis, 0, 0, 1, 2)
        grid.addWidget(self.gutter, 1, 0)
        grid.addWidget(self.canvas, 1, 1)
        grid.setRowStretch(1, 1)
        grid.setColumnStretch(1, 1)
        self._theme = LIGHT
        self._montage: Montage | None = None
        self._channels: Sequence[Channel] = ()
        self._quality: dict[str, ChannelQuality] = {}
        self._provisional: dict[str, ChannelQuality] = {}
        self._bad: frozenset[str] = frozenset()
        self.lost_channel = ""  # of the row that was chosen, where the montage has none that begins with it
        self._faults: tuple[str, ...] = ()
        self._gaps: Sequence[tuple[float, float]] = ()
        self._duration = 0.0
        self._uv_per_mm = 7.0
        self._looks = RowLooks()
        self._px_per_mm = 96 / 25.4
        self._window = Window(0.0, 10.0)
        self._bare = False  # no overlay is shown while a key is held
        self._has_labels = False
        self._waiting_for_paint = False
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._on_rest)
        self.overlays: list[Overlay] = []
        for kind in OVERLAYS:
            self.add_overlay(kind())
        self._connect()
        self.set_theme(LIGHT)

    def _connect(self) -> None:
        canvas = self.canvas
        canvas.turned.connect(self.turned)
        canvas.scrolled.connect(self.scrolled)
        canvas.zoomed.connect(self.zoom_requested)
        canvas.sensitivity_stepped.connect(self.sensitivity_requested)
        canvas.label_clicked.connect(self.event_clicked)
        self.editor.chosen.connect(self.event_clicked)
        canvas.strips_changed.connect(self.gutter.set_strips)
        self.gutter.row_stepped.connect(self._on_row_stepped)
        self.gutter.row_reset.connect(self._on_row_reset)
        self.gutter.row_chosen.connect(self._on_row_chosen)
        self.gutter.menu_requested.connect(self._on_row_menu)
        pointer = self.pointer
        pointer.hovered.connect(self.hovered)
        pointer.unhovered.connect(self.unhovered)
        pointer.cursor_moved.connect(self.cursor_moved)
        pointer.span_selected.connect(self.span_selected)
        pointer.clicked.connect(self.clicked)
        canvas.resized.connect(self._on_canvas_resized)
        canvas.foot_changed.connect(self._fit_foot)
        canvas.painted.connect(self._on_painted)

    # What is drawn

    def set_facts(self, duration: float, start: datetime | None, gaps: Sequence[tuple[float, float]]) -> None:
        """Forget the page and take the length, start and gaps of another recording."""
        self._duration, self._gaps = duration, tuple(gaps)
        self._montage, self.lost_channel = None, ""
        self._quality, self._provisional = {}, {}
        self._has_labels = False
        self.axis.set_start(start, self.axis.start is not None)
        self.canvas.picture.clear()
        self.canvas.rows = None
        self.canvas.holes = ()
        self.canvas.forget_gesture()
        self.editor.set_facts(duration, start)
        self.keys.set_duration(duration)
        self._notes.clear()
        self._update_labels()
        self.canvas.repaint_all()

    def set_quality(self, quality: Mapping[str, ChannelQuality]) -> None:
        """Take what is known of the channels: faults for the gutter, and the scales of rows with their own."""
        self._quality = dict(quality)
        self._rebuild_rows()

    def set_bad_channels(self, names: Iterable[str]) -> None:
        """Say at their rows which channels the reader has marked as bad."""
        self._bad = frozenset(names)
        self._rebuild_rows()

    def set_montage(self, montage: Montage, channels: Sequence[Channel]) -> None:
        """Draw these rows from now on; a page with other rows is not drawn."""
        chosen = self._follow_chosen(montage)
        self._montage, self._channels = montage, channels
        self._provisional = {}
        self.gutter.set_chosen(chosen)
        self.make_room_for(montage)
        self._rebuild_rows()

    def _follow_chosen(self, montage: Montage) -> int | None:
        """The row of another montage that begins with the same channel as the chosen one; None where none does.

        Then that channel is remembered as lost, lest keys that were meant for it act on another one.
        """
        row, chosen = None, self.gutter.chosen
        if self._montage is not None and chosen is not None and chosen < len(self._montage.derivations):
            row = self._montage.derivations[chosen]
        if row is None:
            return None
        like = [i for i, other in enumerate(montage.derivations) if other.anode == row.anode]
        same = [i for i in like if montage.derivations[i].name == row.name]
        self.lost_channel = "" if like else row.anode
        return next(iter(same or like), None)

    def make_room_for(self, montage: Montage) -> None:
        """Give the gutter the width that a montage's names need, at once, so that pages are made for what remains."""
        width = gutter_width([*montage.ch_names])
        if width != self.gutter.width():
            self.gutter.setFixedWidth(width)
            layout = self.layout()
            if layout is not None:
                layout.activate()
            self.gutter_changed.emit(width)

    def set_scales(self, uv_per_mm: float, looks: RowLooks) -> None:
        """Draw at so many microvolts per millimetre, kinds of channels and single rows as their own `looks` say.

        Nothing is read or filtered for it.
        """
        self._uv_per_mm, self._looks = uv_per_mm, looks
        self._rebuild_rows()

    def set_px_per_mm(self, px_per_mm: float) -> None:
        """Take the size of the screen's pixels."""
        self._px_per_mm = px_per_mm
        self._rebuild_rows()

    def set_note(self, text: str, hint: str = "", unfiltered: str = "") -> None:
        """Write the settings, and what of them can mislead, at the foot of the page; nothing is painted for the same.

        `unfiltered` is what holds of them for a page that comes from the overview.
        """
        if self._notes.set_texts(text, hint, unfiltered):
            self._notes.write(self.canvas.picture.page)
            self._fit_foot()
            self.canvas.repaint_all()

    def set_filters(self, filters: FilterBank) -> None:
        """Take what the rows are drawn through, which their tool tips tell."""
        self.gutter.set_filters(filters)

    def set_filtered_share(self, share: float) -> None:
        """Say how much of a page that comes from the overview has been filtered in the background."""
        self._notes.set_filtered_share(share)
        page = self.canvas.picture.page
        if page is not None and not page.filtered:
            self._notes.write(page)
            self.canvas.repaint_all()

    def set_window(self, window: Window) -> None:
        """Lay the axis over a window; the page that is there moves with it."""
        self._window = window
        self.canvas.set_window(window)
        self._lay_axis()
        self._update_labels()

    def show_page(self, page: Page) -> None:
        """Draw a page, and its window on the axis."""
        if page.window != self._window:
            self.set_window(page.window)
        self._notes.set_filtered_share(0.0)
        self.canvas.picture.set_page(page, self.canvas.device_width())
        shown = self.canvas.picture.page
        assert shown is not None
        self._scale_own_rows(shown)
        self._say_state(shown)
        if self.canvas.rows is not None:
            for overlay in self.overlays:
                overlay.show_page(shown, self.canvas.rows)
        self._update_labels()
        self._changed()
        if not self.canvas.point_again():
            self.pointer.read_again()

    def set_selection(self, window: Window | None, ch_names: tuple[str, ...] = ()) -> None:
        """Show a selected span, of some channels or of all, or none."""
        self.canvas.selection_channels = ch_names
        self.pointer.select(window)

    def set_current_event(self, annotation: Annotation | None) -> None:
        """Point out one mark."""
        self.editor.select(annotation)

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self._theme = theme
        self.canvas.theme = theme
        self.canvas.picture.set_theme(theme)
        self.axis.set_theme(theme)
        self.gutter.set_theme(theme)
        for overlay in self.overlays:
            overlay.set_theme(theme)
        if self._montage is not None:  # letters may have another size
            self.make_room_for(self._montage)
            self._rebuild_rows()
        self.setStyleSheet(f"TraceView {{ background: {theme.canvas}; }}")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground, True)
        self._changed()

    def set_start(self, start: datetime | None, clock: bool) -> None:
        """Write times of day on the axis, or times from the start."""
        self.axis.set_start(start, clock)
        self.canvas.tick_origin = clock_origin(self.axis.start)
        self.canvas.repaint_all()

    def set_cursor(self, time: float | None) -> None:
        """Show the cursor line at a time."""
        self.canvas.set_cursor(time)
        self.axis.set_cursor(time)

    # Overlays

    def add_overlay(self, overlay: Overlay) -> None:
        """Draw an overlay from now on, and on the page that is shown already."""
        overlay.attach(self.canvas)
        overlay.set_theme(self._theme)
        overlay.set_hidden(self._bare)
        self.overlays.append(overlay)
        page, rows = self.canvas.picture.page, self.canvas.rows
        if page is not None and rows is not None and self.canvas.page_fits(page):
            overlay.show_page(page, rows)

    def set_result(self, kind: type, result: object, has_labels: bool) -> None:
        """Hand a result to the overlays that draw its type."""
        for overlay in self.overlays:
            if overlay.draws is kind:
                overlay.set_result(result)
        if has_labels and not self._has_labels:
            self._has_labels = True
            self._rebuild_rows()
        self._update_labels()
        self.canvas.repaint_all()

    def set_overlay_state(self, title: str, state: OverlayState) -> None:
        """Show, hide or fade an overlay; KeyError for a title that no overlay has."""
        found = {overlay.title: overlay for overlay in self.overlays}
        found[title].set_state(state)
        self._update_labels()
        self.canvas.repaint_all()

    def hide_overlays(self, hidden: bool) -> None:
        """Show the bare traces while a key is held."""
        self._bare = hidden
        if hidden:  # before the overlays take their keys away
            self.canvas.set_bare(True)
        for overlay in self.overlays:
            overlay.set_hidden(hidden)
        if not hidden:
            self.canvas.set_bare(False)
        self.editor.set_hidden(hidden)
        self._update_labels()
        self.canvas.repaint_all()

    # State

    @property
    def rows(self) -> Rows | None:
        """The rows as they are drawn."""
        return self.canvas.rows

    @property
    def page(self) -> ColumnPage | None:
        """The page as it is drawn."""
        return self.canvas.picture.page

    def width_px(self) -> int:
        """Device pixels across the traces."""
        return self.canvas.device_width()

    def is_painted(self) -> bool:
        """Whether nothing waits to be painted."""
        return not self._waiting_for_paint or not self.isVisible()

    def refine_now(self) -> None:
        """Draw antialiased lines at once, whatever they cost."""
        self._rest.stop()
        self._refine(math.inf)

    def _refine(self, most_work: float) -> None:
        self.canvas.picture.refine(self.canvas.height(), self.canvas.devicePixelRatioF(), most_work)
        self.canvas.repaint_all()

    # Inside

    def _rebuild_rows(self) -> None:
        if self._montage is None:
            return
        top = band_height() if self._has_labels else _TOP_WITHOUT_LABELS
        self._notes.write(self.canvas.picture.page)
        rows = Rows(
            self._montage,
            float(self.canvas.height()),
            self._uv_per_mm,
            self._px_per_mm,
            self._channels,
            {**self._provisional, **self._quality},
            top,
            self._foot_height(),
            replace(self._looks, bad=self._bad),
        )
        self.canvas.rows = rows
        self.canvas.picture.set_rows(rows)
        self._faults = row_faults(rows, self._quality, self._bad)
        page = self.canvas.picture.page
        self._name_rows(page)
        if page is not None and self.canvas.page_fits(page):
            self._say_state(page)
            for overlay in self.overlays:
                overlay.show_page(page, rows)
        self._changed()

    def _foot_height(self) -> float:
        return foot_height(*self.canvas.furniture.foot(self.canvas.scale_px, float(self.canvas.height())))

    def _fit_foot(self) -> None:
        """Move the rows where the foot of the page needs another height."""
        if self.canvas.rows is not None and self.canvas.rows.bottom != self._foot_height():
            self._rebuild_rows()

    def _name_rows(self, page: ColumnPage | None) -> None:
        rows = self.canvas.rows
        if rows is None:
            return
        # A page from the overview shows single electrodes, so that is what its rows are called.
        names = rows.names if page is None or page.filtered else tuple(d.anode for d in rows.montage.derivations)
        self.gutter.set_rows(rows, names)

    def _say_state(self, page: ColumnPage) -> None:
        rows = self.canvas.rows
        if rows is None or not self.canvas.page_fits(page):
            return
        self._name_rows(page)
        self.gutter.set_states(row_states(page, rows, self._faults))
        self.canvas.holes = find_holes(page, self._gaps, self._duration)
        self._notes.write(page)

    def _scale_own_rows(self, page: ColumnPage) -> None:
        """Until the recording has been judged, rows with a scale of their own take it from the first page seen."""
        rows = self.canvas.rows
        if rows is None or not page.complete or not self.canvas.page_fits(page):
            return
        missing = [
            i
            for i in np.flatnonzero(rows.own_scale)
            if rows.montage.derivations[i].anode not in {**self._provisional, **self._quality}
        ]
        for i in missing:
            low, high = page.lo[:, i], page.hi[:, i]
            if not np.isnan(low).all():
                centre = float(np.nanmedian((low + high) / 2))
                spread = float(np.nanmax(high) - np.nanmin(low))
                self._provisional[rows.montage.derivations[i].anode] = ChannelQuality("ok", centre, spread)
        if missing:
            self._rebuild_rows()

    def event_at(self, time: float) -> Annotation | None:
        """The shortest of the events that are drawn over a time."""
        found = [mark for overlay in self.overlays for mark in overlay.events_at(time) if mark.duration > 0]
        return min(found, key=lambda mark: mark.duration, default=None)

    def _marks_within(self, start: float, stop: float) -> list[Annotation]:
        return [mark for overlay in self.overlays for mark in overlay.marks_within(start, stop)]

    def _update_labels(self) -> None:
        labels, more = [], 0
        for overlay in [] if self._bare else self.overlays:
            found, rest = overlay.labels(self._window)
            labels += found
            more += rest
        self.canvas.band.set_labels(labels, more, self.canvas.scale_px)

    def _changed(self) -> None:
        self._waiting_for_paint = True
        self._rest.start()
        self.canvas.repaint_all()

    def _lay_axis(self) -> None:
        self.axis.set_scale(self.canvas.scale_px, self.gutter.width())

    def _on_painted(self) -> None:
        if self._waiting_for_paint:
            self._waiting_for_paint = False
            page = self.canvas.picture.page
            if page is not None:
                # Not from within the paint event, where a slot might ask for another paint.
                QTimer.singleShot(0, lambda: self.page_shown.emit(page.window))

    def _on_row_stepped(self, row: int, steps: int) -> None:
        if self.canvas.rows is not None:
            self.row_scale_requested.emit(self.canvas.rows.names[row], steps)

    def _on_row_chosen(self, row: int | None) -> None:
        self.lost_channel = ""
        self.gutter.set_chosen(row)

    def _on_row_menu(self, row: int, place: QPoint) -> None:
        if self.canvas.rows is not None:
            self.row_menu_requested.emit(self.canvas.rows.montage.derivations[row], place)

    def _on_row_reset(self, row: int) -> None:
        if self.canvas.rows is not None:
            self.row_scale_requested.emit(self.canvas.rows.names[row], 0)

    def _on_rest(self) -> None:
        rows = self.canvas.rows
        if rows is not None and len(rows) <= _REFINED_ROWS and self.isVisible():
            self._refine(_REFINED_WORK)

    def _on_canvas_resized(self) -> None:
        self._rebuild_rows()
        self._lay_axis()
        self._update_labels()
        self.width_changed.emit(self.width_px())

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Keep the axis over the canvas."""
        super().resizeEvent(event)
        self._lay_axis()
