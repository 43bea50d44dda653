"""Montages of intracranial recordings: neighbours along each shaft, and each shaft against its own mean."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from analysis.channel_labels import contact
from analysis.channels import MAX_SHAFT_CONTACTS
from analysis.errors import AnalysisError
from analysis.montages.derivation import Derivation, Montage
from analysis.montages.placing import intracranial_blocks, scalp_blocks, shafts
from analysis.montages.sources import INTRACRANIAL_TYPES, Sources, listed, refuse_if_bipolar, side_of
from analysis.recording import Channel

NEIGHBOURS, SHAFT_AVERAGE = "neighbour bipolar", "shaft average"
MIN_SHAFT_MEMBERS = 3


def neighbour_bipolar(sources: Sources) -> Montage:
    """Each contact minus the next one of its shaft, never across shafts and never over a contact that is missing."""
    potentials, recorded = shafts(sources), _recorded_pairs(sources)
    rows: list[Derivation] = []
    over_missing: list[str] = []
    alone: list[str] = []
    letters = dict.fromkeys((*potentials, *recorded))
    for block, shaft in enumerate(letters):
        contacts, pairs = potentials.get(shaft, {}), recorded.get(shaft, {})
        made = _along(contacts, pairs, block)
        numbers = list(contacts)
        over_missing += [f"{contacts[a].name}-{contacts[b].name}" for a, b in pairwise(numbers) if b != a + 1]
        if not made and contacts:
            alone += [channel.name for channel in contacts.values()]
        rows += made
    if not rows:
        raise AnalysisError(f"{NEIGHBOURS} needs shafts with contacts side by side, and this recording has none")
    notes = [f"not derived over missing contacts: {listed(over_missing)}"] if over_missing else []
    notes += [f"without a neighbour: {listed(alone)}"] if alone else []
    notes += _unplaced_note(sources) + _grid_note(potentials) + sources.reference_note(rows)
    return _with_the_rest(NEIGHBOURS, rows, sources, notes)


def _along(contacts: Mapping[int, Channel], pairs: Mapping[int, Channel], block: int) -> list[Derivation]:
    """Rows of one shaft by rising number, from two contacts or from a channel that was recorded so."""
    rows = []
    for number in sorted({*contacts, *pairs}):
        first, second = contacts.get(number), contacts.get(number + 1)
        if first is not None and second is not None:
            rows.append(Derivation(f"{first.name}-{second.name}", first.name, (second.name,), "other", block))
        elif number in pairs:
            rows.append(Derivation(pairs[number].name, pairs[number].name, (), "other", block))
    return rows


def _recorded_pairs(sources: Sources) -> dict[str, dict[int, Channel]]:
    """Channels that were recorded between neighbours of a shaft, by shaft and number of the first contact."""
    found: dict[str, dict[int, Channel]] = {}
    for channel in sources.brain:
        if channel.type not in INTRACRANIAL_TYPES or channel.pair is None:
            continue
        first, second = contact(channel.pair[0]), contact(channel.pair[1])
        if first and second and first[0].upper() == second[0].upper() and second[1] == first[1] + 1:
            found.setdefault(first[0].upper(), {}).setdefault(first[1], channel)
    return found


def shaft_average(sources: Sources) -> Montage:
    """Each contact minus the mean of the good contacts of its shaft."""
    refuse_if_bipolar(sources, SHAFT_AVERAGE, INTRACRANIAL_TYPES)
    rows: list[Derivation] = []
    short: list[str] = []
    channels: list[Channel] = []
    for block, (letters, contacts) in enumerate(shafts(sources).items()):
        channels += contacts.values()
        members = sources.good_names(contacts.values())
        if len(members) < MIN_SHAFT_MEMBERS:
            short.append(letters)
            continue
        rows += [Derivation(f"{c.name}-avg", c.name, members, "other", block) for c in contacts.values()]
    if not rows:
        raise AnalysisError(
            f"{SHAFT_AVERAGE} needs shafts with at least {MIN_SHAFT_MEMBERS} good contacts, and this recording has none"
        )
    notes = sources.notes_on(channels)
    notes += (
        [f"shafts with fewer than {MIN_SHAFT_MEMBERS} good contacts are not shown: {listed(short)}"] if short else []
    )
    notes += _unplaced_note(sources) + sources.reference_note(rows)
    return _with_the_rest(SHAFT_AVERAGE, rows, sources, notes)


def _unplaced_note(sources: Sources) -> list[str]:
    placed = {channel.name for contacts in shafts(sources).values() for channel in contacts.values()}
    rest = [c.name for block in intracranial_blocks(sources) for c in block if c.name not in placed]
    return [f"on no shaft, not shown: {listed(rest)}"] if rest else []


def _grid_note(potentials: Mapping[str, Mapping[int, Channel]]) -> list[str]:
    """A grid on the cortex counts on from row to row, so that some neighbours in number are far apart."""
    grids = [letters for letters, contacts in potentials.items() if len(contacts) > MAX_SHAFT_CONTACTS]
    return [
        f"{g} has as many contacts as a grid, where pairs across the end of a row are not neighbours" for g in grids
    ]


def _with_the_rest(name: str, rows: list[Derivation], sources: Sources, notes: list[str]) -> Montage:
    """Scalp electrodes as they were recorded, and the polygraphic block, below the shafts."""
    block = rows[-1].block + 1
    scalp = [c for channels in scalp_blocks(sources) for c in channels]
    rows += [Derivation(c.name, c.name, (), side_of(c), block) for c in scalp]
    return Montage(name, tuple(rows) + sources.polygraphy(block + 1), "; ".join(notes))
