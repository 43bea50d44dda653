"""Wishes as they stand: what each kind of analysis is asked for on this page, with these models and choices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from analysis.errors import AnalysisError
from analysis.recording import Window
from app.analysis_offers import AnalysisOffers
from app.analysis_results import Wish, make_wish
from app.session import ModelChoice, Session

if TYPE_CHECKING:
    from app.analysis_choices import AnalysisChoices


class AnalysisWishes:
    """Puts page, models, selection and choices together to a wish."""

    def __init__(self, session: Session, offers: AnalysisOffers, device: Callable[[], str]) -> None:
        """`device` tells where models run."""
        self._session, self._offers, self._device = session, offers, device
        self._choices: AnalysisChoices | None = None
        self.models: Sequence[ModelChoice] = ()  # that are listed, of which two can be compared
        self.selection: Window | None = None

    @property
    def choices(self) -> AnalysisChoices:
        """The table of kinds is read when the first analysis is thought of, not when the window starts."""
        if self._choices is None:
            from app.analysis_choices import AnalysisChoices

            self._choices = AnalysisChoices()
        return self._choices

    def forget_choices(self) -> None:
        """Choose as usual again."""
        self._choices = None

    def make(self, kind: str, model: ModelChoice | None = None, page: Window | None = None) -> Wish | None:
        """What the choices of a kind ask for, of another model or page than those on show where they are named.

        None without a recording or model, AnalysisError where it cannot be.
        """
        others = [model for model in self.models if kind in self._offers.kinds(model)]
        return make_wish(kind, self._session, self.choices, others, self.selection, self._device(), model, page)

    def wish(self, kind: str, model: ModelChoice | None = None, page: Window | None = None) -> Wish | None:
        """The same; None where it cannot be."""
        try:
            return self.make(kind, model, page)
        except AnalysisError:
            return None

    def partners(self, kind: str) -> list[ModelChoice]:
        """Listed models that the chosen one can be compared with in a kind."""
        chosen = self._session.model
        others = [m for m in self.models if chosen is not None and m.checkpoint != chosen.checkpoint]
        return [model for model in others if kind in self._offers.kinds(model)]
