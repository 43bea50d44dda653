"""Every row and channel by name: type an electrode, Enter points its row out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QListWidgetItem, QWidget

from analysis.montage import Derivation, Montage
from analysis.recording import Channel
from app.dialogs.search_dialog import CHOICE_ROLE, SearchDialog

_MOST_NAMED = 2
_NOT_AT_ALL = 3  # after the name itself, its beginning and its inside
_PAIR = 2  # more electrodes than this are a mean, which shows none of them


@dataclass(frozen=True)
class Place:
    """A row of the montage, or (`row` None) a channel that no row shows; `words` are all the names it answers to."""

    name: str
    words: frozenset[str]
    row: int | None = None
    told: str = ""

    @property
    def text(self) -> str:
        """What the list shows."""
        return self.name if self.row is not None else f"{self.name}     {self.told}"


def list_places(channels: Sequence[Channel], montage: Montage, others: Sequence[tuple[str, Montage]]) -> list[Place]:
    """The rows of a montage in their order, then channels without a row, with those of `others` that have one."""
    by_name = {channel.name: channel for channel in channels}
    places = []
    for number, row in enumerate(montage.derivations):
        words = {row.name, *(word for name in _shown_in(row) for word in _names_of(by_name[name]))}
        places.append(Place(row.name, _folded(words), number))
    shown = _shown_by(montage)
    others_show = [(title, _shown_by(other)) for title, other in others]
    for channel in channels:
        if channel.name not in shown:
            titles = [title for title, names in others_show if channel.name in names]
            told = f"not in {montage.name}, {_where(titles)}"
            places.append(Place(channel.name, _folded(_names_of(channel)), None, told))
    return places


def find_places(query: str, places: Sequence[Place]) -> list[Place]:
    """The places that answer a query: of that very name, then those that begin with it, then those that have it inside.

    A row of the montage comes before a channel without one.
    """
    wanted = query.strip().casefold()
    ranked = [(_rank(wanted, place), place.row is None, i) for i, place in enumerate(places)]
    return [places[i] for rank, _, i in sorted(ranked) if rank < _NOT_AT_ALL]


def _rank(wanted: str, place: Place) -> int:
    if not wanted or wanted in place.words:
        return 0
    if any(word.startswith(wanted) for word in place.words):
        return 1
    return 2 if any(wanted in word for word in place.words) else _NOT_AT_ALL


def _shown_in(row: Derivation) -> tuple[str, ...]:
    return (row.anode, *(row.cathode if len(row.cathode) < _PAIR + 1 else ()))


def _shown_by(montage: Montage) -> frozenset[str]:
    return frozenset(name for row in montage.derivations for name in _shown_in(row))


def _names_of(channel: Channel) -> set[str]:
    return {channel.name, channel.original_name.strip(), *([channel.site] if channel.site else [])}


def _folded(words: set[str]) -> frozenset[str]:
    return frozenset(word.casefold() for word in words)


def _where(titles: Sequence[str]) -> str:
    if not titles:
        return "nor in any other montage"
    more = f" and {len(titles) - _MOST_NAMED} more" if len(titles) > _MOST_NAMED else ""
    return f"but in {', '.join(titles[:_MOST_NAMED])}{more}"


class FindChannel(SearchDialog):
    """Finds a row or channel by its name; `chosen` is the place that Enter took."""

    def __init__(self, places: Sequence[Place], parent: QWidget | None = None) -> None:
        hint = "Electrode, row or label of the file"
        super().__init__("Find a channel", hint, "Name of a channel", "Rows and channels", parent)
        self._places = places
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.search("")

    def answers(self, query: str) -> Iterable[QListWidgetItem]:
        """The places."""
        for place in find_places(query, self._places):
            item = QListWidgetItem(place.text)
            item.setData(CHOICE_ROLE, place)
            yield item
