"""A stream that listens along while the page scrolls by itself, and says how far behind it is."""

from __future__ import annotations

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from app.analysing import Analysing
from app.hearing import STREAMS
from app.playing import Playing
from app.session import ModelChoice, Session

_LOOK_MS = 400


class Following(QObject):
    """Keeps the chosen model hearing what comes onto the page while it is played, where it hears in streams.

    Every step is heard, in order, however fast the page runs: where the model is too slow for that it falls behind, and
    `lag_changed` tells by how many seconds of the recording. Lanes and panels are drawn a few times a second.
    """

    lag_changed = pyqtSignal(str)  # in words; empty while nothing is played or nothing listens

    def __init__(self, session: Session, analysing: Analysing, playing: Playing, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._analysing, self._playing = session, analysing, playing
        self._opened_for: ModelChoice | None = None  # model whose lane was brought up by itself
        self._looks = QTimer(self)
        self._looks.setInterval(_LOOK_MS)
        self._looks.timeout.connect(self.look)
        playing.changed.connect(self._on_playing)

    def _on_playing(self, text: str) -> None:
        if bool(text) == self._looks.isActive():
            return
        if text:
            self._open_lane()
            self._looks.start()
            self.look()
        else:
            self._looks.stop()
            self._analysing.keep_up(False)
            self.lag_changed.emit("")

    def _open_lane(self) -> None:
        """Bring the lane up once for a model: a reader who hides it again is not asked twice."""
        model = self._session.model
        if STREAMS in self._analysing.offers.kinds() and model != self._opened_for:
            self._opened_for = model
            self._analysing.overlay_requested.emit(STREAMS, True)

    def look(self) -> None:
        """Hear on to what the page shows by now, and tell the lag."""
        self._analysing.keep_up(True)
        lag = self.lag()
        self.lag_changed.emit("" if lag is None else f"stream {lag_text(lag)} behind")

    def lag(self) -> float | None:
        """Seconds of the recording between the end of the page and what has been heard; None where nothing listens."""
        if not self._analysing.is_hearing():
            return None
        return max(0.0, self._session.window.stop - self._analysing.listening.heard_to)


def lag_text(seconds: float) -> str:
    """A lag as finely as it matters."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
