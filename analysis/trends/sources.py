"""Which differences of electrodes the trends are computed from: the same ones whatever montage is on the screen."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from analysis.channel_labels import contact
from analysis.channel_quality import OK, ChannelQuality
from analysis.electrodes import EARS
from analysis.errors import AnalysisError
from analysis.recording import SCALP_TYPES, Channel, Recording

LEFT, RIGHT, ALL = "left", "right", "all"
BIPOLAR = "bipolar derivations"
SHAFTS = "neighbouring contacts of each shaft"
REFERENTIAL = "channels as recorded"

# The left half of LB-18.1; the right half is its mirror image.
_LEFT_PAIRS = (
    ("Fp1", "F7"),
    ("F7", "T7"),
    ("T7", "P7"),
    ("P7", "O1"),
    ("Fp1", "F3"),
    ("F3", "C3"),
    ("C3", "P3"),
    ("P3", "O1"),
)
_LEAST_PAIRS = 3
_MIDLINE_METRES = 0.005
_SITE = re.compile(r"^([A-Za-z]+)(\d+)$")


@dataclass(frozen=True)
class TrendRow:
    """One difference: channel number `anode` minus channel number `cathode` (-1: as recorded)."""

    name: str
    anode: int
    cathode: int = -1


@dataclass(frozen=True)
class TrendGroup:
    """Rows that are averaged together; `name` is "left", "right" or "all"."""

    name: str
    rows: tuple[TrendRow, ...]


@dataclass(frozen=True)
class TrendSources:
    """Groups of rows, what these are in words, and the channels left out: (name, reason)."""

    groups: tuple[TrendGroup, ...]
    kind: str
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """Row names by group."""
        return tuple(tuple(row.name for row in group.rows) for group in self.groups)


def choose_sources(
    recording: Recording, quality: Mapping[str, ChannelQuality], bad: Collection[str] = ()
) -> TrendSources:
    """Choose the rows of each side; AnalysisError where no channel can be used.

    Scalp EEG: the longitudinal bipolar derivations whose mirror image can be had as well, so that the sides compare
    like with like; else electrodes with their mirror image, as recorded; else the sides of their positions.
    Intracranial EEG: neighbouring contacts along each shaft, by side where names or positions tell it. Else all
    channels as one group. Channels that are faulty in `quality` or named in `bad` take no part.
    """
    left_out: dict[str, str] = {}
    picks = _usable(recording, quality, bad, left_out)
    if not picks:
        raise AnalysisError(f"there are no trends ({recording.path}): no channel of brain signal can be used")
    channels = recording.channels
    scalp = channels[picks[0]].type in SCALP_TYPES
    groups, kind = _scalp_groups(channels, picks) if scalp else _shaft_groups(channels, picks)
    return TrendSources(groups, kind, tuple(left_out.items()))


def _usable(
    recording: Recording, quality: Mapping[str, ChannelQuality], bad: Collection[str], left_out: dict[str, str]
) -> list[int]:
    """Numbers of the good brain channels of the commoner kind; fills `left_out` with the others of the brain."""
    good: list[int] = []
    for pick, channel in enumerate(recording.channels):
        if not channel.is_brain or channel.site in EARS:
            continue
        state = quality[channel.name].state if channel.name in quality else OK
        if channel.name in bad:
            left_out[channel.name] = "marked bad"
        elif state != OK:
            left_out[channel.name] = state
        else:
            good.append(pick)
    scalp = [pick for pick in good if recording.channels[pick].type in SCALP_TYPES]
    depth = [pick for pick in good if pick not in scalp]
    kept, others = (scalp, depth) if len(scalp) > len(depth) else (depth, scalp)
    reason = "intracranial beside scalp EEG" if kept is scalp else "scalp EEG beside intracranial channels"
    left_out.update({recording.channels[pick].name: reason for pick in others})
    return kept


def mirror(site: str) -> str:
    """The site on the other side of the head ("F7" -> "F8"); midline sites are their own mirror image."""
    match = _SITE.match(site)
    if match is None:
        return site
    number = int(match[2])
    return f"{match[1]}{number + 1 if number % 2 else number - 1}"


# Scalp EEG


def _scalp_groups(channels: Sequence[Channel], picks: Sequence[int]) -> tuple[tuple[TrendGroup, ...], str]:
    derive = _Derive(channels, picks)
    found = [(derive(pair), derive((mirror(pair[0]), mirror(pair[1])))) for pair in _LEFT_PAIRS]
    both = [(a, z) for a, z in found if a is not None and z is not None]
    if len(both) >= _LEAST_PAIRS:
        return _two([a for a, _ in both], [z for _, z in both]), BIPOLAR
    odd = [site for site in derive.by_site if _is_odd(site) and mirror(site) in derive.by_site]
    if odd:
        return _two(
            [_single(channels, derive.by_site[site]) for site in odd],
            [_single(channels, derive.by_site[mirror(site)]) for site in odd],
        ), REFERENTIAL
    sides = {pick: _side_of_position(channels[pick]) for pick in picks}
    return _by_side([_single(channels, pick) for pick in picks], sides), REFERENTIAL


class _Derive:
    """Makes rows of pairs of sites, from two electrodes or from a channel that was recorded so; None: neither."""

    def __init__(self, channels: Sequence[Channel], picks: Iterable[int]) -> None:
        self.by_site: dict[str, int] = {}
        self._by_pair: dict[tuple[str, str], int] = {}
        self._channels = channels
        for pick in picks:
            channel = channels[pick]
            if channel.pair is not None:
                self._by_pair.setdefault(channel.pair, pick)
            elif channel.site is not None:
                self.by_site.setdefault(channel.site, pick)

    def __call__(self, pair: tuple[str, str]) -> TrendRow | None:
        if pair in self._by_pair:
            return _single(self._channels, self._by_pair[pair])
        if pair[0] not in self.by_site or pair[1] not in self.by_site:
            return None
        anode, cathode = self.by_site[pair[0]], self.by_site[pair[1]]
        return TrendRow(f"{self._channels[anode].name}-{self._channels[cathode].name}", anode, cathode)


def _is_odd(site: str) -> bool:
    match = _SITE.match(site)
    return match is not None and int(match[2]) % 2 == 1


def _single(channels: Sequence[Channel], pick: int) -> TrendRow:
    return TrendRow(channels[pick].name, pick)


def _two(left: Iterable[TrendRow], right: Iterable[TrendRow]) -> tuple[TrendGroup, ...]:
    return TrendGroup(LEFT, tuple(left)), TrendGroup(RIGHT, tuple(right))


def _side_of_position(channel: Channel) -> str:
    if channel.position is None or abs(channel.position[0]) < _MIDLINE_METRES:
        return ""
    return LEFT if channel.position[0] < 0 else RIGHT


def _by_side(rows: Sequence[TrendRow], sides: Mapping[int, str]) -> tuple[TrendGroup, ...]:
    """Rows by the side of their anode, the midline apart; one group where not both sides can be told apart."""
    by_side = {side: tuple(row for row in rows if sides[row.anode] == side) for side in (LEFT, RIGHT)}
    if all(by_side.values()):
        return tuple(TrendGroup(side, own) for side, own in by_side.items())
    only = next((side for side, own in by_side.items() if len(own) == len(rows)), ALL)
    return (TrendGroup(only, tuple(rows)),)


# Intracranial EEG


def _shaft_groups(channels: Sequence[Channel], picks: Sequence[int]) -> tuple[tuple[TrendGroup, ...], str]:
    shafts = _shafts(channels, picks)
    rows: list[TrendRow] = []
    for contacts in shafts.values():
        numbers = sorted(contacts)
        for inner, outer in pairwise(numbers):
            if outer == inner + 1:  # never over a missing or faulty contact
                a, z = contacts[inner], contacts[outer]
                rows.append(TrendRow(f"{channels[a].name}-{channels[z].name}", a, z))
    sides = _sides(channels, picks, shafts)
    if rows:
        return _by_side(rows, sides), SHAFTS
    return _by_side([_single(channels, pick) for pick in picks], sides), REFERENTIAL


def _shafts(channels: Sequence[Channel], picks: Iterable[int]) -> dict[str, dict[int, int]]:
    """Contacts by the letters of their shaft and their number, of channels that hold one contact each."""
    shafts: dict[str, dict[int, int]] = {}
    for pick in picks:
        found = contact(channels[pick].name) if channels[pick].pair is None else None
        if found is not None:
            shafts.setdefault(found[0].upper(), {}).setdefault(found[1], pick)
    return shafts


def _sides(
    channels: Sequence[Channel], picks: Sequence[int], shafts: Mapping[str, Mapping[int, int]]
) -> dict[int, str]:
    """Side of every channel by its position, by the prime of a left shaft, or by shafts that all begin with L or R."""
    sides = {pick: _side_of_position(channels[pick]) for pick in picks}
    if any(sides.values()):
        return sides
    primed = any(name.endswith("'") for name in shafts)
    lettered = len(shafts) > 1 and all(len(name) > 1 and name[0] in "LR" for name in shafts)
    for name, contacts in shafts.items():
        if primed:
            side = LEFT if name.endswith("'") else RIGHT
        elif lettered:
            side = LEFT if name[0] == "L" else RIGHT
        else:
            side = ""
        sides.update(dict.fromkeys(contacts.values(), side))
    return sides
