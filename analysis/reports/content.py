"""What a report says, before it becomes paper or a web page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.annotation import Annotation
from analysis.figures.page import PageFigure
from analysis.scalp_maps import Topography

Pairs = tuple[tuple[str, str], ...]
HEADERS = ("Onset", "Clock", "Length", "What", "Channels", "From", "p", "State", "Decided by", "Comment")


def used_columns(rows: Sequence[Sequence[str]]) -> list[int]:
    """The columns of the table of events in which anything stands; the onset always."""
    return [i for i in range(len(HEADERS)) if i == 0 or any(row[i] for row in rows)]


@dataclass(frozen=True)
class EventPage:
    """One event: its facts, the page of traces around it, and the topography over it or why there is none.

    `scalp_time` is the moment in seconds that a map of voltage shows, None for one of the whole event.
    """

    event: Annotation
    facts: Pairs
    page: PageFigure
    scalp: Topography | None
    scalp_time: float | None
    scalp_words: str

    @property
    def scalp_heading(self) -> str:
        """What the map is of."""
        return "By contact" if self.scalp is not None and self.scalp.contacts is not None else "Over the scalp"

    @property
    def heading(self) -> str:
        """What the event is; what a model says is never called as what a person marked."""
        title, author = self.event.title, self.event.author
        return f"{title}, said by the model {author.removeprefix('model:')}" if self.event.is_model else title


@dataclass(frozen=True)
class Report:
    """All of a report; `events` are rows under HEADERS, `agreement` are lines of one width of letters."""

    title: str
    facts: Pairs
    notes: tuple[str, ...]
    events: tuple[tuple[str, ...], ...]
    pages: tuple[EventPage, ...]
    agreement: tuple[str, ...]
    settings: Pairs
    versions: Pairs
