"""Which colour each trace and its name have: by side, by lobe or shaft, or none."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.channel_labels import contact
from analysis.montage import Derivation
from analysis.recording import Channel
from viewers.theme import HUES

SIDES, SIDES_SWAPPED, BLACK, REGIONS = "sides", "sides-swapped", "black", "regions"
PRESETS = {
    SIDES: "Left blue, right red",
    SIDES_SWAPPED: "Left red, right blue",
    BLACK: "All black",
    REGIONS: "By lobe or shaft",
}
BAD_INK = "muted"
INKS = (BAD_INK, "other", "midline", "left", "right", *HUES)  # in the order in which they are drawn over each other
_SWAPPED = {"left": "right", "right": "left"}
# Hues by number. Longer beginnings come first: FT and TP lie over the temporal lobe, FC and CP over the central strip.
_FRONTAL, _TEMPORAL, _CENTRAL, _PARIETAL, _OCCIPITAL = 3, 1, 2, 4, 0
_LOBES = (
    *(("FT", _TEMPORAL), ("TP", _TEMPORAL), ("FC", _CENTRAL), ("CP", _CENTRAL), ("PO", _OCCIPITAL)),
    *(("AF", _FRONTAL), ("F", _FRONTAL), ("T", _TEMPORAL), ("C", _CENTRAL), ("P", _PARIETAL), ("O", _OCCIPITAL)),
)


def inks(preset: str, rows: Sequence[Derivation], channels: Sequence[Channel | None]) -> tuple[str, ...]:
    """The name of each row's colour, one of INKS; `channels` are those of the rows' first electrodes."""
    if preset == BLACK:
        return ("midline",) * len(rows)
    if preset == REGIONS:
        return _by_region(channels)
    sides = tuple(row.side for row in rows)
    return tuple(_SWAPPED.get(side, side) for side in sides) if preset == SIDES_SWAPPED else sides


def _by_region(channels: Sequence[Channel | None]) -> tuple[str, ...]:
    """Lobes have a hue each; shafts take the hues in turn, in the order in which they come."""
    shafts: dict[str, int] = {}
    found = []
    for channel in channels:
        number = _lobe(channel)
        if number is None and channel is not None and channel.is_brain and (name := contact(channel.name)) is not None:
            number = shafts.setdefault(name[0], len(shafts))
        found.append("other" if number is None else HUES[number % len(HUES)])
    return tuple(found)


def _lobe(channel: Channel | None) -> int | None:
    if channel is None or channel.type != "eeg":
        return None
    site = (channel.pair[0] if channel.pair else channel.site or "").upper()
    return next((number for start, number in _LOBES if site.startswith(start)), None)
