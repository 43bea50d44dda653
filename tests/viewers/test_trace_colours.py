"""Which colour a trace has: its side's, its lobe's or shaft's, or black."""

from __future__ import annotations

import pytest

from analysis.montage import Derivation
from analysis.recording import Channel
from viewers.theme import HUES, THEMES
from viewers.trace_colours import BLACK, INKS, REGIONS, SIDES, SIDES_SWAPPED, inks

ROWS = (
    Derivation("F7-T7", "F7", ("T7",), "left"),
    Derivation("F8-T8", "F8", ("T8",), "right"),
    Derivation("Fz-Cz", "Fz", ("Cz",), "midline"),
    Derivation("ECG", "ECG"),
)


def scalp(name: str, kind: str = "eeg", **changes: object) -> Channel:
    return Channel(name, name, kind, "uV", 200.0, site=name if kind == "eeg" else None, **changes)


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        (SIDES, ("left", "right", "midline", "other")),
        (SIDES_SWAPPED, ("right", "left", "midline", "other")),
        (BLACK, ("midline",) * 4),
    ],
)
def test_presets_by_side(preset: str, expected: tuple[str, ...]) -> None:
    assert inks(preset, ROWS, [None] * 4) == expected


@pytest.mark.parametrize(
    ("sites", "lobe"),
    [
        ("Fp1 AF3 F7 Fz F10", "frontal"),
        ("T7 T8 FT7 TP10 T1", "temporal"),
        ("C3 Cz FC5 CP2", "central"),
        ("P3 Pz P10", "parietal"),
        ("O1 Oz PO4", "occipital"),
    ],
)
def test_every_electrode_of_a_lobe_has_its_hue(sites: str, lobe: str) -> None:
    of_lobes = {
        "frontal": inks(REGIONS, ROWS[:1], [scalp("F3")])[0],
        "temporal": inks(REGIONS, ROWS[:1], [scalp("T7")])[0],
        "central": inks(REGIONS, ROWS[:1], [scalp("C3")])[0],
        "parietal": inks(REGIONS, ROWS[:1], [scalp("P3")])[0],
        "occipital": inks(REGIONS, ROWS[:1], [scalp("O1")])[0],
    }
    assert len(set(of_lobes.values())) == 5
    channels = [scalp(site) for site in sites.split()]
    rows = [Derivation(c.name, c.name) for c in channels]
    assert set(inks(REGIONS, rows, channels)) == {of_lobes[lobe]}


def test_a_recorded_pair_counts_for_its_first_site() -> None:
    pair = scalp("T7-P7", pair=("T7", "P7"))
    assert inks(REGIONS, ROWS[:1], [pair]) == inks(REGIONS, ROWS[:1], [scalp("T7")])


def test_shafts_take_the_hues_in_turn_and_neighbours_differ() -> None:
    names = [f"{shaft}{i}" for shaft in ("A", "B", "LA'", "D", "E", "F", "G") for i in (1, 2)]
    channels = [Channel(name, name, "seeg", "uV", 200.0) for name in names]
    found = inks(REGIONS, [Derivation(name, name) for name in names], channels)
    assert found[::2] == found[1::2]
    assert set(found[:10]) == set(HUES)
    assert all(a != b for a, b in zip(found[::2], found[2::2], strict=False))


def test_what_is_neither_lobe_nor_shaft_has_no_hue() -> None:
    channels = [scalp("ECG", "ecg"), scalp("X1", "misc"), None]
    assert inks(REGIONS, ROWS[:3], channels) == ("other",) * 3


def test_every_ink_is_a_colour_of_the_theme() -> None:
    assert all(theme.colour(ink).isValid() for theme in THEMES.values() for ink in INKS)
