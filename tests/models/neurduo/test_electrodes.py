"""What labels mean to NeurDuo, held to the table of what the published code makes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from models.neurduo.electrodes import REFERENCE_IDS, map_montage, reference_tag, resolve_label, unit_positions

CHBMIT = (
    "FP1-F7 F7-T7 T7-P7 P7-O1 FP1-F3 F3-C3 C3-P3 P3-O1 FP2-F4 F4-C4 C4-P4 P4-O2 FP2-F8 F8-T8 T8-P8-0 P8-O2 FZ-CZ CZ-PZ "
    "P7-T7 T7-FT9 FT9-FT10 FT10-T8 T8-P8-1"
)


@pytest.fixture(scope="module")
def table(neurduo_parity: Path) -> dict[str, Any]:
    return json.loads((neurduo_parity / "electrodes" / "names.json").read_text())


def test_every_label_of_the_table(table: dict[str, Any]) -> None:
    assert len(table["names"]) == 83
    for row in table["names"]:
        found = resolve_label(row["name"])
        assert reference_tag(row["name"]) == row["tag"], row
        if row["site"] is None:
            assert found is None, row
            continue
        assert found is not None, row
        assert (found.site, found.tag, found.reference_id) == (row["site"], row["tag"], row["reference_id"]), row
        assert unit_positions()[found.site] == pytest.approx(row["position"], abs=1e-7), row


def test_reference_rows(table: dict[str, Any]) -> None:
    assert table["reference_ids"] == REFERENCE_IDS
    assert set(REFERENCE_IDS.values()) == {0, 1, 10, 11, 12, 13, 14, 15}


@pytest.mark.parametrize(
    ("labels", "name"), [(CHBMIT.split(), "map_chbmit"), (["T3", "T7", "Fp1", "EKG", "FP1-F7"], "map_duplicates")]
)
def test_a_montage_keeps_the_first_label_of_each_site(labels: list[str], name: str, table: dict[str, Any]) -> None:
    assert [[label, e.site, e.tag] for label, e in map_montage(labels)] == table[name]


def test_directions_are_those_of_the_template(unit_positions: dict[str, list[float]]) -> None:
    from models.neurduo.electrodes import unit_positions as ours

    assert set(ours()) == set(unit_positions)
    for name, position in unit_positions.items():
        assert ours()[name] == pytest.approx(position, abs=1e-8)
    for old, new in (("T3", "T7"), ("T4", "T8"), ("T5", "P7"), ("T6", "P8")):
        assert ours()[old] == ours()[new]
