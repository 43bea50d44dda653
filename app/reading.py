"""Wires of the reading half: from a path to an open recording, and from every move of the reader to a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from analysis.channel_quality import ChannelQuality
from analysis.marks import Marks
from analysis.recording import Recording, Window
from app.errors import log_error
from app.jobs import Job, JobRunner
from app.overlay_panel import OverlayPanel
from app.page_loader import PageLoader
from app.page_note import misleading, page_note, unfiltered_note
from app.recording_opening import RecordingOpener
from app.recording_panel import RecordingPanel
from app.remembering import InOrder, Write
from app.session import Session
from app.settings import RecordingState, load_recording_state, save_recording_state
from app.view import View
from viewers.recording_view import RecordingView


class Reading(QObject):
    """Joins session, opener, page loader and view; `painted` tells once per recording that its first page is there."""

    failed = pyqtSignal(object)
    complained = pyqtSignal(str)
    opened = pyqtSignal(object, str)  # Recording, title
    painted = pyqtSignal(object)

    def __init__(
        self,
        session: Session,
        view: RecordingView,
        opener: RecordingOpener,
        panel: RecordingPanel,
        overlays: OverlayPanel,
        data_folder: Path | None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._view = view
        self._opener = opener
        self._panel = panel
        self._overlays = overlays
        self._data_folder = data_folder
        # Pages have threads of their own, so that a pass over the whole file never makes a page wait.
        self._runner = JobRunner({"io": 2}, parent=self)
        self.loader = PageLoader(self._run_page_work, self, prepare=self._view.prepare_page)
        self._surveyed: Recording | None = None
        self._start_at: float | None = None
        self._title = ""
        self._state_file = InOrder(lambda state: save_recording_state(*state))
        self._wire()

    def _wire(self) -> None:
        self._opener.opened.connect(self._on_opened)
        self._opener.failed.connect(self.failed)
        self._opener.marks_ready.connect(self._on_marks)
        self._opener.overview_ready.connect(self._on_overview)
        self._opener.quality_ready.connect(self._on_quality)
        self._opener.mains_ready.connect(self._on_mains)
        self._opener.events_ready.connect(self._on_event_table)
        self._session.opened.connect(self._show_recording)
        self._session.window_changed.connect(self._on_window)
        self._session.view_changed.connect(self._on_view)
        self._session.montage_changed.connect(self._on_montage)
        self._session.bad_channels_changed.connect(self._on_bad_channels)
        self.loader.page_ready.connect(self._view.show_page)
        self.loader.failed.connect(self.failed)
        self.loader.filtering.connect(self._view.set_filtered_share)
        self._view.window_requested.connect(lambda window: self._session.show(window.start, window.duration))
        self._view.sensitivity_requested.connect(self._session.step_sensitivity)
        self._view.width_changed.connect(lambda _width: self.request_page())
        self._view.page_shown.connect(self._on_page_shown)

    def open(self, path: str, start: float | None, title: str) -> None:
        """Open a file in the background, at `start` seconds or where it was last left."""
        self._start_at, self._title = start, title
        self._opener.open(path)

    def settled(self) -> bool:
        """Whether the page that is wanted is on screen."""
        recording = self._session.recording
        shown = recording is None or (recording is self._surveyed and self._view.settled())
        return shown and self.loader.settled()

    def close(self) -> None:
        """End the work on pages and remember where the recording was left."""
        self._remember()
        self.loader.close()
        self._runner.shutdown(2.0)

    def request_page(self) -> None:
        """Ask for the page of the session's window, montage and filter."""
        session = self._session
        if session.recording is None or session.montage is None or not self.loader.serves(session.recording):
            return  # a window that changes its size while a recording is being opened asks too early
        view = session.view
        is_calibrated = self._view.is_calibrated()
        notes = page_note(session, is_calibrated), misleading(view), unfiltered_note(view, is_calibrated)
        self._view.set_display_note(*notes)
        self._view.set_filters(view.filters)
        self.loader.request(session.window, session.montage, view.filters, self._view.width_px())

    def _on_opened(self, recording: Recording) -> None:
        # The one before is closed when the last thread that still reads it lets go of it.
        self._opener.forget()
        self._remember()
        state = self._recall(recording)
        start = state.position if self._start_at is None else self._start_at
        self._session.open(
            recording,
            start,
            state.montage,
            state.page_seconds,
            mm_per_second=state.mm_per_second,
            gains=state.gains,
            bad_channels=state.bad_channels,
        )
        self._session.hide_types(state.hidden_types)
        for name, on in state.overlays.items():
            if name in self._overlays.names():
                self._overlays.set_visible(name, on)

    def _show_recording(self, recording: Recording) -> None:
        self.loader.set_recording(recording)
        self._panel.show_recording(recording, self._title)
        self.opened.emit(recording, self._title or recording.path.name)
        facts = recording.duration, recording.start_datetime, recording.gaps, recording.channels
        self._view.set_recording_facts(*facts)
        self._view.set_bad_channels(self._session.bad_channels)
        self._show_montage()
        self._view.set_scales(self._session.view.uv_per_mm, self._session.view.row_looks)
        self._view.set_window(self._session.window)
        self.request_page()

    def _show_montage(self) -> None:
        session = self._session
        if session.recording is not None and session.montage is not None:
            self._view.set_montage(session.montage, session.recording.channels)
            self.loader.answer_again()  # the view waits for a page of these rows, were they the same as before
            told = session.montage.note, session.montage.unshown
            self._panel.show_montage_note("; ".join(text for text in told if text))

    def _on_bad_channels(self, names: frozenset[str]) -> None:
        self._view.set_bad_channels(names)
        self.request_page()  # its note names them
        self._remember()  # at once, for whatever ends the program, and for the next window

    def _on_montage(self, _montage: object) -> None:
        self._show_montage()
        self.request_page()

    def _on_window(self, window: Window) -> None:
        self._view.set_window(window)
        self.request_page()

    def _on_view(self, view: View, before: View) -> None:
        if view.montage != before.montage:
            self._show_montage()
        if (view.uv_per_mm, view.row_looks) != (before.uv_per_mm, before.row_looks):
            self._view.set_scales(view.uv_per_mm, view.row_looks)
        if view.page_seconds != before.page_seconds:
            self._view.set_window(self._session.window)
        self.request_page()

    def _run_page_work(self, work: Callable[[], None]) -> None:
        self._runner.submit(Job("page", lambda _progress: work(), lane="io"))

    def _on_page_shown(self, _window: Window) -> None:
        recording = self._session.recording
        if recording is not None and recording is not self._surveyed:
            # Heavy things start once there is something to look at.
            self._surveyed = recording
            self._opener.survey(recording)
            QTimer.singleShot(0, lambda: self.painted.emit(recording))

    def _on_marks(self, recording: Recording, marks: Marks) -> None:
        if recording is self._session.recording:
            self._session.set_file_marks(marks)
            self._panel.show_warnings(recording)

    def _on_overview(self, recording: Recording, overview: object) -> None:
        if recording is self._session.recording:
            self.loader.set_overview(overview)
            self._view.set_overview(overview)
            self.request_page()

    def _on_quality(self, recording: Recording, quality: Mapping[str, ChannelQuality]) -> None:
        if recording is self._session.recording:
            self._view.set_quality(quality)
            self._session.set_channel_states({name: found.state for name, found in quality.items()})
            spreads = [quality[channel.name].spread for channel in recording.channels if channel.is_brain]
            if spreads and self._session.make_readable(median(spreads)):
                self.complained.emit(
                    f"amplitudes are beyond belief for EEG: shown at {self._session.view.uv_per_mm:,.0f} µV/mm"
                )

    def _on_mains(self, recording: Recording, mains: float | None) -> None:
        if recording is self._session.recording:
            self._session.mains = mains

    def _on_event_table(self, table) -> None:
        self._session.add_events(table.events, "Add events of a file", self._on_events_added)
        recording = self._session.recording
        if recording is not None and table.warnings:
            recording.warnings.extend(table.warnings)
            self._panel.show_warnings(recording)

    def _on_events_added(self, added: int, total: int) -> None:
        if added == 0 and total:
            self.complained.emit("the events of this file are all here already: nothing was added")
        elif added < total:
            were = "1 event of the file was" if total - added == 1 else f"{total - added:,} events of the file were"
            self.complained.emit(f"{were} here already and not added again")

    def _recall(self, recording: Recording) -> RecordingState:
        if self._data_folder is None:
            return RecordingState()
        state, complaints = load_recording_state(recording.id, self._data_folder)
        for complaint in complaints:
            self.complained.emit(complaint)
        return state

    def state_writers(self) -> list[Write]:
        """What writes down how the recording is looked at now; nothing where that is not kept."""
        recording, view = self._session.recording, self._session.view
        if recording is None or self._data_folder is None:
            return []
        state = RecordingState(view.montage, self._session.window.start, view.page_seconds, self._overlays.states())
        state.mm_per_second, state.gains = view.mm_per_second, dict(view.gains)
        state.bad_channels = sorted(self._session.bad_channels)
        state.hidden_types = sorted(self._session.hidden_types)
        return [self._state_file.writer((recording.id, state, self._data_folder))]

    def _remember(self) -> None:
        for write in self.state_writers():
            try:
                write()
            except OSError as error:
                log_error(error)
