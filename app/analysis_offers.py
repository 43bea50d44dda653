"""Which analyses a model gives, in words and as a menu; read from the table of kinds, never from a model's name."""

from __future__ import annotations

from functools import partial

from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QMenu

from app.session import ModelChoice, Session


class AnalysisOffers(QObject):
    """What can be asked of the chosen model. The table is read once a model of a family is listed, not at the start."""

    chosen = pyqtSignal(str)  # a kind, from the menu

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._menu = QMenu("Analyse")
        self._menu.aboutToShow.connect(self._fill_menu)

    def kinds(self, model: ModelChoice | None = None) -> list[str]:
        """The kinds of analysis that a model gives; of the chosen one where none is named."""
        model = model or self._session.model
        if model is None or not model.family:
            return []
        from analysis.kinds import kinds_of

        return kinds_of(model.family)

    def why_not(self, kind: str) -> str:
        """Why the chosen model gives no analysis of a kind, in words."""
        from analysis.kinds import KINDS
        from models.families import MODELS

        model = self._session.model
        if kind not in KINDS:
            title = model.title if model is not None else "no model"
            return f"{title} only finds seizures: choose a model that can be looked into under Checkpoints"
        families = [spec.title for name, spec in MODELS.items() if KINDS[kind].function_for(name)]
        given = ", ".join(self.kinds()) or "nothing but seizures"
        title = model.title if model is not None else "no model"
        return f"{title} gives no {kind}, it gives {given}: choose a model of {' or '.join(families)}"

    def add_menu(self, before: QAction) -> None:
        """Put a list of what the chosen model gives before an action of its menu."""
        for place in before.associatedObjects():
            if isinstance(place, QMenu):
                place.insertMenu(before, self._menu)

    def fill_menu(self, menu: QMenu) -> None:
        """List what the chosen model gives."""
        menu.clear()
        if not self.kinds():
            action = menu.addAction("The chosen model gives none")
            assert action is not None
            action.setEnabled(False)
            return
        from analysis.kinds import KINDS

        for kind in self.kinds():
            menu.addAction(KINDS[kind].title, partial(self.chosen.emit, kind))

    def _fill_menu(self) -> None:
        self.fill_menu(self._menu)
