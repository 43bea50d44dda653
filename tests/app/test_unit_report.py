"""What score adds for predictions whose probabilities are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.errors import RecordingError
from app import headless
from app.unit_report import report_units, units_text

HEADER = "onset\tduration\tprobability\n"


def write(folder: Path, rows: list[tuple[float, float, float]]) -> Path:
    (folder / "probabilities.tsv").write_text(HEADER + "".join(f"{a}\t{b}\t{c}\n" for a, b, c in rows))
    return folder / "events.tsv"


def test_units_that_overlap_a_seizure_are_positive(tmp_path: Path) -> None:
    rows = [(30.0 * i, 30.0, p) for i, p in enumerate([0.9, 0.1, 0.8, 0.7, 0.2, 0.1])]
    facts = report_units(write(tmp_path, rows), [(89.0, 91.0), (150.0, 151.0)])
    assert facts is not None
    assert (facts["n_units"], facts["n_positive"], facts["hours"]) == (6, 3, 0.05)
    assert facts["auroc"] == pytest.approx((2 + 2 + 0.5) / 9)
    half = facts["at_sensitivity"]["0.5"]
    assert half == {"threshold": 0.7, "false_alarms": 1, "fp_per_hour": pytest.approx(20)}
    text = units_text(facts)
    assert "6 of 30 s, 3 with a seizure: AUROC 0.500" in text
    assert "at sensitivity 0.5 (p >= 0.7): false alarms 1, 20.00 per hour" in text


def test_without_seizures_there_are_no_areas(tmp_path: Path) -> None:
    facts = report_units(write(tmp_path, [(0, 5, 0.2), (5, 5, 0.3)]), [])
    assert facts is not None
    assert (facts["auroc"], facts["auc_pr"], facts["at_sensitivity"]) == (None, None, {})
    assert "AUROC -" in units_text(facts)


def test_where_there_is_nothing_to_score(tmp_path: Path) -> None:
    assert report_units(tmp_path / "events.tsv", []) is None
    assert report_units(write(tmp_path, [(0, 5, 0.2), (5, 6, 0.3)]).with_name("other.tsv"), []) is None
    assert report_units(write(tmp_path, [(0, 5, 0.2), (5, 6, 0.3)]), []) is None, "units of two lengths"
    assert report_units(write(tmp_path, []), []) is None
    (tmp_path / "probabilities.tsv").write_text(HEADER + "0\tfive\t0.1\n")
    with pytest.raises(RecordingError, match=r"not a table of probabilities \(.*probabilities.tsv\): write it again"):
        report_units(tmp_path / "events.tsv", [])


def test_score_of_a_folder_of_predict(shared: Path, tmp_path: Path) -> None:
    parity, recordings = shared / "parity" / "neurduo", shared / "recordings" / "scalp-seizure-46ch"
    out = tmp_path / "out"
    files = parity / "tiny/tiny_checkpoint.pt", parity / "heads/tiny_heads.safetensors"
    headless.predict(recordings / "demo_edf.edf", files[0], out, head=files[1], device="cpu")
    outcome = headless.score(recordings / "demo_edf.edf", out)
    units = outcome.facts["units"]
    assert (units["n_units"], units["n_positive"], units["unit_seconds"]) == (9, 6, 5.0)  # seizure 15.15 to 44.12 s
    assert 0 <= units["auroc"] <= 1
    assert "units      9 of 5 s, 6 with a seizure" in outcome.text
