"""Wires of analyses: from what the reader asks of a model to the numbers on panel, traces and lane, and no stale ones.

An analysis runs in the engine process. What was computed is kept, so that the same is never computed twice; a kind
that follows the page is done again when another page has come to rest, and the old answer is marked until then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from analysis.analyses import Analysis
from analysis.errors import AnalysisError
from analysis.recording import Recording, Window
from app.analysis_answers import AnalysisAnswers
from app.analysis_drawing import AnalysisDrawing
from app.analysis_offers import AnalysisOffers
from app.analysis_panel import AnalysisTab
from app.analysis_results import Wish
from app.analysis_saving import AnalysisSaving
from app.analysis_wishes import AnalysisWishes
from app.analysis_work import AnalysisWork
from app.engine_process import EngineProcess
from app.hearing import Hearing
from app.inspector_tabs import InspectorDock, InspectorTabs
from app.jobs import Job, JobRunner
from app.kept_results import KeptResults
from app.listening import Listening
from app.session import ModelChoice, Session
from viewers.overlays.base import OverlayState
from viewers.panels.base import Panel
from viewers.recording_view import RecordingView

_REST_MS = 300
_LATER = 1.0  # priority of what nobody waits for yet


class Analysing(QObject):
    """Owns the tab of analyses, their overlays and lanes, and the work behind them."""

    said = pyqtSignal(str)
    overlay_requested = pyqtSignal(str, bool)  # show or hide the overlay of a kind

    def __init__(
        self,
        session: Session,
        view: RecordingView,
        runner: JobRunner,
        engine: EngineProcess,
        tabs: InspectorTabs,
        dock: InspectorDock,
        device: Callable[[], str],
        kept: KeptResults,
        parent: QObject | None = None,
    ) -> None:
        """`device` tells where models run, `kept` holds what was answered before."""
        super().__init__(parent)
        self._session, self._view = session, view
        self._tabs, self._dock = tabs, dock
        self.tab = AnalysisTab()
        tabs.add(self.tab)
        self.drawing = AnalysisDrawing(view, self)
        self.saving = AnalysisSaving(runner, engine, dock)
        self.saving.said.connect(self.said)
        self.offers = AnalysisOffers(session, self)
        self.offers.chosen.connect(self._open_and_run)
        self._wishes = AnalysisWishes(session, self.offers, device)
        self._runner = runner
        self._work = AnalysisWork(runner, engine, kept, self)
        self.listening = Listening(session, self._wishes, self._work, self)
        self._answers = AnalysisAnswers(
            self.tab, self.drawing, self._wishes, self._work, self.listening, self._is_live, self
        )
        self._answers.said.connect(self.said)
        self._wanted: set[str] = set()  # kinds that the reader has asked for
        self._has_page = False
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._on_rest)
        self._wire()

    def _wire(self) -> None:
        session, view, tab = self._session, self._view, self.tab
        session.opened.connect(self._on_opened)
        session.window_changed.connect(self._on_moved)
        session.view_changed.connect(self._on_moved)
        session.bad_channels_changed.connect(self._on_bad_channels)
        session.marks_changed.connect(self._on_marks)
        session.model_changed.connect(self._on_models)
        view.page_shown.connect(self._on_page_shown)
        view.span_selected.connect(self._on_selection)
        view.hovered.connect(self._on_hovered)
        self._tabs.panel_changed.connect(self._on_panel)
        tab.built.connect(self._on_built)
        tab.kind_chosen.connect(self.choose_kind)
        tab.span_chosen.connect(self._on_span)
        tab.follow_chosen.connect(self._on_follow)
        tab.partner_chosen.connect(self._on_partner)
        tab.option_set.connect(self._on_option)
        tab.run_requested.connect(self.run)
        tab.cancel_requested.connect(self.cancel)
        tab.part_chosen.connect(self.choose_part)
        tab.time_requested.connect(session.centre_on)
        tab.kind_wished.connect(self._on_wished)
        tab.figure_requested.connect(self._on_figure)
        tab.numbers_requested.connect(self._on_numbers)

    def handlers(self) -> dict[str, Callable[[], None]]:
        """What the actions of analyses do."""
        return {
            "analyse": self.open,
            "run_analysis": self.run,
            "save_analysis_figure": self._on_figure,
            "save_analysis_numbers": self._on_numbers,
        }

    # What the reader does

    def open(self, kind: str = "") -> None:
        """Bring the tab into view, with a kind where one is named."""
        self._dock.open(self.tab.title.lower())
        self.tab.build()
        if kind:
            self.choose_kind(kind)

    def choose_kind(self, kind: str) -> None:
        """Show another kind and what is known of it."""
        self._answers.kind = kind
        self._show_choices()
        self._answers.show(kind)
        self._ask_soon()

    def run(self, kind: str = "") -> None:
        """Compute the kind on show, or the one named, as it is chosen."""
        kind = kind or self._answers.kind
        if self._session.recording is None:
            self.said.emit("open a recording first")
        elif kind not in self.offers.kinds():
            self.said.emit(self.offers.why_not(kind))
        else:
            self._wanted.add(kind)
            self._answers.forgive(kind)
            if self.drawing.draws(kind):
                self.overlay_requested.emit(kind, True)
            self._ask(kind)

    def cancel(self) -> None:
        """Stop computing the kind on show."""
        self._work.cancel(self._answers.kind)

    def choose_part(self, part: str) -> None:
        """Show a part of the kind on show, such as a layer, on the traces."""
        if self.drawing.draws(self._answers.kind) and self._answers.kind in self._answers.kinds():
            self.overlay_requested.emit(self._answers.kind, True)
            self.drawing.choose(self._answers.kind, part)
            self.tab.set_part(part)

    def _open_and_run(self, kind: str) -> None:
        self.open(kind)
        self.run(kind)

    def _on_wished(self, kind: str) -> None:
        """A panel offers another kind of the same: over the same span, with the options that both have."""
        self._wishes.choices.carry_over(self._answers.kind, kind)
        self._open_and_run(kind)

    def ask_overlay(self, kind: str) -> None:
        """The reader switched an overlay on: say why there is nothing to see, where there is not."""
        if self.drawing.draws(kind) and kind not in self.offers.kinds():
            self.said.emit(self.offers.why_not(kind))

    def compare(self, kind: str, checkpoint: str) -> None:
        """Compare the chosen model with a listed one in analyses of a kind; empty: with none."""
        self._wishes.choices.set_partner(kind, checkpoint)

    def set_overlay(self, kind: str, state: OverlayState) -> None:
        """Show, hide or fade what is drawn of a kind."""
        self.drawing.set_state(kind, state)
        self.tab.set_colours(kind, state.sequential, state.diverging)
        if state.visible:
            self._ask_soon()

    def check(self, *_: object) -> None:
        """Something that answers depend on may have changed, such as where models run."""
        self._ask_soon()

    @property
    def busy(self) -> bool:
        """Whether something is still to be asked for."""
        return self._rest.isActive()

    def close(self) -> None:
        """Ask for nothing more."""
        self._rest.stop()

    # What happens in the window

    def set_models(self, models: Sequence[ModelChoice]) -> None:
        """Take the list of models, of which two can be compared."""
        self._wishes.models = tuple(models)
        self._on_models()

    def _on_models(self, _model: object = None) -> None:
        kinds = self.offers.kinds()
        if self._answers.kind not in kinds:
            self._answers.kind = kinds[0] if kinds else ""
        self._show_kinds()
        for kind in {*self._answers.kinds(), self._answers.kind} - {""}:
            self._answers.show(kind)
        self._ask_soon()

    def _on_built(self) -> None:
        self._show_kinds()
        self._answers.show(self._answers.kind)
        self.tab.set_window(self._session.window)

    def _on_opened(self, recording: Recording) -> None:
        self._rest.stop()
        self._work.clear()
        self._answers.clear()
        self.listening.forget()
        self._wishes.selection = None
        self._has_page = False
        self.tab.set_recording(recording)
        for kind in self.drawing.visible():
            self._answers.draw(kind)
        if self._answers.kind:
            self._answers.show(self._answers.kind)

    def _on_page_shown(self, _window: Window) -> None:
        if not self._has_page:
            self._has_page = True
            self._ask_soon()

    def _on_moved(self, *_: object) -> None:
        self.tab.set_window(self._session.window)
        self._ask_soon()

    def _on_bad_channels(self, _names: object) -> None:
        self._ask_soon()

    def _on_marks(self, _marks: object) -> None:
        self._ask_soon()

    def _on_selection(self, window: Window | None) -> None:
        self._wishes.selection = window
        self.tab.set_selection(window)
        self._ask_soon()

    def _on_hovered(self, time: float, *_: object) -> None:
        self.tab.set_time(time)
        self.tab.set_event(self._view.event_at(time))

    def _on_panel(self, panel: Panel | None) -> None:
        if panel is self.tab:
            self._ask_soon()

    def _on_span(self, span: str) -> None:
        self._wishes.choices.set_span(self._answers.kind, span)
        self._changed()

    def _on_follow(self, follows: bool) -> None:
        self._wishes.choices.set_follows(self._answers.kind, follows)
        self._changed()

    def _on_partner(self, checkpoint: str) -> None:
        self._wishes.choices.set_partner(self._answers.kind, checkpoint)
        self._changed()

    def _on_option(self, name: str, value: object) -> None:
        self._wishes.choices.set_option(self._answers.kind, name, value)
        self._changed()

    def _changed(self) -> None:
        """Another choice: what is on show is no longer what is asked for, unless that is known already."""
        self._answers.forgive(self._answers.kind)
        self._show_choices()
        self._answers.show(self._answers.kind)
        self._ask_soon()

    # What is asked for

    def _live(self) -> list[str]:
        """Kinds that are to be kept up with the page, the one in the inspector first."""
        drawn = self.drawing.visible()
        seen = [self._answers.kind] if self._tabs.in_view is self.tab and self._answers.kind in self._wanted else []
        given = self.offers.kinds()
        return [k for k in dict.fromkeys([*seen, *drawn]) if k in given and self._is_due(k)]

    def _is_due(self, kind: str) -> bool:
        """Whether a kind is asked for without a word of the reader."""
        return self._wishes.choices.follows(kind) or (kind not in self._answers.kinds() and kind not in self._wanted)

    def _is_live(self, kind: str) -> bool:
        return kind in self._live()

    def _ask_soon(self) -> None:
        """Mark what has become old, and ask again when the reader has come to rest."""
        self._answers.forget_refusals()
        self._answers.mark_stale()
        if (
            self._session.recording is not None
            and self._has_page
            and any(self._answers.is_missing(k) for k in self._live())
        ):
            self._rest.start()

    def _on_rest(self) -> None:
        for kind in self._live():
            if self._answers.is_missing(kind):
                self._ask(kind)

    def _ask(self, kind: str) -> None:
        """Answer a kind from what is known, or set to work."""
        try:
            wish = self._wishes.make(kind)
        except AnalysisError as error:
            self._answers.refuse(kind, "", str(error))
            return
        assert wish is not None
        known, job = self._answers.known(wish), self._work.job(kind)
        if self.listening.serves(wish):
            self.listening.ask(wish)
        elif known is not None:
            self._work.cancel(kind)
            self._answers.take(wish, known)
        elif job is None or job.key != wish.key:
            self._start(wish)

    def _start(self, wish: Wish) -> None:
        recording = self._session.recording
        assert recording is not None
        job = self._work.make(wish, str(recording.path), f"analysis {wish.kind}")
        job.succeeded.connect(partial(self._on_done, wish, recording.id))
        self._work.submit(wish, job)

    def prepare(self, kind: str, model: ModelChoice, page: Window) -> Job | None:
        """Have the answer of a model on a page ready for when it is asked for, after all that somebody waits for.

        None without a recording, and where nothing can be asked.
        """
        recording, wish = self._session.recording, self._wishes.wish(kind, model, page)
        if recording is None or wish is None:
            return None
        path = str(recording.path)
        if Hearing.serves(wish):  # from the beginning on, as whoever comes to the page will ask for it
            job = self._work.make_hearing(wish, Hearing().ask(wish, path), recording.id, None, priority=_LATER)
        else:
            job = self._work.make(wish, path, None, _LATER)
            job.succeeded.connect(partial(self._answers.keep, wish))
        return self._runner.submit(job)

    def _on_done(self, wish: Wish, recording_id: str, result: Analysis) -> None:
        self._answers.keep(wish, result)
        recording = self._session.recording
        if recording is not None and recording.id == recording_id:
            self._answers.take(wish, result)

    # What follows a page that scrolls by itself

    def keep_up(self, playing: bool) -> None:
        """Hear on to the page that is shown now, without waiting for the reader to come to rest."""
        if self.listening.set_playing(playing):
            self._ask_soon()
        if playing and self._has_page:
            self.listening.keep_up(self._live(), self._answers.is_missing)

    def is_hearing(self) -> bool:
        """Whether a stream is drawn or looked at that hears on with the page."""
        return self.listening.is_hearing(self._live())

    # The tab

    def _show_kinds(self) -> None:
        if not self.tab.is_built:
            return
        from analysis.kinds import KINDS

        kinds = [(kind, KINDS[kind].title) for kind in self.offers.kinds()]
        self.tab.show_kinds(kinds, self._session.model)
        self._show_choices()

    def _show_choices(self) -> None:
        kind = self._answers.kind
        if not kind or not self.tab.is_built:
            return
        from analysis.kinds import KINDS

        chosen, choices = KINDS[kind], self._wishes.choices
        partners = [(m.checkpoint, f"compared with {m.title}") for m in self._wishes.partners(kind)]
        self.tab.show_partners(partners if chosen.models[1] > 1 else [], choices.partner(kind))
        try:
            values = choices.options(kind)
        except AnalysisError:
            values = {option.name: option.default for option in chosen.options}
        follows = choices.follows(kind)
        self.tab.show_choices(kind, choices.span(kind), follows, chosen.options, values)

    def results(self) -> list[Analysis]:
        """Every answer that is shown, one of a kind."""
        return self._answers.results()

    @property
    def answer(self) -> Analysis | None:
        """The answer on show."""
        return self._answers.answer

    def _on_figure(self) -> None:
        self.saving.ask_figure(self.answer)

    def _on_numbers(self) -> None:
        self.saving.ask_numbers(self.answer)
