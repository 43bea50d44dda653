"""Montages that a reader wrote: rows of electrodes by place, so that they serve any recording that has the places."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from analysis.electrodes import site_of
from analysis.errors import AnalysisError
from analysis.montages.chains import PairMaker
from analysis.montages.derivation import Derivation, Montage
from analysis.montages.placing import scalp_blocks
from analysis.montages.sources import INTRACRANIAL_TYPES, Sources, listed, side_of, with_unique_names
from analysis.recording import SCALP_TYPES, Channel

AVERAGE_WORD = "average"


@dataclass(frozen=True)
class Electrode:
    """A place on the head by its 10-10 name (`is_site`), or a channel by the name it has in its recording."""

    name: str
    is_site: bool = True


@dataclass(frozen=True)
class CustomRow:
    """Input 1 minus the mean of `input2` (none: as recorded), or minus the common average (`to_average`).

    An empty `label` stands for the names that the recording gives the electrodes.
    """

    input1: Electrode
    input2: tuple[Electrode, ...] = ()
    to_average: bool = False
    label: str = ""

    def text(self) -> str:
        """The row in words, for a person to find it again."""
        second = AVERAGE_WORD if self.to_average else "+".join(electrode.name for electrode in self.input2)
        return f"{self.input1.name}-{second}" if second else self.input1.name


@dataclass(frozen=True)
class CustomMontage:
    """A named list of rows in blocks that stand apart."""

    name: str
    blocks: tuple[tuple[CustomRow, ...], ...]

    @property
    def rows(self) -> tuple[CustomRow, ...]:
        """All rows in order."""
        return tuple(row for block in self.blocks for row in block)


def custom_montage(custom: CustomMontage, sources: Sources) -> Montage:
    """The rows that a recording can give, and a note of the others; AnalysisError where it can give none."""
    maker = _RowMaker(sources)
    rows = []
    blocks = [block for block in custom.blocks if block]
    for number, block in enumerate(blocks):
        rows += [made for row in block if isinstance(made := maker.make(row, number), Derivation)]
    if not rows:
        raise AnalysisError(f"{custom.name} has no row that this recording can give ({listed(maker.faults)})")
    notes = [f"rows left out: {listed(maker.faults)}"] if maker.faults else []
    notes += maker.notes() + sources.reference_note(rows)
    tail = sources.polygraphy(len(blocks), [row.anode for row in rows])
    return Montage(custom.name, with_unique_names((*rows, *tail)), "; ".join(notes))


def try_rows(rows: Iterable[CustomRow], sources: Sources) -> list[Derivation | str]:
    """For each row what a recording makes of it, or why it cannot give it."""
    maker = _RowMaker(sources)
    return [maker.make(row, 0) for row in rows]


class _RowMaker:
    """Turns rows into derivations, and remembers what must be said of them."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._pairs = PairMaker(sources)
        self._by_name = {c.name.casefold(): c for c in reversed(sources.recording.channels)}
        self._averages: dict[str, tuple[str, ...]] = {}
        self._shortened: list[str] = []
        self._averaged: dict[str, Channel] = {}
        self.faults: list[str] = []

    def make(self, row: CustomRow, block: int) -> Derivation | str:
        """The derivation of a row, or why there is none."""
        made = self._make(row, block)
        if isinstance(made, str):
            self.faults.append(f"{row.text()}: {made}")
            return made
        if row.label:
            return Derivation(row.label, made.anode, made.cathode, made.side, made.block, made.sign)
        return made

    def notes(self) -> list[str]:
        """What a reader must know of the rows that were made."""
        said = self._pairs.notes()
        said += [f"mean of the rest: {listed(self._shortened)}"] if self._shortened else []
        return said + self._sources.notes_on(self._averaged.values())

    def _make(self, row: CustomRow, block: int) -> Derivation | str:
        if len(row.input2) == 1 and not row.to_average and row.input1.is_site and row.input2[0].is_site:
            made = self._pairs.try_row((row.input1.name, (row.input2[0].name,)), block)
            return made if made is not None else self._why(row.input1, *row.input2)
        first = self._channel(row.input1)
        if first is None:
            return self._why(row.input1)
        if row.to_average:
            return self._to_average(first, block)
        if not row.input2:
            return Derivation(first.name, first.name, (), side_of(first), block)
        return self._to_mean(first, row, block)

    def _to_average(self, first: Channel, block: int) -> Derivation | str:
        if not first.is_brain or first.pair is not None:
            return f"{first.name} holds no potential that an average can be taken from"
        types = SCALP_TYPES if first.type in SCALP_TYPES else INTRACRANIAL_TYPES
        channels = self._sources.referential(types)
        members = self._averages.setdefault(first.type, self._sources.good_names(channels))
        if not members:
            return "no good channel is left for the average"
        self._averaged |= {channel.name: channel for channel in channels}
        return Derivation(f"{first.name}-avg", first.name, members, side_of(first), block)

    def _to_mean(self, first: Channel, row: CustomRow, block: int) -> Derivation | str:
        found = [(electrode, self._channel(electrode)) for electrode in row.input2]
        there = [c for _, c in found if c is not None and c.unit == first.unit]
        if not there:
            units = {c.unit for _, c in found if c is not None}
            return (
                self._why(*row.input2) if not units else f"{first.name} has another unit than {row.text()} takes away"
            )
        usable = [c for c in there if self._sources.is_good(c)] if len(there) > 1 else there
        lost = [electrode.name for electrode, c in found if c is None or c not in usable]
        if lost:
            self._shortened.append(f"{first.name} without {' '.join(lost)}")
        cathode = tuple(c.name for c in usable or there)
        return Derivation(f"{first.name}-{'+'.join(cathode)}", first.name, cathode, side_of(first), block)

    def _channel(self, electrode: Electrode) -> Channel | None:
        if electrode.is_site:
            return self._sources.site(electrode.name)
        return self._sources.channel(electrode.name) or self._by_name.get(electrode.name.casefold())

    def _why(self, *electrodes: Electrode) -> str:
        missing = [electrode.name for electrode in electrodes if self._channel(electrode) is None]
        recorded = next((c.name for c in self._sources.brain if c.pair and set(c.pair) & set(missing)), "")
        if recorded:
            return f"{' and '.join(missing)} known only within recorded pairs such as {recorded}"
        return f"{' and '.join(missing)} {self._sources.why_absent(*missing)}"


def custom_from(montage: Montage, sources: Sources, name: str) -> CustomMontage:
    """A montage as it is drawn, as rows to be changed; what is not of the brain is left to the polygraphic block."""
    averages = {
        frozenset(names)
        for types in (SCALP_TYPES, INTRACRANIAL_TYPES)
        if (names := sources.good_names(sources.referential(types)))
    }
    blocks: dict[int, list[CustomRow]] = {}
    for row in montage.derivations:
        channel = sources.channel(row.anode)
        if channel is not None and channel.is_brain:
            blocks.setdefault(row.block, []).append(_row_from(row, channel, sources, averages))
    return CustomMontage(name, tuple(tuple(block) for block in blocks.values()))


def _row_from(row: Derivation, channel: Channel, sources: Sources, averages: set[frozenset[str]]) -> CustomRow:
    if len(row.cathode) > 1 and frozenset(row.cathode) in averages:
        return CustomRow(electrode_of(channel, sources), to_average=True)
    if row.cathode:
        others = [c for name in row.cathode if (c := sources.channel(name)) is not None]
        return CustomRow(electrode_of(channel, sources), tuple(electrode_of(c, sources) for c in others))
    if channel.pair is not None and channel.type in SCALP_TYPES:
        first, second = channel.pair if row.sign > 0 else channel.pair[::-1]
        if sources.pairs(first, second)[0][0] is channel:
            return CustomRow(Electrode(first), (Electrode(second),))
    return CustomRow(electrode_of(channel, sources))


def electrode_of(channel: Channel, sources: Sources) -> Electrode:
    """How a channel is written down: by its place, where it is the one that holds the place's potential."""
    if channel.site and sources.site(channel.site) is channel:
        return Electrode(channel.site)
    return Electrode(channel.name, is_site=False)


def parse_electrode(text: str, sources: Sources | None = None) -> Electrode | None:
    """The electrode that a person typed: a channel of the recording, else a place on the head, else any name."""
    word = text.strip()
    if not word:
        return None
    if sources is not None:
        for channel in sources.recording.channels:
            if word.casefold() in (channel.name.casefold(), channel.original_name.strip().casefold()):
                return electrode_of(channel, sources)
    site = site_of(word)
    return Electrode(site) if site else Electrode(word, is_site=False)


def known_electrodes(sources: Sources) -> list[str]:
    """Names that a person may type, in the order of the montages and then of the file."""
    ordered = [channel.name for block in scalp_blocks(sources) for channel in block]
    return list(dict.fromkeys((*ordered, *sources.recording.ch_names)))
