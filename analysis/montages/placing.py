"""In which order electrodes stand where each has a row of its own: by region on the head, by shaft in the brain."""

from __future__ import annotations

import re

from analysis.channel_labels import contact
from analysis.montages.lists import SITE_BLOCKS, TEN_TWENTY
from analysis.montages.sources import INTRACRANIAL_TYPES, Sources
from analysis.recording import SCALP_TYPES, Channel

# So many electrodes beside the 10-20 system make a cap whose rows keep the file's order, and whose neighbours are near.
DENSE_EXTRAS = 8


def is_dense(sources: Sources) -> bool:
    """Whether a recording has many scalp electrodes beside those of the 10-20 system."""
    return len([c for c in sources.referential(SCALP_TYPES) if c.site not in TEN_TWENTY]) >= DENSE_EXTRAS


def scalp_blocks(sources: Sources, right_first: bool = False) -> list[list[Channel]]:
    """Scalp electrodes by region from left to right, others after them; those of a dense cap in the file's order."""
    channels = sources.referential(SCALP_TYPES)
    if is_dense(sources):
        return [channels]
    by_site = {channel.site: channel for channel in reversed(channels)}
    regions = reversed(SITE_BLOCKS) if right_first else SITE_BLOCKS
    blocks = [[by_site[site] for site in region.split() if site in by_site] for region in regions]
    placed = {channel.name for block in blocks for channel in block}
    blocks.append([channel for channel in channels if channel.name not in placed])
    return [block for block in blocks if block]


def shaft_of(channel: Channel) -> tuple[str, int] | None:
    """Shaft letters (in capitals) and number of an intracranial contact; None where the name has another form."""
    found = contact(channel.name)
    return (found[0].upper(), found[1]) if found else None


def shafts(sources: Sources) -> dict[str, dict[int, Channel]]:
    """Contacts that hold a potential, by shaft in the order of the file and by number rising along the shaft."""
    groups: dict[str, dict[int, Channel]] = {}
    for channel in sources.referential(INTRACRANIAL_TYPES):
        place = shaft_of(channel)
        if place is not None:
            groups.setdefault(place[0], {}).setdefault(place[1], channel)
    return {letters: dict(sorted(contacts.items())) for letters, contacts in groups.items()}


def intracranial_blocks(sources: Sources) -> list[list[Channel]]:
    """Contacts by shaft, A2 before A10; what is on no shaft stands behind, sorted by name as people count."""
    blocks = [list(contacts.values()) for contacts in shafts(sources).values()]
    placed = {channel.name for block in blocks for channel in block}
    rest = [channel for channel in sources.referential(INTRACRANIAL_TYPES) if channel.name not in placed]
    return [*blocks, sorted(rest, key=lambda channel: natural_key(channel.name))] if rest else blocks


def natural_key(name: str) -> list[tuple[int, int | str]]:
    """A key by which A2 comes before A10."""
    parts = re.split(r"(\d+)", name.casefold())
    return [(0, int(part)) if part.isdigit() else (1, part) for part in parts if part]
