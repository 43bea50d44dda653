"""Which electrode and reference a channel's label means to NeurDuo-EEG, and where that electrode lies.

The rules are those of the published code. They know fewer spellings than our readers do: a label they cannot resolve
was dropped in pre-training.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

Position = tuple[float, float, float]

# Tags behind the hyphen that name a reference, and their row in the reference embedding; rows that none names were
# never trained. Fine-tuned models were given row 0 for every channel.
REFERENCE_IDS: Mapping[str, int] = {
    "": 0,
    "REF": 0,
    "LE": 1,
    "LER": 1,
    "A1": 10,
    "A2": 11,
    "M1": 12,
    "M2": 13,
    "AVG": 14,
    "AV": 14,
    "AR": 14,
    "CZ": 15,
}
# Heads that are no electrode of the brain, though the template has places for some of them.
_REJECTED = frozenset({"A1", "A2", "M1", "M2", "REF", "AVG", "GND", "GROUND"})


@dataclass(frozen=True)
class Electrode:
    """A resolved label: template name in capitals, reference tag ("" for none or an unknown one), its row."""

    site: str
    tag: str
    reference_id: int


@cache
def unit_positions() -> Mapping[str, Position]:
    """Direction of every template electrode from the template's origin, by name in capitals: x right, y front, z up."""
    document = json.loads((files("assets") / "neurduo_electrodes.json").read_text("utf-8"))
    return {name: (x, y, z) for name, (x, y, z) in document["positions"].items()}


def resolve_label(label: str) -> Electrode | None:
    """What a raw label means; None where it means no electrode.

    A derivation such as "F7-T7" is named by its first electrode, and one against Cz looks like a Cz reference.
    """
    head, tag = _split(label)
    if head in _REJECTED or head not in unit_positions():
        return None
    return Electrode(head, tag, REFERENCE_IDS[tag])


def reference_tag(label: str) -> str:
    """The reference tag of a raw label, also of one that means no electrode; "" for none."""
    return _split(label)[1]


def map_montage(labels: Iterable[str]) -> list[tuple[str, Electrode]]:
    """The labels that mean an electrode, in their order; of two for the same site the first."""
    found: dict[str, tuple[str, Electrode]] = {}
    for label in labels:
        electrode = resolve_label(label)
        if electrode is not None:
            found.setdefault(electrode.site, (label, electrode))
    return list(found.values())


def _split(label: str) -> tuple[str, str]:
    plain = label.strip().upper().replace("EEG ", "").replace("EEG", "").strip()
    head, _, tail = plain.partition("-")
    tail = tail.strip()
    return head.strip(), tail if tail in REFERENCE_IDS else ""
