"""Wires of analyses: from what the reader asks of a model to the numbers on panel, traces and lane, and no stale ones.

An analysis runs in the engine process. What was computed is kept, so that the same is never computed twice; a kind
that follows the page is done again when another page has come to rest, and the old answer is marked until then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from analysis.analyses import Analysis
from analysis.errors import AnalysisError
from analysis.progress import Progress
from analysis.recording import Recording, Window
from app.analysis_drawing import AnalysisDrawing
from app.analysis_offers import AnalysisOffers
from app.analysis_panel import COMPUTING, AnalysisTab
from app.analysis_results import ResultShelf, Wish, make_wish
from app.analysis_saving import AnalysisSaving
from app.engine_process import EngineProcess
from app.errors import describe_error
from app.hearing import LISTEN, Ask, Hearing
from app.inspector_tabs import InspectorDock, InspectorTabs
from app.jobs import Job, JobRunner
from app.session import ModelChoice, Session
from viewers.overlays.base import OverlayState
from viewers.panels.base import Panel
from viewers.recording_view import RecordingView

if TYPE_CHECKING:
    from app.analysis_choices import AnalysisChoices

_REST_MS = 300
_PAGE = "page"
_PLAYED_SECONDS = 60.0  # of the recording, that are heard at a time while it is played
_BEHIND = 4.0  # seconds, beyond which it is heard on without a pause
FOLLOWING = "following"  # begins the place of work that keeps up with a page that scrolls by itself


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
        parent: QObject | None = None,
    ) -> None:
        """`device` tells where models run."""
        super().__init__(parent)
        self._session, self._view = session, view
        self._runner, self._engine = runner, engine
        self._tabs, self._dock, self._device = tabs, dock, device
        self.tab = AnalysisTab()
        tabs.add(self.tab)
        self.drawing = AnalysisDrawing(view, self)
        self.saving = AnalysisSaving(runner, engine, dock)
        self.saving.said.connect(self.said)
        self.offers = AnalysisOffers(session, self)
        self.offers.chosen.connect(self._open_and_run)
        self._models: Sequence[ModelChoice] = ()
        self._made_choices: AnalysisChoices | None = None
        self._kind = ""
        self._shelf = ResultShelf()
        self.hearing = Hearing()
        self._is_playing = False
        self._deaf: set[str] = set()  # kinds that could not be heard since the page began to scroll by itself
        self._shown: dict[str, tuple[Wish, Analysis]] = {}
        self._refused: dict[str, tuple[str, str]] = {}  # key and sentence, by kind
        self._jobs: dict[str, Job] = {}
        self._wanted: set[str] = set()  # kinds that the reader has asked for
        self._selection: Window | None = None
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

    @property
    def _choices(self) -> AnalysisChoices:
        """The table of kinds is read when the first analysis is thought of, not when the window starts."""
        if self._made_choices is None:
            from app.analysis_choices import AnalysisChoices

            self._made_choices = AnalysisChoices()
        return self._made_choices

    # What the reader does

    def open(self, kind: str = "") -> None:
        """Bring the tab into view, with a kind where one is named."""
        self._dock.open(self.tab.title.lower())
        self.tab.build()
        if kind:
            self.choose_kind(kind)

    def choose_kind(self, kind: str) -> None:
        """Show another kind and what is known of it."""
        self._kind = kind
        self._show_choices()
        self._show_answer(kind)
        self._ask_soon()

    def run(self, kind: str = "") -> None:
        """Compute the kind on show, or the one named, as it is chosen."""
        kind = kind or self._kind
        if self._session.recording is None:
            self.said.emit("open a recording first")
        elif kind not in self.offers.kinds():
            self.said.emit(self.offers.why_not(kind))
        else:
            self._wanted.add(kind)
            self._refused.pop(kind, None)
            if self.drawing.draws(kind):
                self.overlay_requested.emit(kind, True)
            self._ask(kind)

    def cancel(self) -> None:
        """Stop computing the kind on show."""
        job = self._jobs.get(self._kind)
        if job is not None:
            job.cancel()

    def choose_part(self, part: str) -> None:
        """Show a part of the kind on show, such as a layer, on the traces."""
        if self.drawing.draws(self._kind) and self._kind in self._shown:
            self.overlay_requested.emit(self._kind, True)
            self.drawing.choose(self._kind, part)
            self.tab.set_part(part)

    def _open_and_run(self, kind: str) -> None:
        self.open(kind)
        self.run(kind)

    def ask_overlay(self, kind: str) -> None:
        """The reader switched an overlay on: say why there is nothing to see, where there is not."""
        if self.drawing.draws(kind) and kind not in self.offers.kinds():
            self.said.emit(self.offers.why_not(kind))

    def compare(self, kind: str, checkpoint: str) -> None:
        """Compare the chosen model with a listed one in analyses of a kind; empty: with none."""
        self._choices.set_partner(kind, checkpoint)

    def set_overlay(self, kind: str, state: OverlayState) -> None:
        """Show, hide or fade what is drawn of a kind."""
        self.drawing.set_state(kind, state)
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
        self._models = tuple(models)
        self._on_models()

    def _on_models(self, _model: object = None) -> None:
        kinds = self.offers.kinds()
        if self._kind not in kinds:
            self._kind = kinds[0] if kinds else ""
        self._show_kinds()
        for kind in {*self._shown, self._kind} - {""}:
            self._show_answer(kind)
        self._ask_soon()

    def _on_built(self) -> None:
        self._show_kinds()
        self._show_answer(self._kind)
        self.tab.set_window(self._session.window)

    def _on_opened(self, _recording: Recording) -> None:
        self._rest.stop()
        for job in list(self._jobs.values()):
            job.cancel()
        self._jobs.clear()
        self._shown.clear()
        self._refused.clear()
        self.hearing.forget()
        self._selection = None
        self._has_page = False
        for kind in self.drawing.visible():
            self._draw(kind)
        if self._kind:
            self._show_answer(self._kind)

    def _on_page_shown(self, _window: Window) -> None:
        if not self._has_page:
            self._has_page = True
            self._ask_soon()

    def _on_moved(self, *_: object) -> None:
        self.tab.set_window(self._session.window)
        self._ask_soon()

    def _on_bad_channels(self, _names: object) -> None:
        self._ask_soon()

    def _on_selection(self, window: Window | None) -> None:
        self._selection = window
        self._ask_soon()

    def _on_hovered(self, time: float, *_: object) -> None:
        self.tab.set_time(time)

    def _on_panel(self, panel: Panel | None) -> None:
        if panel is self.tab:
            self._ask_soon()

    def _on_span(self, span: str) -> None:
        self._choices.set_span(self._kind, span)
        self._changed()

    def _on_follow(self, follows: bool) -> None:
        self._choices.set_follows(self._kind, follows)
        self._changed()

    def _on_partner(self, checkpoint: str) -> None:
        self._choices.set_partner(self._kind, checkpoint)
        self._changed()

    def _on_option(self, name: str, value: object) -> None:
        self._choices.set_option(self._kind, name, value)
        self._changed()

    def _changed(self) -> None:
        """Another choice: what is on show is no longer what is asked for, unless that is known already."""
        self._refused.pop(self._kind, None)
        self._show_choices()
        self._show_answer(self._kind)
        self._ask_soon()

    # What is asked for

    def _live(self) -> list[str]:
        """Kinds that are to be kept up with the page, the one in the inspector first."""
        drawn = self.drawing.visible()
        seen = [self._kind] if self._tabs.in_view is self.tab and self._kind in self._wanted else []
        given = self.offers.kinds()
        return [k for k in dict.fromkeys([*seen, *drawn]) if k in given and self._is_due(k)]

    def _is_due(self, kind: str) -> bool:
        """Whether a kind is asked for without a word of the reader."""
        return self._choices.follows(kind) or (kind not in self._shown and kind not in self._wanted)

    def _ask_soon(self) -> None:
        """Mark what has become old, and ask again when the reader has come to rest."""
        self._forget_refusals()
        self._mark_stale()
        if self._session.recording is not None and self._has_page and any(self._is_missing(k) for k in self._live()):
            self._rest.start()

    def _forget_refusals(self) -> None:
        """Sentences that speak of another page, or of other choices, go."""
        for kind, (key, _sentence) in list(self._refused.items()):
            wish = self._wish(kind)
            if wish is not None and wish.key != key:
                del self._refused[kind]
                if kind == self._kind and kind not in self._shown:
                    self.tab.set_result(None)

    def _is_missing(self, kind: str) -> bool:
        wish = self._wish(kind)
        if wish is None or self._refused.get(kind, ("", ""))[0] == wish.key:
            return False
        return kind not in self._shown or self._shown[kind][0].key != wish.key

    def _on_rest(self) -> None:
        for kind in self._live():
            if self._is_missing(kind):
                self._ask(kind)

    def _wish(self, kind: str) -> Wish | None:
        """What the choices of a kind ask for; None where they ask for nothing that can be."""
        others = [model for model in self._models if kind in self.offers.kinds(model)]
        try:
            return make_wish(kind, self._session, self._choices, others, self._selection, self._device())
        except AnalysisError:
            return None

    def _ask(self, kind: str) -> None:
        """Answer a kind from what is known, or set to work."""
        others = [model for model in self._models if kind in self.offers.kinds(model)]
        try:
            wish = make_wish(kind, self._session, self._choices, others, self._selection, self._device())
        except AnalysisError as error:
            self._refuse(kind, "", str(error))
            return
        known = self._shelf.get(wish.key)
        job = self._jobs.get(kind)
        if self._listens(wish):
            self._ask_stream(wish)
        elif known is not None:
            if job is not None:
                job.cancel()
            self._take(wish, known)
        elif job is None or job.ended or job.key != wish.key:
            self._start(wish)

    def _start(self, wish: Wish) -> None:
        recording = self._session.recording
        assert recording is not None
        arguments = wish.arguments(str(recording.path))
        job = self._make_job(wish, "analysis.engine.analyze:analyze", arguments, wish.key, f"analysis {wish.kind}")
        job.succeeded.connect(partial(self._on_done, wish, recording.id))
        self._submit(wish, job)

    def _make_job(self, wish: Wish, function: str, arguments: Mapping[str, Any], key: str, place: str) -> Job:
        from analysis.kinds import KINDS

        def work(progress: Progress) -> Any:
            return self._engine.call(function, dict(arguments), progress)

        title = f"{KINDS[wish.kind].title}, {' × '.join(m.title for m in wish.models)}"
        return Job(title, work, lane="gpu", key=key, replaces=place)

    def _submit(self, wish: Wish, job: Job) -> None:
        job.started.connect(partial(self._on_progress, wish.kind))
        job.progressed.connect(partial(self._on_progress, wish.kind))
        job.failed.connect(partial(self._on_failed, wish))
        job.cancelled.connect(partial(self._on_cancelled, wish))
        job.finished.connect(partial(self._on_finished, wish.kind, job))
        self._jobs[wish.kind] = job
        self._runner.submit(job)
        self._on_progress(wish.kind)
        self._mark_stale()

    # What a stream is heard to do, from the beginning of the recording on

    def _listens(self, wish: Wish) -> bool:
        return self.hearing.serves(wish) and self._choices.span(wish.kind) == _PAGE

    def _ask_stream(self, wish: Wish) -> None:
        """Answer from what has been heard, or hear on; what is being heard is heard to its end first."""
        recording, job = self._session.recording, self._jobs.get(wish.kind)
        assert recording is not None
        if self.hearing.knows(wish):
            self._take_heard(wish)
        elif job is None or job.ended or not self.hearing.is_of(wish):
            most, place = (_PLAYED_SECONDS, FOLLOWING) if self._is_playing else (float("inf"), "analysis")
            ask = self.hearing.ask(wish, str(recording.path), most)
            job = self._make_job(wish, LISTEN, ask.arguments, ask.key, f"{place} {wish.kind}")
            job.partial.connect(partial(self._on_heard, wish, ask))
            job.succeeded.connect(partial(self._on_heard_all, wish, ask))
            job.finished.connect(partial(self.hearing.leave, ask))
            self._submit(wish, job)

    def _on_heard(self, wish: Wish, ask: Ask, parts: Mapping[str, Analysis], done: bool = False) -> None:
        self.hearing.take(ask, parts, done)
        self._draw(wish.kind)

    def _on_heard_all(self, wish: Wish, ask: Ask, parts: Mapping[str, Analysis]) -> None:
        self._on_heard(wish, ask, parts, done=True)
        now = self._wish(wish.kind) or wish  # the page may have gone on
        if self.hearing.knows(now):
            self._take_heard(now)
        elif self._listens(now) and (not self._is_playing or now.window.stop - self.hearing.heard_to > _BEHIND):
            self._ask_stream(now)
        if self._is_playing and not self.hearing.knows(now):
            self._show_latest(now)

    def _show_latest(self, wish: Wish) -> None:
        """Show the span heard last in place of the page, which the stream has not come to."""
        latest = self.hearing.latest(wish)
        if latest is not None:
            self._take(replace(wish, key=""), latest)  # of no page, so that the page stays asked for

    def _take_heard(self, wish: Wish) -> None:
        answer = self.hearing.answer(wish)
        if answer is not None:
            self._take(wish, answer)
        else:
            span = f"{wish.window.start:g} and {wish.window.stop:g} s"
            self._refuse(wish.kind, wish.key, f"there is no signal between {span}: look at another page")

    def keep_up(self, playing: bool) -> None:
        """Hear on to the page that is shown now, without waiting for the reader to come to rest."""
        if playing != self._is_playing:
            self._is_playing = playing
            self._deaf.clear()
            self._ask_soon()
        for kind in self._live() if playing and self._has_page else ():
            wish = self._wish(kind)
            if wish is not None and self._listens(wish) and kind not in self._deaf and self._is_missing(kind):
                self._ask_stream(wish)

    def is_hearing(self) -> bool:
        """Whether a stream is drawn or looked at that hears on with the page."""
        wishes = (self._wish(kind) for kind in self._live())
        return any(wish is not None and self._listens(wish) and wish.kind not in self._deaf for wish in wishes)

    # What is answered

    def _on_progress(self, kind: str, done: float = 0.0, total: float = 0.0, text: str = "") -> None:
        job = self._jobs.get(kind)
        if kind != self._kind or job is None or job.ended:
            return
        waits = job.state.value == "waiting"
        words = "waiting for the model at work" if waits else text
        self.tab.set_progress((min(1.0, done / total) if total > 0 else 0.0, words))

    def _on_done(self, wish: Wish, recording_id: str, result: Analysis) -> None:
        self._shelf.put(wish.key, result)
        recording = self._session.recording
        if recording is not None and recording.id == recording_id:
            self._take(wish, result)

    def _on_failed(self, wish: Wish, error: BaseException) -> None:
        self._refuse(wish.kind, wish.key, describe_error(error)[0])

    def _on_cancelled(self, wish: Wish) -> None:
        self._refused[wish.kind] = wish.key, ""  # not to be asked again without a word of the reader

    def _on_finished(self, kind: str, job: Job) -> None:
        if self._jobs.get(kind) is job:
            del self._jobs[kind]
            if kind == self._kind:
                self.tab.set_progress(None)
            self._mark_stale()

    def _take(self, wish: Wish, result: Analysis) -> None:
        self._refused.pop(wish.kind, None)
        self._shown[wish.kind] = wish, result
        self._draw(wish.kind)
        if wish.kind == self._kind:
            self.tab.set_result(result)
        self._mark_stale()

    def _refuse(self, kind: str, key: str, sentence: str) -> None:
        self._refused[kind] = key, sentence
        self._deaf.add(kind)
        self._shown.pop(kind, None)
        self._draw(kind)
        if kind == self._kind and self.tab.is_built:
            self.tab.refuse(sentence)
        else:
            self.said.emit(sentence)

    def _show_answer(self, kind: str) -> None:
        """Show what is known of a kind as it is chosen now; an answer about another model is taken away."""
        if not kind:
            self.tab.set_result(None)
            return
        wish = self._wish(kind)
        known = self._known(wish) if wish is not None else None
        if wish is not None and known is not None:
            self._shown[kind] = wish, known
        elif kind in self._shown and (wish is None or self._shown[kind][0].models != wish.models):
            del self._shown[kind]
        self._draw(kind)
        if kind == self._kind:
            shown = self._shown.get(kind)
            self.tab.set_result(shown[1] if shown is not None else None)
            if self._refused.get(kind, ("", ""))[1]:
                self.tab.refuse(self._refused[kind][1])
            self.tab.set_progress(None)
            self._on_progress(kind)
        self._mark_stale()

    def _mark_stale(self) -> None:
        """Say of every answer on show whether it is what is asked for."""
        for kind in self._shown:
            why = self._why_stale(kind)
            self.drawing.set_stale(kind, "" if self._draws_heard(kind) else why)
            if kind == self._kind:
                self.tab.set_stale(why)

    def _draws_heard(self, kind: str) -> bool:
        """Whether what is drawn of a kind is all that was heard, which is never of another page."""
        wish = self._wish(kind)
        return wish is not None and self._listens(wish) and self.hearing.drawn(wish) is not None

    def _why_stale(self, kind: str) -> str:
        wish, (shown, _) = self._wish(kind), self._shown[kind]
        if self._is_playing and self._draws_heard(kind):
            return ""
        if wish is not None and wish.key == shown.key:
            return ""
        job = self._jobs.get(kind)
        if (job is not None and not job.ended) or (kind in self._live() and self._is_missing(kind)):
            return COMPUTING
        if wish is None or wish.window != shown.window:
            return "of another span"
        if wish.bad_channels != shown.bad_channels:
            return "with other bad channels"
        return "of other options"

    def _known(self, wish: Wish) -> Analysis | None:
        return self.hearing.answer(wish) if self._listens(wish) else self._shelf.get(wish.key)

    def _draw(self, kind: str) -> None:
        shown = self._shown.get(kind)
        wish = self._wish(kind)
        heard = self.hearing.drawn(wish) if wish is not None and self._listens(wish) else None
        self.drawing.show(kind, heard or (shown[1] if shown is not None else None))
        part = self.drawing.part(kind)
        if kind == self._kind and part is not None:
            self.tab.set_part(part)

    # The tab

    def _show_kinds(self) -> None:
        if not self.tab.is_built:
            return
        from analysis.kinds import KINDS

        kinds = [(kind, KINDS[kind].title) for kind in self.offers.kinds()]
        self.tab.show_kinds(kinds, self._session.model)
        self._show_choices()

    def _show_choices(self) -> None:
        kind = self._kind
        if not kind or not self.tab.is_built:
            return
        from analysis.kinds import KINDS

        chosen, choices = KINDS[kind], self._choices
        model = self._session.model
        others = [m for m in self._models if model is not None and m.checkpoint != model.checkpoint]
        partners = [(m.checkpoint, f"compared with {m.title}") for m in others if kind in self.offers.kinds(m)]
        self.tab.show_partners(partners if chosen.models[1] > 1 else [], choices.partner(kind))
        try:
            values = choices.options(kind)
        except AnalysisError:
            values = {option.name: option.default for option in chosen.options}
        follows = choices.follows(kind)
        self.tab.show_choices(kind, choices.span(kind), follows, chosen.options, values)

    @property
    def answer(self) -> Analysis | None:
        """The answer on show."""
        return self._shown[self._kind][1] if self._kind in self._shown else None

    def _on_figure(self) -> None:
        self.saving.ask_figure(self.answer)

    def _on_numbers(self) -> None:
        self.saving.ask_numbers(self.answer)
