"""Units in the spellings that files use."""

from __future__ import annotations

import pytest

from analysis.readers.units import ascii_unit, decode_text, microvolts_per, standard_unit


@pytest.mark.parametrize(
    ("unit", "factor"),
    [
        ("uV", 1.0), ("µV", 1.0), ("μV", 1.0), ("UV", 1.0), (" uv ", 1.0), ("microvolts", 1.0), ("mV", 1e3),
        ("V", 1e6), ("Volt", 1e6), ("nV", 1e-3), ("%", None), ("", None), ("S", None), ("µS", None), ("bpm", None),
        ("mmHg", None),
    ],
)  # fmt: skip
def test_voltages(unit: str, factor: float | None) -> None:
    assert microvolts_per(unit) == factor
    assert standard_unit(unit) == (("uV", factor) if factor else (unit.strip(), 1.0))


def test_bytes_in_either_coding() -> None:
    assert decode_text(b"\xb5V      ") == decode_text("µV".encode()) == "µV"
    assert decode_text(b"Fz\0\0\0") == "Fz"
    assert decode_text(b"        ") == ""


def test_units_in_ascii() -> None:
    assert (ascii_unit("µS"), ascii_unit("μV"), ascii_unit("°C"), ascii_unit("Ω")) == ("uS", "uV", "degC", "?")
