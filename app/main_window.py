"""The main window: docks, menus and status line around the traces, and the wires between them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PyQt6.QtCore import QByteArray, QSize
from PyQt6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent, QShowEvent
from PyQt6.QtWidgets import QMainWindow, QMenu

from analysis.recording import Recording
from analysis.results import SeizurePrediction
from analysis.time_words import elapsed
from app import commands
from app.actions import build_actions, fill_recent
from app.analysing import Analysing
from app.appearance import apply_theme
from app.comparing import Comparing
from app.corpus_panel import CorpusPanel
from app.dialogs.recovery import NoticeBar
from app.dock_layout import lay_docks
from app.dock_sizes import DockSizes
from app.errors import describe_error, hide_in_log, log_error
from app.exporting import Exporting
from app.following import Following
from app.habits import keep_view, view_from
from app.held_key import Peek
from app.inspector import AgreementPanel, PredictionPanel
from app.job_panel import JobPanel
from app.jobs import Job, JobRunner
from app.kept_results import KeptResults
from app.key_ways import KeyWays
from app.known_truth import KnownTruth
from app.listening import FOLLOWING
from app.look import Look
from app.marking import Marking
from app.measuring import Measuring
from app.model_panel import ModelPanel
from app.model_runs import ModelRuns
from app.montage_choice import MontageChoice
from app.overlay_panel import OverlayPanel
from app.overlaying import OVERLAYS, SWATCHES, Overlaying
from app.page_length import TimeBase
from app.panel import PanelDock
from app.playing import Playing
from app.pointed import looked_at
from app.rater_name import RaterName
from app.raters_panel import RatersPanel
from app.reading import Reading
from app.recording_opening import RecordingOpener
from app.recording_panel import RecordingPanel
from app.remembering import Remembering, Write
from app.reporting import Reporting
from app.review_dock import EventsDock
from app.review_edits import ReviewEdits
from app.review_queue import ReviewQueue
from app.reviewing import Reviewing
from app.saving import Saving
from app.scaling import Scaling
from app.sensitivity_panel import SensitivityPanel
from app.session import ModelChoice, Session
from app.settings import Settings
from app.status_line import StatusLine
from app.touring import Touring
from app.travelling import Travelling
from app.trending import Trending
from app.view import View
from app.view_toolbar import ViewToolbar
from app.walking import Walking, is_table
from app.workplace import Workplace
from viewers.overlays import ANALYSIS_OVERLAYS
from viewers.recording_view import RecordingView
from viewers.review_panel import ReviewPanel

_TITLE = "Cerebroscope"
_SIZE = QSize(1600, 960)
_HIDE_HINT = "hold H to hide"
_ROOMY, _DOCK_EDGES = 1300, 26
_LEAST_VIEW = 420


class MainWindow(QMainWindow):
    """Everything a reader sees; the work is done by the parts it wires together."""

    def __init__(
        self,
        settings: Settings,
        save_settings: Callable[[Settings], None] | None = None,
        data_folder: Path | None = None,
        results_folder: Path | None = None,
        workplace: Workplace | None = None,
    ) -> None:
        """`data_folder` keeps how each recording was looked at, `results_folder` what models found; None: nothing.

        `workplace` is that of a window which is open already, in place of all the others.
        """
        super().__init__()
        self.workplace = workplace or Workplace(settings, save_settings, data_folder, results_folder)
        self.workplace.enter(self)
        self.settings = self.workplace.settings
        self._make_work()
        self._make_page()
        self._make_marks()
        self._make_files()
        self._make_parts()
        self.overlaying = Overlaying(self.overlay_panel, self.view, self.analysing, self.settings, self)
        self.reading = Reading(
            self.session,
            self.view,
            self.opener,
            self.recording_panel,
            self.overlay_panel,
            self.workplace.data_folder,
            self,
        )
        self.reviewing = self._make_reviewing()
        self.remembering = Remembering(self.session, self._state_writers, self)
        self._wire()
        self._wire_models()
        self.set_theme(self.settings.theme)
        self.look.use_screen()
        self.setAcceptDrops(True)
        self.setWindowTitle(_TITLE)
        self._fit_screen()
        self._first_layout = self.saveState()
        self._restore_layout()
        self.measuring.inspector.open(self.settings.inspector_tab)
        self.montages.complain()

    # Parts

    def _make_work(self) -> None:
        """What loads recordings and runs models, and what both are kept in."""
        self.runner = JobRunner(parent=self)
        self.engine, self.reader = self.workplace.engine, self.workplace.reader
        self.session = Session(view_from(self.settings), self._in_background, self, self.workplace.shelf)
        self.view = RecordingView()
        self.opener = RecordingOpener(self.runner, self.reader, self)
        self.kept = KeptResults(self.workplace.results_folder)
        self.runs = ModelRuns(self.session, self.runner, self.engine, self.settings, self.kept, self)

    def _make_page(self) -> None:
        """What moves the page and what is measured or looked into on it."""
        self.time_base = TimeBase(self.session, self.view, self)
        self.scaling = Scaling(self.session, self.view, self.time_base, self)
        self.look = Look(self)
        self.key_ways = KeyWays(self)
        self.peek = Peek(self, lambda: self.hide_overlays(True), self._end_peek)
        self.marking = Marking(self.session, self.view, self.settings, self)
        self.montages = MontageChoice(self.session, self.view, self.workplace.montages, self.settings, self)
        self.measuring = Measuring(self.session, self.view, self.opener, self)
        inspector = self.measuring.inspector, self.measuring.dock
        self.analysing = Analysing(
            self.session, self.view, self.runner, self.engine, *inspector, lambda: self.toolbar.device, self.kept, self
        )
        at = partial(looked_at, self.view.trace_view)
        self.travelling = Travelling(self.session, self, self.is_clock_shown, at)
        self.playing = Playing(self.session, lambda: self.reading.loader.settled(), self)
        self.following = Following(self.session, self.analysing, self.playing, self)
        self.following.lag_changed.connect(self.playing.set_remark)
        self.trending = Trending(
            self.session, self.view.trends, self.opener, self.runner, self.settings, self.workplace.results_folder, self
        )

    def _make_marks(self) -> None:
        """What lists, edits and compares marks."""
        self.events = ReviewPanel(lambda seconds: elapsed(seconds, 1))
        self.events_dock = EventsDock(self.events)
        self.queue = ReviewQueue(self.session, self.view, self.events, self.runner, self)
        self.review_edits = ReviewEdits(self.session, self.view, self.events, self.queue, self)
        self.rater_name = RaterName(self.session, self.settings, self)
        self.raters_panel = RatersPanel(lambda seconds: elapsed(seconds, 1))
        self.comparing = Comparing(self.session, self.view, self.queue, self.raters_panel, self.runner, self)

    def _make_files(self) -> None:
        """What writes files, walks through many of them, and shows the demonstration."""
        self.status, self.notices = StatusLine(), NoticeBar()
        self.saving = Saving(self.session, self.settings, self.runner, self.engine, self.status, self.notices, self)
        self.reporting = Reporting(self.session, self.queue, self.runner, self.engine, self)
        self.exporting = Exporting(self, self)
        self.corpus_panel = CorpusPanel()
        walked = self.corpus_panel, self.view
        self.walking = Walking(self.session, self.runs, self.runner, *walked, self.settings, self)
        self.touring = Touring(self, partial(commands.load_checkpoint, self), self)
        self.known_truth = KnownTruth(self.session, self.view, self.runner, self)

    def _make_parts(self) -> None:
        self.actions_by_id = build_actions(self, commands.handlers(self))
        self.toolbar = ViewToolbar(self.session, self.actions_by_id["open"], self.actions_by_id["run"])
        self.addToolBar(self.toolbar)
        self.addToolBarBreak()
        self.addToolBar(self.notices)
        self.montages.listed.connect(self.toolbar.show_montages)
        self.toolbar.montage_chosen.connect(self.montages.choose_name)
        self.toolbar.editor_requested.connect(self.montages.edit)
        self.montages.attach(self.actions_by_id)
        self.playing.attach(self.actions_by_id)
        self.view.setMinimumWidth(_LEAST_VIEW)
        self.setCentralWidget(self.view)
        self.setStatusBar(self.status)
        self.recording_panel = RecordingPanel()
        self.sensitivity_panel = SensitivityPanel()
        self.overlay_panel = OverlayPanel(OVERLAYS, ANALYSIS_OVERLAYS, SWATCHES)
        self.model_panel = ModelPanel()
        self.job_panel = JobPanel()
        self.prediction_panel = PredictionPanel()
        self.agreement_panel = AgreementPanel()
        self.docks = {
            "inspector": self.measuring.dock,
            "recording": PanelDock("recording", "Recording", self.recording_panel),
            "events": self.events_dock,
            "sensitivity": PanelDock("sensitivity", "Sensitivity of model events", self.sensitivity_panel),
            "overlays": PanelDock("overlays", "Overlays", self.overlay_panel),
            "jobs": PanelDock("jobs", "Jobs", self.job_panel),
            "model": PanelDock("model", "Checkpoints", self.model_panel),
            "prediction": PanelDock("prediction", "Seizure prediction", self.prediction_panel),
            "agreement": PanelDock("agreement", "Agreement with the file's annotations", self.agreement_panel, True),
            "marks": PanelDock("marks", "Types of marks", self.marking.palette, stretches=True),
            "raters": PanelDock("raters", "Two raters", self.raters_panel, stretches=True),
            "recordings": PanelDock("recordings", "Recordings", self.corpus_panel, stretches=True),
        }
        lay_docks(self, self.docks)
        self.docks["agreement"].setWindowTitle("Agreement")
        self.corpus_panel.remark_changed.connect(self.docks["recordings"].heading.set_remark)
        self.docks["raters"].toggleViewAction().toggled.connect(self.comparing.set_shown)
        self.raters_panel.open_requested.connect(self.actions_by_id["open_events"].trigger)
        self.dock_sizes = DockSizes(self, self.docks.values())
        self.recent = QMenu("Open recent", self)
        self.menuBar().actions()[0].menu().insertMenu(self.actions_by_id["open_events"], self.recent)
        self._list_recent()
        self.analysing.offers.add_menu(self.actions_by_id["analyse"])
        self.docks["overlays"].heading.set_remark(_HIDE_HINT)
        view_menu = QMenu("&Panels", self)
        self.menuBar().addMenu(view_menu)
        for dock in self.docks.values():
            view_menu.addAction(dock.toggleViewAction())

    def _make_reviewing(self) -> Reviewing:
        panels = self.sensitivity_panel, self.prediction_panel, self.agreement_panel
        heading = self.docks["events"].heading
        return Reviewing(self.session, self.view, self.runs, self.queue, heading, *panels, parent=self)

    # Wires

    def _wire(self) -> None:
        self._wire_words()
        self.reading.complained.connect(lambda text: self.status.say(text, "warning"))
        self.reading.opened.connect(self._on_opened)
        self.reading.painted.connect(lambda _recording: self.engine.start())
        self.reading.painted.connect(self.known_truth.read)
        self.known_truth.feed(self.measuring.topography, self.analysing.tab)
        self.session.view_changed.connect(self._on_view)
        self.marking.set_actions(self.actions_by_id)
        self.scaling.set_actions(self.actions_by_id)
        self.time_base.changed.connect(self.toolbar.show_speeds)
        self.toolbar.speed_chosen.connect(self.time_base.choose_speed)
        self.toolbar.length_requested.connect(self.scaling.ask_length)
        self.toolbar.kinds_requested.connect(self.scaling.show_channel_types)
        self.toolbar.calibration_requested.connect(self.actions_by_id["calibrate"].trigger)
        self.session.refused.connect(lambda text: self.status.say(text, "warning"))
        self.session.refusal_over.connect(self.status.unsay)
        self.montages.complained.connect(lambda text: self.status.say(text, "warning"))
        self.montages.edited.connect(self._on_montages_edited)
        self.session.bad_channels_changed.connect(self._share_bad_channels)
        self.session.prediction_changed.connect(self._on_prediction)
        self.measuring.measured.connect(self.status.show_measure)
        self.measuring.armed_changed.connect(self.actions_by_id["caliper"].setChecked)
        self.view.hovered.connect(self.status.show_cursor)
        self.view.unhovered.connect(self.status.clear_cursor)
        self.playing.changed.connect(self.status.show_playing)
        self.walking.recording_wanted.connect(self.open_recording)
        self.walking.table_opened.connect(self._on_table)
        self.saving.long_work.connect(self.job_panel.add)
        self.view.zoom_requested.connect(self.travelling.zoom)
        self.trending.shown_changed.connect(self.actions_by_id["trends"].setChecked)
        self.trending.long_work.connect(self.job_panel.add)
        self.toolbar.device_chosen.connect(self.analysing.check)
        self.analysing.drawing.described.connect(self.status.show_heat)

    def _wire_words(self) -> None:
        """What parts say stands in the status line, what fails in a box."""
        writers = self.saving, self.reporting, self.exporting, self.walking
        for teller in (self.scaling, self.marking, self.montages, self.travelling, self.playing, *writers):
            teller.told.connect(self.status.say)
        for sayer in (self.queue, self.rater_name, self.comparing, self.review_edits, self.measuring, self.analysing):
            sayer.said.connect(self.status.say)
        for worker in (self.reading, self.known_truth, self.trending, *writers):
            worker.failed.connect(self.show_error)

    def _wire_models(self) -> None:
        self.model_panel.chosen.connect(self._on_model_chosen)
        self.model_panel.load_requested.connect(self.actions_by_id["load_checkpoint"].trigger)
        self.model_panel.head_requested.connect(lambda model: commands.choose_head(self, model))
        self.model_panel.random_requested.connect(lambda name: commands.list_random(self, name))
        self.toolbar.model_chosen.connect(lambda model: self.model_panel.choose(model))
        self.toolbar.load_requested.connect(self.actions_by_id["load_checkpoint"].trigger)
        self.sensitivity_panel.rules_requested.connect(self.actions_by_id["event_rules"].trigger)
        self.runner.added.connect(self._on_job)
        self._on_model_chosen(self.model_panel.current())

    # Recordings

    def open_recording(self, path: str, start: float | None = None, title: str = "") -> None:
        """Open a file in the background, at `start` seconds or where it was last left.

        `title` stands in the window title in place of the file's name. A table of recordings is listed to walk through.
        """
        if is_table(path):
            self.walking.open_table(path)
            return
        hide_in_log(str(path), "a recording")
        self.status.say(f"opening {path}…")
        self.reading.open(path, start, title)

    def _on_opened(self, recording: Recording, title: str) -> None:
        self.setWindowTitle(f"{title} — {_TITLE}")
        self.settings.remember_file(recording.path)
        self._list_recent()
        hide_in_log(str(recording.path), recording.id)
        self.toolbar.show_view(self.session.view)
        self.status.start_anew()

    def _on_table(self, path: Path) -> None:
        self.settings.remember_file(path)
        self._list_recent()
        commands.show_dock(self, "recordings")

    # Models and jobs

    def _on_model_chosen(self, model: ModelChoice) -> None:
        self.session.choose_model(model)
        self.toolbar.show_models(self.model_panel.choices(), model)
        self.analysing.set_models(self.model_panel.choices())

    def _share_bad_channels(self, names: frozenset[str]) -> None:
        """Other windows on this recording take them for bad too."""
        for window in self.workplace.windows:
            other = window.session.recording
            if other is not None and self.session.recording is not None and other.id == self.session.recording.id:
                window.session.set_bad_channels(names)

    def _on_montages_edited(self) -> None:
        for window in self.workplace.windows:
            window.montages.refresh()

    def _list_recent(self) -> None:
        fill_recent(self.recent, self.settings.recent_files, self.open_recording)

    def _on_view(self, view: View, _before: View) -> None:
        if view.notch:
            self.settings.mains = view.notch

    def _on_prediction(self, prediction: SeizurePrediction | None) -> None:
        if prediction is not None:
            self.status.show_device(str(prediction.provenance.get("device", "")).upper())

    def _on_job(self, job: Job) -> None:
        # The comparison that follows every move of the threshold is shown by its own panel.
        followed = (job.replaces or "").startswith(FOLLOWING)  # short work that ends with the playing; the lag is shown
        if job.lane == "gpu" and job.replaces != "agreement" and not followed:
            self.job_panel.add(job)
            job.progressed.connect(lambda done, total, _text: self._show_work(job, done, total))
            job.finished.connect(lambda: self.status.show_work(""))
        job.failed.connect(log_error)

    def _show_work(self, job: Job, done: float, total: float) -> None:
        self.status.show_work(f"{job.title} {done / total:.0%}" if total else job.title)

    # Look

    def set_theme(self, name: str) -> None:
        """Use the light or dark colours, or those of the system."""
        self.settings.theme = name
        colours = apply_theme(name, self.settings.text_scale)
        self.view.set_theme(colours.name)
        self.marking.set_theme(colours.name)
        self.measuring.set_theme(colours)
        self.events_dock.set_theme(colours)
        self.saving.set_theme(colours)
        self.overlaying.set_theme(colours)
        self.touring.set_theme(colours)
        self.corpus_panel.set_theme(colours)
        self.dock_sizes.set_letters(self.settings.text_scale)

    def set_px_per_mm(self, px_per_mm: float | None) -> None:
        """Use a measured screen, or (None) what the system says of it."""
        self.look.set_px_per_mm(px_per_mm)

    def set_clock(self, clock: bool) -> None:
        """Show the time of day on the axis in place of the time from the start."""
        self.view.set_clock(clock)

    def is_clock_shown(self) -> bool:
        """Whether the axis shows times of day."""
        return self.actions_by_id["clock"].isChecked()

    def hide_overlays(self, hidden: bool) -> None:
        """Hide every overlay for a look at the bare traces, and say so where overlays are listed."""
        self.view.hide_overlays(hidden)
        remark, role = ("hidden", "warning") if hidden else (_HIDE_HINT, "muted")
        self.docks["overlays"].heading.set_remark(remark, role)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """H hides the overlays while it is held."""
        if event is None or not self.peek.takes(event):
            super().keyPressEvent(event)

    def _end_peek(self) -> None:
        """What was hidden comes back, unless the menu says otherwise."""
        self.hide_overlays(self.actions_by_id["hide_overlays"].isChecked())

    # Errors, files dropped on the window, the end

    def show_error(self, error: BaseException) -> None:
        """Say what went wrong in one sentence, with the details behind a button."""
        sentence, details = describe_error(error)
        log_error(error)
        self.status.say("")
        commands.show_error_box(self, sentence, details)

    def dragEnterEvent(self, event: QDragEnterEvent | None) -> None:
        """Accept files."""
        if event is not None and (mime := event.mimeData()) is not None and mime.hasUrls():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent | None) -> None:
        """Open the first file that was dropped."""
        mime = event.mimeData() if event is not None else None
        if mime is not None and (urls := mime.urls()):
            self.open_recording(urls[0].toLocalFile())

    def settled(self) -> bool:
        """Whether everything asked for is on screen."""
        busy = self.opener.busy or self.runs.busy or self.runner.jobs or self.comparing.busy or self.analysing.busy
        return not busy and self.reading.settled() and self.session.keeper.is_ready

    def _in_background(self, work: Callable[[], Any], then: Callable[[Any], None]) -> None:
        job = Job("Sort the marks", lambda _progress: work(), lane="io")
        job.succeeded.connect(then)
        self.runner.submit(job)

    def _fit_screen(self) -> None:
        screen = self.screen()
        room = screen.availableGeometry().size() if screen is not None else _SIZE
        self.resize(_SIZE.boundedTo(room))

    def showEvent(self, event: QShowEvent | None) -> None:
        """Make room for all tabs of the inspector, where there is room and the reader has not laid it out."""
        super().showEvent(event)
        if not self.settings.window_state and self.width() >= _ROOMY:
            letters = self.settings.text_scale / 100
            self.dock_sizes.reset(self.measuring.inspector.tabs.sizeHint().width() / letters + _DOCK_EDGES)

    def _restore_layout(self) -> None:
        if self.settings.window_state:
            self.restoreGeometry(QByteArray.fromBase64(self.settings.window_geometry.encode()))
            self.restoreState(QByteArray.fromBase64(self.settings.window_state.encode()))
            self.dock_sizes.keep()
            self.notices.refresh()

    def reset_view(self) -> None:
        """Go back to the panels, montage, filters, sensitivity and page length of the first start."""
        for dock in self.docks.values():
            dock.show()
        self.restoreState(self._first_layout)
        self.notices.refresh()
        self.dock_sizes.reset()
        self.overlay_panel.reset()
        self.session.reset_view()

    def _state_writers(self) -> list[Write]:
        keep_view(self.settings, self.session.view, self.session.habits)
        return [*self.reading.state_writers(), *self.workplace.settings_writers()]

    def _remember(self) -> None:
        settings = self.settings
        keep_view(settings, self.session.view, self.session.habits)
        settings.inspector_tab = self.measuring.inspector.chosen()
        settings.window_geometry = bytes(self.saveGeometry().toBase64()).decode()
        settings.window_state = bytes(self.saveState().toBase64()).decode()

    def closeEvent(self, event: QCloseEvent | None) -> None:
        """End the work cleanly and remember how the window looked."""
        self._remember()
        self.remembering.close()
        self.playing.stop()
        self.reading.close()
        self.measuring.close()
        self.analysing.close()
        self.session.close()
        self.runner.shutdown(2.0)
        self.workplace.leave(self)
        super().closeEvent(event)
