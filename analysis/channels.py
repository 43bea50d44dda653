"""Channel names, types, sites and places, worked out from the labels of a whole recording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from analysis.channel_labels import Label, contact, is_electrode, kind_of_word, parse_label
from analysis.electrodes import EARS, Position, midpoint, position_of, site_of, spelling
from analysis.recording import Channel

MICROVOLTS = "uV"
MIN_SHAFT_CONTACTS = 3
MIN_COMMON_REFERENCE = 4
# A shaft rarely has more contacts than this; more of one name are a grid on the cortex.
MAX_SHAFT_CONTACTS = 18
_INTRACRANIAL_PREFIXES = {"SEEG": "seeg", "IEEG": "seeg", "ECOG": "ecog"}


@dataclass(frozen=True)
class RawChannel:
    """What a file says of one channel, in the file's own words; `unit` is the one in which values are delivered.

    `kind` is a type the file states outright; `position` is in metres in the head frame; `acquisition` is equal for
    channels that were recorded alike.
    """

    label: str
    unit: str
    sfreq: float
    kind: str | None = None
    position: Position | None = None
    reference: str | None = None
    prefilter: str = ""
    acquisition: tuple[object, ...] = ()
    calibrated: bool = True


def build_channels(raw: Sequence[RawChannel]) -> tuple[Channel, ...]:
    """Channels with clean, unique names, typed and placed (clinical conventions, section 1), in the file's order."""
    labels = [parse_label(channel.label) for channel in raw]
    scene = _Scene(labels, raw)
    drafts = [scene.channel(label, channel) for label, channel in zip(labels, raw, strict=True)]
    return _with_unique_names(drafts)


class _Scene:
    """What the labels of a recording say together, which no label says alone."""

    def __init__(self, labels: Sequence[Label], raw: Sequence[RawChannel]) -> None:
        self._references = _common_references(labels)
        groups = _contacts_by_group(labels)
        self._shafts = _shafts(groups)
        self._cap = _cap_groups(labels, groups)
        self._implant = "ecog" if any(n > MAX_SHAFT_CONTACTS for n in self._shafts.values()) else "seeg"
        self._poly_is_other = _counts_scalp_without_pol(labels) >= MIN_COMMON_REFERENCE
        known = [c for label, c in zip(labels, raw, strict=True) if self._is_known_scalp(label, c)]
        self._few_known = len(known) < 2
        self._acquisitions = {(c.unit, c.sfreq, c.acquisition) for c in known}

    def channel(self, label: Label, raw: RawChannel) -> Channel:
        """The channel of one label."""
        reference = label.reference or raw.reference or self._reference_of(label)
        pair = self._pair(label)
        kind = self._kind(label, raw)
        name = self._name(label, kind)
        site = None if pair or kind != "eeg" or self._contact_group(label.head) else site_of(label.head)
        return Channel(
            name=name,
            original_name=raw.label,
            type=kind,
            unit=raw.unit,
            sfreq=raw.sfreq,
            position=raw.position or self._position(kind, site, pair),
            site=site,
            pair=pair if kind in ("eeg", "ecog", "seeg") else None,
            reference=reference,
            prefilter=raw.prefilter,
            calibrated=raw.calibrated,
        )

    def _position(self, kind: str, site: str | None, pair: tuple[str, str] | None) -> Position | None:
        if kind != "eeg":
            return None
        if pair:
            return midpoint(*pair)
        return position_of(site) if site else None

    def _reference_of(self, label: Label) -> str | None:
        return label.tail if label.tail and label.tail.upper() in self._references else None

    def _pair(self, label: Label) -> tuple[str, str] | None:
        if not label.tail or self._reference_of(label):
            return None
        if self._contact_group(label.head):
            return label.head, label.tail
        first, second = site_of(label.head), site_of(label.tail)
        return (first, second) if first and second else None

    def _contact_group(self, word: str) -> str | None:
        """The shaft or cap group of a word; None for scalp electrodes and everything else."""
        found = contact(word)
        group = found[0].upper() if found else ""
        return group if group in self._shafts or group in self._cap else None

    def _kind(self, label: Label, raw: RawChannel) -> str:
        if raw.kind not in (None, "eeg"):
            return raw.kind or "misc"
        told = kind_of_word(label.head) or kind_of_word(label.prefix)
        if told in ("stim", "resp"):
            return told
        if raw.unit != MICROVOLTS and raw.calibrated:
            return "misc"
        if label.prefix in _INTRACRANIAL_PREFIXES and told is None:
            return _INTRACRANIAL_PREFIXES[label.prefix]
        if self._contact_group(label.head):
            return "eeg" if self._contact_group(label.head) in self._cap else self._implant
        if told:
            return told
        if label.prefix == "POL" and self._poly_is_other:
            return "misc"
        return self._kind_of_the_rest(label, raw)

    def _kind_of_the_rest(self, label: Label, raw: RawChannel) -> str:
        if raw.kind or self._is_known_scalp(label, raw) or label.prefix == "EEG" or self._few_known:
            return "eeg"
        return "eeg" if (raw.unit, raw.sfreq, raw.acquisition) in self._acquisitions else "misc"

    def _is_known_scalp(self, label: Label, raw: RawChannel) -> bool:
        if raw.unit != MICROVOLTS and raw.calibrated:
            return False
        group = self._contact_group(label.head)
        return group in self._cap if group else site_of(label.head) is not None

    def _name(self, label: Label, kind: str) -> str:
        if self._contact_group(label.head):
            return label.head if self._reference_of(label) or not label.tail else f"{label.head}-{label.tail}"
        if kind == "misc" and not site_of(label.head):
            return label.head or "unnamed"
        head = spelling(label.head) or label.head
        if label.tail and not self._reference_of(label):
            return f"{head}-{spelling(label.tail) or label.tail}"
        return head or "unnamed"


def _common_references(labels: Iterable[Label]) -> frozenset[str]:
    """Second electrodes that most channels share: these are references, not partners (all against Cz, say).

    Two different ears are no common reference: a difference of such channels would hold the ears as well.
    """
    tails = Counter(label.tail.upper() for label in labels if label.tail)
    if len(EARS & tails.keys()) > 1:
        return frozenset()
    total = sum(tails.values())
    return frozenset(tail for tail, n in tails.items() if n >= MIN_COMMON_REFERENCE and n > total / 2)


def _contacts_by_group(labels: Iterable[Label]) -> dict[str, set[int]]:
    groups: dict[str, set[int]] = {}
    for label in labels:
        for word in (label.head, label.tail):
            found = contact(word) if word else None
            if found:
                groups.setdefault(found[0].upper(), set()).add(found[1])
    return groups


def _shafts(groups: dict[str, set[int]]) -> dict[str, int]:
    """Letters of intracranial shafts and their number of contacts; empty where the names are those of a scalp cap."""
    if _is_one_net(groups):
        return {}
    strange = {g: n for g, n in groups.items() if not all(site_of(f"{g}{i}") for i in n)}
    if not any(len(numbers) >= MIN_SHAFT_CONTACTS for numbers in strange.values()):
        return {}
    if sum(len(numbers) for numbers in strange.values()) < 2 * MIN_SHAFT_CONTACTS:
        return {}
    both = {g: n for g, n in groups.items() if g not in strange and set(range(1, 5)) <= n}
    return {group: len(numbers) for group, numbers in (strange | both).items()}


def _is_one_net(groups: dict[str, set[int]]) -> bool:
    """Whether the names are E1, E2, … of a scalp net, which has many electrodes of one letter and no other group."""
    return set(groups) == {"E"} and len(groups["E"]) > MAX_SHAFT_CONTACTS


def _cap_groups(labels: Sequence[Label], groups: dict[str, set[int]]) -> frozenset[str]:
    """Letters of a scalp cap that numbers its electrodes; for A1…, B1… BioSemi's Status channel is the evidence."""
    if _is_one_net(groups):
        return frozenset(groups)
    if any(label.body.upper() == "STATUS" for label in labels):
        return _biosemi_groups(groups)
    return frozenset()


def _biosemi_groups(groups: dict[str, set[int]]) -> frozenset[str]:
    """Letters of BioSemi's A1…, B1… caps: sets of 16 or 32 from A on, of which the last may be smaller."""
    letters = sorted(g for g in groups if len(g) == 1)
    expected = [chr(ord("A") + i) for i in range(len(letters))]
    sizes = [len(groups[g]) for g in letters]
    if len(letters) < 2 or letters != expected or sizes[0] not in (16, 32) or len(set(sizes[:-1])) != 1:
        return frozenset()
    return frozenset(letters)


def _counts_scalp_without_pol(labels: Iterable[Label]) -> int:
    return sum(1 for label in labels if label.prefix != "POL" and is_electrode(label.head) and site_of(label.head))


def _with_unique_names(channels: Sequence[Channel]) -> tuple[Channel, ...]:
    seen: Counter[str] = Counter()
    taken = {channel.name for channel in channels}
    unique: list[Channel] = []
    for channel in channels:
        seen[channel.name] += 1
        name = channel.name
        number = seen[channel.name]
        while number > 1 and (name := f"{channel.name} ({number})") in taken:
            number += 1
        taken.add(name)
        unique.append(channel if name == channel.name else replace(channel, name=name))
    return tuple(unique)
