"""The types of marks at hand: the vocabulary and the reader's own types, the one in use, favourites and recent ones."""

from __future__ import annotations

from PyQt6.QtCore import QObject, pyqtSignal

from analysis.annotation import Annotation, Review
from analysis.vocabulary import SEIZURE, Term, Vocabulary, score_vocabulary
from app.settings import Settings

RECENT = 6


class MarkTypes(QObject):
    """What can be marked, as the settings and the vocabulary have it; tells when any of it changes."""

    changed = pyqtSignal()

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._vocabulary = score_vocabulary()
        self._own: list[dict[str, str]] = []
        self._current = ""

    @property
    def vocabulary(self) -> Vocabulary:
        """All types; own ones may have been added in another window."""
        if self._settings.mark_types != self._own:
            self._own = [dict(entry) for entry in self._settings.mark_types]
            self._vocabulary = score_vocabulary().with_own(self._own)
        return self._vocabulary

    @property
    def current(self) -> Term:
        """The type that the next mark gets: the one chosen or used last, at the first start a seizure."""
        names = (self._current, *reversed(self._settings.mark_uses))
        known = (term for name in names if name and (term := self.vocabulary.named(name)) is not None)
        return next(known, self.vocabulary.role(SEIZURE))

    def choose(self, term: Term) -> None:
        """Use a type from now on."""
        self._current = term.name
        self.changed.emit()

    def uses(self, term: Term) -> int:
        """How often a type was used."""
        return self._settings.mark_uses.get(term.name, 0)

    def count_use(self, term: Term) -> None:
        """Remember that a type was used just now."""
        uses = self._settings.mark_uses
        uses[term.name] = uses.pop(term.name, 0) + 1
        self.choose(term)

    def favourites(self) -> list[Term]:
        """The types that the reader keeps on top."""
        return self._known(self._settings.mark_favourites)

    def recent(self) -> list[Term]:
        """The types used last, the newest first."""
        return self._known(list(reversed(self._settings.mark_uses)))[:RECENT]

    def is_favourite(self, term: Term) -> bool:
        """Whether the reader keeps a type on top."""
        return term.name in self._settings.mark_favourites

    def toggle_favourite(self, term: Term) -> None:
        """Keep a type on top, or no longer."""
        names = self._settings.mark_favourites
        if term.name in names:
            names.remove(term.name)
        else:
            names.append(term.name)
        self.changed.emit()

    def add_own(self, name: str, kind: str = "span", tag: str = "") -> Term:
        """Add a type of the reader's own, and use it; one that is there under this name already is used as it is."""
        name = name.strip()
        if name.casefold() not in (term.name.casefold() for term in self.vocabulary.terms):
            self._settings.mark_types.append({"name": name, "tag": tag.strip(), "kind": kind})
        term = self.vocabulary.named(name)
        assert term is not None
        self.choose(term)
        return term

    def remove_own(self, term: Term) -> None:
        """Forget one of the reader's own types; marks of it stay as they are."""
        kept = [entry for entry in self._settings.mark_types if entry.get("name", "").strip() != term.name]
        self._settings.mark_types[:] = kept
        self.changed.emit()

    def make(self, term: Term, onset: float, duration: float = 0.0, ch_names: tuple[str, ...] = ()) -> Annotation:
        """A mark of a type by the reader; seconds from the start, no channels for all of them."""
        return Annotation(onset, duration, term.name, ch_names, author="reader", review=Review(tag=term.tag))

    def _known(self, names: list[str]) -> list[Term]:
        return [term for name in names if (term := self.vocabulary.named(name)) is not None]
