"""Physical units as recording files spell them."""

from __future__ import annotations

import unicodedata

MICROVOLTS = "uV"
_PADDING = " \0\t\r\n"

_MICROVOLTS_PER = {
    "v": 1e6,
    "mv": 1e3,
    "uv": 1.0,
    "nv": 1e-3,
    "volt": 1e6,
    "millivolt": 1e3,
    "microvolt": 1.0,
    "nanovolt": 1e-3,
}


def decode_text(raw: bytes) -> str:
    """Text of a header field, which is UTF-8 where it can be and Latin-1 otherwise, without padding."""
    try:
        return raw.decode("utf-8").strip(_PADDING)
    except UnicodeDecodeError:
        return raw.decode("latin-1").strip(_PADDING)


def microvolts_per(unit: str) -> float | None:
    """How many microvolts one of `unit` is; None for a unit that is no voltage."""
    plain = unicodedata.normalize("NFKC", unit).replace("\N{GREEK SMALL LETTER MU}", "u").strip().lower()
    return _MICROVOLTS_PER.get(plain) or _MICROVOLTS_PER.get(plain.removesuffix("s"))


def standard_unit(unit: str) -> tuple[str, float]:
    """The unit in which values are delivered and the factor that brings them there: microvolts for every voltage."""
    factor = microvolts_per(unit)
    return (unit.strip(), 1.0) if factor is None else (MICROVOLTS, factor)


def ascii_unit(unit: str) -> str:
    """The unit in the US-ASCII that EDF+ headers allow."""
    plain = unicodedata.normalize("NFKC", unit).replace("\N{GREEK SMALL LETTER MU}", "u").replace("°", "deg")
    return plain.encode("ascii", "replace").decode()
