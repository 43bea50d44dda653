"""`analyze` on the command line: files that explain themselves, and errors in one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from app.cli import main


@pytest.fixture(scope="module")
def scalp(shared: Path) -> str:
    return str(shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf")


@pytest.mark.parametrize(
    ("kind", "checkpoint"),
    [("gates", "random:axon"), ("gate-interventions", "random:axon"), ("relation-mass", "random:axon:dense-tiny")],
)
def test_kinds_write_their_three_files(kind: str, checkpoint: str, scalp: str, tmp_path: Path, capsys) -> None:
    code = main(["analyze", kind, scalp, "--checkpoint", checkpoint, "--duration", "10", "--out", str(tmp_path)])
    assert code == 0
    described = json.loads((tmp_path / f"{kind}.json").read_text())
    with np.load(tmp_path / f"{kind}.npz") as arrays:
        assert {name: list(arrays[name].shape) for name in arrays.files} == {
            name: entry["shape"] for name, entry in described["arrays"].items()
        }
    for entry in described["arrays"].values():
        assert entry["meaning"]
        assert entry["unit"]
        assert len(entry["axes"]) == len(entry["shape"])
    assert described["provenance"]["recording"]["id"]
    svg = (tmp_path / f"{kind}.svg").read_text()
    assert "Research use only" in svg
    assert "Random weights" in svg
    assert "written: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--option", "windw=3"], "gates takes window, windows"),
        (["--option", "window"], "has the form name=value"),
        (["--option", "window=3", "--option", "window=4"], "given twice"),
        (["--option", "window=zero"], "a number of at least 1"),
        (["--start", "1e6"], "there is nothing between"),
    ],
)
def test_wrong_options_end_in_a_clear_line(arguments, words, scalp: str, tmp_path: Path, capsys) -> None:
    base = ["analyze", "gates", scalp, "--checkpoint", "random:axon", "--out", str(tmp_path / "out")]
    assert main([*base, *arguments]) == 1
    lines = capsys.readouterr().err.strip().splitlines()
    assert lines[-1].startswith("error: ")
    assert words in lines[-1]
    assert not (tmp_path / "out").exists()


def test_a_kind_that_is_not_there_is_refused_before_anything_is_read(tmp_path: Path, capsys) -> None:
    assert main(["analyze", "gaits", "nowhere.edf", "--checkpoint", "random:axon", "--out", str(tmp_path)]) == 1
    assert "choose one of gates" in capsys.readouterr().err


def test_sanity_checks_are_printed_as_a_table(scalp: str, tmp_path: Path, capsys) -> None:
    arguments = ["--checkpoint", "random:mvpformer:tiny", "--start", "20", "--duration", "10", "--out", str(tmp_path)]
    options = ["--option", "seeds=2", "--option", "orders=3", "--option", "cascade=no"]
    assert main(["analyze", "sanity-checks", scalp, *arguments, *options]) == 0
    text = capsys.readouterr().out
    assert "completeness: holds (limit: gap below 1%)" in text
    assert "truth: not decided" in text
    assert "no demo_edf.truth.json beside the recording" in text
    lines = [line.split() for line in text.splitlines()]
    assert any(line[:3] == ["all", "weights", line[2]] and "1.00" in line for line in lines if len(line) > 3)
    described = json.loads((tmp_path / "sanity-checks.json").read_text())
    assert [verdict["check"] for verdict in described["facts"]["verdicts"]][-1] == "truth"
    svg = (tmp_path / "sanity-checks.svg").read_text()
    assert "Random weights" in svg
    assert "share of channels taken out" in svg
