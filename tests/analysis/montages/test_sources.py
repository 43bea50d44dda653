"""What a recording offers to montages."""

from __future__ import annotations

import pytest

from analysis.montages.derivation import Derivation
from analysis.montages.sources import Sources, listed, side_of_difference, with_unique_names


def test_an_electrode_is_found_by_its_place_unless_it_is_not_calibrated_or_part_of_a_pair(recording_of, channel):
    sources = Sources(recording_of(["T3", "F3-C3", channel("Pz", calibrated=False)]))
    assert sources.site("T7").name == "T3"
    assert sources.site("F3") is None
    assert sources.site("Pz") is None


def test_pairs_are_found_in_both_senses_the_recorded_one_first(recording_of):
    sources = Sources(recording_of("F3-C3 C3-F3"))
    assert [(c.name, sign) for c, sign in sources.pairs("C3", "F3")] == [("C3-F3", 1), ("F3-C3", -1)]
    assert sources.pairs("F3", "Cz") == []


def test_names_that_occur_more_than_once_are_numbered_past_those_that_are_taken():
    rows = [Derivation(name, "a") for name in ("x", "x (2)", "x", "x")]
    assert [row.name for row in with_unique_names(rows)] == ["x", "x (2)", "x (3)", "x (4)"]


def test_long_lists_are_cut():
    assert listed(list("abcdefgh")) == "a, b, c, d, e, f, g, h"
    assert listed(list("abcdefghij")) == "a, b, c, d, e, f, g, h and 2 more"


@pytest.mark.parametrize(
    ("first", "second", "side"),
    [
        ("F7", "T7", "left"),
        ("F3", "Fz", "left"),
        ("Fz", "F4", "right"),
        ("Fz", "Cz", "midline"),
        ("Fp1", "Fp2", "midline"),
        ("F4", "A1", "right"),
        ("Pz", "T2", "midline"),
        ("F7", "Cz", "left"),
    ],
)
def test_the_side_of_a_difference(first, second, side):
    assert side_of_difference(first, second) == side
