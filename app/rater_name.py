"""Whose decisions they are: the reader's name, asked for once and kept with each decision."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtWidgets import QWidget

from app.dialogs.ask import ask_text
from app.mark_keeper import READER
from app.session import Session
from app.settings import Settings

_PROMPT = "Your name or initials. They are kept with each of your decisions, and go into the files you save."


class RaterName(QObject):
    """Gives the book of each recording the reader's name."""

    said = pyqtSignal(str, str)  # text and role for the status line

    def __init__(self, session: Session, settings: Settings, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._settings = settings
        self._window = window
        session.opened.connect(self._on_opened)

    def handlers(self) -> dict[str, Callable[[], None]]:
        """What the action does."""
        return {"rater_name": self.ask}

    def _on_opened(self, _recording: object) -> None:
        self._session.keeper.rater = self._settings.rater

    def ask(self) -> None:
        """Ask for the name; decisions that were taken before keep theirs."""
        name = ask_text(self._window, "Your name", _PROMPT, self._settings.rater)
        if name is not None:
            self.set_name(name)

    def set_name(self, name: str) -> None:
        """Sign decisions from now on with this name; empty: with "reader"."""
        self._settings.rater = self._session.keeper.rater = " ".join(name.split())
        self.said.emit(f"decisions are signed {self._settings.rater or READER}", "muted")
