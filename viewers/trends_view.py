"""The strip of trends above the traces: lanes of hours of EEG with a time axis of their own, and the page in them."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from PyQt6.QtCore import QEvent, Qt, pyqtSignal
from PyQt6.QtGui import QAction, QActionGroup, QFocusEvent, QKeyEvent, QMouseEvent, QWheelEvent
from PyQt6.QtWidgets import QMenu, QVBoxLayout, QWidget

from analysis.recording import Window
from analysis.trends.result import Trends
from viewers.lanes import Lane
from viewers.readers_lane import Lines
from viewers.theme import Theme, px
from viewers.time_scale import time_text
from viewers.trend_lanes import SpectrumLane, TrendLane, colour_range, make_lanes
from viewers.trends_axis import TITLE, TrendsAxis

SPANS = {"all": 0.0, "4 h": 4 * 3600.0, "1 h": 3600.0}
SPAN_TEXTS = {"all": "Whole recording", "4 h": "4 h about the page", "1 h": "1 h about the page"}
TOPS = (20.0, 30.0)
_INNER = 0.15  # of the span: nearer to its ends than this the page moves the span along
_STEP, _LEAP = 0.01, 0.1
_NOTCH = 120
_PLAIN = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
_KEYS = frozenset(getattr(Qt.Key, f"Key_{name}") for name in ("Left", "Right", "Return", "Enter", "Escape", "Space"))


class TrendsView(QWidget):
    """Shows the trends it is handed and asks for pages; a click or Enter goes to the time under the crosshair."""

    window_requested = pyqtSignal(object)  # Window inside the recording
    cursor_moved = pyqtSignal(object)  # time or None
    look_changed = pyqtSignal()  # span, lanes shown or frequencies, by the reader
    hide_requested = pyqtSignal()
    resume_requested = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.axis = TrendsAxis()
        self.lanes: list[TrendLane] = make_lanes()
        self.span = "all"
        self.top = TOPS[0]
        self._trends: Trends | None = None
        self._duration = 0.0
        self._start: datetime | None = None
        self._page = Window(0.0, 10.0)
        self._window = Window(0.0, 1.0)
        self._cursor: float | None = None
        self._share = 0.5
        self._room = 10_000
        self._unwanted: set[str] = set()
        self._first = ""  # title of the lane from which on they are shown where not all have room
        self._hidden: list[TrendLane] = []  # those that have none
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for lane in (self.axis, *self.lanes):
            column.addWidget(lane)
        # Neither by Tab nor by a click: the arrow keys turn pages until the reader asks to step through the trends.
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._focus_before: QWidget | None = None
        self.setAccessibleName("Trends of the whole recording")
        self.axis.resume_requested.connect(self.resume_requested)
        self.axis.more.clicked.connect(self.show_more)
        for lane in self.lanes:
            lane.installEventFilter(self)
            lane.folded.connect(self._on_folded)
        self.axis.installEventFilter(self)
        self._menu = self._make_menu()
        self.axis.button.setMenu(self._menu)
        self._show_lanes()
        self.hide()  # until someone has trends for it

    # Menu

    def _make_menu(self) -> QMenu:
        menu = QMenu(self)
        self._span_actions = QActionGroup(self)
        for span, text in SPAN_TEXTS.items():
            self._add_choice(menu, self._span_actions, text, span)
        menu.addSeparator()
        self._lane_actions: dict[str, QAction] = {}
        for lane in self.lanes:
            action = menu.addAction(lane.title)
            action.setCheckable(True)
            action.setChecked(True)
            self._lane_actions[lane.title] = action
        menu.addSeparator()
        self._top_actions = QActionGroup(self)
        for top in TOPS:
            self._add_choice(menu, self._top_actions, f"Spectrum 0–{top:g} Hz", top)
        menu.addSeparator()
        menu.addAction("Hide the trends", self.hide_requested.emit)
        self._span_actions.triggered.connect(self._on_span)
        self._top_actions.triggered.connect(self._on_top)
        menu.triggered.connect(self._on_menu)
        self._mark_choices()
        return menu

    @staticmethod
    def _add_choice(menu: QMenu, group: QActionGroup, text: str, value: object) -> None:
        action = group.addAction(menu.addAction(text))
        action.setCheckable(True)
        action.setData(value)

    def _mark_choices(self) -> None:
        for group, value in ((self._span_actions, self.span), (self._top_actions, self.top)):
            for action in group.actions():
                action.setChecked(action.data() == value)
        self.axis.button.setText(TITLE if self.span == "all" else f"{TITLE} {self.span}")

    def _on_span(self, action: QAction) -> None:
        self.set_look(span=action.data())
        self.look_changed.emit()

    def _on_top(self, action: QAction) -> None:
        self.set_look(top=action.data())
        self.look_changed.emit()

    def _on_folded(self, _folded: bool) -> None:
        self._show_lanes()
        self.look_changed.emit()

    def _on_menu(self, action: QAction) -> None:
        if action in self._lane_actions.values():
            self._unwanted = {title for title, one in self._lane_actions.items() if not one.isChecked()}
            self._show_lanes()
            self.look_changed.emit()

    @property
    def unwanted(self) -> list[str]:
        """Titles of the lanes that the reader has put away."""
        return sorted(self._unwanted)

    @property
    def folded(self) -> list[str]:
        """Titles of the lanes that are folded to their heading."""
        return [lane.title for lane in self.lanes if lane.is_folded]

    def set_look(
        self,
        span: str | None = None,
        top: float | None = None,
        unwanted: Collection[str] | None = None,
        folded: Collection[str] | None = None,
    ) -> None:
        """Take the span ("all", "4 h", "1 h"), the highest frequency, and the lanes put away and folded."""
        if span in SPANS:
            self.span = span
        if top in TOPS:
            self.top = top
        if unwanted is not None:
            self._unwanted = set(unwanted) & set(self._lane_actions)
            for title, action in self._lane_actions.items():
                action.setChecked(title not in self._unwanted)
        for lane in self.lanes:
            if folded is not None:
                lane.set_folded(lane.title in folded)
            if isinstance(lane, SpectrumLane):
                lane.set_top(self.top)
        self._mark_choices()
        self._lay_span(anew=True)
        self._show_lanes()

    def step_span(self) -> None:
        """Go to the next span: all, 4 h, 1 h, all, …"""
        spans = list(SPANS)
        self.set_look(span=spans[(spans.index(self.span) + 1) % len(spans)])
        self.look_changed.emit()

    # What is shown

    def set_facts(self, duration: float, start: datetime | None) -> None:
        """Take the length and the start of another recording, and forget the trends of the last one."""
        self._duration, self._start = duration, start
        self.set_lines(Lines())
        self.set_cursor(None)
        self.set_trends(None)
        self.set_state("")
        self._lay_span(anew=True)

    def set_trends(self, trends: Trends | None) -> None:
        """Show these trends, or none; the same arrays may have been filled further."""
        self._trends = trends
        limits = colour_range(trends) if trends is not None else None
        for lane in self.lanes:
            if isinstance(lane, SpectrumLane) and limits is not None:
                lane.set_range(*limits)
            lane.set_trends(trends)
        tip = "" if trends is None else trends.describe_sources()
        self.axis.setToolTip(tip)
        for lane in self.lanes:
            lane.setToolTip(f"{lane.tip}\n\n{tip}".strip())
            self._lane_actions[lane.title].setVisible(trends is None or lane.shows(trends))
        self._show_lanes()
        self._read_cursor()

    def set_state(self, state: str, stopped: bool = False) -> None:
        """Say in the axis what is being done, such as "computing 37 %"; empty when there is nothing to say."""
        self.axis.set_state(state, stopped)

    def set_lines(self, lines: Lines, random_weights: bool = False) -> None:
        """Take the marks of file, model and reader, shown as ticks under the times."""
        self.axis.set_lines(lines, random_weights)

    def set_page(self, page: Window) -> None:
        """Follow the page."""
        self._page = page
        for lane in self.lanes:
            lane.set_page(page)
        self._lay_span()

    def set_clock(self, clock: bool) -> None:
        """Write times of day where the start is known, else times from the start."""
        self.axis.set_start(self._start if clock else None)

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        for lane in (self.axis, *self.lanes):
            lane.set_theme(theme)
        self._show_lanes()

    def set_left(self, left: int) -> None:
        """Follow the width of the gutter."""
        for lane in (self.axis, *self.lanes):
            lane.set_left(left)

    def least_height(self) -> int:
        """Room for the times and two lanes, as low as they can be."""
        return self.axis.height() + sum(lane.least_height() for lane in self.lanes[:2])

    def set_room(self, height: int) -> None:
        """Take no more than so many pixels: lanes become lower, then the last ones wait behind a button."""
        if height != self._room:
            self._room = height
            self._show_lanes()

    @property
    def shown_span(self) -> Window:
        """The span of time that the lanes show."""
        return self._window

    def _show_lanes(self) -> None:
        trends = self._trends
        wanted = [
            lane
            for lane in self.lanes
            if lane.title not in self._unwanted and (lane.shows(trends) if trends else lane.title != "Spectrum")
        ]
        room = self._room - self.axis.height()
        room -= sum(lane.height() for lane in wanted if lane.is_folded)
        open_lanes = [lane for lane in wanted if not lane.is_folded]
        shown = self._fitting(open_lanes, room)
        self._hidden = [lane for lane in open_lanes if lane not in shown]
        self.axis.set_more([lane.title for lane in self._hidden])
        least = sum(lane.least_height() for lane in shown)
        spare = sum(max(0.0, px(lane.height_px) - lane.least_height()) for lane in shown)
        factor = min(1.0, (room - least) / spare) if spare else 1.0
        for lane in shown:
            lane.set_height(lane.least_height() + int(max(0.0, px(lane.height_px) - lane.least_height()) * factor))
        wanted = [lane for lane in wanted if lane not in self._hidden]
        for lane in self.lanes:
            lane.setVisible(lane in wanted)
        self.setFixedHeight(self.axis.height() + sum(lane.height() for lane in wanted))

    def _fitting(self, lanes: list[TrendLane], room: float) -> list[TrendLane]:
        """As many lanes as have room, from the first one that is wanted in view on, and before it if room is left."""
        first = next((i for i, lane in enumerate(lanes) if lane.title == self._first), 0)
        shown: list[TrendLane] = []
        for lane in (*lanes[first:], *reversed(lanes[:first])):
            room -= lane.least_height()
            if room < 0:
                break
            shown.append(lane)
        return [lane for lane in lanes if lane in shown]

    def show_more(self) -> None:
        """Bring the lanes into view that had no room, in place of those that had."""
        lanes = [lane for lane in self.lanes if lane in self._hidden or lane.isVisibleTo(self)]
        seen = [i for i, lane in enumerate(lanes) if lane not in self._hidden and not lane.is_folded]
        later = [lane for lane in lanes[max(seen, default=-1) + 1 :] if lane in self._hidden]
        self._first = (later or self._hidden or lanes)[0].title
        self._show_lanes()

    def _lay_span(self, anew: bool = False) -> None:
        """Move the span of time when the page comes near to its ends."""
        length = SPANS[self.span]
        if not length or length >= self._duration:
            window = Window(0.0, max(self._duration, 1e-9))
        else:
            margin = _INNER * length
            kept = self._window.duration == length and not anew
            inside = self._window.start + margin <= self._page.start and self._page.stop <= self._window.stop - margin
            at_end = self._page.start >= self._window.start and self._page.stop <= self._window.stop
            ends = self._window.start <= 0 or self._window.stop >= self._duration
            if kept and (inside or (at_end and ends and self._is_at_end(margin))):
                return
            middle = (self._page.start + self._page.stop) / 2
            start = min(max(0.0, middle - length / 2), self._duration - length)
            window = Window(start, start + length)
        self._window = window
        for lane in (self.axis, *self.lanes):
            lane.set_window(window)

    def _is_at_end(self, margin: float) -> bool:
        """Whether the page lies in a margin of the span beyond which there is no more recording."""
        first = self._page.start < self._window.start + margin and self._window.start <= 0
        last = self._page.stop > self._window.stop - margin and self._window.stop >= self._duration
        return first or last

    # Crosshair

    def set_cursor(self, time: float | None, share: float = 0.5) -> None:
        """Put the crosshair at a time, with a height (0 to 1) for lanes that have one."""
        self._cursor, self._share = time, share
        self.axis.cursor_text = "" if time is None else self._time_text(time)
        self._read_cursor()
        for lane in (self.axis, *self.lanes):
            lane.set_cursor(time)
        self.axis.update()
        values = [f"{lane.title} {lane.at_cursor}" for lane in self.lanes if lane.at_cursor]
        self.setAccessibleDescription(", ".join(filter(None, [self.axis.cursor_text, *values])))

    def _read_cursor(self) -> None:
        for lane in self.lanes:
            readable = self._cursor is not None and self._trends is not None and not lane.is_folded
            lane.at_cursor = lane.value_text(self._cursor, self._share) if readable else ""
            lane.update()

    def _time_text(self, time: float) -> str:
        text = time_text(time, 1.0)
        if self._start is not None:
            text += f" · {self._start + timedelta(seconds=time):%a %H:%M:%S}"
        return text

    def go_to(self, time: float) -> None:
        """Ask for the page with its middle at a time."""
        length = self._page.duration
        start = min(max(0.0, time - length / 2), max(0.0, self._duration - length))
        if start != self._page.start:
            self.window_requested.emit(Window(start, start + length))

    def eventFilter(self, lane, event) -> bool:
        """Follow the mouse over the lanes: a click or a drag moves the page, the wheel turns it."""
        if isinstance(event, QMouseEvent) and self._on_mouse(lane, event):
            return True
        if isinstance(event, QWheelEvent):
            self._on_wheel(event)
            return True
        if event is not None and event.type() == QEvent.Type.Leave:
            self._point_at(None)
        return super().eventFilter(lane, event)

    def _on_mouse(self, lane: Lane, event: QMouseEvent) -> bool:
        x, y = event.position().x() - lane.plot_rect.left(), event.position().y()
        inside = 0 <= x <= lane.plot_rect.width()
        time = min(max(lane.scale.time(x), 0.0), self._duration)
        held = bool(event.buttons() & Qt.MouseButton.LeftButton)
        if event.type() == QEvent.Type.MouseMove:
            self._point_at(time if inside else None, 1 - y / max(1, lane.height()))
            lane.setCursor(Qt.CursorShape.PointingHandCursor)
            if held and inside:
                self.go_to(time)
            return True
        if event.type() == QEvent.Type.MouseButtonPress and held and inside:
            self.go_to(time)
            return True
        return False

    def _on_wheel(self, event: QWheelEvent) -> None:
        event.accept()
        notches = event.angleDelta().y() / _NOTCH
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            spans = list(SPANS)
            place = min(max(spans.index(self.span) + (1 if notches > 0 else -1), 0), len(spans) - 1)
            if notches and spans[place] != self.span:
                self.set_look(span=spans[place])
                self.look_changed.emit()
        elif notches:
            self.go_to((self._page.start + self._page.stop) / 2 - notches * self._page.duration)

    def _point_at(self, time: float | None, share: float = 0.5) -> None:
        self.set_cursor(time, share)
        self.cursor_moved.emit(time)

    # Keyboard

    def walk(self) -> None:
        """Take the arrow keys to step through the trends; Escape gives them back."""
        if self.isVisible() and not self.hasFocus():
            window = self.window()
            self._focus_before = window.focusWidget() if window is not None else None
            self.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _leave(self) -> None:
        if self._focus_before is not None:
            self._focus_before.setFocus(Qt.FocusReason.OtherFocusReason)
        self.clearFocus()

    def event(self, event) -> bool:
        """Keep the arrow keys from turning pages while the strip has the focus."""
        if event is not None and event.type() == QEvent.Type.ShortcutOverride and event.key() in _KEYS:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Arrows move the crosshair by a hundredth of the span, with Shift by a tenth; Enter shows the page there.

        Space opens the menu and Escape ends the walk.
        """
        if event is None or event.key() not in _KEYS or event.modifiers() & ~_PLAIN:
            super().keyPressEvent(event)
            return
        if event.key() == Qt.Key.Key_Escape:
            self._leave()
            return
        if event.key() == Qt.Key.Key_Space:
            self.axis.button.showMenu()
            return
        at = self._cursor if self._cursor is not None else (self._page.start + self._page.stop) / 2
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.go_to(at)
            return
        step = _LEAP if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else _STEP
        sign = -1 if event.key() == Qt.Key.Key_Left else 1
        wanted = at + sign * step * self._window.duration
        self._point_at(min(max(wanted, self._window.start), self._window.stop))

    def focusInEvent(self, event: QFocusEvent | None) -> None:
        """Show the crosshair at the page."""
        super().focusInEvent(event)
        self._point_at((self._page.start + self._page.stop) / 2)

    def focusOutEvent(self, event: QFocusEvent | None) -> None:
        """The crosshair goes with the focus."""
        super().focusOutEvent(event)
        self._point_at(None)
