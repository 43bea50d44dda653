"""Which contacts of an intracranial recording are drawn where: one line a shaft or strip, several for a grid.

Only names tell: letters of the shaft, number of the contact. A number that the recording lacks keeps its place empty,
so that a gap on the shaft is a gap on the drawing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from analysis.channel_labels import contact
from analysis.channels import MAX_SHAFT_CONTACTS
from analysis.errors import AnalysisError
from analysis.montages.placing import natural_key
from analysis.montages.sources import INTRACRANIAL_TYPES
from analysis.recording import Channel, Recording

MIN_CONTACTS = 3
NOT_RECORDED, BETWEEN_PAIRS, SAME_CONTACT = "not recorded", "recorded between two contacts", "same contact as another"
ELSEWHERE = "others"  # what has no shaft in its name
_USUAL_ROW = 8
# Contacts beside each other on grids as they are sold, by their number.
_GRID_ROWS = {20: 5, 24: 6, 25: 5, 30: 6, 36: 6, 100: 10, 144: 12, 256: 16}


@dataclass(frozen=True)
class Slot:
    """One place of a block: `index` is that of its value among the layout's contacts, None where it has none.

    `label` is what stands for the place on its block; `why` says why there is no value.
    """

    name: str
    label: str
    index: int | None = None
    why: str = ""


@dataclass(frozen=True)
class ContactBlock:
    """A shaft, strip or grid: its slots in the order of their numbers, `per_row` of them beside each other."""

    title: str
    slots: tuple[Slot, ...]
    per_row: int

    @property
    def is_grid(self) -> bool:
        """Whether it takes more than one line."""
        return len(self.slots) > self.per_row

    def rows(self) -> list[tuple[Slot, ...]]:
        """Its lines from the top."""
        return [self.slots[i : i + self.per_row] for i in range(0, len(self.slots), self.per_row)]


@dataclass(frozen=True)
class ContactLayout:
    """The contacts of a map and the blocks they stand in; `left_out` names those without a value, with the reason.

    `between` tells that the channels are differences of two contacts, each at the first.
    """

    ch_names: tuple[str, ...]
    blocks: tuple[ContactBlock, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    between: bool = False

    @property
    def source(self) -> str:
        """Where the places come from, in words."""
        grids = [f"{block.title} in rows of {block.per_row}" for block in self.blocks if block.is_grid]
        return "by the names of contacts" + (f"; {', '.join(grids)}, as grids of this size are" if grids else "")


def contact_layout(recording: Recording, left_out: Mapping[str, str] | None = None) -> ContactLayout:
    """Contacts of a recording that a map can be made of; AnalysisError says why it has none.

    `left_out` names channels that are to have no value, each with the reason. Where contacts were recorded against a
    reference, channels between two contacts have no place; where all were recorded so, each stands at its first.
    """
    brain = intracranial_channels(recording)
    single = [channel for channel in brain if channel.pair is None]
    reasons = dict(left_out or {})
    if single:
        reasons |= {channel.name: BETWEEN_PAIRS for channel in brain if channel.pair is not None}
    if not brain:
        raise AnalysisError("a map of contacts needs intracranial channels: this recording has none")
    layout = layout_of_contacts({channel.name: _contact_name(channel) for channel in brain}, reasons)
    return replace(layout, between=not single)


def intracranial_channels(recording: Recording) -> list[Channel]:
    """Channels of contacts in or on the brain, in the order of the file."""
    return [channel for channel in recording.channels if channel.is_brain and channel.type in INTRACRANIAL_TYPES]


def _contact_name(channel: Channel) -> str:
    return channel.pair[0] if channel.pair is not None else channel.name


def layout_of_names(names: Sequence[str], left_out: Mapping[str, str] | None = None) -> ContactLayout:
    """The layout of rows by their names, such as "LA1" or, at its first contact, "LA1-LA2"; AnalysisError for too few.

    Names without a shaft stand last, in a block of their own.
    """
    return layout_of_contacts({name: _first(name) for name in names}, left_out)


def _first(name: str) -> str:
    head = name.partition("-")[0]
    return head if contact(head) else name


def layout_of_contacts(contacts: Mapping[str, str], left_out: Mapping[str, str] | None = None) -> ContactLayout:
    """The layout of channels, each by the name of its contact; AnalysisError where fewer than 3 have a shaft."""
    reasons = dict(left_out or {})
    shafts: dict[str, dict[int, str]] = {}
    loose: list[str] = []
    missing = []
    for name, of in contacts.items():
        found = contact(of)
        if reasons.get(name) == BETWEEN_PAIRS:
            missing.append((name, BETWEEN_PAIRS))
        elif found is None:
            loose.append(name)
        elif shafts.setdefault(found[0].upper(), {}).setdefault(found[1], name) != name:
            missing.append((name, SAME_CONTACT))
    if sum(map(len, shafts.values())) < MIN_CONTACTS:
        raise AnalysisError("a map by shaft needs contacts whose names tell their shaft and number, such as LA1")
    order = [name for numbers in shafts.values() for _, name in sorted(numbers.items())]
    order += sorted(loose, key=natural_key)
    missing += [(name, reasons[name]) for name in order if name in reasons]
    index = {name: i for i, name in enumerate(name for name in order if name not in reasons)}
    if not index:
        raise AnalysisError("a map of contacts needs at least one that is not left out: here all are")
    blocks = [_block(letters, numbers, index, reasons) for letters, numbers in shafts.items()]
    if loose:
        blocks.append(_loose_block(sorted(loose, key=natural_key), index, reasons))
    return ContactLayout(tuple(index), tuple(blocks), tuple(missing))


def _block(
    letters: str, numbers: Mapping[int, str], index: Mapping[str, int], reasons: Mapping[str, str]
) -> ContactBlock:
    places: Iterable[int] = range(1, max(numbers) + 1)
    if max(numbers) > 2 * len(numbers) + MAX_SHAFT_CONTACTS:
        places = sorted(numbers)  # numbers that count something else than places
    slots = tuple(_place_of(letters, n, numbers, index, reasons) for n in places)
    count = len(slots)
    row = count if count <= MAX_SHAFT_CONTACTS else _GRID_ROWS.get(count, _USUAL_ROW)
    return ContactBlock(letters, slots, row)


def _place_of(
    letters: str, n: int, numbers: Mapping[int, str], index: Mapping[str, int], reasons: Mapping[str, str]
) -> Slot:
    if n not in numbers:
        return Slot(f"{letters}{n}", str(n), None, NOT_RECORDED)
    return _slot(numbers[n], str(n), index, reasons)


def _loose_block(names: Sequence[str], index: Mapping[str, int], reasons: Mapping[str, str]) -> ContactBlock:
    return ContactBlock(ELSEWHERE, tuple(_slot(name, name, index, reasons) for name in names), _USUAL_ROW)


def _slot(name: str, label: str, index: Mapping[str, int], reasons: Mapping[str, str]) -> Slot:
    return Slot(name, label, index.get(name), reasons.get(name, ""))
