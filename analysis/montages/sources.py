"""What a recording offers to montages: its electrodes, its recorded pairs, and the channels that must stay out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from analysis.electrodes import EARS, site_of
from analysis.errors import AnalysisError
from analysis.montages.derivation import Derivation
from analysis.recording import Channel, Recording

MARKED_BAD = "marked bad"
INTRACRANIAL_TYPES = frozenset({"seeg", "ecog"})
_NAMED = 8  # names in a note; more would not be read
# Electrodes that others are shown against: they do not give a difference its side.
_REFERENCES = EARS | {"T1", "T2"}
_POLYGRAPHY = ("ecg", "eog", "emg", "resp", "stim")


class Sources:
    """Channels of a recording by electrode; `left_out` names those that take no part in averages, with the reason."""

    def __init__(self, recording: Recording, left_out: Mapping[str, str] | None = None) -> None:
        self.recording = recording
        self.left_out = dict(left_out or {})
        self.brain = tuple(channel for channel in recording.channels if channel.is_brain)
        self._by_name = {channel.name: channel for channel in recording.channels}
        self._sites: dict[str, Channel] = {}
        self._pairs: dict[tuple[str, str], list[tuple[Channel, int]]] = {}
        for channel in self.brain:
            self._take(channel)

    def _take(self, channel: Channel) -> None:
        if channel.pair is not None:
            first, second = channel.pair
            self._pairs.setdefault((first, second), []).append((channel, 1))
            self._pairs.setdefault((second, first), []).append((channel, -1))
            return
        if not channel.site:
            return
        self._sites.setdefault(channel.site, channel)
        # Recorded against an electrode with a place, a channel is the difference of the two.
        reference = site_of(channel.reference) if channel.reference else None
        if reference:
            self._pairs.setdefault((channel.site, reference), []).append((channel, 1))
            self._pairs.setdefault((reference, channel.site), []).append((channel, -1))

    def channel(self, name: str) -> Channel | None:
        """A channel by its name, brain or not."""
        return self._by_name.get(name)

    def site(self, site: str) -> Channel | None:
        """The channel that holds the potential of an electrode; None where there is none, or only differences."""
        return self._sites.get(site)

    def pairs(self, first: str, second: str) -> list[tuple[Channel, int]]:
        """Channels that were recorded as `first` minus `second` (1) or the other way round (-1), the former first."""
        return sorted(self._pairs.get((first, second), ()), key=lambda found: -found[1])

    def referential(self, types: Iterable[str]) -> list[Channel]:
        """Channels of these types that hold the potential of one place of the brain, ears excepted, in file order."""
        wanted = frozenset(types)
        return [c for c in self.brain if c.type in wanted and c.pair is None and c.site not in EARS]

    def is_good(self, channel: Channel) -> bool:
        """Whether a channel may take part in an average."""
        return channel.name not in self.left_out

    def good_names(self, channels: Iterable[Channel]) -> tuple[str, ...]:
        """Names of the channels that may take part in an average."""
        return tuple(channel.name for channel in channels if self.is_good(channel))

    def notes_on(self, channels: Iterable[Channel]) -> list[str]:
        """Which of these channels are left out, by reason, in words."""
        by_reason: dict[str, list[str]] = {}
        for channel in channels:
            if not self.is_good(channel):
                by_reason.setdefault(self.left_out[channel.name], []).append(channel.name)
        return [f"left out, {reason}: {listed(names)}" for reason, names in by_reason.items()]

    def reference_note(self, rows: Iterable[Derivation]) -> list[str]:
        """A warning where a row subtracts channels that were recorded against different references."""
        names = {name for row in rows if row.cathode for name in (row.anode, *row.cathode)}
        known = {c.reference.casefold(): c.reference for c in self.brain if c.name in names and c.reference}
        if len(known) < 2:
            return []
        return [
            f"recorded against different references ({listed(list(known.values()))}), which the differences hold too"
        ]

    def polygraphy(self, block: int, shown: Iterable[str] = ()) -> tuple[Derivation, ...]:
        """Heart, eyes, muscle, breath, light and triggers as they were recorded, but for channels already `shown`."""
        taken = set(shown)
        found = [(rank, c) for c in self.recording.channels if (rank := _polygraphic_rank(c)) is not None]
        found.sort(key=lambda pair: pair[0])
        return tuple(Derivation(c.name, c.name, (), "other", block) for _, c in found if c.name not in taken)


def _polygraphic_rank(channel: Channel) -> int | None:
    if channel.type in _POLYGRAPHY:
        return _POLYGRAPHY.index(channel.type)
    is_light = channel.type == "misc" and "photic" in channel.original_name.casefold()
    return len(_POLYGRAPHY) if is_light else None


def refuse_if_bipolar(sources: Sources, name: str, types: Iterable[str]) -> None:
    """AnalysisError where every channel of these types is a difference, so that no electrode's potential is known."""
    wanted = frozenset(types)
    channels = [c for c in sources.brain if c.type in wanted]
    bipolar = [c.name for c in channels if c.pair is not None]
    if bipolar and len(bipolar) == len(channels):
        raise AnalysisError(
            f"{name} cannot be derived: the channels were recorded bipolar ({bipolar[0]}, …), "
            "so the potential at a single electrode is not known"
        )


def listed(names: Sequence[str]) -> str:
    """Names in a sentence, cut where there are too many to read."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def with_unique_names(rows: Iterable[Derivation]) -> tuple[Derivation, ...]:
    """Rows whose names occur once: "T8-P8" and "T8-P8 (2)"."""
    taken: set[str] = set()
    unique = []
    for row in rows:
        name = row.name
        numbers = count(2)
        while name in taken:
            name = f"{row.name} ({next(numbers)})"
        taken.add(name)
        unique.append(row if name == row.name else _renamed(row, name))
    return tuple(unique)


def _renamed(row: Derivation, name: str) -> Derivation:
    return Derivation(name, row.anode, row.cathode, row.side, row.block, row.sign)


def side_of(channel: Channel) -> str:
    """The side of a scalp channel: odd sites are left, even ones right, z midline; "other" for everything else."""
    if channel.type != "eeg":
        return "other"
    if channel.pair:
        return side_of_difference(*channel.pair)
    return parity(channel.site) if channel.site else "other"


def side_of_difference(first: str, second: str) -> str:
    """The side of `first` minus `second`: midline across it; an ear as reference, or the midline, does not count."""
    sides = {parity(first)} if second in _REFERENCES else {parity(first), parity(second)}
    if {"left", "right"} <= sides:
        return "midline"
    return next((side for side in ("left", "right", "midline") if side in sides), "other")


def parity(site: str) -> str:
    """The side that an electrode's name tells."""
    if site[-1] in "zZ":
        return "midline"
    digits = "".join(c for c in site if c.isdigit())
    if not digits:
        return "other"
    return "left" if int(digits) % 2 else "right"
