"""Everything on one time axis: traces, lanes and overview, moved together. Pages in, wishes out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from PyQt6.QtCore import QTimer, pyqtSignal
from PyQt6.QtGui import QGuiApplication, QResizeEvent
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from analysis.annotation import Annotation
from analysis.annotation_index import AnnotationIndex
from analysis.channel_quality import ChannelQuality
from analysis.filtering import FilterBank
from analysis.marks import Marks
from analysis.montage import Montage
from analysis.overview import Overview
from analysis.recording import Channel, Page, Window
from analysis.results import SeizurePrediction
from analysis.signal_blocks import ColumnPage
from viewers import theme as themes
from viewers.lanes import Lane
from viewers.overlays.base import OverlayState
from viewers.probability_lane import ProbabilityLane
from viewers.readers_lane import ReadersLane, are_random, sort_by_line
from viewers.rows import RowLooks
from viewers.timeline import Timeline
from viewers.trace_view import TraceView
from viewers.trends_view import TrendsView

_PATIENCE_MS = 80
_MM_PER_INCH = 25.4
_USUAL_PX_PER_MM = 96 / _MM_PER_INCH
_MOST_BELOW = 0.25  # of the height, for the lanes under the traces


class RecordingView(QWidget):
    """The centre of the window; it never moves by itself but asks, and is answered by method calls."""

    window_requested = pyqtSignal(object)  # Window inside the recording
    zoom_requested = pyqtSignal(int, float)  # steps, positive for more time a page; the time that keeps its place
    sensitivity_requested = pyqtSignal(int)  # steps; positive makes traces taller
    row_scale_requested = pyqtSignal(str, int)  # row name, steps that make it taller; 0: as the page again
    row_menu_requested = pyqtSignal(object, object)  # Derivation of a row, QPoint on the screen
    threshold_changed = pyqtSignal(float)
    span_selected = pyqtSignal(object)  # Window or None
    event_clicked = pyqtSignal(object)  # Annotation
    clicked = pyqtSignal(float, str)  # time, row name
    hovered = pyqtSignal(float, str, float, str)  # time, row name, value, unit
    unhovered = pyqtSignal()
    width_changed = pyqtSignal(int)  # device pixels across the traces
    page_shown = pyqtSignal(object)  # Window that has been painted

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.trace_view = TraceView()
        self.probability_lane = ProbabilityLane()
        self.readers_lane = ReadersLane()
        self.timeline = Timeline()
        self.trends = TrendsView()
        self.lanes: dict[str, Lane] = {lane.title: lane for lane in (self.probability_lane, self.readers_lane)}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.trends)
        column.addWidget(self.trace_view, 1)
        for lane in (*self.lanes.values(), self.timeline):
            column.addWidget(lane)
        self._duration = 0.0
        self._start: datetime | None = None
        self._clock = False
        self._wanted: Window | None = None
        self._shown: Window | None = None
        self._bare = False  # overlays are hidden
        self._montage: tuple[Montage, Sequence[Channel]] | None = None  # waits for its first page
        self._px_per_mm: float | None = None
        self._marks = Marks()
        self._seizures: tuple[tuple[tuple[float, float], ...], AnnotationIndex] = ((), AnnotationIndex())
        self._prediction: SeizurePrediction | None = None
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(_PATIENCE_MS)
        self._patience.timeout.connect(self._move_without_page)
        self._connect()
        self.set_theme("light")
        self.set_px_per_mm(None)

    def _connect(self) -> None:
        traces = self.trace_view
        traces.turned.connect(lambda pages: self._ask(pages * self._page_length()))
        traces.scrolled.connect(self._ask)
        traces.sensitivity_requested.connect(self.sensitivity_requested)
        traces.row_scale_requested.connect(self.row_scale_requested)
        traces.row_menu_requested.connect(self.row_menu_requested)
        traces.span_selected.connect(self.span_selected)
        traces.event_clicked.connect(self.event_clicked)
        traces.clicked.connect(self.clicked)
        traces.hovered.connect(self.hovered)
        traces.unhovered.connect(self.unhovered)
        traces.width_changed.connect(self.width_changed)
        traces.page_shown.connect(self.page_shown)
        traces.gutter_changed.connect(self._on_gutter)
        traces.cursor_moved.connect(self._on_cursor)
        traces.editor.selected_changed.connect(self.timeline.set_current_event)
        traces.editor.selected_changed.connect(self.readers_lane.set_current_event)
        for lane in self.lanes.values():
            lane.cursor_moved.connect(self._on_cursor)
            lane.folded.connect(self._share_height)
            lane.height_changed.connect(self._share_height)
        self.readers_lane.event_clicked.connect(self.event_clicked)
        self.probability_lane.threshold_changed.connect(self.threshold_changed)
        self.timeline.window_requested.connect(self.window_requested)
        self.timeline.zoom_requested.connect(self.zoom_requested)
        self.timeline.cursor_moved.connect(self._on_far_cursor)
        traces.zoom_requested.connect(self.zoom_requested)
        self.trends.window_requested.connect(self.window_requested)
        self.trends.cursor_moved.connect(self.timeline.set_cursor)
        self._on_gutter(traces.gutter.width())

    # The recording and its page

    def set_recording_facts(
        self,
        duration: float,
        start_datetime: datetime | None = None,
        gaps: Sequence[tuple[float, float]] = (),
        channels: Sequence[Channel] = (),
        quality: Mapping[str, ChannelQuality] | None = None,
    ) -> None:
        """Take the facts of another recording and forget all that was shown of the last one."""
        self._duration, self._start = duration, start_datetime
        self._wanted = self._shown = self._montage = None
        self._patience.stop()
        self._prediction = None
        self.trace_view.set_facts(duration, start_datetime, gaps)
        self.timeline.set_facts(duration, start_datetime, tuple(gaps))
        self.trends.set_facts(duration, start_datetime)
        self.probability_lane.set_duration(duration)
        self.set_clock(self._clock)
        self.set_marks(Marks())
        self.set_prediction(None)
        if quality:
            self.set_quality(quality)

    def set_quality(self, quality: Mapping[str, ChannelQuality]) -> None:
        """Take what is known of the channels, by name."""
        self.trace_view.set_quality(quality)

    def set_bad_channels(self, names: Iterable[str]) -> None:
        """Grey the rows of channels that the reader has marked as bad."""
        self.trace_view.set_bad_channels(names)

    def set_montage(self, montage: Montage, channels: Sequence[Channel]) -> None:
        """Draw these rows as soon as a page of them comes; until then the old page stays."""
        self._montage = (montage, channels)
        self.trace_view.make_room_for(montage)

    def set_window(self, window: Window) -> None:
        """Want this window: all axes move when its page comes, or after 80 ms without it."""
        self._wanted = window
        self.timeline.set_window(window)
        self.trends.set_page(window)
        if window == self._shown:
            self._patience.stop()
        elif not self._patience.isActive():
            self._patience.start()

    def show_page(self, page: Page) -> None:
        """Show a page; one of an older montage is passed over."""
        if self._montage is not None and tuple(page.ch_names) == self._montage[0].ch_names:
            montage, channels = self._montage
            self._montage = None
            self.trace_view.set_montage(montage, channels)
        rows = self.trace_view.rows
        if rows is None or tuple(page.ch_names) != tuple(rows.names):
            return
        self._patience.stop()
        self._move(page.window)
        self.trace_view.show_page(page)
        if self._wanted is not None and self._wanted != page.window:
            self._patience.start()

    def prepare_page(self, page: ColumnPage) -> None:
        """Draw a page that may be shown next; the one method that may be called from another thread."""
        self.trace_view.canvas.picture.prepare(page)

    def set_scales(self, uv_per_mm: float, looks: RowLooks) -> None:
        """Draw at so many microvolts per millimetre, kinds of channels and single rows as their `looks` say."""
        self.trace_view.set_scales(uv_per_mm, looks)

    def set_display_note(self, text: str, hint: str = "", unfiltered: str = "") -> None:
        """Write montage, sensitivity and filters at the foot of the page, and beside them what of it can mislead.

        `unfiltered` is what holds of them for a page that comes from the overview.
        """
        self.trace_view.set_note(text, hint, unfiltered)

    def set_filters(self, filters: FilterBank) -> None:
        """Take what the rows are drawn through, which their tool tips tell."""
        self.trace_view.set_filters(filters)

    def set_filtered_share(self, share: float) -> None:
        """Say how much of a page that comes from the overview has been filtered in the background."""
        self.trace_view.set_filtered_share(share)

    def set_selection(self, window: Window | None, ch_names: tuple[str, ...] = ()) -> None:
        """Show a selected span, of some channels or of all, or none."""
        self.trace_view.set_selection(window, ch_names)

    # Marks and results

    def set_marks(self, marks: Marks) -> None:
        """Show the marks of people and of the file, and as bars the seizures that they tell of."""
        self._marks = marks
        self.trace_view.set_result(Marks, marks, has_labels=len(marks) > 0)
        self._set_lines()

    def set_prediction(self, prediction: SeizurePrediction | None) -> None:
        """Show what a model says, or what has arrived of it; None takes it away."""
        drawn_before = _drawn_on_lines(self._prediction)
        self._prediction = prediction
        self.probability_lane.set_prediction(prediction)
        self.timeline.set_prediction(prediction)
        self.trace_view.set_result(SeizurePrediction, prediction, has_labels=prediction is not None)
        if _drawn_on_lines(prediction) != drawn_before:
            self._set_lines()

    def set_waiting(self, model: str) -> None:
        """Say in the probability lane which model is at work before its first numbers come; empty: none is."""
        self.probability_lane.set_waiting(model)

    def set_threshold(self, value: float) -> None:
        """Move the threshold line; events come with the next prediction."""
        self.probability_lane.set_threshold(value)

    def set_overview(self, overview: Overview | None) -> None:
        """Show the envelope of the whole recording."""
        self.timeline.set_overview(overview)

    def set_hidden_note(self, text: str) -> None:
        """Say on the time axis that types of marks are not drawn; empty: all are."""
        self.readers_lane.set_note(text)

    def event_at(self, time: float) -> Annotation | None:
        """The shortest of the events that are drawn over a time."""
        return self.trace_view.event_at(time)

    def set_current_event(self, annotation: Annotation | None) -> None:
        """Point out one mark, which can then be edited on the traces."""
        self.trace_view.set_current_event(annotation)

    def _set_lines(self) -> None:
        events = AnnotationIndex(self._prediction.events if self._prediction is not None else ())
        lines = sort_by_line(self._marks, events)
        lines = replace(lines, seizures=self._seizure_spans(self._marks.seizures))
        of_random = self._prediction is not None and self._prediction.random_weights
        random_weights = are_random(lines, of_random)
        self.readers_lane.set_lines(lines, random_weights)
        self.timeline.set_lines(lines, random_weights)
        self.trends.set_lines(lines, random_weights)

    def _seizure_spans(self, seizures: tuple[tuple[float, float], ...]) -> AnnotationIndex:
        """The seizures that people tell of, as spans; worked out again when they have changed."""
        if self._seizures[0] is not seizures:
            spans = [Annotation(start, stop - start, "sz", author="file") for start, stop in seizures]
            self._seizures = (seizures, AnnotationIndex(spans))
        return self._seizures[1]

    # Look

    def set_theme(self, name: str) -> None:
        """Use the colours of "light", "dark" or "print"."""
        chosen = themes.theme(name)
        self.trace_view.set_theme(chosen)
        self.trends.set_theme(chosen)
        for lane in (*self.lanes.values(), self.timeline):
            lane.set_theme(chosen)

    def set_clock(self, clock: bool) -> None:
        """Write times of day where the start is known, else times from the start."""
        self._clock = clock
        self.trace_view.set_start(self._start, clock)
        self.trends.set_clock(clock)
        self.timeline.set_clock(clock)

    def set_px_per_mm(self, px_per_mm: float | None) -> None:
        """Take the measured size of the screen's pixels; None trusts what the system says of it."""
        self._px_per_mm = px_per_mm
        self.trace_view.set_px_per_mm(self.px_per_mm())

    def px_per_mm(self) -> float:
        """Logical pixels a millimetre of screen."""
        if self._px_per_mm is not None:
            return self._px_per_mm
        screen = self.screen() or QGuiApplication.primaryScreen()
        reported = screen.physicalDotsPerInch() / _MM_PER_INCH if screen is not None else 0.0
        # Virtual and off-screen displays report sizes that no screen has.
        return reported if 1.5 < reported < 15 else _USUAL_PX_PER_MM

    def width_mm(self) -> float:
        """Millimetres of screen across the traces."""
        return self.trace_view.canvas.width() / self.px_per_mm()

    def is_calibrated(self) -> bool:
        """Whether a millimetre on the screen has been measured."""
        return self._px_per_mm is not None

    def set_overlay_state(self, title: str, state: OverlayState) -> None:
        """Show, hide or fade an overlay; KeyError for a title that none has."""
        self.trace_view.set_overlay_state(title, state)

    def overlay_titles(self) -> list[str]:
        """Titles of all overlays."""
        return [overlay.title for overlay in self.trace_view.overlays]

    def hide_overlays(self, hidden: bool) -> None:
        """Show the bare traces while a key is held."""
        self._bare = hidden
        self.trace_view.hide_overlays(hidden)
        for lane in self.lanes.values():
            lane.set_bare(hidden)

    @property
    def hides_overlays(self) -> bool:
        """Whether the bare traces are shown, whatever is switched on."""
        return self._bare

    def add_lane(self, lane: Lane) -> None:
        """Put a lane of its owner above the overview, on the same time axis."""
        column = self.layout()
        assert isinstance(column, QVBoxLayout)
        column.insertWidget(column.indexOf(self.timeline), lane)
        lane.set_theme(self.readers_lane.theme)
        lane.set_bare(self._bare)
        lane.set_left(self.trace_view.gutter.width())
        if self._shown is not None:
            lane.set_window(self._shown)
        lane.cursor_moved.connect(self._on_cursor)
        lane.folded.connect(self._share_height)
        lane.height_changed.connect(self._share_height)
        self.lanes[lane.title] = lane

    def show_lane(self, title: str, shown: bool) -> None:
        """Show a lane, or give its room back; KeyError for a title that none has."""
        lane = self.lanes[title]
        if lane.isVisibleTo(self) != shown:
            lane.setVisible(shown)
            self._share_height()

    def set_lane_collapsed(self, title: str, collapsed: bool) -> None:
        """Fold a lane to its heading, or open it; KeyError for a title that none has."""
        self.lanes[title].set_folded(collapsed)

    def lane_titles(self) -> list[str]:
        """Titles of all lanes."""
        return list(self.lanes)

    # State

    def width_px(self) -> int:
        """Device pixels across the traces, which a page is made for."""
        return self.trace_view.width_px()

    def shown_window(self) -> Window | None:
        """The window on the axis."""
        return self._shown

    def settled(self) -> bool:
        """Whether the wanted page is on screen, complete, in the wanted rows and at this size."""
        page = self.trace_view.page
        if self._wanted is None or self._montage is not None or page is None or not page.complete:
            return False
        fits = page.window == self._wanted and page.lo.shape[0] == self.width_px()
        return fits and self.trace_view.is_painted()

    def refine_now(self) -> None:
        """Draw antialiased lines at once."""
        self.trace_view.refine_now()

    # Inside

    def _move(self, window: Window) -> None:
        if window == self._shown:
            return
        self._shown = window
        self.trace_view.set_window(window)
        for lane in self.lanes.values():
            lane.set_window(window)
        if self._wanted is None:
            self.timeline.set_window(window)

    def _move_without_page(self) -> None:
        if self._wanted is not None:
            self._move(self._wanted)

    def _page_length(self) -> float:
        window = self._wanted or self._shown
        return window.duration if window is not None else 0.0

    def _ask(self, seconds: float) -> None:
        """Ask for the window that lies `seconds` later, kept inside the recording."""
        window = self._wanted or self._shown
        if window is None:
            return
        start = min(max(0.0, window.start + seconds), max(0.0, self._duration - window.duration))
        if start != window.start:
            self.window_requested.emit(Window(start, start + window.duration))

    def _on_gutter(self, width: int) -> None:
        self.trends.set_left(width)
        for lane in (*self.lanes.values(), self.timeline):
            lane.set_left(width)

    def _share_height(self, _folded: bool = False) -> None:
        """Leave the traces half of the height, or a little less where the trends would have no two lanes at all.

        Where large letters would make the lanes below take too much, these stay as low as with the usual ones.
        """
        lanes = [lane for lane in (*self.lanes.values(), self.timeline) if lane.isVisibleTo(self)]
        whole = self.height()
        is_tight = sum(lane.height_for(False) for lane in lanes) > _MOST_BELOW * whole
        for lane in lanes:
            lane.set_tight(is_tight)
        spare = whole - sum(lane.height() for lane in lanes)
        self.trends.set_room(max(spare - whole // 2, min(self.trends.least_height(), spare - 2 * whole // 5)))

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Share a new height out."""
        super().resizeEvent(event)
        self._share_height()

    def _on_cursor(self, time: float | None) -> None:
        self.trace_view.set_cursor(time)
        for lane in self.lanes.values():
            lane.set_cursor(time)
        if self._shown is not None:
            self.timeline.set_cursor(time)

    def _on_far_cursor(self, time: float | None) -> None:
        """The mouse is over the overview, so that the hours around it are of interest."""
        self.timeline.set_cursor(time)
        if self.trends.isVisible():
            self.trends.set_cursor(time)


def _drawn_on_lines(prediction: SeizurePrediction | None) -> tuple[object, ...]:
    """What the lines of the lanes show of a prediction."""
    return () if prediction is None else (prediction.events, prediction.random_weights)
