"""The montages as a reader chooses them: titles, number keys, and why one is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from analysis.montage import REFERENCE, montages_for, reference_name, reference_refusal
from analysis.montages.sources import Sources
from analysis.recording import Recording

KEYS = 9
AS_RECORDED_TITLE = "As recorded"
TITLES = {
    "as recorded": AS_RECORDED_TITLE,
    "LB-18.1": "Longitudinal LB-18.1, from left to right",
    "LB-18.2": "Longitudinal LB-18.2, midline first",
    "LB-18.3": "Longitudinal LB-18.3, temporal chains first",
    "parasagittal first": "Longitudinal parasagittal, these chains first",
    "TB-18.1": "Transverse TB-18.1",
    "TB-18.2": "Transverse TB-18.2, with ears",
    "ear referential": "Same-side ear",
    "linked ears": "Linked ears",
    "contralateral ear": "Opposite ear",
    "Cz reference": "Cz reference",
    "R-18.3": "R-18.3, against T1 and T2",
    "common average": "Common average",
    "common average without Fp1 Fp2": "Average without Fp, blinks stay in Fp1 and Fp2",
    "hat band": "Hat band",
    "hat band with midline": "Hat band and midline",
    "Laplacian": "Laplacian",
    "TUH TCP": "TUH TCP, 22 rows",
    "CHB-MIT": "CHB-MIT, 23 rows",
    "SzCORE": "SzCORE, 19 to their average",
    "neighbour bipolar": "Neighbour bipolar, along each shaft",
    "shaft average": "Shaft average, each its own",
    REFERENCE: "One channel as reference…",
}
# Before these a line is drawn in menus.
_GROUPS = frozenset({"LB-18.2", "linked ears", "TUH TCP"})


@dataclass(frozen=True)
class MontageEntry:
    """One montage of a menu: its name, what a person calls it, its number key, and why it cannot be derived.

    `starts_group` asks for a line before it. The entry called REFERENCE has no rows yet: a channel is to be chosen.
    """

    name: str
    title: str
    key: str = ""
    refusal: str = ""
    starts_group: bool = False

    @property
    def text(self) -> str:
        """The line of a menu."""
        return f"{self.title}\t{self.key}" if self.key else self.title

    @property
    def short(self) -> str:
        """What a toolbar has room for."""
        return self.title.partition(",")[0]


def entries_for(
    recording: Recording, own: tuple[str, ...], reference: str | None, refusal_of: Callable[[str], str]
) -> list[MontageEntry]:
    """What can be chosen for a recording: the program's montages that could suit it, then the reader's `own`.

    `reference` is the channel that was chosen last; `refusal_of` tells why a montage cannot be derived, if it cannot.
    """
    names = [reference_name(reference) if n == REFERENCE and reference else n for n in montages_for(recording)]
    entries = []
    for i, name in enumerate((*names, *own)):
        key = str(i + 1) if i < KEYS else ""
        refusal = reference_refusal(Sources(recording)) if name == REFERENCE else refusal_of(name)
        starts = i == KEYS or name in _GROUPS or (bool(own) and i == len(names))
        entries.append(MontageEntry(name, title_of(name, reference), key, refusal, starts and i > 0))
    return entries


def title_of(name: str, reference: str | None = None) -> str:
    """What a person calls a montage; the reader's own have the name that they were given."""
    if reference is not None and name == reference_name(reference):
        return f"Reference {reference}"
    return TITLES.get(name, name)
