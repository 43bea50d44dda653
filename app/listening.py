"""What a stream is heard to do, from the beginning of the recording on, page by page or while the page plays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial

from PyQt6.QtCore import QObject, pyqtSignal

from analysis.analyses import Analysis
from app.analysis_results import Wish
from app.analysis_wishes import AnalysisWishes
from app.analysis_work import AnalysisWork
from app.hearing import Ask, Hearing
from app.session import Session

_PAGE = "page"
_PLAYED_SECONDS = 60.0  # of the recording, that are heard at a time while it is played
_BEHIND = 4.0  # seconds, beyond which it is heard on without a pause
FOLLOWING = "following"  # begins the place of work that keeps up with a page that scrolls by itself


class Listening(QObject):
    """Has a stream heard as far as it is looked at, and tells what is known of it."""

    heard = pyqtSignal(str)  # a kind, of which more is known
    answered = pyqtSignal(object, object)  # a wish and its answer
    refused = pyqtSignal(str, str, str)  # kind, key and sentence

    def __init__(
        self, session: Session, wishes: AnalysisWishes, work: AnalysisWork, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._wishes, self._work = session, wishes, work
        self._hearing = Hearing()
        self._is_playing = False
        self._deaf: set[str] = set()  # kinds that could not be heard since the page began to scroll by itself

    def forget(self) -> None:
        """Know nothing more of the recording."""
        self._hearing.forget()

    @property
    def is_playing(self) -> bool:
        """Whether the page scrolls by itself."""
        return self._is_playing

    @property
    def heard_to(self) -> float:
        """Seconds of the recording to which the stream has come."""
        return self._hearing.heard_to

    def serves(self, wish: Wish) -> bool:
        """Whether a wish is answered by a stream that is heard on, and not on its own."""
        return self._hearing.serves(wish) and self._wishes.choices.span(wish.kind) == _PAGE

    def answer(self, wish: Wish) -> Analysis | None:
        """What is known of the span of a wish."""
        return self._hearing.answer(wish)

    def drawn(self, wish: Wish | None) -> Analysis | None:
        """All that was heard for a wish; None where nothing was, or the wish is not for a stream."""
        return self._hearing.drawn(wish) if wish is not None and self.serves(wish) else None

    def ask(self, wish: Wish) -> None:
        """Answer from what has been heard, or hear on; what is being heard is heard to its end first."""
        recording = self._session.recording
        assert recording is not None
        if self._hearing.knows(wish):
            self._tell(wish)
        elif self._work.job(wish.kind) is None or not self._hearing.is_of(wish):
            most, place = (_PLAYED_SECONDS, FOLLOWING) if self._is_playing else (float("inf"), "analysis")
            ask = self._hearing.ask(wish, str(recording.path), most)
            is_kept = not self._is_playing  # what is heard page by page is many small pieces
            job = self._work.make_hearing(wish, ask, recording.id, f"{place} {wish.kind}", is_kept)
            job.partial.connect(partial(self._on_part, wish, ask))
            job.succeeded.connect(partial(self._on_all, wish, ask))
            job.finished.connect(partial(self._hearing.leave, ask))
            self._work.submit(wish, job)

    def set_deaf(self, kind: str) -> None:
        """Do not hear a kind again while the page plays on."""
        self._deaf.add(kind)

    def set_playing(self, playing: bool) -> bool:
        """Take whether the page scrolls by itself, and tell whether that is another thing than before."""
        changed = playing != self._is_playing
        if changed:
            self._is_playing = playing
            self._deaf.clear()
        return changed

    def keep_up(self, kinds: Iterable[str], is_missing: Callable[[str], bool]) -> None:
        """Hear on to the page that is shown now."""
        for kind in kinds:
            wish = self._wishes.wish(kind)
            if wish is not None and self.serves(wish) and kind not in self._deaf and is_missing(kind):
                self.ask(wish)

    def is_hearing(self, kinds: Iterable[str]) -> bool:
        """Whether one of these kinds is heard on with the page."""
        wishes = (self._wishes.wish(kind) for kind in kinds)
        return any(wish is not None and self.serves(wish) and wish.kind not in self._deaf for wish in wishes)

    def _on_part(self, wish: Wish, ask: Ask, parts: Mapping[str, Analysis], done: bool = False) -> None:
        self._hearing.take(ask, parts, done)
        self.heard.emit(wish.kind)

    def _on_all(self, wish: Wish, ask: Ask, parts: Mapping[str, Analysis]) -> None:
        self._on_part(wish, ask, parts, done=True)
        now = self._wishes.wish(wish.kind) or wish  # the page may have gone on
        if self._hearing.knows(now):
            self._tell(now)
        elif self.serves(now) and (not self._is_playing or now.window.stop - self.heard_to > _BEHIND):
            self.ask(now)
        if self._is_playing and not self._hearing.knows(now):
            self._tell_latest(now)

    def _tell_latest(self, wish: Wish) -> None:
        """Tell the span heard last in place of the page, which the stream has not come to."""
        latest = self._hearing.latest(wish)
        if latest is not None:
            self.answered.emit(replace(wish, key=""), latest)  # of no page, so that the page stays asked for

    def _tell(self, wish: Wish) -> None:
        answer = self._hearing.answer(wish)
        if answer is not None:
            self.answered.emit(wish, answer)
        else:
            span = f"{wish.window.start:g} and {wish.window.stop:g} s"
            self.refused.emit(wish.kind, wish.key, f"there is no signal between {span}: look at another page")
