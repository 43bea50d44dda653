"""Wires of measuring: caliper and pinned cursor on the traces, and the panels of the inspector kept up to date.

Only the panel in view computes, a moment after the reader has come to rest, on a thread of its own; the newest wish
wins. What is not of the page or the selection on screen is shown as being renewed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from analysis.channel_kinds import EEG, INTRACRANIAL
from analysis.channel_quality import FLAT, MISSING, NOT_CALIBRATED
from analysis.errors import AnalysisError
from analysis.filtering import as_bank
from analysis.measuring import CaliperReading
from analysis.montage import MARKED_BAD
from analysis.progress import Progress
from analysis.recording import Recording, Window
from analysis.scalp_maps import CONTACTS, maps_of, samples_window
from app.errors import describe_error, log_error
from app.inspector_tabs import InspectorDock, InspectorTabs
from app.jobs import Job, JobRunner
from app.measurements import Maps, Wish, make_spectrogram, make_spectrum
from app.recording_opening import RecordingOpener
from app.session import Session, View
from viewers.caliper import Caliper
from viewers.panels.base import Panel
from viewers.panels.spectrogram import SpectrogramPanel
from viewers.panels.spectrum import SpectrumPanel
from viewers.panels.topography import TopographyPanel
from viewers.pinned_cursor import PinnedCursor
from viewers.recording_view import RecordingView
from viewers.theme import Theme

_REST_MS = 120
_ROW_REST_MS = 250
_USELESS = (FLAT, MISSING, NOT_CALIBRATED)


class Measuring(QObject):
    """Owns caliper, pinned cursor and the inspector with the measuring panels of a window."""

    said = pyqtSignal(str)
    measured = pyqtSignal(str)  # what the caliper reads, in words; empty when it is gone
    armed_changed = pyqtSignal(bool)  # whether the left button measures

    def __init__(
        self, session: Session, view: RecordingView, opener: RecordingOpener, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._view = view
        self.inspector = inspector = InspectorTabs()
        self.dock = InspectorDock(inspector)
        self.topography = inspector.panel(TopographyPanel)
        self.spectrum = inspector.panel(SpectrumPanel)
        self.spectrogram = inspector.panel(SpectrogramPanel)
        for panel in (self.topography, self.spectrum, self.spectrogram):
            panel.wanted.connect(self._ask)
        traces = view.trace_view
        self.caliper = Caliper(traces.canvas, self)
        self.pinned = PinnedCursor(traces.canvas, traces.pointer.value_at)
        # A thread of its own: a page never waits for a panel, nor is the window unsettled while one is computed.
        self._runner = JobRunner({"io": 1}, parent=self)
        self._selection: Window | None = None
        self._cursor: float | None = None
        self._row = ""
        self._answers: dict[Panel, tuple[Wish, Any]] = {}  # what each panel shows; a sentence where it was refused
        self._has_page = False
        self._waiting: Wish | None = None  # for the reader to come to rest
        self._asked: Wish | None = None  # by the job that runs
        self._job: Job | None = None
        self._maps = Maps()
        self._rest = self._timer(_REST_MS, self._update)
        self._row_rest = self._timer(_ROW_REST_MS, self._take_row)
        self._wire(opener)

    def _timer(self, milliseconds: int, slot: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(milliseconds)
        timer.timeout.connect(slot)
        return timer

    def _wire(self, opener: RecordingOpener) -> None:
        session, view = self._session, self._view
        session.opened.connect(self._on_opened)
        session.window_changed.connect(self._on_window)
        session.view_changed.connect(self._on_view)
        session.montage_changed.connect(self._on_montage)
        session.bad_channels_changed.connect(self._on_channels)
        opener.quality_ready.connect(self._on_channels)
        view.page_shown.connect(self._on_page_shown)
        view.span_selected.connect(self._on_selection)
        view.hovered.connect(self._on_hovered)
        view.unhovered.connect(self._on_unhovered)
        self.caliper.measured.connect(self._on_measured)
        self.inspector.panel_changed.connect(self._on_panel)
        self.inspector.copied.connect(self.said)

    def handlers(self) -> dict[str, Callable[[], None]]:
        """What the actions of measuring do."""
        return {
            "pin_cursor": self.pin_cursor,
            "caliper_end": self.place_caliper,
            **self.dock.handlers(),
        }

    # What the reader does

    def arm_caliper(self, armed: bool) -> None:
        """Let the left button measure, or select again."""
        self.caliper.arm(armed)
        self.armed_changed.emit(armed)
        if armed:
            self.said.emit("drag on a row to measure it; Shift snaps to peaks, Esc goes back to selecting")
        else:
            self.said.emit("a drag selects again")

    def place_caliper(self) -> None:
        """Put an end of the caliper where the mouse or the keys point."""
        pointed = self._view.trace_view.canvas.pointed
        if pointed is not None:
            self.caliper.place_end(*pointed)

    def pin_cursor(self) -> None:
        """Keep the cursor where it is, with the values of all rows; where there is none, take it away."""
        self._pin(self._cursor if self._cursor != self.pinned.time else None)

    def _pin(self, time: float | None) -> None:
        self.pinned.pin(time)
        self._view.trace_view.axis.set_pinned(time)
        self.topography.offer_pinned(time is not None)
        self._follow()

    def escape(self) -> bool:
        """Take away the caliper and the mode that makes it, or else the pinned cursor; whether there was one."""
        had_caliper = self.caliper.clear()
        if self.caliper.armed:
            self.arm_caliper(False)
            return True
        if had_caliper:
            return True
        had_one = self.pinned.time is not None
        self._pin(None)
        return had_one

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self.dock.set_theme(theme)

    @property
    def busy(self) -> bool:
        """Whether the panel in view is still to be brought up to date."""
        return self._rest.isActive() or (self._job is not None and not self._job.ended)

    def close(self) -> None:
        """End the work."""
        self._rest.stop()
        self._row_rest.stop()
        self._runner.shutdown(1.0)

    # What happens in the window

    def _on_opened(self, recording: Recording) -> None:
        self.topography.offer_maps(maps_of(recording))
        self._selection = self._cursor = None
        self._has_page = False
        # Whatever holds the recording of before lets go of it, so that its file is closed.
        self._drop_job()
        self._rest.stop()
        self._answers.clear()
        self._waiting = self._asked = self._job = None
        self._maps = Maps()
        self.caliper.clear()
        self._pin(None)
        for panel in (self.topography, self.spectrum, self.spectrogram):
            panel.set_result(None)

    def _on_window(self, _window: Window) -> None:
        self._follow()
        self._ask()

    def _on_view(self, view: View, before: View) -> None:
        if view.montage != before.montage or view.filters != before.filters:
            self.caliper.forget_values()
            self._ask()
        elif view.page_seconds != before.page_seconds:
            self._ask()

    def _on_montage(self, _montage: object) -> None:
        self.caliper.forget_values()
        self._ask()

    def _on_channels(self, *_: object) -> None:
        # Whoever else hears of it may first have to tell the session.
        QTimer.singleShot(0, self._ask)

    def _on_page_shown(self, _window: Window) -> None:
        self.caliper.measure_again()
        if not self._has_page:
            # Nothing is computed before there is something to look at.
            self._has_page = True
            self._follow()
            self._ask()

    def _on_selection(self, window: Window | None) -> None:
        self._selection = window
        self._follow()
        self._ask()

    def _on_hovered(self, time: float, row: str, _value: float, _unit: str) -> None:
        self._cursor = time
        if row != self._row:
            self._row = row
            self._row_rest.start()
        self._follow()

    def _on_unhovered(self) -> None:
        self._cursor = None
        self._row_rest.stop()
        self._follow()

    def _take_row(self) -> None:
        for panel in (self.spectrum, self.spectrogram):
            panel.set_row(self._row)

    def _on_measured(self, reading: CaliperReading | None) -> None:
        text = f"{reading.describe()} ({self.caliper.source_text()})" if reading is not None else ""
        self.measured.emit(text)

    def _on_panel(self, panel: Panel | None) -> None:
        if panel is not None:
            self._follow()
            self._ask()

    # Keeping the panel in view up to date

    @property
    def _panel(self) -> Panel | None:
        """The panel in view, where it is one of those that measure."""
        panel = self.inspector.in_view
        return panel if panel in (self.topography, self.spectrum, self.spectrogram) else None

    @property
    def _span(self) -> Window:
        """What panels speak of: the selection, or else the page."""
        return self._selection if self._selection is not None else self._session.window

    @property
    def _moment(self) -> float:
        """Where a map stands: the cursor, or else the pinned one, the middle of the selection or of the page."""
        if self._cursor is not None and not (self.topography.stays_pinned and self.pinned.time is not None):
            return self._cursor
        if self.pinned.time is not None:
            return self.pinned.time
        # A page may reach beyond the end of a short recording.
        return (self._span.start + min(self._span.stop, max(self._span.start, self._session.duration))) / 2

    def _follow(self) -> None:
        panel = self._panel
        if panel is self.topography:
            self.topography.set_time(self._moment)
            if self.topography.follows_cursor and not self._holds_moment():
                self._ask()
        elif panel is not None:
            panel.set_time(self._cursor)

    def _holds_moment(self) -> bool:
        answer = self._answers.get(self.topography)
        return answer is not None and answer[0].window.start <= self._moment <= answer[0].window.stop

    def _ask(self) -> None:
        """Bring the panel in view up to date when the reader has come to rest."""
        panel = self._panel
        if panel is None or self._session.recording is None or not self._has_page:
            return
        wish = self._wish(panel)
        answer = self._answers.get(panel)
        if answer is not None and answer[0] == wish:
            if self.busy:
                self._rest.stop()
                self._drop_job()
            # Also when nothing runs: it may have been said to be renewed, and then another panel came into view.
            self._tell(panel, answer[1])
        elif not (self._rest.isActive() and wish == self._waiting) and not self._is_asked(wish):
            self._waiting = wish
            panel.set_busy()
            self._rest.start()

    def _wish(self, panel: Panel) -> Wish:
        session = self._session
        assert session.recording is not None
        filters = session.view.filters
        window: Window = self._span
        if panel is self.topography:
            chosen = self.topography
            details: tuple[Any, ...] = chosen.map_kind, chosen.band
            if chosen.band is None:
                kind = INTRACRANIAL if chosen.map_kind == CONTACTS else EEG
                details = *details, as_bank(filters).of_kind(kind), chosen.follows_cursor
            if chosen.follows_cursor:
                # A selection elsewhere on the page does not keep the map from following the cursor there.
                window = samples_window(session.window, self._moment, session.recording.duration)
        elif panel is self.spectrum:
            details = session.montage, filters if self.spectrum.filtered.isChecked() else None
        else:
            names = session.montage.ch_names if session.montage is not None else ()
            self.spectrogram.offer_rows(names)
            rows = self.spectrogram.chosen_rows(names)
            details = session.montage, filters if self.spectrogram.filtered.isChecked() else None, rows
        return Wish(session.recording, window, tuple(sorted(self._left_out().items())), details)

    def _left_out(self) -> dict[str, str]:
        faulty = {name: state for name, state in self._session.channel_states.items() if state in _USELESS}
        return faulty | dict.fromkeys(self._session.bad_channels, MARKED_BAD)

    def _update(self) -> None:
        panel = self._panel
        if panel is None or self._session.recording is None:
            return
        wish = self._wish(panel)
        job = Job(panel.title, partial(self._work(panel), wish), lane="io", replaces="panel")
        job.succeeded.connect(partial(self._take, panel, wish))
        job.failed.connect(partial(self._take, panel, wish))
        self._job, self._asked = job, wish
        self._runner.submit(job)

    def _is_asked(self, wish: Wish) -> bool:
        return self._job is not None and not self._job.ended and self._asked == wish

    def _drop_job(self) -> None:
        if self._job is not None and not self._job.ended:
            self._job.cancel()

    def _work(self, panel: Panel) -> Callable[[Wish, Progress], Any]:
        if panel is self.topography:
            return self._maps.make
        return make_spectrum if panel is self.spectrum else make_spectrogram

    def _take(self, panel: Panel, wish: Wish, answer: Any) -> None:
        """Show what a job gave, or why it gave nothing, if that is still what is wished for."""
        if isinstance(answer, BaseException):
            if not isinstance(answer, AnalysisError):
                log_error(answer)
            answer = str(answer) if isinstance(answer, AnalysisError) else describe_error(answer)[0]
        if wish.recording is self._session.recording and wish == self._wish(panel):
            self._answers[panel] = wish, answer
            self._tell(panel, answer)

    def _tell(self, panel: Panel, answer: Any) -> None:
        if isinstance(answer, str):
            panel.refuse(answer)
            return
        if panel is self.topography:
            panel.set_time(self._moment)
        panel.set_result(answer)
