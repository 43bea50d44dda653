"""Scalp montages that subtract electrodes by a list: bipolar chains and references."""

from __future__ import annotations

import re
from collections import Counter

from analysis.electrodes import EARS
from analysis.errors import AnalysisError
from analysis.montages.derivation import Derivation, Montage
from analysis.montages.lists import FIXED_ORDER, LISTS
from analysis.montages.sources import (
    Sources,
    lacking_sentence,
    listed,
    parity,
    refuse_if_bipolar,
    side_of_difference,
    with_unique_names,
)
from analysis.recording import SCALP_TYPES, Channel

# Near an ear lobe, but not the same place: taken where the lobes were not recorded, and always said.
SUBSTITUTES = {"A1": ("M1", "TP9"), "A2": ("M2", "TP10")}
_LINKED_EARS = ("A1", "A2")
_LINKED_WORDS = frozenset({"le", "ler", "a1a2", "a1+a2", "(a1+a2)/2", "a12"})
_LEAST_ROWS = 8

Pair = tuple[str, tuple[str, ...]]
"""Input 1 and the electrodes whose mean is input 2."""


def parse_list(text: str) -> tuple[tuple[Pair, ...], ...]:
    """Blocks of pairs from a list such as "Fp1-F7 F7-T7 | Fz-A1+A2"."""
    return tuple(tuple(_parse_pair(word) for word in block.split()) for block in text.split("|"))


def _parse_pair(word: str) -> Pair:
    anode, _, cathode = word.partition("-")
    return anode, tuple(cathode.split("+"))


def right_before_left(blocks: tuple[tuple[Pair, ...], ...]) -> tuple[tuple[Pair, ...], ...]:
    """Blocks with each in the place of its mirror image; a block without one, as across the head, stays."""
    by_rows = {frozenset(block): block for block in blocks}
    return tuple(by_rows.get(frozenset(_mirrored(pair) for pair in block), block) for block in blocks)


def _mirrored(pair: Pair) -> Pair:
    return mirrored_site(pair[0]), tuple(mirrored_site(site) for site in pair[1])


def mirrored_site(site: str) -> str:
    """The electrode at the same place on the other side of the head."""
    return re.sub(r"\d+$", lambda number: str(int(number[0]) + (1 if int(number[0]) % 2 else -1)), site)


def chain_montage(name: str, sources: Sources, right_first: bool = False) -> Montage:
    """A montage of LISTS from single electrodes, or from channels recorded so; AnalysisError where most is missing."""
    blocks = parse_list(LISTS[name])
    if right_first and name not in FIXED_ORDER:
        blocks = right_before_left(blocks)
    maker = PairMaker(sources)
    rows = []
    for number, block in enumerate(blocks):
        rows += [row for pair in block if (row := maker.row(pair, number)) is not None]
    total = sum(map(len, blocks))
    if len(rows) < min(_LEAST_ROWS, (total + 1) // 2):
        refuse_if_bipolar(sources, name, SCALP_TYPES)
        absences = sources.absences(maker.lacking(blocks))
        raise AnalysisError(lacking_sentence(name, absences, total - len(rows), total))
    notes = maker.notes() + sources.reference_note(rows)
    tail = sources.polygraphy(len(blocks))
    return Montage(name, with_unique_names(rows) + tail, "; ".join(notes))


class PairMaker:
    """Makes rows of pairs of electrodes one after another, and remembers what must be said of them."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._uses: Counter[tuple[str, str]] = Counter()
        self._averaged: dict[str, Channel] = {}
        self._missing: dict[str, list[str]] = {}
        self._turned: list[str] = []
        self._stands_in: dict[str, str] = {}

    def row(self, pair: Pair, block: int) -> Derivation | None:
        """The row of a pair, or None (and a remark) where it cannot be derived."""
        row = self.try_row(pair, block)
        if row is None:
            why = self._sources.why_absent(pair[0], *pair[1])
            self._missing.setdefault(why, []).append(f"{pair[0]}-{''.join(pair[1])}")
        return row

    def try_row(self, pair: Pair, block: int) -> Derivation | None:
        """The row of a pair, or None where it cannot be derived."""
        anode, cathodes = pair
        return self._difference(anode, cathodes[0], block) if len(cathodes) == 1 else self._mean(anode, cathodes, block)

    def notes(self) -> list[str]:
        """What a reader must be told of rows that are missing, or not exactly those that were asked for."""
        said = []
        if self._stands_in:
            used, wanted = listed(list(self._stands_in.values())), listed(list(self._stands_in))
            said.append(f"{used} for {wanted}, which the recording does not have: near, but not the same place")
        if self._turned:
            said.append(f"sign turned, recorded the other way round: {listed(self._turned)}")
        said += [f"{reason}: {listed(rows)}" for reason, rows in self._missing.items()]
        return said + self._sources.notes_on(self._averaged.values())

    def lacking(self, blocks: tuple[tuple[Pair, ...], ...]) -> list[str]:
        """Electrodes of a list whose potential the recording does not hold, nor that of a substitute."""
        sites = dict.fromkeys(site for block in blocks for anode, cathodes in block for site in (anode, *cathodes))
        return [site for site in sites if self._nearest(site) is None]

    def _difference(self, anode: str, cathode: str, block: int) -> Derivation | None:
        side = side_of_difference(cathode, anode) if anode in EARS else side_of_difference(anode, cathode)
        for first in (anode, *SUBSTITUTES.get(anode, ())):
            for second in (cathode, *SUBSTITUTES.get(cathode, ())):
                row = self._exact(first, second, side, block)
                if row is not None:
                    self._say_substitutes({anode: first, cathode: second})
                    return row
        return None

    def _exact(self, anode: str, cathode: str, side: str, block: int) -> Derivation | None:
        first, second = self._sources.site(anode), self._sources.site(cathode)
        if first is not None and second is not None:
            return Derivation(f"{first.name}-{second.name}", first.name, (second.name,), side, block)
        recorded = self._sources.pairs(anode, cathode)
        if not recorded:
            return None
        # A list that names a pair twice, as CHB-MIT does, gets both where both were recorded.
        channel, sign = recorded[min(self._uses[anode, cathode], len(recorded) - 1)]
        self._uses[anode, cathode] += 1
        label = _label_of_recorded(channel, sign)
        if sign < 0 and channel.pair is not None:
            self._turned.append(label)
        return Derivation(label, channel.name, (), side, block, sign)

    def _mean(self, anode: str, cathodes: tuple[str, ...], block: int) -> Derivation | None:
        """Minus the mean of two ears (the good one, where the other is bad), or as recorded against linked ears."""
        first = self._sources.site(anode)
        if first is None:
            return None
        places = {site: self._nearest(site) for site in cathodes}
        used = [place for place in places.values() if place is not None]
        if len(used) == len(cathodes):
            self._say_substitutes({site: place for site, place in places.items() if place is not None})
            channels = [channel for place in used if (channel := self._sources.site(place)) is not None]
            self._averaged |= {channel.name: channel for channel in channels}
            names = self._sources.good_names(channels) or tuple(channel.name for channel in channels)
            label = f"{first.name}-{''.join(channel.name for channel in channels)}"
            return Derivation(label, first.name, names, parity(anode), block)
        if cathodes == _LINKED_EARS and (first.reference or "").casefold() in _LINKED_WORDS:
            return Derivation(f"{first.name}-{first.reference}", first.name, (), parity(anode), block)
        return None

    def _nearest(self, site: str) -> str | None:
        """The electrode, or the substitute, whose potential is known."""
        return next((place for place in (site, *SUBSTITUTES.get(site, ())) if self._sources.site(place)), None)

    def _say_substitutes(self, used: dict[str, str]) -> None:
        self._stands_in |= {wanted: place for wanted, place in used.items() if place != wanted}


def _label_of_recorded(channel: Channel, sign: int) -> str:
    """What a recorded difference is called in the sense in which it is shown, in the file's own spelling."""
    if channel.pair is None:
        first, second = channel.name, channel.reference or ""
    elif sign > 0:
        return channel.name
    else:
        first, _, second = re.sub(r" \(\d+\)$", "", channel.name).partition("-")
        first, second = (first, second) if second else channel.pair
    return f"{first}-{second}" if sign > 0 else f"{second}-{first}"
