"""Answers of analyses on panel, traces and lane, each with whether it is still what is asked for."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import QObject, pyqtSignal

from analysis.analyses import Analysis
from app.analysis_drawing import AnalysisDrawing
from app.analysis_panel import COMPUTING, AnalysisTab
from app.analysis_results import ResultShelf, Wish
from app.analysis_wishes import AnalysisWishes
from app.analysis_work import AnalysisWork
from app.errors import describe_error
from app.listening import Listening


class AnalysisAnswers(QObject):
    """Shows what is known of every kind; `kind` is the one in the inspector, empty for none."""

    said = pyqtSignal(str)

    def __init__(
        self,
        tab: AnalysisTab,
        drawing: AnalysisDrawing,
        wishes: AnalysisWishes,
        work: AnalysisWork,
        listening: Listening,
        is_live: Callable[[str], bool],
        parent: QObject | None = None,
    ) -> None:
        """`is_live` tells whether a kind is kept up with the page."""
        super().__init__(parent)
        self.kind = ""
        self._tab, self._drawing = tab, drawing
        self._wishes, self._work, self._listening = wishes, work, listening
        self._is_live = is_live
        self._shelf = ResultShelf()
        self._shown: dict[str, tuple[Wish, Analysis]] = {}
        self._refused: dict[str, tuple[str, str]] = {}  # key and sentence, by kind
        listening.heard.connect(self.draw)
        listening.answered.connect(self.take)
        listening.refused.connect(self.refuse)
        work.progressed.connect(self._on_progress)
        work.failed.connect(self._on_failed)
        work.cancelled.connect(self._on_cancelled)
        work.begun.connect(self._on_begun)
        work.ended.connect(self._on_ended)

    def clear(self) -> None:
        """Show nothing more, of any kind."""
        self._shown.clear()
        self._refused.clear()

    def kinds(self) -> list[str]:
        """The kinds that an answer is shown of."""
        return list(self._shown)

    def results(self) -> list[Analysis]:
        """Every answer that is shown."""
        return [result for _wish, result in self._shown.values()]

    @property
    def answer(self) -> Analysis | None:
        """The answer on show in the inspector."""
        return self._shown[self.kind][1] if self.kind in self._shown else None

    def known(self, wish: Wish) -> Analysis | None:
        """The answer to a wish, where it has been computed or heard."""
        return self._listening.answer(wish) if self._listening.serves(wish) else self._shelf.get(wish.key)

    def keep(self, wish: Wish, result: Analysis) -> None:
        """Keep an answer, to be shown now or later."""
        self._shelf.put(wish.key, result)

    def is_missing(self, kind: str) -> bool:
        """Whether what is asked for is neither on show nor refused."""
        wish = self._wishes.wish(kind)
        if wish is None or self._refused.get(kind, ("", ""))[0] == wish.key:
            return False
        return kind not in self._shown or self._shown[kind][0].key != wish.key

    def forgive(self, kind: str) -> None:
        """Forget that a kind was refused."""
        self._refused.pop(kind, None)

    def forget_refusals(self) -> None:
        """Sentences that speak of another page, or of other choices, go."""
        for kind, (key, _sentence) in list(self._refused.items()):
            wish = self._wishes.wish(kind)
            if wish is not None and wish.key != key:
                del self._refused[kind]
                if kind == self.kind and kind not in self._shown:
                    self._tab.set_result(None)

    def take(self, wish: Wish, result: Analysis) -> None:
        """Show an answer."""
        self.forgive(wish.kind)
        self._shown[wish.kind] = wish, result
        self.draw(wish.kind)
        if wish.kind == self.kind:
            self._tab.set_result(result)
        self.mark_stale()

    def refuse(self, kind: str, key: str, sentence: str) -> None:
        """Say why there is no answer."""
        self._refused[kind] = key, sentence
        self._listening.set_deaf(kind)
        self._shown.pop(kind, None)
        self.draw(kind)
        if kind == self.kind and self._tab.is_built:
            self._tab.refuse(sentence)
        else:
            self.said.emit(sentence)

    def show(self, kind: str) -> None:
        """Show what is known of a kind as it is chosen now; an answer about another model is taken away."""
        if not kind:
            self._tab.set_result(None)
            return
        wish = self._wishes.wish(kind)
        known = self.known(wish) if wish is not None else None
        if wish is not None and known is not None:
            self._shown[kind] = wish, known
        elif kind in self._shown and (wish is None or self._shown[kind][0].models != wish.models):
            del self._shown[kind]
        self.draw(kind)
        if kind == self.kind:
            self._tab.set_result(self.answer)
            if self._refused.get(kind, ("", ""))[1]:
                self._tab.refuse(self._refused[kind][1])
            self._tab.set_progress(None)
            self._work.tell(kind)
        self.mark_stale()

    def draw(self, kind: str) -> None:
        """Draw what is shown of a kind; of a stream all that was heard."""
        shown = self._shown.get(kind)
        heard = self._listening.drawn(self._wishes.wish(kind))
        self._drawing.show(kind, heard or (shown[1] if shown is not None else None))
        part = self._drawing.part(kind)
        if kind == self.kind and part is not None:
            self._tab.set_part(part)

    def mark_stale(self) -> None:
        """Say of every answer on show whether it is what is asked for."""
        for kind in self._shown:
            why = self._why_stale(kind)
            self._drawing.set_stale(kind, "" if self._draws_heard(kind) else why)
            if kind == self.kind:
                self._tab.set_stale(why)

    def _draws_heard(self, kind: str) -> bool:
        """Whether what is drawn of a kind is all that was heard, which is never of another page."""
        return self._listening.drawn(self._wishes.wish(kind)) is not None

    def _why_stale(self, kind: str) -> str:
        wish, (shown, _) = self._wishes.wish(kind), self._shown[kind]
        if self._listening.is_playing and self._draws_heard(kind):
            return ""
        if wish is not None and wish.key == shown.key:
            return ""
        if self._work.job(kind) is not None or (self._is_live(kind) and self.is_missing(kind)):
            return COMPUTING
        if wish is None or wish.window != shown.window:
            return "of another span"
        if wish.bad_channels != shown.bad_channels:
            return "with other bad channels"
        if wish.seizures != shown.seizures:
            return "with other marks of seizures"
        return "of other options"

    def _on_progress(self, kind: str, done: tuple[float, str]) -> None:
        if kind == self.kind:
            self._tab.set_progress(done)

    def _on_failed(self, wish: Wish, error: BaseException) -> None:
        self.refuse(wish.kind, wish.key, describe_error(error)[0])

    def _on_cancelled(self, wish: Wish) -> None:
        self._refused[wish.kind] = wish.key, ""  # not to be asked again without a word of the reader

    def _on_begun(self, _kind: str) -> None:
        self.mark_stale()

    def _on_ended(self, kind: str) -> None:
        if kind == self.kind:
            self._tab.set_progress(None)
        self.mark_stale()
