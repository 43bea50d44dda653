"""The order of rows that stand for one electrode each."""

from __future__ import annotations

import pytest

from analysis.montages.placing import intracranial_blocks, is_dense, natural_key, scalp_blocks, shafts
from analysis.montages.sources import Sources


def names(blocks) -> list[list[str]]:
    return [[channel.name for channel in block] for block in blocks]


def test_regions_from_left_to_right_and_others_behind(recording_of):
    sources = Sources(recording_of("Oz O2 Cz T4 F7 Fp1 A1 F3-C3 P9"))
    assert names(scalp_blocks(sources)) == [["F7"], ["Fp1"], ["Cz"], ["O2"], ["T4"], ["Oz", "P9"]]
    assert names(scalp_blocks(sources, right_first=True))[:2] == [["T4"], ["O2"]]


@pytest.mark.parametrize(
    ("extra", "dense"), [("AF3 AF4 FC1 FC2 FC5 FC6 CP1", False), ("AF3 AF4 FC1 FC2 FC5 FC6 CP1 CP2", True)]
)
def test_a_dense_cap_has_eight_electrodes_beside_the_usual_ones(extra, dense, recording_of):
    assert is_dense(Sources(recording_of(f"Fp1 Fp2 Cz A1 A2 {extra}"))) is dense


def test_contacts_by_shaft_as_people_count(recording_of, channel):
    words = ["x 10", "LA'10", "la'2", "x 9", "LB1"]
    sources = Sources(recording_of([channel(word, type="seeg") for word in words]))
    assert names(intracranial_blocks(sources)) == [["la'2", "LA'10"], ["LB1"], ["x 9", "x 10"]]
    assert list(shafts(sources)) == ["LA'", "LB"]


def test_numbers_count_as_numbers():
    assert sorted(["A10", "a2", "B1", "A1x"], key=natural_key) == ["A1x", "a2", "A10", "B1"]
