"""What a recording offers to montages: its electrodes, its recorded pairs, and the channels that must stay out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from analysis.channel_labels import parse_label
from analysis.channel_quality import NOT_CALIBRATED
from analysis.electrodes import EARS, site_of
from analysis.errors import AnalysisError
from analysis.montages.derivation import Derivation
from analysis.recording import BRAIN_TYPES, Channel, Recording

MARKED_BAD = "marked bad"
INTRACRANIAL_TYPES = frozenset({"seeg", "ecog"})
NOT_RECORDED = "not in the recording"
_NAMED = 8  # names in a note; more would not be read
_EXAMPLES = 3
# Electrodes that others are shown against: they do not give a difference its side.
_REFERENCES = EARS | {"T1", "T2"}
_POLYGRAPHY = ("ecg", "eog", "emg", "resp", "stim")
# What of "misc" is a sense of the body that a reader looks for beside the brain; never an input without a meaning.
_SLOW_BODY = re.compile(r"^s[ap]o2|^o2 ?sat|^osat|^hr$|^pr$|pulse|^temp|co2", re.IGNORECASE)


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
        return [f"left out, {words}" for words in self.faults_of(channels)]

    def faults_of(self, channels: Iterable[Channel]) -> list[str]:
        """Those of these channels that are left out, by reason, such as "marked bad: F7, T7"."""
        bad = {channel.name: self.left_out[channel.name] for channel in channels if not self.is_good(channel)}
        return _by_reason(bad)

    def absences(self, sites: Iterable[str]) -> list[str]:
        """Why the potentials of these electrodes are not known, by reason, such as "not calibrated: Fz"."""
        return _by_reason({site: self.why_absent(site) for site in sites})

    def why_absent(self, *sites: str) -> str:
        """Why an electrode, or the difference of electrodes, is not known: not recorded, or not calibrated."""
        wanted = set(sites)
        faulty = (c for c in self.recording.channels if c.type in BRAIN_TYPES and not c.calibrated)
        known = any(c.site in wanted or (c.pair is not None and wanted == set(c.pair)) for c in faulty)
        return NOT_CALIBRATED if known else NOT_RECORDED

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
        """Heart, eyes, muscle, breath, triggers, light, oxygen and pulse as recorded, but for those already `shown`."""
        taken = set(shown)
        found = [(rank, c) for c in self.recording.channels if (rank := _polygraphic_rank(c)) is not None]
        found.sort(key=lambda pair: pair[0])
        return tuple(Derivation(c.name, c.name, (), "other", block) for _, c in found if c.name not in taken)


def _polygraphic_rank(channel: Channel) -> int | None:
    if channel.type in _POLYGRAPHY:
        return _POLYGRAPHY.index(channel.type)
    if channel.type != "misc":
        return None
    if "photic" in channel.original_name.casefold():
        return len(_POLYGRAPHY)
    return len(_POLYGRAPHY) + 1 if _SLOW_BODY.search(parse_label(channel.original_name).body) else None


def unshown_note(sources: Sources, rows: Iterable[Derivation]) -> str:
    """How many channels of no known kind, such as free inputs of the recorder, have no row."""
    shown = {row.anode for row in rows}
    rest = [c.name for c in sources.recording.channels if c.type == "misc" and c.name not in shown]
    if not rest:
        return ""
    names = ", ".join(rest[:_EXAMPLES]) + (", …" if len(rest) > _EXAMPLES else "")
    are = "1 channel of unknown kind is" if len(rest) == 1 else f"{len(rest)} channels of unknown kind are"
    return f"{are} not shown: {names}"


def lacking_sentence(name: str, absences: Sequence[str], lost: int, total: int) -> str:
    """Why a montage is refused that has lost `lost` of its `total` rows to electrodes that are not known."""
    reason, _, names = absences[0].partition(": ") if len(absences) == 1 else ("", "", "")
    if reason == NOT_RECORDED:
        need = f"electrodes that are not in the recording ({names})"
    else:
        need = f"electrodes whose potential is not known ({'; '.join(absences)})"
    return f"{name} needs {need}: {lost} of {total} rows are missing"


def _by_reason(reasons: Mapping[str, str]) -> list[str]:
    """Names with a reason each as "reason: names", a reason at a time."""
    names: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        names.setdefault(reason, []).append(name)
    return [f"{reason}: {listed(found)}" for reason, found in names.items()]


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
