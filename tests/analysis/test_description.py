"""The JSON of `info` as the contract spells it, and its lines for a person."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.description import describe, to_text
from analysis.readers import open_recording


def test_the_document_has_the_contracts_keys_and_values(shared: Path) -> None:
    path = shared / "recordings/broken/edfplus_d_gap.edf"
    document = json.loads(json.dumps(describe(open_recording(path)), allow_nan=False))
    assert set(document) == {
        "path", "format", "duration", "start", "sfreq", "channels", "annotations", "gaps", "warnings",
    }  # fmt: skip
    assert document["path"] == str(path)
    assert (document["format"], document["duration"], document["sfreq"]) == ("EDF+D", 70.0, 200.0)
    assert document["start"] == "2020-03-02T10:11:12"
    assert document["gaps"] == [[5.0, 65.0]]
    assert document["annotations"][1] == {"onset": 66.0, "duration": 2.0, "description": "sz", "channels": []}
    first = document["channels"][0]
    assert set(first) == {"name", "original_name", "type", "unit", "sfreq", "position"}
    assert (first["name"], first["type"], first["unit"], first["sfreq"]) == ("Fp1", "eeg", "uV", 200.0)
    assert first["position"] == pytest.approx([-0.0309, 0.1146, 0.0279], abs=1e-4)


def test_the_highest_rate_is_that_of_any_channel(shared: Path) -> None:
    assert describe(open_recording(shared / "recordings/broken/mixed_sampling_rates.edf"))["sfreq"] == 512.0


def test_warnings_found_with_the_annotations_are_told(shared: Path) -> None:
    document = describe(open_recording(shared / "recordings/bdf/event_file_457.bdf"))
    assert document["warnings"] == ["624 of 1081 annotations lie outside the recorded time and are left out"]


def test_what_is_unknown_is_null(shared: Path) -> None:
    document = describe(open_recording(shared / "recordings/broken/zero_start_date.edf"))
    assert document["start"] is None
    biosemi = describe(open_recording(shared / "recordings/edf/test.edf"))
    assert biosemi["channels"][0]["position"] is None


def test_lines_for_a_person(shared: Path) -> None:
    lines = to_text(describe(open_recording(shared / "recordings/broken/edfplus_d_gap.edf"))).splitlines()
    assert lines[1] == "EDF+D, 1 min 10 s, recorded 2020-03-02 10:11:12"
    assert lines[2] == "19 channels"
    assert lines[3].startswith("  19 eeg, 200 Hz, uV: Fp1, Fp2")
    assert "gap from 5.000 s to 65.000 s" in lines
    assert lines[-1].split() == ["66.000", "s", "for", "2", "s", "sz"]
    long = to_text(describe(open_recording(shared / "recordings/broken/annotations_15000.edf")))
    assert long.splitlines()[-1] == "  … and 14980 more"
