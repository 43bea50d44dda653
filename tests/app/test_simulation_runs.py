"""`main.py simulate`: what it writes, says and refuses."""

from __future__ import annotations

import pytest

from analysis.simulation.truth import read_truth
from app.cli import main
from app.simulation_runs import usual_seizures


def test_the_command_writes_three_files_and_tells_of_the_seizures(tmp_path, capsys):
    out = tmp_path / "one.edf"
    words = ["--seed", "4", "--duration", "140", "--seizures", "1", "--region", "midline-central", "--sfreq", "200"]
    assert main(["simulate", "--out", str(out), *words]) == 0
    truth = read_truth(out)
    (seizure,) = truth.events
    said = capsys.readouterr()
    assert said.err == ""
    assert f"midline-central, best seen at {seizure.focus_channel}" in said.out
    assert (truth.seed, truth.duration_s, truth.fs) == (4, 140.0, 200.0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.edf", "one.events.tsv", "one.truth.json"]
    assert main(["score", str(out), str(tmp_path / "one.events.tsv"), "--json"]) == 0
    assert '"f1": 1.0' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--region", "nowhere"], "no region is called"),
        (["--duration", "100", "--seizures", "9"], "do not fit"),
        (["--electrodes", "ieeg", "--reference", "ears"], "contacts have no reference"),
    ],
)
def test_what_cannot_be_simulated_is_one_sentence(tmp_path, capsys, words, sentence):
    assert main(["simulate", "--out", str(tmp_path / "one.edf"), *words]) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert sentence in said
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [[], ["--seed", "-1"], ["--duration", "2.5"], ["--electrodes", "21"]])
def test_wrong_usage(tmp_path, words):
    out = ["--out", str(tmp_path / "one.edf")] if words else []
    assert main(["simulate", *out, *words]) == 2


@pytest.mark.parametrize(("duration", "count"), [(60, 0), (140, 1), (300, 1), (600, 2), (3600, 12)])
def test_there_is_a_seizure_for_every_five_minutes(duration, count):
    assert usual_seizures(duration) == count
