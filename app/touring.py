"""The guided tour: a callout that goes from overlay to overlay, with the model and the kind of analysis each needs.

It leaves the window usable, ends with Esc, and begins by itself in the demonstration until the reader has had enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, QPoint, QRect, QTimer
from PyQt6.QtWidgets import QScrollArea, QWidget

from app.jobs import Job
from app.session import ModelChoice
from app.tour_stops import STOPS, Stop, found_words
from viewers.callout import Callout
from viewers.theme import Theme

if TYPE_CHECKING:
    from app.demo import Demo
    from app.toured_window import TouredWindow

_MISSING = "No model of this family is listed: load one, or one with random weights, under Checkpoints."
_FOLLOW_MS = 150


class Touring(QObject):
    """Owns the callout, which is made when it is first needed."""

    def __init__(self, window: TouredWindow, load: Callable[[ModelChoice], Job], parent: QWidget) -> None:
        """`load` reads a checkpoint and lists it; `parent` is what the callout stands in: the window itself."""
        super().__init__(parent)
        self._window, self._load, self._parent = window, load, parent
        self.callout: Callout | None = None
        self.demo: Demo | None = None
        self.at: int | None = None  # the stop on show
        self._theme: Theme | None = None
        self._placed: QRect | None = None
        self._brought = False  # what the stop speaks of has been scrolled into view
        self._found_at: tuple[int, int] | None = None  # where that was a moment before
        # Docks, lists and lanes come, go and move one another, and not all of it is told to whoever is inside of them.
        self._following = QTimer(self)
        self._following.setInterval(_FOLLOW_MS)
        self._following.timeout.connect(self._follow)

    def handlers(self) -> dict[str, Callable[[], None]]:
        """What the action does."""
        return {"tour": self.begin}

    # What the reader does

    def begin(self) -> None:
        """Go to the first stop; where no recording is open, open the demonstration first."""
        if self._window.session.recording is None:
            self.show_demo(always=True)
            return
        self._demo().list_models()  # whatever is not listed yet
        self.go_to(0)

    def show_demo(self, always: bool = False) -> None:
        """Open the demonstration; the tour follows, `always` or until the reader has had enough of it."""
        demo = self._demo()
        if always or not self._window.settings.tour_refused:
            demo.listed.connect(self._on_listed)
        demo.open()

    def dismiss(self) -> bool:
        """End the tour for now; whether there was one."""
        was = self.at is not None
        self._end()
        return was

    def go_to(self, number: int) -> None:
        """Show a stop: its model, its kind of analysis and the page with its seizure."""
        stop = STOPS[number]
        callout = self._callout()
        self.at = number
        self._placed, self._brought, self._found_at = None, not stop.brings, None
        self._switch_off_all_but(stop.kind)
        callout.say(
            f"{number + 1} of {len(STOPS)} · {stop.title}",
            self._text(stop),
            first=number == 0,
            last=number == len(STOPS) - 1,
        )
        self._go_to_seizure(stop)
        callout.set_remark("" if self._show(stop) else _MISSING)
        self._follow()
        self._following.start()
        callout.next.setFocus()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self._theme = theme
        if self.callout is not None:
            self.callout.set_theme(theme)

    # What happens

    def _on_listed(self) -> None:
        self._demo().listed.disconnect(self._on_listed)
        self.go_to(0)

    def _on_stepped(self, step: int) -> None:
        number = (self.at or 0) + step
        if number >= len(STOPS):
            self._on_refused()
        else:
            self.go_to(max(0, number))

    def _on_refused(self) -> None:
        """Whoever has seen all of it, or wants none of it, is not shown it again."""
        self._window.settings.tour_refused = True
        self._end()

    # Inside

    def _demo(self) -> Demo:
        if self.demo is None:
            from app.demo import Demo

            self.demo = Demo(self._window, self._load, parent=self)
        return self.demo

    def _callout(self) -> Callout:
        if self.callout is None:
            self.callout = Callout(self._parent)
            if self._theme is not None:
                self.callout.set_theme(self._theme)
            self.callout.stepped.connect(self._on_stepped)
            self.callout.refused.connect(self._on_refused)
        return self.callout

    def _end(self) -> None:
        self.at = None
        self._following.stop()
        if self.callout is not None:
            self.callout.end()
            self._window.view.trace_view.canvas.setFocus()

    def _switch_off_all_but(self, kind: str) -> None:
        """Of what the tour shows only one thing at a time is drawn, and computed."""
        for stop in STOPS:
            if stop.kind not in ("", kind):
                self._window.overlay_panel.set_visible(stop.kind, False)

    def _go_to_seizure(self, stop: Stop) -> None:
        """Show the page of the seizure that the stop is about, as far as one is known of."""
        session = self._window.session
        start = stop.start([onset for onset, _stop in session.marks.seizures])
        if start is not None:
            session.go_to(start)

    def _text(self, stop: Stop) -> str:
        """What is said at a stop; of the probability, how the model on show really does as soon as that is known."""
        truth, prediction = self._window.known_truth.truth, self._window.session.prediction
        if not stop.kind and truth is not None and prediction is not None and prediction.complete:
            return f"{stop.first} {found_words(prediction, truth)}"
        return stop.text(truth is not None)

    def _show(self, stop: Stop) -> bool:
        """Choose the model and ask for what the stop shows; whether there is such a model."""
        window = self._window
        if not stop.kind:
            if window.session.prediction is None and not window.runs.busy:
                window.actions_by_id["run"].trigger()
            window.overlay_panel.set_visible("seizure", True)
            return True
        model = self._model(stop.family)
        if model is None:
            return False
        window.model_panel.choose(model)
        if self._demo().has_prepared(model) and not window.runs.shows(model):
            window.actions_by_id["run"].trigger()  # so that the lane of the probability is that of the model on show
        window.analysing.open(stop.kind)
        window.analysing.run(stop.kind)
        if stop.place == "row":
            window.actions_by_id["overlays"].trigger()
        return True

    def _model(self, family: str) -> ModelChoice | None:
        """The chosen model where it is of a family, else the last listed one that is."""
        window = self._window
        known = [model for model in window.model_panel.choices() if model.family == family]
        chosen = window.session.model
        return chosen if chosen is not None and chosen.family == family else (known[-1] if known else None)

    # Places

    def _widget(self, stop: Stop) -> QWidget:
        """What the stop points at; the inspector where its lane is not there (yet)."""
        window = self._window
        if stop.place == "probability":
            return window.view.probability_lane
        if stop.place == "row":
            return window.overlay_panel.rows[stop.kind]
        if stop.place == "lane":
            lanes = [lane for kind, _overlay, lane in window.analysing.drawing.drawn() if kind == stop.kind]
            if lanes and lanes[0] is not None and lanes[0].isVisible():
                return lanes[0]
        return window.docks["inspector"]

    def _follow(self) -> None:
        """Stand beside what is pointed at, wherever that is now, and bring it into view once it is there."""
        if self.at is None or self.callout is None:
            return
        window, parent, stop = self._window, self._parent, STOPS[self.at]
        if self.callout.text.text() != self._text(stop):
            self.callout.set_text(self._text(stop))
            self._placed = None
        widget = self._widget(stop)
        is_seen = widget.isVisible() and widget.window() is parent
        place = QRect(widget.mapTo(parent, QPoint(0, 0)), widget.size()) if is_seen else window.view.geometry()
        if place != self._placed:
            self._placed = place
            self.callout.point_at(place)
        answer = window.analysing.answer
        if not self._brought and answer is not None and answer.kind == stop.kind:
            found = _bring_into_view(getattr(window.analysing.tab.shown, stop.brings))
            # An answer that was kept is there before its panel is laid out.
            self._brought, self._found_at = found is not None and found == self._found_at, found


def _bring_into_view(widget: QWidget) -> tuple[int, int] | None:
    """Scroll to a part of a panel, and tell where it is there and how long the panel is; None where nothing scrolls."""
    area = widget.parentWidget()
    while area is not None and not isinstance(area, QScrollArea):
        area = area.parentWidget()
    contents = area.widget() if isinstance(area, QScrollArea) else None
    if not isinstance(area, QScrollArea) or contents is None or not widget.isVisible():
        return None
    area.ensureWidgetVisible(widget)
    return widget.mapTo(contents, QPoint(0, 0)).y(), contents.height()
