"""Marks of channels stand on the rows that are made of these channels, in every montage."""

from __future__ import annotations

import pytest

from analysis.montage import Derivation, Montage
from viewers.mark_rows import MarkRows, channels_of


def bipolar(*pairs: str) -> Montage:
    rows = [pair.split("-") for pair in pairs]
    return Montage("pairs", tuple(Derivation(f"{a}-{b}", a, (b,)) for a, b in rows))


CHAIN = bipolar("Fp1-F7", "F7-T7", "T7-P7", "Fp1-F3", "F3-C3")
ACROSS = bipolar("F7-F3", "F3-Fz", "T7-C3", "C3-Cz")
PLAIN = Montage("as recorded", tuple(Derivation(name, name) for name in ("Fp1", "F7", "T7", "F3", "C3")))
AVERAGE = Montage("average", tuple(Derivation(f"{n}-avg", n, ("Fp1", "F7", "T7", "F3", "C3")) for n in ("F7", "T7")))


@pytest.mark.parametrize(
    ("montage", "rows"),
    [
        (CHAIN, ["F7-T7"]),
        (ACROSS, ["F7-F3", "T7-C3"]),
        (PLAIN, ["F7", "T7"]),
        (AVERAGE, ["F7-avg", "T7-avg"]),
    ],
)
def test_a_mark_of_one_bipolar_row_in_every_montage(montage: Montage, rows: list[str]) -> None:
    ch_names = channels_of(CHAIN, [1])
    assert ch_names == ("F7", "T7")
    found = MarkRows(montage).of(ch_names)
    assert [montage.ch_names[i] for i in found] == rows


def test_rows_that_are_marked_together_keep_together() -> None:
    ch_names = channels_of(CHAIN, [0, 1, 2])
    assert ch_names == ("Fp1", "F7", "T7", "P7")
    assert MarkRows(CHAIN).of(ch_names) == (0, 1, 2)


def test_one_electrode_touches_all_its_rows_and_a_row_of_an_average_names_only_itself() -> None:
    assert MarkRows(CHAIN).of(("Fp1",)) == (0, 3)
    assert channels_of(AVERAGE, [0]) == ("F7",)
    assert MarkRows(AVERAGE).of(("Fp1",)) == ()


def test_a_row_is_found_by_its_own_name() -> None:
    """As event files of bipolar montages name it."""
    assert MarkRows(CHAIN).of(("F3-C3",)) == (4,)
    assert MarkRows(PLAIN).of(("F3-C3",)) == ()


def test_what_the_montage_has_not_is_nowhere() -> None:
    assert MarkRows(CHAIN).of(("O2",)) == ()
    assert MarkRows(CHAIN).of(("O2", "F7", "T7")) == (1,)
