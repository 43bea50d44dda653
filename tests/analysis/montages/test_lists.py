"""Every montage that has a list, row by row as the clinical sheet prints it (section 2), on a head with all sites."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.montage import MontageOptions, build_montage
from analysis.montages.lists import LISTS, NEIGHBOURS, SZCORE_SITES

HEAD = (
    "Fp1 Fp2 F7 F3 Fz F4 F8 T7 C3 Cz C4 T8 P7 P3 Pz P4 P8 O1 O2 A1 A2 T1 T2 FT9 FT10".split()
)  # more electrodes beside the 10-20 ones than these would make it a dense cap

# Copied from the sheet, with "T3 T4 T5 T6" where it says so; `|` begins a block.
SHEET = {
    "LB-18.1": "Fp1-F7 F7-T7 T7-P7 P7-O1 | Fp1-F3 F3-C3 C3-P3 P3-O1 | Fz-Cz Cz-Pz | Fp2-F4 F4-C4 C4-P4 P4-O2 | "
    "Fp2-F8 F8-T8 T8-P8 P8-O2",
    "LB-18.2": "Fz-Cz Cz-Pz | Fp1-F3 F3-C3 C3-P3 P3-O1 | Fp2-F4 F4-C4 C4-P4 P4-O2 | Fp1-F7 F7-T7 T7-P7 P7-O1 | "
    "Fp2-F8 F8-T8 T8-P8 P8-O2",
    "LB-18.3": "Fp1-F7 F7-T7 T7-P7 P7-O1 | Fp2-F8 F8-T8 T8-P8 P8-O2 | Fp1-F3 F3-C3 C3-P3 P3-O1 | "
    "Fp2-F4 F4-C4 C4-P4 P4-O2 | Fz-Cz Cz-Pz",
    "parasagittal first": "Fp1-F3 F3-C3 C3-P3 P3-O1 | Fp2-F4 F4-C4 C4-P4 P4-O2 | Fp1-F7 F7-T7 T7-P7 P7-O1 | "
    "Fp2-F8 F8-T8 T8-P8 P8-O2 | Fz-Cz Cz-Pz",
    "TB-18.1": "F7-Fp1 Fp1-Fp2 Fp2-F8 | F7-F3 F3-Fz Fz-F4 F4-F8 | T7-C3 C3-Cz Cz-C4 C4-T8 | P7-P3 P3-Pz Pz-P4 P4-P8 | "
    "P7-O1 O1-O2 O2-P8",
    "TB-18.2": "Fp1-Fp2 | F7-F3 F3-Fz Fz-F4 F4-F8 | A1-T7 T7-C3 C3-Cz Cz-C4 C4-T8 T8-A2 | P7-P3 P3-Pz Pz-P4 P4-P8 | "
    "O1-O2 | Fz-Cz Cz-Pz",
    "ear referential": "F7-A1 T7-A1 P7-A1 | Fp1-A1 F3-A1 C3-A1 P3-A1 O1-A1 | Fz-A1 Cz-A1 Pz-A1 | "
    "Fp2-A2 F4-A2 C4-A2 P4-A2 O2-A2 | F8-A2 T8-A2 P8-A2",
    "R-18.3": "F7-T1 F8-T2 T7-T1 T8-T2 P7-T1 P8-T2 Fp1-T1 Fp2-T2 F3-T1 F4-T2 C3-T1 C4-T2 P3-T1 P4-T2 O1-T1 O2-T2 "
    "Fz-T1 Pz-T2",
    "hat band": "Fp2-F8 F8-T8 T8-P8 P8-O2 O2-O1 O1-P7 P7-T7 T7-F7 F7-Fp1 Fp1-Fp2",
    "hat band with midline": "Fp2-F8 F8-T8 T8-P8 P8-O2 O2-O1 O1-P7 P7-T7 T7-F7 F7-Fp1 Fp1-Fp2 | Fz-Cz Cz-Pz",
    "TUH TCP": "Fp1-F7 F7-T3 T3-T5 T5-O1 | Fp2-F8 F8-T4 T4-T6 T6-O2 | A1-T3 T3-C3 C3-Cz Cz-C4 C4-T4 T4-A2 | "
    "Fp1-F3 F3-C3 C3-P3 P3-O1 | Fp2-F4 F4-C4 C4-P4 P4-O2",
    # The two ears of the other side, the mean of both, and Cz: the sheet names them, the rows follow from its list.
    "contralateral ear": "F7-A2 T7-A2 P7-A2 | Fp1-A2 F3-A2 C3-A2 P3-A2 O1-A2 | Fz-A2 Cz-A2 Pz-A2 | "
    "Fp2-A1 F4-A1 C4-A1 P4-A1 O2-A1 | F8-A1 T8-A1 P8-A1",
    "Cz reference": "F7-Cz T7-Cz P7-Cz | Fp1-Cz F3-Cz C3-Cz P3-Cz O1-Cz | Fz-Cz Pz-Cz | "
    "Fp2-Cz F4-Cz C4-Cz P4-Cz O2-Cz | F8-Cz T8-Cz P8-Cz",
}
CHB_MIT = (
    "FP1-F7 F7-T7 T7-P7 P7-O1 FP1-F3 F3-C3 C3-P3 P3-O1 FP2-F4 F4-C4 C4-P4 P4-O2 FP2-F8 F8-T8 T8-P8 P8-O2 FZ-CZ "
    "CZ-PZ P7-T7 T7-FT9 FT9-FT10 FT10-T8 T8-P8"
).split()
SZCORE = "Fp1 F3 C3 P3 O1 F7 T3 T5 Fz Cz Pz Fp2 F4 C4 P4 O2 F8 T4 T6".split()
NEW_NAMES = {"T3": "T7", "T4": "T8", "T5": "P7", "T6": "P8"}
ROWS_AND_COLUMNS = """
| Fp1 | Fp2 F3 F7 | Fp2 | Fp1 F4 F8 | Fz | F3 F4 Cz |
| F7 | Fp1 F3 T7 | F8 | Fp2 F4 T8 | Cz | C3 C4 Fz Pz |
| F3 | Fp1 F7 C3 Fz | F4 | Fp2 F8 C4 Fz | Pz | P3 P4 Cz |
| T7 | F7 C3 P7 | T8 | F8 C4 P8 | O1 | O2 P3 P7 |
| C3 | F3 T7 P3 Cz | C4 | F4 T8 P4 Cz | O2 | O1 P4 P8 |
| P3 | C3 P7 O1 Pz | P4 | C4 P8 O2 Pz | | |
| P7 | T7 P3 O1 | P8 | T8 P4 O2 | | |
"""


def blocks_of(montage) -> list[list[tuple[str, tuple[str, ...]]]]:
    """Channel pairs of a montage by block."""
    blocks: dict[int, list] = {}
    for row in montage.derivations:
        blocks.setdefault(row.block, []).append((row.anode, row.cathode))
    return list(blocks.values())


def printed(text: str) -> list[list[tuple[str, tuple[str, ...]]]]:
    """The pairs of a printed list by block, in the names of the test's head."""
    split = [[pair.split("-") for pair in block.split()] for block in text.split("|")]
    return [[(NEW_NAMES.get(a, a), (NEW_NAMES.get(b, b),)) for a, b in block] for block in split]


@pytest.mark.parametrize("name", SHEET)
def test_rows_and_blocks_are_those_of_the_sheet(name, recording_of):
    montage = build_montage(name, recording_of(HEAD))
    assert blocks_of(montage) == printed(SHEET[name])
    assert montage.name == name
    assert montage.note == ""
    assert [row.name for row in montage.derivations] == [f"{r.anode}-{r.cathode[0]}" for r in montage.derivations]


def test_every_list_is_checked_against_the_sheet():
    assert set(LISTS) == {*SHEET, "CHB-MIT", "linked ears"}


def test_linked_ears_subtract_the_mean_of_both(recording_of, values):
    recording = recording_of(HEAD)
    montage = build_montage("linked ears", recording)
    assert [[a for a, _ in block] for block in blocks_of(montage)] == [
        [a for a, _ in block] for block in printed(SHEET["ear referential"])
    ]
    data = dict(zip(recording.ch_names, recording.read(0, 400).astype(np.float64), strict=True))
    for name, samples in values(montage, recording).items():
        site = name.removesuffix("-A1A2")
        np.testing.assert_allclose(samples, data[site] - (data["A1"] + data["A2"]) / 2, atol=1e-4)


def test_chb_mit_has_its_23_rows_and_the_pair_that_occurs_twice(recording_of):
    montage = build_montage("CHB-MIT", recording_of(HEAD))
    pairs = [f"{row.anode}-{row.cathode[0]}".upper() for row in montage.derivations]
    assert pairs == CHB_MIT
    assert montage.ch_names[14] == "T8-P8"
    assert montage.ch_names[22] == "T8-P8 (2)"
    assert len(set(montage.ch_names)) == 23


def test_szcore_takes_its_19_electrodes_in_its_order(recording_of):
    montage = build_montage("SzCORE", recording_of(HEAD))
    wanted = [NEW_NAMES.get(site, site) for site in SZCORE]
    assert [row.anode for row in montage.derivations] == wanted == list(SZCORE_SITES)
    assert {row.cathode for row in montage.derivations} == {tuple(wanted)}


def test_neighbours_are_those_of_the_sheets_table():
    cells = [cell.strip() for cell in ROWS_AND_COLUMNS.replace("\n", "").split("|")]
    words = [cell for cell in cells if cell]
    table = dict(zip(words[::2], words[1::2], strict=True))
    assert len(table) == 19
    assert {site: set(near.split()) for site, near in NEIGHBOURS.items()} == {
        site: set(near.split()) for site, near in table.items()
    }


def mirrored(text: str) -> str:
    swap = dict(zip("1234567890", "2143658709", strict=True))
    return "".join(swap.get(c, c) for c in text)


@pytest.mark.parametrize(
    "name", [n for n in SHEET if n.startswith("LB") or n in ("parasagittal first", "Cz reference")]
)
def test_right_before_left_exchanges_blocks_and_changes_no_pair(name, recording_of):
    left, right = (build_montage(name, recording_of(HEAD), options=MontageOptions(r)) for r in (False, True))
    assert [{mirrored(f"{a}-{c[0]}") for a, c in block} for block in blocks_of(left)] == [
        {f"{a}-{c[0]}" for a, c in block} for block in blocks_of(right)
    ]
    assert sorted(left.ch_names) == sorted(right.ch_names)
    assert left.ch_names != right.ch_names
    assert {row.name: row.side for row in left.derivations} == {row.name: row.side for row in right.derivations}


@pytest.mark.parametrize("name", ["TB-18.1", "TB-18.2", "hat band", "TUH TCP", "CHB-MIT", "SzCORE"])
def test_lists_across_the_head_and_of_data_sets_stay_as_they_are(name, recording_of):
    recording = recording_of(HEAD)
    assert build_montage(name, recording, options=MontageOptions(True)) == build_montage(name, recording)


@pytest.mark.parametrize(
    ("name", "sides"),
    [
        ("LB-18.1", "l" * 8 + "mm" + "r" * 8),
        ("TB-18.1", "lmr" + "llrr" * 3 + "lmr"),
        ("ear referential", "l" * 8 + "mmm" + "r" * 8),
        ("R-18.3", "lr" * 8 + "mm"),
        ("hat band", "rrrrmllllm"),
    ],
)
def test_each_row_has_the_side_that_its_electrodes_have(name, sides, recording_of):
    words = {"l": "left", "r": "right", "m": "midline"}
    montage = build_montage(name, recording_of(HEAD))
    assert [row.side for row in montage.derivations] == [words[letter] for letter in sides]
