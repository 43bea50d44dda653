"""Electrode sites of the 10-20, 10-10 and 10-05 systems: their names, aliases and template positions."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from itertools import product

Position = tuple[float, float, float]

# The old names of four 10-20 sites (ACNS guideline 2): the same places.
_RENAMED = {"T3": "T7", "T4": "T8", "T5": "P7", "T6": "P8"}
# Anterior temporal electrodes: read by clinicians, but no site of the 10-10 system and without a template position.
_WITHOUT_POSITION = ("T1", "T2")
EARS = frozenset({"A1", "A2", "M1", "M2"})


@cache
def template_positions() -> dict[str, Position]:
    """Template position of every named electrode in metres in the head frame (x right, y front, z up)."""
    document = json.loads((files("assets") / "electrode_positions.json").read_text("utf-8"))
    return {name: (x, y, z) for name, (x, y, z) in document["positions"].items()}


@cache
def _spellings() -> dict[str, str]:
    return {name.upper(): name for name in (*template_positions(), *_WITHOUT_POSITION)}


@cache
def spelling(text: str) -> str | None:
    """The proper spelling of an electrode name ("FP1" -> "Fp1", "t3" -> "T3", "01" -> "O1"); None for other words."""
    plain = text.replace(" ", "").upper()
    if plain in _spellings():
        return _spellings()[plain]
    if len(plain) > 5 or not set(plain) & {"0", "O"}:
        return None
    choices = [("O", "0") if c in "O0" else (c,) for c in plain]
    found = {_spellings()[word] for word in map("".join, product(*choices)) if word in _spellings()}
    return found.pop() if len(found) == 1 else None


@cache
def site_of(text: str) -> str | None:
    """The 10-10 site of an electrode name, whatever its spelling ("T3" -> "T7"); None where it names no electrode."""
    name = spelling(text)
    return _RENAMED.get(name, name) if name else None


def position_of(site: str) -> Position | None:
    """Template position of a site in metres in the head frame; None where the template has none."""
    return template_positions().get(site)


def midpoint(first: str, second: str) -> Position | None:
    """Where a channel between two sites is drawn: halfway, and at the first where the second is an ear or mastoid."""
    a, b = position_of(first), position_of(second)
    if a is None or second in EARS:
        return a
    if b is None:
        return None
    return ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2)
